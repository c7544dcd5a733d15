#include "wire/utf8.h"

#include <cstdint>

namespace harmonica::wire {
namespace {

// The length of the character in front, 0 if there is none.
std::size_t character_length(std::string_view bytes) {
  const auto byte = [&](std::size_t index) { return static_cast<std::uint8_t>(bytes[index]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  std::uint8_t second_min = 0x80;
  std::uint8_t second_max = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) second_min = 0xa0;
    if (lead == 0xed) second_max = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) second_min = 0x90;
    if (lead == 0xf4) second_max = 0x8f;
  }
  if (length == 0 || length > bytes.size() || byte(1) < second_min || byte(1) > second_max) return 0;
  for (std::size_t index = 2; index < length; ++index) {
    if (byte(index) < 0x80 || byte(index) > 0xbf) return 0;
  }
  return length;
}

}  // namespace

std::size_t valid_utf8_length(std::string_view bytes) {
  std::size_t length = 0;
  while (length < bytes.size()) {
    const std::size_t step = character_length(bytes.substr(length));
    if (step == 0) break;
    length += step;
  }
  return length;
}

std::string repaired_utf8(std::string_view bytes) {
  std::string text;
  while (true) {
    const std::size_t valid = valid_utf8_length(bytes);
    text += bytes.substr(0, valid);
    if (valid == bytes.size()) return text;
    text += "\xef\xbf\xbd";
    bytes.remove_prefix(valid + 1);
  }
}

}  // namespace harmonica::wire
