#include "kernel/store_provider.h"

#include <algorithm>
#include <utility>

#include "harmonica/limits.h"
#include "kernel/change_applier.h"
#include "kernel/change_enumerator.h"
#include "kernel/filtering.h"
#include "kernel/identity.h"
#include "kernel/lineage.h"
#include "kernel/reconciler.h"
#include "kernel/recovery.h"
#include "kernel/replica_registry.h"
#include "kernel/schema_memory.h"
#include "kernel/tombstone_cleaner.h"

namespace harmonica::kernel {
namespace {

Status wrong_batch(const std::string& what) {
  return {StatusCode::kInvalidArgument, "change batch: " + what + "; end the session and start a new one"};
}

Status check_change(const ItemChange& change, const ChangeBatch& batch) {
  const ClockVector& made_with = batch.made_with.at(change.item);
  if (change.existence.value == Existence::kErased && !(change.whole && change.units.empty())) {
    return wrong_batch("item " + change.item.to_text() + " is erased, and comes with units, or not whole");
  }
  bool honest = made_with.contains(change.existence.version) && !change.existence.version.is_none();
  UnitId last = kExistenceUnit;
  for (const UnitRegister& unit : change.units) {
    if (unit.unit <= last) return wrong_batch("units of item " + change.item.to_text() + " are not in order");
    last = unit.unit;
    honest = honest && made_with.contains(unit.content.version) && !unit.content.version.is_none();
  }
  if (!honest) return wrong_batch("item " + change.item.to_text() + " has a version that its source does not know");
  return {};
}

Status took_new_id(const ReplicaId& former) {
  return {StatusCode::kUnavailable,
          "replica " + former.to_text() + " turned out to be a copy of another, and has a new id now; sync again"};
}

Status check_moved_out(const ChangeBatch& batch) {
  if (!batch.filter && !batch.moved_out.empty()) return wrong_batch("items moved out of no filter");
  auto change = batch.changes.begin();
  const ItemId* before = nullptr;
  for (const ItemId& item : batch.moved_out) {
    while (change != batch.changes.end() && change->item < item) ++change;
    const bool is_sent = change != batch.changes.end() && change->item == item;
    if (is_sent || !batch.range.contains(item) || (before != nullptr && !(*before < item))) {
      return wrong_batch("item " + item.to_text() + ", which moved out, is sent too, out of order or out of range");
    }
    before = &item;
  }
  return {};
}

}  // namespace

struct StoreProvider::Recovery {
  Recovery(ReplicaContext& context, const ChangeBatch& waiting, std::unique_ptr<MetadataTransaction> held,
           std::span<const ItemIdRange> ranges)
      : batch(waiting),
        snapshot(std::move(held)),
        sums(*snapshot, context.environment, SummedItems::kAll),
        reconciler(sums, Interest::kOnlyHere, ranges) {}

  ChangeBatch batch;
  std::unique_ptr<MetadataTransaction> snapshot;
  RangeSums sums;
  Reconciler reconciler;
};

StoreProvider::StoreProvider(ReplicaContext& context, ChangeDetector& detector) : context_(context), detector_(detector) {}

StoreProvider::~StoreProvider() = default;

Result<ChangeRequest> StoreProvider::begin_destination(const ApplyOptions& options) {
  HARMONICA_ASSIGN_OR_RETURN(ChangeRequest request, next_request(options));
  if (options.source) {
    HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context_.metadata.begin(TransactionMode::kRead));
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<Peer> known, transaction->find_peer(options.source->replica));
    if (known) request.destination.marks_of_peer = known->marks;
  }
  options_ = options;
  own_request_ = request;
  expected_ = kFirstItemId;
  return request;
}

