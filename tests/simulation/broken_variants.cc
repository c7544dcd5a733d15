#include "simulation/broken_variants.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "simulation/forwarding.h"

namespace harmonica::simulation {
namespace {

template <typename Made>
std::unique_ptr<Sabotage> make_sabotage() {
  return std::make_unique<Made>();
}

// Metadata whose write transactions are of a spoilt kind.
template <typename Transaction>
class SpoiltMetadata final : public ForwardingMetadata {
 public:
  using ForwardingMetadata::ForwardingMetadata;
  Result<std::unique_ptr<MetadataTransaction>> begin(TransactionMode mode) override {
    HARMONICA_ASSIGN_OR_RETURN(std::unique_ptr<MetadataTransaction> transaction, inner_.begin(mode));
    return std::unique_ptr<MetadataTransaction>(std::make_unique<Transaction>(inner_, std::move(transaction)));
  }
};

template <typename Transaction>
class MetadataSabotage final : public Sabotage {
 public:
  MetadataStore& metadata(MetadataStore& inner) override { return spoilt_.emplace(inner); }

 private:
  std::optional<SpoiltMetadata<Transaction>> spoilt_;
};

template <typename Spoilt>
class StoreSabotage final : public Sabotage {
 public:
  ItemStore& store(ItemStore& inner) override { return spoilt_.emplace(inner); }

 private:
  std::optional<Spoilt> spoilt_;
};

template <typename Spoilt>
class ProviderSabotage final : public Sabotage {
 public:
  Provider& provider(Provider& inner) override { return spoilt_.emplace(inner); }

 private:
  std::optional<Spoilt> spoilt_;
};

Knowledge with_each_vector(const Knowledge& knowledge, const std::function<ClockVector(const ClockVector&)>& change) {
  std::vector<ClockVector> vectors;
  for (const ClockVector& vector : knowledge.vectors()) vectors.push_back(change(vector));
  Result<Knowledge> changed = Knowledge::from_steps(
      std::move(vectors), std::vector<Knowledge::Step>(knowledge.steps().begin(), knowledge.steps().end()));
  return changed.ok() ? *std::move(changed) : knowledge;
}

// Knowledge is committed in a transaction of its own, and only then what it speaks of.
class KnowledgeFirst final : public ForwardingTransaction {
 public:
  KnowledgeFirst(MetadataStore& store, std::unique_ptr<MetadataTransaction> inner)
      : ForwardingTransaction(std::move(inner)), store_(store) {}

  Status set_state(const ReplicaState& state) override {
    later_.push_back([state](MetadataTransaction& transaction) { return transaction.set_state(state); });
    return inner_->set_state(state);
  }
  Status set_knowledge(const Knowledge& knowledge) override {
    knowledge_ = knowledge;
    return inner_->set_knowledge(knowledge);
  }
  Status put(const StoredItem& item, std::span<const IndexEntry> entries) override {
    later_.push_back([item, copy = std::vector<IndexEntry>(entries.begin(), entries.end())](
                         MetadataTransaction& transaction) { return transaction.put(item, copy); });
    return inner_->put(item, entries);
  }
  Status remove(const ItemId& item) override {
    later_.push_back([item](MetadataTransaction& transaction) { return transaction.remove(item); });
    return inner_->remove(item);
  }
  Status put_conflict(const ConflictRecord& record) override {
    later_.push_back([record](MetadataTransaction& transaction) { return transaction.put_conflict(record); });
    return inner_->put_conflict(record);
  }
  Status remove_conflict(const ConflictId& id) override {
    later_.push_back([id](MetadataTransaction& transaction) { return transaction.remove_conflict(id); });
    return inner_->remove_conflict(id);
  }
  Status commit() override {
    // A first open has no knowledge to hurry with.
    HARMONICA_ASSIGN_OR_RETURN(const ReplicaState state, inner_->state());
    if (!knowledge_ || state.replica.is_zero()) return inner_->commit();
    inner_.reset();
    HARMONICA_ASSIGN_OR_RETURN(inner_, store_.begin(TransactionMode::kWrite));
    HARMONICA_RETURN_IF_ERROR(inner_->set_knowledge(*knowledge_));
    HARMONICA_RETURN_IF_ERROR(inner_->commit());
    inner_.reset();
    HARMONICA_ASSIGN_OR_RETURN(inner_, store_.begin(TransactionMode::kWrite));
    for (const auto& operation : later_) HARMONICA_RETURN_IF_ERROR(operation(*inner_));
    return inner_->commit();
  }

