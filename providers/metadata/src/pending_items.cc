#include "pending_items.h"

#include <optional>
#include <utility>

#include "item_encoding.h"

namespace harmonica::providers {
namespace {

// Some ten thousand items: the rows of one writing stand in the order of their ids, which is how they are often read.
constexpr std::size_t kPendingBytesMax = std::size_t{4} << 20;
// What a row takes beside its bytes, about.
constexpr std::size_t kRowOverheadBytes = 128;

// Writes items in the order of their ids.
class ItemWriter {
 public:
  ItemWriter(Connection& connection, PendingIndex& index, ContentTable& contents, const ItemCounts& counts)
      : connection_(connection),
        index_(index),
        contents_(contents),
        counts_(counts),
        first_item_from_(connection, Query::kFirstItemFrom),
        find_held_row_(connection, Query::kFindHeldRow),
        insert_item_(connection, Query::kInsertItem),
        update_item_(connection, Query::kUpdateItem),
        delete_item_(connection, Query::kDeleteItem) {}

  const ItemCounts& counts() const { return counts_; }

  // An empty row: the item is removed.
  Status write(const ItemId& item, ByteView row) {
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<Held> held, find_held(item));
    const std::optional<ItemIndex> old = held.has_value() ? decode_index(held->row) : ItemIndex();
    if (!old.has_value()) return connection_.corruption("item " + item.to_text() + " is damaged");
    const std::optional<ItemIndex> now = row.empty() ? ItemIndex() : decode_index(row);
    HARMONICA_ASSERT(now.has_value());
    if (held.has_value()) HARMONICA_RETURN_IF_ERROR(count_out(old->head));
    if (!row.empty()) count_in(now->head);
    index_.change(item, *old, *now);
    HARMONICA_RETURN_IF_ERROR(contents_.count(old->contents, now->contents));
    if (row.empty()) return held.has_value() ? delete_item_.bind(held->place).run() : Status();
    if (held.has_value()) return update_item_.bind(held->place).bind(row).run();
    return insert_item_.bind(item.view()).bind(row).run();
  }

 private:
  struct Held {
    std::int64_t place = 0;
    Bytes row;
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
    held->row.assign(row.begin(), row.end());
    find_held_row_.reset();
    return held;
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
  PendingIndex& index_;
  ContentTable& contents_;
  ItemCounts counts_;
  Statement first_item_from_;
  Statement find_held_row_;
  Statement insert_item_;
  Statement update_item_;
  Statement delete_item_;
  bool looked_ = false;
  std::optional<ItemId> next_held_;  // of the last look; nothing: none that follows is held
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

Result<ItemCounts> PendingItems::write(Connection& connection, PendingIndex& index, ContentTable& contents,
                                       const ItemCounts& counts) {
  ItemWriter writer(connection, index, contents, counts);
  for (const auto& [item, row] : rows_) HARMONICA_RETURN_IF_ERROR(writer.write(item, row));
  rows_.clear();
  bytes_ = 0;
  HARMONICA_RETURN_IF_ERROR(contents.drop_unused());
  return writer.counts();
}

}  // namespace harmonica::providers