Result<ChangeRequest> StoreProvider::next_request(const ApplyOptions& options) {
  forget_session();
  HARMONICA_RETURN_IF_ERROR(refresh_identity(context_));
  HARMONICA_ASSIGN_OR_RETURN(const DetectionReport detected, detector_.detect());
  static_cast<void>(detected);
  HARMONICA_RETURN_IF_ERROR(clean_tombstones(context_));
  ChangeRequest request;
  HARMONICA_ASSIGN_OR_RETURN(request.destination, describe_to({}));
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context_.metadata.begin(TransactionMode::kRead));
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaState state, transaction->state());
  HARMONICA_ASSIGN_OR_RETURN(request.knowledge, transaction->knowledge());
  HARMONICA_ASSIGN_OR_RETURN(request.filter, filter_to_ask_with(context_, *transaction, state));
  // Rises over restarts too, as far as the clock does: an endpoint tells sessions apart by it.
  request_number_ =
      std::max({request_number_ + 1, context_.clock.last(), first_tick_of(request.destination.wall_clock_ms)});
  request.number = request_number_;
  request.wanted_whole = state.wanted_whole;
  request.batch_bytes_max = options.batch_bytes_max == 0 ? limits::kBatchBytesDefault : options.batch_bytes_max;
  return request;
}

Result<ReplicaDescription> StoreProvider::begin_source(const ChangeRequest& request) {
  const bool is_own = own_request_ && *own_request_ == request;
  forget_session();
  HARMONICA_RETURN_IF_ERROR(refresh_identity(context_));
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaDescription before, describe_to({}));
  if (request.destination.replica == before.replica) {
    if (is_own) {
      return Status(StatusCode::kInvalidArgument, "replica " + before.replica.to_text() + " cannot be synced with itself");
    }
    HARMONICA_RETURN_IF_ERROR(part_from_copy(request, before));
  }
  HARMONICA_RETURN_IF_ERROR(check_request(request, before));
  HARMONICA_RETURN_IF_ERROR(meet_peer(request.destination, request.knowledge));
  HARMONICA_ASSIGN_OR_RETURN(ReplicaDescription own, open_snapshot(request));
  request_ = request;
  own_ = own;
  return own;
}

Result<ComparedReplica> StoreProvider::begin_comparison(const ChangeRequest& request) {
  ComparedReplica compared;
  HARMONICA_RETURN_IF_ERROR(refresh_identity(context_));
  HARMONICA_ASSIGN_OR_RETURN(compared.replica, describe_to({}));
  if (compared.replica.scope.empty()) {
    return Status(StatusCode::kScopeMismatch, "the other store belongs to no scope yet; sync the two first");
  }
  HARMONICA_RETURN_IF_ERROR(check_request(request, compared.replica));
  forget_session();
  HARMONICA_ASSIGN_OR_RETURN(compared.replica, open_snapshot(request));
  HARMONICA_ASSIGN_OR_RETURN(compared.knowledge, snapshot_->knowledge());
  if (own_filter_) compared.filter = own_filter_->filter();
  return compared;
}

// What the session goes by, whatever is edited meanwhile.
Result<ReplicaDescription> StoreProvider::open_snapshot(const ChangeRequest& request) {
  Result<std::optional<ItemFilter>> filter = bind_filter(request.filter, context_.schema());
  if (!filter.ok()) {
    return Status(StatusCode::kUnsupported, "the peer's filter cannot be asked here: " + filter.status().message());
  }
  HARMONICA_ASSIGN_OR_RETURN(const DetectionReport detected, detector_.detect());
  static_cast<void>(detected);
  HARMONICA_RETURN_IF_ERROR(clean_tombstones(context_));
  HARMONICA_ASSIGN_OR_RETURN(ReplicaDescription own, describe_to(marks_of_peer_));
  if (own.scope.empty()) {
    own.scope = request.destination.scope.empty() ? context_.schema().default_scope : request.destination.scope;
    HARMONICA_RETURN_IF_ERROR(join_scope(own.scope));
  }
  HARMONICA_ASSIGN_OR_RETURN(snapshot_, context_.metadata.begin(TransactionMode::kRead));
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaState state, snapshot_->state());
  HARMONICA_ASSIGN_OR_RETURN(own_filter_, bind_filter(state.filter, context_.schema()));
  request_filter_ = *std::move(filter);
  return own;
}

Result<ChangeBatch> StoreProvider::get_change_batch(const ItemId& first) {
  if (!request_) return Status(StatusCode::kInvalidArgument, "no session as a source has begun");
  ReplicaDescription own = *own_;
  // The first batch is how a destination meets its source.
  if (first != kFirstItemId) {
    own.marks.clear();
    own.marks_of_peer.clear();
    own.replicas_digest = 0;
  }
  const ItemFilter* filter = request_filter_ ? &*request_filter_ : nullptr;
  return enumerate_changes({context_.schema(), *snapshot_, own, *request_, filter}, first);
}

