// What a replica takes over from the first one that it learns from: the ids and the order of what both have.
#pragma once

#include <span>

#include "harmonica/change.h"
#include "kernel/replica_context.h"

namespace harmonica::kernel {

// Whether the replica has told nobody of its items yet, so that it may still call and order them otherwise.
bool has_told_nobody(const ReplicaState& state);

// For a replica that has told nobody, before it applies `batches` (docs/adr/0011). Items of its own that are the same as
// one in `batches` take the latter's id: those whose store carries that id, unless it follows from what the item is there;
// then those of the same natural key in the same folder, in their order; then those that have that id already. Where one of
// the two has all children of a folder that the other one has, in the same order, the source's positions count, and what
// only this replica has stays where it stands among them.
//
// What a cycle of moves has put where it stands is left as it is, with all below it.
//
// Only for stores that are written whole, as all of both replicas is looked at; only if `batches` are all that the source
// has; and not where ids decide what is shown (names, unique keys).
Status settle_first_contact(ReplicaContext& context, MetadataTransaction& transaction,
                            std::span<const ChangeBatch> batches);

}  // namespace harmonica::kernel
