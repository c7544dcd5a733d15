// One simulated device: a store and metadata that survive power cuts, and a replica that does not.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harmonica/extension/remote.h"
#include "harmonica/limits.h"
#include "harmonica/providers/memory.h"
#include "harmonica/replica.h"
#include "simulation/broken_variants.h"
#include "simulation/disk.h"
#include "simulation/forwarding.h"
#include "simulation/kept_metadata.h"
#include "simulation/ledger.h"
#include "simulation/misfortunes.h"
#include "simulation/power.h"
#include "simulation/random.h"

namespace harmonica::simulation {

// What all devices of a run share.
struct SharedWorld {
  std::int64_t now_ms = 0;  // true time
  Random random;
  Misfortunes misfortunes;
  bool forgetting = false;  // devices clean their tombstones
  bool filters = false;     // some hold only what matches
  // Conflict records go before anybody has looked at them.
  bool limited_records = false;
  Ledger ledger;
  std::optional<std::string> violation;           // the first one
  std::uint64_t lost_between_copies = 0;          // writes, before the copies were found out
  std::uint64_t split_between_copies = 0;         // items that differ in the end, after a copy was restored
  std::uint64_t renewals = 0;                     // replicas that took another id
  std::function<void(const std::string&)> trace;  // empty: nobody listens

  explicit SharedWorld(std::uint64_t seed) : random(seed) {}
  void fail(std::string what) {
    if (!violation) violation = std::move(what);
  }
  void tell(const std::string& line) {
    if (trace) trace(line);
  }
};

// Virtual time with an error of its own, random numbers from the seed, reservations that no power cut and no restore touch.
class VirtualEnvironment final : public Environment {
 public:
  VirtualEnvironment(SharedWorld& world, Power& power, Disk& disk, std::uint64_t seed)
      : world_(world), power_(power), disk_(disk), random_(seed) {}

  std::int64_t error_ms = 0;

  std::int64_t wall_clock_ms() override { return world_.now_ms + error_ms; }
  void randomize(std::span<std::uint8_t> bytes) override;
  Sha256 sha256(ByteView bytes) override;
  void log(LogLevel level, std::string_view line) override;
  Result<std::optional<Tick>> reserved_tick(const ReplicaId& replica) override;
  Status set_reserved_tick(const ReplicaId& replica, Tick tick) override;
  void copy_reservations(const VirtualEnvironment& other) { reserved_ = other.reserved_; }

 private:
  SharedWorld& world_;
  Power& power_;
  Disk& disk_;
  Random random_;
  std::map<ReplicaId, Tick> reserved_;
};

// Metadata that loses power or has no space, and tells a listener of every commit.
class WatchedMetadata final : public ForwardingMetadata {
 public:
  // `on_commit` gets what was written.
  WatchedMetadata(MetadataStore& inner, Power& power, Disk& disk, std::function<void(Committed&)> on_commit);

  Result<std::unique_ptr<MetadataTransaction>> begin(TransactionMode mode) override;
  Status prepare(const PreparedWrite& write) override;

 private:
  class Transaction;

  Power& power_;
  Disk& disk_;
  std::function<void(Committed&)> on_commit_;
};

// A store that loses power or has no space, refuses some items, and whose user types while it is written.
class FaultyStore final : public ForwardingStore {
 public:
  struct Listeners {
    std::function<void()> user_edits;
    std::function<void()> enumerated;
  };
  FaultyStore(providers::MemoryItemStore& inner, SharedWorld& world, Power& power, Disk& disk, Listeners listeners);

  // Items chosen by this number cannot be written; 0: all can.
  std::uint64_t failing_salt = 0;

  Result<Enumeration> enumerate(const Bytes& anchor, const ShownItems& shown, EnumerationSink& sink) override;
  Result<Written> apply(std::span<const StoreWrite> writes, const Bytes& anchor) override;

 private:
  bool fails_item(const StoreItem& item);
  void tell_writes(std::span<const StoreWrite> writes, std::span<const WriteOutcome> outcomes);
  // The writes of one call that failed, by key.
  using Refused = std::map<StoreKey, StoreWrite>;

  Result<Written> apply_some(std::span<const StoreWrite> writes, const Bytes& anchor, Refused& refused);

  SharedWorld& world_;
  Power& power_;
  Disk& disk_;
  Listeners listeners_;
};

// The replica's provider as sessions see it: checks what leaves, repeats batches, and keeps some for later.
class WatchedProvider final : public ForwardingProvider {
 public:
  struct Watcher {
    std::function<void()> detected;                    // after a detection that succeeded
    std::function<void(const Knowledge&)> told;        // knowledge leaves the device
    std::function<void(const ChangeBatch&)> received;  // a batch is about to be applied
    std::function<void(const BatchReport&)> applied;
  };

  WatchedProvider(Provider& inner, SharedWorld& world, Watcher watcher);

  Result<ChangeRequest> begin_destination(const ApplyOptions& options) override;
  Result<ReplicaDescription> begin_source(const ChangeRequest& request) override;
  Result<ChangeBatch> get_change_batch(const ItemId& first) override;
  Result<BatchReport> process_change_batch(const ChangeBatch& batch) override;
  Result<BatchReport> process_answers(std::span<const RangeAnswer> answers) override;
  Result<BatchReport> end() override;

