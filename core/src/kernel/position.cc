#include "kernel/position.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "harmonica/limits.h"

namespace harmonica::kernel {
namespace {

// Keys are read as fractions in base 256. At an open end one key follows the other at this distance, in a number of digits
// that leaves this much room: gaps that take further keys cheaply, and an end that is not reached.
constexpr std::uint64_t kOpenEndStep = 256;
constexpr std::uint64_t kOpenEndRoom = std::uint64_t{1} << 24;

constexpr std::size_t kDigitsMax = limits::kPositionBytesMax - ItemId::kSize;

enum class End : std::uint8_t { kClosed, kOpen };

enum class Spread : std::uint8_t { kEven, kUpFromLower, kDownFromUpper };

// So many leading digits, and how far the bounds are apart in units of the last one.
struct Room {
  std::size_t digits = 0;
  std::uint64_t width = 0;
};

std::uint64_t digit_at(ByteView key, std::size_t index) { return index < key.size() ? key[index] : 0; }

// The fewest digits in which the bounds are at least `wanted` apart; an open upper end is 1.0.
std::optional<Room> find_room(ByteView lower, ByteView upper, End upper_end, std::uint64_t wanted) {
  std::uint64_t width = upper_end == End::kOpen ? 1 : 0;
  for (std::size_t digits = 0; digits < kDigitsMax;) {
    const std::uint64_t low = digit_at(lower, digits);
    const std::uint64_t raised = width * 256 + (upper_end == End::kOpen ? 0 : digit_at(upper, digits));
    if (raised < low) return std::nullopt;
    width = raised - low;
    ++digits;
    if (width >= wanted) return Room{digits, width};
    if (width == 0 && digits >= lower.size() && digits >= upper.size()) return std::nullopt;
  }
  return std::nullopt;
}

// The first `digits` of the fraction, plus `offset` units of the last one, then the item.
Bytes make_key(ByteView base, std::size_t digits, std::uint64_t offset, const ItemId& item) {
  Bytes key(digits);
  std::uint64_t carry = offset;
  for (std::size_t i = digits; i-- > 0;) {
    carry += digit_at(base, i);
    key[i] = static_cast<std::uint8_t>(carry & 0xff);
    carry >>= 8;
  }
  key.insert(key.end(), item.bytes.begin(), item.bytes.end());
  return key;
}

}  // namespace

std::vector<Bytes> positions_between(const Bytes& lower, const Bytes& upper, std::span<const ItemId> items) {
  std::vector<Bytes> keys;
  if (items.empty()) return keys;
  keys.reserve(items.size());

  const std::uint64_t parts = std::uint64_t{items.size()} + 1;
  ByteView base = lower;
  const End upper_end = upper.empty() ? End::kOpen : End::kClosed;
  Spread spread = Spread::kEven;
  if (lower.empty() != upper.empty()) spread = upper.empty() ? Spread::kUpFromLower : Spread::kDownFromUpper;
  const std::uint64_t wanted = spread == Spread::kEven ? parts : std::max(kOpenEndRoom, parts * kOpenEndStep);
  std::optional<Room> room = find_room(base, upper, upper_end, wanted);
  if (!room) {
    // Nothing fits: all keys get `lower`, as far as the limit allows, as a prefix.
    constexpr std::size_t kSpareDigits = sizeof(std::uint64_t);
    base = base.first(std::min(base.size(), kDigitsMax - kSpareDigits));
    spread = Spread::kEven;
    room = Room{base.size(), 1};
    while (room->width < parts) room = Room{room->digits + 1, room->width * 256};
  }

  for (std::uint64_t i = 1; i < parts; ++i) {
    std::uint64_t offset = 0;
    switch (spread) {
      case Spread::kEven:
        // Not i * width / parts: the product could overflow.
        offset = i * (room->width / parts) + i * (room->width % parts) / parts;
        break;
      case Spread::kUpFromLower:
        offset = i * kOpenEndStep;
        break;
      case Spread::kDownFromUpper:
        offset = room->width - (parts - i) * kOpenEndStep;
        break;
    }
    keys.push_back(make_key(base, room->digits, offset, items[i - 1]));
  }
  return keys;
}

std::vector<std::size_t> longest_increasing(std::span<const Bytes> keys) {
  // tails[k]: the index of the smallest key that ends an increasing subsequence of length k + 1 (patience sorting).
  std::vector<std::size_t> tails;
  std::vector<std::size_t> predecessors(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto place =
        std::lower_bound(tails.begin(), tails.end(), i, [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    const auto length = static_cast<std::size_t>(place - tails.begin());
    if (length > 0) predecessors[i] = tails[length - 1];
    if (place == tails.end()) {
      tails.push_back(i);
    } else {
      *place = i;
    }
  }

  std::vector<std::size_t> result(tails.size());
  std::size_t index = tails.empty() ? 0 : tails.back();
  for (std::size_t k = result.size(); k-- > 0;) {
    result[k] = index;
    index = predecessors[index];
  }
  return result;
}

}  // namespace harmonica::kernel