 private:
  MetadataStore& store_;
  std::optional<Knowledge> knowledge_;
  std::vector<std::function<Status(MetadataTransaction&)>> later_;
};

// Own ticks are claimed only for the items that were written with them.
class OwnTicksInParts final : public ForwardingTransaction {
 public:
  OwnTicksInParts(MetadataStore&, std::unique_ptr<MetadataTransaction> inner) : ForwardingTransaction(std::move(inner)) {}

  Status set_knowledge(const Knowledge& knowledge) override {
    HARMONICA_ASSIGN_OR_RETURN(const ReplicaState state, inner_->state());
    HARMONICA_ASSIGN_OR_RETURN(const Knowledge before, inner_->knowledge());
    const Tick old_tick = before.at(kFirstItemId).at(state.replica);
    Knowledge spoilt = with_each_vector(knowledge, [&](const ClockVector& vector) {
      std::vector<ClockVector::Entry> entries;
      for (const ClockVector::Entry& entry : vector.entries()) {
        if (entry.replica != state.replica) entries.push_back(entry);
      }
      entries.push_back({state.replica, old_tick});
      return ClockVector(std::move(entries));
    });
    for (const ItemId& item : put_) spoilt.merge_at(item, knowledge.at(item));
    return inner_->set_knowledge(spoilt);
  }
  Status put(const StoredItem& item, std::span<const IndexEntry> entries) override {
    put_.push_back(item.item.id);
    return inner_->put(item, entries);
  }

 private:
  std::vector<ItemId> put_;
};

// Claims one tick more of every other replica than it holds.
class OneTickTooMany final : public ForwardingTransaction {
 public:
  OneTickTooMany(MetadataStore&, std::unique_ptr<MetadataTransaction> inner) : ForwardingTransaction(std::move(inner)) {}

  Status set_knowledge(const Knowledge& knowledge) override {
    HARMONICA_ASSIGN_OR_RETURN(const ReplicaState state, inner_->state());
    return inner_->set_knowledge(with_each_vector(knowledge, [&](const ClockVector& vector) {
      ClockVector more = vector;
      for (const ClockVector::Entry& entry : vector.entries()) {
        if (entry.replica != state.replica) more.raise({entry.replica, entry.tick | 1});
      }
      return more;
    }));
  }
};

// Forgets the ticks used as soon as the replica is closed.
class ForgetsTicks final : public ForwardingTransaction {
 public:
  ForgetsTicks(MetadataStore&, std::unique_ptr<MetadataTransaction> inner) : ForwardingTransaction(std::move(inner)) {}

  Result<ReplicaState> state() override {
    HARMONICA_ASSIGN_OR_RETURN(ReplicaState state, inner_->state());
    state.last_tick = 0;
    state.reserved_tick = ~Tick{0} >> 1;
    return state;
  }
  Status set_state(const ReplicaState& state) override {
    ReplicaState spoilt = state;
    spoilt.last_tick = 0;
    spoilt.reserved_tick = 0;
    return inner_->set_state(spoilt);
  }
};

class DropsRecords final : public ForwardingTransaction {
 public:
  DropsRecords(MetadataStore&, std::unique_ptr<MetadataTransaction> inner) : ForwardingTransaction(std::move(inner)) {}

  Status put(const StoredItem& item, std::span<const IndexEntry> entries) override {
    return item.item.type == kConflictRecordType ? Status() : inner_->put(item, entries);
  }
};

// Forgets what was prepared, so that after a power cut its own writes look like the user's.
class ForgetsPrepared final : public ForwardingMetadata {
 public:
  using ForwardingMetadata::ForwardingMetadata;
  Result<PreparedWrite> prepared(std::uint64_t) override { return PreparedWrite(); }
};

class PreparedSabotage final : public Sabotage {
 public:
  MetadataStore& metadata(MetadataStore& inner) override { return spoilt_.emplace(inner); }

