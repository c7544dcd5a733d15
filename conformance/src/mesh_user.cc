#include "mesh_user.h"

#include <algorithm>

namespace harmonica::conformance {

namespace {

const Value* value_of(const StoreItem& item, UnitId unit) {
  for (const UnitValue& value : item.values) {
    if (value.unit == unit) return &value.value;
  }
  return nullptr;
}

}  // namespace

std::vector<TypedValue> typed_values(StoreSubject& subject, const StoreItem& item) {
  // Those that are alike under another title are not typed.
  std::optional<StoreItem> other = subject.leaf("x", subject.root(), "another title");
  if (other->type != item.type) other = subject.folder("x", subject.root(), "another title");
  std::vector<TypedValue> values;
  if (!other || other->type != item.type) return values;
  other = subject.store().as_held(*std::move(other));
  for (const UnitValue& value : item.values) {
    const Value* same = value_of(*other, value.unit);
    if (same != nullptr && !(*same == value.value)) values.emplace_back(value.unit, value.value.to_text());
  }
  return values;
}

void MeshUser::edit() {
  if (!look()) return;
  const std::size_t what = chance_.below(10);
  std::vector<StoreItem> own;
  for (const StoreItem& item : standing_.items) {
    if (!typed_values(subject_, item).empty()) own.push_back(item);
  }
  if (what < 4 || own.empty()) return create();
  const StoreItem& chosen = own[chance_.below(own.size())];
  if (what < 7) return change(chosen);
  if (what < 9) return move(chosen);
  if (!has_children(chosen.key)) remove(chosen);
}

void MeshUser::add_shared(const std::string& title) {
  if (!look()) return;
  const Place place = any_place(nullptr);
  StoreItem item = titled(false, {}, subject_.root(), title);
  write({WriteKind::kPut, std::move(item), place.parent == subject_.root() ? place.previous : StoreKey(), {}});
}

bool MeshUser::look() {
  standing_ = {};
  const auto enumeration = subject_.store().enumerate({}, EnumeratedItems(), standing_);
  if (!enumeration.ok()) {
    typed_.findings.push_back("a user cannot read the store: " + enumeration.status().to_text());
    return false;
  }
  anchor_ = enumeration->anchor;
  return true;
}

MeshUser::Place MeshUser::any_place(const StoreItem* moved) {
  std::vector<StoreKey> parents = {subject_.root()};
  const std::optional<StoreItem> folder = subject_.folder("x", subject_.root(), "x");
  for (const StoreItem& item : standing_.items) {
    if (!folder || item.type != folder->type) continue;
    if (moved == nullptr || !is_below(item.key, moved->key)) parents.push_back(item.key);
  }
  Place place{parents[chance_.below(parents.size())], {}};
  std::vector<StoreKey> previous = {{}};
  for (const StoreItem& item : standing_.items) {
    if (item.parent == place.parent && (moved == nullptr || item.key != moved->key)) previous.push_back(item.key);
  }
  place.previous = previous[chance_.below(previous.size())];
  return place;
}

bool MeshUser::is_below(StoreKey item, const StoreKey& ancestor) const {
  // A parent chain is no longer than there are items.
  for (std::size_t step = 0; step <= standing_.items.size(); ++step) {
    if (item == ancestor) return true;
    const auto found = std::ranges::find(standing_.items, item, &StoreItem::key);
    if (found == standing_.items.end()) return false;
    item = found->parent;
  }
  return true;
}

bool MeshUser::has_children(const StoreKey& key) const {
  return std::ranges::find(standing_.items, key, &StoreItem::parent) != standing_.items.end();
}

StoreKey MeshUser::previous_of(const StoreItem& item) const {
  StoreKey previous;
  for (const StoreItem& sibling : standing_.items) {
    if (sibling.key == item.key) break;
    if (sibling.parent == item.parent) previous = sibling.key;
  }
  return previous;
}

bool MeshUser::is_ordered(TypeId type) const {
  const ItemType* found = subject_.store().schema().find_type(type);
  return found != nullptr && found->find_role(UnitRole::kPosition) != nullptr;
}

StoreItem MeshUser::titled(bool is_folder, StoreKey key, StoreKey parent, const std::string& title) {
  if (key.empty()) {
    Bytes bytes(16);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(chance_.next() >> 56);
    // As another program makes one: a random UUID (version 4), not of the form that says that Harmonica gave it.
    bytes[6] = static_cast<std::uint8_t>(0x40 | (bytes[6] & 0x0f));
    bytes[8] = static_cast<std::uint8_t>(0x80 | (bytes[8] & 0x3f));
    ItemId id;
    std::ranges::copy(bytes, id.bytes.begin());
    key = subject_.store().key_for(id);
  }
  std::optional<StoreItem> item;
  if (is_folder) item = subject_.folder(key, parent, title);
  if (!item) item = subject_.leaf(key, parent, title);
  return subject_.store().as_held(*std::move(item));
}

void MeshUser::create() {
  const Place place = any_place(nullptr);
  StoreItem item = titled(chance_.strikes(300), {}, place.parent, "title " + std::to_string(++typed_.titles));
  const std::vector<TypedValue> values = typed_values(subject_, item);
  if (write({WriteKind::kPut, std::move(item), place.previous, {}})) typed_.values.insert(values.begin(), values.end());
}

void MeshUser::change(const StoreItem& before) {
  const bool is_leaf = subject_.leaf("x", subject_.root(), "x").type == before.type;
  const StoreItem wanted = titled(!is_leaf, before.key, before.parent, "title " + std::to_string(++typed_.titles));
  StoreItem after = before;
  for (UnitValue& value : after.values) {
    if (const Value* typed = value_of(wanted, value.unit)) value.value = *typed;
  }
  after = subject_.store().as_held(std::move(after));
  const std::vector<TypedValue> values = typed_values(subject_, after);
  const std::vector<TypedValue> seen = typed_values(subject_, before);
  if (!write({WriteKind::kPut, std::move(after), previous_of(before), before})) return;
  typed_.values.insert(values.begin(), values.end());
  typed_.replaced.insert(seen.begin(), seen.end());
}

void MeshUser::move(const StoreItem& before) {
  if (!is_ordered(before.type) && !subject_.folder("x", subject_.root(), "x")) return;
  const Place place = any_place(&before);
  StoreItem after = before;
  after.parent = place.parent;
  StoreWrite moved{WriteKind::kPut, std::move(after), place.previous, before};
  moved.moves = true;
  write(std::move(moved));
}

void MeshUser::remove(const StoreItem& before) {
  const std::vector<TypedValue> seen = typed_values(subject_, before);
  if (write({WriteKind::kRemove, before, {}, before})) typed_.replaced.insert(seen.begin(), seen.end());
}

bool MeshUser::write(StoreWrite write) {
  if (!is_ordered(write.item.type)) write.previous.clear();
  const auto written = subject_.store().apply({&write, 1}, anchor_);
  if (!written.ok() || written->outcomes.size() != 1) {
    typed_.findings.push_back("a user cannot write the store: " + written.status().to_text());
    return false;
  }
  const WriteOutcome& outcome = written->outcomes.front();
  if (outcome.state == WriteState::kChanged) {
    typed_.findings.push_back("the store holds something else under " + write.item.key + " than it has just enumerated");
  }
  if (outcome.state != WriteState::kWritten) return false;
  ++typed_.edits;
  return true;
}

}  // namespace harmonica::conformance
