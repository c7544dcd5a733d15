#include "simulation/device.h"

#include <algorithm>
#include <utility>

#include "harmonica/assert.h"

namespace harmonica::simulation {
namespace {

std::uint64_t mix(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

std::uint64_t hash_text(std::string_view text, std::uint64_t salt) {
  std::uint64_t hash = salt;
  for (const char c : text) hash = mix(hash ^ static_cast<std::uint8_t>(c));
  return hash;
}

// Asks for power before and after an operation whose effect is durable, and for space before it.
template <typename Operation>
auto powered(Power& power, Disk& disk, Operation operation) -> decltype(operation()) {
  if (power.fails()) return Power::status();
  if (disk.refuses()) return Disk::status();
  auto result = operation();
  if (power.fails()) return Power::status();
  return result;
}

}  // namespace

void VirtualEnvironment::randomize(std::span<std::uint8_t> bytes) {
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_.next());
}

// Not SHA-256: ids only have to be spread, the same on every device, and quick to make.
Sha256 VirtualEnvironment::sha256(ByteView bytes) {
  std::array<std::uint64_t, 4> lanes = {1, 2, 3, bytes.size()};
  for (std::size_t index = 0; index < bytes.size(); ++index) {
    lanes[index % 4] = mix((lanes[index % 4] + bytes[index] + 1) * 0x9e3779b97f4a7c15u);
  }
  Sha256 result{};
  for (std::size_t index = 0; index < result.size(); ++index) {
    if (index % 8 == 0) {
      for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane] = mix(lanes[lane] + lanes[(lane + 1) % 4] * 31 + index);
    }
    result[index] = static_cast<std::uint8_t>(lanes[index / 8] >> (8 * (index % 8)));
  }
  return result;
}

void VirtualEnvironment::log(LogLevel /*level*/, std::string_view line) { world_.tell("    log: " + std::string(line)); }

Result<std::optional<Tick>> VirtualEnvironment::reserved_tick(const ReplicaId& replica) {
  if (power_.dead()) return Power::status();
  const auto found = reserved_.find(replica);
  return found == reserved_.end() ? std::optional<Tick>() : std::optional<Tick>(found->second);
}

Status VirtualEnvironment::set_reserved_tick(const ReplicaId& replica, Tick tick) {
  return powered(power_, disk_, [&] {
    reserved_[replica] = tick;
    return Status();
  });
}

class WatchedMetadata::Transaction final : public ForwardingTransaction {
 public:
  Transaction(WatchedMetadata& owner, std::unique_ptr<MetadataTransaction> inner)
      : ForwardingTransaction(std::move(inner)), owner_(owner) {}

  Status set_knowledge(const Knowledge& knowledge) override {
    if (!before_) {
      HARMONICA_ASSIGN_OR_RETURN(before_, inner_->knowledge());
    }
    committed_.after = knowledge;
    return inner_->set_knowledge(knowledge);
  }
  Status put(const StoredItem& item, std::span<const IndexEntry> entries) override {
    if (owner_.disk_.refuses()) return Disk::status();
    if (!committed_.replaced.contains(item.item.id)) {
      HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> before, inner_->find(item.item.id));
      committed_.replaced.emplace(item.item.id, before ? std::move(before->item) : Item());
    }
    committed_.puts.push_back(item);
    return inner_->put(item, entries);
  }
  Status remove(const ItemId& item) override {
    std::erase_if(committed_.puts, [&](const StoredItem& put) { return put.item.id == item; });
    committed_.removed.push_back(item);
    return inner_->remove(item);
  }
  Status set_state(const ReplicaState& state) override {
    HARMONICA_ASSIGN_OR_RETURN(const ReplicaState before, inner_->state());
    committed_.had_told_nobody = before.scope.empty() && before.former_replicas.empty();
    committed_.is_another = !before.replica.is_zero() && before.replica != state.replica;
    return inner_->set_state(state);
  }
  Status put_conflict(const ConflictRecord& record) override {
    committed_.records.push_back(record);
    return inner_->put_conflict(record);
  }
  Status commit() override {
    return powered(owner_.power_, owner_.disk_, [&]() -> Status {
      if (!before_) {
        HARMONICA_ASSIGN_OR_RETURN(before_, inner_->knowledge());
        committed_.after = *before_;
      }
      committed_.before = *before_;
      HARMONICA_ASSIGN_OR_RETURN(const ReplicaState state, inner_->state());
      committed_.replica = state.replica;
      HARMONICA_RETURN_IF_ERROR(inner_->commit());
      owner_.on_commit_(committed_);
      return {};
    });
  }

 private:
  WatchedMetadata& owner_;
  std::optional<Knowledge> before_;
  Committed committed_;
};