 private:
  std::optional<ForgetsPrepared> spoilt_;
};

// Takes every item for written.
class IgnoresFailures final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<Written> apply(std::span<const StoreWrite> writes, const Bytes& anchor) override {
    HARMONICA_ASSIGN_OR_RETURN(Written written, inner_.apply(writes, anchor));
    for (WriteOutcome& outcome : written.outcomes) {
      if (outcome.state == WriteState::kFailed) outcome = WriteOutcome();
    }
    return written;
  }
};

// Takes a store for written although it had changed, and so loses track of the user's edit.
class WritesBlindly final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<Written> apply(std::span<const StoreWrite> writes, const Bytes& anchor) override {
    HARMONICA_ASSIGN_OR_RETURN(Written written, inner_.apply(writes, anchor));
    for (WriteOutcome& outcome : written.outcomes) {
      if (outcome.state == WriteState::kChanged) outcome = WriteOutcome();
    }
    return written;
  }
};

// The first batch of several claims to be the last and to cover everything.
class ForgetsInterruption final : public ForwardingProvider {
 public:
  using ForwardingProvider::ForwardingProvider;
  Result<ChangeBatch> get_change_batch(const ItemId& first) override {
    HARMONICA_ASSIGN_OR_RETURN(ChangeBatch batch, inner_.get_change_batch(first));
    if (batch.last) return batch;
    const ClockVector known = batch.made_with.at(batch.range.last);
    batch.range.last = last_item_id();
    ItemIdRange rest = batch.range;
    batch.made_with.assign(rest, known);
    batch.last = true;
    return batch;
  }
};

// What the destination holds stands against everything concurrent, under its old version.
class DestinationWins final : public ForwardingProvider {
 public:
  using ForwardingProvider::ForwardingProvider;
  Result<BatchReport> process_change_batch(const ChangeBatch& batch) override {
    ChangeBatch spoilt = batch;
    for (ItemChange& change : spoilt.changes) {
      for (const ItemChange& mine : held_) {
        if (mine.item != change.item) continue;
        std::erase_if(change.units, [&](const UnitRegister& unit) {
          const auto held = std::find_if(mine.units.begin(), mine.units.end(),
                                         [&](const UnitRegister& candidate) { return candidate.unit == unit.unit; });
          return held != mine.units.end() && !batch.made_with.contains(change.item, held->content.version);
        });
      }
    }
    return inner_.process_change_batch(spoilt);
  }
  // Learns what is held by asking for all of it, as a source.
  Result<ChangeRequest> begin_destination(const ApplyOptions& options) override {
    held_.clear();
    HARMONICA_ASSIGN_OR_RETURN(ChangeRequest request, inner_.begin_destination(options));
    HARMONICA_RETURN_IF_ERROR(end_quietly());
    ChangeRequest all = request;
    all.knowledge = Knowledge();
    all.batch_bytes_max = ~std::uint64_t{0} >> 1;
    all.destination.replica.bytes[0] ^= 1;
    HARMONICA_RETURN_IF_ERROR(inner_.begin_source(all).status());
    std::optional<ItemId> first = kFirstItemId;
    while (first) {
      HARMONICA_ASSIGN_OR_RETURN(ChangeBatch batch, inner_.get_change_batch(*first));
      held_.insert(held_.end(), batch.changes.begin(), batch.changes.end());
      first = batch.last ? std::nullopt : next(batch.range.last);
    }
    HARMONICA_RETURN_IF_ERROR(end_quietly());
    return inner_.begin_destination(options);
  }

 private:
  Status end_quietly() { return inner_.end().status(); }

  std::vector<ItemChange> held_;
};

// Versions carry the time of the wall and not of a clock that never goes back.
class WallClockOrder final : public Sabotage {
 public:
  Environment& environment(Environment& inner) override {
    environment_ = &inner;
    return inner;
  }
  MetadataStore& metadata(MetadataStore& inner) override { return metadata_.emplace(inner, *this); }

 private:
  class Transaction final : public ForwardingTransaction {
   public:
    Transaction(WallClockOrder& owner, std::unique_ptr<MetadataTransaction> inner)
        : ForwardingTransaction(std::move(inner)), owner_(owner) {}

