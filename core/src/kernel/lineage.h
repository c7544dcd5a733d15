// How copies of one replica are told apart, and what is remembered of peers (rules R31 and R32).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harmonica/change.h"
#include "kernel/identity.h"
#include "kernel/replica_context.h"

namespace harmonica::kernel {

// The marks that are shown to peers, newest first; none: nothing was changed here yet.
Result<std::vector<std::uint64_t>> shown_marks(MetadataTransaction& transaction);

// Draws a new mark, to be called where the transaction has made ticks after `tick_before`. One that has been shown to
// nobody goes for it.
Status draw_mark(ReplicaContext& context, MetadataTransaction& transaction, Tick tick_before);

// What meeting a peer shows about this replica.
struct Meeting {
  std::vector<std::uint64_t> marks_of_peer;  // by which it was known before
  std::optional<Renewal> renewal;            // nothing: all is well
};

// Compares what a peer remembers of this replica with what this one has done, its clock with the ticks made here, and
// remembers what the peer says of itself. `knowledge` is the peer's, or a part of it.
//
// The last mark that the peer remembers was never shown by this replica: then another copy of it has met the peer.
// The peer knows changes that this replica has not made: then it was rolled back, or copied.
// The ticks made here are further ahead than the allowed drift of both clocks: then the clock here was wrong once.
Result<Meeting> meet(ReplicaContext& context, const ReplicaDescription& peer, const Knowledge& knowledge);

// Whether the destination of a session has to hear of its source even if that has nothing new: it may find out that it is a
// copy, or that its clock ran ahead.
bool has_to_meet(const ChangeRequest& request, const ReplicaDescription& source);

// Up to which tick this replica has made the same changes as a copy that shows, or has shown, `marks`: 0 if none of them is
// its own.
Result<Tick> fork_of(MetadataTransaction& transaction, std::span<const std::uint64_t> marks);

}  // namespace harmonica::kernel
