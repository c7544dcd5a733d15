// The names of replicas, items, scopes and conflict records.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "harmonica/bytes.h"

namespace harmonica {

// A 16-byte name. Ordered by its bytes; prints as 32 hexadecimal digits. `Tag` keeps the kinds apart.
template <typename Tag>
struct Id {
  static constexpr std::size_t kSize = 16;

  std::array<std::uint8_t, kSize> bytes{};

  ByteView view() const { return bytes; }

  // The first and the last eight bytes as big-endian numbers: in this order they compare as the bytes do.
  std::uint64_t high() const { return big_endian(bytes.data()); }
  std::uint64_t low() const { return big_endian(bytes.data() + 8); }

  bool is_zero() const { return *this == Id{}; }

  // 32 lower-case hexadecimal digits.
  std::string to_text() const { return to_hex(view()); }

  // From exactly 16 bytes, or nothing.
  static std::optional<Id> from_bytes(ByteView source) {
    if (source.size() != kSize) return std::nullopt;
    Id id;
    std::memcpy(id.bytes.data(), source.data(), kSize);
    return id;
  }

  // From 32 hexadecimal digits in either case, or nothing.
  static std::optional<Id> parse(std::string_view text);

  friend std::strong_ordering operator<=>(const Id& a, const Id& b) {
    if (const auto order = a.high() <=> b.high(); order != 0) return order;
    return a.low() <=> b.low();
  }
  friend bool operator==(const Id& a, const Id& b) { return std::memcmp(a.bytes.data(), b.bytes.data(), kSize) == 0; }

 private:
  // Compilers make one load and one byte swap of this.
  static std::uint64_t big_endian(const std::uint8_t* source) {
    std::uint64_t number = 0;
    for (int i = 0; i < 8; ++i) number = number << 8 | source[i];
    return number;
  }
};

struct ReplicaTag;
struct ItemTag;
struct ConflictTag;

// One copy of a scope on one device. Random and never reused.
using ReplicaId = Id<ReplicaTag>;

// One item of a scope. Zero is the root above all items and never an item.
using ItemId = Id<ItemTag>;

// One conflict record; made from item, unit and both versions, so the same on every replica.
using ConflictId = Id<ConflictTag>;

extern template struct Id<ReplicaTag>;
extern template struct Id<ItemTag>;
extern template struct Id<ConflictTag>;

// The smallest and the greatest item id there can be.
inline constexpr ItemId kFirstItemId{};
ItemId last_item_id();

// The id that follows; nothing after the last one.
std::optional<ItemId> next(const ItemId& id);
// The id before, and the last one before the first.
ItemId previous(const ItemId& id);

// A closed interval of item ids; `first` <= `last`.
struct ItemIdRange {
  ItemId first;
  ItemId last;

  static ItemIdRange all() { return {kFirstItemId, last_item_id()}; }
  bool contains(const ItemId& id) const { return first <= id && id <= last; }
  friend bool operator==(const ItemIdRange&, const ItemIdRange&) = default;
};

// Item ids are UUIDs of version 8 (RFC 9562): 122 free bits in a fixed frame. So a store whose own identifiers are UUIDs
// can hold an item id as one of them and recognise it again.
ItemId shaped_item_id(ByteView sixteen_or_more_bytes);
bool is_shaped_item_id(const ItemId& id);

// The name of a scope: 1 to 64 characters of a-z, 0-9, '-', '_' and '.'. Empty: belongs to no scope yet.
using ScopeName = std::string;
bool is_valid_scope_name(std::string_view name);

}  // namespace harmonica
