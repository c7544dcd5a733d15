// Changes to the tables of versions and entries that a write transaction has not yet written: kept back so that each table
// gets them in the order of its keys. In any other order nearly every row would touch a page of its own.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "connection.h"
#include "harmonica/ids.h"
#include "harmonica/status.h"
#include "item_encoding.h"

namespace harmonica::providers {

struct VersionRow {
  NumberedVersion version;
  ItemId item;
  friend auto operator<=>(const VersionRow&, const VersionRow&) = default;
};

struct EntryRow {
  std::uint64_t start;  // the kind and the first bytes of the key: nearly always enough to tell two apart
  EntryView entry;
  ItemId item;

  EntryRow(const EntryView& the_entry, const ItemId& its_item);
  friend auto operator<=>(const EntryRow&, const EntryRow&) = default;
};

// The rows that one table loses and gets. A row may come and go several times; then only what remains of that is written.
template <typename Row>
struct RowChanges {
  std::vector<Row> deleted;
  std::vector<Row> inserted;
};

class PendingIndex {
 public:
  // An item with `old` in these tables gets `now`.
  void change(const ItemId& item, const ItemIndex& old, const ItemIndex& now);

  bool empty() const { return bytes() == 0; }
  // Holds as much as it may.
  bool full() const;

  // Writes all of it in the order of the tables' keys, and holds nothing any more.
  Status write(Connection& connection);

 private:
  std::size_t bytes() const;
  EntryView keep(const EntryView& entry);

  RowChanges<VersionRow> versions_;
  RowChanges<EntryRow> entries_;
  std::pmr::monotonic_buffer_resource keys_;
  std::size_t key_bytes_ = 0;
};

}  // namespace harmonica::providers