    Status put(const StoredItem& item, std::span<const IndexEntry> entries) override {
      HARMONICA_ASSIGN_OR_RETURN(const ReplicaState state, inner_->state());
      HARMONICA_ASSIGN_OR_RETURN(const Knowledge before, inner_->knowledge());
      const Tick wall = first_tick_of(owner_.environment_->wall_clock_ms());
      StoredItem spoilt = item;
      const auto spoil = [&](Version& version) {
        const bool is_new = version.replica == state.replica && !before.contains(item.item.id, version);
        if (is_new && version.tick > wall) version.tick = wall;
      };
      spoil(spoilt.item.existence.version);
      for (UnitRegister& unit : spoilt.item.units) spoil(unit.content.version);
      return inner_->put(spoilt, entries);
    }

   private:
    WallClockOrder& owner_;
  };

  class Metadata final : public ForwardingMetadata {
   public:
    Metadata(MetadataStore& inner, WallClockOrder& owner) : ForwardingMetadata(inner), owner_(owner) {}
    Result<std::unique_ptr<MetadataTransaction>> begin(TransactionMode mode) override {
      HARMONICA_ASSIGN_OR_RETURN(std::unique_ptr<MetadataTransaction> transaction, inner_.begin(mode));
      return std::unique_ptr<MetadataTransaction>(std::make_unique<Transaction>(owner_, std::move(transaction)));
    }

   private:
    WallClockOrder& owner_;
  };

  Environment* environment_ = nullptr;
  std::optional<Metadata> metadata_;
};

// Cleaning, as it shows in a transaction: items are removed and no knowledge is written.
class WatchesCleaning : public ForwardingTransaction {
 public:
  WatchesCleaning(MetadataStore&, std::unique_ptr<MetadataTransaction> inner) : ForwardingTransaction(std::move(inner)) {}

  Status set_knowledge(const Knowledge& knowledge) override {
    learns_ = true;
    return inner_->set_knowledge(knowledge);
  }
  Status remove(const ItemId& item) override {
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, inner_->find(item));
    if (stored) removed_.push_back(*stored);
    return inner_->remove(item);
  }

 protected:
  bool cleans() const { return !learns_ && !removed_.empty(); }

  bool learns_ = false;
  std::vector<StoredItem> removed_;
};

// A tombstone goes and nothing is left of it.
class CleansWithoutTrace final : public WatchesCleaning {
 public:
  using WatchesCleaning::WatchesCleaning;
  Status set_forgotten(const Knowledge& forgotten) override {
    return cleans() ? Status() : inner_->set_forgotten(forgotten);
  }
};

// Of a tombstone only the deletion is remembered (rule R13).
class ForgetsDeletionOnly final : public WatchesCleaning {
 public:
  using WatchesCleaning::WatchesCleaning;
  Status set_forgotten(const Knowledge& forgotten) override {
    if (!cleans()) return inner_->set_forgotten(forgotten);
    HARMONICA_ASSIGN_OR_RETURN(Knowledge spoilt, inner_->forgotten());
    for (const StoredItem& stored : removed_) {
      ClockVector deletion;
      deletion.raise(stored.item.existence.version);
      spoilt.merge_at(stored.item.id, deletion);
    }
    return inner_->set_forgotten(spoilt);
  }
};

// What comes in is not held against what was forgotten (rule R14).
class TakesTheForgotten final : public ForwardingTransaction {
 public:
  TakesTheForgotten(MetadataStore&, std::unique_ptr<MetadataTransaction> inner) : ForwardingTransaction(std::move(inner)) {}

  Result<Knowledge> forgotten() override { return Knowledge(); }
  Status set_forgotten(const Knowledge& forgotten) override {
    HARMONICA_ASSIGN_OR_RETURN(Knowledge all, inner_->forgotten());
    all.merge(forgotten);
    return inner_->set_forgotten(all);
  }
};

// What another replica has forgotten is not (rule R16).
class InheritsNothing final : public WatchesCleaning {
 public:
  using WatchesCleaning::WatchesCleaning;
  Status set_forgotten(const Knowledge& forgotten) override {
    return learns_ ? Status() : inner_->set_forgotten(forgotten);
  }
};

// A register keeps its version where it was made anew with the same value (rule R15).
class KeepsOldVersions final : public ForwardingTransaction {
 public:
  KeepsOldVersions(MetadataStore&, std::unique_ptr<MetadataTransaction> inner) : ForwardingTransaction(std::move(inner)) {}

