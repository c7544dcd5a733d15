#include "kernel/identity.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "harmonica/limits.h"
#include "kernel/filtering.h"
#include "kernel/replica_registry.h"
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

// Under it no tick was used yet; the clock goes on.
void take_new_id(ReplicaContext& context, ReplicaState& state) {
  state.replica = random_replica_id(context.environment);
  state.reserved_tick = 0;
  context.replica = state.replica;
  context.reserved_outside = 0;
  context.clock.observe(state.last_tick);
}

enum class Copied : std::uint8_t { kNo, kYes };

// Tells others of the new id (rule R33); the device's name goes over to it.
Status announce_as(ReplicaContext& context, MetadataTransaction& transaction, const Version& kept, Copied copied) {
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaTable table, transaction.replicas());
  ReplicaRow row;
  row.replica = context.replica;
  if (const ReplicaRow* before = table.find(kept.replica)) {
    row.name = before->name;
    row.named_ms = before->named_ms;
  }
  row.former = kept.replica;
  row.kept = kept.tick;
  row.copied = copied == Copied::kYes;
  return announce(transaction, row);
}

Status renew_identity(ReplicaContext& context, MetadataTransaction& transaction, ReplicaState& state) {
  const ReplicaId former = state.replica;
  const Tick kept = state.reserved_tick;
  const bool known_to_nobody = has_told_nobody(state);
  state.last_tick = std::max(state.last_tick, context.reserved_outside);
  take_new_id(context, state);
  if (known_to_nobody) {
    HARMONICA_RETURN_IF_ERROR(take_over(context, transaction, former));
  } else {
    state.former_replicas.push_back(former);
    HARMONICA_RETURN_IF_ERROR(announce_as(context, transaction, {former, kept}, Copied::kNo));
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

// Makes anew, in the order in which they were made, the registers whose versions are given up: of these items.
Result<std::vector<MadeItem>> make_anew(ReplicaContext& context, MetadataTransaction& transaction,
                                        const Knowledge& knowledge, const Version& kept) {
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
  std::vector<ViewInput> inputs;
  for (const auto& [tick, item] : items) {
    HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> before, transaction.find(item));
    std::optional<StoredItem> stored = before;
    const Version version = context.mint();
    const auto renew = [&](Version& held) {
      if (is_given_up(held, kept)) held = version;
    };
    renew(stored->item.existence.version);
    for (UnitRegister& unit : stored->item.units) renew(unit.content.version);
    // A text under a version that may be somebody else's too is no base to merge from.
    std::erase_if(stored->merge_bases, [&](const UnitRegister& base) { return is_given_up(base.content.version, kept); });
    inputs.push_back({std::move(before), *std::move(stored)});
  }
  // Which move gives way in a cycle follows from versions.
  HARMONICA_ASSIGN_OR_RETURN(const std::vector<StoredItem> changed,
                             update_views(context.schema(), transaction, std::move(inputs)));
  for (const StoredItem& stored : changed) HARMONICA_RETURN_IF_ERROR(put_as_it_stands(context, transaction, stored));
  std::vector<MadeItem> made;
  for (const auto& [tick, item] : items) made.push_back({item});
  return made;
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

Status refresh_identity(ReplicaContext& context) {
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context.metadata.begin(TransactionMode::kRead));
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaState state, transaction->state());
  // A commit before may have got as far as the store, and not outside it.
  if (state.replica == context.replica) return reserve_outside(context, state);
  HARMONICA_ASSIGN_OR_RETURN(const std::optional<Tick> outside, context.environment.reserved_tick(state.replica));
  context.replica = state.replica;
  context.reserved_outside = outside.value_or(0);
  context.mark_is_shown = true;
  return {};
}

Status become_another(ReplicaContext& context, const Renewal& renewal) {
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context.metadata.begin(TransactionMode::kWrite));
  HARMONICA_ASSIGN_OR_RETURN(ReplicaState state, transaction->state());
  HARMONICA_ASSIGN_OR_RETURN(Knowledge knowledge, transaction->knowledge());
  HARMONICA_ASSIGN_OR_RETURN(Knowledge forgotten, transaction->forgotten());
  if (state.former_replicas.size() >= limits::kFormerReplicasMax) {
    return {StatusCode::kLimitExceeded, "replica " + context.replica.to_text() + " " + renewal.why +
                                            ", it is said; it has had " + std::to_string(state.former_replicas.size()) +
                                            " ids and takes no more: look at the peer"};
  }
  const Version kept{context.replica, renewal.fork};
  const bool known_to_nobody = has_told_nobody(state);
  take_new_id(context, state);
  if (known_to_nobody) {
    HARMONICA_RETURN_IF_ERROR(take_over(context, *transaction, kept.replica));
  } else {
    state.former_replicas.push_back(kept.replica);
    knowledge.cap(kept);
    if (renewal.ran_ahead) context.clock.restart_at(std::max(knowledge.greatest_tick(), now_tick(context)));
    HARMONICA_ASSIGN_OR_RETURN(std::vector<MadeItem> made, make_anew(context, *transaction, knowledge, kept));
    if (state.has_had_filter) {
      // What was forgotten here, somebody who holds everything knows.
      forgotten.cap(kept);
    } else if (keep_forgotten(context, forgotten, kept)) {
      knowledge.raise_everywhere({context.replica, context.clock.last()});
    }
    HARMONICA_RETURN_IF_ERROR(claim_own_ticks(context, *transaction, std::move(made), knowledge));
    state.last_tick = context.clock.last();
    HARMONICA_RETURN_IF_ERROR(transaction->set_knowledge(knowledge));
    HARMONICA_RETURN_IF_ERROR(transaction->set_forgotten(forgotten));
    HARMONICA_RETURN_IF_ERROR(announce_as(context, *transaction, kept, renewal.ran_ahead ? Copied::kNo : Copied::kYes));
  }
  context.environment.log(LogLevel::kWarning, "replica " + kept.replica.to_text() + " " + renewal.why + "; it is now " +
                                                  state.replica.to_text());
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
  return reserve_outside(context, state);
}

bool has_told_nobody(const ReplicaState& state) { return state.scope.empty() && state.former_replicas.empty(); }

}  // namespace harmonica::kernel
