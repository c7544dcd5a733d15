#include "harmonica/ids.h"

#include <algorithm>

#include "harmonica/assert.h"

namespace harmonica {
namespace {

constexpr std::size_t kScopeNameCharactersMax = 64;

// The frame of RFC 9562: four bits of version in byte 6, two bits of variant in byte 8.
constexpr std::size_t kVersionByte = 6;
constexpr std::uint8_t kVersionMask = 0xf0;
constexpr std::uint8_t kVersion8 = 0x80;
constexpr std::size_t kVariantByte = 8;
constexpr std::uint8_t kVariantMask = 0xc0;
constexpr std::uint8_t kVariantRfc = 0x80;

std::optional<std::uint8_t> digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<std::uint8_t>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<std::uint8_t>(digit - 'a' + 10);
  if (digit >= 'A' && digit <= 'F') return static_cast<std::uint8_t>(digit - 'A' + 10);
  return std::nullopt;
}

std::uint8_t replace_bits(std::uint8_t byte, std::uint8_t mask, std::uint8_t bits) {
  return static_cast<std::uint8_t>((byte & ~mask) | bits);
}

}  // namespace

template <typename Tag>
std::optional<Id<Tag>> Id<Tag>::parse(std::string_view text) {
  if (text.size() != kSize * 2) return std::nullopt;
  Id id;
  for (std::size_t i = 0; i < kSize; ++i) {
    const auto high_digit = digit_value(text[2 * i]);
    const auto low_digit = digit_value(text[2 * i + 1]);
    if (!high_digit || !low_digit) return std::nullopt;
    id.bytes[i] = static_cast<std::uint8_t>(*high_digit << 4 | *low_digit);
  }
  return id;
}

template struct Id<ReplicaTag>;
template struct Id<ItemTag>;
template struct Id<ConflictTag>;

ItemId last_item_id() {
  ItemId id;
  id.bytes.fill(0xff);
  return id;
}

std::optional<ItemId> next(const ItemId& id) {
  ItemId following = id;
  for (std::size_t i = ItemId::kSize; i-- > 0;) {
    if (++following.bytes[i] != 0) return following;
  }
  return std::nullopt;
}

ItemId previous(const ItemId& id) {
  ItemId before = id;
  for (std::size_t i = ItemId::kSize; i-- > 0;) {
    if (before.bytes[i]-- != 0) break;
  }
  return before;
}

ItemId shaped_item_id(ByteView sixteen_or_more_bytes) {
  HARMONICA_ASSERT(sixteen_or_more_bytes.size() >= ItemId::kSize);
  ItemId id = *ItemId::from_bytes(sixteen_or_more_bytes.first(ItemId::kSize));
  id.bytes[kVersionByte] = replace_bits(id.bytes[kVersionByte], kVersionMask, kVersion8);
  id.bytes[kVariantByte] = replace_bits(id.bytes[kVariantByte], kVariantMask, kVariantRfc);
  return id;
}

bool is_shaped_item_id(const ItemId& id) {
  return (id.bytes[kVersionByte] & kVersionMask) == kVersion8 && (id.bytes[kVariantByte] & kVariantMask) == kVariantRfc;
}

bool is_valid_scope_name(std::string_view name) {
  if (name.empty() || name.size() > kScopeNameCharactersMax) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
}

}  // namespace harmonica
