// Finds what a destination lacks, a batch at a time (kernel rules, section 4).
#pragma once

#include <vector>

#include "harmonica/change.h"
#include "harmonica/extension/metadata_store.h"
#include "kernel/item_filter.h"

namespace harmonica::kernel {

// One session as a source.
struct ChangeSource {
  const Schema& schema;
  MetadataTransaction& transaction;
  const ReplicaDescription& description;
  const ChangeRequest& request;
  const ItemFilter* filter = nullptr;  // the request's; null: it has none
};

// The batch that answers the request from item id `first` on: changes in id order up to the request's byte limit, and the
// source's knowledge of the range that was looked at. Of a source with another filter than the request's, its knowledge of
// the items that it sends (rule R25).
Result<ChangeBatch> enumerate_changes(const ChangeSource& source, const ItemId& first);

// The registers of `item` that a destination with that knowledge of it lacks; nothing if it lacks none.
enum class Extent : std::uint8_t { kLacking, kWhole };
std::optional<ItemChange> change_for(const Item& item, const ClockVector& known, Extent extent);

// About the bytes that a change takes in a message.
std::size_t weight_of(const ItemChange& change);

}  // namespace harmonica::kernel
