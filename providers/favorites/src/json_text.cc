#include "json_text.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace harmonica::providers {
namespace {

constexpr std::uint64_t kEachByte = 0x0101010101010101U;
constexpr std::uint64_t kHighBits = 0x80 * kEachByte;

// The byte at `at` becomes the lowest, whatever the order of bytes of the machine.
std::uint64_t load_eight(const char* at) {
  std::uint64_t eight = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&eight, at, sizeof(eight));
  } else {
    for (int i = 7; i >= 0; --i) eight = eight << 8 | static_cast<unsigned char>(at[i]);
  }
  return eight;
}

int first_byte_of(std::uint64_t mask) { return std::countr_zero(mask) / 8; }

// Marks the bytes that are smaller than `limit`, which is at most 128. Above a byte that is, others may be marked too, so
// only the lowest mark counts. (Anderson, "Bit Twiddling Hacks".)
std::uint64_t mark_less(std::uint64_t eight, std::uint64_t limit) {
  return (eight - limit * kEachByte) & ~eight & kHighBits;
}

std::uint64_t mark_special(std::uint64_t eight) {
  return mark_less(eight, 0x20) | mark_less(eight ^ ('"' * kEachByte), 1) | mark_less(eight ^ ('\\' * kEachByte), 1);
}

// The first byte that cannot stand in a string as it is, or the end.
const char* find_special(const char* at, const char* end) {
  for (; end - at >= 8; at += 8) {
    if (const std::uint64_t mark = mark_special(load_eight(at)); mark != 0) return at + first_byte_of(mark);
  }
  while (at != end && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20) ++at;
  return at;
}

}  // namespace

char* JsonText::PutBegin() {
  put_ = nullptr;
  plain_length_ = 0;
  // The parser also asks behind a number, to which it adds nothing.
  const bool in_string = at_ != begin_ && at_[-1] == '"';
  const char* special = in_string ? find_special(at_, end_) : at_;
  // Nobody writes through the pointer: Put does nothing.
  char* here = const_cast<char*>(at_);
  if (!in_string || (special != end_ && *special == '"')) {
    plain_length_ = static_cast<std::size_t>(special - at_);
    at_ = special;
    return here;
  }
  // What is decoded is never longer than the text; one more for the null character that the parser puts behind it.
  const char* last = special;
  while (last != end_ && *last != '"') last += *last == '\\' && end_ - last > 1 ? 2 : 1;
  decoded_.resize(static_cast<std::size_t>(last - at_) + 1);
  put_ = std::copy(static_cast<const char*>(at_), special, decoded_.data());
  at_ = special;
  return decoded_.data();
}

// Mostly of a line end and some blanks behind it.
void JsonText::skip_run() {
  while (end_ - at_ >= 8) {
    const std::uint64_t others = load_eight(at_) ^ (' ' * kEachByte);
    if (others == 0) {
      at_ += 8;
      continue;
    }
    at_ += first_byte_of(others);
    if (!is_json_blank(*at_)) return;
    ++at_;
  }
  while (at_ != end_ && is_json_blank(*at_)) ++at_;
}

}  // namespace harmonica::providers
