// How two replicas find out in which items they differ: questions about id ranges, and answers.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "harmonica/ids.h"

namespace harmonica {

// Stands for a set of items with the versions of all their registers: the sum of a digest of each. Zero for none.
using Fingerprint = std::array<std::uint8_t, 16>;

// "Within this range I hold items with this fingerprint. And you?"
struct RangeQuestion {
  ItemIdRange range;
  Fingerprint fingerprint{};
  friend bool operator==(const RangeQuestion&, const RangeQuestion&) = default;
};

enum class RangeAnswerKind : std::uint8_t {
  kEqual,  // the same
  kParts,  // the range in parts: the first id of each but the first, and the fingerprint of each
  kItems,  // every item within it, and the fingerprint of each
};

struct RangeAnswer {
  RangeAnswerKind kind = RangeAnswerKind::kEqual;
  std::vector<ItemId> ids;  // rising, within the range
  std::vector<Fingerprint> fingerprints;
  friend bool operator==(const RangeAnswer&, const RangeAnswer&) = default;
};

}  // namespace harmonica
