#include "kernel/identity.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "harmonica/limits.h"
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

Status put_as_it_stands(ReplicaContext& context, MetadataTransaction& transaction, const StoredItem& stored) {
  const WrittenState written =
      desired_shown(context, stored, StoreKey()) == stored.shown ? WrittenState::kWritten : WrittenState::kUnwritten;
  return transaction.put(stored, entries_of(context, stored, written));
}

Tick now_tick(ReplicaContext& context) { return first_tick_of(context.environment.wall_clock_ms()); }

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
    HARMONICA_RETURN_IF_ERROR(put_as_it_stands(context, transaction, stored));
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

bool is_given_up(const Version& version, const Version& kept) {
  return version.replica == kept.replica && version.tick > kept.tick;
}

// The greatest of the item's versions that are given up; 0: none is.
Tick given_up(const Item& item, const Version& kept) {
  Tick greatest = is_given_up(item.existence.version, kept) ? item.existence.version.tick : 0;
  for (const UnitRegister& unit : item.units) {
    if (is_given_up(unit.content.version, kept)) greatest = std::max(greatest, unit.content.version.tick);
  }
  return greatest;
}

// Makes anew, in the order in which they were made, the registers whose versions are given up. Whether there were any.
Result<bool> make_anew(ReplicaContext& context, MetadataTransaction& transaction, const Knowledge& knowledge,
                       const Version& kept) {
  constexpr std::size_t kAtOnce = 1'000;
  std::vector<std::pair<Tick, ItemId>> items;
  for (std::optional<ItemId> from = kFirstItemId; from;) {
    HARMONICA_ASSIGN_OR_RETURN(const std::vector<ItemId> lacking,
                               transaction.find_lacking(knowledge, {*from, last_item_id()}, kAtOnce));
    for (const ItemId& item : lacking) {
      HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction.find(item));
      const Tick tick = stored ? given_up(stored->item, kept) : 0;
      if (tick > 0) items.emplace_back(tick, item);
    }
    from = lacking.size() < kAtOnce ? std::nullopt : next(lacking.back());
  }
  std::sort(items.begin(), items.end());
  for (const auto& [tick, item] : items) {
    HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> stored, transaction.find(item));
    const Version version = context.mint();
    const auto renew = [&](Version& held) {
      if (is_given_up(held, kept)) held = version;
    };
    renew(stored->item.existence.version);
    for (UnitRegister& unit : stored->item.units) renew(unit.content.version);
    // A text under a version that may be somebody else's too is no base to merge from.
    std::erase_if(stored->merge_bases, [&](const UnitRegister& base) { return is_given_up(base.content.version, kept); });
    HARMONICA_RETURN_IF_ERROR(put_as_it_stands(context, transaction, *stored));
  }
  return !items.empty();
}

// Where something was forgotten under a version that is given up, it stays forgotten under one of the new id. Whether there
// is any such place.
bool keep_forgotten(ReplicaContext& context, Knowledge& forgotten, const Version& kept) {
  Knowledge capped = forgotten;
  capped.cap(kept);
  if (capped == forgotten) return false;
  ClockVector made;
  made.raise(context.mint());
  const auto steps = forgotten.steps();
  for (std::size_t index = 0; index < steps.size(); ++index) {
    if (forgotten.vectors()[steps[index].vector].at(kept.replica) <= kept.tick) continue;
    const ItemId last = index + 1 == steps.size() ? last_item_id() : previous(steps[index + 1].first);
    capped.merge(Knowledge(made), {steps[index].first, last});
  }
  forgotten = std::move(capped);
  return true;
}

}  // namespace

Status become_another(ReplicaContext& context, Tick fork, const std::string& why) {
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context.metadata.begin(TransactionMode::kWrite));
  HARMONICA_ASSIGN_OR_RETURN(ReplicaState state, transaction->state());
  HARMONICA_ASSIGN_OR_RETURN(Knowledge knowledge, transaction->knowledge());
  HARMONICA_ASSIGN_OR_RETURN(Knowledge forgotten, transaction->forgotten());
  if (state.former_replicas.size() >= limits::kFormerReplicasMax) {
    return {StatusCode::kLimitExceeded, "replica " + context.replica.to_text() + " " + why + ", it is said; it has had " +
                                            std::to_string(state.former_replicas.size()) +
                                            " ids and takes no more: look at the peer"};
  }
  const Version kept{context.replica, fork};
  const bool known_to_nobody = has_told_nobody(state);
  state.replica = random_replica_id(context.environment);
  context.replica = state.replica;
  context.reserved_outside = 0;
  state.reserved_tick = 0;
  if (known_to_nobody) {
    HARMONICA_RETURN_IF_ERROR(take_over(context, *transaction, kept.replica));
  } else {
    state.former_replicas.push_back(kept.replica);
    knowledge.cap(kept);
    context.clock.restart_at(std::max(knowledge.greatest_tick(), std::min(state.last_tick, now_tick(context))));
    HARMONICA_ASSIGN_OR_RETURN(bool minted, make_anew(context, *transaction, knowledge, kept));
    minted = keep_forgotten(context, forgotten, kept) || minted;
    if (minted) knowledge.raise_everywhere({context.replica, context.clock.last()});
    state.last_tick = context.clock.last();
    HARMONICA_RETURN_IF_ERROR(transaction->set_knowledge(knowledge));
    HARMONICA_RETURN_IF_ERROR(transaction->set_forgotten(forgotten));
  }
  context.environment.log(LogLevel::kWarning,
                          "replica " + kept.replica.to_text() + " " + why + "; it is now " + state.replica.to_text());
  return commit(context, *transaction, state);
}

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
