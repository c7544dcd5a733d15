#include <array>
#include <utility>

#include "harmonica/replica.h"
#include "kernel/adoption.h"
#include "kernel/change_applier.h"
#include "kernel/change_detector.h"
#include "kernel/conflict_records.h"
#include "kernel/counter.h"
#include "kernel/filtering.h"
#include "kernel/identity.h"
#include "kernel/range_sums.h"
#include "kernel/reconciler.h"
#include "kernel/record_items.h"
#include "kernel/replica_context.h"
#include "kernel/replica_registry.h"
#include "kernel/schema_change.h"
#include "kernel/store_provider.h"
#include "kernel/tombstone_cleaner.h"
#include "kernel/unknown_type.h"
#include "kernel/view_index.h"
#include "kernel/views.h"

namespace harmonica {
namespace kernel {
namespace {

// The comparison that was refused, the schema asked for, and ours told.
constexpr std::uint64_t kIntroductionExchanges = 3;

class LocalReplica : public Replica {
 public:
  LocalReplica(ItemStore& store, MetadataStore& metadata, Environment& environment, const ReplicaOptions& options)
      : context_{store, metadata, environment, options, LogicalClock(environment), {}, 0, {}, {}}, detector_(context_) {}

  LocalReplica(std::unique_ptr<Storeless> storeless, MetadataStore& metadata, Environment& environment,
               const ReplicaOptions& options)
      : storeless_(std::move(storeless)),
        context_{*storeless_, metadata, environment, options, LogicalClock(environment), {}, 0, {}, {}},
        detector_(context_) {
    context_.storeless = storeless_.get();
  }

  Status open() {
    if (context_.has_store()) HARMONICA_RETURN_IF_ERROR(context_.schema().validate());
    if (context_.has_store()) HARMONICA_RETURN_IF_ERROR(open_filter(context_));
    HARMONICA_RETURN_IF_ERROR(open_identity(context_));
    HARMONICA_RETURN_IF_ERROR(name_device(context_, context_.options.device_name));
    HARMONICA_RETURN_IF_ERROR(open_schema(context_));
    if (!context_.has_store()) HARMONICA_RETURN_IF_ERROR(open_filter(context_));
    HARMONICA_RETURN_IF_ERROR(index_tombstones(context_));
    HARMONICA_RETURN_IF_ERROR(adopt_earlier_records(context_));
    provider_ = std::make_unique<StoreProvider>(context_, detector_);
    return {};
  }

  const Schema& schema() const override { return context_.schema(); }
  Provider& provider() override { return *provider_; }
  Result<DetectionReport> detect() override { return detector_.detect(); }
  const DetectionReport& last_detection() const override { return detector_.last(); }

  Result<ReplicaStatus> status() override {
    HARMONICA_ASSIGN_OR_RETURN(const auto transaction, read());
    HARMONICA_ASSIGN_OR_RETURN(ReplicaState state, transaction->state());
    ReplicaStatus status;
    status.replica = state.replica;
    status.scope = std::move(state.scope);
    status.former_replicas = std::move(state.former_replicas);
    HARMONICA_ASSIGN_OR_RETURN(status.knowledge, transaction->knowledge());
    HARMONICA_ASSIGN_OR_RETURN(status.forgotten, transaction->forgotten());
    HARMONICA_ASSIGN_OR_RETURN(status.counts, transaction->counts());
    status.filter = std::move(state.filter);
    status.has_had_filter = state.has_had_filter;
    IndexQuery outside;
    outside.kind = IndexKind::kOutside;
    HARMONICA_ASSIGN_OR_RETURN(const auto outside_items, transaction->find_index(outside));
    status.outside = outside_items.size();
    HARMONICA_ASSIGN_OR_RETURN(const auto erased, transaction->find_index({IndexKind::kErased, {}, {}}));
    status.erased = erased.size();
    // People count their own items.
    HARMONICA_ASSIGN_OR_RETURN(const RecordCounts records, count_records(*transaction));
    status.conflicts_decided = records.decided;
    status.conflicts_deferred = records.deferred;
    status.counts.alive -= records.decided;
    status.counts.deleted -= records.dropped;
    if (context_.filter) status.outside -= records.decided;
    if (!context_.has_store()) return status;
    if (any_unit_has(context_.schema(), UnitRole::kKey) || any_unit_has(context_.schema(), UnitRole::kReference)) {
      HARMONICA_RETURN_IF_ERROR(transaction->scan(ItemIdRange::all(), [&](const StoredItem& stored) -> Result<Visit> {
        if (stored.view.parked) ++status.parked;
        return Visit::kContinue;
      }));
    }
    IndexQuery query;
    query.kind = IndexKind::kUnwritten;
    HARMONICA_ASSIGN_OR_RETURN(const auto unwritten, transaction->find_index(query));
    status.unwritten = unwritten.size();
    query.kind = IndexKind::kHeld;
    HARMONICA_ASSIGN_OR_RETURN(const auto held, transaction->find_index(query));
    status.held = held.size();
    return status;
  }

