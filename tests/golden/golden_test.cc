// Bytes that were once sent keep their meaning. Vectors are added, never edited.

#include <gtest/gtest.h>

#include <set>

#include "core/wire/random_messages.h"
#include "golden/messages_v1.h"
#include "golden/vector_file.h"

namespace harmonica::wire {
namespace {

std::vector<ByteVector> vectors(const std::string& name) { return read_vector_file(HARMONICA_GOLDEN_DIRECTORY "/" + name); }

RetiredTicks golden_retired() { return retired_ticks_of(golden_replicas()); }

const RetiredTicks* find_golden_retired(std::uint64_t digest) {
  static const RetiredTicks retired = golden_retired();
  return digest == retired.replicas_digest ? &retired : nullptr;
}

template <typename Message>
void expect_meaning(const ByteVector& vector, const Result<Message>& read, const std::map<std::string, Message>& meanings) {
  ASSERT_TRUE(read.ok()) << vector.name << ": " << read.status().to_text();
  ASSERT_TRUE(meanings.contains(vector.name)) << vector.name << ": messages_v1.h does not say what it means";
  EXPECT_EQ(*read, meanings.at(vector.name)) << vector.name;
  EXPECT_EQ(to_hex(encode(meanings.at(vector.name), golden_retired())), to_hex(vector.bytes)) << vector.name;
}

TEST(Golden, VersionOneIsReadAndWrittenAsEver) {
  std::set<std::string> seen;
  for (const ByteVector& vector : vectors("v1/accepted.txt")) {
    seen.insert(vector.name);
    if (vector.kind == "request")
      expect_meaning(vector, decode_request(vector.bytes, find_golden_retired), golden_requests());
    if (vector.kind == "response")
      expect_meaning(vector, decode_response(vector.bytes, find_golden_retired), golden_responses());
  }
  EXPECT_EQ(seen.size(), golden_requests().size() + golden_responses().size());
}

TEST(Golden, HostileBytesOfVersionOneGetTheirStatus) {
  const std::vector<ByteVector> hostile = vectors("v1/refused.txt");
  EXPECT_GE(hostile.size(), 50u);
  for (const ByteVector& vector : hostile) {
    const Status status = vector.kind == "request" ? decode_request(vector.bytes, find_golden_retired).status()
                                                   : decode_response(vector.bytes, find_golden_retired).status();
    EXPECT_EQ(to_text(status.code()), vector.status) << vector.name << ": " << status.message();
  }
}

}  // namespace
}  // namespace harmonica::wire
