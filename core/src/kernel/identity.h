// Which replica this is: a new one, the one that it was, or one that was restored from a backup.
#pragma once

#include "kernel/replica_context.h"

namespace harmonica::kernel {

// Makes a new replica, or checks the identity of one that exists (rule R30). One that was restored gets a new id; if it had
// told nobody yet, what it has made goes over to that id, as if it had never had another.
Status open_identity(ReplicaContext& context);

// Whether the replica has told nobody of its items yet, so that it may still call and order them otherwise.
bool has_told_nobody(const ReplicaState& state);

}  // namespace harmonica::kernel
