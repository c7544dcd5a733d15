#include "simulation/checkers.h"

#include <algorithm>
#include <utility>

#include "simulation/checking.h"

namespace harmonica::simulation {
void Checkers::fail(const std::string& law, Device& device, const std::string& what) {
  world_.fail(law + " at " + device.name() + ": " + what);
}

bool Checkers::look(Device& device, View& view) {
  Result<ReplicaStatus> status = device.replica().status();
  if (!status.ok()) {
    fail("status must answer", device, status.status().to_text());
    return false;
  }
  view.status = *std::move(status);
  // Past what may spoil it.
  const auto durable = device.durable_metadata().begin(TransactionMode::kRead);
  Result<Knowledge> forgotten = durable.ok() ? (*durable)->forgotten() : durable.status();
  if (!forgotten.ok()) {
    fail("metadata must open", device, forgotten.status().to_text());
    return false;
  }
  view.status.forgotten = *std::move(forgotten);
  const Status scanned = (*durable)->scan(ItemIdRange::all(), [&](const StoredItem& item) -> Result<Visit> {
    view.index[item.item.id] = view.items.size();
    view.items.push_back(item);
    return Visit::kContinue;
  });
  if (!scanned.ok()) fail("scan must answer", device, scanned.to_text());
  return scanned.ok();
}

void Checkers::after_step(Device& device) {
  if (!device.running() || device.power().dead() || world_.violation) return;
  if (device.has_store()) check_typed(device);
  if (device.has_store()) check_births(device);
  View view;
  std::uint64_t& commits = commits_[&device];
  if (commits == device.commits() && !device.settled()) return;
  commits = device.commits();
  if (!look(device, view)) return;
  check_growth(device, view);
  check_forgotten(device, view);
  check_own_ticks(device, view);
  check_invariant(device, view);
  check_erased(device, view);
  if (!device.has_store()) return;
  check_views(device, view);
  check_shown(device, view);
}

// M: for every register held, its version is the greatest one of that register that the knowledge contains; and of items
// not held, knowledge contains nothing but what was forgotten.
void Checkers::check_invariant(Device& device, const View& view) {
  const Ledger& ledger = world_.ledger;
  // What a copy was offered of another copy's, under the id that both had, it took for its own. Until that has come again
  // under a new id it knows of items more than it holds.
  const std::vector<ReplicaId>& ids = device.replica_ids();
  const bool was_copied = std::any_of(ids.begin(), ids.end(), [&](const ReplicaId& id) { return ledger.is_forked(id); });
  if ((was_copied || repaired_.contains(&device)) && !at_the_end_) return;
  for (const auto& [item_id, history] : ledger.items()) {
    const ClockVector& known = view.status.knowledge.at(item_id);
    const auto position = view.index.find(item_id);
    for (const auto& [unit, entries] : history.registers) {
      const LedgerEntry* greatest = ledger.greatest(item_id, unit, known);
      if (greatest != nullptr && ledger.is_ambiguous(greatest->version)) continue;
      if (position == view.index.end()) {
        // What it says of an item that it does not hold is that a source which knew so much had nothing that matched.
        if (device.ever_filtered) break;
        if (greatest != nullptr && greatest->version.tick > view.status.forgotten.at(item_id).greatest_tick()) {
          fail("honesty", device,
               "claims " + ledger.text(greatest->version) + " of " + ledger.text(item_id) + " " + unit_text(unit) +
                   " and holds nothing of the item; knowledge " + ledger.text(known) + ", forgotten " +
                   ledger.text(view.status.forgotten.at(item_id)));
          return;
        }
        continue;
      }
      const Item& item = view.items[position->second].item;
      if (item.erased() && unit != kExistenceUnit) continue;
      Version held;
      if (unit == kExistenceUnit) {
        held = item.existence.version;
      } else if (const Register* content = item.find(unit)) {
        held = content->version;
      }
      if (ledger.is_ambiguous(held)) continue;
      const Version wanted = greatest == nullptr ? Version() : greatest->version;
      if (!(held == wanted)) {
        fail("invariant M", device,
             "holds " + ledger.text(held) + " of " + ledger.text(item_id) + " " + unit_text(unit) +
                 ", but the greatest it knows is " + ledger.text(wanted) + "; knowledge " + ledger.text(known));
        return;
      }
    }
  }
  for (const StoredItem& stored : view.items) {
    if (!ledger.items().contains(stored.item.id)) {
      fail("invariant M", device, "holds an item that nobody committed: " + stored.item.to_text());
    }
  }
}

// R5: the own component is the same in every vector, and covers every tick used.
void Checkers::check_own_ticks(Device& device, const View& view) {
  if (device.ever_filtered) return;
  const ReplicaId& self = view.status.replica;
  if (world_.ledger.is_forked(self)) return;
  const Tick used = world_.ledger.last_tick(self);
  for (const Knowledge::Step& step : view.status.knowledge.steps()) {
    const Tick own = view.status.knowledge.at(step.first).at(self);
    if (own < used || own != view.status.knowledge.at(kFirstItemId).at(self)) {
      fail("own ticks everywhere", device,
           "from " + world_.ledger.text(step.first) + " on it knows only " + world_.ledger.text(Version{self, own}) +
               " of its own up to " + world_.ledger.text(Version{self, used}));
      return;
    }
  }
}

void Checkers::check_growth(Device& device, const View& view) {
  auto& [replica, knowledge] = knowledge_[&device];
  if (!device.ever_filtered && replica == view.status.replica && !view.status.knowledge.contains(knowledge)) {
    fail("knowledge only grows", device, "from " + knowledge.to_text() + " to " + view.status.knowledge.to_text());
  }
  replica = view.status.replica;
  knowledge = view.status.knowledge;
}

// What is forgotten was known, and stays forgotten.
void Checkers::check_forgotten(Device& device, const View& view) {
  if (!device.ever_filtered && !view.status.knowledge.contains(view.status.forgotten)) {
    fail("the forgotten is known", device,
         view.status.forgotten.to_text() + " is not contained in " + view.status.knowledge.to_text());
  }
}

void Checkers::before_decision(Device& device) { collect_recorded(device, recorded_before_decision_[&device]); }

void Checkers::before_restore(Device& device) {
  any_restored_ = true;
  collect_recorded(device, recorded_before_restore_);
  recorded_before_restore_.merge(recorded_before_decision_[&device]);
}

// The items and versions that the device's conflict records name as lost.
void Checkers::collect_recorded(Device& device, std::set<std::pair<ItemId, Version>>& recorded) {
  const Result<std::vector<ConflictRecord>> conflicts = device.replica().conflicts();
  if (!conflicts.ok()) return fail("conflicts must answer", device, conflicts.status().to_text());
  for (const ConflictRecord& record : *conflicts) recorded.emplace(record.item, record.lost.version);
}

void Checkers::after_restore(Device& device, const std::vector<std::unique_ptr<Device>>& devices) {
  View view;
  if (!look(device, view)) return;
  knowledge_.erase(&device);
  struct Other {
    Knowledge knowledge;
    bool knows_of_held_only = false;
    std::set<ItemId> held;
  };
  std::vector<Other> others;
  for (const std::unique_ptr<Device>& other : devices) {
    // Also what a device that is down has kept.
    Result<std::unique_ptr<MetadataTransaction>> transaction = other->durable_metadata().begin(TransactionMode::kRead);
    if (!transaction.ok()) return fail("metadata must open", *other, transaction.status().to_text());
    Result<Knowledge> knowledge = (*transaction)->knowledge();
    if (!knowledge.ok()) return fail("metadata must open", *other, knowledge.status().to_text());
    Other& found = others.emplace_back(Other{*std::move(knowledge), other->ever_filtered, {}});
    const Status scanned = (*transaction)->scan(ItemIdRange::all(), [&](const StoredItem& stored) -> Result<Visit> {
      found.held.insert(stored.item.id);
      return Visit::kContinue;
    });
    if (!scanned.ok()) return fail("metadata must open", *other, scanned.to_text());
  }
  for (const auto& [item_id, history] : world_.ledger.items()) {
    for (const auto& [unit, entries] : history.registers) {
      for (const LedgerEntry& entry : entries) {
        // What left a filter has been handed over: who only knows of it cannot bring it back.
        const bool held = std::any_of(others.begin(), others.end(), [&, id = item_id](const Other& other) {
          return other.knowledge.contains(id, entry.version) && (!other.knows_of_held_only || other.held.contains(id));
        });
        if (!held) lost_with_restore_.insert(entry.version);
      }
    }
  }
}

}  // namespace harmonica::simulation
