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

  using Items = std::map<ItemId, std::shared_ptr<const HeldItem>>;

  // What is small, and set in nearly every transaction.
  struct Facts {
    ReplicaState state;
    Bytes anchor;
    Knowledge knowledge;
    Knowledge forgotten;
    SchemaMemory schemas;
    std::vector<LineageMark> lineage;
    ReplicaTable replicas;
    std::map<ReplicaId, Peer> peers;
    std::map<ItemId, ClockVector> ghosts;
  };

  Facts facts;
  ItemCounts counts;
  Items items;
  std::set<IndexRow> index;
  std::map<ConflictPlace, std::shared_ptr<const ConflictRecord>> conflicts;
  std::map<ConflictId, std::int64_t> conflict_times;

  // The first item from `item` on; looked for behind `hint` first, as items are mostly asked for one after the other.
  static Items::const_iterator from(const Items& items, const ItemId& item, Items::const_iterator hint) {
    if (hint != items.end() && hint->first < item && ++hint != items.end() && hint->first == item) return hint;
    return items.lower_bound(item);
  }

  // Null: the item goes. Returns where it stands, or what follows it.
  Items::const_iterator set(const ItemId& item, std::shared_ptr<const HeldItem> held, Items::const_iterator hint) {
    const auto found = from(items, item, hint);
    const auto place = items.erase(found, found);  // the same, as one that can be changed
    const bool is_held = place != items.end() && place->first == item;
    if (is_held) count(*place->second, -1);
    if (held != nullptr) count(*held, 1);
    if (held == nullptr) return is_held ? items.erase(place) : place;
    if (!is_held) return items.emplace_hint(place, item, std::move(held));
    place->second = std::move(held);
    return place;
  }

 private:
  void count(const HeldItem& held, int by) {
    const ItemId& item = held.item.item.id;
    for (const IndexEntry& entry : held.entries) {
      if (by > 0) {
        index.insert({entry.kind, entry.key, item});
      } else {
        index.erase({entry.kind, entry.key, item});
      }
    }
    const auto add = static_cast<std::uint64_t>(by);
    (held.item.item.alive() ? counts.alive : counts.deleted) += add;
    if (held.item.shown.has_value()) counts.shown += add;
  }
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

  Result<ReplicaState> state() override { return facts().state; }
  Status set_state(const ReplicaState& state) override {
    change_facts().state = state;
    return {};
  }
  Result<Bytes> anchor() override { return facts().anchor; }
  Status set_anchor(const Bytes& anchor) override {
    change_facts().anchor = anchor;
    return {};
  }
  Result<Knowledge> knowledge() override { return facts().knowledge; }
  Status set_knowledge(const Knowledge& knowledge) override {
    change_facts().knowledge = knowledge;
    return {};
  }
  Result<Knowledge> forgotten() override { return facts().forgotten; }
  Status set_forgotten(const Knowledge& forgotten) override {
    change_facts().forgotten = forgotten;
    return {};
  }
  Result<SchemaMemory> schemas() override { return facts().schemas; }
  Status set_schemas(const SchemaMemory& schemas) override {
    change_facts().schemas = schemas;
    return {};
  }

  Result<std::vector<LineageMark>> lineage() override { return facts().lineage; }
  Status set_lineage(std::span<const LineageMark> lineage) override {
    change_facts().lineage.assign(lineage.begin(), lineage.end());
    return {};
  }

  Result<ReplicaTable> replicas() override { return facts().replicas; }
  Status set_replicas(const ReplicaTable& replicas) override {
    change_facts().replicas = replicas;
    return {};
  }

  Result<std::vector<Peer>> peers() override {
    std::vector<Peer> peers;
    for (const auto& [replica, peer] : facts().peers) peers.push_back(peer);
    return peers;
  }
  Result<std::optional<Peer>> find_peer(const ReplicaId& replica) override {
    const auto found = facts().peers.find(replica);
    return found == facts().peers.end() ? std::optional<Peer>() : std::optional<Peer>(found->second);
  }
  Status put_peer(const Peer& peer) override {
    change_facts().peers[peer.replica] = peer;
    return {};
  }

  Result<std::optional<StoredItem>> find(const ItemId& item) override {
    const HeldItem* held = held_item(item);
    return held == nullptr ? std::optional<StoredItem>() : std::optional<StoredItem>(held->item);
  }

  Status put(const StoredItem& item, std::span<const IndexEntry> entries) override {
    check_writable();
    auto held = std::make_shared<HeldItem>(HeldItem{item, {entries.begin(), entries.end()}});
    // Mostly they come in order.
    pending_.insert_or_assign(pending_.end(), item.item.id, std::move(held));
    return {};
  }

  Status remove(const ItemId& item) override {
    check_writable();
    pending_[item] = nullptr;
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

  Result<ClockVector> find_ghost(const ItemId& item) override {
    const auto found = facts().ghosts.find(item);
    return found == facts().ghosts.end() ? ClockVector() : found->second;
  }

  Status put_ghost(const ItemId& item, const ClockVector& versions) override {
    if (versions.empty()) {
      change_facts().ghosts.erase(item);
    } else {
      change_facts().ghosts[item] = versions;
    }
    return {};
  }

  Status scan_ghosts(const ItemIdRange& range,
                     const std::function<Result<Visit>(const ItemId&, const ClockVector&)>& visit) override {
    const auto& ghosts = facts().ghosts;
    for (auto ghost = ghosts.lower_bound(range.first); ghost != ghosts.end() && ghost->first <= range.last; ++ghost) {
      HARMONICA_ASSIGN_OR_RETURN(const Visit next, visit(ghost->first, ghost->second));
      if (next == Visit::kStop) break;
    }
    return {};
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
    check_writable();
    committed_ = true;
    if (changed_ == nullptr && pending_.empty() && !facts_) return {};
    if (changed_ == nullptr) {
      // If nobody else sees it, it is changed where it stands.
      snapshot_.reset();
      changed_ = store_.committed_.use_count() == 1 ? store_.committed_
                                                    : std::make_shared<MemoryMetadataContent>(*store_.committed_);
    }
    settle(*changed_);
    if (facts_) changed_->facts = *std::move(facts_);
    facts_.reset();
    store_.committed_ = changed_;
    return {};
  }

 private:
  // Items are looked up without what is pending being settled; all else is not.
  const HeldItem* held_item(const ItemId& item) const {
    if (const auto pending = pending_.find(item); pending != pending_.end()) return pending->second.get();
    const MemoryMetadataContent::Items& items = content().items;
    if (looked_in_ != &items) last_found_ = items.end();
    looked_in_ = &items;
    last_found_ = MemoryMetadataContent::from(items, item, last_found_);
    return last_found_ == items.end() || last_found_->first != item ? nullptr : last_found_->second.get();
  }

  const MemoryMetadataContent& content() const { return changed_ != nullptr ? *changed_ : *snapshot_; }
  const MemoryMetadataContent& read() { return pending_.empty() ? content() : write(); }

  const MemoryMetadataContent::Facts& facts() const { return facts_ ? *facts_ : content().facts; }
  MemoryMetadataContent::Facts& change_facts() {
    check_writable();
    if (!facts_) facts_ = content().facts;
    return *facts_;
  }

  void check_writable() const { HARMONICA_ASSERT(mode_ == TransactionMode::kWrite && !committed_); }

  MemoryMetadataContent& write() {
    check_writable();
    if (changed_ == nullptr) changed_ = std::make_shared<MemoryMetadataContent>(*snapshot_);
    settle(*changed_);
    return *changed_;
  }

  void settle(MemoryMetadataContent& content) {
    auto last = content.items.cend();
    for (auto& [item, held] : pending_) last = content.set(item, std::move(held), last);
    pending_.clear();
    looked_in_ = nullptr;
  }

  MemoryMetadataStore& store_;
  const TransactionMode mode_;
  std::shared_ptr<const MemoryMetadataContent> snapshot_;
  std::shared_ptr<MemoryMetadataContent> changed_;             // a copy, once more than items is asked for
  std::map<ItemId, std::shared_ptr<const HeldItem>> pending_;  // items put or, null, removed
  // Where the last item was found.
  mutable const MemoryMetadataContent::Items* looked_in_ = nullptr;
  mutable MemoryMetadataContent::Items::const_iterator last_found_;
  std::optional<MemoryMetadataContent::Facts> facts_;  // once one is set
  bool committed_ = false;
};

MemoryMetadataStore::MemoryMetadataStore() : committed_(std::make_shared<MemoryMetadataContent>()) {}
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
