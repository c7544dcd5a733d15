#include "kernel/identity.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernel/view_index.h"
#include "kernel/views.h"
#include "kernel/write_plan.h"

namespace harmonica::kernel {
namespace {

ReplicaId random_replica_id(Environment& environment) {
  ReplicaId id;
  environment.randomize(id.bytes);
  return id;
}

// The versions that `former` made become those of the replica that it is now. Nothing was learned from anybody yet.
Status take_over(ReplicaContext& context, MetadataTransaction& transaction, const ReplicaId& former) {
  std::vector<StoredItem> items;
  HARMONICA_RETURN_IF_ERROR(transaction.scan(ItemIdRange::all(), [&](const StoredItem& stored) -> Result<Visit> {
    items.push_back(stored);
    return Visit::kContinue;
  }));
  Tick last = 0;
  const auto rename = [&](Version& version) {
    if (version.replica != former) return;
    version.replica = context.replica;
    last = std::max(last, version.tick);
  };
  for (StoredItem& stored : items) {
    rename(stored.item.existence.version);
    for (UnitRegister& unit : stored.item.units) rename(unit.content.version);
    for (UnitRegister& base : stored.merge_bases) rename(base.content.version);
    const WrittenState written =
        desired_shown(context, stored, StoreKey()) == stored.shown ? WrittenState::kWritten : WrittenState::kUnwritten;
    HARMONICA_RETURN_IF_ERROR(transaction.put(stored, entries_of(context, stored, written)));
  }
  Knowledge knowledge;
  if (last > 0) knowledge.raise_everywhere({context.replica, last});
  return transaction.set_knowledge(knowledge);
}

Status renew_identity(ReplicaContext& context, MetadataTransaction& transaction, ReplicaState& state) {
  const ReplicaId former = state.replica;
  const bool known_to_nobody = has_told_nobody(state);
  state.replica = random_replica_id(context.environment);
  state.last_tick = std::max(state.last_tick, context.reserved_outside);
  state.reserved_tick = 0;
  context.replica = state.replica;
  context.reserved_outside = 0;
  context.clock.observe(state.last_tick);
  if (known_to_nobody) {
    HARMONICA_RETURN_IF_ERROR(take_over(context, transaction, former));
  } else {
    state.former_replicas.push_back(former);
  }
  context.environment.log(LogLevel::kWarning, "replica " + former.to_text() + " was restored from a backup and is now " +
                                                  state.replica.to_text());
  return commit(context, transaction, state);
}

}  // namespace

Status open_identity(ReplicaContext& context) {
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context.metadata.begin(TransactionMode::kWrite));
  HARMONICA_ASSIGN_OR_RETURN(ReplicaState state, transaction->state());
  if (state.replica.is_zero()) {
    state.replica = random_replica_id(context.environment);
    context.replica = state.replica;
    return commit(context, *transaction, state);
  }
  context.replica = state.replica;
  HARMONICA_ASSIGN_OR_RETURN(context.anchor, transaction->anchor());
  context.clock.observe(state.last_tick);
  HARMONICA_ASSIGN_OR_RETURN(const std::optional<Tick> outside, context.environment.reserved_tick(state.replica));
  context.reserved_outside = outside.value_or(0);
  if (state.reserved_tick < context.reserved_outside) return renew_identity(context, *transaction, state);
  if (state.reserved_tick > context.reserved_outside) {
    HARMONICA_RETURN_IF_ERROR(context.environment.set_reserved_tick(state.replica, state.reserved_tick));
    context.reserved_outside = state.reserved_tick;
  }
  return {};
}

bool has_told_nobody(const ReplicaState& state) { return state.scope.empty() && state.former_replicas.empty(); }

}  // namespace harmonica::kernel
