// Which replica this is: a new one, the one that it was, or one that was restored from a backup.
#pragma once

#include <string>

#include "kernel/replica_context.h"

namespace harmonica::kernel {

// Makes a new replica, or checks the identity of one that exists (rule R30). One that was restored gets a new id; if it had
// told nobody yet, what it has made goes over to that id, as if it had never had another.
Status open_identity(ReplicaContext& context);

// Before a session: takes up the id that another process has given the replica meanwhile, as it found out that there is a
// copy of it; and sees to it that what was committed is reserved outside the store (rule R30).
Status refresh_identity(ReplicaContext& context);

// Why a replica has to take another id.
struct Renewal {
  Tick fork = 0;    // what it has changed after this tick it makes anew
  std::string why;  // goes on with "replica ..."
  // Its clock ran ahead, so what it makes anew gets earlier ticks. Where it was copied they must be later: others may hold
  // the same under the former versions.
  bool ran_ahead = false;
};

// Takes a new id (rules R31 and R32). What was changed after the fork gets new versions, in the order in which it was made,
// and of what others may have made under the former id since then nothing is known any more.
Status become_another(ReplicaContext& context, const Renewal& renewal);

// Whether the replica has told nobody of its items yet, so that it may still call and order them otherwise.
bool has_told_nobody(const ReplicaState& state);

}  // namespace harmonica::kernel
