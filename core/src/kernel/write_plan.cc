#include "kernel/write_plan.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "kernel/adoption.h"
#include "kernel/counter.h"
#include "kernel/record_items.h"
#include "kernel/view_index.h"
#include "kernel/views.h"

namespace harmonica::kernel {
namespace {

std::int64_t latest_change_ms(const Item& item) {
  Tick latest = item.existence.version.tick;
  for (const UnitRegister& unit : item.units) latest = std::max(latest, unit.content.version.tick);
  return milliseconds_of(latest);
}

}  // namespace

std::optional<ShownItem> desired_shown(const ReplicaContext& context, const StoredItem& item, const StoreKey& new_key) {
  if (!item.view.visible) return std::nullopt;
  const ItemType* type = context.schema().find_type(item.item.type);
  if (type == nullptr) return std::nullopt;
  StoreItem wanted;
  wanted.key = item.shown ? item.shown->key : new_key;
  wanted.type = item.item.type;
  wanted.values.reserve(item.item.units.size());
  for (const UnitRegister& unit : item.item.units) {
    const Unit* known = type->find_unit(unit.unit);
    if (known == nullptr || known->role == UnitRole::kParent || known->role == UnitRole::kPosition) continue;
    Value value = type->rule_of(*known) == ConflictRule::kCounter ? counter_shown(unit.content.value) : unit.content.value;
    if (known->role == UnitRole::kName && item.view.name_suffix > 0) {
      if (const std::string* name = value.if_text()) {
        value = Value::text(shown_name(*name, item.item.id, item.view.name_suffix));
      }
    }
    wanted.values.push_back({unit.unit, std::move(value)});
  }
  StoreItem held = context.store.as_held(std::move(wanted));
  return ShownItem{std::move(held.key), item.view.parent, position_of(*type, item.item), std::move(held.values)};
}

std::vector<IndexEntry> entries_of(const ReplicaContext& context, const StoredItem& item, WrittenState written) {
  std::vector<IndexEntry> entries;
  if (context.has_store()) {
    entries = index_entries(context.schema(), item, written);
  } else if (!item.item.alive()) {
    entries.push_back(end_entry(item.item));
  }
  if (context.filter && item.item.alive() && !context.filter->matches(item.item)) {
    entries.push_back({IndexKind::kOutside, {}});
  }
  if (is_record(item.item.type)) entries.push_back({IndexKind::kConflictRecord, record_index_key(item.item)});
  return entries;
}

WritePlan::WritePlan(ReplicaContext& context, MetadataTransaction& transaction, const HeldBack& held_back)
    : context_(context), transaction_(transaction), held_back_(held_back) {}

Status WritePlan::choose_keys(std::span<const StoredItem> items) {
  HARMONICA_ASSIGN_OR_RETURN(const ItemCounts counts, transaction_.counts());
  if (counts.shown == 0 && context_.unsyncable.left_out_keys.empty()) return {};
  for (const StoredItem& item : items) {
    if (item.shown || !item.view.visible) continue;
    ItemId named = item.item.id;
    while (true) {
      const StoreKey key = context_.store.key_for(named);
      HARMONICA_ASSIGN_OR_RETURN(const std::optional<ItemId> holder, item_shown_under(transaction_, key));
      if (!holder && !context_.unsyncable.left_out_keys.contains(key)) {
        if (named != item.item.id) chosen_keys_[item.item.id] = key;
        break;
      }
      named = second_item_id(context_.environment, named, item.item.type);
    }
  }
  return {};
}

bool WritePlan::is_unwritable(const ItemId& item) const {
  return held_back_.unwritable.contains(item) || context_.unsyncable.left_alone.contains(item);
}

StoreKey WritePlan::new_key(const ItemId& item) const {
  const auto chosen = chosen_keys_.find(item);
  return chosen == chosen_keys_.end() ? context_.store.key_for(item) : chosen->second;
}

Status WritePlan::put(StoredItem item) {
  // What stands in the store of a type that the schema had once stays as it is until it has it again.
  if (context_.schema().find_type(item.item.type) == nullptr) {
    return transaction_.put(item, entries_of(context_, item, WrittenState::kWritten));
  }
  std::optional<ShownItem> desired = desired_shown(context_, item, item.shown ? StoreKey() : new_key(item.item.id));
  const auto astray = context_.astray.find(item.item.id);
  const std::optional<ShownItem>& standing = astray == context_.astray.end() ? item.shown : astray->second.shown;
  WrittenState written = WrittenState::kWritten;
  if (is_unwritable(item.item.id)) {
    if (desired != standing) written = WrittenState::kUnwritten;
    item.shown = standing;
  } else if (astray != context_.astray.end() || desired != item.shown) {
    const auto [change, is_new] = changes_.try_emplace(item.item.id);
    if (is_new) change->second.before = standing;
    change->second.type = item.item.type;
    change->second.after = desired;
    change->second.changed_ms = latest_change_ms(item.item);
    item.shown = std::move(desired);
  }
  return transaction_.put(item, entries_of(context_, item, written));
}

Result<std::vector<StoreWrite>> WritePlan::writes() {
  HARMONICA_RETURN_IF_ERROR(bring_in_line());
  HARMONICA_RETURN_IF_ERROR(keep_occupied_parents());
  HARMONICA_RETURN_IF_ERROR(order_disturbed());
  std::vector<Placed> puts;
  for (auto& [item, change] : changes_) {
    if (change.after && (change.before != change.after || change.place_anew)) puts.push_back({item, &change, 0});
  }
  HARMONICA_RETURN_IF_ERROR(place_puts(puts));
  HARMONICA_RETURN_IF_ERROR(leave_out_homeless(puts));
  KeysByItem keys_before;
  std::vector<Placed> removals;
  for (auto& [item, change] : changes_) {
    if (change.before) keys_before[item] = change.before->key;
    if (change.before && !change.after) removals.push_back({item, &change, depth_among_removed(item)});
  }
  std::sort(removals.begin(), removals.end(),
            [](const Placed& a, const Placed& b) { return a.depth != b.depth ? a.depth > b.depth : a.item < b.item; });
  HARMONICA_ASSIGN_OR_RETURN(const auto places, final_places(puts));

  const auto expected = [&](const Change& change) -> Result<std::optional<StoreItem>> {
    if (!change.before) return std::optional<StoreItem>();
    HARMONICA_ASSIGN_OR_RETURN(StoreItem item, store_item(change.type, *change.before));
    HARMONICA_ASSIGN_OR_RETURN(item.parent, key_of(change.before->parent, keys_before));
    return std::optional<StoreItem>(std::move(item));
  };
  std::vector<StoreWrite> writes;
  writes.reserve(puts.size() + removals.size());
  for (const Placed& placed : puts) {
    const Change& change = *placed.change;
    StoreWrite write;
    HARMONICA_ASSIGN_OR_RETURN(write.item, store_item(change.type, *change.after));
    HARMONICA_ASSIGN_OR_RETURN(write.item.parent, key_of(change.after->parent, {}));
    write.item.changed_ms = change.changed_ms;
    if (const auto place = places.find(placed.item); place != places.end()) {
      write.previous = place->second.previous;
      write.moves = place->second.moves;
    }
    HARMONICA_ASSIGN_OR_RETURN(write.expected, expected(change));
    writes.push_back(std::move(write));
  }
  for (const Placed& placed : removals) {
    const Change& change = *placed.change;
    StoreWrite write;
    write.kind = WriteKind::kRemove;
    HARMONICA_ASSIGN_OR_RETURN(write.expected, expected(change));
    write.item = *write.expected;
    writes.push_back(std::move(write));
  }

  // Nothing is looked up in the changes any more, and they may be many.
  note_ordered_parents();
  prepared_.reserve(writes.size());
  for (const Placed& placed : puts) {
    StoreKey key = placed.change->after->key;
    prepared_.push_back({placed.item, std::move(key), std::move(placed.change->after)});
  }
  for (const Placed& placed : removals) {
    prepared_.push_back({placed.item, std::move(placed.change->before->key), std::nullopt});
  }
  changes_.clear();
  return writes;
}

// What stands otherwise than recorded, and nothing in this transaction has touched, becomes as recorded.
Status WritePlan::bring_in_line() {
  for (const auto& [id, standing] : context_.astray) {
    if (changes_.contains(id)) continue;
    HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> stored, transaction_.find(id));
    const std::optional<ShownItem> recorded = stored ? stored->shown : std::nullopt;
    if (recorded == standing.shown) continue;
    if (!is_unwritable(id)) {
      changes_[id] = {standing.type, standing.shown, recorded, 0};
    } else if (stored) {
      stored->shown = standing.shown;
      HARMONICA_RETURN_IF_ERROR(transaction_.put(*stored, entries_of(context_, *stored, WrittenState::kUnwritten)));
    } else if (standing.shown) {
      left_astray_.push_back({id, standing.shown->key, standing.shown});
    }
  }
  return {};
}

