// What was shown in the store when it was last looked at, by store key and by item.
#pragma once

#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "harmonica/extension/item_store.h"
#include "harmonica/extension/metadata_store.h"
#include "kernel/id_hash.h"

namespace harmonica::kernel {

struct KnownItem {
  ItemId item;
  TypeId type = 0;
  ShownItem shown;
  bool seen = false;                 // still in the store
  std::optional<std::size_t> place;  // among what the store has now, where the detection keeps it
};

// Looks items up one by one, as a store that tells its changes needs only a few of them, until `load` has read them all.
// Those that `load` read are not seen yet; one that is looked up is taken for seen. What `find` returns stays where it is.
// What is of a type that the schema does not have counts as not shown: the store does not tell of it, whatever stands in
// it. The schema and the transaction must outlive it.
class KnownItems : public ShownItems {
 public:
  KnownItems(const Schema& schema, MetadataTransaction& transaction) : schema_(schema), transaction_(transaction) {}

  // Everything that is shown. Only before anything was looked up.
  Status load() const;
  Status for_each(const std::function<void(const StoreItem&)>& visit) const override;

  // Null: not shown.
  Result<KnownItem*> find(const StoreKey& key);
  Result<KnownItem*> find(const ItemId& item);

  // Those that were loaded or found.
  std::deque<KnownItem>& items() { return items_; }
  const std::deque<KnownItem>& items() const { return items_; }

 private:
  KnownItem* add(const StoredItem& stored, bool seen) const;
  Result<KnownItem*> look_up(const ItemId& item);
  KnownItem* find_loaded(const ItemId& item) const;
  StoreKey key_of(const ItemId& item) const;

  const Schema& schema_;
  MetadataTransaction& transaction_;
  // Filled by reading too.
  mutable bool loaded_ = false;
  mutable std::deque<KnownItem> items_;  // once loaded, in id order
  mutable std::unordered_map<std::string_view, KnownItem*> by_key_;
  std::unordered_map<ItemId, KnownItem*, IdHash> by_item_;  // of those looked up
};

}  // namespace harmonica::kernel
