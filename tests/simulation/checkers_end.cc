#include "simulation/checkers.h"

#include <algorithm>
#include <sstream>
#include <tuple>
#include <utility>

#include "simulation/checking.h"
#include "simulation/filter_choices.h"
#include "simulation/scenario_schema.h"

namespace harmonica::simulation {
namespace {

bool is_silent(const Schema& schema, TypeId type, UnitId unit) {
  if (unit == kExistenceUnit) return false;
  const ItemType* item_type = schema.find_type(type);
  const Unit* found = item_type == nullptr ? nullptr : item_type->find_unit(unit);
  return found != nullptr && found->recording == ConflictRecording::kSilent;
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

std::vector<std::string> words_of(const Value& value) {
  std::vector<std::string> words;
  if (const std::string* text = value.if_text()) {
    std::istringstream stream(*text);
    for (std::string word; stream >> word;) words.push_back(word);
  }
  return words;
}

// Whether each word that was written over `base` stands in `whole` as well: then a merge of the two brings nothing new.
bool holds_words(const Value& base, const Value& written, const Value& whole) {
  const std::vector<std::string> before = words_of(base);
  const std::vector<std::string> after = words_of(written);
  const std::vector<std::string> merged = words_of(whole);
  if (before.size() != after.size() || merged.size() != after.size()) return false;
  for (std::size_t at = 0; at < after.size(); ++at) {
    if (after[at] != before[at] && after[at] != merged[at]) return false;
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

}  // namespace

void Checkers::at_the_end(const std::vector<std::unique_ptr<Device>>& devices) {
  at_the_end_ = true;
  commits_.clear();
  for (const std::unique_ptr<Device>& device : devices) after_step(*device);
  if (!world_.violation) check_equal(devices);
  if (!world_.violation) check_records(devices);
  if (!world_.violation && !world_.limited_records) check_no_lost_write(devices);
  if (!world_.violation) check_no_return(devices);
  if (!world_.violation) check_no_trace(devices);
  if (!world_.violation) check_bounded(devices);
}

// What is kept beside the items is in proportion to what has happened: one step of knowledge where nothing was lost or made
// anew, and no more than two for each item otherwise; nobody in its vectors who never was; a tombstone and records for what
// was once an item.
void Checkers::check_bounded(const std::vector<std::unique_ptr<Device>>& devices) {
  const Ledger& ledger = world_.ledger;
  std::set<ReplicaId> replicas;
  for (const std::unique_ptr<Device>& device : devices) {
    replicas.insert(device->replica_ids().begin(), device->replica_ids().end());
  }
  for (const std::unique_ptr<Device>& device : devices) {
    View view;
    if (!look(*device, view)) return;
    const bool is_plain = !world_.filters && lost_with_restore_.empty() && world_.renewals == 0;
    const std::size_t steps_max = is_plain ? 1 : 1 + 2 * ledger.items().size();
    const std::size_t steps = view.status.knowledge.steps().size();
    if (steps > steps_max) {
      return fail("metadata is bounded", *device,
                  "knowledge has " + std::to_string(steps) + " steps, where " + std::to_string(steps_max) +
                      " are enough: " + view.status.knowledge.to_text());
    }
    for (const ClockVector& vector : view.status.knowledge.vectors()) {
      for (const ClockVector::Entry& entry : vector.entries()) {
        if (replicas.contains(entry.replica)) continue;
        return fail("metadata is bounded", *device, "knowledge names " + entry.replica.to_text() + ", which never was");
      }
    }
    const Result<std::vector<ConflictRecord>> conflicts = device->replica().conflicts();
    if (!conflicts.ok()) return fail("conflicts must answer", *device, conflicts.status().to_text());
    std::set<std::tuple<ItemId, UnitId, Version, Version>> recorded;
    for (const ConflictRecord& record : *conflicts) {
      if (recorded.emplace(record.item, record.unit, record.kept.version, record.lost.version).second) continue;
      return fail("metadata is bounded", *device, "one conflict of " + ledger.text(record.item) + " is recorded twice");
    }
  }
}

void Checkers::all_is_cleaned(const std::vector<std::unique_ptr<Device>>& devices) {
  for (const std::unique_ptr<Device>& device : devices) {
    // It waits for the next batch of a device that holds everything (rule R27), and where nothing is new there is none.
    if (device->ever_filtered) continue;
    View view;
    if (!look(*device, view)) return;
    for (const StoredItem& stored : view.items) {
      if (stored.item.alive() || stored.item.erased()) continue;
      return fail("metadata is bounded", *device,
                  "long after its retention it has a tombstone of " + world_.ledger.text(stored.item));
    }
  }
}

// With an unfiltered device in reach a filter is sound: exactly the living items that match are held, as that one has them.
void Checkers::check_filtered(Device& first, Device& device) {
  View whole;
  View narrow;
  if (!look(first, whole) || !look(device, narrow)) return;
  const FilterChoice* choice = narrow.status.filter ? &choice_of(*narrow.status.filter) : nullptr;
  // Conflict records are for those who want everything.
  const auto is_wanted = [&](const Item& item) {
    return choice == nullptr || (item.type != kConflictRecordType && choice->matches(item));
  };
  const Ledger& ledger = world_.ledger;
  for (const StoredItem& stored : whole.items) {
    if (!stored.item.alive()) continue;
    const bool matches = is_wanted(stored.item);
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
    if (!lives || !is_wanted(stored.item)) {
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

bool Checkers::is_between_copies(const ItemId& item) const {
  const auto history = world_.ledger.items().find(item);
  if (!any_restored_ || history == world_.ledger.items().end()) return false;
  for (const auto& [unit, entries] : history->second.registers) {
    for (const LedgerEntry& entry : entries) {
      if (world_.ledger.is_ambiguous(entry.version)) return true;
    }
  }
  return false;
}

// Where one of two copies went back to a backup, it has another id since. What it had made, and what the other one has made
// under the same versions, may differ from then on, and a repair leaves what a replica takes for its own. All else is
// equal.
bool Checkers::is_split_between_copies(Device& first, Device& device) {
  View one;
  View other;
  if (!look(first, one) || !look(device, other) || one.status.knowledge != other.status.knowledge) return false;
  std::uint64_t split = 0;
  for (const auto& [item, history] : world_.ledger.items()) {
    const auto left = one.index.find(item);
    const auto right = other.index.find(item);
    const bool both = left != one.index.end() && right != other.index.end();
    if (both && one.items[left->second].item == other.items[right->second].item) continue;
    if (!both && left == one.index.end() && right == other.index.end()) continue;
    if (!is_between_copies(item)) return false;
    ++split;
  }
  world_.split_between_copies += split;
  return split > 0;
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
    if (is_split_between_copies(first, *device)) continue;
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
    if (history.type == kConflictRecordType) continue;
    const auto position = view.index.find(item_id);
    if (position == view.index.end()) {
      bool excused = true;
      for (const auto& [unit, entries] : history.registers) {
        for (const LedgerEntry& entry : entries) excused = excused && lost_with_restore_.contains(entry.version);
      }
      if (excused) continue;
      // Who had it went back to a backup, and what a copy has made under the same versions is still there.
      if (is_between_copies(item_id)) {
        ++world_.lost_between_copies;
        continue;
      }
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
      const std::set<Version> outlived = outlived_restores(entries, final_register);
      for (const LedgerEntry& entry : entries) {
        if (!entry.by_user || lost_with_restore_.contains(entry.version) || recorded.contains({item_id, entry.version}) ||
            recorded.contains({item_id, entry.former})) {
          continue;
        }
        const LedgerEntry* base = rule == ConflictRule::kTextMerge ? ledger.find(item_id, unit, entry.over) : nullptr;
        const bool superseded = std::any_of(entries.begin(), entries.end(), [&](const LedgerEntry& other) {
          if (other.version == entry.version || !outlived.contains(other.version)) return false;
          // A rule that joins both sides has made one of them.
          const bool is_joined =
              joins(rule) && ((!other.by_user && saw(other, entry)) || holds(rule, other.value, entry.value) ||
                              (base != nullptr && holds_words(base->value, entry.value, other.value)));
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
          // Under one version both were made anew, as a user's deletion writes nothing else.
          return deletion.existence == Existence::kDeleted && deletion.by_user &&
                 (saw(deletion, entry) || deletion.version == entry.version);
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

// The versions that are not lost with a restore, and those over which one of these was made.
std::set<Version> Checkers::outlived_restores(const std::vector<LedgerEntry>& entries,
                                              const Register* final_register) const {
  std::set<Version> outlived;
  std::vector<Version> pending;
  if (final_register != nullptr) pending.push_back(final_register->version);
  for (const LedgerEntry& entry : entries) {
    if (!lost_with_restore_.contains(entry.version)) pending.push_back(entry.version);
  }
  while (!pending.empty()) {
    const Version version = pending.back();
    pending.pop_back();
    if (!outlived.insert(version).second) continue;
    for (const LedgerEntry& entry : entries) {
      if (entry.version == version && !entry.over.is_none()) pending.push_back(entry.over);
    }
  }
  return outlived;
}

// An item all of whose writes and merges a deletion has seen stays deleted, unless a concurrent deletion had not seen them.
void Checkers::check_no_return(const std::vector<std::unique_ptr<Device>>& devices) {
  View view;
  if (!look(*devices.front(), view)) return;
  const Ledger& ledger = world_.ledger;
  for (const auto& [item_id, history] : ledger.items()) {
    if (history.type == kConflictRecordType) continue;
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
      if (is_between_copies(item_id)) {
        ++world_.lost_between_copies;
        continue;
      }
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
