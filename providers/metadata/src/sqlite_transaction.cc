#include <algorithm>
#include <utility>

#include "lacking_search.h"
#include "sortable_tick.h"
#include "sqlite_metadata_store.h"

namespace harmonica::providers {
namespace {

constexpr std::string_view kStateFact = "state";
constexpr std::string_view kKnowledgeFact = "knowledge";
constexpr std::string_view kForgottenFact = "forgotten";
constexpr std::string_view kCountsFact = "counts";

bool holds_nested_list(const Value& value) {
  const Value::List* list = value.if_list();
  return list != nullptr &&
         std::any_of(list->begin(), list->end(), [](const Value& member) { return member.kind() == ValueKind::kList; });
}

bool entry_less(const IndexEntry& a, const IndexEntry& b) { return a.kind != b.kind ? a.kind < b.kind : a.key < b.key; }

// Calls `visit` for every element of `from` that is not in `without`; both sorted.
template <typename T, typename Less, typename Visitor>
Status for_each_difference(std::span<const T> from, std::span<const T> without, const Less& less, const Visitor& visit) {
  auto other = without.begin();
  for (const T& element : from) {
    while (other != without.end() && less(*other, element)) ++other;
    const bool in_both = other != without.end() && !less(element, *other);
    if (!in_both) HARMONICA_RETURN_IF_ERROR(visit(element));
  }
  return {};
}

struct IndexBound {
  std::int64_t kind = 0;
  Bytes key;
  Bytes item;  // empty: before every item

  static IndexBound at(IndexKind kind, const IndexPosition& position) {
    const ByteView item = position.item.view();
    return {static_cast<std::int64_t>(kind), position.key, Bytes(item.begin(), item.end())};
  }

  // Before everything that follows the keys with this prefix.
  static IndexBound past(IndexKind kind, Bytes prefix) {
    while (!prefix.empty() && prefix.back() == 0xff) prefix.pop_back();
    if (prefix.empty()) return {static_cast<std::int64_t>(kind) + 1, {}, {}};
    ++prefix.back();
    return {static_cast<std::int64_t>(kind), std::move(prefix), {}};
  }

