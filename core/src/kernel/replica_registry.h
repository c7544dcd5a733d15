// The replica table of one replica: what it says of itself, and what others say of it (rule R33).
#pragma once

#include <string>

#include "harmonica/replica_table.h"
#include "kernel/replica_context.h"

namespace harmonica::kernel {

// Joins a row with the table that is kept.
Status announce(MetadataTransaction& transaction, const ReplicaRow& row);

// Tells others what the device is called, if that is new. Nothing happens for an empty name.
Status name_device(ReplicaContext& context, const std::string& name);

// Provider::meet_replicas.
Result<ReplicaTable> meet_replicas(ReplicaContext& context, const ReplicaTable& peer);

// Says that a replica has left. not_found: nobody has heard of it. invalid_argument: it is this one.
Status retire(ReplicaContext& context, const ReplicaId& replica);

// All replicas that this one has heard of, itself first, then in the order of their ids.
Result<std::vector<Device>> devices(ReplicaContext& context);

}  // namespace harmonica::kernel
