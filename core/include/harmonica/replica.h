// A replica: an item store joined with its metadata. What apps open.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harmonica/conflict.h"
#include "harmonica/extension/environment.h"
#include "harmonica/extension/item_store.h"
#include "harmonica/extension/metadata_store.h"
#include "harmonica/filter.h"
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
  // many. They go from every replica of the scope, so the least limits of all count. What waits for a person stays.
  std::size_t conflict_records_max = limits::kConflictRecordsMax;
  std::int64_t conflict_record_age_ms_max = limits::kConflictRecordAgeMsMax;
  // How long deletions are remembered one by one. The longer, the longer a device may stay away without having to compare
  // its items with those of others when it returns. 0: as long as the session that finds them.
  std::int64_t tombstone_retention_ms = limits::kTombstoneRetentionMs;
  std::string device_name;  // by which people know the device, told to all others; empty: none
  // Deletions are forgotten earlier where every replica of the scope that has been heard of, and has not retired, has met
  // this one and knows them. Saves room here; each of them then takes some bytes in every session instead, and who was not
  // heard of, as a device restored from a backup, has to compare its items (docs/adr/0024).
  bool forget_acknowledged = false;
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
  Knowledge forgotten;  // versions of deletions that are not remembered one by one any more
  ItemCounts counts;    // of items without conflict records
  std::uint64_t conflicts_decided = 0;
  std::uint64_t conflicts_deferred = 0;
  std::optional<Filter> filter;  // what it wants to hold; nothing: everything
  bool has_had_filter = false;   // now or at any time before
  std::uint64_t outside = 0;     // held although they do not match: they go when one that holds everything has them
  std::uint64_t parked = 0;      // held, but not shown because of another item
  std::uint64_t unwritten = 0;   // shown differently until the store can be written
  std::uint64_t erased = 0;      // for good; of these nothing is held but that they are
  std::uint64_t held = 0;        // of types that the schema does not have: kept, passed on and not shown
};

// A replica of the scope, as far as it has been heard of.
struct Device {
  ReplicaId replica;
  std::string name;  // empty: none was given
  bool is_self = false;
  bool is_retired = false;
  bool is_copy = false;                         // has its id because the former one was in use on two devices
  ReplicaId former;                             // the id that it had before; zero: none
  ReplicaId successor;                          // the id that the same device has now; zero: none, or it is not known
  Tick last_change = 0;                         // the greatest of its ticks that is known here; 0: none
  std::optional<std::int64_t> last_session_ms;  // with this replica, to the hour; nothing: never
  friend bool operator==(const Device&, const Device&) = default;
};

// An item as the replica shows it.
struct ReplicaItem {
  Item item;
  ItemView view;
  StoreKey key;                   // empty: not in the store
  ItemId parent;                  // shown parent
  std::vector<UnitValue> values;  // as shown
};

enum class DifferenceKind : std::uint8_t { kOnlyFirst, kOnlySecond, kVersions };

// A living item in which two replicas of one scope differ.
struct Difference {
  ItemId item;
  DifferenceKind kind = DifferenceKind::kVersions;
  std::string what;  // one line
};

struct Comparison {
  bool equal = false;
  ScopeName scope;
  Knowledge first_knowledge;
  Knowledge second_knowledge;
  std::vector<Difference> differences;  // at most as many as were asked for
  std::uint64_t difference_count = 0;   // of all
  std::uint64_t exchanges = 0;          // with the other replica
};

enum class Decision : std::uint8_t { kKeepLocal, kTakeRemote };

// One copy of a scope. Store, metadata and environment must outlive it. Thread-compatible.
class Replica {
 public:
  // Opens, and at first makes, the replica. A store restored from an older backup gets a new replica id here (rule R30).
  // The store's schema may be another than before, newer or older, if the two are compatible: what it does not have is kept
  // and passed on, and shown again under one that has it. unsupported: the two contradict each other, or it is not known
  // what the metadata were made with.
  static Result<std::unique_ptr<Replica>> open(ItemStore& store, MetadataStore& metadata, Environment& environment,
                                               const ReplicaOptions& options);
  // A replica without a store: it shows nothing, and keeps and passes on what others have. Its schema is that of its peers:
  // it takes up the first one, and what each compatible one has more.
  static Result<std::unique_ptr<Replica>> open(MetadataStore& metadata, Environment& environment,
                                               const ReplicaOptions& options);
  virtual ~Replica() = default;

  // The store's; without a store what was taken up from peers, and empty until then.
  virtual const Schema& schema() const = 0;

  // The side that sessions talk to. Owned by the replica.
  virtual Provider& provider() = 0;