  Status set_filter(const std::optional<Filter>& filter) override {
    provider_->abandon();
    return change_filter(context_, filter);
  }

  Result<std::vector<ReplicaItem>> children(const ItemId& parent) override {
    HARMONICA_ASSIGN_OR_RETURN(const auto transaction, read());
    IndexQuery query;
    query.kind = IndexKind::kChild;
    query.prefix = child_index_key(parent, {});
    HARMONICA_ASSIGN_OR_RETURN(const auto positions, transaction->find_index(query));
    std::vector<ReplicaItem> items;
    for (const IndexPosition& position : positions) {
      HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> stored, transaction->find(position.item));
      if (stored) items.push_back(as_shown(std::move(*stored)));
    }
    return items;
  }

  Result<std::optional<ReplicaItem>> find(const ItemId& item) override {
    HARMONICA_ASSIGN_OR_RETURN(const auto transaction, read());
    HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> stored, transaction->find(item));
    if (!stored) return std::optional<ReplicaItem>();
    return std::optional<ReplicaItem>(as_shown(std::move(*stored)));
  }

  Status scan(const std::function<Result<Visit>(const StoredItem&)>& visit) override {
    HARMONICA_ASSIGN_OR_RETURN(const auto transaction, read());
    return transaction->scan(ItemIdRange::all(), [&](const StoredItem& stored) -> Result<Visit> {
      return is_record(stored.item.type) ? Visit::kContinue : visit(stored);
    });
  }

  Result<Comparison> compare_with(Provider& second, std::size_t differences_max) override {
    HARMONICA_ASSIGN_OR_RETURN(ChangeRequest request, provider_->next_request({}));
    Comparison comparison;
    Status compared = compare_ranges(request, second, comparison, differences_max);
    if (compared.code() == StatusCode::kUnsupported && comparison.exchanges == 0) {
      static_cast<void>(second.end());
      HARMONICA_RETURN_IF_ERROR(introduce_schemas(second, *provider_));
      HARMONICA_ASSIGN_OR_RETURN(request, provider_->next_request({}));
      comparison.exchanges = kIntroductionExchanges;
      compared = compare_ranges(request, second, comparison, differences_max);
    }
    const Result<BatchReport> ended = second.end();
    HARMONICA_RETURN_IF_ERROR(compared);
    if (!ended.ok()) return ended.status();
    ++comparison.exchanges;
    return comparison;
  }