void WritePlan::note_ordered_parents() {
  std::unordered_set<ItemId, IdHash> parents;
  for (const auto& [item, change] : changes_) {
    if (!is_ordered(change.type)) continue;
    if (change.before) parents.insert(change.before->parent);
    if (change.after) parents.insert(change.after->parent);
  }
  ordered_parents_.insert(parents.begin(), parents.end());
}

// Where an attempt was accepted only in part, every child is placed again: each after the one that it follows now.
Status WritePlan::order_disturbed() {
  std::set<ItemId> parents = held_back_.disturbed;
  parents.insert(context_.disturbed.begin(), context_.disturbed.end());
  for (const ItemId& parent : parents) {
    HARMONICA_ASSIGN_OR_RETURN(const std::vector<Sibling> children, standing_children(parent));
    for (const Sibling& child : children) {
      if (is_unwritable(child.item)) {
        if (context_.disturbed.contains(parent)) HARMONICA_RETURN_IF_ERROR(leave_astray(child.item));
        continue;
      }
      const auto [change, is_new] = changes_.try_emplace(child.item);
      if (is_new) {
        HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction_.find(child.item));
        change->second = {stored->item.type, stored->shown, stored->shown, latest_change_ms(stored->item)};
      }
      change->second.place_anew = true;
    }
  }
  return {};
}

