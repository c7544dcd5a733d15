// Reading unsigned decimal numbers.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace harmonica {

// Digits only, all of `text`, within 64 bits; or nothing.
inline std::optional<std::uint64_t> parse_decimal(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace harmonica
