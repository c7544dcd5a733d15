#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <utility>

#include "harmonica/assert.h"
#include "harmonica/providers/memory.h"

namespace harmonica::providers {

// Items and records are shared between the copies that transactions make, since they never change once they stand here.
struct MemoryMetadataContent {
  struct HeldItem {
    StoredItem item;
    std::vector<IndexEntry> entries;
  };

  struct IndexRow {
    IndexKind kind;
    Bytes key;
    ItemId item;
    friend auto operator<=>(const IndexRow&, const IndexRow&) = default;
  };

  struct ConflictPlace {
    std::int64_t when_ms;
    ConflictId id;
    friend auto operator<=>(const ConflictPlace&, const ConflictPlace&) = default;
  };

  ReplicaState state;
  Bytes anchor;
  Knowledge knowledge;
  Knowledge forgotten;
  SchemaMemory schemas;
  std::vector<LineageMark> lineage;
  std::map<ReplicaId, Peer> peers;
  ItemCounts counts;
  std::map<ItemId, std::shared_ptr<const HeldItem>> items;
  std::set<IndexRow> index;
  std::map<ConflictPlace, std::shared_ptr<const ConflictRecord>> conflicts;
  std::map<ConflictId, std::int64_t> conflict_times;
};

namespace {

using HeldItem = MemoryMetadataContent::HeldItem;
using IndexRow = MemoryMetadataContent::IndexRow;
using ConflictPlace = MemoryMetadataContent::ConflictPlace;

bool lacks(const Knowledge& knowledge, const Item& item) {
  const ClockVector& vector = knowledge.at(item.id);
  if (!vector.contains(item.existence.version)) return true;
  return std::any_of(item.units.begin(), item.units.end(),
                     [&](const UnitRegister& unit) { return !vector.contains(unit.content.version); });
}

// The least row that is greater than all of that kind whose keys start with `prefix`.
IndexRow past(IndexKind kind, Bytes prefix) {
  while (!prefix.empty() && prefix.back() == 0xff) prefix.pop_back();
  if (prefix.empty()) return {static_cast<IndexKind>(static_cast<std::uint8_t>(kind) + 1), {}, kFirstItemId};
  ++prefix.back();
  return {kind, std::move(prefix), kFirstItemId};
}

}  // namespace

class MemoryMetadataStore::Transaction : public MetadataTransaction {
 public:
  Transaction(MemoryMetadataStore& store, TransactionMode mode) : store_(store), mode_(mode), snapshot_(store.committed_) {
    ++store_.open_transactions_;
    if (mode_ == TransactionMode::kWrite) store_.writing_ = true;
  }

  ~Transaction() override {
    --store_.open_transactions_;
    if (mode_ == TransactionMode::kWrite) store_.writing_ = false;
  }

  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  Result<ReplicaState> state() override { return read().state; }
  Status set_state(const ReplicaState& state) override {
    write().state = state;
    return {};
  }
  Result<Bytes> anchor() override { return read().anchor; }
  Status set_anchor(const Bytes& anchor) override {
    write().anchor = anchor;
    return {};
  }
  Result<Knowledge> knowledge() override { return read().knowledge; }
  Status set_knowledge(const Knowledge& knowledge) override {
    write().knowledge = knowledge;
    return {};
  }
  Result<Knowledge> forgotten() override { return read().forgotten; }
  Status set_forgotten(const Knowledge& forgotten) override {
    write().forgotten = forgotten;
    return {};
  }
  Result<SchemaMemory> schemas() override { return read().schemas; }
  Status set_schemas(const SchemaMemory& schemas) override {
    write().schemas = schemas;
    return {};
  }

  Result<std::vector<LineageMark>> lineage() override { return read().lineage; }
  Status set_lineage(std::span<const LineageMark> lineage) override {
    write().lineage.assign(lineage.begin(), lineage.end());
    return {};
  }

