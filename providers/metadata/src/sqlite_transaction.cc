#include <algorithm>
#include <utility>

#include "encoding.h"
#include "item_encoding.h"
#include "lacking_search.h"
#include "sortable_tick.h"
#include "sqlite_metadata_store.h"

namespace harmonica::providers {
namespace {

constexpr std::string_view kFilterFact = "filter";
constexpr std::string_view kAnchorFact = "anchor";
constexpr std::string_view kKnowledgeFact = "knowledge";
constexpr std::string_view kForgottenFact = "forgotten";
constexpr std::string_view kSchemasFact = "schemas";
constexpr std::string_view kLineageFact = "lineage";
constexpr std::string_view kReplicasFact = "replicas";
constexpr std::string_view kCountsFact = "counts";
// A fact for each; what follows is the replica's 16 bytes.
constexpr std::string_view kPeerFact = "peer ";
constexpr std::string_view kPastPeerFacts = "peer!";

std::string peer_fact(const ReplicaId& replica) {
  const ByteView id = replica.view();
  return std::string(kPeerFact).append(id.begin(), id.end());
}

// Before the id of an item.
constexpr std::string_view kGhostFact = "ghost ";

std::string ghost_name(const ItemId& item) { return std::string(kGhostFact) + std::string(as_text(item.view())); }

bool holds_nested_list(const Value& value) {
  const Value::List* list = value.if_list();
  return list != nullptr &&
         std::any_of(list->begin(), list->end(), [](const Value& member) { return member.kind() == ValueKind::kList; });
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
  connection_->rest();
  store_.idle_.push_back(std::move(connection_));
}

// An error may have made SQLite roll back by itself; nothing may be written outside of a transaction then.
Status SqliteTransaction::check_writable() const {
  HARMONICA_ASSERT(mode_ == TransactionMode::kWrite && !committed_);
  if (connection_->in_transaction()) return {};
  return connection_->failure(StatusCode::kInternal, "the transaction was ended by an earlier error");
}

Result<Bytes> SqliteTransaction::fact(std::string_view name) {
  Statement query(*connection_, Query::kGetFact);
  query.bind(as_bytes(name));
  HARMONICA_ASSIGN_OR_RETURN(const Statement::Step step, query.step());
  if (step == Statement::Step::kDone) return Bytes();
  const ByteView body = query.blob(0);
  return Bytes(body.begin(), body.end());
}

Status SqliteTransaction::set_fact(std::string_view name, const Bytes& body) {
  HARMONICA_RETURN_IF_ERROR(check_writable());
  Statement query(*connection_, Query::kSetFact);
  return query.bind(as_bytes(name)).bind(body).run();
}

template <typename T>
Result<T> SqliteTransaction::decoded_fact(std::string_view name, std::optional<T> (*decode)(ByteView)) {
  HARMONICA_ASSIGN_OR_RETURN(const Bytes body, fact(name));
  if (body.empty()) return T();
  std::optional<T> decoded = decode(body);
  if (!decoded.has_value()) return connection_->corruption("its " + std::string(name) + " is damaged");
  return *std::move(decoded);
}

Result<ReplicaState> SqliteTransaction::state() {
  HARMONICA_ASSIGN_OR_RETURN(ReplicaState state, decoded_fact(kStateFact, decode_state));
  HARMONICA_ASSIGN_OR_RETURN(FilterFact fact, decoded_fact(kFilterFact, decode_filter));
  state.filter = std::move(fact.filter);
  state.has_had_filter = fact.has_had_filter;
  return state;
}
Status SqliteTransaction::set_state(const ReplicaState& state) {
  HARMONICA_RETURN_IF_ERROR(set_fact(kFilterFact, encode_filter({state.filter, state.has_had_filter})));
  return set_fact(kStateFact, encode_state(state));
}
Result<Bytes> SqliteTransaction::anchor() { return fact(kAnchorFact); }
Status SqliteTransaction::set_anchor(const Bytes& anchor) { return set_fact(kAnchorFact, anchor); }
Result<Knowledge> SqliteTransaction::knowledge() { return decoded_fact(kKnowledgeFact, decode_knowledge); }
Status SqliteTransaction::set_knowledge(const Knowledge& knowledge) {
  return set_fact(kKnowledgeFact, encode_knowledge(knowledge));
}
Result<Knowledge> SqliteTransaction::forgotten() { return decoded_fact(kForgottenFact, decode_knowledge); }
Status SqliteTransaction::set_forgotten(const Knowledge& forgotten) {
  return set_fact(kForgottenFact, encode_knowledge(forgotten));
}
Result<SchemaMemory> SqliteTransaction::schemas() { return decoded_fact(kSchemasFact, decode_schemas); }
Status SqliteTransaction::set_schemas(const SchemaMemory& schemas) {
  return set_fact(kSchemasFact, encode_schemas(schemas));
}

Result<std::vector<LineageMark>> SqliteTransaction::lineage() { return decoded_fact(kLineageFact, decode_lineage); }
Status SqliteTransaction::set_lineage(std::span<const LineageMark> lineage) {
  return set_fact(kLineageFact, encode_lineage(lineage));
}

Result<ReplicaTable> SqliteTransaction::replicas() { return decoded_fact(kReplicasFact, decode_replicas); }
Status SqliteTransaction::set_replicas(const ReplicaTable& replicas) {
  return set_fact(kReplicasFact, encode_replicas(replicas));
}

Result<std::vector<Peer>> SqliteTransaction::peers() {
  Statement query(*connection_, Query::kFactsBetween);
  query.bind(as_bytes(kPeerFact)).bind(as_bytes(kPastPeerFacts));
  std::vector<Peer> peers;
  while (true) {
    HARMONICA_ASSIGN_OR_RETURN(const Statement::Step step, query.step());
    if (step == Statement::Step::kDone) return peers;
    const std::optional<Peer> peer = decode_peer(query.blob(0));
    if (!peer) return connection_->corruption("what it remembers of a peer is damaged");
    peers.push_back(*peer);
  }
}

Result<std::optional<Peer>> SqliteTransaction::find_peer(const ReplicaId& replica) {
  HARMONICA_ASSIGN_OR_RETURN(const Bytes body, fact(peer_fact(replica)));
  if (body.empty()) return std::optional<Peer>();
  const std::optional<Peer> peer = decode_peer(body);
  if (!peer) return connection_->corruption("what it remembers of replica " + replica.to_text() + " is damaged");
  return peer;
}

Status SqliteTransaction::put_peer(const Peer& peer) { return set_fact(peer_fact(peer.replica), encode_peer(peer)); }

Status SqliteTransaction::damaged(const ItemId& item) const {
  return connection_->corruption("item " + item.to_text() + " is damaged");
}

ReadContent SqliteTransaction::read_content() {
  return [this](const ContentHash& hash) { return contents_.read(hash); };
}

Result<std::optional<StoredItem>> SqliteTransaction::find(const ItemId& item) {
  ItemDecoder decoder;
  StoredItem* stored = nullptr;
  if (const Bytes* pending = pending_items_.find(item); pending != nullptr) {
    if (pending->empty()) return std::optional<StoredItem>();
    stored = decoder.decode(item, *pending, connection_->replicas(), read_content());
  } else {
    Statement query(*connection_, Query::kFindItem);
    HARMONICA_ASSIGN_OR_RETURN(const Statement::Step step, query.bind(item.view()).step());
    if (step == Statement::Step::kDone) return std::optional<StoredItem>();
    stored = decoder.decode(item, query.blob(0), connection_->replicas(), read_content());
  }
  if (stored == nullptr) return damaged(item);
  return std::optional<StoredItem>(std::move(*stored));
}

Status SqliteTransaction::load_counts() {
  if (counts_.has_value()) return {};
  HARMONICA_ASSIGN_OR_RETURN(counts_, decoded_fact(kCountsFact, decode_counts));
  return {};
}

Status SqliteTransaction::write_items() {
  if (pending_items_.empty()) return {};
  HARMONICA_RETURN_IF_ERROR(load_counts());
  HARMONICA_ASSIGN_OR_RETURN(counts_, pending_items_.write(*connection_, pending_index_, contents_, *counts_));
  counts_changed_ = true;
  return pending_index_.full() ? pending_index_.write(*connection_) : Status();
}

Status SqliteTransaction::write_items_and_index() {
  HARMONICA_RETURN_IF_ERROR(write_items());
  return pending_index_.empty() ? Status() : pending_index_.write(*connection_);
}

Result<Bytes> SqliteTransaction::row_of(const StoredItem& stored, std::span<const IndexEntry> entries) {
  const Item& item = stored.item;
  ItemIndex index{{item.alive(), stored.shown.has_value(), {}}, {}, {}};
  std::vector<NumberedVersion>& versions = index.head.versions;
  std::vector<NumberedVersion> of_registers;
  of_registers.reserve(item.units.size() + 1);
  const auto add = [&](const Version& version) -> Status {
    HARMONICA_ASSIGN_OR_RETURN(const ReplicaNumber number, connection_->number_of(version.replica));
    of_registers.push_back({number, version.tick});
    return {};
  };
  HARMONICA_RETURN_IF_ERROR(add(item.existence.version));
  for (const UnitRegister& unit : item.units) HARMONICA_RETURN_IF_ERROR(add(unit.content.version));
  versions = of_registers;
  std::sort(versions.begin(), versions.end());
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
  std::vector<std::size_t> places;
  places.reserve(of_registers.size());
  for (const NumberedVersion& version : of_registers) {
    const auto place = std::lower_bound(versions.begin(), versions.end(), version);
    places.push_back(static_cast<std::size_t>(place - versions.begin()));
  }

  for (const UnitRegister& unit : item.units) {
    if (unit.content.value.weight() <= kContentBytesMin) continue;
    HARMONICA_ASSIGN_OR_RETURN(const ContentHash hash, contents_.put(unit.content.value));
    index.contents.push_back(hash);
  }
  index.entries.reserve(entries.size());
  for (const IndexEntry& entry : entries) index.entries.push_back({entry.kind, entry.key});
  std::sort(index.entries.begin(), index.entries.end());
  index.entries.erase(std::unique(index.entries.begin(), index.entries.end()), index.entries.end());
  return encode_item(stored, index, places);
}

Status SqliteTransaction::put(const StoredItem& stored, std::span<const IndexEntry> entries) {
  HARMONICA_RETURN_IF_ERROR(check_writable());
  for (const UnitRegister& unit : stored.item.units) {
    if (!holds_nested_list(unit.content.value)) continue;
    return connection_->failure(
        StatusCode::kInvalidArgument,
        "item " + stored.item.id.to_text() + " has a list in a list in unit " + std::to_string(unit.unit));
  }
  if (stored.item.erased()) {
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> before, find(stored.item.id));
    if (before && !before->item.erased()) HARMONICA_RETURN_IF_ERROR(set_fact(kUnwipedFact, {1}));
  }
  HARMONICA_ASSIGN_OR_RETURN(Bytes row, row_of(stored, entries));
  pending_items_.put(stored.item.id, std::move(row));
  return pending_items_.full() ? write_items() : Status();
}

Status SqliteTransaction::remove(const ItemId& item) {
  HARMONICA_RETURN_IF_ERROR(check_writable());
  pending_items_.remove(item);
  return pending_items_.full() ? write_items() : Status();
}

Status SqliteTransaction::scan(const ItemIdRange& range, const std::function<Result<Visit>(const StoredItem&)>& visit) {
  HARMONICA_RETURN_IF_ERROR(write_items());
  Statement query(*connection_, Query::kScanItems);
  query.bind(range.first.view()).bind(range.last.view());
  ItemDecoder decoder;
  const ReadContent read = read_content();
  while (true) {
    HARMONICA_ASSIGN_OR_RETURN(const Statement::Step step, query.step());
    if (step == Statement::Step::kDone) return {};
    const std::optional<ItemId> id = ItemId::from_bytes(query.blob(0));
    if (!id.has_value()) return connection_->corruption("the table of items is damaged");
    const StoredItem* item = decoder.decode(*id, query.blob(1), connection_->replicas(), read);
    if (item == nullptr) return damaged(*id);
    HARMONICA_ASSIGN_OR_RETURN(const Visit next, visit(*item));
    if (next == Visit::kStop) return {};
  }
}

Result<std::vector<IndexPosition>> SqliteTransaction::find_index(const IndexQuery& query) {
  HARMONICA_RETURN_IF_ERROR(write_items_and_index());
  const bool ascending = query.order == IndexOrder::kAscending;
  IndexBound lower{static_cast<std::int64_t>(query.kind), query.prefix, {}};
  IndexBound upper = IndexBound::past(query.kind, query.prefix);
  if (query.after.has_value()) {
    const IndexBound after = IndexBound::at(query.kind, *query.after);
    if (ascending) {
      lower = std::max(lower, after);
    } else {
      upper = std::min(upper, after);
    }
  }
  Statement statement(*connection_, ascending ? Query::kEntriesAscending : Query::kEntriesDescending);
  statement.bind(lower.kind).bind(lower.key).bind(lower.item).bind(upper.kind).bind(upper.key).bind(upper.item);
  statement.bind(query.count_max == 0 ? std::int64_t{-1} : static_cast<std::int64_t>(query.count_max));
  std::vector<IndexPosition> found;
  while (true) {
    HARMONICA_ASSIGN_OR_RETURN(const Statement::Step step, statement.step());
    if (step == Statement::Step::kDone) return found;
    const std::optional<ItemId> item = ItemId::from_bytes(statement.blob(1));
    if (!item.has_value()) return connection_->corruption("the table of entries is damaged");
    const ByteView key = statement.blob(0);
    found.push_back({Bytes(key.begin(), key.end()), *item});
  }
}

Result<ItemCounts> SqliteTransaction::counts() {
  HARMONICA_RETURN_IF_ERROR(write_items());
  HARMONICA_RETURN_IF_ERROR(load_counts());
  return *counts_;
}

Result<std::vector<ItemId>> SqliteTransaction::find_lacking(const Knowledge& knowledge, const ItemIdRange& range,
                                                            std::size_t count_max) {
  HARMONICA_RETURN_IF_ERROR(write_items_and_index());
  return search_lacking(*connection_, knowledge, range, count_max);
}

Result<ClockVector> SqliteTransaction::find_ghost(const ItemId& item) {
  return decoded_fact(ghost_name(item), decode_vector);
}

Status SqliteTransaction::put_ghost(const ItemId& item, const ClockVector& versions) {
  if (!versions.empty()) return set_fact(ghost_name(item), encode_vector(versions));
  HARMONICA_RETURN_IF_ERROR(check_writable());
  const std::string name = ghost_name(item);
  Statement query(*connection_, Query::kRemoveFact);
  return query.bind(as_bytes(name)).run();
}

Status SqliteTransaction::scan_ghosts(const ItemIdRange& range,
                                      const std::function<Result<Visit>(const ItemId&, const ClockVector&)>& visit) {
  const std::string first = ghost_name(range.first);
  const std::string last = ghost_name(range.last);
  Statement query(*connection_, Query::kScanFacts);
  query.bind(as_bytes(first)).bind(as_bytes(last));
  while (true) {
    HARMONICA_ASSIGN_OR_RETURN(const Statement::Step step, query.step());
    if (step == Statement::Step::kDone) return {};
    const std::optional<ItemId> item = ItemId::from_bytes(query.blob(0).subspan(kGhostFact.size()));
    const std::optional<ClockVector> versions = decode_vector(query.blob(1));
    if (!item.has_value() || !versions.has_value())
      return connection_->corruption("what it knows of items that moved out is damaged");
    HARMONICA_ASSIGN_OR_RETURN(const Visit next, visit(*item, *versions));
    if (next == Visit::kStop) return {};
  }
}

Status SqliteTransaction::put_conflict(const ConflictRecord& record) {
  HARMONICA_RETURN_IF_ERROR(check_writable());
  Statement query(*connection_, Query::kPutConflict);
  const Bytes body = encode_conflict(record);
  return query.bind(record.id.view()).bind(record.when_ms).bind(body).run();
}

Result<std::optional<ConflictRecord>> SqliteTransaction::find_conflict(const ConflictId& id) {
  Statement query(*connection_, Query::kFindConflict);
  query.bind(id.view());
  HARMONICA_ASSIGN_OR_RETURN(const Statement::Step step, query.step());
  if (step == Statement::Step::kDone) return std::optional<ConflictRecord>();
  std::optional<ConflictRecord> record = decode_conflict(query.blob(0));
  if (!record.has_value()) return connection_->corruption("conflict " + id.to_text() + " is damaged");
  return record;
}

Status SqliteTransaction::remove_conflict(const ConflictId& id) {
  HARMONICA_RETURN_IF_ERROR(check_writable());
  Statement query(*connection_, Query::kDeleteConflict);
  return query.bind(id.view()).run();
}

Status SqliteTransaction::scan_conflicts(const std::function<Result<Visit>(const ConflictRecord&)>& visit) {
  Statement query(*connection_, Query::kScanConflicts);
  while (true) {
    HARMONICA_ASSIGN_OR_RETURN(const Statement::Step step, query.step());
    if (step == Statement::Step::kDone) return {};
    const std::optional<ConflictRecord> record = decode_conflict(query.blob(0));
    if (!record.has_value()) return connection_->corruption("a conflict record is damaged");
    HARMONICA_ASSIGN_OR_RETURN(const Visit next, visit(*record));
    if (next == Visit::kStop) return {};
  }
}

Status SqliteTransaction::commit() {
  HARMONICA_RETURN_IF_ERROR(check_writable());
  HARMONICA_RETURN_IF_ERROR(write_items_and_index());
  if (counts_changed_) HARMONICA_RETURN_IF_ERROR(set_fact(kCountsFact, encode_counts(*counts_)));
  HARMONICA_RETURN_IF_ERROR(connection_->run(Query::kCommit));
  committed_ = true;
  return {};
}

}  // namespace harmonica::providers
