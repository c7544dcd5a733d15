// Short names for tests: replicas are letters and items are numbers, as in "{A:5,B:3}|i7:{A:2}".
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "harmonica/knowledge.h"

namespace harmonica::shorthand {

inline ReplicaId replica(char letter) {
  ReplicaId id;
  id.bytes.back() = static_cast<std::uint8_t>(letter);
  return id;
}

inline ItemId item(std::uint64_t number) {
  ItemId id;
  for (std::size_t i = 0; i < 8; ++i) id.bytes[ItemId::kSize - 1 - i] = static_cast<std::uint8_t>(number >> (8 * i));
  return id;
}

inline std::uint64_t number(std::string_view digits) {
  std::uint64_t value = 0;
  for (const char digit : digits) value = value * 10 + static_cast<std::uint64_t>(digit - '0');
  return value;
}

// "A5"
inline Version version(std::string_view text) { return {replica(text.front()), number(text.substr(1))}; }

// Each capital letter replaced by the replica of that name.
inline std::string spelled_out(std::string_view text) {
  std::string full;
  for (const char c : text) full += c >= 'A' && c <= 'Z' ? replica(c).to_text() : std::string(1, c);
  return full;
}

// "{A:5,B:3}"
inline ClockVector vector(std::string_view text) {
  const auto parsed = ClockVector::parse(spelled_out(text));
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(ClockVector());
}

// "i7" or "i7..i9"
inline ItemIdRange range(std::string_view text) {
  const std::size_t dots = text.find("..");
  const ItemId first = item(number(text.substr(1, dots == std::string_view::npos ? dots : dots - 1)));
  return {first, dots == std::string_view::npos ? first : item(number(text.substr(dots + 3)))};
}

// "VECTOR" everywhere, and behind each '|' what holds in a range instead: "{A:5,B:3}|i7:{A:2}|i10..i12:{}".
inline Knowledge knowledge(std::string_view text) {
  const std::size_t bar = text.find('|');
  Knowledge built(vector(text.substr(0, bar)));
  while (text.find('|') != std::string_view::npos) {
    text.remove_prefix(text.find('|') + 1);
    const std::string_view part = text.substr(0, text.find('|'));
    const std::size_t colon = part.find(':');
    built.assign(range(part.substr(0, colon)), vector(part.substr(colon + 1)));
  }
  return built;
}

}  // namespace harmonica::shorthand

namespace harmonica {

// For messages of GoogleTest.
inline void PrintTo(const Knowledge& knowledge, std::ostream* out) { *out << knowledge.to_text(); }
inline void PrintTo(const ClockVector& vector, std::ostream* out) { *out << vector.to_text(); }

}  // namespace harmonica