  Status ask_again_for(std::span<const ItemId> items) override {
    if (items.empty()) return {};
    // What is under way was asked for by more knowledge than there is then.
    provider_->abandon();
    HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context_.metadata.begin(TransactionMode::kWrite));
    HARMONICA_ASSIGN_OR_RETURN(ReplicaState state, transaction->state());
    HARMONICA_ASSIGN_OR_RETURN(Knowledge knowledge, transaction->knowledge());
    HARMONICA_ASSIGN_OR_RETURN(Knowledge forgotten, transaction->forgotten());
    for (const ItemId& item : items) {
      HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> held, transaction->find(item));
      const bool claims_own = held || !state.has_had_filter;
      for (Knowledge* each : {&knowledge, &forgotten}) {
        ClockVector own;
        if (claims_own) own.raise({context_.replica, each->at(item).at(context_.replica)});
        each->assign({item, item}, own);
      }
      if (!held) HARMONICA_RETURN_IF_ERROR(transaction->put_ghost(item, {}));
    }
    HARMONICA_RETURN_IF_ERROR(transaction->set_knowledge(knowledge));
    HARMONICA_RETURN_IF_ERROR(transaction->set_forgotten(forgotten));
    return commit(context_, *transaction, state);
  }

  Result<std::uint64_t> ask_again_for_lost(const Knowledge& peer) override {
    std::vector<ItemId> lost;
    {
      HARMONICA_ASSIGN_OR_RETURN(const auto snapshot, read());
      HARMONICA_RETURN_IF_ERROR(
          snapshot->scan_ghosts(ItemIdRange::all(), [&](const ItemId& item, const ClockVector& versions) -> Result<Visit> {
            if (!peer.at(item).contains(versions)) lost.push_back(item);
            return Visit::kContinue;
          }));
    }
    HARMONICA_RETURN_IF_ERROR(ask_again_for(lost));
    return lost.size();
  }

  Result<std::vector<ItemId>> forget(const ItemId& item) override {
    provider_->abandon();
    HARMONICA_ASSIGN_OR_RETURN(const DetectionReport detected, detector_.detect());
    static_cast<void>(detected);
    return apply_local_erasure(context_, detector_, item);
  }

  Result<std::vector<Device>> devices() override { return kernel::devices(context_); }
  Status retire(const ReplicaId& replica) override { return kernel::retire(context_, replica); }

  Result<std::vector<ConflictRecord>> conflicts() override {
    HARMONICA_ASSIGN_OR_RETURN(const auto transaction, read());
    return all_records(*transaction);
  }

  Status restore(const ConflictId& conflict) override {
    HARMONICA_ASSIGN_OR_RETURN(const ConflictRecord record, find_conflict(conflict));
    HARMONICA_RETURN_IF_ERROR(check_decided(record));
    HARMONICA_RETURN_IF_ERROR(check_known(record));
    HARMONICA_ASSIGN_OR_RETURN(const DetectionReport detected, detector_.detect());
    static_cast<void>(detected);
    HARMONICA_RETURN_IF_ERROR(
        apply_local_edit(context_, detector_, record.item, [&](Item& item, const std::function<Version()>& mint) {
          if (record.unit == kExistenceUnit) {
            item.existence = {mint(), is_alive(record.lost.existence) ? Existence::kCreated : Existence::kDeleted};
            return;
          }
          if (!item.alive()) item.existence = {mint(), Existence::kCreated};
          Register& content = item.at(record.unit);
          const Version version = mint();
          content = {version, restored(record, content.value, version), Origin::kWritten};
        }));
    return drop_record(context_, conflict);
  }

  Status drop(const ConflictId& conflict) override {
    HARMONICA_ASSIGN_OR_RETURN(const ConflictRecord record, find_conflict(conflict));
    HARMONICA_RETURN_IF_ERROR(check_decided(record));
    return drop_record(context_, conflict);
  }

  Status decide(const ConflictId& conflict, Decision decision) override {
    HARMONICA_ASSIGN_OR_RETURN(const ConflictRecord record, find_conflict(conflict));
    if (record.state != ConflictState::kDeferred) {
      return {StatusCode::kInvalidArgument, "conflict " + conflict.to_text() + ": is decided; restore what lost instead"};
    }
    HARMONICA_ASSIGN_OR_RETURN(const DetectionReport detected, detector_.detect());
    static_cast<void>(detected);
    return apply_decision(context_, detector_, record,
                          decision == Decision::kKeepLocal ? Resolution::kKeepLocal : Resolution::kTakeRemote);
  }

 private:
  // What lost; a counter is counted to the number that did.
  Value restored(const ConflictRecord& record, const Value& held, const Version& version) const {
    const ItemType* type = context_.schema().find_type(record.type);
    const Unit* unit = type == nullptr ? nullptr : type->find_unit(record.unit);
    const std::int64_t* number = record.lost.value.if_integer();
    if (unit == nullptr || type->rule_of(*unit) != ConflictRule::kCounter || number == nullptr) return record.lost.value;
    const Value shown = counter_shown(held);
    return counted(held, version, shown.if_integer() == nullptr ? 0 : *shown.if_integer(), *number);
  }

  Status compare_ranges(const ChangeRequest& request, Provider& second, Comparison& comparison,
                        std::size_t differences_max) {
    HARMONICA_ASSIGN_OR_RETURN(const auto snapshot, read());
    HARMONICA_ASSIGN_OR_RETURN(comparison.first_knowledge, snapshot->knowledge());
    comparison.scope = request.destination.scope;
    if (comparison.scope.empty()) return not_synced_yet("this store");
    HARMONICA_RETURN_IF_ERROR(share_replicas(*provider_, second));
    HARMONICA_ASSIGN_OR_RETURN(ComparedReplica other, second.begin_comparison(request));
    ++comparison.exchanges;
    comparison.second_knowledge = std::move(other.knowledge);
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<ItemFilter> filter, bind_filter(other.filter, context_.schema()));
    RangeSums sums(*snapshot, context_.environment, SummedItems::kLiving);
    sums.narrow(context_.filter, filter);
    const ItemIdRange all = ItemIdRange::all();
    Reconciler reconciler(sums, Interest::kEverything, std::span(&all, 1));
    while (true) {
      HARMONICA_ASSIGN_OR_RETURN(const std::vector<RangeQuestion> questions, reconciler.questions());
      if (questions.empty()) break;
      HARMONICA_ASSIGN_OR_RETURN(const std::vector<RangeAnswer> answers, second.answer_questions(questions));
      ++comparison.exchanges;
      HARMONICA_RETURN_IF_ERROR(reconciler.take(answers));
    }
    const RangeDifferences found = reconciler.take_differences();
    note(comparison, found.only_here, DifferenceKind::kOnlyFirst, differences_max);
    note(comparison, found.only_there, DifferenceKind::kOnlySecond, differences_max);
    note(comparison, found.differing, DifferenceKind::kVersions, differences_max);
    comparison.equal = comparison.difference_count == 0;
    return {};
  }

  static void note(Comparison& comparison, const std::vector<ItemId>& items, DifferenceKind kind,
                   std::size_t differences_max) {
    comparison.difference_count += items.size();
    for (const ItemId& item : items) {
      if (comparison.differences.size() >= differences_max) return;
      comparison.differences.push_back({item, kind, difference_text(kind)});
    }
  }

  static std::string difference_text(DifferenceKind kind) {
    switch (kind) {
      case DifferenceKind::kOnlyFirst:
        return "only the first holds it";
      case DifferenceKind::kOnlySecond:
        return "only the second holds it";
      case DifferenceKind::kVersions:
        break;
    }
    return "the two hold different versions";
  }

  static Status not_synced_yet(const std::string& which) {
    return {StatusCode::kScopeMismatch, which + " belongs to no scope yet; sync the two first"};
  }

  Result<std::unique_ptr<MetadataTransaction>> read() { return context_.metadata.begin(TransactionMode::kRead); }

  Result<ConflictRecord> find_conflict(const ConflictId& id) {
    HARMONICA_ASSIGN_OR_RETURN(const auto transaction, read());
    HARMONICA_ASSIGN_OR_RETURN(std::optional<ConflictRecord> record, find_record(*transaction, id));
    if (!record) return Status(StatusCode::kNotFound, "conflict " + id.to_text() + ": no such record");
    return *std::move(record);
  }

  static Status check_decided(const ConflictRecord& record) {
    if (record.state == ConflictState::kDecided) return {};
    return {StatusCode::kInvalidArgument,
            "conflict " + record.id.to_text() + ": still waits for a decision; keep one side instead"};
  }

  // What a register holds is another thing than what its record shows, for some rules.
  Status check_known(const ConflictRecord& record) const {
    const ItemType* type = context_.schema().find_type(record.type);
    if (record.unit == kExistenceUnit || (type != nullptr && type->find_unit(record.unit) != nullptr)) return {};
    return {StatusCode::kUnsupported, "conflict " + record.id.to_text() + ": is about unit " + std::to_string(record.unit) +
                                          " of type " + std::to_string(record.type) + ", and " +
                                          std::string(kNeedsNewerSchema)};
  }

  static ReplicaItem as_shown(StoredItem stored) {
    ReplicaItem item;
    if (stored.shown) {
      item.key = std::move(stored.shown->key);
      item.values = std::move(stored.shown->values);
    }
    item.parent = stored.view.parent;
    item.view = stored.view;
    item.item = std::move(stored.item);
    return item;
  }

  std::unique_ptr<Storeless> storeless_;  // null: there is a store
  ReplicaContext context_;
  ChangeDetector detector_;
  std::unique_ptr<StoreProvider> provider_;
};

}  // namespace
}  // namespace kernel

Result<std::unique_ptr<Replica>> Replica::open(ItemStore& store, MetadataStore& metadata, Environment& environment,
                                               const ReplicaOptions& options) {
  auto replica = std::make_unique<kernel::LocalReplica>(store, metadata, environment, options);
  HARMONICA_RETURN_IF_ERROR(replica->open());
  return std::unique_ptr<Replica>(std::move(replica));
}

Result<std::unique_ptr<Replica>> Replica::open(MetadataStore& metadata, Environment& environment,
                                               const ReplicaOptions& options) {
  auto replica =
      std::make_unique<kernel::LocalReplica>(std::make_unique<kernel::Storeless>(metadata), metadata, environment, options);
  HARMONICA_RETURN_IF_ERROR(replica->open());
  return std::unique_ptr<Replica>(std::move(replica));
}

}  // namespace harmonica
