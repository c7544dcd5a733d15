// What a write transaction has put or removed and not yet written into the tables.
#pragma once

#include <cstddef>
#include <map>

#include "connection.h"
#include "harmonica/bytes.h"
#include "harmonica/extension/metadata_store.h"
#include "harmonica/status.h"

namespace harmonica::providers {

// Keeps rows back, so that each table gets them in the order of its keys: in any other order nearly every row would touch a
// page of its own, as item ids and keys of indexes come in no order.
class PendingItems {
 public:
  // Each in place of what was pending of that item.
  void put(const ItemId& item, Bytes row);
  void remove(const ItemId& item) { put(item, Bytes()); }
  // Null: nothing pending of that item. Empty: it is removed.
  const Bytes* find(const ItemId& item) const;

  bool empty() const { return rows_.empty(); }
  // Holds as much as it may.
  bool full() const;

  // Writes all rows, with their versions and entries, and holds none any more. Returns the counts that follow from those
  // before.
  Result<ItemCounts> write(Connection& connection, const ItemCounts& counts);

 private:
  std::map<ItemId, Bytes> rows_;  // no row is empty but that of an item removed
  std::size_t bytes_ = 0;
};

}  // namespace harmonica::providers
