// Where the kernel keeps what it knows about the items of a store: registers, views, knowledge, conflict records.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "harmonica/conflict.h"
#include "harmonica/extension/item_store.h"
#include "harmonica/filter.h"
#include "harmonica/item.h"
#include "harmonica/knowledge.h"
#include "harmonica/replica_table.h"

namespace harmonica {

// What the view functions make of an item's registers (rules R40 to R44).
struct ItemView {
  bool visible = false;                 // to be shown in the store
  bool parked = false;                  // hidden because of a unique value or a reference
  bool evicted = false;                 // left a cycle: passed over a living ancestor (rule R42)
  ItemId parent;                        // shown parent; zero for types without a parent role
  std::uint16_t ancestors_skipped = 0;  // how many of the listed ancestors were passed over
  std::uint8_t name_suffix = 0;         // length of the suffix shown behind the name, in hexadecimal digits; 0: plain
  friend bool operator==(const ItemView&, const ItemView&) = default;
};

// What was last shown in the store; change detection compares with this (rule R45).
struct ShownItem {
  StoreKey key;
  ItemId parent;
  Bytes position;
  std::vector<UnitValue> values;  // sorted by unit; only those that the store holds
  friend bool operator==(const ShownItem&, const ShownItem&) = default;
};

struct StoredItem {
  Item item;
  ItemView view;
  std::optional<ShownItem> shown;  // nothing: not in the store
  // What units with the rule text_merge were before, so that a peer's text which comes from there can be merged: sorted by
  // unit, then version; at most limits::kMergeBasesMax of a unit. Not sent.
  std::vector<UnitRegister> merge_bases;
  friend bool operator==(const StoredItem&, const StoredItem&) = default;
};

// The kernel's secondary indexes. Their keys are made by the kernel; a metadata store keeps and orders them as bytes.
enum class IndexKind : std::uint8_t {
  kStoreKey = 1,         // store key -> item
  kChild = 2,            // parent id, position -> shown child
  kSkippedAncestor = 3,  // ancestor id -> item whose view passed it over
  kEvicted = 4,          // empty -> item that left a cycle
  kName = 5,             // parent id, name -> item shown there
  kUniqueKey = 6,        // type, unit, value -> item
  kReference = 7,        // referenced id -> item
  kUnwritten = 8,        // empty -> item whose view is not yet what was shown
  kTombstone = 9,        // tick of the deletion -> deleted item
  kOutside = 10,         // empty -> living item that does not match the replica's filter
  kErased = 11,          // empty -> erased item
  kHeld = 20,            // empty -> living item of a type that the schema does not have
  kNewlyKnown = 21,      // 1 or empty -> item whose type, or some unit of it, the store has not been asked for yet
  kConflictRecord = 22,  // 1 and when its conflict was decided -> conflict record; 0 -> one that was dropped
};

struct IndexEntry {
  IndexKind kind = IndexKind::kStoreKey;
  Bytes key;
  friend bool operator==(const IndexEntry&, const IndexEntry&) = default;
};

// One hit of an index, ordered by key, then item.
struct IndexPosition {
  Bytes key;
  ItemId item;
  friend bool operator==(const IndexPosition&, const IndexPosition&) = default;
};

enum class IndexOrder : std::uint8_t { kAscending, kDescending };

struct IndexQuery {
  IndexKind kind = IndexKind::kStoreKey;
  Bytes prefix;                        // of the keys wanted; empty: all of that kind
  std::optional<IndexPosition> after;  // strictly after this one in the order asked for
  IndexOrder order = IndexOrder::kAscending;
  std::size_t count_max = 0;  // 0: no limit
};

struct ItemCounts {
  std::uint64_t alive = 0;
  std::uint64_t deleted = 0;  // tombstones, and what is left of erased items
  std::uint64_t shown = 0;
  friend bool operator==(const ItemCounts&, const ItemCounts&) = default;
};

// What a replica knows about itself.
struct ReplicaState {
  ReplicaId replica;  // zero: the store is new
  ScopeName scope;    // empty: none yet
  std::uint64_t schema_fingerprint = 0;
  Tick last_tick = 0;                      // the greatest used or learned of; its own next one is greater
  Tick reserved_tick = 0;                  // the bound inside the store (rule R30)
  std::uint64_t write_number = 0;          // of writes into the store; tells whether prepared items still count
  std::vector<ItemId> wanted_whole;        // sorted
  std::vector<ReplicaId> former_replicas;  // ids this replica had before, oldest first
  std::optional<Filter> filter;            // what it wants to hold; nothing: everything
  bool has_had_filter = false;             // now or at any time before
  friend bool operator==(const ReplicaState&, const ReplicaState&) = default;
};

// What a replica remembers of schemas. Apart from its state, as they may be large and seldom change.
struct SchemaMemory {
  Schema own;                             // that it was last opened with or, without a store, has taken up; empty: none yet
  std::vector<std::uint64_t> compatible;  // fingerprints of other schemas, in the order in which they were met
  friend bool operator==(const SchemaMemory&, const SchemaMemory&) = default;
};

// A random number that the replica shows to its peers, and the last tick that it made before. A new one is drawn with each
// change, and those that were shown are kept: so two copies of one replica that both write come to show different ones
// (rule R31).
struct LineageMark {
  std::uint64_t mark = 0;
  Tick tick_before = 0;
  friend bool operator==(const LineageMark&, const LineageMark&) = default;
};

// What is remembered of another replica that this one was in sessions with.
struct Peer {
  ReplicaId replica;
  std::vector<std::uint64_t> marks;  // the last ones that it has shown, newest first
  std::int64_t last_session_ms = 0;  // since 1970-01-01 UTC, by the clock here; up to limits::kPeerTimeMs too early
  ClockVector acknowledged;          // what it has said to know of every item; kept where there is a use for it
  friend bool operator==(const Peer&, const Peer&) = default;
};

// What is about to be shown in a store that does not share a database with its metadata. If the process dies between the
// write and the commit, the next detection takes what stands here for ours and not for a user's edit.
struct PreparedItem {
  ItemId item;
  StoreKey key;
  std::optional<ShownItem> shown;  // nothing: about to be removed
  friend bool operator==(const PreparedItem&, const PreparedItem&) = default;
};

struct PreparedWrite {
  std::uint64_t write_number = 0;  // counts only if it is one more than that of the state
  std::vector<PreparedItem> items;
  friend bool operator==(const PreparedWrite&, const PreparedWrite&) = default;
};

enum class Visit : std::uint8_t { kContinue, kStop };

// A snapshot of the metadata, and the changes made on it. Reads see the transaction's own writes. Destroyed without
// `commit`, it leaves nothing behind. After an error only destroying it is allowed. Thread-compatible.
class MetadataTransaction {
 public:
  virtual ~MetadataTransaction() = default;

