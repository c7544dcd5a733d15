// Brings a store from what was shown to what the views say: which writes, in which order.
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "kernel/id_hash.h"
#include "kernel/replica_context.h"
#include "kernel/views.h"

namespace harmonica::kernel {

// How the item is to stand in the store; nothing if it is not to be shown. Keeps the key it has there; otherwise it gets
// `new_key`.
std::optional<ShownItem> desired_shown(const ReplicaContext& context, const StoredItem& item, const StoreKey& new_key);

// All index entries of an item as it stands. Without a store only deletions are looked up.
std::vector<IndexEntry> entries_of(const ReplicaContext& context, const StoredItem& item, WrittenState written);

// What earlier attempts at the same unit of work found out.
struct HeldBack {
  std::map<ItemId, Status> failed;  // left out: they stay as they stand
  std::set<ItemId> unwritable;      // changed by their view only, and refused by the store
  std::set<ItemId> disturbed;       // parents whose children an attempt has put in order only in part
};

// Collects the items that a transaction changes, records them as shown, and makes the writes that let it be true. The
// context and the transaction must outlive it.
class WritePlan {
 public:
  // Items that are held back are left as they stand, and those that are to stand otherwise are marked as not yet written.
  WritePlan(ReplicaContext& context, MetadataTransaction& transaction, const HeldBack& held_back);

  // Finds keys for those of `items` that are about to be shown for the first time. Usually it is the one that the store
  // gives; but an item of the store that has lost its id to another type keeps that id's key.
  Status choose_keys(std::span<const StoredItem> items);
  // Puts `item` into the transaction, shown as its view says.
  Status put(StoredItem item);

  // All writes, in the order that ItemStore::apply asks for. Call once, when every item was put.
  Result<std::vector<StoreWrite>> writes();
  // The item of each write, and what is about to be shown, in the same order. Once, after `writes`.
  std::vector<PreparedItem> take_prepared() { return std::move(prepared_); }
  // The parents, before and after, of all that is written and has an order. After `writes`.
  const std::set<ItemId>& ordered_parents() const { return ordered_parents_; }
  // What stands in the store, is not held, and can be neither updated nor removed: still ours, and no user's.
  const std::vector<PreparedItem>& left_astray() const { return left_astray_; }

 private:
  struct Change {
    TypeId type = 0;
    std::optional<ShownItem> before;
    std::optional<ShownItem> after;
    std::int64_t changed_ms = 0;
    bool place_anew = false;  // written even if nothing but its place among siblings may be wrong
  };
  using KeysByItem = std::unordered_map<ItemId, StoreKey, IdHash>;
  // Where an item is to stand among its siblings.
  struct Place {
    StoreKey previous;
    bool moves = false;  // past a sibling, or from elsewhere
  };
  using PlacesByItem = std::unordered_map<ItemId, Place, IdHash>;
  struct Sibling {
    Bytes position;
    ItemId item;
  };
  struct Placed {
    ItemId item;
    Change* change = nullptr;
    std::size_t depth = 0;
  };

  Status bring_in_line();
  Status order_disturbed();
  Status leave_astray(const ItemId& item);
  Status load_unwritten();
  Result<std::vector<Sibling>> standing_children(const ItemId& parent);
  Status keep_occupied_parents();
  Status keep_occupied_parent(const ItemId& item);
  Status leave_out_homeless(std::vector<Placed>& puts);
  Result<bool> will_stand(const ItemId& item);
  bool is_ordered(TypeId type) const;
  bool is_unwritable(const ItemId& item) const;
  StoreKey new_key(const ItemId& item) const;
  Result<StoreKey> key_of(const ItemId& item, const KeysByItem& keys_before);
  Result<std::size_t> depth_of(ItemId item);
  std::size_t depth_among_removed(const ItemId& item) const;
  Status place_puts(std::vector<Placed>& puts);
  void note_ordered_parents();
  Result<PlacesByItem> final_places(const std::vector<Placed>& puts);
  Result<StoreItem> store_item(TypeId type, const ShownItem& shown);

  ReplicaContext& context_;
  MetadataTransaction& transaction_;
  const HeldBack& held_back_;
  std::unordered_map<ItemId, Change, IdHash> changes_;
  std::unordered_map<ItemId, StoreKey, IdHash> keys_;
  std::unordered_map<ItemId, StoreKey, IdHash> chosen_keys_;  // other than the store gives
  std::unordered_map<ItemId, std::size_t, IdHash> depths_;
  // What stands otherwise than its view says, once nothing in this plan changes that any more.
  bool unwritten_loaded_ = false;
  std::set<ItemId> unwritten_;
  std::map<ItemId, std::vector<Sibling>> standing_unwritten_;  // those that have an order, by parent
  std::vector<PreparedItem> prepared_;
  std::set<ItemId> ordered_parents_;
  std::vector<PreparedItem> left_astray_;
};

}  // namespace harmonica::kernel