// What may stand out of order and cannot be put in place goes on counting as ours.
Status WritePlan::leave_astray(const ItemId& item) {
  HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction_.find(item));
  if (stored && stored->shown) left_astray_.push_back({item, stored->shown->key, stored->shown});
  return {};
}

// The ordered children of a parent as they stand in the store once this plan is written: what cannot be written stands
// where it was.
Result<std::vector<WritePlan::Sibling>> WritePlan::standing_children(const ItemId& parent) {
  HARMONICA_RETURN_IF_ERROR(load_unwritten());
  std::vector<Sibling> children;
  if (const auto standing = standing_unwritten_.find(parent); standing != standing_unwritten_.end()) {
    children = standing->second;
  }
  const bool any_unwritten = !children.empty();
  IndexQuery query;
  const Bytes prefix = child_index_key(parent, {});
  query.kind = IndexKind::kChild;
  query.prefix = prefix;
  HARMONICA_ASSIGN_OR_RETURN(const auto positions, transaction_.find_index(query));
  for (const IndexPosition& position : positions) {
    if (position.key.size() == prefix.size() || unwritten_.contains(position.item)) continue;
    children.push_back(
        {Bytes(position.key.begin() + static_cast<std::ptrdiff_t>(prefix.size()), position.key.end()), position.item});
  }
  // What is left alone is no place to put something behind: the store does not know it.
  std::erase_if(children, [&](const Sibling& child) { return context_.unsyncable.left_alone.contains(child.item); });
  if (any_unwritten) {
    std::sort(children.begin(), children.end(), [](const Sibling& a, const Sibling& b) {
      return a.position == b.position ? a.item < b.item : as_text(a.position) < as_text(b.position);
    });
  }
  return children;
}

