// Brings a store from what was shown to what the views say: which writes, in which order.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "kernel/replica_context.h"

namespace harmonica::kernel {

// How the item is to stand in the store; nothing if it is not to be shown. Keeps the key it has there.
std::optional<ShownItem> desired_shown(const ReplicaContext& context, const StoredItem& item);

// Collects the items that a transaction changes, records them as shown, and makes the writes that let it be true. The
// context and the transaction must outlive it.
class WritePlan {
 public:
  // Items in `unwritable` are left as they are shown, and marked as not yet written.
  WritePlan(ReplicaContext& context, MetadataTransaction& transaction, const std::set<ItemId>& unwritable);

  // Puts `item` into the transaction, shown as its view says.
  Status put(StoredItem item);

  // All writes, in the order that ItemStore::apply asks for. Call once, when every item was put.
  Result<std::vector<StoreWrite>> writes();
  // The item of each write, and what is about to be shown, in the same order.
  const std::vector<PreparedItem>& prepared() const { return prepared_; }

 private:
  struct Change {
    TypeId type = 0;
    std::optional<ShownItem> before;
    std::optional<ShownItem> after;
    std::int64_t changed_ms = 0;
  };
  struct Placed {
    ItemId item;
    std::size_t depth = 0;
  };

  Status bring_in_line();
  Result<StoreKey> key_of(const ItemId& item, const std::map<ItemId, StoreKey>& keys_before);
  Result<std::size_t> depth_of(ItemId item);
  std::size_t depth_among_removed(const ItemId& item) const;
  Status place_puts(std::vector<Placed>& puts);
  Result<std::map<ItemId, StoreKey>> previous_siblings(const std::vector<Placed>& puts);
  Result<StoreItem> store_item(TypeId type, const ShownItem& shown);

  ReplicaContext& context_;
  MetadataTransaction& transaction_;
  const std::set<ItemId>& unwritable_;
  std::map<ItemId, Change> changes_;
  std::map<ItemId, StoreKey> keys_;
  std::map<ItemId, std::size_t> depths_;
  std::vector<PreparedItem> prepared_;
};

}  // namespace harmonica::kernel
