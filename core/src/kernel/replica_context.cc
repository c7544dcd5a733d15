#include "kernel/replica_context.h"

#include <algorithm>

#include "harmonica/limits.h"
#include "kernel/lineage.h"

namespace harmonica::kernel {

Tick LogicalClock::next() {
  last_ = std::max(last_ + 1, first_tick_of(environment_->wall_clock_ms()));
  return last_;
}

void LogicalClock::observe(Tick tick) { last_ = std::max(last_, tick); }

Tick LogicalClock::next_at(Tick wanted) {
  last_ = std::max(last_ + 1, wanted);
  return last_;
}

Status commit(ReplicaContext& context, MetadataTransaction& transaction, ReplicaState& state) {
  if (state.replica != context.replica) {
    return {StatusCode::kUnavailable, "replica " + context.replica.to_text() + " is now " + state.replica.to_text() +
                                          ": another program has found out that it is a copy; open it again"};
  }
  HARMONICA_ASSIGN_OR_RETURN(const Knowledge knowledge, transaction.knowledge());
  state.last_tick = std::max(state.last_tick, context.clock.last());
  Tick used = 0;
  for (const ClockVector& vector : knowledge.vectors()) used = std::max(used, vector.at(context.replica));
  const bool draws_mark = used > state.reserved_tick;
  if (draws_mark) {
    HARMONICA_RETURN_IF_ERROR(draw_mark(context, transaction, state.reserved_tick));
    state.reserved_tick = used;
  }
  HARMONICA_RETURN_IF_ERROR(transaction.set_state(state));
  HARMONICA_RETURN_IF_ERROR(transaction.commit());
  // Not before: where a commit fails, the mark that peers have seen is still the last one.
  if (draws_mark) context.mark_is_shown = false;
  return reserve_outside(context, state);
}

void join_scope(ReplicaContext& context, ReplicaState& state, const ScopeName& scope) {
  state.scope = scope;
  if (state.reserved_tick > 0) context.clock.observe(++state.reserved_tick);
}

Status reserve_outside(ReplicaContext& context, const ReplicaState& state) {
  if (state.reserved_tick <= context.reserved_outside) return {};
  HARMONICA_RETURN_IF_ERROR(context.environment.set_reserved_tick(context.replica, state.reserved_tick));
  context.reserved_outside = state.reserved_tick;
  return {};
}

Result<std::vector<PreparedItem>> pending_items(ReplicaContext& context) {
  if (context.shares_database()) return std::vector<PreparedItem>();
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context.metadata.begin(TransactionMode::kRead));
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaState state, transaction->state());
  HARMONICA_ASSIGN_OR_RETURN(PreparedWrite prepared, context.metadata.prepared(state.write_number + 1));
  return std::move(prepared.items);
}

Status check_drift(ReplicaContext& context, Tick greatest, const std::string& whose) {
  const std::int64_t ahead_ms = milliseconds_of(greatest) - context.environment.wall_clock_ms();
  if (ahead_ms <= limits::kClockDriftMsMax) return {};
  return {StatusCode::kClockSkew, whose + " has changes " + std::to_string(ahead_ms / 1000) +
                                      " s ahead of this device's clock; set the clocks of both devices and try again"};
}

}  // namespace harmonica::kernel
