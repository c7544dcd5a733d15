// What the view functions read from an item's registers, and the index keys under which it is found again.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harmonica/extension/metadata_store.h"
#include "harmonica/schema.h"

namespace harmonica::kernel {

// Whether the views know of the item (rule R40): alive, of a type in the schema, and not in the place of a root.
bool is_living(const Schema& schema, const Item& item);

// Whether a unit of any type has the role.
bool any_unit_has(const Schema& schema, UnitRole role);

// A place that is always there: a root of the schema, or the one above all items if it has none.
bool is_root_place(const Schema& schema, const ItemId& id);

// The listed ancestors that count: the first limits::kAncestorsMax.
std::span<const ItemId> counted_ancestors(const ItemType& type, const Item& item);

// The name as its register has it; null for items without one.
const std::string* plain_name(const ItemType& type, const Item& item);

// The keys in kUniqueKey, one for each unit with a value. A group of fields with a null among them is not taken, as in SQL.
std::vector<Bytes> unique_index_keys(const ItemType& type, const Item& item);

// The items that must be shown for this one to be shown; sorted, none twice.
std::vector<ItemId> referenced_items(const ItemType& type, const Item& item);

// The key in kName. No such key is the beginning of another.
Bytes name_index_key(const ItemId& parent, const std::string& name);

// The key in kSkippedAncestor and kReference.
Bytes item_index_key(const ItemId& item);

// The key in kTombstone, which orders deletions by their age; and back. 0 for bytes that are no such key.
Bytes tombstone_index_key(Tick deleted);
// The entry of an item that does not live.
IndexEntry end_entry(const Item& item);
Tick tombstone_tick(const Bytes& key);

// The key in kNewlyKnown of an item whose whole type the schema did not have.
inline Bytes newly_known_type_key() { return {1}; }

// The item that is shown under exactly this key of the store.
Result<std::optional<ItemId>> item_shown_under(MetadataTransaction& transaction, const StoreKey& key);

}  // namespace harmonica::kernel