  Result<std::vector<Peer>> peers() override {
    std::vector<Peer> peers;
    for (const auto& [replica, peer] : read().peers) peers.push_back(peer);
    return peers;
  }
  Result<std::optional<Peer>> find_peer(const ReplicaId& replica) override {
    const auto found = read().peers.find(replica);
    return found == read().peers.end() ? std::optional<Peer>() : std::optional<Peer>(found->second);
  }
  Status put_peer(const Peer& peer) override {
    write().peers[peer.replica] = peer;
    return {};
  }

  Result<std::optional<StoredItem>> find(const ItemId& item) override {
    const auto found = read().items.find(item);
    if (found == read().items.end()) return std::optional<StoredItem>();
    return std::optional<StoredItem>(found->second->item);
  }

  Status put(const StoredItem& item, std::span<const IndexEntry> entries) override {
    HARMONICA_RETURN_IF_ERROR(remove(item.item.id));
    MemoryMetadataContent& content = write();
    for (const IndexEntry& entry : entries) content.index.insert({entry.kind, entry.key, item.item.id});
    ++(item.item.alive() ? content.counts.alive : content.counts.deleted);
    if (item.shown.has_value()) ++content.counts.shown;
    content.items.emplace(item.item.id, std::make_shared<const HeldItem>(HeldItem{item, {entries.begin(), entries.end()}}));
    return {};
  }

  Status remove(const ItemId& item) override {
    MemoryMetadataContent& content = write();
    const auto found = content.items.find(item);
    if (found == content.items.end()) return {};
    const HeldItem& held = *found->second;
    for (const IndexEntry& entry : held.entries) content.index.erase({entry.kind, entry.key, item});
    --(held.item.item.alive() ? content.counts.alive : content.counts.deleted);
    if (held.item.shown.has_value()) --content.counts.shown;
    content.items.erase(found);
    return {};
  }

  Status scan(const ItemIdRange& range, const std::function<Result<Visit>(const StoredItem&)>& visit) override {
    const auto& items = read().items;
    for (auto item = items.lower_bound(range.first); item != items.end() && item->first <= range.last; ++item) {
      HARMONICA_ASSIGN_OR_RETURN(const Visit next, visit(item->second->item));
      if (next == Visit::kStop) break;
    }
    return {};
  }

  Result<std::vector<IndexPosition>> find_index(const IndexQuery& query) override {
    const std::set<IndexRow>& index = read().index;
    auto begin = index.lower_bound({query.kind, query.prefix, kFirstItemId});
    auto end = index.lower_bound(past(query.kind, query.prefix));
    if (query.after.has_value()) {
      const IndexRow after{query.kind, query.after->key, query.after->item};
      if (query.order == IndexOrder::kAscending) {
        const auto bound = index.upper_bound(after);
        if (begin != end && (bound == index.end() || *begin < *bound)) begin = bound;
      } else {
        const auto bound = index.lower_bound(after);
        if (bound != index.end() && (end == index.end() || *bound < *end)) end = bound;
      }
    }
    std::vector<IndexPosition> found;
    const auto wanted = [&] { return query.count_max == 0 || found.size() < query.count_max; };
    const auto precedes_end = [&] { return begin != index.end() && (end == index.end() || *begin < *end); };
    if (!precedes_end()) return found;
    if (query.order == IndexOrder::kAscending) {
      for (; begin != end && wanted(); ++begin) found.push_back({begin->key, begin->item});
    } else {
      for (; begin != end && wanted();) {
        --end;
        found.push_back({end->key, end->item});
      }
    }
    return found;
  }

  Result<ItemCounts> counts() override { return read().counts; }

  Result<std::vector<ItemId>> find_lacking(const Knowledge& knowledge, const ItemIdRange& range,
                                           std::size_t count_max) override {
    // As plain as can be, for others are compared with it.
    std::vector<ItemId> found;
    const auto& items = read().items;
    for (auto item = items.lower_bound(range.first); item != items.end() && item->first <= range.last; ++item) {
      if (found.size() == count_max) break;
      if (lacks(knowledge, item->second->item.item)) found.push_back(item->first);
    }
    return found;
  }

