// Items that a write transaction has put or removed and not yet written into their table.
#pragma once

#include <cstddef>
#include <map>

#include "connection.h"
#include "content_table.h"
#include "harmonica/bytes.h"
#include "harmonica/extension/metadata_store.h"
#include "harmonica/status.h"
#include "pending_index.h"

namespace harmonica::providers {

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

  // Writes all rows in the order of their ids, and holds none any more; what follows from them for the other tables goes to
  // `index`. Returns the counts that follow from those before.
  Result<ItemCounts> write(Connection& connection, PendingIndex& index, ContentTable& contents, const ItemCounts& counts);

 private:
  std::map<ItemId, Bytes> rows_;  // no row is empty but that of an item removed
  std::size_t bytes_ = 0;
};

}  // namespace harmonica::providers