Status WritePlan::load_unwritten() {
  if (unwritten_loaded_) return {};
  unwritten_loaded_ = true;
  IndexQuery query;
  query.kind = IndexKind::kUnwritten;
  HARMONICA_ASSIGN_OR_RETURN(const auto positions, transaction_.find_index(query));
  for (const IndexPosition& position : positions) {
    unwritten_.insert(position.item);
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction_.find(position.item));
    if (!stored || !stored->shown || !is_ordered(stored->item.type)) continue;
    standing_unwritten_[stored->shown->parent].push_back({stored->shown->position, position.item});
  }
  return {};
}

// A parent cannot go while something stands in it that stays.
Status WritePlan::keep_occupied_parents() {
  for (const auto& [item, status] : held_back_.failed) HARMONICA_RETURN_IF_ERROR(keep_occupied_parent(item));
  for (const ItemId& item : held_back_.unwritable) HARMONICA_RETURN_IF_ERROR(keep_occupied_parent(item));
  for (const ItemId& item : context_.unsyncable.left_alone) HARMONICA_RETURN_IF_ERROR(keep_occupied_parent(item));
  return {};
}

Status WritePlan::keep_occupied_parent(const ItemId& item) {
  HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> standing, transaction_.find(item));
  while (standing && standing->shown) {
    const auto parent = changes_.find(standing->shown->parent);
    if (parent == changes_.end() || !parent->second.before || parent->second.after) return {};
    HARMONICA_ASSIGN_OR_RETURN(standing, transaction_.find(parent->first));
    if (!standing) {
      // Of a lost write, in which a user has put something meanwhile: it goes on standing there, recorded nowhere.
      const ShownItem& shown = *parent->second.before;
      left_astray_.push_back({parent->first, shown.key, shown});
      changes_.erase(parent);
      return {};
    }
    standing->shown = parent->second.before;
    HARMONICA_RETURN_IF_ERROR(transaction_.put(*standing, entries_of(context_, *standing, WrittenState::kUnwritten)));
    changes_.erase(parent);
  }
  return {};
}

// Nothing can be put into what does not stand in the store because it could not be written: it waits as well. `puts`:
// parents before their children.
Status WritePlan::leave_out_homeless(std::vector<Placed>& puts) {
  std::vector<Placed> possible;
  possible.reserve(puts.size());
  std::optional<ItemId> home;  // of the put before, where it has one
  for (const Placed& placed : puts) {
    const ItemId& parent = placed.change->after->parent;
    const bool is_looked_up = home == parent;
    HARMONICA_ASSIGN_OR_RETURN(const bool has_home, is_looked_up ? Result<bool>(true) : will_stand(parent));
    if (has_home) {
      home = parent;
      possible.push_back(placed);
      continue;
    }
    HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> waiting, transaction_.find(placed.item));
    HARMONICA_ASSERT(waiting.has_value());
    waiting->shown = placed.change->before;
    HARMONICA_RETURN_IF_ERROR(transaction_.put(*waiting, entries_of(context_, *waiting, WrittenState::kUnwritten)));
    changes_.erase(placed.item);
    HARMONICA_RETURN_IF_ERROR(keep_occupied_parent(placed.item));
  }
  puts = std::move(possible);
  return {};
}

// Whether an item stands in the store once this plan is written.
Result<bool> WritePlan::will_stand(const ItemId& item) {
  if (item.is_zero() || context_.schema().is_root(item)) return true;
  if (const auto change = changes_.find(item); change != changes_.end()) return change->second.after.has_value();
  HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction_.find(item));
  return stored && stored->shown;
}

bool WritePlan::is_ordered(TypeId type) const {
  const ItemType* found = context_.schema().find_type(type);
  return found != nullptr && found->find_role(UnitRole::kPosition) != nullptr;
}

