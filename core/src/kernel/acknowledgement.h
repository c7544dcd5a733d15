// What all replicas of the scope are known to know.
#pragma once

#include "harmonica/clock_vector.h"
#include "harmonica/knowledge.h"
#include "kernel/replica_context.h"

namespace harmonica::kernel {

// What is contained in knowledge for every item.
ClockVector known_of_every_item(const Knowledge& knowledge);

// Whether the replica has a use for what others acknowledge, and so remembers it.
bool heeds_acknowledgements(const ReplicaContext& context);

// The versions that every replica which has been heard of has said to know, of every item, but for those that have retired
// or have another id now. Nothing as long as one of them has never been met by this one. A replica that nobody has heard
// of, or a backup, may still not know them (rule R13). (Causal stability.)
Result<ClockVector> acknowledged_by_all(ReplicaContext& context, MetadataTransaction& transaction);

}  // namespace harmonica::kernel
