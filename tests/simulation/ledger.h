// What the simulation itself knows of every version that was ever made, beside and without the kernel.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harmonica/conflict.h"
#include "harmonica/extension/metadata_store.h"
#include "harmonica/item.h"
#include "harmonica/knowledge.h"

namespace harmonica::simulation {

// One version of one register, with its content and what its maker knew of the item when it was made.
struct LedgerEntry {
  Version version;
  Value value;                                // units
  Existence existence = Existence::kCreated;  // the register of existence
  bool by_user = false;                       // found in a store, not made while a batch was applied
  ClockVector seen;
  Version over;    // what the register was at its maker before
  Version former;  // the same write, before its maker took another id
};

struct ItemHistory {
  TypeId type = 0;
  std::map<UnitId, std::vector<LedgerEntry>> registers;  // kExistenceUnit among them; in the order of becoming known
};

// What one replica committed.
struct Committed {
  ReplicaId replica;
  Knowledge before;
  Knowledge after;
  std::vector<StoredItem> puts;
  std::map<ItemId, Item> replaced;  // what stood there before; an item without an id: nothing
  std::vector<ItemId> removed;
  std::vector<ConflictRecord> records;
  bool had_told_nobody = false;  // before it: the replica had no scope, so nobody had heard of what it had made
  bool is_another = false;       // by it the replica took another id, as it had found out that it is a copy
};

// Every version ever seen, by item and register. Fed with every commit; each entry keeps the first content it was seen
// with. A version that two copies of one replica have made stands there once for each content.
class Ledger {
 public:
  // Names a replica in texts, such as "A".
  void name_replica(const ReplicaId& replica, std::string name);

  // A replica lost what it had made after that tick before it could tell anybody: it may use those ticks again.
  void take_back(const ReplicaId& replica, Tick last);

  // From now on two devices make versions under this id.
  void fork(const ReplicaId& replica) { forks_.try_emplace(replica, last_tick(replica)); }
  bool is_forked(const ReplicaId& replica) const { return forks_.contains(replica); }
  // Whether it may have been made twice, by two copies of one replica.
  bool is_ambiguous(const Version& version) const {
    const auto fork = forks_.find(version.replica);
    return fork != forks_.end() && version.tick > fork->second;
  }

  // Takes in a commit. Returns the first law that it breaks: a version with two contents, a version of another replica that
  // nobody made, a tick that does not rise.
  std::optional<std::string> commit(const Committed& committed);

  // Whether the last commit made versions that came from the store and not from a batch.
  bool last_commit_minted_by_user() const { return minted_by_user_; }

  const std::map<ItemId, ItemHistory>& items() const { return items_; }
  const LedgerEntry* find(const ItemId& item, UnitId unit, const Version& version) const;
  // The greatest version of the register that `knowledge` contains; null if there is none.
  const LedgerEntry* greatest(const ItemId& item, UnitId unit, const ClockVector& knowledge) const;
  // The greatest tick the replica has used.
  Tick last_tick(const ReplicaId& replica) const;
  std::size_t versions() const { return versions_; }

  // "i7"; "root" for the id zero; "B12": the twelfth tick of B; "{A12,B3}".
  std::string text(const ItemId& item) const;
  std::string text(const ReplicaId& replica) const;
  std::string text(const Version& version) const;
  std::string text(const ClockVector& vector) const;
  std::string text(const Item& item) const;

 private:
  std::map<ItemId, ItemHistory> items_;
  std::map<ItemId, std::size_t> item_numbers_;
  std::map<ReplicaId, std::string> replica_names_;
  std::map<ReplicaId, std::map<Tick, std::size_t>> tick_numbers_;
  // What a replica has made and told nobody of is made anew under the ids and versions that it has now (docs/adr/0011).
  using Withdrawn = std::map<std::pair<UnitId, Version>, LedgerEntry>;
  Withdrawn withdraw(const Committed& committed);

  std::map<ReplicaId, Tick> forks_;
  std::size_t versions_ = 0;
  bool minted_by_user_ = false;
};

}  // namespace harmonica::simulation
