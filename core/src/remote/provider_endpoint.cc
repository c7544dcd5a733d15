#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "harmonica/extension/remote.h"
#include "harmonica/limits.h"
#include "wire/codec.h"

namespace harmonica {
namespace {

std::string name_of(const wire::SessionId& session) {
  const std::string number = std::to_string(session.number);
  return session.replica.is_zero() ? "session " + number
                                   : "session of replica " + session.replica.to_text() + ", request " + number;
}

class ProviderEndpoint : public RequestHandler {
 public:
  explicit ProviderEndpoint(Provider& provider) : provider_(provider) {}

  ~ProviderEndpoint() override { abandon(); }

  Bytes handle(ByteView request) override {
    if (!last_request_.empty() && std::ranges::equal(request, last_request_)) return last_response_;
    auto decoded = wire::decode_request(request, [this](std::uint64_t digest) { return find_retired(digest); });
    if (!decoded.ok()) return encoded({}, decoded.status());
    offered_digest_ = decoded->replicas_digest;
    const wire::Heading& heading = decoded->heading;
    const Status admitted = std::visit([&](const auto& body) { return admit(heading, body); }, decoded->body);
    if (!admitted.ok()) return encoded(heading, admitted);
    if (std::holds_alternative<ApplyOptions>(decoded->body) && heading.session.number != next_number_) {
      return encoded(heading, wire::Offer{});
    }
    if (std::holds_alternative<wire::OtherReplicas>(decoded->body)) return encoded(heading, wire::OtherReplicas{});
    last_sequence_ = heading.sequence;
    wire::ResponseBody body = std::visit([&](const auto& content) { return answer(heading, content); }, decoded->body);
    Bytes response = encoded(heading, std::move(body));
    if (response.size() > limits::kMessageBytesMax) {
      abandon();
      response = encoded(heading, Status(StatusCode::kLimitExceeded,
                                         "response of " + std::to_string(response.size()) +
                                             " bytes is more than a message may have: ask for smaller batches"));
    }
    last_request_.assign(request.begin(), request.end());
    last_response_ = response;
    return response;
  }

 private:
  enum class Role : std::uint8_t { kSource, kDestination };

  // Whether a request may be handled now. Changes nothing.
  Status admit(const wire::Heading& heading, const wire::BeginComparison& comparison) const {
    return admit(heading, comparison.request);
  }

  Status admit(const wire::Heading& heading, const std::vector<RangeQuestion>&) const {
    return check_next(heading, Role::kSource);
  }

  Status admit(const wire::Heading& heading, const std::vector<RangeAnswer>&) const {
    return check_next(heading, Role::kDestination);
  }

  Status admit(const wire::Heading& heading, const ChangeRequest& request) const {
    HARMONICA_RETURN_IF_ERROR(check_first(heading));
    const wire::SessionId expected{request.destination.replica, request.number};
    if (expected.replica.is_zero()) return {StatusCode::kInvalidArgument, "change request without a destination"};
    if (heading.session != expected) {
      return {StatusCode::kInvalidArgument,
              name_of(heading.session) + " begins with a request that belongs to " + name_of(expected)};
    }
    if (expected.replica == session_.replica && expected.number <= session_.number) return over(expected);
    return {};
  }

  Status admit(const wire::Heading& heading, const ApplyOptions&) const {
    HARMONICA_RETURN_IF_ERROR(check_first(heading));
    if (!heading.session.replica.is_zero()) {
      return {StatusCode::kInvalidArgument, name_of(heading.session) + " has no far destination"};
    }
    return {};
  }

  Status admit(const wire::Heading& heading, const wire::GetBatch&) const { return check_next(heading, Role::kSource); }

  Status admit(const wire::Heading& heading, const ChangeBatch&) const { return check_next(heading, Role::kDestination); }

  // What came between the last request and the end may be lost, but the end has to get through.
  Status admit(const wire::Heading& heading, const wire::End&) const {
    if (!is_open_ || heading.session != session_) return over(heading.session);
    if (heading.sequence <= last_sequence_) return out_of_order(heading);
    return {};
  }

  // Is answered with the same; the client asks again in other words.
  static Status admit(const wire::Heading&, const wire::OtherReplicas&) { return {}; }

  // Outside of any session, and end the one that is open.
  static Status admit(const wire::Heading& heading, const wire::GetSchema&) { return check_outside(heading); }
  static Status admit(const wire::Heading& heading, const Schema&) { return check_outside(heading); }
  static Status admit(const wire::Heading& heading, const ReplicaTable&) { return check_outside(heading); }

  static Status check_outside(const wire::Heading& heading) {
    if (heading == wire::Heading{}) return {};
    return {StatusCode::kInvalidArgument,
            name_of(heading.session) + ": schemas and tables are exchanged outside of sessions"};
  }

  static Status check_first(const wire::Heading& heading) {
    if (heading.sequence == 0) return {};
    return {StatusCode::kInvalidArgument,
            name_of(heading.session) + " begins with sequence number " + std::to_string(heading.sequence)};
  }

  Status check_next(const wire::Heading& heading, Role role) const {
    if (!is_open_ || heading.session != session_) return over(heading.session);
    if (heading.sequence != last_sequence_ + 1) return out_of_order(heading);
    if (role != role_) return {StatusCode::kInvalidArgument, name_of(heading.session) + " goes the other way"};
    return {};
  }

  static Status over(const wire::SessionId& session) {
    return {StatusCode::kUnavailable, name_of(session) + " is over: run the session again"};
  }

  Status out_of_order(const wire::Heading& heading) const {
    return {StatusCode::kInvalidArgument, name_of(heading.session) + ": sequence number " +
                                              std::to_string(heading.sequence) + " does not follow " +
                                              std::to_string(last_sequence_)};
  }

