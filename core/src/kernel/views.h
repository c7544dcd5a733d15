// From registers to what is shown (rules R40 to R44), incrementally.
#pragma once

#include <optional>
#include <vector>

#include "harmonica/extension/metadata_store.h"
#include "harmonica/schema.h"
#include "harmonica/status.h"

namespace harmonica::kernel {

// An item whose registers changed. `after.view` is still that of `before`, or the default one of a new item.
struct ViewInput {
  std::optional<StoredItem> before;
  StoredItem after;
};

// Recomputes the views of the items in `inputs`, which are not yet put into `transaction` (it still holds `before`), and of
// all other items whose views depend on them. Returns every input, in its order, then every other item whose view changed,
// in id order; the caller puts them all. Views are a pure function of the registers of living items: the order of updates
// leaves no trace. Time and memory are in proportion to the items affected and their depth. No item twice in `inputs`.
//
// What the rules leave open: an item of a type that the schema does not know is as dead. A parked item counts as living: it
// can be a shown parent, and its children stay visible. Of a list of ancestors the first limits::kAncestorsMax count. Of
// equal versions in a cycle the one of the greater id moves on. A group of fields with a null in it is never taken. Names
// are compared byte by byte, among visible items only.
Result<std::vector<StoredItem>> update_views(const Schema& schema, MetadataTransaction& transaction,
                                             std::vector<ViewInput> inputs);

enum class WrittenState : std::uint8_t { kWritten, kUnwritten };

// All index entries of an item as it stands: its store key if shown, and what update_views looks items up by.
std::vector<IndexEntry> index_entries(const Schema& schema, const StoredItem& item, WrittenState written);

// The key under which the children shown below `parent` stand in the index kChild: the parent's 16 bytes, then the
// position.
Bytes child_index_key(const ItemId& parent, const Bytes& position);

// The position in the item's registers; empty if it has none.
const Bytes& position_of(const ItemType& type, const Item& item);

// The name that is shown: the register's, with the suffix of the view behind it (rule R43).
std::string shown_name(const std::string& name, const ItemId& item, std::uint8_t suffix_digits);

// The listed ancestors of an item, nearest first; empty for types without a parent role.
const std::vector<ItemId>& listed_ancestors(const ItemType& type, const Item& item);

}  // namespace harmonica::kernel
