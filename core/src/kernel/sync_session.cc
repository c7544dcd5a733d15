#include <algorithm>
#include <utility>

#include "harmonica/extension/provider.h"
#include "harmonica/limits.h"
#include "harmonica/session.h"
#include "kernel/change_enumerator.h"
#include "kernel/lineage.h"

namespace harmonica {

class SyncSession::State {
 public:
  State(Provider& source, Provider& destination, SessionOptions options)
      : source_(source), destination_(destination), options_(std::move(options)) {}

  Result<StepState> step() {
    if (phase_ == Phase::kDone) return Status(StatusCode::kInvalidArgument, "the session has ended; make a new one");
    Result<StepState> result = cancelled_ ? Status(StatusCode::kCancelled, "the session was cancelled") : step_phase();
    if (!result.ok() && result.status().code() == StatusCode::kUnavailable && begun_ < kBeginningsMax) {
      HARMONICA_ASSIGN_OR_RETURN(const bool is_another, is_another_now());
      if (is_another) return begin_again();
    }
    if (!result.ok()) {
      const Status ended = phase_ == Phase::kEnd ? Status() : end();
      phase_ = Phase::kDone;
      if (!ended.ok() && result.status().code() == StatusCode::kCancelled) return ended;
    }
    return result;
  }

  void cancel() { cancelled_ = true; }
  const SessionReport& report() const { return report_; }

 private:
  enum class Phase : std::uint8_t { kBegin, kTransfer, kRecover, kEnd, kDone };

  Result<StepState> step_phase() {
    switch (phase_) {
      case Phase::kBegin:
        HARMONICA_RETURN_IF_ERROR(begin());
        phase_ = Phase::kTransfer;
        return StepState::kMore;
      case Phase::kTransfer:
        return transfer();
      case Phase::kRecover:
        return recover();
      case Phase::kEnd:
      case Phase::kDone:
        break;
    }
    tell(SessionStage::kWriting);
    HARMONICA_RETURN_IF_ERROR(end());
    phase_ = Phase::kDone;
    tell(SessionStage::kDone);
    return StepState::kDone;
  }

  Status begin() {
    tell(SessionStage::kDetecting);
    const Status begun = begin_both();
    return begun.code() == StatusCode::kUnsupported ? introduce() : begun;
  }

  Status begin_both() {
    ++begun_;
    ApplyOptions options;
    options.on_conflict = options_.on_conflict;
    options.batch_bytes_max = options_.batch_bytes_max;
    HARMONICA_ASSIGN_OR_RETURN(options.source, source_.describe());
    near_source_ = options.source ? options.source->replica : ReplicaId();
    HARMONICA_RETURN_IF_ERROR(share_replicas(source_, destination_));
    HARMONICA_ASSIGN_OR_RETURN(request_, destination_.begin_destination(options));
    HARMONICA_ASSIGN_OR_RETURN(const ReplicaDescription source, source_.begin_source(request_));
    has_to_meet_ = kernel::has_to_meet(request_, source);
    report_.source = source.replica;
    report_.destination = request_.destination.replica;
    report_.scope = source.scope;
    if (source.replicas_digest == request_.destination.replicas_digest || have_met_) return {};
    // One of the two has heard of replicas that the other has not. Then they begin again.
    have_met_ = true;
    static_cast<void>(source_.end());
    HARMONICA_RETURN_IF_ERROR(destination_.end().status());
    HARMONICA_RETURN_IF_ERROR(introduce_replicas(source_, destination_));
    return begin_both();
  }

  // One of the two does not know the other's schema. Then they begin again.
  Status introduce() {
    introduced_ = true;
    static_cast<void>(source_.end());
    HARMONICA_RETURN_IF_ERROR(destination_.end().status());
    HARMONICA_RETURN_IF_ERROR(introduce_schemas(source_, destination_));
    report_.batches = 0;
    report_.bytes_estimate = 0;
    first_ = kFirstItemId;
    return begin_both();
  }

