#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "harmonica/extension/remote.h"
#include "harmonica/limits.h"
#include "wire/codec.h"

namespace harmonica {
namespace {

class RemoteProvider : public Provider {
 public:
  RemoteProvider(Channel& channel, const RemoteProviderOptions& options) : channel_(channel), executor_(options.executor) {}

  Result<ChangeRequest> begin_destination(const ApplyOptions& options) override {
    leave_session();
    const auto encode = [&](const wire::Heading& heading) {
      return wire::encode_begin_destination(heading, options, retired_);
    };
    // The number known may be used up, by another client for one; then the peer offers another.
    for (int attempt = 0; attempt < kBeginAttempts; ++attempt) {
      const wire::SessionId session{ReplicaId{}, next_number_};
      HARMONICA_ASSIGN_OR_RETURN(wire::ResponseBody body, begin(session, encode));
      if (std::holds_alternative<wire::Offer>(body)) continue;
      HARMONICA_ASSIGN_OR_RETURN(ChangeRequest request, content<ChangeRequest>(std::move(body)));
      session_ = session;
      has_met_ = !request.destination.scope.empty();
      return request;
    }
    return Status(StatusCode::kUnavailable, "other sessions began at the peer meanwhile: run the session again");
  }

  Result<ReplicaDescription> begin_source(const ChangeRequest& request) override {
    leave_session();
    const auto encode = [&](const wire::Heading& heading) { return wire::encode_begin_source(heading, request, retired_); };
    const wire::SessionId session{request.destination.replica, request.number};
    HARMONICA_ASSIGN_OR_RETURN(wire::ResponseBody body, begin(session, encode));
    HARMONICA_ASSIGN_OR_RETURN(wire::SourceBegun begun, content<wire::SourceBegun>(std::move(body)));
    session_ = session;
    first_batch_ = std::move(begun.first.batch);
    ended_ = std::move(begun.first.ended);
    return std::move(begun.source);
  }

  Result<ChangeBatch> get_change_batch(const ItemId& first) override {
    if (first_batch_ && first_batch_->range.first == first) {
      ChangeBatch batch = *std::move(first_batch_);
      first_batch_.reset();
      return batch;
    }
    if (const auto prefetch = take_prefetch(); prefetch && prefetch->first == first) return std::move(prefetch->batch);
    return fetch(first);
  }

  void prefetch_change_batch(const ItemId& first) override {
    const bool is_here = first_batch_ && first_batch_->range.first == first;
    if (executor_ == nullptr || prefetch_ != nullptr || !session_ || ended_ || is_here) return;
    prefetch_ = std::make_unique<Prefetch>();
    prefetch_->first = first;
    prefetch_->task = executor_->start([this, prefetch = prefetch_.get()] { prefetch->batch = fetch(prefetch->first); });
  }

  Result<BatchReport> process_change_batch(const ChangeBatch& batch) override {
    take_prefetch();
    HARMONICA_ASSIGN_OR_RETURN(wire::ResponseBody body, request_next([&](const wire::Heading& heading) {
                                 return wire::encode_process_batch(heading, batch, agreed_ ? retired_ : kNothingRetired);
                               }));
    return content<BatchReport>(std::move(body));
  }

  // How the store at the other end is written is not known here.
  bool can_stop() const override { return has_met_; }

  Result<ComparedReplica> begin_comparison(const ChangeRequest& request) override {
    leave_session();
    const auto encode = [&](const wire::Heading& heading) {
      return wire::encode_begin_comparison(heading, request, retired_);
    };
    const wire::SessionId session{request.destination.replica, request.number};
    HARMONICA_ASSIGN_OR_RETURN(wire::ResponseBody body, begin(session, encode));
    HARMONICA_ASSIGN_OR_RETURN(ComparedReplica compared, content<ComparedReplica>(std::move(body)));
    session_ = session;
    return compared;
  }

  Result<std::vector<RangeAnswer>> answer_questions(std::span<const RangeQuestion> questions) override {
    take_prefetch();
    HARMONICA_ASSIGN_OR_RETURN(wire::ResponseBody body, request_next([&](const wire::Heading& heading) {
                                 return wire::encode_answer_questions(heading, questions);
                               }));
    return content<std::vector<RangeAnswer>>(std::move(body));
  }

  Result<BatchReport> process_answers(std::span<const RangeAnswer> answers) override {
    take_prefetch();
    HARMONICA_ASSIGN_OR_RETURN(wire::ResponseBody body, request_next([&](const wire::Heading& heading) {
                                 return wire::encode_process_answers(heading, answers);
                               }));
    return content<BatchReport>(std::move(body));
  }

  bool is_far() const override { return true; }

  void share_replicas(const ReplicaTable& near) override {
    leave_session();
    retired_ = wire::retired_ticks_of(near);
  }

  Result<Schema> schema() override { return exchange_schema(wire::encode_get_schema({})); }

  Result<Schema> meet_schema(const Schema& peer) override { return exchange_schema(wire::encode_meet_schema({}, peer)); }

  Result<ReplicaTable> meet_replicas(const ReplicaTable& peer) override {
    leave_session();
    HARMONICA_ASSIGN_OR_RETURN(wire::ResponseBody body, exchange({}, wire::encode_meet_replicas({}, peer)));
    return content<ReplicaTable>(std::move(body));
  }