  virtual Result<ReplicaState> state() = 0;
  virtual Status set_state(const ReplicaState& state) = 0;
  // Of the last enumeration or write of the store; empty: none. Apart from the state, as it may be large.
  virtual Result<Bytes> anchor() = 0;
  virtual Status set_anchor(const Bytes& anchor) = 0;
  virtual Result<Knowledge> knowledge() = 0;
  virtual Status set_knowledge(const Knowledge& knowledge) = 0;
  virtual Result<Knowledge> forgotten() = 0;
  virtual Status set_forgotten(const Knowledge& forgotten) = 0;
  virtual Result<SchemaMemory> schemas() = 0;
  virtual Status set_schemas(const SchemaMemory& schemas) = 0;

  // The marks of this replica, oldest first.
  virtual Result<std::vector<LineageMark>> lineage() = 0;
  virtual Status set_lineage(std::span<const LineageMark> lineage) = 0;
  virtual Result<ReplicaTable> replicas() = 0;
  virtual Status set_replicas(const ReplicaTable& replicas) = 0;

  // In the order of their ids. Put replaces what is remembered of the same replica.
  virtual Result<std::vector<Peer>> peers() = 0;
  virtual Result<std::optional<Peer>> find_peer(const ReplicaId& replica) = 0;
  virtual Status put_peer(const Peer& peer) = 0;

  // Nothing if no such item is held.
  virtual Result<std::optional<StoredItem>> find(const ItemId& item) = 0;
  // Inserts or replaces an item together with all its index entries (none twice).
  virtual Status put(const StoredItem& item, std::span<const IndexEntry> entries) = 0;
  // Removing an item that is not held is no error.
  virtual Status remove(const ItemId& item) = 0;
  // In id order. The visitor must not write.
  virtual Status scan(const ItemIdRange& range, const std::function<Result<Visit>(const StoredItem&)>& visit) = 0;
  virtual Result<std::vector<IndexPosition>> find_index(const IndexQuery& query) = 0;
  virtual Result<ItemCounts> counts() = 0;

  // The first `count_max` items, in id order, of which some register's version is not contained in `knowledge`. Takes time
  // in proportion to the answer and to the steps of `knowledge`, not to the store.
  virtual Result<std::vector<ItemId>> find_lacking(const Knowledge& knowledge, const ItemIdRange& range,
                                                   std::size_t count_max) = 0;

  // The greatest versions that were held of an item when it left the filter (rule R21); empty: it did not. Putting an empty
  // one removes it.
  virtual Result<ClockVector> find_ghost(const ItemId& item) = 0;
  virtual Status put_ghost(const ItemId& item, const ClockVector& versions) = 0;
  // In id order. The visitor must not write.
  virtual Status scan_ghosts(
      const ItemIdRange& range,
      const std::function<Result<Visit>(const ItemId& item, const ClockVector& versions)>& visit) = 0;

  // Conflicts that wait for a person, in order of `when_ms`, then id. Put replaces one with the same id. The records of
  // decided ones are items; in databases of earlier builds they may stand here too.
  virtual Status put_conflict(const ConflictRecord& record) = 0;
  virtual Result<std::optional<ConflictRecord>> find_conflict(const ConflictId& id) = 0;
  virtual Status remove_conflict(const ConflictId& id) = 0;
  virtual Status scan_conflicts(const std::function<Result<Visit>(const ConflictRecord&)>& visit) = 0;

  // Makes everything durable at once. Only in a write transaction, and once.
  virtual Status commit() = 0;
};

enum class TransactionMode : std::uint8_t {
  kRead,   // any number at a time, each on its own snapshot
  kWrite,  // one at a time; unavailable if another process holds it longer than the store waits
};

// Durable metadata of one replica. Thread-compatible; outlives its transactions.
class MetadataStore {
 public:
  virtual ~MetadataStore() = default;

  virtual Result<std::unique_ptr<MetadataTransaction>> begin(TransactionMode mode) = 0;

  // Durable when it returns, apart from any transaction that is open, and replaces what was prepared before.
  virtual Status prepare(const PreparedWrite& write) = 0;
  // The write that was last prepared, if it has this number; otherwise an empty one. corruption: it is damaged, and may
  // have this number.
  virtual Result<PreparedWrite> prepared(std::uint64_t write_number) = 0;

  // What committed transactions have removed or replaced goes from the disk too, and with it what was prepared for a write
  // that is committed. Called after items with values became erased ones. While another transaction is open it may be left
  // undone, and be done when the store is opened next; so it is if the process ends before.
  virtual Status wipe_removed() = 0;
};

}  // namespace harmonica
