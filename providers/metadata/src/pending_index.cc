#include "pending_index.h"

#include <cstring>

#include "sortable_tick.h"

namespace harmonica::providers {
namespace {

// Some ten thousand items. The larger the tables are, the more of their pages one writing touches, however much is written.
constexpr std::size_t kIndexBytesMax = std::size_t{6} << 20;

// Calls `visit` for what the first has and the second has not; both sorted, none twice.
template <typename Element, typename Visitor>
void for_each_difference(const std::vector<Element>& from, const std::vector<Element>& without, const Visitor& visit) {
  auto other = without.begin();
  for (const Element& element : from) {
    while (other != without.end() && *other < element) ++other;
    if (other == without.end() || element < *other) visit(element);
  }
}

// Sorts both, and takes from each what the other has as well.
template <typename Row>
void settle(RowChanges<Row>& changes) {
  std::sort(changes.deleted.begin(), changes.deleted.end());
  std::sort(changes.inserted.begin(), changes.inserted.end());
  auto deleted = changes.deleted.begin();
  auto inserted = changes.inserted.begin();
  auto deleted_kept = deleted;
  auto inserted_kept = inserted;
  while (deleted != changes.deleted.end() && inserted != changes.inserted.end()) {
    if (*deleted < *inserted) {
      *deleted_kept++ = *deleted++;
    } else if (*inserted < *deleted) {
      *inserted_kept++ = *inserted++;
    } else {
      ++deleted;
      ++inserted;
    }
  }
  deleted_kept = std::copy(deleted, changes.deleted.end(), deleted_kept);
  inserted_kept = std::copy(inserted, changes.inserted.end(), inserted_kept);
  changes.deleted.erase(deleted_kept, changes.deleted.end());
  changes.inserted.erase(inserted_kept, changes.inserted.end());
}

void bind(Statement& statement, const VersionRow& row) {
  statement.bind(std::int64_t{row.version.replica}).bind(sortable(row.version.tick)).bind(row.item.view());
}

void bind(Statement& statement, const EntryRow& row) {
  statement.bind(static_cast<std::int64_t>(row.entry.kind)).bind(row.entry.key).bind(row.item.view());
}

template <typename Row>
Status run_each(Connection& connection, Query query, std::span<const Row> rows) {
  Statement statement(connection, query);
  for (const Row& row : rows) {
    bind(statement, row);
    HARMONICA_RETURN_IF_ERROR(statement.run());
  }
  return {};
}

struct TableQueries {
  Query delete_one;
  Query insert_one;
  Query insert_many;  // kRowsAtOnce of them
};

template <typename Row>
Status write_rows(Connection& connection, RowChanges<Row>& changes, const TableQueries& queries) {
  settle(changes);
  HARMONICA_RETURN_IF_ERROR(run_each<Row>(connection, queries.delete_one, changes.deleted));
  std::span<const Row> rows = changes.inserted;
  {
    Statement statement(connection, queries.insert_many);
    for (; rows.size() >= kRowsAtOnce; rows = rows.subspan(kRowsAtOnce)) {
      for (const Row& row : rows.first(kRowsAtOnce)) bind(statement, row);
      HARMONICA_RETURN_IF_ERROR(statement.run());
    }
  }
  HARMONICA_RETURN_IF_ERROR(run_each<Row>(connection, queries.insert_one, rows));
  changes.deleted.clear();
  changes.inserted.clear();
  return {};
}

}  // namespace

EntryRow::EntryRow(const EntryView& the_entry, const ItemId& its_item)
    : start(static_cast<std::uint64_t>(the_entry.kind) << 56), entry(the_entry), item(its_item) {
  int shift = 48;
  for (const std::uint8_t byte : entry.key.first(std::min<std::size_t>(entry.key.size(), 7))) {
    start |= static_cast<std::uint64_t>(byte) << shift;
    shift -= 8;
  }
}

void PendingIndex::change(const ItemId& item, const ItemIndex& old, const ItemIndex& now) {
  const auto& old_versions = old.head.versions;
  const auto& versions = now.head.versions;
  for_each_difference(old_versions, versions, [&](const auto& version) { versions_.deleted.push_back({version, item}); });
  for_each_difference(versions, old_versions, [&](const auto& version) { versions_.inserted.push_back({version, item}); });
  for_each_difference(old.entries, now.entries,
                      [&](const EntryView& entry) { entries_.deleted.emplace_back(keep(entry), item); });
  for_each_difference(now.entries, old.entries,
                      [&](const EntryView& entry) { entries_.inserted.emplace_back(keep(entry), item); });
}

EntryView PendingIndex::keep(const EntryView& entry) {
  if (entry.key.empty()) return {entry.kind, {}};
  auto* kept = static_cast<std::uint8_t*>(keys_.allocate(entry.key.size(), 1));
  std::memcpy(kept, entry.key.data(), entry.key.size());
  key_bytes_ += entry.key.size();
  return {entry.kind, {kept, entry.key.size()}};
}

std::size_t PendingIndex::bytes() const {
  return (versions_.deleted.size() + versions_.inserted.size()) * sizeof(VersionRow) +
         (entries_.deleted.size() + entries_.inserted.size()) * sizeof(EntryRow) + key_bytes_;
}

bool PendingIndex::full() const { return bytes() >= kIndexBytesMax; }

Status PendingIndex::write(Connection& connection) {
  HARMONICA_RETURN_IF_ERROR(
      write_rows(connection, versions_, {Query::kDeleteVersion, Query::kInsertVersion, Query::kInsertVersions}));
  HARMONICA_RETURN_IF_ERROR(
      write_rows(connection, entries_, {Query::kDeleteEntry, Query::kInsertEntry, Query::kInsertEntries}));
  keys_.release();
  key_bytes_ = 0;
  return {};
}

}  // namespace harmonica::providers