WatchedMetadata::WatchedMetadata(MetadataStore& inner, Power& power, Disk& disk, std::function<void(Committed&)> on_commit)
    : ForwardingMetadata(inner), power_(power), disk_(disk), on_commit_(std::move(on_commit)) {}

Result<std::unique_ptr<MetadataTransaction>> WatchedMetadata::begin(TransactionMode mode) {
  if (power_.dead()) return Power::status();
  if (mode == TransactionMode::kRead) return inner_.begin(mode);
  HARMONICA_ASSIGN_OR_RETURN(std::unique_ptr<MetadataTransaction> transaction, inner_.begin(mode));
  return std::unique_ptr<MetadataTransaction>(std::make_unique<Transaction>(*this, std::move(transaction)));
}

Status WatchedMetadata::prepare(const PreparedWrite& write) {
  return powered(power_, disk_, [&] { return inner_.prepare(write); });
}

FaultyStore::FaultyStore(providers::MemoryItemStore& inner, SharedWorld& world, Power& power, Disk& disk,
                         Listeners listeners)
    : ForwardingStore(inner), world_(world), power_(power), disk_(disk), listeners_(std::move(listeners)) {}

Result<Enumeration> FaultyStore::enumerate(const Bytes& anchor, const ShownItems& shown, EnumerationSink& sink) {
  if (power_.dead()) return Power::status();
  Result<Enumeration> result = inner_.enumerate(anchor, shown, sink);
  listeners_.enumerated();
  if (world_.random.chance(world_.misfortunes.edit_after_enumeration)) listeners_.user_edits();
  return result;
}

bool FaultyStore::fails_item(const StoreItem& item) {
  if (failing_salt == 0) return false;
  return hash_text(item.key, failing_salt) % 1000 < static_cast<std::uint64_t>(world_.misfortunes.item_failing);
}

Result<Written> FaultyStore::apply(std::span<const StoreWrite> writes, const Bytes& anchor) {
  if (power_.fails()) return Power::status();
  if (inner_.write_unit() == WriteUnit::kWholeStore && disk_.refuses()) return Disk::status();
  if (world_.random.chance(world_.misfortunes.racing_edit)) listeners_.user_edits();

  const bool in_two = inner_.write_unit() == WriteUnit::kEachItem && writes.size() > 1 &&
                      world_.random.chance(world_.misfortunes.write_in_two);
  Refused refused;
  if (!in_two) {
    Result<Written> written = apply_some(writes, anchor, refused);
    if (power_.fails()) return Power::status();
    return written;
  }
  HARMONICA_ASSIGN_OR_RETURN(Written first, apply_some(writes.first(writes.size() / 2), anchor, refused));
  if (power_.fails()) return Power::status();
  HARMONICA_ASSIGN_OR_RETURN(Written second, apply_some(writes.subspan(writes.size() / 2), first.anchor, refused));
  if (power_.fails()) return Power::status();
  first.outcomes.insert(first.outcomes.end(), second.outcomes.begin(), second.outcomes.end());
  first.anchor = second.anchor;
  return first;
}

