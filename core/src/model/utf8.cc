#include "harmonica/utf8.h"

#include <cstdint>
#include <cstring>

namespace harmonica {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

constexpr std::size_t kBlockWords = 4;

// Whether so many times eight bytes are ASCII.
template <std::size_t kWords>
bool is_ascii(const char* bytes) {
  std::uint64_t words[kWords];
  std::memcpy(words, bytes, sizeof(words));
  std::uint64_t all = 0;
  for (const std::uint64_t word : words) all |= word;
  return (all & 0x8080808080808080U) == 0;
}

struct Sequence {
  std::size_t length = 1;  // of the character, or of the damaged part
  bool valid = false;
};

// What stands in front of `bytes`, which are not empty.
Sequence first_sequence(std::string_view bytes) {
  const auto byte = [&](std::size_t index) { return static_cast<std::uint8_t>(bytes[index]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {1, true};
  std::size_t length = 0;
  if (lead >= 0xc2 && lead <= 0xdf) length = 2;
  if (lead >= 0xe0 && lead <= 0xef) length = 3;
  if (lead >= 0xf0 && lead <= 0xf4) length = 4;
  if (length == 0) return {1, false};
  std::uint8_t lowest = 0x80;
  std::uint8_t highest = 0xbf;
  if (lead == 0xe0) lowest = 0xa0;
  if (lead == 0xed) highest = 0x9f;
  if (lead == 0xf0) lowest = 0x90;
  if (lead == 0xf4) highest = 0x8f;
  for (std::size_t index = 1; index < length; ++index) {
    if (index == bytes.size() || byte(index) < lowest || byte(index) > highest) return {index, false};
    lowest = 0x80;
    highest = 0xbf;
  }
  return {length, true};
}

}  // namespace

std::size_t valid_utf8_length(std::string_view bytes) {
  std::size_t length = 0;
  while (length < bytes.size()) {
    const std::size_t left = bytes.size() - length;
    if (left >= 8 * kBlockWords && is_ascii<kBlockWords>(bytes.data() + length)) {
      length += 8 * kBlockWords;
    } else if (left >= 8 && is_ascii<1>(bytes.data() + length)) {
      length += 8;
    } else if (static_cast<std::uint8_t>(bytes[length]) < 0x80) {
      ++length;
    } else {
      const Sequence sequence = first_sequence(bytes.substr(length));
      if (!sequence.valid) break;
      length += sequence.length;
    }
  }
  return length;
}

bool is_valid_utf8(std::string_view bytes) { return valid_utf8_length(bytes) == bytes.size(); }

std::string repaired_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (true) {
    const std::size_t valid = valid_utf8_length(bytes);
    text += bytes.substr(0, valid);
    bytes.remove_prefix(valid);
    if (bytes.empty()) return text;
    text += kReplacement;
    bytes.remove_prefix(first_sequence(bytes).length);
  }
}

}  // namespace harmonica
