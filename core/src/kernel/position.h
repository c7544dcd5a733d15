// Fractional keys that order siblings (role kPosition).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harmonica/bytes.h"
#include "harmonica/ids.h"

namespace harmonica::kernel {

// One key for each of `items`, ascending in their order, all strictly between `lower` and `upper`; empty `lower` is before
// all keys, empty `upper` behind all. Each key is a few digits followed by the 16 bytes of its item, so the keys of two
// items are never equal, whichever devices made them. Between two neighbours the keys are spread evenly; at an open end
// they follow in small steps, so that appending one by one costs a byte per millions of keys. Halving one gap costs a byte
// per 8 keys.
//
// Total and deterministic: there is always one key per item, and none is longer than limits::kPositionBytesMax. Where
// nothing fits strictly between (`lower` >= `upper`, `upper` is `lower` and zeros, the keys would be too long) they stand
// behind `lower`, or behind as many of its leading bytes as the limit allows. A caller sees that by comparing the first key
// with `lower` and the last one with `upper`, and then moves the neighbours as well: it spreads all siblings between two
// empty keys.
std::vector<Bytes> positions_between(const Bytes& lower, const Bytes& upper, std::span<const ItemId> items);

// Indexes of a longest strictly increasing subsequence, ascending: the siblings that need not move. O(n log n).
std::vector<std::size_t> longest_increasing(std::span<const Bytes> keys);

}  // namespace harmonica::kernel
