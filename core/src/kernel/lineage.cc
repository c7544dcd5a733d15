#include "kernel/lineage.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "harmonica/limits.h"
#include "kernel/acknowledgement.h"

namespace harmonica::kernel {
namespace {

using Lineage = std::vector<LineageMark>;

Lineage::const_iterator find_mark(const Lineage& lineage, std::uint64_t mark) {
  return std::find_if(lineage.begin(), lineage.end(), [&](const LineageMark& one) { return one.mark == mark; });
}

std::uint64_t random_mark(Environment& environment) {
  std::array<std::uint8_t, 8> bytes{};
  environment.randomize(bytes);
  std::uint64_t mark = 0;
  for (const std::uint8_t byte : bytes) mark = mark << 8 | byte;
  return std::max<std::uint64_t>(mark, 1);
}

// Up to which tick a replica with this lineage has made the same changes as one that shows, or has shown, `marks`.
Tick common_tick(const Lineage& lineage, const ReplicaState& state, std::span<const std::uint64_t> marks) {
  for (const std::uint64_t mark : marks) {
    const auto shared = find_mark(lineage, mark);
    if (shared == lineage.end()) continue;
    // All that was made under a mark was made before it was shown, or is the last.
    const auto following = std::next(shared);
    return following == lineage.end() ? state.reserved_tick : following->tick_before;
  }
  return 0;
}

bool is_far_ahead(Tick tick, std::int64_t now_ms) { return milliseconds_of(tick) - now_ms > limits::kClockDriftMsMax; }

}  // namespace

Result<std::vector<std::uint64_t>> shown_marks(MetadataTransaction& transaction) {
  HARMONICA_ASSIGN_OR_RETURN(const Lineage lineage, transaction.lineage());
  std::vector<std::uint64_t> marks;
  for (auto mark = lineage.rbegin(); mark != lineage.rend() && marks.size() < limits::kMarksShownMax; ++mark) {
    marks.push_back(mark->mark);
  }
  return marks;
}

Status draw_mark(ReplicaContext& context, MetadataTransaction& transaction, Tick tick_before) {
  HARMONICA_ASSIGN_OR_RETURN(Lineage lineage, transaction.lineage());
  const std::uint64_t mark = random_mark(context.environment);
  if (!lineage.empty() && !context.mark_is_shown) {
    // One that nobody has seen may have been copied all the same.
    lineage.back().mark = mark;
  } else {
    lineage.push_back({mark, tick_before});
  }
  if (lineage.size() > limits::kLineageMarksMax) lineage.erase(lineage.begin());
  return transaction.set_lineage(lineage);
}

Result<Meeting> meet(ReplicaContext& context, const ReplicaDescription& peer, const Knowledge& knowledge) {
  HARMONICA_ASSIGN_OR_RETURN(auto transaction, context.metadata.begin(TransactionMode::kRead));
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaState state, transaction->state());
  HARMONICA_ASSIGN_OR_RETURN(const std::optional<Peer> known, transaction->find_peer(peer.replica));
  HARMONICA_ASSIGN_OR_RETURN(const Lineage lineage, transaction->lineage());
  transaction.reset();

  const std::int64_t now_ms = context.environment.wall_clock_ms();
  Peer remembered = known.value_or(Peer{peer.replica, {}, 0, {}});
  Meeting meeting;
  meeting.marks_of_peer = remembered.marks;
  if (!peer.marks_of_peer.empty() && find_mark(lineage, peer.marks_of_peer.front()) == lineage.end()) {
    meeting.renewal = {common_tick(lineage, state, peer.marks_of_peer),
                       "was copied: replica " + peer.replica.to_text() + " has met another copy of it", false};
  } else if (const Tick known_of_us = knowledge.greatest_tick(context.replica); known_of_us > state.reserved_tick) {
    // The second net: for one that was rolled back with all that is kept outside of it, and meets others than before. The
    // marks that the peer remembers may all be from after that.
    meeting.renewal = {
        0, "was rolled back: replica " + peer.replica.to_text() + " knows changes of it that it has not made", false};
  } else if (is_far_ahead(state.reserved_tick, now_ms) && is_far_ahead(state.reserved_tick, peer.wall_clock_ms)) {
    meeting.renewal = {
        known_of_us, "made changes while its clock was ahead of what it and replica " + peer.replica.to_text() + " say now",
        true};
  }
  if (meeting.renewal) return meeting;

  remembered.marks = peer.marks;
  if (heeds_acknowledgements(context)) remembered.acknowledged.merge(known_of_every_item(knowledge));
  if (std::abs(now_ms - remembered.last_session_ms) >= limits::kPeerTimeMs) remembered.last_session_ms = now_ms;
  if (remembered == known) return meeting;
  HARMONICA_ASSIGN_OR_RETURN(transaction, context.metadata.begin(TransactionMode::kWrite));
  HARMONICA_RETURN_IF_ERROR(transaction->put_peer(remembered));
  HARMONICA_RETURN_IF_ERROR(transaction->commit());
  return meeting;
}

bool has_to_meet(const ChangeRequest& request, const ReplicaDescription& source) {
  const ReplicaDescription& destination = request.destination;
  const std::vector<std::uint64_t>& remembered = source.marks_of_peer;
  if (!remembered.empty() && (destination.marks.empty() || destination.marks.front() != remembered.front())) return true;
  return is_far_ahead(request.knowledge.at(kFirstItemId).at(destination.replica), source.wall_clock_ms);
}

Result<Tick> fork_of(MetadataTransaction& transaction, std::span<const std::uint64_t> marks) {
  HARMONICA_ASSIGN_OR_RETURN(const Lineage lineage, transaction.lineage());
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaState state, transaction.state());
  return common_tick(lineage, state, marks);
}

}  // namespace harmonica::kernel
