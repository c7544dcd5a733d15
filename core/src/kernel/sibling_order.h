// From the order in which a store shows the children of one parent to their positions (rule R46).
#pragma once

#include <utility>
#include <vector>

#include "harmonica/bytes.h"
#include "harmonica/ids.h"

namespace harmonica::kernel {

// A child, in the order of the store.
struct Sibling {
  ItemId item;
  Bytes position;              // as shown below this parent; empty: it was not there
  std::vector<Bytes> pending;  // where a write that was lost, or accepted in part, was to put it below this parent
  bool in_transit = false;     // that write was to take it away from here: its siblings were placed as if it had gone
};

struct SiblingPosition {
  Bytes position;
  bool is_new = false;  // given now
  friend bool operator==(const SiblingPosition&, const SiblingPosition&) = default;
};

struct SiblingOrder {
  std::vector<SiblingPosition> positions;  // of each sibling
  bool pending_seen = false;               // the order is that of a write that was lost, or accepted in part
  bool passed_over = false;                // one in transit stands against its position, by that write's doing
};

// As many children as can stay where they were shown, or where a pending position puts them, do; those that are new or were
// moved get positions between their neighbours' and `bounds` (empty: none). Where no room is left between two, all children
// get new positions. One in transit keeps the position that it has. An order that follows from pending positions is ours
// and no user's.
SiblingOrder order_siblings(std::vector<Sibling> siblings, const std::pair<Bytes, Bytes>& bounds);

}  // namespace harmonica::kernel
