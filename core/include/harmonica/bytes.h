// Byte strings: the one type for data that is not text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace harmonica {

// Owned bytes. Ordered and compared lexicographically by unsigned value.
using Bytes = std::vector<std::uint8_t>;

// Borrowed bytes; the owner must outlive the view.
using ByteView = std::span<const std::uint8_t>;

// Lower-case hexadecimal, two digits a byte.
std::string to_hex(ByteView bytes);

inline ByteView as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

inline std::string_view as_text(ByteView bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace harmonica
