// What every part of one replica's kernel shares: the store, its metadata, the environment and the clock.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harmonica/extension/environment.h"
#include "harmonica/extension/item_store.h"
#include "harmonica/extension/metadata_store.h"
#include "harmonica/replica.h"
#include "kernel/item_filter.h"
#include "kernel/storeless.h"

namespace harmonica::kernel {

// Hands out the replica's ticks (rule R4). It never goes back, also when the transaction that used a tick is undone.
class LogicalClock {
 public:
  explicit LogicalClock(Environment& environment) : environment_(&environment) {}

  Tick next();
  // Raises the clock to a tick learned of.
  void observe(Tick tick);
  // Uses exactly this tick if that is still possible, else the next one: for changes that are older than now.
  Tick next_at(Tick wanted);
  Tick last() const { return last_; }
  // Starts again at a tick: only for a replica that has just taken a new id, and knows no greater one.
  void restart_at(Tick tick) { last_ = tick; }

 private:
  Environment* environment_;
  Tick last_ = 0;
};

// How an item stands in the store; nothing: not there.
struct AsStanding {
  TypeId type = 0;
  std::optional<ShownItem> shown;
};

// What the last detection found in the store in a form that cannot be synced.
struct Unsyncable {
  std::set<ItemId> left_alone;       // was shown: nothing is written over it
  std::set<StoreKey> left_out_keys;  // was never shown
  // Some of it only the kernel finds faulty: the store has to tell it again, so that it is seen when it was mended.
  bool look_again = false;
};

// One replica while it is open. Thread-compatible.
struct ReplicaContext {
  ItemStore& store;
  MetadataStore& metadata;
  Environment& environment;
  ReplicaOptions options;
  LogicalClock clock;
  ReplicaId replica;
  Tick reserved_outside = 0;
  Bytes anchor;  // of the store as it was last seen
  // Items that stand in the store otherwise than was recorded, since a write was accepted only in part or its commit was
  // lost with the process: they are neither a user's doing nor shown. The next write brings them in line.
  std::map<ItemId, AsStanding> astray;
  // Parents in which something stands against its position by the doing of such a write. The next write puts all children
  // in their places.
  std::set<ItemId> disturbed;
  Unsyncable unsyncable;
  // The versions because of which items are wanted whole. After a restart they are not known until they are met again.
  std::map<ItemId, ClockVector> wanted_for;
  Storeless* storeless = nullptr;          // `store`, if it is none
  std::uint64_t schema_fingerprint = 0;    // of `schema()`; 0: it is empty
  std::vector<std::uint64_t> schemas_met;  // fingerprints of other schemas that are compatible
  // Whether a peer may have seen the present mark. As far as this object knows: another one may have shown it.
  bool mark_is_shown = true;
  std::optional<ItemFilter> filter;  // what the replica wants to hold; nothing: everything
  ClockVector acknowledged;          // by all replicas, when the last session began
  bool has_erased = false;           // something with values, and its bytes may still be in the metadata
  // Whether none was put since conflict records were last counted.
  bool records_are_within_limits = false;

  const Schema& schema() const { return store.schema(); }
  bool has_store() const { return storeless == nullptr; }
  // Whether `apply` of the store runs inside the metadata transaction.
  bool shares_database() const { return store.metadata() == &metadata; }

  // The version of a change that this replica makes now.
  Version mint() { return {replica, clock.next()}; }
};

// Commits `state` with everything else in `transaction`, and then the bound of used ticks outside the store: only after
// that may a tick leave the replica (rule R30; docs/adr/0002). unavailable: the store's replica has got another id since
// this one was opened.
Status commit(ReplicaContext& context, MetadataTransaction& transaction, ReplicaState& state);

// From now on others may know what was made here. It uses up a tick, so that a backup of the state before is known as one
// when it is restored.
void join_scope(ReplicaContext& context, ReplicaState& state, const ScopeName& scope);

// The second half of a commit, where one before did not come to it.
Status reserve_outside(ReplicaContext& context, const ReplicaState& state);

// What a write that may have been lost with its process was about to show; empty if the last write was committed.
Result<std::vector<PreparedItem>> pending_items(ReplicaContext& context);

// Refuses ticks further ahead of the local clock than the allowed drift. `whose` names them in the message.
Status check_drift(ReplicaContext& context, Tick greatest, const std::string& whose);

}  // namespace harmonica::kernel
