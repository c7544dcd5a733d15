#include "simulation/checkers.h"

#include <algorithm>
#include <utility>

#include "simulation/checking.h"
#include "simulation/scenario_schema.h"
#include "support/reference_view.h"

namespace harmonica::simulation {
namespace {

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

}  // namespace harmonica::simulation
