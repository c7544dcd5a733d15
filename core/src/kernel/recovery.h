// What a destination takes away because its source does not hold it (rule R15).
#pragma once

#include <set>
#include <vector>

#include "harmonica/extension/metadata_store.h"
#include "kernel/received_batch.h"
#include "kernel/views.h"
#include "kernel/write_plan.h"

namespace harmonica::kernel {

// Where `source` is not contained in `destination`, in order; within `range`.
std::vector<ItemIdRange> ranges_lacking(const Knowledge& destination, const Knowledge& source, const ItemIdRange& range);

// The items held here that the source of the batch may not hold, where it has forgotten what `knowledge` does not contain;
// or, if it has the same filter, knows of it. In order; some are named by the batch.
Result<std::vector<ItemId>> absent_items(MetadataTransaction& transaction, const Knowledge& knowledge,
                                         const ReceivedBatch& received);

// Items that go without leaving a tombstone, in one attempt at a unit of work.
class Removals {
 public:
  // What the views and the store have to do for it: the item counts as deleted until it goes.
  ViewInput add(StoredItem before);
  bool contains(const ItemId& item) const { return items_.contains(item); }

  // After the plan's writes are made. Whether all of it can go: what cannot is held back from the next attempt.
  Result<bool> remove(MetadataTransaction& transaction, HeldBack& held_back) const;

 private:
  std::set<ItemId> items_;
};

}  // namespace harmonica::kernel
