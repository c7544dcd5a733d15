// What is left of items that were erased for good: their ids, and no more (docs/adr/0022).
#include <algorithm>
#include <utility>

#include "simulation/checkers.h"

namespace harmonica::simulation {
namespace {

// The texts among a value, and those in its lists.
void collect_texts(const Value& value, std::set<std::string>& texts) {
  if (const std::string* text = value.if_text(); text != nullptr && !text->empty()) texts.insert(*text);
  if (const Value::List* list = value.if_list()) {
    for (const Value& member : *list) collect_texts(member, texts);
  }
}

std::set<std::string> texts_of(const ItemHistory& history) {
  std::set<std::string> texts;
  for (const auto& [unit, entries] : history.registers) {
    for (const LedgerEntry& entry : entries) collect_texts(entry.value, texts);
  }
  return texts;
}

}  // namespace

// Whoever knows an erasure holds the item as erased, with nothing else of it.
void Checkers::check_erased(Device& device, const View& view) {
  const Ledger& ledger = world_.ledger;
  std::set<ItemId> recorded;
  const Result<std::vector<ConflictRecord>> conflicts = device.replica().conflicts();
  if (!conflicts.ok()) return fail("conflicts must answer", device, conflicts.status().to_text());
  for (const ConflictRecord& record : *conflicts) recorded.insert(record.item);
  for (const auto& [item_id, history] : ledger.items()) {
    const auto position = view.index.find(item_id);
    const Item* item = position == view.index.end() ? nullptr : &view.items[position->second].item;
    const ClockVector& known = view.status.knowledge.at(item_id);
    for (const LedgerEntry& entry : history.registers.at(kExistenceUnit)) {
      if (entry.existence != Existence::kErased || !known.contains(entry.version)) continue;
      if (ledger.is_ambiguous(entry.version) || (item == nullptr && device.ever_filtered)) continue;
      if (item == nullptr || !item->erased()) {
        return fail("the erased stays erased", device,
                    "knows " + ledger.text(entry.version) + ", which erased " + ledger.text(item_id) + ", and holds " +
                        (item == nullptr ? "nothing" : ledger.text(*item)));
      }
    }
    if (item == nullptr || !item->erased()) continue;
    const StoredItem& stored = view.items[position->second];
    if (!item->units.empty() || !stored.merge_bases.empty() || recorded.contains(item_id)) {
      return fail("nothing is kept of the erased", device,
                  ledger.text(*item) + ", with " + std::to_string(stored.merge_bases.size()) + " former texts and " +
                      (recorded.contains(item_id) ? "a conflict record" : "no conflict record"));
    }
    if (stored.shown) keys_of_erased_[&device].insert(stored.shown->key);
  }
}

// No value of an erased item is anywhere, whoever wrote it and when.
void Checkers::check_no_trace(const std::vector<std::unique_ptr<Device>>& devices) {
  std::set<std::string> erased;
  std::set<std::string> kept;  // also what a user has typed again
  for (const auto& [item_id, history] : world_.ledger.items()) {
    const std::vector<LedgerEntry>& existences = history.registers.at(kExistenceUnit);
    const bool is_erased = std::any_of(existences.begin(), existences.end(), [&](const LedgerEntry& entry) {
      return entry.existence == Existence::kErased && !lost_with_restore_.contains(entry.version);
    });
    (is_erased ? erased : kept).merge(texts_of(history));
    if (!is_erased) continue;
    for (const std::unique_ptr<Device>& device : devices) {
      const Result<std::optional<ReplicaItem>> held = device->replica().find(item_id);
      if (!held.ok() || !*held || !(*held)->item.erased()) {
        return fail("the erased is erased everywhere", *device, world_.ledger.text(item_id) + " is not");
      }
    }
  }
  for (const std::unique_ptr<Device>& device : devices) {
    std::set<std::string> present;
    View view;
    if (!look(*device, view)) return;
    for (const StoredItem& stored : view.items) {
      for (const UnitRegister& unit : stored.item.units) collect_texts(unit.content.value, present);
      for (const UnitRegister& base : stored.merge_bases) collect_texts(base.content.value, present);
      if (!stored.shown) continue;
      for (const UnitValue& value : stored.shown->values) collect_texts(value.value, present);
    }
    const Result<std::vector<ConflictRecord>> conflicts = device->replica().conflicts();
    if (!conflicts.ok()) return fail("conflicts must answer", *device, conflicts.status().to_text());
    for (const ConflictRecord& record : *conflicts) {
      collect_texts(record.kept.value, present);
      collect_texts(record.lost.value, present);
    }
    std::vector<StoreKey> pending = {""};
    for (const Root& root : device->schema().roots) pending.push_back(root.name);
    while (!pending.empty()) {
      const StoreKey parent = std::move(pending.back());
      pending.pop_back();
      for (const StoreKey& key : device->store().children(parent)) {
        for (const UnitValue& value : device->store().find(key)->values) collect_texts(value.value, present);
        pending.push_back(key);
      }
    }
    for (const std::string& text : erased) {
      if (present.contains(text) && !kept.contains(text)) {
        return fail("no trace of the erased", *device, "\"" + text + "\" is there still");
      }
    }
  }
}

}  // namespace harmonica::simulation