  Status put(const StoredItem& item, std::span<const IndexEntry> entries) override {
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> before, inner_->find(item.item.id));
    if (!before) return inner_->put(item, entries);
    StoredItem spoilt = item;
    if (before->item.existence.value == item.item.existence.value) spoilt.item.existence = before->item.existence;
    for (UnitRegister& unit : spoilt.item.units) {
      const Register* held = before->item.find(unit.unit);
      if (held != nullptr && held->value == unit.content.value) unit.content.version = held->version;
    }
    return inner_->put(spoilt, entries);
  }
};

// Recovery leaves tombstones alone (W67).
class KeepsTombstones final : public ForwardingTransaction {
 public:
  KeepsTombstones(MetadataStore&, std::unique_ptr<MetadataTransaction> inner) : ForwardingTransaction(std::move(inner)) {}

  Status put(const StoredItem& item, std::span<const IndexEntry> entries) override {
    put_.push_back({item, std::vector<IndexEntry>(entries.begin(), entries.end())});
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> before, inner_->find(item.item.id));
    put_.back().was_dead = before && !before->item.alive();
    return inner_->put(item, entries);
  }
  Status remove(const ItemId& item) override {
    for (const Put& put : put_) {
      if (put.item.item.id == item && put.was_dead) return {};
    }
    return inner_->remove(item);
  }

 private:
  struct Put {
    StoredItem item;
    std::vector<IndexEntry> entries;
    bool was_dead = false;
  };
  std::vector<Put> put_;
};

constexpr std::array<BrokenVariant, 17> kVariants = {{
    {"knowledge_before_data", "knowledge is committed before what it speaks of",
     make_sabotage<MetadataSabotage<KnowledgeFirst>>},
    {"destination_wins", "a rule that sees which side is local: the destination's value stands, nothing is minted",
     make_sabotage<ProviderSabotage<DestinationWins>>},
    {"wall_clock_order", "versions are ordered by a clock that can be set back", make_sabotage<WallClockOrder>},
    {"unexcluded_failure", "an item that could not be written is learned all the same",
     make_sabotage<StoreSabotage<IgnoresFailures>>},
    {"own_ticks_in_parts", "own ticks are claimed only for the items written with them",
     make_sabotage<MetadataSabotage<OwnTicksInParts>>},
    {"forgotten_interruption", "the first of several batches teaches everything",
     make_sabotage<ProviderSabotage<ForgetsInterruption>>},
    {"one_tick_too_many", "one tick more is claimed than was learned", make_sabotage<MetadataSabotage<OneTickTooMany>>},
    {"ticks_forgotten", "after a restart ticks begin at the wall clock again",
     make_sabotage<MetadataSabotage<ForgetsTicks>>},
    {"records_dropped", "what lost a conflict is not recorded", make_sabotage<MetadataSabotage<DropsRecords>>},
    {"prepared_forgotten", "after a power cut its own writes are taken for a user's", make_sabotage<PreparedSabotage>},
    {"blind_write", "a store that changed meanwhile is taken for written", make_sabotage<StoreSabotage<WritesBlindly>>},
    {"cleaned_without_trace", "a cleaned tombstone leaves no forgotten knowledge",
     make_sabotage<MetadataSabotage<CleansWithoutTrace>>, true},
    {"deletion_only_forgotten", "of a cleaned tombstone only the deletion is remembered",
     make_sabotage<MetadataSabotage<ForgetsDeletionOnly>>, true},
    {"forgotten_taken", "what comes in is not held against what was forgotten",
     make_sabotage<MetadataSabotage<TakesTheForgotten>>, true},
    {"nothing_inherited", "what a source has forgotten is not learned with the rest",
     make_sabotage<MetadataSabotage<InheritsNothing>>, true},
    {"old_versions_recovered", "recovery keeps registers under versions that others have forgotten",
     make_sabotage<MetadataSabotage<KeepsOldVersions>>, true},
    {"tombstones_not_recovered", "recovery leaves tombstones alone", make_sabotage<MetadataSabotage<KeepsTombstones>>,
     true},
}};

}  // namespace

std::span<const BrokenVariant> broken_variants() { return kVariants; }

const BrokenVariant* find_broken_variant(std::string_view name) {
  for (const BrokenVariant& variant : kVariants) {
    if (variant.name == name) return &variant;
  }
  return nullptr;
}

}  // namespace harmonica::simulation