// Leaves out the items that fail, and with them what cannot stand without them: children of a folder that is not made,
// folders that cannot go because something in them stays.
Result<Written> FaultyStore::apply_some(std::span<const StoreWrite> writes, const Bytes& anchor, Refused& refused) {
  const auto& store = static_cast<const providers::MemoryItemStore&>(inner_);
  std::vector<StoreWrite> rest;
  std::vector<bool> is_failed;
  for (const StoreWrite& write : writes) {
    bool fails = fails_item(write.item);
    if (write.kind == WriteKind::kPut) {
      fails = fails || (inner_.write_unit() == WriteUnit::kEachItem && disk_.refuses());
      fails = fails || (refused.contains(write.item.parent) && store.find(write.item.parent) == nullptr);
    } else {
      for (const StoreKey& child : store.children(write.item.key)) fails = fails || refused.contains(child);
    }
    is_failed.push_back(fails);
    if (fails) {
      if (world_.trace) world_.tell("    store: refuses " + write.item.key);
      refused.emplace(write.item.key, write);
      continue;
    }
    rest.push_back(write);
    StoreKey& previous = rest.back().previous;
    for (auto skipped = refused.find(previous); skipped != refused.end(); skipped = refused.find(previous)) {
      const StoreItem* held = store.find(previous);
      if (held != nullptr && held->parent == write.item.parent && !skipped->second.moves) break;
      previous = skipped->second.previous;
    }
  }
  HARMONICA_ASSIGN_OR_RETURN(Written partial, inner_.apply(rest, anchor));
  if (world_.trace) tell_writes(rest, partial.outcomes);
  Written written;
  written.anchor = std::move(partial.anchor);
  auto outcome = partial.outcomes.begin();
  for (const bool fails : is_failed) {
    if (fails) {
      written.outcomes.push_back(
          {WriteState::kFailed,
           disk_.full() ? Disk::status() : Status(StatusCode::kIo, "this item cannot be written for now")});
    } else {
      written.outcomes.push_back(*outcome++);
    }
  }
  return written;
}

void FaultyStore::tell_writes(std::span<const StoreWrite> writes, std::span<const WriteOutcome> outcomes) {
  for (std::size_t index = 0; index < writes.size(); ++index) {
    const StoreWrite& write = writes[index];
    std::string line = "    store: " + std::string(write.kind == WriteKind::kPut ? "put " : "remove ") + write.item.key +
                       " in '" + write.item.parent + "' after '" + write.previous + "'";
    if (!write.expected) line += ", not there before";
    switch (outcomes[index].state) {
      case WriteState::kWritten:
        line += ": written";
        break;
      case WriteState::kChanged:
        line += ": changed";
        break;
      case WriteState::kFailed:
        line += ": " + outcomes[index].status.to_text();
        break;
    }
    world_.tell(line);
  }
}

WatchedProvider::WatchedProvider(Provider& inner, SharedWorld& world, Watcher watcher)
    : ForwardingProvider(inner), world_(world), watcher_(std::move(watcher)) {}

Result<ChangeRequest> WatchedProvider::begin_destination(const ApplyOptions& options) {
  Result<ChangeRequest> request = inner_.begin_destination(options);
  if (request.ok()) {
    watcher_.detected();
    watcher_.told(request->knowledge);
  }
  return request;
}

Result<ReplicaDescription> WatchedProvider::begin_source(const ChangeRequest& request) {
  Result<ReplicaDescription> source = inner_.begin_source(request);
  if (source.ok()) watcher_.detected();
  return source;
}

Result<ChangeBatch> WatchedProvider::get_change_batch(const ItemId& first) {
  Result<ChangeBatch> batch = inner_.get_change_batch(first);
  if (batch.ok()) watcher_.told(batch->made_with);
  return batch;
}

Result<BatchReport> WatchedProvider::process_change_batch(const ChangeBatch& batch) {
  watcher_.received(batch);
  HARMONICA_ASSIGN_OR_RETURN(BatchReport report, inner_.process_change_batch(batch));
  watcher_.applied(report);
  if (world_.random.chance(world_.misfortunes.batch_repeated)) {
    world_.tell("    the batch arrives twice");
    const Result<BatchReport> again = inner_.process_change_batch(batch);
    // It is refused, or it changes nothing; errors of the store itself end the session.
    if (!again.ok() && again.status().code() != StatusCode::kInvalidArgument) return again.status();
  }
  return report;
}

Result<BatchReport> WatchedProvider::process_answers(std::span<const RangeAnswer> answers) {
  HARMONICA_ASSIGN_OR_RETURN(BatchReport report, inner_.process_answers(answers));
  watcher_.applied(report);
  return report;
}

Result<BatchReport> WatchedProvider::end() {
  HARMONICA_ASSIGN_OR_RETURN(BatchReport report, inner_.end());
  watcher_.applied(report);
  return report;
}

Device::Device(SharedWorld& world, DeviceOptions options)
    : world_(world),
      options_(std::move(options)),
      environment_(world, power_, disk_, options_.seed),
      store_(options_.schema, options_.write_unit),
      metadata_(options_.metadata, options_.keeps_backups ? KeptMetadata::Backups::kYes : KeptMetadata::Backups::kNo),
      watched_metadata_(metadata_, power_, disk_, [this](Committed& commit) { committed(commit); }),
      faulty_store_(store_, world, power_, disk_,
                    {[this] {
                       if (user) user();
                     },
                     [this] { edits_enumerated_ = edits_; }}) {}