Result<StoreItem> WritePlan::store_item(TypeId type, const ShownItem& shown) {
  StoreItem item;
  item.key = shown.key;
  item.type = type;
  item.values = shown.values;
  return item;
}

Result<StoreKey> WritePlan::key_of(const ItemId& item, const KeysByItem& keys_before) {
  if (item.is_zero()) return StoreKey();
  for (const Root& root : context_.schema().roots) {
    if (root.id == item) return root.name;
  }
  if (const auto found = keys_before.find(item); found != keys_before.end()) return found->second;
  if (const auto change = changes_.find(item); change != changes_.end() && change->second.after) {
    return change->second.after->key;
  }
  if (const auto found = keys_.find(item); found != keys_.end()) return found->second;
  HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction_.find(item));
  StoreKey key = stored && stored->shown ? stored->shown->key : new_key(item);
  keys_[item] = key;
  return key;
}

Result<std::size_t> WritePlan::depth_of(ItemId item) {
  std::vector<ItemId> path;
  std::size_t depth = 0;
  while (!item.is_zero() && !context_.schema().is_root(item)) {
    if (const auto found = depths_.find(item); found != depths_.end()) {
      depth = found->second;
      break;
    }
    path.push_back(item);
    if (const auto change = changes_.find(item); change != changes_.end() && change->second.after) {
      item = change->second.after->parent;
      continue;
    }
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction_.find(item));
    if (!stored) break;
    item = stored->view.parent;
  }
  for (auto step = path.rbegin(); step != path.rend(); ++step) depths_[*step] = ++depth;
  return depth;
}

std::size_t WritePlan::depth_among_removed(const ItemId& item) const {
  std::size_t depth = 0;
  for (auto found = changes_.find(item); found != changes_.end() && found->second.before && !found->second.after;
       found = changes_.find(found->second.before->parent)) {
    ++depth;
  }
  return depth;
}

// Parents before their children, siblings in their order.
Status WritePlan::place_puts(std::vector<Placed>& puts) {
  for (Placed& placed : puts) {
    HARMONICA_ASSIGN_OR_RETURN(placed.depth, depth_of(placed.change->after->parent));
  }
  const auto order = [](const Placed& placed) {
    const ShownItem& shown = *placed.change->after;
    return std::tie(placed.depth, shown.parent, shown.position, placed.item);
  };
  std::sort(puts.begin(), puts.end(), [&](const Placed& a, const Placed& b) { return order(a) < order(b); });
  return {};
}

// For each put of a type with positions where it stands in the end: one walk along the children of each
// parent. Children of types without positions stand in no order: nothing follows them.
Result<WritePlan::PlacesByItem> WritePlan::final_places(const std::vector<Placed>& puts) {
  PlacesByItem places;
  for (std::size_t index = 0; index < puts.size();) {
    const ItemId& parent = puts[index].change->after->parent;
    std::size_t group_end = index;
    std::unordered_set<ItemId, IdHash> wanted;
    for (; group_end < puts.size() && puts[group_end].change->after->parent == parent; ++group_end) {
      if (is_ordered(puts[group_end].change->type)) wanted.insert(puts[group_end].item);
    }
    index = group_end;
    if (wanted.empty()) continue;

    HARMONICA_ASSIGN_OR_RETURN(const std::vector<Sibling> children, standing_children(parent));
    for (std::size_t child = 0; child < children.size(); ++child) {
      if (!wanted.contains(children[child].item)) continue;
      Place& place = places[children[child].item];
      if (child > 0) {
        HARMONICA_ASSIGN_OR_RETURN(place.previous, key_of(children[child - 1].item, {}));
      }
      const std::optional<ShownItem>& before = changes_.at(children[child].item).before;
      place.moves = !before || before->parent != parent || (child > 0 && before->position < children[child - 1].position) ||
                    (child + 1 < children.size() && children[child + 1].position < before->position);
    }
  }
  return places;
}

}  // namespace harmonica::kernel
