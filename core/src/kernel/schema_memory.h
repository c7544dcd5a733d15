// Which schemas a replica has, and which of others it knows to be compatible.
#pragma once

#include <cstdint>

#include "kernel/replica_context.h"

namespace harmonica::kernel {

// Whether sessions with a replica whose schema has that fingerprint may begin; otherwise unsupported, and the two have to
// be introduced. `own` and `other` are 0 for a replica that has no schema yet.
Status check_fingerprint(const ReplicaContext& context, std::uint64_t own, std::uint64_t other);

// Provider::meet_schema.
Result<Schema> meet_schema(ReplicaContext& context, const Schema& peer);

// Of a schema as it is told to peers: 0 for none.
std::uint64_t told_fingerprint(const Schema& schema);

// What another process has learned of schemas with the same metadata. unavailable: it has opened them with another schema.
Status refresh_schemas(ReplicaContext& context, MetadataTransaction& transaction, const ReplicaState& state);

}  // namespace harmonica::kernel