  Status put_conflict(const ConflictRecord& record) override {
    HARMONICA_RETURN_IF_ERROR(remove_conflict(record.id));
    write().conflict_times.emplace(record.id, record.when_ms);
    write().conflicts.emplace(ConflictPlace{record.when_ms, record.id}, std::make_shared<const ConflictRecord>(record));
    return {};
  }

  Result<std::optional<ConflictRecord>> find_conflict(const ConflictId& id) override {
    const auto time = read().conflict_times.find(id);
    if (time == read().conflict_times.end()) return std::optional<ConflictRecord>();
    return std::optional<ConflictRecord>(*read().conflicts.at({time->second, id}));
  }

  Status remove_conflict(const ConflictId& id) override {
    const auto time = write().conflict_times.find(id);
    if (time == write().conflict_times.end()) return {};
    write().conflicts.erase({time->second, id});
    write().conflict_times.erase(time);
    return {};
  }

  Status scan_conflicts(const std::function<Result<Visit>(const ConflictRecord&)>& visit) override {
    for (const auto& [place, record] : read().conflicts) {
      HARMONICA_ASSIGN_OR_RETURN(const Visit next, visit(*record));
      if (next == Visit::kStop) break;
    }
    return {};
  }

  Status commit() override {
    HARMONICA_ASSERT(mode_ == TransactionMode::kWrite && !committed_);
    committed_ = true;
    if (changed_ != nullptr) store_.committed_ = changed_;
    return {};
  }

 private:
  const MemoryMetadataContent& read() const { return changed_ != nullptr ? *changed_ : *snapshot_; }

  MemoryMetadataContent& write() {
    HARMONICA_ASSERT(mode_ == TransactionMode::kWrite && !committed_);
    if (changed_ == nullptr) changed_ = std::make_shared<MemoryMetadataContent>(*snapshot_);
    return *changed_;
  }

  MemoryMetadataStore& store_;
  const TransactionMode mode_;
  const std::shared_ptr<const MemoryMetadataContent> snapshot_;
  std::shared_ptr<MemoryMetadataContent> changed_;
  bool committed_ = false;
};

MemoryMetadataStore::MemoryMetadataStore() : committed_(std::make_shared<const MemoryMetadataContent>()) {}
MemoryMetadataStore::~MemoryMetadataStore() { HARMONICA_ASSERT(open_transactions_ == 0); }

MemoryMetadataStore::MemoryMetadataStore(const MemoryMetadataStore& other)
    : MetadataStore(other), committed_(other.committed_), prepared_(other.prepared_) {}

MemoryMetadataStore& MemoryMetadataStore::operator=(const MemoryMetadataStore& other) {
  HARMONICA_ASSERT(open_transactions_ == 0);
  if (this == &other) return *this;
  committed_ = other.committed_;
  prepared_ = other.prepared_;
  return *this;
}

Result<std::unique_ptr<MetadataTransaction>> MemoryMetadataStore::begin(TransactionMode mode) {
  if (mode == TransactionMode::kWrite && writing_) {
    return Status(StatusCode::kUnavailable, "metadata in memory: another write transaction is open");
  }
  return std::unique_ptr<MetadataTransaction>(std::make_unique<Transaction>(*this, mode));
}

Status MemoryMetadataStore::prepare(const PreparedWrite& write) {
  prepared_ = write;
  return {};
}

Result<PreparedWrite> MemoryMetadataStore::prepared(std::uint64_t write_number) {
  return prepared_.write_number == write_number ? prepared_ : PreparedWrite();
}

std::unique_ptr<MetadataStore> make_memory_metadata() { return std::make_unique<MemoryMetadataStore>(); }

}  // namespace harmonica::providers