Result<BatchReport> StoreProvider::process_change_batch(const ChangeBatch& batch) {
  if (!own_request_) return Status(StatusCode::kInvalidArgument, "no session as a destination has begun");
  if (recovery_ != nullptr) return wrong_batch("the one before it waits for answers");
  HARMONICA_RETURN_IF_ERROR(check_batch(batch));
  HARMONICA_RETURN_IF_ERROR(meet_peer(batch.source, batch.made_with));
  expected_ = next(batch.range.last);
  if (!is_recovery_needed(*own_request_, batch)) return take(batch, std::nullopt);
  return begin_recovery(batch);
}

Result<BatchReport> StoreProvider::take(const ChangeBatch& batch, std::optional<std::vector<ItemId>> absent) {
  if (context_.store.write_unit() == WriteUnit::kWholeStore) {
    BatchReport report;
    report.received = batch.changes.size();
    kept_.push_back(batch);
    received_.push_back({kept_.back(), &own_request_->knowledge, std::move(absent)});
    return report;
  }
  applied_ = true;
  const ReceivedBatch received{batch, &own_request_->knowledge, std::move(absent)};
  return apply_changes(context_, detector_, std::span(&received, 1), resolution());
}

Result<BatchReport> StoreProvider::begin_recovery(const ChangeBatch& batch) {
  // What a user makes here from now on is younger than all that the source has forgotten, so it need not be compared.
  context_.clock.observe(std::max(batch.made_with.greatest_tick(), batch.forgotten.greatest_tick()));
  HARMONICA_ASSIGN_OR_RETURN(auto snapshot, context_.metadata.begin(TransactionMode::kRead));
  HARMONICA_ASSIGN_OR_RETURN(const Knowledge knowledge, snapshot->knowledge());
  const bool same_filter = reach_of(batch) == SourceReach::kSameFilter;
  std::vector<ItemIdRange> ranges = ranges_lacking(knowledge, same_filter ? batch.made_with : batch.forgotten, batch.range);
  // What is compared in vain does no harm: only where something was forgotten does the answer count.
  const std::size_t joined = (ranges.size() + limits::kRecoveryRangesMax - 1) / limits::kRecoveryRangesMax;
  std::vector<ItemIdRange> few;
  for (std::size_t index = 0; index < ranges.size(); index += joined) {
    few.push_back({ranges[index].first, ranges[std::min(index + joined, ranges.size()) - 1].last});
  }
  recovery_ = std::make_unique<Recovery>(context_, batch, std::move(snapshot), few);
  return continue_recovery();
}

Result<BatchReport> StoreProvider::continue_recovery() {
  HARMONICA_ASSIGN_OR_RETURN(std::vector<RangeQuestion> questions, recovery_->reconciler.questions());
  if (!questions.empty()) {
    BatchReport waiting;
    waiting.questions = std::move(questions);
    return waiting;
  }
  const ChangeBatch batch = std::move(recovery_->batch);
  std::vector<ItemId> absent = recovery_->reconciler.take_differences().only_here;
  recovery_.reset();
  return take(batch, std::move(absent));
}

Result<BatchReport> StoreProvider::process_answers(std::span<const RangeAnswer> answers) {
  if (recovery_ == nullptr) return Status(StatusCode::kInvalidArgument, "no batch waits for answers");
  Status taken = recovery_->reconciler.take(answers);
  if (taken.ok()) return continue_recovery();
  recovery_.reset();
  expected_.reset();
  return taken;
}

Result<std::vector<RangeAnswer>> StoreProvider::answer_questions(std::span<const RangeQuestion> questions) {
  if (snapshot_ == nullptr) return Status(StatusCode::kInvalidArgument, "no session as a source has begun");
  // A destination that recovers has to hear of tombstones too (W67).
  if (!sums_) {
    sums_.emplace(*snapshot_, context_.environment, request_ ? SummedItems::kAll : SummedItems::kLiving);
    if (!request_) sums_->narrow(request_filter_, own_filter_);
  }
  return kernel::answer_questions(*sums_, questions);
}

