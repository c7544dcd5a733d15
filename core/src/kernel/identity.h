// Which replica this is: a new one, the one that it was, or one that was restored from a backup.
#pragma once

#include "kernel/replica_context.h"

namespace harmonica::kernel {

// Makes a new replica, or checks the identity of one that exists (rule R30). One that was restored gets a new id; if it had
// told nobody yet, what it has made goes over to that id, as if it had never had another.
Status open_identity(ReplicaContext& context);

// Takes a new id, because there is another copy of this replica, or because its clock ran ahead (rules R31 and R32). What
// it has changed after the tick `fork` gets new versions, in the order in which it was made, and of what others may have
// made under the former id since then nothing is known any more. `why` goes on with "replica ...".
Status become_another(ReplicaContext& context, Tick fork, const std::string& why);

// Whether the replica has told nobody of its items yet, so that it may still call and order them otherwise.
bool has_told_nobody(const ReplicaState& state);

}  // namespace harmonica::kernel
