// Applies batches: classifies, updates views, writes the store, and commits all of it with the knowledge.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "harmonica/extension/provider.h"
#include "kernel/change_classifier.h"
#include "kernel/change_detector.h"
#include "kernel/received_batch.h"
#include "kernel/replica_context.h"

namespace harmonica::kernel {

// Applies the changes of `batches` as one unit: everything the store accepts is durable with its knowledge when this
// returns. Items that fail are left out and named in the report. A store that changed meanwhile is detected again first, so
// a user's edit becomes a conflict and is never overwritten. Also writes what an earlier session could not. An error leaves
// store and metadata as they were, or the store written and the metadata to be brought up by the next session.
Result<BatchReport> apply_changes(ReplicaContext& context, ChangeDetector& detector, std::span<const ReceivedBatch> batches,
                                  Resolution resolution);

// Once nobody reads any more: what was erased since the last time leaves no bytes in the metadata. One that was missed is
// made up for when the metadata are opened next.
Status wipe_erased(ReplicaContext& context);

// Ends a deferred conflict by what a person decided (rule R11).
Status apply_decision(ReplicaContext& context, ChangeDetector& detector, const ConflictRecord& conflict,
                      Resolution resolution);

// Changes registers of `item` as a user would; each gets its version from `mint`.
using LocalEdit = std::function<void(Item& item, const std::function<Version()>& mint)>;
Status apply_local_edit(ReplicaContext& context, ChangeDetector& detector, const ItemId& item, const LocalEdit& edit);

// Erases an item and all that is shown below it, for good; the items, it first. not_found: not held, or erased before.
Result<std::vector<ItemId>> apply_local_erasure(ReplicaContext& context, ChangeDetector& detector, const ItemId& item);

}  // namespace harmonica::kernel
