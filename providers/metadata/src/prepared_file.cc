#include "prepared_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "encoding.h"
#include "harmonica/platform/crypto.h"
#include "harmonica/platform/file_system.h"

namespace harmonica::providers {
namespace {

constexpr std::string_view kMagic = "harmonica prepared 1\n";
constexpr std::size_t kChecksumBytes = 32;

// Some million items; what is larger is not written, and was not written by us.
constexpr std::uint64_t kPreparedBytesMax = std::uint64_t{1} << 30;

}  // namespace

Status write_prepared_file(const std::string& path, const PreparedWrite& write) {
  const Bytes payload = encode_prepared(write);
  const auto checksum = platform::sha256(payload);
  Bytes content;
  content.reserve(kMagic.size() + kChecksumBytes + payload.size());
  content.insert(content.end(), kMagic.begin(), kMagic.end());
  content.insert(content.end(), checksum.begin(), checksum.end());
  content.insert(content.end(), payload.begin(), payload.end());
  if (content.size() > kPreparedBytesMax) {
    return Status(StatusCode::kLimitExceeded, path + ": " + std::to_string(write.items.size()) +
                                                  " items are too many to prepare at once; write fewer at a time");
  }
  return platform::replace_file(path, content);
}

Result<PreparedWrite> read_prepared_file(const std::string& path) {
  auto content = platform::read_file(path, kPreparedBytesMax);
  if (content.status().code() == StatusCode::kNotFound || content.status().code() == StatusCode::kLimitExceeded) {
    return PreparedWrite{};
  }
  if (!content.ok()) return content.status();
  const ByteView bytes = content->bytes;
  if (bytes.size() < kMagic.size() + kChecksumBytes) return PreparedWrite{};
  const ByteView payload = bytes.subspan(kMagic.size() + kChecksumBytes);
  const auto checksum = platform::sha256(payload);
  if (!as_text(bytes).starts_with(kMagic) || !std::equal(checksum.begin(), checksum.end(), bytes.begin() + kMagic.size())) {
    return PreparedWrite{};
  }
  return decode_prepared(payload).value_or(PreparedWrite{});
}

}  // namespace harmonica::providers
