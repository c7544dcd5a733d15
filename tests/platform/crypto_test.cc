#include "harmonica/platform/crypto.h"

#include <gtest/gtest.h>

#include <set>

namespace harmonica::platform {
namespace {

std::string md5_hex(std::string_view text) {
  Md5 hash;
  hash.update(as_bytes(text));
  return to_hex(hash.finish());
}

// RFC 1321, appendix A.5.
TEST(Crypto, Md5GivesThePublishedVectors) {
  EXPECT_EQ(md5_hex(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5_hex("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(md5_hex("12345678901234567890123456789012345678901234567890123456789012345678901234567890"),
            "57edf4a22be3c955ac49da2e2107b67a");
}

// FIPS 180-4, examples.
TEST(Crypto, Sha256GivesThePublishedVectors) {
  EXPECT_EQ(to_hex(sha256({})), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256(as_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Crypto, HashingInPiecesEqualsHashingAtOnce) {
  Sha256Hasher pieces;
  pieces.update(as_bytes("in "));
  pieces.update({});
  pieces.update(as_bytes("pieces"));
  EXPECT_EQ(pieces.finish(), sha256(as_bytes("in pieces")));
}

TEST(Crypto, RandomBytesFillLongSpansAndDiffer) {
  std::set<Bytes> seen;
  for (int i = 0; i < 8; ++i) {
    Bytes bytes(1000);
    random_bytes(bytes);
    seen.insert(Bytes(bytes.end() - 16, bytes.end()));
  }
  EXPECT_EQ(seen.size(), 8U);
}

}  // namespace
}  // namespace harmonica::platform
