#include "pending_items.h"

#include <algorithm>
#include <compare>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "item_encoding.h"
#include "sortable_tick.h"

namespace harmonica::providers {
namespace {

// A few thousand items: beyond that larger ones gain little, and a session has 64 MiB in all.
constexpr std::size_t kPendingBytesMax = std::size_t{4} << 20;
// What a row takes beside its bytes, about.
constexpr std::size_t kRowOverheadBytes = 128;

struct VersionRow {
  NumberedVersion version;
  ItemId item;
  friend auto operator<=>(const VersionRow&, const VersionRow&) = default;
};

struct EntryRow {
  std::uint64_t start;  // the kind and the first bytes of the key: nearly always enough to tell two apart
  EntryView entry;
  ItemId item;

  EntryRow(const EntryView& the_entry, const ItemId& its_item)
      : start(static_cast<std::uint64_t>(the_entry.kind) << 56), entry(the_entry), item(its_item) {
    int shift = 48;
    for (const std::uint8_t byte : entry.key.first(std::min<std::size_t>(entry.key.size(), 7))) {
      start |= static_cast<std::uint64_t>(byte) << shift;
      shift -= 8;
    }
  }

  friend auto operator<=>(const EntryRow&, const EntryRow&) = default;
};

// The rows that an index table loses and gets.
template <typename Row>
struct RowChanges {
  std::vector<Row> deleted;
  std::vector<Row> inserted;

  void sort() {
    std::sort(deleted.begin(), deleted.end());
    std::sort(inserted.begin(), inserted.end());
  }

  // `old` and `now` are sorted.
  template <typename Element>
  void add(const ItemId& item, const std::vector<Element>& old, const std::vector<Element>& now) {
    auto from = old.begin();
    auto to = now.begin();
    while (from != old.end() || to != now.end()) {
      if (to == now.end() || (from != old.end() && *from < *to)) {
        deleted.push_back({*from++, item});
      } else if (from == old.end() || *to < *from) {
        inserted.push_back({*to++, item});
      } else {
        ++from;
        ++to;
      }
    }
  }
};

// Writes items in the order of their ids, then what follows from them.
class TableWriter {
 public:
  TableWriter(Connection& connection, const ItemCounts& counts)
      : connection_(connection),
        counts_(counts),
        first_item_from_(connection, Query::kFirstItemFrom),
        find_held_row_(connection, Query::kFindHeldRow),
        insert_item_(connection, Query::kInsertItem),
        update_item_(connection, Query::kUpdateItem),
        delete_item_(connection, Query::kDeleteItem) {}

  const ItemCounts& counts() const { return counts_; }

  // `row` must outlive this; empty: the item is removed.
  Status write(const ItemId& item, ByteView row) {
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<Held> held, find_held(item));
    const std::optional<ItemIndex> old = held.has_value() ? decode_index(held->row) : ItemIndex();
    if (!old.has_value()) return connection_.corruption("item " + item.to_text() + " is damaged");
    const std::optional<ItemIndex> now = row.empty() ? ItemIndex() : decode_index(row);
    HARMONICA_ASSERT(now.has_value());
    if (held.has_value()) HARMONICA_RETURN_IF_ERROR(count_out(old->head));
    if (!row.empty()) count_in(now->head);
    versions_.add(item, old->head.versions, now->head.versions);
    entries_.add(item, old->entries, now->entries);
    if (row.empty()) return held.has_value() ? delete_item_.bind(held->place).run() : Status();
    if (held.has_value()) return update_item_.bind(held->place).bind(row).run();
    return insert_item_.bind(item.view()).bind(row).run();
  }

  Status finish() {
    versions_.sort();
    HARMONICA_RETURN_IF_ERROR(run_each<VersionRow>(Query::kDeleteVersion, versions_.deleted));
    HARMONICA_RETURN_IF_ERROR(insert<VersionRow>(Query::kInsertVersions, Query::kInsertVersion, versions_.inserted));
    entries_.sort();
    HARMONICA_RETURN_IF_ERROR(run_each<EntryRow>(Query::kDeleteEntry, entries_.deleted));
    return insert<EntryRow>(Query::kInsertEntries, Query::kInsertEntry, entries_.inserted);
  }

 private:
  struct Held {
    std::int64_t place = 0;
    ByteView row;
  };