  wire::ResponseBody answer(const wire::Heading& heading, const ChangeRequest& request) {
    open(heading.session, Role::kSource);
    ChangeRequest bounded = request;
    bounded.batch_bytes_max = std::min(request.batch_bytes_max, limits::kBatchBytesMax);
    request_ = bounded;
    auto source = provider_.begin_source(bounded);
    if (!source.ok()) return failed_begin(source.status());
    auto first = get_batch(kFirstItemId);
    if (!first.ok()) return failed_begin(first.status());
    return wire::SourceBegun{*std::move(source), *std::move(first)};
  }

  wire::ResponseBody answer(const wire::Heading& heading, const ApplyOptions& options) {
    open(heading.session, Role::kDestination);
    ++next_number_;
    auto request = provider_.begin_destination(options);
    if (!request.ok()) return failed_begin(request.status());
    return *std::move(request);
  }

  wire::ResponseBody answer(const wire::Heading&, const wire::GetBatch& request) {
    auto sent = get_batch(request.first);
    if (!sent.ok()) return sent.status();
    return *std::move(sent);
  }

  wire::ResponseBody answer(const wire::Heading&, const ChangeBatch& batch) {
    return body_of(provider_.process_change_batch(batch));
  }

  wire::ResponseBody answer(const wire::Heading& heading, const wire::BeginComparison& comparison) {
    open(heading.session, Role::kSource);
    auto compared = provider_.begin_comparison(comparison.request);
    if (!compared.ok()) return failed_begin(compared.status());
    return *std::move(compared);
  }

  wire::ResponseBody answer(const wire::Heading&, const std::vector<RangeQuestion>& questions) {
    auto answers = provider_.answer_questions(questions);
    if (!answers.ok()) return answers.status();
    return *std::move(answers);
  }

  wire::ResponseBody answer(const wire::Heading&, const std::vector<RangeAnswer>& answers) {
    return body_of(provider_.process_answers(answers));
  }

  wire::ResponseBody answer(const wire::Heading&, const wire::End&) {
    is_open_ = false;
    return body_of(provider_.end());
  }

  wire::ResponseBody answer(const wire::Heading&, const wire::GetSchema&) {
    abandon();
    return body_of(provider_.schema());
  }

  wire::ResponseBody answer(const wire::Heading&, const Schema& peer) {
    abandon();
    return body_of(provider_.meet_schema(peer));
  }

  wire::ResponseBody answer(const wire::Heading&, const ReplicaTable& peer) {
    abandon();
    auto replicas = provider_.meet_replicas(peer);
    if (!replicas.ok()) return replicas.status();
    return *std::move(replicas);
  }

  static wire::ResponseBody answer(const wire::Heading&, const wire::OtherReplicas& other) { return other; }

  static wire::ResponseBody body_of(Result<Schema> schema) {
    if (!schema.ok()) return schema.status();
    return *std::move(schema);
  }

  static wire::ResponseBody body_of(Result<BatchReport> report) {
    if (!report.ok()) return report.status();
    return *std::move(report);
  }

  void open(const wire::SessionId& session, Role role) {
    abandon();
    session_ = session;
    role_ = role;
    is_open_ = true;
    agreed_ = offered_digest_ != 0 && find_retired(offered_digest_) != nullptr;
  }

  wire::ResponseBody failed_begin(const Status& error) {
    abandon();
    return error;
  }

  // Ends the replica's side of a session whose client will not.
  void abandon() {
    if (!is_open_) return;
    is_open_ = false;
    // Nobody is left who could be told; what the session did not write is offered again.
    static_cast<void>(provider_.end());
  }

  Result<wire::BatchSent> get_batch(const ItemId& first) {
    HARMONICA_ASSIGN_OR_RETURN(ChangeBatch batch, provider_.get_change_batch(first));
    wire::BatchSent sent{std::move(batch), std::nullopt};
    // A destination that has to recover will have questions.
    if (sent.batch.range.last == last_item_id() && !is_recovery_needed(request_, sent.batch)) {
      is_open_ = false;
      HARMONICA_ASSIGN_OR_RETURN(sent.ended, provider_.end());
    }
    return sent;
  }

  Bytes encoded(const wire::Heading& heading, wire::ResponseBody body) const {
    return wire::encode({heading, next_number_, std::move(body), agreed_ ? retired_.replicas_digest : 0}, retired_);
  }

  // Null: the replica's own table is another one, or cannot be read now.
  const wire::RetiredTicks* find_retired(std::uint64_t digest) {
    if (retired_.replicas_digest == digest) return &retired_;
    const Result<std::optional<ReplicaTable>> table = provider_.replicas();
    if (!table.ok() || !*table || (*table)->digest() != digest) return nullptr;
    retired_ = wire::retired_ticks_of(**table);
    return retired_.replicas_digest == digest ? &retired_ : nullptr;
  }

  Provider& provider_;
  // The session that is held, open or not; zero: none yet.
  wire::SessionId session_;
  Role role_ = Role::kSource;
  bool is_open_ = false;
  std::uint64_t last_sequence_ = 0;
  ChangeRequest request_;             // of a session as the source
  wire::RetiredTicks retired_;        // that may be left out of messages of a session whose ends agree
  std::uint64_t offered_digest_ = 0;  // of the replica table that the client has, in the request that is answered
  bool agreed_ = false;               // that both have it
  Bytes last_request_;
  Bytes last_response_;
  std::uint64_t next_number_ = 1;
};

}  // namespace

std::unique_ptr<RequestHandler> make_provider_endpoint(Provider& provider) {
  return std::make_unique<ProviderEndpoint>(provider);
}

}  // namespace harmonica