  // Whether one of the two has found out that it is a copy, and has taken a new id.
  Result<bool> is_another_now() {
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<ReplicaDescription> source, source_.describe());
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<ReplicaDescription> destination, destination_.describe());
    return (source && source->replica != near_source_) ||
           (destination && destination->replica != request_.destination.replica);
  }

  Result<StepState> begin_again() {
    static_cast<void>(source_.end());
    static_cast<void>(destination_.end());
    report_ = SessionReport();
    first_ = kFirstItemId;
    phase_ = Phase::kBegin;
    return StepState::kMore;
  }

  Result<StepState> transfer() {
    HARMONICA_ASSIGN_OR_RETURN(const ChangeBatch batch, source_.get_change_batch(first_));
    const std::optional<ItemId> following = next(batch.range.last);
    is_last_ = batch.last || !following;
    if (!is_last_) first_ = *following;
    // While the source still has to answer questions nothing else is asked of it.
    if (!is_recovery_needed(request_, batch)) prefetch();
    ++report_.batches;
    total_estimate_ = report_.received + batch.changes.size() + batch.changes_left_estimate;
    for (const ItemChange& change : batch.changes) report_.bytes_estimate += kernel::weight_of(change);
    if (teaches(batch)) {
      Result<BatchReport> processed = destination_.process_change_batch(batch);
      if (processed.status().code() == StatusCode::kUnsupported && report_.batches == 1 && !introduced_) {
        HARMONICA_RETURN_IF_ERROR(introduce());
        return StepState::kMore;
      }
      HARMONICA_ASSIGN_OR_RETURN(BatchReport applied, std::move(processed));
      if (!applied.questions.empty()) {
        questions_ = std::move(applied.questions);
        phase_ = Phase::kRecover;
        return StepState::kMore;
      }
      add(applied);
    }
    return transferred();
  }

  // One turn of a recovery: what the destination asks, the source answers.
  Result<StepState> recover() {
    if (++turns_ > limits::kRangeTurnsMax) {
      return Status(StatusCode::kLimitExceeded, "the destination's questions come to no end; update the older side");
    }
    HARMONICA_ASSIGN_OR_RETURN(const std::vector<RangeAnswer> answers, source_.answer_questions(questions_));
    HARMONICA_ASSIGN_OR_RETURN(BatchReport applied, destination_.process_answers(answers));
    questions_ = std::move(applied.questions);
    if (!questions_.empty()) return StepState::kMore;
    add(applied);
    prefetch();
    return transferred();
  }

  Result<StepState> transferred() {
    phase_ = is_last_ ? Phase::kEnd : Phase::kTransfer;
    tell(SessionStage::kTransferring);
    if (phase_ == Phase::kTransfer && options_.should_stop && destination_.can_stop() && options_.should_stop(report_)) {
      report_.stopped = true;
      phase_ = Phase::kEnd;
    }
    return StepState::kMore;
  }

  void prefetch() {
    if (!is_last_) source_.prefetch_change_batch(first_);
  }

  // A batch from which the destination would learn nothing need not be sent to it. One with a filter may still have
  // something to let go.
  bool teaches(const ChangeBatch& batch) const {
    return has_to_meet_ || batch.filter || report_.received > 0 || !batch.last || !batch.changes.empty() ||
           request_.destination.scope.empty() || !request_.knowledge.contains(batch.made_with, batch.range);
  }

  Status end() {
    phase_ = Phase::kEnd;
    const Result<BatchReport> source_end = source_.end();
    const Result<BatchReport> destination_end = destination_.end();
    if (!destination_end.ok()) return destination_end.status();
    add(*destination_end);
    return source_end.ok() ? Status() : source_end.status();
  }

  void add(const BatchReport& applied) {
    report_.received += applied.received;
    report_.created += applied.created;
    report_.updated += applied.updated;
    report_.deleted += applied.deleted;
    report_.moved_out += applied.moved_out;
    report_.unchanged += applied.unchanged;
    report_.conflicts += applied.conflicts;
    report_.deferred += applied.deferred;
    report_.minted += applied.minted;
    for (const ItemFailure& failure : applied.failures) report_.failures.push_back({failure.item, failure.status});
  }

  void tell(SessionStage stage) {
    if (!options_.on_progress) return;
    options_.on_progress({stage, report_.received, std::max(report_.received, total_estimate_)});
  }

  Provider& source_;
  Provider& destination_;
  SessionOptions options_;
  SessionReport report_;
  ChangeRequest request_;
  // Each of the two may find out once that it is a copy.
  static constexpr int kBeginningsMax = 3;
  int begun_ = 0;
  ReplicaId near_source_;     // zero: not known beforehand
  bool have_met_ = false;     // and told each other of the replicas that they know
  bool has_to_meet_ = false;  // the destination has to hear of the source whatever comes
  ItemId first_ = kFirstItemId;
  bool is_last_ = false;  // the batch that was got last
  std::vector<RangeQuestion> questions_;
  std::uint64_t turns_ = 0;
  bool introduced_ = false;
  Phase phase_ = Phase::kBegin;
  std::uint64_t total_estimate_ = 0;
  bool cancelled_ = false;
};

SyncSession::SyncSession(Provider& source, Provider& destination, SessionOptions options)
    : state_(std::make_unique<State>(source, destination, std::move(options))) {}

SyncSession::~SyncSession() = default;

Result<StepState> SyncSession::step() { return state_->step(); }

Status SyncSession::run() {
  while (true) {
    HARMONICA_ASSIGN_OR_RETURN(const StepState state, step());
    if (state == StepState::kDone) return {};
  }
}

void SyncSession::cancel() { state_->cancel(); }

const SessionReport& SyncSession::report() const { return state_->report(); }

Result<SynchronizeReport> synchronize(Provider& first, Provider& second, const SessionOptions& options) {
  SyncSession to_first(second, first, options);
  HARMONICA_RETURN_IF_ERROR(to_first.run());
  SyncSession to_second(first, second, options);
  HARMONICA_RETURN_IF_ERROR(to_second.run());
  return SynchronizeReport{to_first.report(), to_second.report()};
}

}  // namespace harmonica