 private:
  SharedWorld& world_;
  Watcher watcher_;
};

// How long, and how many, conflict records are kept.
struct RecordLimits {
  std::size_t count_max = limits::kConflictRecordsMax;
  std::int64_t age_ms_max = limits::kConflictRecordAgeMsMax;
  friend bool operator==(const RecordLimits&, const RecordLimits&) = default;
};

struct DeviceOptions {
  std::string name;
  Schema schema;
  WriteUnit write_unit = WriteUnit::kEachItem;
  MetadataKind metadata = MetadataKind::kMemory;
  bool keeps_backups = false;  // also where its metadata is in SQLite
  std::uint64_t seed = 0;
  const BrokenVariant* broken = nullptr;  // nullptr: the kernel as it is
  CustomRule custom_rule;
  RecordLimits record_limits;
  std::int64_t tombstone_retention_ms = limits::kTombstoneRetentionMs;
  bool has_store = true;  // false: it only keeps and passes on
};

class Device {
 public:
  Device(SharedWorld& world, DeviceOptions options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const std::string& name() const { return options_.name; }
  const Schema& schema() const { return options_.schema; }
  const RecordLimits& record_limits() const { return options_.record_limits; }
  bool has_store() const { return options_.has_store; }
  providers::MemoryItemStore& store() { return store_; }
  VirtualEnvironment& environment() { return environment_; }
  Power& power() { return power_; }
  Disk& disk() { return disk_; }
  FaultyStore& faults() { return faulty_store_; }
  // Past every decorator: for checkers.
  MetadataStore& durable_metadata() { return metadata_; }

  // Opens the replica from what is durable. Restores the power.
  Status boot();
  // Forgets all that is not durable.
  void shut_down();
  bool running() const { return replica_ != nullptr; }
  Replica& replica() { return *replica_; }
  Provider& provider() { return *watched_provider_; }
  // The far end of channels to this device. `hang_up` ends whatever session it had.
  RequestHandler& endpoint();
  void hang_up();
  bool has_endpoint() const { return endpoint_ != nullptr; }

  Result<DetectionReport> detect();

  // User edits. What was typed must come to be a version unless the user overwrites it himself.
  struct Typed {
    StoreKey key;
    UnitId unit = 0;
    std::string text;
  };
  void note_edit() { ++edits_; }
  void note_typed(const StoreKey& key, UnitId unit, const std::string& text);
  void note_removed(const StoreKey& key);
  std::vector<Typed>& typed() { return typed_; }
  // Called at random moments inside store operations.
  std::function<void()> user;

  // Whether the store may differ from what the replica thinks it shows.
  bool settled() const { return edits_ == edits_accounted_; }
  // Whether a write that was prepared may have been lost with its commit; the next session settles it.
  bool write_is_pending();
  std::uint64_t commits() const { return commits_; }
  const std::vector<ReplicaId>& replica_ids() const { return replica_ids_; }
  // Has had a filter: what it says of items that it does not hold is what others said.
  bool ever_filtered = false;

  // Batches this device received earlier.
  std::vector<ChangeBatch>& old_batches() {
    // What was made anew since would come back under its former versions, which nobody knows.
    if (old_batches_before_ != world_.renewals) old_batches_.clear();
    old_batches_before_ = world_.renewals;
    return old_batches_;
  }

  // A backup and its return. Nothing where none can be made.
  struct Backup {
    providers::MemoryItemStore store;
    MetadataBackup metadata;
  };
  std::optional<Backup> make_backup();
  // Another version of the app, which keeps of what stands in the store only what it knows. Leaves it shut down.
  void install(const Schema& schema);
  void restore(const Backup& backup);
  // Loses its store and its metadata. Leaves it shut down.
  void wipe();
  // Becomes a copy of another device, with all that it keeps anywhere.
  void become_copy_of(Device& other);

 private:
  void committed(Committed& commit);
  void account_for_edits();

  SharedWorld& world_;
  DeviceOptions options_;
  Power power_;
  Disk disk_;
  VirtualEnvironment environment_;
  providers::MemoryItemStore store_;
  KeptMetadata metadata_;
  WatchedMetadata watched_metadata_;
  FaultyStore faulty_store_;
  std::unique_ptr<Sabotage> sabotage_;
  std::unique_ptr<Replica> replica_;
  std::unique_ptr<WatchedProvider> watched_provider_;
  std::unique_ptr<RequestHandler> endpoint_;
  std::vector<ReplicaId> replica_ids_;
  std::vector<Typed> typed_;
  std::vector<ChangeBatch> old_batches_;
  std::uint64_t old_batches_before_ = 0;  // that many renewals
  std::uint64_t edits_ = 0;
  std::uint64_t edits_enumerated_ = 0;
  std::uint64_t edits_accounted_ = 0;
  bool edits_in_doubt_ = false;
  std::uint64_t commits_ = 0;
};

}  // namespace harmonica::simulation
