#include "utf8.h"

#include <cstdint>
#include <cstring>

namespace harmonica::providers {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::uint8_t byte_at(std::string_view text, std::size_t at) { return static_cast<std::uint8_t>(text[at]); }

bool is_ascii_eight(const char* bytes) {
  std::uint64_t eight;
  std::memcpy(&eight, bytes, sizeof(eight));
  return (eight & 0x8080808080808080U) == 0;
}

struct Sequence {
  std::size_t length = 1;  // of the character, or of the damaged part
  bool valid = false;
  std::uint32_t character = 0;
};

// The character at `at`, or the longest start of one that stands there (Unicode 15, table 3-7 and section 3.9, U+FFFD).
Sequence sequence_at(std::string_view text, std::size_t at) {
  const std::uint8_t first = byte_at(text, at);
  if (first < 0x80) return {1, true, first};
  std::size_t length = 0;
  std::uint8_t lowest = 0x80;
  std::uint8_t highest = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) length = 2;
  if (first >= 0xE0 && first <= 0xEF) length = 3;
  if (first >= 0xF0 && first <= 0xF4) length = 4;
  if (length == 0) return {};
  if (first == 0xE0) lowest = 0xA0;
  if (first == 0xED) highest = 0x9F;
  if (first == 0xF0) lowest = 0x90;
  if (first == 0xF4) highest = 0x8F;
  std::uint32_t character = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (at + i >= text.size()) return {i, false, 0};
    const std::uint8_t next = byte_at(text, at + i);
    if (next < lowest || next > highest) return {i, false, 0};
    character = character << 6 | (next & 0x3FU);
    lowest = 0x80;
    highest = 0xBF;
  }
  return {length, true, character};
}

// Where the first damaged part stands, or the size.
std::size_t find_damage(std::string_view text, std::size_t from) {
  std::size_t at = from;
  while (at < text.size()) {
    if (at + 8 <= text.size() && is_ascii_eight(text.data() + at)) {
      at += 8;
      continue;
    }
    const Sequence sequence = sequence_at(text, at);
    if (!sequence.valid) return at;
    at += sequence.length;
  }
  return text.size();
}

void append_unit(std::uint32_t unit, std::string& target) {
  target.push_back(static_cast<char>(unit & 0xFF));
  target.push_back(static_cast<char>(unit >> 8));
}

}  // namespace

bool is_valid_utf8(std::string_view text) { return find_damage(text, 0) == text.size(); }

std::string with_valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  std::size_t at = 0;
  while (true) {
    const std::size_t damage = find_damage(text, at);
    result.append(text.substr(at, damage - at));
    if (damage == text.size()) return result;
    result.append(kReplacement);
    at = damage + sequence_at(text, damage).length;
  }
}

std::string to_utf16(std::string_view text) {
  std::string result;
  result.reserve(2 * text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Sequence sequence = sequence_at(text, at);
    at += sequence.length;
    if (sequence.character < 0x10000) {
      append_unit(sequence.character, result);
    } else {
      append_unit(0xD800 + ((sequence.character - 0x10000) >> 10), result);
      append_unit(0xDC00 + ((sequence.character - 0x10000) & 0x3FF), result);
    }
  }
  return result;
}

}  // namespace harmonica::providers