  // One look tells of all items up to the next one that is held, so that new ones in a row cost no look each; and it is
  // only into the index, so that new ones among old ones touch no rows of those.
  Result<std::optional<Held>> find_held(const ItemId& item) {
    if (looked_ && (!next_held_.has_value() || item < *next_held_)) return std::optional<Held>();
    looked_ = true;
    HARMONICA_ASSIGN_OR_RETURN(const Statement::Step step, first_item_from_.bind(item.view()).step());
    std::optional<Held> held;
    if (step == Statement::Step::kDone) {
      next_held_.reset();
    } else {
      next_held_ = ItemId::from_bytes(first_item_from_.blob(0));
      if (!next_held_.has_value()) return connection_.corruption("the table of items is damaged");
      if (*next_held_ == item) {
        held.emplace();
        held->place = first_item_from_.integer(1);
      }
    }
    first_item_from_.reset();
    if (!held.has_value()) return held;
    HARMONICA_ASSIGN_OR_RETURN(const Statement::Step found, find_held_row_.bind(held->place).step());
    if (found == Statement::Step::kDone) return connection_.corruption("the table of items is damaged");
    const ByteView row = find_held_row_.blob(0);
    held->row = kept_.emplace_back(row.begin(), row.end());
    find_held_row_.reset();
    return held;
  }

  static void bind(Statement& statement, const VersionRow& row) {
    statement.bind(std::int64_t{row.version.replica}).bind(sortable(row.version.tick)).bind(row.item.view());
  }

  static void bind(Statement& statement, const EntryRow& row) {
    statement.bind(static_cast<std::int64_t>(row.entry.kind)).bind(row.entry.key).bind(row.item.view());
  }

  // `many` takes kRowsAtOnce of them.
  template <typename Row>
  Status insert(Query many, Query one, std::span<const Row> rows) {
    {
      Statement statement(connection_, many);
      for (; rows.size() >= kRowsAtOnce; rows = rows.subspan(kRowsAtOnce)) {
        for (const Row& row : rows.first(kRowsAtOnce)) bind(statement, row);
        HARMONICA_RETURN_IF_ERROR(statement.run());
      }
    }
    return run_each(one, rows);
  }

  template <typename Row>
  Status run_each(Query query, std::span<const Row> rows) {
    Statement statement(connection_, query);
    for (const Row& row : rows) {
      bind(statement, row);
      HARMONICA_RETURN_IF_ERROR(statement.run());
    }
    return {};
  }

  Status count_out(const ItemHead& head) {
    std::uint64_t& kind = head.alive ? counts_.alive : counts_.deleted;
    if (kind == 0 || (head.shown && counts_.shown == 0)) return connection_.corruption("its counts are damaged");
    --kind;
    if (head.shown) --counts_.shown;
    return {};
  }

  void count_in(const ItemHead& head) {
    ++(head.alive ? counts_.alive : counts_.deleted);
    if (head.shown) ++counts_.shown;
  }

  Connection& connection_;
  ItemCounts counts_;
  Statement first_item_from_;
  Statement find_held_row_;
  Statement insert_item_;
  Statement update_item_;
  Statement delete_item_;
  bool looked_ = false;
  std::optional<ItemId> next_held_;  // of the last look; nothing: none that follows is held
  std::vector<Bytes> kept_;          // what entries to be deleted are views of
  RowChanges<VersionRow> versions_;
  RowChanges<EntryRow> entries_;
};

}  // namespace

void PendingItems::put(const ItemId& item, Bytes row) {
  bytes_ += row.size();
  const auto [place, added] = rows_.try_emplace(item);
  if (added) {
    bytes_ += kRowOverheadBytes;
  } else {
    bytes_ -= place->second.size();
  }
  place->second = std::move(row);
}

const Bytes* PendingItems::find(const ItemId& item) const {
  const auto place = rows_.find(item);
  return place == rows_.end() ? nullptr : &place->second;
}

bool PendingItems::full() const { return bytes_ >= kPendingBytesMax; }

Result<ItemCounts> PendingItems::write(Connection& connection, const ItemCounts& counts) {
  TableWriter writer(connection, counts);
  for (const auto& [item, row] : rows_) HARMONICA_RETURN_IF_ERROR(writer.write(item, row));
  HARMONICA_RETURN_IF_ERROR(writer.finish());
  rows_.clear();
  bytes_ = 0;
  return writer.counts();
}

}  // namespace harmonica::providers
