// What a replica takes over from the first one that it learns from: the ids and the order of what both have.
#pragma once

#include <cstdint>
#include <span>

#include "kernel/received_batch.h"
#include "kernel/replica_context.h"

namespace harmonica::kernel {

enum class FirstContactState : std::uint8_t {
  kAsBefore,
  kChanged,     // something is named or ordered otherwise
  kIncomplete,  // `batches` are not all that the source has: they are not to be applied, the next session brings all
};

// For a replica that has told nobody, before it applies `batches` (docs/adr/0011). Items of its own that are the same as
// one in `batches` take the latter's id: those whose store carries that id, unless it follows from what the item is there;
// then those of the same natural key in the same folder, in their order; then those that have that id already. Where one of
// the two has all children of a folder that the other one has, in the same order, the source's positions count, and what
// only this replica has stays where it stands among them.
//
// What a cycle of moves has put where it stands is left as it is, with all below it.
//
// In a transaction of its own: until the batches are applied, the replica has still told nobody.
//
// Only for stores that are written whole, as all of both replicas is looked at; and not where ids decide what is shown
// (names, unique keys).
Result<FirstContactState> settle_first_contact(ReplicaContext& context, std::span<const ReceivedBatch> batches);

}  // namespace harmonica::kernel