Result<Schema> StoreProvider::schema() {
  forget_session();
  HARMONICA_RETURN_IF_ERROR(describe().status());
  return context_.schema();
}

Result<Schema> StoreProvider::meet_schema(const Schema& peer) {
  forget_session();
  return kernel::meet_schema(context_, peer);
}

// Two that meet for the first time compare all that they have (docs/adr/0011).
bool StoreProvider::can_stop() const {
  const bool has_met = own_request_ && !own_request_->destination.scope.empty();
  return has_met || context_.store.write_unit() == WriteUnit::kEachItem;
}

Result<ReplicaTable> StoreProvider::meet_replicas(const ReplicaTable& peer) {
  forget_session();
  return kernel::meet_replicas(context_, peer);
}

Result<std::optional<ReplicaTable>> StoreProvider::replicas() {
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context_.metadata.begin(TransactionMode::kRead));
  HARMONICA_ASSIGN_OR_RETURN(ReplicaTable replicas, transaction->replicas());
  return std::optional<ReplicaTable>(std::move(replicas));
}

Result<BatchReport> StoreProvider::end() {
  Result<BatchReport> result = BatchReport();
  // What could not be written before is tried again in every session, also in one that brings nothing.
  if (own_request_ && !applied_) {
    result = apply_changes(context_, detector_, received_, resolution());
    if (result.ok()) result->received = 0;  // told batch by batch
  }
  forget_session();
  const Status wiped = wipe_erased(context_);
  return result.ok() && !wiped.ok() ? Result<BatchReport>(wiped) : result;
}

Result<std::optional<ReplicaDescription>> StoreProvider::describe() {
  HARMONICA_ASSIGN_OR_RETURN(ReplicaDescription own, describe_to({}));
  return std::optional<ReplicaDescription>(std::move(own));
}

Result<ReplicaDescription> StoreProvider::describe_to(std::vector<std::uint64_t> marks_of_peer) {
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context_.metadata.begin(TransactionMode::kRead));
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaState state, transaction->state());
  HARMONICA_RETURN_IF_ERROR(refresh_schemas(context_, *transaction, state));
  context_.clock.observe(state.last_tick);
  HARMONICA_ASSIGN_OR_RETURN(std::vector<std::uint64_t> marks, shown_marks(*transaction));
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaTable replicas, transaction->replicas());
  context_.mark_is_shown = true;
  return ReplicaDescription{context_.replica,
                            state.scope,
                            context_.schema_fingerprint,
                            context_.environment.wall_clock_ms(),
                            std::move(marks),
                            std::move(marks_of_peer),
                            replicas.digest()};
}

Status StoreProvider::check_request(const ChangeRequest& request, const ReplicaDescription& own) const {
  const ReplicaDescription& destination = request.destination;
  if (!destination.scope.empty() && !is_valid_scope_name(destination.scope)) {
    return {StatusCode::kInvalidArgument, "the peer names a scope that is not a scope name"};
  }
  if (!destination.scope.empty() && !own.scope.empty() && destination.scope != own.scope) {
    return {StatusCode::kScopeMismatch, "this store belongs to the scope '" + own.scope + "' and the peer to '" +
                                            destination.scope + "'; a store is in one scope only"};
  }
  HARMONICA_RETURN_IF_ERROR(check_fingerprint(context_, own.schema_fingerprint, destination.schema_fingerprint));
  Knowledge of_others = request.knowledge;
  // Each side's own are its own to mend, if its clock is right by now.
  of_others.cap({own.replica, 0});
  const std::int64_t ahead_ms = destination.wall_clock_ms - context_.environment.wall_clock_ms();
  if (ahead_ms <= limits::kClockDriftMsMax) of_others.cap({destination.replica, 0});
  return check_drift(context_, of_others.greatest_tick(), "replica " + destination.replica.to_text());
}

