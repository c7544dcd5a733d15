#include "prepared_file.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "byte_coding.h"
#include "encoding.h"
#include "harmonica/platform/crypto.h"
#include "harmonica/platform/file_system.h"

namespace harmonica::providers {
namespace {

constexpr std::string_view kMagic = "harmonica prepared 1\n";
constexpr std::size_t kChecksumBytes = 32;
// The magic, the number of the write, the checksum of the items, and that of all this.
constexpr std::size_t kHeadBytes = kMagic.size() + 8 + 2 * kChecksumBytes;

// Some million items; what is larger is not written, and was not written by us.
constexpr std::uint64_t kPreparedBytesMax = std::uint64_t{1} << 30;

struct Head {
  std::uint64_t write_number = 0;
  ByteView items_checksum;
};

std::optional<Head> read_head_of(ByteView file) {
  if (file.size() < kHeadBytes) return std::nullopt;
  Decoder decoder(file.first(kHeadBytes));
  const ByteView magic = decoder.raw(kMagic.size());
  const Head head{decoder.fixed64(), decoder.raw(kChecksumBytes)};
  const auto checksum = platform::sha256(file.first(kHeadBytes - kChecksumBytes));
  if (as_text(magic) != kMagic || !std::ranges::equal(decoder.raw(kChecksumBytes), checksum)) return std::nullopt;
  return head;
}

Status damaged(const std::string& path) {
  return Status(StatusCode::kCorruption, path +
                                             " is damaged; it says what of the store was about to be written. Remove it to "
                                             "go on: then whatever stands there otherwise counts as edited");
}

}  // namespace

Status write_prepared_file(const std::string& path, const PreparedWrite& write) {
  const Bytes items = encode_prepared_items(write.items);
  Encoder encoder;
  encoder.raw(as_bytes(kMagic));
  encoder.fixed64(write.write_number);
  encoder.raw(platform::sha256(items));
  encoder.raw(platform::sha256(encoder.bytes()));
  encoder.raw(items);
  if (encoder.bytes().size() > kPreparedBytesMax) {
    return Status(StatusCode::kLimitExceeded, path + ": " + std::to_string(write.items.size()) +
                                                  " items are too many to prepare at once; write fewer at a time");
  }
  return platform::replace_file(path, encoder.bytes());
}

Result<PreparedWrite> read_prepared_file(const std::string& path, std::uint64_t write_number) {
  const auto start = platform::read_head(path, kHeadBytes);
  if (start.status().code() == StatusCode::kNotFound) return PreparedWrite{};
  if (!start.ok()) return start.status();
  const std::optional<Head> first_look = read_head_of(*start);
  if (!first_look.has_value()) return damaged(path);
  if (first_look->write_number != write_number) return PreparedWrite{};

  const auto content = platform::read_file(path, kPreparedBytesMax);
  if (content.status().code() == StatusCode::kNotFound) return PreparedWrite{};
  if (content.status().code() == StatusCode::kLimitExceeded) return damaged(path);
  if (!content.ok()) return content.status();
  // Another process may have replaced it meanwhile.
  const ByteView file = content->bytes;
  const std::optional<Head> head = read_head_of(file);
  if (!head.has_value()) return damaged(path);
  if (head->write_number != write_number) return PreparedWrite{};
  const ByteView items_bytes = file.subspan(kHeadBytes);
  if (!std::ranges::equal(head->items_checksum, platform::sha256(items_bytes))) return damaged(path);
  auto items = decode_prepared_items(items_bytes);
  if (!items.has_value()) return damaged(path);
  return PreparedWrite{write_number, *std::move(items)};
}

}  // namespace harmonica::providers
