// Ids and ticks of items that appear in a store (kernel rules, section 9).
#pragma once

#include <cstdint>
#include <vector>

#include "harmonica/conflict.h"
#include "harmonica/extension/environment.h"
#include "harmonica/extension/item_store.h"
#include "harmonica/schema.h"

namespace harmonica::kernel {

// The id that follows from an item's natural key: type, parent and the values of its type's natural key, with a running
// number for twins. The same on every device, so that two that hold the same data before they ever met agree.
ItemId natural_item_id(Environment& environment, const ItemType& type, const ItemId& parent,
                       const std::vector<UnitValue>& values, std::uint32_t running_number);

// The id under which an item lives on that had to leave its own to an item of another type, and another one for each step
// further. The same on every device.
ItemId second_item_id(Environment& environment, const ItemId& item, TypeId type);

// The id of a conflict record, from item, unit, the version that lost and the one that it met.
ConflictId conflict_id(Environment& environment, const ConflictRecord& conflict);

// The id of the one record of an item that waits for a decision.
ConflictId deferred_conflict_id(Environment& environment, const ItemId& item);

}  // namespace harmonica::kernel