Status StoreProvider::check_batch(const ChangeBatch& batch) {
  if (batch.destination != context_.replica) return wrong_batch("made for replica " + batch.destination.to_text());
  if (batch.request_number != own_request_->number) return wrong_batch("made for another request");
  if (batch.filter != own_request_->filter) return wrong_batch("made for another filter");
  if (!expected_ || batch.range.first != *expected_ || batch.range.last < batch.range.first) {
    return wrong_batch("its range does not follow the batch before it");
  }
  if (batch.last != (batch.range.last == last_item_id())) return wrong_batch("its range does not end as it says");
  if (!is_valid_scope_name(batch.source.scope)) return wrong_batch("it names no scope");
  if (!own_request_->destination.scope.empty() && batch.source.scope != own_request_->destination.scope) {
    return {StatusCode::kScopeMismatch, "this store belongs to the scope '" + own_request_->destination.scope +
                                            "' and the peer to '" + batch.source.scope + "'; a store is in one scope only"};
  }
  HARMONICA_RETURN_IF_ERROR(
      check_fingerprint(context_, own_request_->destination.schema_fingerprint, batch.source.schema_fingerprint));
  if (!batch.made_with.exclude(batch.range).empty() || !batch.forgotten.exclude(batch.range).empty()) {
    return wrong_batch("it teaches more than its range");
  }
  if (!batch.made_with.contains(batch.forgotten)) return wrong_batch("it has forgotten what its source does not know");
  const ItemId* before = nullptr;
  for (const ItemChange& change : batch.changes) {
    if (!batch.range.contains(change.item) || (before != nullptr && !(*before < change.item))) {
      return wrong_batch("item " + change.item.to_text() + " is out of order or out of range");
    }
    HARMONICA_RETURN_IF_ERROR(check_change(change, batch));
    before = &change.item;
  }
  HARMONICA_RETURN_IF_ERROR(check_moved_out(batch));
  Knowledge of_others = batch.made_with;  // what it has forgotten it knows as well
  of_others.cap({context_.replica, 0});
  return check_drift(context_, of_others.greatest_tick(), "replica " + batch.source.replica.to_text());
}

// Both sides say that they are one replica: what the source has made alone is made anew under a new id.
Status StoreProvider::part_from_copy(const ChangeRequest& request, const ReplicaDescription& own) {
  HARMONICA_ASSIGN_OR_RETURN(auto transaction, context_.metadata.begin(TransactionMode::kRead));
  HARMONICA_ASSIGN_OR_RETURN(const Tick fork, fork_of(*transaction, request.destination.marks));
  transaction.reset();
  HARMONICA_RETURN_IF_ERROR(become_another(context_, {fork, "was copied: it has met a copy of itself", false}));
  return took_new_id(own.replica);
}

// Whether the peer's is just a copy, and what it remembers of this replica is of this one.
Status StoreProvider::meet_peer(const ReplicaDescription& peer, const Knowledge& knowledge) {
  if (peer_ && peer_->replica == peer.replica) return {};
  HARMONICA_ASSIGN_OR_RETURN(Meeting meeting, meet(context_, peer, knowledge));
  if (meeting.renewal) {
    const ReplicaId former = context_.replica;
    HARMONICA_RETURN_IF_ERROR(become_another(context_, *meeting.renewal));
    expected_.reset();
    return took_new_id(former);
  }
  marks_of_peer_ = std::move(meeting.marks_of_peer);
  peer_ = peer;
  return {};
}

Status StoreProvider::join_scope(const ScopeName& scope) {
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context_.metadata.begin(TransactionMode::kWrite));
  HARMONICA_ASSIGN_OR_RETURN(ReplicaState state, transaction->state());
  kernel::join_scope(context_, state, scope);
  return commit(context_, *transaction, state);
}

Resolution StoreProvider::resolution() const {
  switch (options_.on_conflict) {
    case OnConflict::kManual:
      return Resolution::kDefer;
    case OnConflict::kLatest:
      return Resolution::kLatest;
    case OnConflict::kSourceWins:
      return Resolution::kSourceWins;
    case OnConflict::kDestinationWins:
      return Resolution::kDestinationWins;
    case OnConflict::kAsInSchema:
      break;
  }
  return Resolution::kAsInSchema;
}

void StoreProvider::forget_session() {
  peer_.reset();
  own_.reset();
  marks_of_peer_.clear();
  own_request_.reset();
  received_.clear();
  kept_.clear();
  applied_ = false;
  expected_.reset();
  recovery_.reset();
  request_.reset();
  sums_.reset();
  request_filter_.reset();
  own_filter_.reset();
  snapshot_.reset();
}

}  // namespace harmonica::kernel
