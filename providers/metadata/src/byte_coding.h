// Numbers and strings as bytes: least significant 7 bits first for variable lengths, most significant byte first for fixed.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "harmonica/bytes.h"
#include "harmonica/ids.h"

namespace harmonica::providers {

class Encoder {
 public:
  Encoder() = default;
  // Expects about that many bytes.
  explicit Encoder(std::size_t bytes_expected) { bytes_.reserve(bytes_expected); }

  void byte(std::uint8_t value) { bytes_.push_back(value); }

  void number(std::uint64_t value) {
    while (value >= 0x80) {
      byte(static_cast<std::uint8_t>(value | 0x80));
      value >>= 7;
    }
    byte(static_cast<std::uint8_t>(value));
  }

  // Small whatever the sign.
  void signed_number(std::int64_t value) {
    number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }

  void fixed64(std::uint64_t value) {
    std::array<std::uint8_t, 8> bytes;
    for (int i = 0; i < 8; ++i) bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(value >> (56 - 8 * i));
    raw(bytes);
  }

  void raw(ByteView value) { bytes_.insert(bytes_.end(), value.begin(), value.end()); }

  void string(ByteView value) {
    number(value.size());
    raw(value);
  }
  void string(std::string_view value) { string(as_bytes(value)); }

  const Bytes& bytes() const { return bytes_; }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

// Reads hostile bytes: once something does not fit, everything reads as zero and empty, and `intact` stays false. The bytes
// must outlive it.
class Decoder {
 public:
  explicit Decoder(ByteView bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool intact() const { return intact_; }
  // Everything was read, and all of it fitted.
  bool complete() const { return intact_ && at_ == end_; }

  // Remembers that what was read makes no sense.
  void refuse() {
    intact_ = false;
    at_ = end_;
  }
  void require(bool condition) {
    if (!condition) refuse();
  }

  std::uint8_t byte() {
    if (at_ == end_) {
      refuse();
      return 0;
    }
    return *at_++;
  }

  std::uint64_t number() {
    // Most are this small.
    if (at_ != end_ && *at_ < 0x80) return *at_++;
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t next = byte();
      if (shift == 63 && next > 1) break;
      value |= static_cast<std::uint64_t>(next & 0x7f) << shift;
      if (next < 0x80) return intact_ ? value : 0;
    }
    refuse();
    return 0;
  }

  // A number that is at most `greatest`.
  std::uint64_t number(std::uint64_t greatest) {
    const std::uint64_t value = number();
    require(value <= greatest);
    return intact_ ? value : 0;
  }

  std::int64_t signed_number() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }

  std::uint64_t fixed64() {
    std::uint64_t value = 0;
    for (const std::uint8_t next : raw(8)) value = value << 8 | next;
    return value;
  }

  // How many elements follow, each of at least `element_bytes_min` bytes: never more than there can be.
  std::size_t count(std::size_t element_bytes_min) {
    return static_cast<std::size_t>(number(bytes_left() / element_bytes_min));
  }

  ByteView raw(std::size_t size) {
    if (size > bytes_left()) {
      refuse();
      return {};
    }
    const ByteView value(at_, size);
    at_ += size;
    return value;
  }

  ByteView string() { return raw(count(1)); }
  std::string text() { return std::string(as_text(string())); }
  Bytes bytes() {
    const ByteView value = string();
    return Bytes(value.begin(), value.end());
  }

  template <typename IdType>
  IdType id() {
    return IdType::from_bytes(raw(IdType::kSize)).value_or(IdType{});
  }

  // An enumerator from 0 to `last`.
  template <typename Enum>
  Enum enumerator(Enum last) {
    return static_cast<Enum>(number(static_cast<std::uint64_t>(last)));
  }

 private:
  std::size_t bytes_left() const { return static_cast<std::size_t>(end_ - at_); }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool intact_ = true;
};

}  // namespace harmonica::providers