  Result<BatchReport> end() override {
    take_prefetch();
    if (!session_) return BatchReport{};
    if (ended_) {
      BatchReport report = *std::move(ended_);
      leave_session();
      return report;
    }
    HARMONICA_ASSIGN_OR_RETURN(wire::ResponseBody body, request_next(wire::encode_end));
    leave_session();
    return content<BatchReport>(std::move(body));
  }

 private:
  static constexpr int kBeginAttempts = 3;
  inline static const wire::RetiredTicks kNothingRetired;

  using Encode = std::function<Bytes(const wire::Heading&)>;

  // A batch that is being fetched. While `task` runs, it alone uses the channel and what belongs to the session.
  struct Prefetch {
    ItemId first;
    Result<ChangeBatch> batch = Status(StatusCode::kCancelled, "the batch was not fetched");
    std::unique_ptr<Executor::Task> task;
  };

  // Nothing if there was none. Returns after its end.
  std::unique_ptr<Prefetch> take_prefetch() {
    if (prefetch_ != nullptr) prefetch_->task->wait();
    return std::move(prefetch_);
  }

  void leave_session() {
    take_prefetch();
    session_.reset();
    agreed_ = false;
    sequence_ = 0;
    unanswered_.clear();
    first_batch_.reset();
    ended_.reset();
  }

  Result<ChangeBatch> fetch(const ItemId& first) {
    HARMONICA_ASSIGN_OR_RETURN(wire::ResponseBody body, request_next([&](const wire::Heading& heading) {
                                 return wire::encode_get_batch(heading, first);
                               }));
    HARMONICA_ASSIGN_OR_RETURN(wire::BatchSent sent, content<wire::BatchSent>(std::move(body)));
    ended_ = std::move(sent.ended);
    return std::move(sent.batch);
  }

  // Outside of any session.
  Result<Schema> exchange_schema(Bytes request) {
    leave_session();
    HARMONICA_ASSIGN_OR_RETURN(wire::ResponseBody body, exchange({}, std::move(request)));
    return content<Schema>(std::move(body));
  }

  // Where the two ends have different replica tables, nothing is left out of messages.
  Result<wire::ResponseBody> begin(const wire::SessionId& session, const Encode& encode) {
    const wire::Heading heading{session, 0};
    HARMONICA_ASSIGN_OR_RETURN(wire::ResponseBody body, exchange(heading, encode(heading)));
    if (!std::holds_alternative<wire::OtherReplicas>(body)) return body;
    retired_ = {};
    return exchange(heading, encode(heading));
  }

  // A request within the session. One that got no answer keeps its number if it is asked again.
  Result<wire::ResponseBody> request_next(const Encode& encode) {
    if (!session_) return Status(StatusCode::kInvalidArgument, "no session has begun with the peer");
    if (!unanswered_.empty()) {
      const wire::Heading heading{*session_, sequence_};
      Bytes again = encode(heading);
      if (again == unanswered_) return exchange(heading, std::move(again));
    }
    const wire::Heading heading{*session_, ++sequence_};
    return exchange(heading, encode(heading));
  }

  // Errors of the peer come back as errors.
  Result<wire::ResponseBody> exchange(const wire::Heading& heading, Bytes request) {
    if (request.size() > limits::kMessageBytesMax) {
      return Status(StatusCode::kLimitExceeded, "request of " + std::to_string(request.size()) + " bytes, and " +
                                                    std::to_string(limits::kMessageBytesMax) + " are allowed");
    }
    unanswered_ = std::move(request);
    HARMONICA_ASSIGN_OR_RETURN(const Bytes bytes, channel_.exchange(unanswered_));
    HARMONICA_ASSIGN_OR_RETURN(wire::Response response, wire::decode_response(bytes, [&](std::uint64_t digest) {
                                 return digest == retired_.replicas_digest ? &retired_ : nullptr;
                               }));
    const auto* error = std::get_if<Status>(&response.body);
    const bool names_no_request = response.heading == wire::Heading{};
    if (response.heading != heading && !(error != nullptr && names_no_request)) {
      return Status(StatusCode::kCorruption, "response belongs to another request");
    }
    unanswered_.clear();
    next_number_ = response.next_number;
    agreed_ = response.replicas_digest != 0 && response.replicas_digest == retired_.replicas_digest;
    if (error != nullptr) return *error;
    return std::move(response.body);
  }

  template <typename Body>
  static Result<Body> content(wire::ResponseBody body) {
    if (auto* wanted = std::get_if<Body>(&body)) return std::move(*wanted);
    return Status(StatusCode::kCorruption, "response of another kind than its request");
  }

  Channel& channel_;
  Executor* const executor_;
  std::uint64_t next_number_ = 0;
  bool has_met_ = false;        // the far destination belongs to a scope
  wire::RetiredTicks retired_;  // of the near replica
  bool agreed_ = false;         // that the far one has the same
  std::optional<wire::SessionId> session_;
  std::uint64_t sequence_ = 0;
  Bytes unanswered_;
  std::optional<ChangeBatch> first_batch_;
  // The end's report, if the peer has ended the session with its last batch.
  std::optional<BatchReport> ended_;
  // Behind everything that its task uses: it is destroyed first, and waits.
  std::unique_ptr<Prefetch> prefetch_;
};

}  // namespace

std::unique_ptr<Provider> make_remote_provider(Channel& channel, const RemoteProviderOptions& options) {
  return std::make_unique<RemoteProvider>(channel, options);
}

}  // namespace harmonica
