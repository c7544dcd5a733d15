// A replica: an item store joined with its metadata. What apps open.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harmonica/conflict.h"
#include "harmonica/extension/environment.h"
#include "harmonica/extension/item_store.h"
#include "harmonica/extension/metadata_store.h"
#include "harmonica/knowledge.h"
#include "harmonica/limits.h"
#include "harmonica/status.h"

namespace harmonica {

class Provider;

enum class Guard : std::uint8_t {
  kOn,
  kConfirmed,  // the user has seen the reasons: go through
};

struct ReplicaOptions {
  Guard guard = Guard::kOn;
  CustomRule custom_rule;  // empty: items that need one are left out
  // Of decided conflicts; those go that are so much older than the youngest change known, and the oldest when there are too
  // many. What waits for a person stays.
  std::size_t conflict_records_max = limits::kConflictRecordsMax;
  std::int64_t conflict_record_age_ms_max = limits::kConflictRecordAgeMsMax;
};

// What a detection of local changes found.
struct DetectionReport {
  std::uint64_t enumerated = 0;
  std::uint64_t created = 0;
  std::uint64_t updated = 0;
  std::uint64_t deleted = 0;
  std::vector<std::string> skipped;  // what the store could not offer, a line each
  std::vector<std::string> mended;   // damage that was read around and is repaired by the next write, a line each
};

struct ReplicaStatus {
  ReplicaId replica;
  ScopeName scope;
  std::vector<ReplicaId> former_replicas;
  Knowledge knowledge;
  ItemCounts counts;
  std::uint64_t conflicts_decided = 0;
  std::uint64_t conflicts_deferred = 0;
  std::uint64_t parked = 0;     // held, but not shown because of another item
  std::uint64_t unwritten = 0;  // shown differently until the store can be written
};

// An item as the replica shows it.
struct ReplicaItem {
  Item item;
  ItemView view;
  StoreKey key;                   // empty: not in the store
  ItemId parent;                  // shown parent
  std::vector<UnitValue> values;  // as shown
};

enum class Decision : std::uint8_t { kKeepLocal, kTakeRemote };

// One copy of a scope. Store, metadata and environment must outlive it. Thread-compatible.
class Replica {
 public:
  // Opens, and at first makes, the replica. A store restored from an older backup gets a new replica id here (rule R30).
  // unsupported: the metadata belongs to another schema.
  static Result<std::unique_ptr<Replica>> open(ItemStore& store, MetadataStore& metadata, Environment& environment,
                                               const ReplicaOptions& options);
  virtual ~Replica() = default;

  // The side that sessions talk to. Owned by the replica.
  virtual Provider& provider() = 0;

  // Finds what changed in the store since it was last looked at, and gives it versions. guard: see ReplicaOptions.
  virtual Result<DetectionReport> detect() = 0;
  // Of the last detection, whoever asked for it.
  virtual const DetectionReport& last_detection() const = 0;

  virtual Result<ReplicaStatus> status() = 0;

  // Items shown under a parent, in their order (zero: the root above all; for a scope with roots, their ids).
  virtual Result<std::vector<ReplicaItem>> children(const ItemId& parent) = 0;
  virtual Result<std::optional<ReplicaItem>> find(const ItemId& item) = 0;
  // Every item held, tombstones too, in id order.
  virtual Status scan(const std::function<Result<Visit>(const StoredItem&)>& visit) = 0;

  // Conflict records, oldest first.
  virtual Result<std::vector<ConflictRecord>> conflicts() = 0;
  // Makes the value that lost the current one: a new edit, which travels. not_found, or invalid_argument for a deferred
  // one.
  virtual Status restore(const ConflictId& conflict) = 0;
  // Forgets a decided conflict and, with it, the value that lost. not_found, or invalid_argument for a deferred one.
  virtual Status drop(const ConflictId& conflict) = 0;
  // Ends a deferred conflict. not_found, or invalid_argument for a decided one.
  virtual Status decide(const ConflictId& conflict, Decision decision) = 0;
};

// How two replicas of one scope differ.
struct Difference {
  ItemId item;
  std::string what;  // one line
};

struct Comparison {
  bool equal = false;
  ScopeName scope;
  Knowledge first_knowledge;
  Knowledge second_knowledge;
  std::vector<Difference> differences;  // at most `differences_max`
};

// Compares registers and what is shown, item by item, after a detection on both sides. scope_mismatch: not of one scope.
Result<Comparison> compare(Replica& first, Replica& second, std::size_t differences_max);

}  // namespace harmonica