  friend auto operator<=>(const IndexBound&, const IndexBound&) = default;
};

}  // namespace

Result<std::unique_ptr<MetadataTransaction>> SqliteTransaction::begin(SqliteMetadataStore& store,
                                                                      std::unique_ptr<Connection> connection,
                                                                      TransactionMode mode) {
  const bool write = mode == TransactionMode::kWrite;
  if (Status status = connection->run(write ? Query::kBeginWrite : Query::kBeginRead); !status.ok()) {
    store.idle_.push_back(std::move(connection));
    return status;
  }
  if (write) store.writing_ = true;
  ++store.open_transactions_;
  std::unique_ptr<SqliteTransaction> transaction(new SqliteTransaction(store, std::move(connection), mode));
  // The first look is what makes the snapshot.
  HARMONICA_RETURN_IF_ERROR(transaction->connection_->check_format());
  HARMONICA_RETURN_IF_ERROR(transaction->connection_->read_new_replicas());
  transaction->replicas_before_ = transaction->connection_->replicas().size();
  return std::unique_ptr<MetadataTransaction>(std::move(transaction));
}

SqliteTransaction::~SqliteTransaction() {
  if (mode_ == TransactionMode::kWrite) store_.writing_ = false;
  --store_.open_transactions_;
  if (!committed_) connection_->forget_replicas_from(replicas_before_);
  // One that cannot be brought back to rest is closed.
  if (connection_->in_transaction() && !connection_->run(Query::kRollback).ok()) return;
  store_.idle_.push_back(std::move(connection_));
}

// An error may have made SQLite roll back by itself; nothing may be written outside of a transaction then.
Status SqliteTransaction::check_writable() const {
  HARMONICA_ASSERT(mode_ == TransactionMode::kWrite && !committed_);
  if (connection_->in_transaction()) return {};
  return connection_->failure(StatusCode::kInternal, "the transaction was ended by an earlier error");
}

Result<Bytes> SqliteTransaction::fact(std::string_view name) {
  HARMONICA_ASSIGN_OR_RETURN(const std::unique_ptr<Statement> query, connection_->use(Query::kGetFact));
  query->bind(as_bytes(name));
  HARMONICA_ASSIGN_OR_RETURN(const Statement::Step step, query->step());
  if (step == Statement::Step::kDone) return Bytes();
  const ByteView body = query->blob(0);
  return Bytes(body.begin(), body.end());
}

Status SqliteTransaction::set_fact(std::string_view name, const Bytes& body) {
  HARMONICA_RETURN_IF_ERROR(check_writable());
  HARMONICA_ASSIGN_OR_RETURN(const std::unique_ptr<Statement> query, connection_->use(Query::kSetFact));
  return query->bind(as_bytes(name)).bind(body).run();
}

template <typename T>
Result<T> SqliteTransaction::decoded_fact(std::string_view name, std::optional<T> (*decode)(ByteView)) {
  HARMONICA_ASSIGN_OR_RETURN(const Bytes body, fact(name));
  if (body.empty()) return T();
  std::optional<T> decoded = decode(body);
  if (!decoded.has_value()) return connection_->corruption("its " + std::string(name) + " is damaged");
  return *std::move(decoded);
}

Result<ReplicaState> SqliteTransaction::state() { return decoded_fact(kStateFact, decode_state); }
Status SqliteTransaction::set_state(const ReplicaState& state) { return set_fact(kStateFact, encode_state(state)); }
Result<Knowledge> SqliteTransaction::knowledge() { return decoded_fact(kKnowledgeFact, decode_knowledge); }
Status SqliteTransaction::set_knowledge(const Knowledge& knowledge) {
  return set_fact(kKnowledgeFact, encode_knowledge(knowledge));
}
Result<Knowledge> SqliteTransaction::forgotten() { return decoded_fact(kForgottenFact, decode_knowledge); }
Status SqliteTransaction::set_forgotten(const Knowledge& forgotten) {
  return set_fact(kForgottenFact, encode_knowledge(forgotten));
}

Result<StoredItem> SqliteTransaction::decode_item(const ItemId& id, ByteView head_bytes, ByteView body) const {
  const std::optional<ItemHead> head = decode_head(head_bytes);
  std::optional<StoredItem> item;
  if (head.has_value()) item = decode_body(id, *head, connection_->replicas(), body);
  if (!item.has_value()) return connection_->corruption("item " + id.to_text() + " is damaged");
  return *std::move(item);
}

Result<std::optional<StoredItem>> SqliteTransaction::find(const ItemId& item) {
  HARMONICA_ASSIGN_OR_RETURN(const std::unique_ptr<Statement> query, connection_->use(Query::kFindItem));
  query->bind(item.view());
  HARMONICA_ASSIGN_OR_RETURN(const Statement::Step step, query->step());
  if (step == Statement::Step::kDone) return std::optional<StoredItem>();
  HARMONICA_ASSIGN_OR_RETURN(StoredItem stored, decode_item(item, query->blob(0), query->blob(1)));
  return std::optional<StoredItem>(std::move(stored));
}

Result<std::optional<SqliteTransaction::HeldRows>> SqliteTransaction::find_rows(const ItemId& item) {
  HARMONICA_ASSIGN_OR_RETURN(const std::unique_ptr<Statement> query, connection_->use(Query::kFindItemForPut));
  query->bind(item.view());
  HARMONICA_ASSIGN_OR_RETURN(const Statement::Step step, query->step());
  if (step == Statement::Step::kDone) return std::optional<HeldRows>();
  std::optional<ItemHead> head = decode_head(query->blob(0));
  std::optional<std::vector<IndexEntry>> entries = decode_entries(query->blob(1));
  if (!head.has_value() || !entries.has_value()) {
    return connection_->corruption("item " + item.to_text() + " is damaged");
  }
  return std::optional<HeldRows>(HeldRows{*std::move(head), *std::move(entries)});
}

Status SqliteTransaction::write_versions(const ItemId& item, std::span<const NumberedVersion> old,
                                         std::span<const NumberedVersion> now) {
  const auto change = [&](Query query) {
    return [this, &item, query](const NumberedVersion& version) -> Status {
      HARMONICA_ASSIGN_OR_RETURN(const std::unique_ptr<Statement> statement, connection_->use(query));
      return statement->bind(std::int64_t{version.replica}).bind(sortable(version.tick)).bind(item.view()).run();
    };
  };
  HARMONICA_RETURN_IF_ERROR(for_each_difference(old, now, std::less<>(), change(Query::kDeleteVersion)));
  return for_each_difference(now, old, std::less<>(), change(Query::kInsertVersion));
}

Status SqliteTransaction::write_entries(const ItemId& item, std::span<const IndexEntry> old,
                                        std::span<const IndexEntry> now) {
  const auto change = [&](Query query) {
    return [this, &item, query](const IndexEntry& entry) -> Status {
      HARMONICA_ASSIGN_OR_RETURN(const std::unique_ptr<Statement> statement, connection_->use(query));
      return statement->bind(static_cast<std::int64_t>(entry.kind)).bind(entry.key).bind(item.view()).run();
    };
  };
  HARMONICA_RETURN_IF_ERROR(for_each_difference(old, now, entry_less, change(Query::kDeleteEntry)));
  return for_each_difference(now, old, entry_less, change(Query::kInsertEntry));
}

Status SqliteTransaction::load_counts() {
  if (counts_.has_value()) return {};
  HARMONICA_ASSIGN_OR_RETURN(counts_, decoded_fact(kCountsFact, decode_counts));
  return {};
}

Status SqliteTransaction::count_out(const ItemHead& head) {
  std::uint64_t& kind = head.alive ? counts_->alive : counts_->deleted;
  if (kind == 0 || (head.shown && counts_->shown == 0)) return connection_->corruption("its counts are damaged");
  --kind;
  if (head.shown) --counts_->shown;
  return {};
}

void SqliteTransaction::count_in(const ItemHead& head) {
  ++(head.alive ? counts_->alive : counts_->deleted);
  if (head.shown) ++counts_->shown;
}

Status SqliteTransaction::put(const StoredItem& stored, std::span<const IndexEntry> entries) {
  HARMONICA_RETURN_IF_ERROR(check_writable());
  const Item& item = stored.item;
  for (const UnitRegister& unit : item.units) {
    if (!holds_nested_list(unit.content.value)) continue;
    return connection_->failure(StatusCode::kInvalidArgument,
                                "item " + item.id.to_text() + " has a list in a list in unit " + std::to_string(unit.unit));
  }

  ItemHead head{item.alive(), stored.shown.has_value(), {}};
  std::vector<NumberedVersion> of_registers;
  of_registers.reserve(item.units.size() + 1);
  const auto add = [&](const Version& version) -> Status {
    HARMONICA_ASSIGN_OR_RETURN(const ReplicaNumber number, connection_->number_of(version.replica));
    of_registers.push_back({number, version.tick});
    return {};
  };
  HARMONICA_RETURN_IF_ERROR(add(item.existence.version));
  for (const UnitRegister& unit : item.units) HARMONICA_RETURN_IF_ERROR(add(unit.content.version));
  head.versions = of_registers;
  std::sort(head.versions.begin(), head.versions.end());
  head.versions.erase(std::unique(head.versions.begin(), head.versions.end()), head.versions.end());
  std::vector<std::size_t> places;
  places.reserve(of_registers.size());
  for (const NumberedVersion& version : of_registers) {
    const auto place = std::lower_bound(head.versions.begin(), head.versions.end(), version);
    places.push_back(static_cast<std::size_t>(place - head.versions.begin()));
  }

  std::vector<IndexEntry> sorted_entries(entries.begin(), entries.end());
  std::sort(sorted_entries.begin(), sorted_entries.end(), entry_less);
  sorted_entries.erase(std::unique(sorted_entries.begin(), sorted_entries.end()), sorted_entries.end());

  HARMONICA_RETURN_IF_ERROR(load_counts());
  HARMONICA_ASSIGN_OR_RETURN(const std::optional<HeldRows> found, find_rows(item.id));
  const HeldRows nothing_held;
  const HeldRows& held = found.has_value() ? *found : nothing_held;
  if (found.has_value()) HARMONICA_RETURN_IF_ERROR(count_out(held.head));
  count_in(head);
  counts_changed_ = true;

  const Bytes head_bytes = encode_head(head);
  const Bytes entry_bytes = encode_entries(sorted_entries);
  const Bytes body = encode_body(stored, places);
  HARMONICA_ASSIGN_OR_RETURN(const std::unique_ptr<Statement> write,
                             connection_->use(found.has_value() ? Query::kUpdateItem : Query::kInsertItem));
  HARMONICA_RETURN_IF_ERROR(write->bind(item.id.view()).bind(head_bytes).bind(entry_bytes).bind(body).run());
  HARMONICA_RETURN_IF_ERROR(write_versions(item.id, held.head.versions, head.versions));
  return write_entries(item.id, held.entries, sorted_entries);
}

Status SqliteTransaction::remove(const ItemId& item) {
  HARMONICA_RETURN_IF_ERROR(check_writable());
  HARMONICA_RETURN_IF_ERROR(load_counts());
  HARMONICA_ASSIGN_OR_RETURN(const std::optional<HeldRows> held, find_rows(item));
  if (!held.has_value()) return {};
  HARMONICA_RETURN_IF_ERROR(count_out(held->head));
  counts_changed_ = true;
  HARMONICA_RETURN_IF_ERROR(write_versions(item, held->head.versions, {}));
  HARMONICA_RETURN_IF_ERROR(write_entries(item, held->entries, {}));
  HARMONICA_ASSIGN_OR_RETURN(const std::unique_ptr<Statement> query, connection_->use(Query::kDeleteItem));
  return query->bind(item.view()).run();
}

Status SqliteTransaction::scan(const ItemIdRange& range, const std::function<Result<Visit>(const StoredItem&)>& visit) {
  HARMONICA_ASSIGN_OR_RETURN(const std::unique_ptr<Statement> query, connection_->use(Query::kScanItems));
  query->bind(range.first.view()).bind(range.last.view());
  while (true) {
    HARMONICA_ASSIGN_OR_RETURN(const Statement::Step step, query->step());
    if (step == Statement::Step::kDone) return {};
    const std::optional<ItemId> id = ItemId::from_bytes(query->blob(0));
    if (!id.has_value()) return connection_->corruption("the table of items is damaged");
    HARMONICA_ASSIGN_OR_RETURN(const StoredItem item, decode_item(*id, query->blob(1), query->blob(2)));
    HARMONICA_ASSIGN_OR_RETURN(const Visit next, visit(item));
    if (next == Visit::kStop) return {};
  }
}

Result<std::vector<IndexPosition>> SqliteTransaction::find_index(const IndexQuery& query) {
  const bool ascending = query.order == IndexOrder::kAscending;
  IndexBound lower{static_cast<std::int64_t>(query.kind), query.prefix, {}};
  IndexBound upper = IndexBound::past(query.kind, query.prefix);
  if (query.after.has_value()) {
    IndexBound after = IndexBound::at(query.kind, *query.after);
    if (ascending) {
      lower = std::max(lower, std::move(after));
    } else {
      upper = std::min(upper, std::move(after));
    }
  }
  HARMONICA_ASSIGN_OR_RETURN(const std::unique_ptr<Statement> statement,
                             connection_->use(ascending ? Query::kEntriesAscending : Query::kEntriesDescending));
  statement->bind(lower.kind).bind(lower.key).bind(lower.item).bind(upper.kind).bind(upper.key).bind(upper.item);
  statement->bind(query.count_max == 0 ? std::int64_t{-1} : static_cast<std::int64_t>(query.count_max));
  std::vector<IndexPosition> found;
  while (true) {
    HARMONICA_ASSIGN_OR_RETURN(const Statement::Step step, statement->step());
    if (step == Statement::Step::kDone) return found;
    const std::optional<ItemId> item = ItemId::from_bytes(statement->blob(1));
    if (!item.has_value()) return connection_->corruption("the table of entries is damaged");
    const ByteView key = statement->blob(0);
    found.push_back({Bytes(key.begin(), key.end()), *item});
  }
}

Result<ItemCounts> SqliteTransaction::counts() {
  HARMONICA_RETURN_IF_ERROR(load_counts());
  return *counts_;
}

Result<std::vector<ItemId>> SqliteTransaction::find_lacking(const Knowledge& knowledge, const ItemIdRange& range,
                                                            std::size_t count_max) {
  return search_lacking(*connection_, knowledge, range, count_max);
}

Status SqliteTransaction::put_conflict(const ConflictRecord& record) {
  HARMONICA_RETURN_IF_ERROR(check_writable());
  HARMONICA_ASSIGN_OR_RETURN(const std::unique_ptr<Statement> query, connection_->use(Query::kPutConflict));
  const Bytes body = encode_conflict(record);
  return query->bind(record.id.view()).bind(record.when_ms).bind(body).run();
}

Result<std::optional<ConflictRecord>> SqliteTransaction::find_conflict(const ConflictId& id) {
  HARMONICA_ASSIGN_OR_RETURN(const std::unique_ptr<Statement> query, connection_->use(Query::kFindConflict));
  query->bind(id.view());
  HARMONICA_ASSIGN_OR_RETURN(const Statement::Step step, query->step());
  if (step == Statement::Step::kDone) return std::optional<ConflictRecord>();
  std::optional<ConflictRecord> record = decode_conflict(query->blob(0));
  if (!record.has_value()) return connection_->corruption("conflict " + id.to_text() + " is damaged");
  return record;
}

Status SqliteTransaction::remove_conflict(const ConflictId& id) {
  HARMONICA_RETURN_IF_ERROR(check_writable());
  HARMONICA_ASSIGN_OR_RETURN(const std::unique_ptr<Statement> query, connection_->use(Query::kDeleteConflict));
  return query->bind(id.view()).run();
}

Status SqliteTransaction::scan_conflicts(const std::function<Result<Visit>(const ConflictRecord&)>& visit) {
  HARMONICA_ASSIGN_OR_RETURN(const std::unique_ptr<Statement> query, connection_->use(Query::kScanConflicts));
  while (true) {
    HARMONICA_ASSIGN_OR_RETURN(const Statement::Step step, query->step());
    if (step == Statement::Step::kDone) return {};
    const std::optional<ConflictRecord> record = decode_conflict(query->blob(0));
    if (!record.has_value()) return connection_->corruption("a conflict record is damaged");
    HARMONICA_ASSIGN_OR_RETURN(const Visit next, visit(*record));
    if (next == Visit::kStop) return {};
  }
}

Status SqliteTransaction::commit() {
  HARMONICA_RETURN_IF_ERROR(check_writable());
  if (counts_changed_) HARMONICA_RETURN_IF_ERROR(set_fact(kCountsFact, encode_counts(*counts_)));
  HARMONICA_RETURN_IF_ERROR(connection_->run(Query::kCommit));
  committed_ = true;
  return {};
}

}  // namespace harmonica::providers