  // Finds what changed in the store since it was last looked at, and gives it versions. guard: see ReplicaOptions.
  virtual Result<DetectionReport> detect() = 0;
  // Of the last detection, whoever asked for it.
  virtual const DetectionReport& last_detection() const = 0;

  virtual Result<ReplicaStatus> status() = 0;

  // From now on the replica wants to hold what matches; nothing: everything. What it holds and does not match goes in the
  // next session with a replica without a filter that has it; what matches and is not held comes with that. Ends a session
  // that is open. Setting the filter that it has changes nothing. Errors as of check_filter, and of the metadata.
  virtual Status set_filter(const std::optional<Filter>& filter) = 0;

  // Items shown under a parent, in their order (zero: the root above all; for a scope with roots, their ids).
  virtual Result<std::vector<ReplicaItem>> children(const ItemId& parent) = 0;
  virtual Result<std::optional<ReplicaItem>> find(const ItemId& item) = 0;
  // Every item held, tombstones too, in id order; conflict records are listed by `conflicts` alone.
  virtual Status scan(const std::function<Result<Visit>(const StoredItem&)>& visit) = 0;

  // Compares the living items and the versions of their registers with what another replica holds, near or far, after a
  // detection on both sides: by fingerprints of id ranges, so that few bytes pass where little differs. Equal versions mean
  // equal contents, and so equal views. Only items that match the filters of both count. scope_mismatch: not of one scope.
  // limit_exceeded, invalid_argument: the peer's answers make no sense.
  virtual Result<Comparison> compare_with(Provider& second, std::size_t differences_max) = 0;

  // Gives up what this replica claims to know of some items, but for its own versions of those it holds, so that they are
  // sent to it again.
  virtual Status ask_again_for(std::span<const ItemId> items) = 0;

  // The same for items that went from here because of a filter, in a version that `peer` does not know: if it was lost with
  // a restored backup, nobody will ever know it, and the item would not come back. Their number.
  virtual Result<std::uint64_t> ask_again_for_lost(const Knowledge& peer) = 0;

  // Erases an item, and all that is shown below it, for good: values, conflict records and former texts go here at once,
  // and at every other replica when it hears of it, whatever was written there meanwhile. What is left is the id, as
  // erased; the same thing made anew gets another one. Ends a session that is open. Without a store, what would be shown
  // below it goes. What was erased, the item first. not_found: not held, or erased before.
  virtual Result<std::vector<ItemId>> forget(const ItemId& item) = 0;

  // All replicas that have been heard of: this one first.
  virtual Result<std::vector<Device>> devices() = 0;
  // Says that a device has left for good. All others hear of it, and what was known of its changes takes no room in
  // sessions any more. If it comes back all the same, it takes another id, and loses nothing. not_found, or
  // invalid_argument for this one.
  virtual Status retire(const ReplicaId& replica) = 0;

  // Conflict records, oldest first: those of conflicts that were decided, here or on any replica without a filter that this
  // one has heard from; and of those that wait here for a person.
  virtual Result<std::vector<ConflictRecord>> conflicts() = 0;
  // Makes the value that lost the current one: a new edit, which travels; the record is dropped. not_found, or
  // invalid_argument for a deferred one.
  virtual Status restore(const ConflictId& conflict) = 0;
  // Forgets a decided conflict and, with it, the value that lost: here at once, and on every other replica that hears of
  // it. not_found, or invalid_argument for a deferred one.
  virtual Status drop(const ConflictId& conflict) = 0;
  // Ends a deferred conflict. not_found, or invalid_argument for a decided one.
  virtual Status decide(const ConflictId& conflict, Decision decision) = 0;
};

// Says of each difference what both hold.
Status describe_differences(Comparison& comparison, Replica& first, Replica& second);

// What `repair` did with the differences of a comparison.
struct RepairReport {
  std::uint64_t asked_again_first = 0;   // items that the first one will be sent again
  std::uint64_t asked_again_second = 0;  // ... the second one
  std::uint64_t left_to_sync = 0;        // differ because the two have not been synced since
  std::uint64_t left = 0;  // cannot be mended so: both claim what they do not hold, or one claims versions of its own
};

// Where one of the two claims to know a version that the other holds, and does not hold it, it asks again for that item:
// the next sync brings it; and so does one that has or had a filter for what only the other one holds, as what it remembers
// of the item may keep that out. Nothing else is touched, so it takes nothing from a replica that only has not synced yet.
Result<RepairReport> repair(const Comparison& comparison, Replica& first, Replica& second);

// Compares two replicas directly, and describes where they differ.
Result<Comparison> compare(Replica& first, Replica& second, std::size_t differences_max);

}  // namespace harmonica
