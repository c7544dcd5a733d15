#include "json_text.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace harmonica::providers {
namespace {

constexpr std::uint64_t kEachByte = 0x0101010101010101U;
constexpr std::uint64_t kHighBits = 0x80 * kEachByte;

std::uint64_t load_eight(const char* bytes) {
  std::uint64_t eight;
  std::memcpy(&eight, bytes, sizeof(eight));
  return eight;
}

// Whether one of the eight bytes is smaller than `limit`, which is at most 128. (Anderson, "Bit Twiddling Hacks".)
bool has_less(std::uint64_t eight, std::uint64_t limit) { return ((eight - limit * kEachByte) & ~eight & kHighBits) != 0; }

bool has_special(std::uint64_t eight) {
  return has_less(eight, 0x20) || has_less(eight ^ ('"' * kEachByte), 1) || has_less(eight ^ ('\\' * kEachByte), 1);
}

// The first byte that cannot stand in a string as it is, or the end.
const char* find_special(const char* at, const char* end) {
  while (end - at >= 8 && !has_special(load_eight(at))) at += 8;
  while (at != end && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20) ++at;
  return at;
}

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

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

void JsonText::skip_blanks() {
  while (true) {
    while (end_ - at_ >= 8 && load_eight(at_) == ' ' * kEachByte) at_ += 8;
    if (at_ == end_ || !is_blank(*at_)) return;
    ++at_;
  }
}

}  // namespace harmonica::providers
