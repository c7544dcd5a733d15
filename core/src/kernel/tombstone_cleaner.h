// Forgets tombstones that are old enough (rule R13).
#pragma once

#include "harmonica/change.h"
#include "kernel/replica_context.h"

namespace harmonica::kernel {

// Removes tombstones whose deletion is older than the replica's retention or, if its options say so, which all replicas
// have acknowledged: the oldest first and at most limits::kTombstonesCleanedMax. Raises forgotten knowledge by all their
// versions in the same transaction. After a detection, so that nothing of them stands in the store. Takes time in
// proportion to what it removes.
//
// A replica that has a filter, or had one, cleans nothing here: see clean_acknowledged.
Status clean_tombstones(ReplicaContext& context);

// The same at a replica that has or had a filter, of the tombstones within the batch's range that its source knows, if that
// holds everything; those that the batch names apart (rule R27). `forgotten` is raised. Whether there were any.
Result<bool> clean_acknowledged(ReplicaContext& context, MetadataTransaction& transaction, const ChangeBatch& batch,
                                Knowledge& forgotten);

// What is forgotten as one vector, clipped to what is known: coarser, and never more than `known`. Where it is too much,
// others recover ranges that they need not, which costs time and changes nothing (oracle W28).
Knowledge coarsened(const Knowledge& forgotten, const Knowledge& known);

// `forgotten` where `known` has room for it: item by item at most that.
Knowledge clipped_to(const Knowledge& forgotten, const Knowledge& known);

// Metadata from before tombstones had an index gets one.
Status index_tombstones(ReplicaContext& context);

}  // namespace harmonica::kernel
