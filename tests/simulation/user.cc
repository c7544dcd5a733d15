#include "simulation/user.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "simulation/scenario_schema.h"

namespace harmonica::simulation {
namespace {

bool has_children(TypeId type) { return type == types::kFolder || type == types::kDirectory; }

const std::string* text_of(const StoreItem& item, UnitId unit) {
  for (const UnitValue& value : item.values) {
    if (value.unit == unit) return value.value.if_text();
  }
  return nullptr;
}

void set_value(StoreItem& item, UnitId unit, Value value) {
  for (UnitValue& held : item.values) {
    if (held.unit == unit) {
      held.value = std::move(value);
      return;
    }
  }
  item.values.push_back({unit, std::move(value)});
  std::sort(item.values.begin(), item.values.end(), [](const UnitValue& a, const UnitValue& b) { return a.unit < b.unit; });
}

// What this device's version of the app does not have.
void drop_unknown(Device& device, StoreItem& item) {
  const ItemType* type = device.schema().find_type(item.type);
  std::erase_if(item.values, [&](const UnitValue& value) { return type->find_unit(value.unit) == nullptr; });
}

// Every key in the store, in the order in which it shows them.
std::vector<StoreKey> all_keys(Device& device) {
  std::vector<StoreKey> pending = {""};
  for (const Root& root : device.schema().roots) pending.push_back(root.name);
  std::vector<StoreKey> keys;
  for (std::size_t index = 0; index < pending.size(); ++index) {
    const StoreKey parent = pending[index];
    for (const StoreKey& child : device.store().children(parent)) {
      pending.push_back(child);
      keys.push_back(child);
    }
  }
  return keys;
}

bool is_below(Device& device, StoreKey key, const StoreKey& ancestor) {
  while (const StoreItem* item = device.store().find(key)) {
    if (key == ancestor) return true;
    key = item->parent;
  }
  return key == ancestor;
}

}  // namespace

void User::fill(Device& device, const Shared& shared) {
  Random random(shared.seed);
  const std::string root = device.schema().roots.empty() ? "" : device.schema().roots.front().name;
  std::vector<StoreKey> folders = {root};
  const std::size_t count = 3 + random.below(6);
  for (std::size_t number = 0; number < count; ++number) {
    const TypeId type = static_cast<TypeId>(1 + random.below(shared.bookmarks_only ? 2 : 4));
    StoreItem item;
    item.key = "s" + std::to_string(number);
    item.type = type;
    item.parent = random.pick(folders);
    item.changed_ms = world_.now_ms - static_cast<std::int64_t>(1 + random.below(1000)) * 1000;
    std::string text = "shared" + std::to_string(number);
    set_value(item, units::kBirth, Value::text(text));
    if (shared.edited_since && random.chance(300)) text += " edited";
    if (type == types::kFolder || type == types::kBookmark) {
      set_value(item, units::kTitle, Value::text(text));
      if (type == types::kBookmark) set_value(item, units::kUrl, Value::text("u:" + text));
    } else {
      set_value(item, units::kName, Value::text(text));
      if (type == types::kFile) set_value(item, units::kContent, Value::text("c:" + text));
    }
    if (shared.bookmarks_only) {
      ItemId id;
      for (std::uint8_t& byte : id.bytes) byte = static_cast<std::uint8_t>(random.next());
      if (shared.carries_ids) item.identity = id;
    }
    item.key = item.identity ? device.store().key_for(*item.identity) : device.name() + item.key;
    if (has_children(type)) folders.push_back(item.key);
    drop_unknown(device, item);
    if (device.store().put(std::move(item)).ok()) device.note_edit();
  }
}

void User::edit(Device& device) {
  const std::size_t kind = world_.random.below(100);
  if (device.store().size() < 4 || (kind < 25 && device.store().size() < 24)) return create(device);
  if (kind < 30) return create_again(device);
  if (kind < 60) return change(device);
  if (kind < 73) return remove(device);
  if (kind < 90) return move(device);
  reorder(device);
}

std::string User::fresh_text(Device& device) {
  // Now and then the same text as someone else may write.
  if (world_.random.chance(120)) return "same" + std::to_string(world_.random.below(3));
  return device.name() + std::to_string(++texts_);
}

std::string User::fresh_words(Device& device, const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  const std::size_t changes = words.empty() ? 4 : 1 + world_.random.below(2);
  for (std::size_t change = 0; change < changes; ++change) {
    if (words.size() < 4) {
      words.push_back(fresh_text(device));
    } else {
      words[world_.random.below(words.size())] = fresh_text(device);
    }
  }
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

// A program that fills a reference knows the item's id; here only those whose key is their id can be meant.
Value::Ids User::some_accounts(Device& device) {
  Value::Ids accounts;
  for (const StoreKey& key : device.store().children("")) {
    const std::optional<ItemId> id = ItemId::parse(key);
    if (!id || device.store().find(key)->type != types::kAccount || accounts.size() == 2) continue;
    if (habit_ == Habit::kAnything || world_.random.chance(500)) accounts.push_back(*id);
  }
  return accounts;
}

StoreKey User::pick_parent(Device& device, TypeId type) {
  const ItemType* item_type = device.schema().find_type(type);
  if (item_type->find_role(UnitRole::kParent) == nullptr) return "";
  std::vector<StoreKey> parents;
  for (const Root& root : device.schema().roots) parents.push_back(root.name);
  if (parents.empty()) parents.push_back("");
  for (const StoreKey& key : all_keys(device)) {
    if (has_children(device.store().find(key)->type)) parents.push_back(key);
  }
  return world_.random.pick(parents);
}

StoreKey User::pick_item(Device& device) {
  const std::vector<StoreKey> keys = all_keys(device);
  return keys.empty() ? StoreKey() : world_.random.pick(keys);
}

StoreKey User::pick_previous(Device& device, const StoreKey& parent, const StoreKey& itself) {
  std::vector<StoreKey> places = {""};
  for (const StoreKey& child : device.store().children(parent)) {
    if (child != itself) places.push_back(child);
  }
  return world_.random.pick(places);
}

bool User::name_is_free(Device& device, const StoreKey& parent, const std::string& name, const StoreKey& itself) {
  for (const StoreKey& sibling : device.store().children(parent)) {
    const std::string* taken = text_of(*device.store().find(sibling), units::kName);
    if (sibling != itself && taken != nullptr && *taken == name) return false;
  }
  return true;
}

bool User::code_is_free(Device& device, const std::string& code, const StoreKey& itself) {
  for (const StoreKey& key : device.store().children("")) {
    const std::string* taken = text_of(*device.store().find(key), units::kCode);
    if (key != itself && taken != nullptr && *taken == code) return false;
  }
  return true;
}

void User::put(Device& device, StoreItem item, const StoreKey& previous) {
  drop_unknown(device, item);
  if (world_.random.chance(500)) item.changed_ms = device.environment().wall_clock_ms();
  const StoreItem* before = device.store().find(item.key);
  std::vector<UnitValue> changed;
  for (const UnitValue& value : item.values) {
    const bool kept =
        before != nullptr && std::find(before->values.begin(), before->values.end(), value) != before->values.end();
    if (!kept) changed.push_back(value);
  }
  const StoreKey key = item.key;
  const std::string line = "  " + device.name() + " user puts " + key + " type " + std::to_string(item.type) + " in '" +
                           item.parent + "' after '" + previous + "'";
  if (!device.store().put(std::move(item), previous).ok()) return;
  device.note_edit();
  std::string values;
  for (const UnitValue& value : changed) {
    if (const std::string* text = value.value.if_text()) device.note_typed(key, value.unit, *text);
    values += " " + std::to_string(value.unit) + "=" + value.value.to_text();
  }
  world_.tell(line + values);
}

void User::create(Device& device) {
  static const std::vector<TypeId> all_kinds = {types::kFolder,  types::kFolder, types::kBookmark, types::kDirectory,
                                                types::kFile,    types::kFile,   types::kNote,     types::kNote,
                                                types::kAccount, types::kOrder};
  static const std::vector<TypeId> bookmarks = {types::kFolder, types::kBookmark, types::kBookmark, types::kNote};
  static const std::vector<TypeId> mostly_notes = {types::kNote, types::kNote,    types::kNote,  types::kNote,
                                                   types::kNote, types::kAccount, types::kOrder, types::kFile};
  Natural wish;
  wish.type = world_.random.pick(device.schema().find_type(types::kFile) == nullptr ? bookmarks
                                 : habit_ == Habit::kMostlyNotes                    ? mostly_notes
                                                                                    : all_kinds);
  if (device.schema().find_type(wish.type) == nullptr) wish.type = types::kNote;
  wish.parent = pick_parent(device, wish.type);
  StoreItem item;
  item.key = device.name() + "k" + std::to_string(++keys_);
  item.type = wish.type;
  item.parent = wish.parent;
  set_value(item, units::kBirth, Value::text("birth" + std::to_string(keys_)));
  switch (wish.type) {
    case types::kBookmark:
      set_value(item, units::kUrl, Value::text(fresh_text(device)));
      [[fallthrough]];
    case types::kFolder:
      set_value(item, units::kTitle, Value::text(fresh_text(device)));
      break;
    case types::kFile:
      set_value(item, units::kContent, Value::text(fresh_text(device)));
      [[fallthrough]];
    case types::kDirectory: {
      const std::string name = fresh_text(device);
      if (!name_is_free(device, item.parent, name, item.key)) return;
      set_value(item, units::kName, Value::text(name));
      break;
    }
    case types::kNote:
      set_value(item, units::kLabel, Value::text(fresh_text(device)));
      set_value(item, units::kColour,
                Value::text(habit_ == Habit::kMostlyNotes ? fresh_words(device, "") : fresh_text(device)));
      set_value(item, units::kCount, Value::integer(static_cast<std::int64_t>(world_.random.below(10))));
      set_value(item, units::kState, Value::text(fresh_text(device)));
      break;
    case types::kAccount: {
      const std::string code = fresh_text(device);
      if (!code_is_free(device, code, item.key)) return;
      set_value(item, units::kCode, Value::text(code));
      set_value(item, units::kContent, Value::text(fresh_text(device)));
      break;
    }
    default: {
      set_value(item, units::kAccounts, Value::ids(some_accounts(device)));
      set_value(item, units::kContent, Value::text(fresh_text(device)));
    }
  }
  const StoreKey previous = pick_previous(device, item.parent, item.key);
  put(device, std::move(item), previous);
}

void User::create_again(Device& device) {
  if (removed_.empty()) return create(device);
  const Natural wish = world_.random.pick(removed_);
  if (device.schema().find_type(wish.type) == nullptr) return;
  StoreItem item;
  item.key = device.name() + "k" + std::to_string(++keys_);
  item.type = wish.type;
  item.values = wish.values;
  const bool parent_is_there = wish.parent.empty() || device.store().find(wish.parent) != nullptr;
  item.parent = parent_is_there ? wish.parent : pick_parent(device, wish.type);
  if (const std::string* name = text_of(item, units::kName);
      name != nullptr && !name_is_free(device, item.parent, *name, "")) {
    return;
  }
  if (const std::string* code = text_of(item, units::kCode); code != nullptr && !code_is_free(device, *code, "")) return;
  set_value(item, units::kBirth, Value::text("birth" + std::to_string(keys_)));
  const StoreKey previous = pick_previous(device, item.parent, item.key);
  put(device, std::move(item), previous);
}

void User::change(Device& device) {
  const StoreKey key = pick_item(device);
  if (key.empty()) return;
  StoreItem item = *device.store().find(key);
  std::vector<UnitId> units;
  for (const UnitValue& value : item.values) {
    const bool is_changed = value.unit != units::kAccounts || habit_ == Habit::kMostlyNotes;
    if (value.unit != units::kBirth && is_changed) units.push_back(value.unit);
  }
  // Nobody has written them yet where an item is older than they are.
  for (const UnitId unit : {units::kColour, units::kContent, units::kCount}) {
    const ItemType& type = *device.schema().find_type(item.type);
    const bool is_there =
        std::any_of(item.values.begin(), item.values.end(), [&](const UnitValue& value) { return value.unit == unit; });
    if (type.find_unit(unit) != nullptr && !is_there) units.push_back(unit);
  }
  if (units.empty()) return;
  const UnitId unit = world_.random.pick(units);
  if (unit == units::kCount) {
    set_value(item, unit, Value::integer(static_cast<std::int64_t>(world_.random.below(10))));
  } else if (unit == units::kAccounts) {
    set_value(item, unit, Value::ids(some_accounts(device)));
  } else {
    const bool has_words = habit_ == Habit::kMostlyNotes && (unit == units::kColour || unit == units::kContent);
    const std::string* words = text_of(item, unit);
    const std::string text = has_words ? fresh_words(device, words == nullptr ? "" : *words) : fresh_text(device);
    if (unit == units::kName && !name_is_free(device, item.parent, text, key)) return;
    if (unit == units::kCode && !code_is_free(device, text, key)) return;
    set_value(item, unit, Value::text(text));
  }
  // In its place, which only `previous` keeps.
  const std::vector<StoreKey> siblings = device.store().children(item.parent);
  const auto place = std::find(siblings.begin(), siblings.end(), key);
  put(device, std::move(item), place == siblings.begin() ? StoreKey() : *std::prev(place));
}

void User::remember(const StoreItem& item) {
  if (removed_.size() < 40) removed_.push_back({item.type, item.parent, item.values});
}

void User::remove(Device& device) {
  const StoreKey key = pick_item(device);
  if (key.empty()) return;
  for (const StoreKey& doomed : all_keys(device)) {
    if (!is_below(device, doomed, key)) continue;
    const StoreItem* item = device.store().find(doomed);
    remember(*item);
    device.note_removed(doomed);
  }
  world_.tell("  " + device.name() + " user removes " + key);
  if (device.store().remove(key).ok()) device.note_edit();
}

void User::move(Device& device) {
  // Folders more often than their number says: they make cycles.
  StoreKey key = pick_item(device);
  for (int attempt = 0; attempt < 3 && !key.empty() && !has_children(device.store().find(key)->type); ++attempt) {
    key = pick_item(device);
  }
  if (key.empty()) return;
  StoreItem item = *device.store().find(key);
  if (device.schema().find_type(item.type)->find_role(UnitRole::kParent) == nullptr) return change(device);
  item.parent = pick_parent(device, item.type);
  if (is_below(device, item.parent, key)) return;
  if (const std::string* name = text_of(item, units::kName);
      name != nullptr && !name_is_free(device, item.parent, *name, key)) {
    return;
  }
  const StoreKey previous = pick_previous(device, item.parent, key);
  put(device, std::move(item), previous);
}

void User::reorder(Device& device) {
  const StoreKey key = pick_item(device);
  if (key.empty()) return;
  StoreItem item = *device.store().find(key);
  const StoreKey previous = pick_previous(device, item.parent, key);
  put(device, std::move(item), previous);
}

}  // namespace harmonica::simulation
