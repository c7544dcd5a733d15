#include "chromium_checksum.h"

#include <cstdint>

#include "harmonica/bytes.h"

namespace harmonica::providers {
namespace {

constexpr std::size_t kPendingBytesMax = 64 * 1024;

char* put_unit(std::uint32_t unit, char* to) {
  *to++ = static_cast<char>(unit & 0xFF);
  *to++ = static_cast<char>(unit >> 8);
  return to;
}

}  // namespace

void ChromiumChecksum::add(std::string_view bytes) {
  pending_.append(bytes);
  if (pending_.size() >= kPendingBytesMax) flush();
}

// Little-endian code units, without a mark in front.
void ChromiumChecksum::add_utf16(std::string_view title) {
  const std::size_t before = pending_.size();
  // No character has more than twice the bytes that it has in UTF-8.
  pending_.resize(before + 2 * title.size());
  char* to = pending_.data() + before;
  for (std::size_t at = 0; at < title.size();) {
    const auto first = static_cast<std::uint8_t>(title[at++]);
    if (first < 0x80) {
      to = put_unit(first, to);
      continue;
    }
    const std::size_t following = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    std::uint32_t character = first & (0x3FU >> following);
    for (const char next : title.substr(at, following)) {
      character = character << 6 | (static_cast<std::uint8_t>(next) & 0x3FU);
    }
    at += following;
    if (character < 0x10000) {
      to = put_unit(character, to);
    } else {
      to = put_unit(0xD800 + ((character - 0x10000) >> 10), to);
      to = put_unit(0xDC00 + ((character - 0x10000) & 0x3FF), to);
    }
  }
  pending_.resize(static_cast<std::size_t>(to - pending_.data()));
}

void ChromiumChecksum::bookmark(std::string_view id, std::string_view title, std::string_view url) {
  add(id);
  add_utf16(title);
  add("url");
  add(url);
}

void ChromiumChecksum::folder(std::string_view id, std::string_view title) {
  add(id);
  add_utf16(title);
  add("folder");
}

void ChromiumChecksum::flush() {
  if (wanted_ != ChromiumChecksums::kSha256) md5_.update(as_bytes(pending_));
  if (wanted_ != ChromiumChecksums::kMd5) sha256_.update(as_bytes(pending_));
  pending_.clear();
}

ChromiumChecksum::Digests ChromiumChecksum::finish() {
  flush();
  Digests digests;
  if (wanted_ != ChromiumChecksums::kSha256) digests.md5 = to_hex(md5_.finish());
  if (wanted_ != ChromiumChecksums::kMd5) digests.sha256 = to_hex(sha256_.finish());
  return digests;
}

}  // namespace harmonica::providers
