#include "simulation/checkers.h"

#include <algorithm>
#include <utility>

#include "simulation/filter_choices.h"
#include "simulation/scenario_schema.h"
#include "support/reference_view.h"

namespace harmonica::simulation {
namespace {

bool is_silent(const Schema& schema, TypeId type, UnitId unit) {
  if (unit == kExistenceUnit) return false;
  const ItemType* item_type = schema.find_type(type);
  const Unit* found = item_type == nullptr ? nullptr : item_type->find_unit(unit);
  return found != nullptr && found->recording == ConflictRecording::kSilent;
}

ConflictRule rule_of(const Schema& schema, TypeId type, UnitId unit) {
  const ItemType* item_type = schema.find_type(type);
  const Unit* found = item_type == nullptr ? nullptr : item_type->find_unit(unit);
  return found == nullptr ? ConflictRule::kLatest : item_type->rule_of(*found);
}

// A counter's list: two members that say which counter it is, its first number; then for each replica its id, what it
// added, what it subtracted.
std::int64_t sum_of(const Value& counter) {
  const Value::List& list = *counter.if_list();
  std::int64_t sum = *list[2].if_integer();
  for (std::size_t at = 3; at < list.size(); at += 3) sum += *list[at + 1].if_integer() - *list[at + 2].if_integer();
  return sum;
}

// Whether a value holds what another one meant, under a rule that joins the two.
bool holds(ConflictRule rule, const Value& whole, const Value& part) {
  if (rule == ConflictRule::kUnion) {
    const Value::Ids& all = *whole.if_ids();
    return std::all_of(part.if_ids()->begin(), part.if_ids()->end(),
                       [&](const ItemId& id) { return std::find(all.begin(), all.end(), id) != all.end(); });
  }
  if (rule == ConflictRule::kAdditive) return part == Value::integer(0);
  if (rule != ConflictRule::kCounter) return false;
  const Value::List& all = *whole.if_list();
  const Value::List& steps = *part.if_list();
  if (!std::equal(all.begin(), all.begin() + 3, steps.begin())) return false;
  for (std::size_t at = 3; at < steps.size(); at += 3) {
    std::size_t place = 3;
    while (place < all.size() && !(all[place] == steps[at])) place += 3;
    if (place >= all.size()) return false;
    for (const std::size_t offset : {std::size_t{1}, std::size_t{2}}) {
      if (*all[place + offset].if_integer() < *steps[at + offset].if_integer()) return false;
    }
  }
  return true;
}

bool joins(ConflictRule rule) {
  return rule == ConflictRule::kUnion || rule == ConflictRule::kCounter || rule == ConflictRule::kTextMerge ||
         rule == ConflictRule::kAdditive;
}

bool saw(const LedgerEntry& later, const LedgerEntry& earlier) {
  return !(later.version == earlier.version) && later.seen.contains(earlier.version);
}

std::string unit_text(UnitId unit) { return unit == kExistenceUnit ? "existence" : "unit " + std::to_string(unit); }

std::set<ItemId> unwritten_items(MetadataTransaction& transaction) {
  std::set<ItemId> items;
  IndexQuery query;
  query.kind = IndexKind::kUnwritten;
  const Result<std::vector<IndexPosition>> found = transaction.find_index(query);
  if (!found.ok()) return items;
  for (const IndexPosition& position : *found) items.insert(position.item);
  return items;
}

}  // namespace

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
  const Status scanned = device.replica().scan([&](const StoredItem& item) -> Result<Visit> {
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
  if (was_copied && !at_the_end_) return;
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

// R40 to R44, computed from scratch by the reference.
void Checkers::check_views(Device& device, const View& view) {
  std::vector<Item> items;
  items.reserve(view.items.size());
  for (const StoredItem& stored : view.items) items.push_back(stored.item);
  const std::map<ItemId, ItemView> expected = testing::reference_views(device.schema(), items);
  const Ledger& ledger = world_.ledger;
  const auto text = [&](const ItemView& one) {
    return std::string(one.visible ? "visible" : "hidden") + (one.parked ? " parked" : "") +
           (one.evicted ? " evicted" : "") + " in " + ledger.text(one.parent) + " past " +
           std::to_string(one.ancestors_skipped) + " suffix " + std::to_string(one.name_suffix);
  };
  for (const StoredItem& stored : view.items) {
    const ItemView& wanted = expected.at(stored.item.id);
    if (stored.view == wanted) continue;
    return fail("views are a function of the registers", device,
                ledger.text(stored.item.id) + " is " + text(stored.view) + ", the reference says " + text(wanted) + "; " +
                    ledger.text(stored.item));
  }
}

// What is recorded as shown stands in the store, and what the views say is shown, unless flagged as not yet written.
void Checkers::check_shown(Device& device, const View& view) {
  if (!device.settled() || device.write_is_pending()) return;
  Result<std::unique_ptr<MetadataTransaction>> transaction = device.durable_metadata().begin(TransactionMode::kRead);
  if (!transaction.ok()) return fail("metadata must open", device, transaction.status().to_text());
  const std::set<ItemId> unwritten = unwritten_items(**transaction);
  const Ledger& ledger = world_.ledger;

  std::size_t shown_count = 0;
  std::map<StoreKey, std::map<StoreKey, std::pair<Bytes, ItemId>>> positions;
  for (const StoredItem& stored : view.items) {
    const Item& item = stored.item;
    // An older version of the app has replaced a newer one: what was shown is no matter of its.
    if (device.schema().find_type(item.type) == nullptr) continue;
    const bool settled = !unwritten.contains(item.id);
    const std::string name = ledger.text(item.id);
    const bool wanted = stored.view.visible && item.alive();
    if (settled && stored.shown.has_value() != wanted) {
      return fail("shown as the view says", device,
                  name + (wanted ? " is to be shown and is not" : " is shown and is not to be") + ", and is not flagged");
    }
    if (!stored.shown) continue;
    ++shown_count;
    const ShownItem& shown = *stored.shown;
    const StoreItem* held = device.store().find(shown.key);
    if (held == nullptr) return fail("shown is in the store", device, name + " is not there under its key " + shown.key);
    if (held->type != item.type || held->values != shown.values) {
      return fail("shown is in the store", device, name + " stands there with other values than recorded");
    }
    StoreKey parent;
    const auto parent_position = view.index.find(shown.parent);
    if (parent_position != view.index.end() && view.items[parent_position->second].shown) {
      parent = view.items[parent_position->second].shown->key;
    }
    for (const Root& root : device.schema().roots) {
      if (root.id == shown.parent) parent = root.name;
    }
    if (parent != held->parent) {
      return fail("shown is in the store", device,
                  name + " stands there in '" + held->parent + "', recorded is '" + parent + "'");
    }
    if (device.schema().find_type(item.type)->find_role(UnitRole::kPosition) != nullptr) {
      positions[held->parent][shown.key] = {shown.position, item.id};
    }
    if (!settled) continue;
    if (shown.parent != stored.view.parent) {
      return fail("shown as the view says", device,
                  name + " is shown in " + ledger.text(shown.parent) + ", not in " + ledger.text(stored.view.parent));
    }
    for (const UnitValue& value : shown.values) {
      const Unit* unit = device.schema().find_type(item.type)->find_unit(value.unit);
      const bool is_name = unit != nullptr && unit->role == UnitRole::kName;
      const Value& register_value = item.value_of(value.unit);
      const bool is_counter = rule_of(device.schema(), item.type, value.unit) == ConflictRule::kCounter;
      const Value wanted_value = is_name      ? Value::text(testing::reference_name(device.schema(), item, stored.view))
                                 : is_counter ? Value::integer(sum_of(register_value))
                                              : register_value;
      if (!(value.value == wanted_value)) {
        return fail("shown as the registers say", device,
                    name + " unit " + std::to_string(value.unit) + " is shown as " + value.value.to_text() +
                        " instead of " + wanted_value.to_text());
      }
    }
  }
  if (shown_count != device.store().size()) {
    return fail("shown is in the store", device,
                std::to_string(shown_count) + " items are recorded as shown, the store has " +
                    std::to_string(device.store().size()));
  }
  for (const auto& [parent, by_key] : positions) {
    const std::pair<Bytes, ItemId>* last = nullptr;
    StoreKey last_key;
    for (const StoreKey& child : device.store().children(parent)) {
      const auto position = by_key.find(child);
      if (position == by_key.end()) continue;
      if (last != nullptr && !(*last < position->second)) {
        return fail("siblings stand in order", device,
                    "in '" + parent + "' " + child + " follows " + last_key + " against their positions");
      }
      last = &position->second;
      last_key = child;
    }
  }
}

bool Checkers::is_typed_in_ledger(const Device::Typed& typed) const {
  for (const auto& [item_id, history] : world_.ledger.items()) {
    const auto entries = history.registers.find(typed.unit);
    if (entries == history.registers.end()) continue;
    for (const LedgerEntry& entry : entries->second) {
      const std::string* text = entry.value.if_text();
      if (text != nullptr && *text == typed.text) return true;
    }
  }
  return false;
}

// Whatever a user typed stands in the store until it has a version.
void Checkers::check_typed(Device& device) {
  std::erase_if(device.typed(), [&](const Device::Typed& typed) {
    if (const StoreItem* item = device.store().find(typed.key)) {
      for (const UnitValue& value : item->values) {
        if (value.unit == typed.unit && value.value.if_text() != nullptr && *value.value.if_text() == typed.text)
          return false;
      }
    }
    // What a user does to what is erased, and only stands there still, goes with it.
    if (!is_typed_in_ledger(typed) && !keys_of_erased_[&device].contains(typed.key)) {
      fail("nothing typed is lost", device,
           "\"" + typed.text + "\" in unit " + std::to_string(typed.unit) + " of " + typed.key +
               " was overwritten before it had a version");
    }
    return true;
  });
}

// No item stands in a store twice.
void Checkers::check_births(Device& device) {
  std::set<std::string> births;
  std::vector<StoreKey> pending = {""};
  for (const Root& root : device.schema().roots) pending.push_back(root.name);
  while (!pending.empty()) {
    const StoreKey parent = pending.back();
    pending.pop_back();
    for (const StoreKey& key : device.store().children(parent)) {
      pending.push_back(key);
      for (const UnitValue& value : device.store().find(key)->values) {
        if (value.unit != units::kBirth) continue;
        if (!births.insert(*value.value.if_text()).second) {
          fail("nothing is doubled", device, "two items of the store were born as " + *value.value.if_text());
        }
      }
    }
  }
}

void Checkers::before_decision(Device& device) { collect_recorded(device, recorded_before_decision_[&device]); }

void Checkers::before_restore(Device& device) {
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

std::string Checkers::state_text(Device& device) {
  View view;
  if (!look(device, view)) return {};
  return view.status.knowledge.to_text() + "\n" + items_text(device);
}

std::string Checkers::items_text(Device& device) {
  View view;
  if (!look(device, view)) return {};
  std::string text;
  for (const StoredItem& stored : view.items) {
    // Whether a deleted item is still remembered is each device's own affair.
    if (world_.forgetting && stored.item.existence.value == Existence::kDeleted) continue;
    text += stored.item.to_text() + (stored.view.visible ? " visible" : "") + (stored.view.parked ? " parked" : "") +
            " in " + stored.view.parent.to_text() + " " + std::to_string(stored.view.name_suffix) + "\n";
  }
  return text;
}

std::string Checkers::registers_text(Device& device) {
  View view;
  if (!look(device, view)) return {};
  std::string text = view.status.knowledge.to_text() + "\n";
  for (const StoredItem& stored : view.items) {
    if (world_.forgetting && stored.item.existence.value == Existence::kDeleted) continue;
    text += stored.item.to_text() + "\n";
  }
  return text;
}

std::string Checkers::store_text(Device& device) {
  View view;
  if (!look(device, view)) return {};
  std::map<StoreKey, ItemId> ids;
  for (const StoredItem& stored : view.items) {
    if (stored.shown) ids[stored.shown->key] = stored.item.id;
  }
  // Types without a position have no order of their own.
  std::string text;
  std::vector<StoreKey> pending = {""};
  for (const Root& root : device.schema().roots) pending.push_back(root.name);
  for (std::size_t next = 0; next < pending.size(); ++next) {
    const StoreKey parent = pending[next];
    const auto parent_id = ids.find(parent);
    text += "in " + (parent_id == ids.end() ? parent : world_.ledger.text(parent_id->second)) + "\n";
    std::vector<std::string> unordered;
    std::vector<std::pair<ItemId, StoreKey>> below;
    for (const StoreKey& key : device.store().children(parent)) {
      const StoreItem* item = device.store().find(key);
      const auto id = ids.find(key);
      std::string line = "  " + (id == ids.end() ? "unknown " + key : world_.ledger.text(id->second));
      for (const UnitValue& value : item->values) line += " " + std::to_string(value.unit) + "=" + value.value.to_text();
      if (device.schema().find_type(item->type)->find_role(UnitRole::kPosition) != nullptr) {
        text += line + "\n";
      } else {
        unordered.push_back(line);
      }
      below.emplace_back(id == ids.end() ? ItemId() : id->second, key);
    }
    std::sort(unordered.begin(), unordered.end());
    for (const std::string& line : unordered) text += line + "\n";
    std::sort(below.begin(), below.end());
    for (auto& [id, key] : below) pending.push_back(std::move(key));
  }
  return text;
}

void Checkers::at_the_end(const std::vector<std::unique_ptr<Device>>& devices) {
  at_the_end_ = true;
  commits_.clear();
  for (const std::unique_ptr<Device>& device : devices) after_step(*device);
  if (!world_.violation) check_equal(devices);
  if (!world_.violation) check_no_lost_write(devices);
  if (!world_.violation) check_no_return(devices);
  if (!world_.violation) check_no_trace(devices);
}

// With an unfiltered device in reach a filter is sound: exactly the living items that match are held, as that one has them.
void Checkers::check_filtered(Device& first, Device& device) {
  View whole;
  View narrow;
  if (!look(first, whole) || !look(device, narrow)) return;
  const FilterChoice* choice = narrow.status.filter ? &choice_of(*narrow.status.filter) : nullptr;
  const Ledger& ledger = world_.ledger;
  for (const StoredItem& stored : whole.items) {
    if (!stored.item.alive()) continue;
    const bool matches = choice == nullptr || choice->matches(stored.item);
    const auto position = narrow.index.find(stored.item.id);
    const Item* held = position == narrow.index.end() ? nullptr : &narrow.items[position->second].item;
    if (matches && (held == nullptr || !(*held == stored.item))) {
      return fail("a filter is sound", device,
                  "it wants " + (choice == nullptr ? "everything" : choice->text) + " and has " +
                      (held == nullptr ? "nothing" : ledger.text(*held)) + " of " + ledger.text(stored.item) +
                      "; it knows " + ledger.text(narrow.status.knowledge.at(stored.item.id)) + ", " + first.name() + " " +
                      ledger.text(whole.status.knowledge.at(stored.item.id)));
    }
  }
  for (const StoredItem& stored : narrow.items) {
    if (!stored.item.alive()) continue;
    const auto position = whole.index.find(stored.item.id);
    const bool lives = position != whole.index.end() && whole.items[position->second].item.alive();
    if (!lives || (choice != nullptr && !choice->matches(stored.item))) {
      return fail("a filter is sound", device,
                  "it wants " + (choice == nullptr ? "everything" : choice->text) + " and holds " +
                      ledger.text(stored.item) + (lives ? "" : ", which is gone") + "; it knows " +
                      ledger.text(narrow.status.knowledge.at(stored.item.id)) + ", " + first.name() + " " +
                      ledger.text(whole.status.knowledge.at(stored.item.id)));
    }
  }
  const Result<Comparison> comparison = compare(first.replica(), device.replica(), 10);
  if (!comparison.ok() || !comparison->equal) {
    fail("a filter is sound", device,
         "compare says otherwise" + (comparison.ok() ? "" : ": " + comparison.status().to_text()));
  }
}

void Checkers::check_equal(const std::vector<std::unique_ptr<Device>>& devices) {
  const auto with_store =
      std::find_if(devices.begin(), devices.end(), [](const auto& device) { return device->has_store(); });
  Device& first = with_store == devices.end() ? *devices.front() : **with_store;
  const std::string state = state_text(first);
  const std::string store = store_text(first);
  for (const std::unique_ptr<Device>& device : devices) {
    if (!first.has_store() || !device->has_store()) {
      if (registers_text(*device) != registers_text(first)) {
        return fail("equal in the end", *device,
                    "other knowledge or registers than " + first.name() + ":\n" + registers_text(*device) + "and\n" +
                        registers_text(first));
      }
      if (device.get() == &first) continue;
      const Result<Comparison> comparison = compare(first.replica(), device->replica(), 10);
      if (!comparison.ok() || !comparison->equal) return fail("equal in the end", *device, "compare says otherwise");
      continue;
    }
    if (device->ever_filtered) {
      check_filtered(first, *device);
      continue;
    }
    if (state_text(*device) != state) {
      fail("equal in the end", *device,
           "other knowledge, registers or views than " + first.name() + ":\n" + state_text(*device) + "and\n" + state);
      return;
    }
    if (store_text(*device) != store) {
      fail("equal in the end", *device,
           "its store shows\n" + store_text(*device) + "and that of " + first.name() + "\n" + store);
      return;
    }
    if (device.get() == &first) continue;
    const Result<Comparison> comparison = compare(first.replica(), device->replica(), 10);
    if (!comparison.ok() || !comparison->equal) {
      fail("equal in the end", *device,
           "compare says otherwise" + (comparison.ok() ? "" : ": " + comparison.status().to_text()));
      return;
    }
  }
}

// A write is final, or another was made over it, or has the same value (and has a fate of its own), or a deletion had seen
// it, or a conflict record names it as lost.
void Checkers::check_no_lost_write(const std::vector<std::unique_ptr<Device>>& devices) {
  View view;
  if (!look(*devices.front(), view)) return;
  std::set<std::pair<ItemId, Version>> recorded = recorded_before_restore_;
  for (const std::unique_ptr<Device>& device : devices) collect_recorded(*device, recorded);
  const Ledger& ledger = world_.ledger;
  for (const auto& [item_id, history] : ledger.items()) {
    const auto position = view.index.find(item_id);
    if (position == view.index.end()) {
      bool excused = true;
      for (const auto& [unit, entries] : history.registers) {
        for (const LedgerEntry& entry : entries) excused = excused && lost_with_restore_.contains(entry.version);
      }
      if (excused) continue;
      if (!world_.forgetting) {
        return fail("no write is lost", *devices.front(), ledger.text(item_id) + " is nowhere in the end");
      }
    }
    Item forgotten;
    forgotten.id = item_id;
    forgotten.existence.value = Existence::kDeleted;
    const Item& item = position == view.index.end() ? forgotten : view.items[position->second].item;
    // What was written of it goes, and no record of it is kept.
    if (item.erased()) continue;
    const std::vector<LedgerEntry>& existences = history.registers.at(kExistenceUnit);
    for (const auto& [unit, entries] : history.registers) {
      if (unit == kExistenceUnit || is_silent(devices.front()->schema(), history.type, unit)) continue;
      const Register* final_register = item.find(unit);
      const ConflictRule rule = rule_of(devices.front()->schema(), history.type, unit);
      for (const LedgerEntry& entry : entries) {
        if (!entry.by_user || lost_with_restore_.contains(entry.version) || recorded.contains({item_id, entry.version}))
          continue;
        const bool superseded = std::any_of(entries.begin(), entries.end(), [&](const LedgerEntry& other) {
          if (other.version == entry.version) return false;
          const bool is_final = final_register != nullptr && final_register->version == other.version;
          if (lost_with_restore_.contains(other.version) && !is_final) return false;
          // A rule that joins both sides has made one of them.
          const bool is_joined =
              joins(rule) && ((!other.by_user && saw(other, entry)) || holds(rule, other.value, entry.value));
          // Of two counters that were created apart one stands, and where both show one number nothing is lost.
          const bool shows_the_same = rule == ConflictRule::kCounter && other.value.if_list() != nullptr &&
                                      entry.value.if_list() != nullptr && sum_of(other.value) == sum_of(entry.value);
          // A replica that let go of an item and is shown it again writes over its own version.
          const bool is_own_successor = world_.filters && other.by_user && entry.version < other.version &&
                                        other.version.replica == entry.version.replica;
          return is_own_successor || other.over == entry.version || other.value == entry.value || is_joined ||
                 shows_the_same;
        });
        if (superseded) continue;
        // Until copies are found out, who knows what one of them made seems to know what the other one made.
        if (ledger.is_ambiguous(entry.version)) {
          ++world_.lost_between_copies;
          continue;
        }
        const bool has_final_value =
            final_register != nullptr && (final_register->version == entry.version || final_register->value == entry.value);
        const bool deletion_saw = std::any_of(existences.begin(), existences.end(), [&](const LedgerEntry& deletion) {
          return deletion.existence == Existence::kDeleted && deletion.by_user && saw(deletion, entry);
        });
        if (has_final_value && (item.alive() || deletion_saw)) continue;
        // Of a life that was deleted and forgotten nothing comes back with a copy of the item that had never heard of it.
        if (deletion_saw && (!item.alive() || world_.forgetting)) continue;
        return fail("no write is lost", *devices.front(),
                    ledger.text(entry.version) + " of " + ledger.text(item_id) + " " + unit_text(unit) + ", " +
                        entry.value.to_text() +
                        ", is not final, was not superseded, and no conflict record names it; in the end " +
                        ledger.text(item));
      }
    }
  }
}

// An item all of whose writes and merges a deletion has seen stays deleted, unless a concurrent deletion had not seen them.
void Checkers::check_no_return(const std::vector<std::unique_ptr<Device>>& devices) {
  View view;
  if (!look(*devices.front(), view)) return;
  const Ledger& ledger = world_.ledger;
  for (const auto& [item_id, history] : ledger.items()) {
    const auto position = view.index.find(item_id);
    if (position == view.index.end() || !view.items[position->second].item.alive()) continue;
    const std::vector<LedgerEntry>& existences = history.registers.at(kExistenceUnit);
    const auto has_seen_all = [&, &registers = history.registers](const LedgerEntry& deletion) {
      for (const auto& [unit, entries] : registers) {
        for (const LedgerEntry& entry : entries) {
          const bool is_deletion = unit == kExistenceUnit && entry.existence == Existence::kDeleted;
          if (!is_deletion && !saw(deletion, entry)) return false;
        }
      }
      return true;
    };
    for (const LedgerEntry& deletion : existences) {
      if (deletion.existence != Existence::kDeleted || !deletion.by_user || !has_seen_all(deletion)) continue;
      if (lost_with_restore_.contains(deletion.version)) continue;
      const bool excused = std::any_of(existences.begin(), existences.end(), [&](const LedgerEntry& other) {
        return other.existence == Existence::kDeleted && !(other.version == deletion.version) && !saw(deletion, other) &&
               !saw(other, deletion) && !has_seen_all(other);
      });
      if (excused) continue;
      return fail("the deleted stays deleted", *devices.front(),
                  ledger.text(item_id) + " is alive although " + ledger.text(deletion.version) +
                      " had seen all its writes: " + ledger.text(view.items[position->second].item));
    }
  }
}

}  // namespace harmonica::simulation
