// Opens a replica with the schema that its store has now, which may be another than before.
#pragma once

#include "kernel/replica_context.h"

namespace harmonica::kernel {

// Compares the schema with the one that the replica was last opened with. Under another one all views and indexes are made
// anew, and what the schema now knows more of is marked, for the next detection finds it in the store for the first time.
// unsupported: the two contradict each other, or the former one is not known.
Status open_schema(ReplicaContext& context);

}  // namespace harmonica::kernel