Device::~Device() { shut_down(); }

Status Device::boot() {
  shut_down();
  power_.restore();
  sabotage_ = options_.broken == nullptr ? std::make_unique<Sabotage>() : options_.broken->make();
  const ReplicaOptions options{.guard = Guard::kConfirmed,
                               .custom_rule = options_.custom_rule,
                               .conflict_records_max = options_.record_limits.count_max,
                               .conflict_record_age_ms_max = options_.record_limits.age_ms_max,
                               .tombstone_retention_ms = options_.tombstone_retention_ms};
  MetadataStore& metadata = sabotage_->metadata(watched_metadata_);
  Environment& environment = sabotage_->environment(environment_);
  if (options_.has_store) {
    HARMONICA_ASSIGN_OR_RETURN(replica_, Replica::open(sabotage_->store(faulty_store_), metadata, environment, options));
  } else {
    HARMONICA_ASSIGN_OR_RETURN(replica_, Replica::open(metadata, environment, options));
  }
  WatchedProvider::Watcher watcher;
  watcher.detected = [this] { account_for_edits(); };
  watcher.told = [this](const Knowledge& knowledge) {
    const Result<ReplicaStatus> status = replica_->status();
    if (!status.ok()) return;
    Tick greatest = 0;
    for (const ClockVector& vector : knowledge.vectors()) greatest = std::max(greatest, vector.at(status->replica));
    const Result<std::optional<Tick>> reserved = environment_.reserved_tick(status->replica);
    if (greatest != 0 && reserved.ok() && reserved->value_or(0) < greatest) {
      world_.fail("a tick left the device before it was reserved outside the store: " +
                  world_.ledger.text(Version{status->replica, greatest}));
    }
  };
  watcher.received = [this](const ChangeBatch& batch) {
    if (world_.trace) {
      world_.tell("    batch " + std::to_string(batch.changes.size()) + " changes, " +
                  world_.ledger.text(batch.source.replica) + "->" + name() + (batch.last ? ", last" : ""));
      for (const ItemChange& change : batch.changes) {
        world_.tell("      " + world_.ledger.text(Item{change.item, change.type, change.existence, change.units}));
      }
    }
    if (old_batches().size() < 8 && !batch.changes.empty()) old_batches_.push_back(batch);
  };
  watcher.applied = [this](const BatchReport& report) {
    if (!world_.trace) return;
    world_.tell("    applied: " + std::to_string(report.created) + " created, " + std::to_string(report.updated) +
                " updated, " + std::to_string(report.deleted) + " deleted, " + std::to_string(report.conflicts) +
                " conflicts, " + std::to_string(report.deferred) + " deferred, " + std::to_string(report.minted) +
                " minted, " + std::to_string(report.failures.size()) + " failed");
    for (const ItemFailure& failure : report.failures) {
      world_.tell("      failed " + world_.ledger.text(failure.item) + ": " + failure.status.to_text());
    }
  };
  watched_provider_ =
      std::make_unique<WatchedProvider>(sabotage_->provider(replica_->provider()), world_, std::move(watcher));
  return {};
}

void Device::shut_down() {
  endpoint_.reset();
  watched_provider_.reset();
  replica_.reset();
  sabotage_.reset();
}

RequestHandler& Device::endpoint() {
  if (endpoint_ == nullptr) endpoint_ = make_provider_endpoint(*watched_provider_);
  return *endpoint_;
}

void Device::hang_up() { endpoint_.reset(); }

Result<DetectionReport> Device::detect() {
  Result<DetectionReport> report = replica_->detect();
  if (report.ok()) account_for_edits();
  return report;
}

// While a write that was lost is not settled, an order that a user has changed may be taken for its doing, until it is
// clear that it was not.
void Device::account_for_edits() {
  const bool any = edits_enumerated_ > edits_accounted_;
  edits_accounted_ = std::max(edits_accounted_, edits_enumerated_);
  if (!write_is_pending()) {
    edits_in_doubt_ = false;
  } else if (any) {
    edits_in_doubt_ = true;
  }
}

