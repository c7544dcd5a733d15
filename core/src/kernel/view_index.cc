#include "kernel/view_index.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "harmonica/limits.h"
#include "kernel/record_items.h"
#include "kernel/views.h"

namespace harmonica::kernel {
namespace {

constexpr std::size_t kIdDigits = 2 * ItemId::kSize;

void append_big_endian(Bytes& out, std::uint64_t number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out.push_back(static_cast<std::uint8_t>(number >> shift));
}

// Lengths go first, so that no encoding is the beginning of another.
void append_sized(Bytes& out, ByteView content) {
  append_big_endian(out, content.size(), 8);
  out.insert(out.end(), content.begin(), content.end());
}

void append_value(Bytes& out, const Value& value) {
  out.push_back(static_cast<std::uint8_t>(value.kind()));
  switch (value.kind()) {
    case ValueKind::kNull:
      break;
    case ValueKind::kBoolean:
      out.push_back(*value.if_boolean() ? 1 : 0);
      break;
    case ValueKind::kInteger:
      append_big_endian(out, static_cast<std::uint64_t>(*value.if_integer()), 8);
      break;
    case ValueKind::kReal:
      append_big_endian(out, std::bit_cast<std::uint64_t>(*value.if_real()), 8);
      break;
    case ValueKind::kText:
      append_sized(out, as_bytes(*value.if_text()));
      break;
    case ValueKind::kBytes:
      append_sized(out, *value.if_bytes());
      break;
    case ValueKind::kIds:
      append_big_endian(out, value.if_ids()->size(), 8);
      for (const ItemId& id : *value.if_ids()) out.insert(out.end(), id.bytes.begin(), id.bytes.end());
      break;
    case ValueKind::kList:
      append_big_endian(out, value.if_list()->size(), 8);
      for (const Value& member : *value.if_list()) append_value(out, member);
      break;
  }
}

bool can_be_taken(const Value& value) {
  if (value.is_null()) return false;
  const Value::List* list = value.if_list();
  return list == nullptr || std::none_of(list->begin(), list->end(), [](const Value& member) { return member.is_null(); });
}

Bytes as_key(const StoreKey& key) { return {key.begin(), key.end()}; }

void sort_unique(std::vector<ItemId>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

// Whose coming or going concerns the item although it is not shown beneath them: the ancestors passed over, and the parent
// of a parked item, as kChild has shown items only.
std::vector<ItemId> watched_ancestors(const Schema& schema, const ItemType& type, const StoredItem& item) {
  const std::span<const ItemId> listed = counted_ancestors(type, item.item);
  const std::size_t skipped = std::min<std::size_t>(item.view.ancestors_skipped, listed.size());
  std::vector<ItemId> watched(listed.begin(), listed.begin() + static_cast<std::ptrdiff_t>(skipped));
  if (!item.view.visible && !is_root_place(schema, item.view.parent)) watched.push_back(item.view.parent);
  sort_unique(watched);
  return watched;
}

}  // namespace

const Bytes& position_of(const ItemType& type, const Item& item) {
  static const Bytes kNone;
  const Unit* unit = type.find_role(UnitRole::kPosition);
  const Bytes* position = unit == nullptr ? nullptr : item.value_of(unit->id).if_bytes();
  return position == nullptr ? kNone : *position;
}

bool any_unit_has(const Schema& schema, UnitRole role) {
  return std::any_of(schema.types.begin(), schema.types.end(),
                     [&](const ItemType& type) { return type.find_role(role) != nullptr; });
}

bool is_root_place(const Schema& schema, const ItemId& id) { return id == schema.default_root() || schema.is_root(id); }

bool is_living(const Schema& schema, const Item& item) {
  return item.alive() && schema.find_type(item.type) != nullptr && !item.id.is_zero() && !is_root_place(schema, item.id);
}

const std::vector<ItemId>& listed_ancestors(const ItemType& type, const Item& item) {
  static const std::vector<ItemId> kNone;
  const Unit* unit = type.find_role(UnitRole::kParent);
  const Value::Ids* ids = unit == nullptr ? nullptr : item.value_of(unit->id).if_ids();
  return ids == nullptr ? kNone : *ids;
}

std::span<const ItemId> counted_ancestors(const ItemType& type, const Item& item) {
  const std::span<const ItemId> listed = listed_ancestors(type, item);
  return listed.first(std::min(listed.size(), limits::kAncestorsMax));
}

const std::string* plain_name(const ItemType& type, const Item& item) {
  const Unit* unit = type.find_role(UnitRole::kName);
  return unit == nullptr ? nullptr : item.value_of(unit->id).if_text();
}

std::vector<Bytes> unique_index_keys(const ItemType& type, const Item& item) {
  std::vector<Bytes> keys;
  for (const Unit& unit : type.units) {
    if (unit.role != UnitRole::kKey) continue;
    const Value& value = item.value_of(unit.id);
    if (!can_be_taken(value)) continue;
    Bytes key;
    append_big_endian(key, type.id, sizeof(TypeId));
    append_big_endian(key, unit.id, sizeof(UnitId));
    append_value(key, value);
    keys.push_back(std::move(key));
  }
  return keys;
}

std::vector<ItemId> referenced_items(const ItemType& type, const Item& item) {
  std::vector<ItemId> referenced;
  for (const Unit& unit : type.units) {
    if (unit.role != UnitRole::kReference) continue;
    const Value::Ids* ids = item.value_of(unit.id).if_ids();
    if (ids != nullptr) referenced.insert(referenced.end(), ids->begin(), ids->end());
  }
  sort_unique(referenced);
  return referenced;
}

Bytes name_index_key(const ItemId& parent, const std::string& name) {
  Bytes key = item_index_key(parent);
  append_sized(key, as_bytes(name));
  return key;
}

Bytes item_index_key(const ItemId& item) { return {item.bytes.begin(), item.bytes.end()}; }

Bytes tombstone_index_key(Tick deleted) {
  Bytes key;
  append_big_endian(key, deleted, sizeof(Tick));
  return key;
}

IndexEntry end_entry(const Item& item) {
  if (item.erased()) return {IndexKind::kErased, {}};
  return {IndexKind::kTombstone, tombstone_index_key(item.existence.version.tick)};
}

Tick tombstone_tick(const Bytes& key) {
  if (key.size() != sizeof(Tick)) return 0;
  Tick tick = 0;
  for (const std::uint8_t byte : key) tick = tick << 8 | byte;
  return tick;
}

Bytes child_index_key(const ItemId& parent, const Bytes& position) {
  Bytes key = item_index_key(parent);
  key.insert(key.end(), position.begin(), position.end());
  return key;
}

std::string shown_name(const std::string& name, const ItemId& item, std::uint8_t suffix_digits) {
  if (suffix_digits == 0) return name;
  return name + " (" + item.to_text().substr(0, std::min<std::size_t>(suffix_digits, kIdDigits)) + ")";
}

std::vector<IndexEntry> index_entries(const Schema& schema, const StoredItem& item, WrittenState written) {
  std::vector<IndexEntry> entries;
  entries.reserve(4);
  if (item.shown) entries.push_back({IndexKind::kStoreKey, as_key(item.shown->key)});
  if (written == WrittenState::kUnwritten) entries.push_back({IndexKind::kUnwritten, {}});
  if (!item.item.alive()) entries.push_back(end_entry(item.item));
  if (item.item.alive() && find_type(schema, item.item.type) == nullptr) entries.push_back({IndexKind::kHeld, {}});
  if (!is_living(schema, item.item)) return entries;

  const ItemType& type = *schema.find_type(item.item.type);
  if (type.find_role(UnitRole::kParent) != nullptr) {
    if (item.view.visible) {
      entries.push_back({IndexKind::kChild, child_index_key(item.view.parent, position_of(type, item.item))});
    }
    for (const ItemId& ancestor : watched_ancestors(schema, type, item)) {
      entries.push_back({IndexKind::kSkippedAncestor, item_index_key(ancestor)});
    }
    if (item.view.evicted) entries.push_back({IndexKind::kEvicted, {}});
  }
  if (const std::string* name = plain_name(type, item.item); name != nullptr && item.view.visible) {
    entries.push_back({IndexKind::kName, name_index_key(item.view.parent, *name)});
  }
  for (Bytes& key : unique_index_keys(type, item.item)) entries.push_back({IndexKind::kUniqueKey, std::move(key)});
  for (const ItemId& id : referenced_items(type, item.item)) {
    entries.push_back({IndexKind::kReference, item_index_key(id)});
  }
  return entries;
}

Result<std::optional<ItemId>> item_shown_under(MetadataTransaction& transaction, const StoreKey& key) {
  IndexQuery query;
  query.kind = IndexKind::kStoreKey;
  query.prefix = Bytes(key.begin(), key.end());
  query.count_max = 1;
  // Of all keys that begin so, the key itself stands first.
  HARMONICA_ASSIGN_OR_RETURN(const auto positions, transaction.find_index(query));
  if (positions.empty() || positions.front().key != query.prefix) return std::optional<ItemId>();
  return std::optional(positions.front().item);
}

}  // namespace harmonica::kernel
