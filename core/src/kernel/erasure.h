// Items that are erased for good: what becomes of one where either side is erased, and what goes with it (docs/adr/0022).
#pragma once

#include <functional>
#include <vector>

#include "kernel/change_classifier.h"
#include "kernel/replica_context.h"

namespace harmonica::kernel {

// Decides a change where either side is erased: the item stays, or becomes, erased, under every rule and whatever else was
// written of it. Nothing is recorded. As a pure function.
Classification meet_erasure(const ClassifierInput& input, const std::function<Version()>& mint);

// What is left of an item that is erased in this version: not a single value. It still stands in the store where it did.
StoredItem erased_item(const StoredItem& before, const Version& version);

// The item, and all that is shown below it. At a replica without a store, what would be, cycles apart.
Result<std::vector<ItemId>> items_to_erase(const ReplicaContext& context, MetadataTransaction& transaction,
                                           const ItemId& item);

}  // namespace harmonica::kernel
