#include "kernel/known_items.h"

#include <algorithm>
#include <utility>

#include "kernel/view_index.h"

namespace harmonica::kernel {

Status KnownItems::load() const {
  if (loaded_) return {};
  HARMONICA_ASSERT(items_.empty());
  HARMONICA_ASSIGN_OR_RETURN(const ItemCounts counts, transaction_.counts());
  by_key_.reserve(counts.shown);
  HARMONICA_RETURN_IF_ERROR(transaction_.scan(ItemIdRange::all(), [&](const StoredItem& stored) -> Result<Visit> {
    if (stored.shown && schema_.find_type(stored.item.type) != nullptr) add(stored, false);
    return Visit::kContinue;
  }));
  loaded_ = true;
  return {};
}

Status KnownItems::for_each(const std::function<void(const StoreItem&)>& visit) const {
  HARMONICA_RETURN_IF_ERROR(load());
  for (const KnownItem& known : items_) {
    StoreItem item;
    item.key = known.shown.key;
    item.type = known.type;
    item.parent = key_of(known.shown.parent);
    item.values = known.shown.values;
    visit(item);
  }
  return {};
}

Result<KnownItem*> KnownItems::find(const StoreKey& key) {
  if (const auto found = by_key_.find(key); found != by_key_.end()) return found->second;
  if (loaded_) return nullptr;
  HARMONICA_ASSIGN_OR_RETURN(const std::optional<ItemId> item, item_shown_under(transaction_, key));
  if (!item) return nullptr;
  return look_up(*item);
}

Result<KnownItem*> KnownItems::find(const ItemId& item) {
  if (loaded_) return find_loaded(item);
  if (const auto found = by_item_.find(item); found != by_item_.end()) return found->second;
  return look_up(item);
}

KnownItem* KnownItems::find_loaded(const ItemId& item) const {
  const auto found = std::lower_bound(items_.begin(), items_.end(), item,
                                      [](const KnownItem& known, const ItemId& id) { return known.item < id; });
  return found == items_.end() || found->item != item ? nullptr : &*found;
}

Result<KnownItem*> KnownItems::look_up(const ItemId& item) {
  HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction_.find(item));
  if (!stored || !stored->shown || schema_.find_type(stored->item.type) == nullptr) return nullptr;
  KnownItem* known = add(*stored, true);
  by_item_.emplace(item, known);
  return known;
}

KnownItem* KnownItems::add(const StoredItem& stored, bool seen) const {
  KnownItem& known = items_.emplace_back(KnownItem{stored.item.id, stored.item.type, *stored.shown, seen, std::nullopt});
  by_key_.emplace(known.shown.key, &known);
  return &known;
}

StoreKey KnownItems::key_of(const ItemId& item) const {
  for (const Root& root : schema_.roots) {
    if (root.id == item) return root.name;
  }
  const KnownItem* known = find_loaded(item);
  return known == nullptr ? StoreKey() : known->shown.key;
}

}  // namespace harmonica::kernel
