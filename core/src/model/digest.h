// A digest that is the same on every build. Against mistakes and damage, not against an attacker.
#pragma once

#include <cstdint>

#include "harmonica/bytes.h"

namespace harmonica {

// FNV-1a. Numbers go in as eight little-endian bytes and texts behind their length, so that no two inputs run together.
class StableDigest {
 public:
  void add(std::uint64_t number) {
    for (int i = 0; i < 8; ++i) add_byte(static_cast<std::uint8_t>(number >> (8 * i)));
  }
  void add(ByteView bytes) {
    add(std::uint64_t{bytes.size()});
    for (const std::uint8_t byte : bytes) add_byte(byte);
  }
  std::uint64_t value() const { return value_; }

 private:
  void add_byte(std::uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3; }

  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace harmonica
