// Forgets tombstones that are old enough (rule R13).
#pragma once

#include "kernel/replica_context.h"

namespace harmonica::kernel {

// Removes tombstones whose deletion is older than the replica's retention, the oldest first and at most
// limits::kTombstonesCleanedMax, and raises forgotten knowledge by all their versions in the same transaction. After a
// detection, so that nothing of them stands in the store. Takes time in proportion to what it removes.
//
// What everyone has acknowledged is not cleaned earlier: without a table of replicas nobody knows who everyone is.
Status clean_tombstones(ReplicaContext& context);

// What is forgotten as one vector, clipped to what is known: coarser, and never more than `known`. Where it is too much,
// others recover ranges that they need not, which costs time and changes nothing (oracle W28).
Knowledge coarsened(const Knowledge& forgotten, const Knowledge& known);

// Metadata from before tombstones had an index gets one.
Status index_tombstones(ReplicaContext& context);

}  // namespace harmonica::kernel
