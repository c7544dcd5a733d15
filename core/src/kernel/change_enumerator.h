// Finds what a destination lacks, a batch at a time (kernel rules, section 4).
#pragma once

#include <vector>

#include "harmonica/change.h"
#include "harmonica/extension/metadata_store.h"

namespace harmonica::kernel {

// The batch that answers `request` from item id `first` on: changes in id order up to the request's byte limit, and the
// source's knowledge of the range that was looked at. `source` is copied into the batch.
Result<ChangeBatch> enumerate_changes(const Schema& schema, MetadataTransaction& transaction,
                                      const ReplicaDescription& source, const ChangeRequest& request, const ItemId& first);

// The registers of `item` that a destination with that knowledge of it lacks; nothing if it lacks none.
enum class Extent : std::uint8_t { kLacking, kWhole };
std::optional<ItemChange> change_for(const Item& item, const ClockVector& known, Extent extent);

// About the bytes that a change takes in a message.
std::size_t weight_of(const ItemChange& change);

}  // namespace harmonica::kernel