bool Device::write_is_pending() {
  const auto transaction = metadata_.begin(TransactionMode::kRead);
  if (!transaction.ok()) return false;
  const Result<ReplicaState> state = (*transaction)->state();
  if (!state.ok()) return false;
  const Result<PreparedWrite> prepared = metadata_.prepared(state->write_number + 1);
  return prepared.ok() && prepared->write_number == state->write_number + 1;
}

void Device::note_typed(const StoreKey& key, UnitId unit, const std::string& text) {
  std::erase_if(typed_, [&](const Typed& typed) { return typed.key == key && typed.unit == unit; });
  typed_.push_back({key, unit, text});
}

void Device::note_removed(const StoreKey& key) {
  std::erase_if(typed_, [&](const Typed& typed) { return typed.key == key; });
}

std::optional<Device::Backup> Device::make_backup() {
  if (!metadata_.can_be_backed_up()) return std::nullopt;
  return Backup{store_, metadata_.make_backup()};
}

void Device::install(const Schema& schema) {
  shut_down();
  providers::MemoryItemStore store(schema, options_.write_unit);
  std::vector<StoreKey> parents = {""};
  for (const Root& root : schema.roots) parents.push_back(root.name);
  for (std::size_t next = 0; next < parents.size(); ++next) {
    const std::vector<StoreKey> children = store_.children(parents[next]);
    for (const StoreKey& key : children) {
      StoreItem item = *store_.find(key);
      const ItemType* type = schema.find_type(item.type);
      if (type == nullptr) continue;
      std::erase_if(item.values, [&](const UnitValue& value) { return type->find_unit(value.unit) == nullptr; });
      HARMONICA_ASSERT(store.put(std::move(item)).ok());
      parents.push_back(key);
    }
  }
  store_ = std::move(store);
  options_.schema = schema;
}

void Device::restore(const Backup& backup) {
  shut_down();
  store_ = backup.store;
  options_.schema = store_.schema();
  metadata_.restore(backup.metadata);
  if (!replica_ids_.empty()) {
    const Result<std::optional<Tick>> reserved = environment_.reserved_tick(replica_ids_.back());
    // What the backup holds is not lost, also where there was no space to reserve it outside.
    const Tick kept = metadata_.reserved_tick(replica_ids_.back());
    if (reserved.ok()) world_.ledger.take_back(replica_ids_.back(), std::max(reserved->value_or(0), kept));
  }
  typed_.clear();
  old_batches_.clear();
  // Whatever was typed and not yet detected when the backup was made is detected now.
  ++edits_;
}

void Device::wipe() {
  shut_down();
  store_ = providers::MemoryItemStore(options_.schema, options_.write_unit);
  metadata_.wipe();
  typed_.clear();
  old_batches_.clear();
  ++edits_;
}

void Device::become_copy_of(Device& other) {
  shut_down();
  store_ = other.store_;
  metadata_.restore(other.metadata_.make_backup());
  environment_.copy_reservations(other.environment_);
  environment_.error_ms = other.environment_.error_ms;
  replica_ids_ = other.replica_ids_;
  typed_ = other.typed_;
  old_batches_.clear();
  ++edits_;
}

void Device::committed(Committed& commit) {
  ++commits_;
  if (std::find(replica_ids_.begin(), replica_ids_.end(), commit.replica) == replica_ids_.end()) {
    world_.ledger.name_replica(commit.replica, name() + std::string(replica_ids_.size(), '\''));
    replica_ids_.push_back(commit.replica);
    if (replica_ids_.size() > 1) ++world_.renewals;
  }
  if (std::optional<std::string> broken = world_.ledger.commit(commit)) world_.fail(*std::move(broken));
  if (world_.trace) {
    for (const StoredItem& put : commit.puts) {
      world_.tell("    " + name() + " has " + world_.ledger.text(put.item) + (put.shown ? "" : " (not shown)"));
    }
    for (const ConflictRecord& record : commit.records) {
      world_.tell("    " + name() + " records " + world_.ledger.text(record.item) + " unit " + std::to_string(record.unit) +
                  ": kept " + world_.ledger.text(record.kept.version) + ", lost " +
                  world_.ledger.text(record.lost.version) + " by " + record.rule);
    }
  }
  if (world_.ledger.last_commit_minted_by_user() && edits_ == edits_accounted_ && !edits_in_doubt_) {
    world_.fail("minted without an edit: " + name() + " gave new versions to what nobody had changed");
  }
}

}  // namespace harmonica::simulation
