#include <google/protobuf/arena.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "harmonica.pb.h"
#include "harmonica/limits.h"
#include "wire/codec.h"
#include "wire/message_parts.h"
#include "wire/message_reader.h"
#include "wire/message_values.h"
#include "wire/schema_message.h"

namespace harmonica::wire {
namespace {

// What is tested before the message is parsed.
Status check_bytes(ByteView bytes, MessageKind kind) {
  if (bytes.size() > limits::kMessageBytesMax) return too_many(bytes.size(), "bytes", limits::kMessageBytesMax);
  constexpr std::uint8_t kProtocolTag = 1 << 3;
  if (bytes.empty() || bytes.front() != kProtocolTag) return corrupt("no protocol version in front");
  std::uint64_t version = 0;
  std::size_t length = 1;
  for (bool more = true; more; ++length) {
    if (length >= bytes.size() || length > 10) return corrupt("protocol version cut short");
    version |= static_cast<std::uint64_t>(bytes[length] & 0x7f) << (7 * (length - 1));
    more = bytes[length] >= 0x80;
  }
  if (version != kProtocolVersion) {
    return {StatusCode::kUnsupported, "protocol version " + std::to_string(version) + " from the peer, but version " +
                                          std::to_string(kProtocolVersion) + " here: update the older side"};
  }
  return check_message_parts(bytes, kind);
}

template <typename Message>
Result<const Message*> parsed(ByteView bytes, MessageKind kind, google::protobuf::Arena& arena) {
  HARMONICA_RETURN_IF_ERROR(check_bytes(bytes, kind));
  auto* message = google::protobuf::Arena::CreateMessage<Message>(&arena);
  if (!message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return corrupt("cut short or not a message");
  }
  return message;
}

Result<MessageReader> to_reader(const std::string& replica_bytes, const RetiredTicks* retired) {
  const std::size_t count = replica_bytes.size() / ReplicaId::kSize;
  if (count > limits::kReplicasMax) return too_many(count, "replicas", limits::kReplicasMax);
  auto replicas = to_ids<ReplicaId>(replica_bytes);
  if (!replicas.ok()) return replicas.status().within("replica table");
  const Status rising = check_rising(*replicas);
  if (!rising.ok()) return rising.within("replica table");
  return MessageReader(*std::move(replicas), retired);
}

template <typename Message>
Result<Heading> to_heading(const Message& from) {
  Heading heading;
  if (!from.session().replica().empty()) {
    auto replica = to_id<ReplicaId>(from.session().replica());
    if (!replica.ok()) return replica.status().within("session");
    heading.session.replica = *replica;
  }
  heading.session.number = from.session().number();
  heading.sequence = from.sequence();
  return heading;
}

Result<RequestBody> to_body(const v1::Request& from, const MessageReader& reader) {
  switch (from.body_case()) {
    case v1::Request::kBeginSource: {
      HARMONICA_ASSIGN_OR_RETURN(ChangeRequest request, reader.change_request(from.begin_source()));
      return RequestBody(std::move(request));
    }
    case v1::Request::kGetBatch: {
      HARMONICA_ASSIGN_OR_RETURN(const ItemId first, to_range_end(from.get_batch().first(), kFirstItemId));
      return RequestBody(GetBatch{first});
    }
    case v1::Request::kBeginDestination: {
      HARMONICA_ASSIGN_OR_RETURN(ApplyOptions options, reader.apply_options(from.begin_destination()));
      return RequestBody(std::move(options));
    }
    case v1::Request::kProcessBatch: {
      HARMONICA_ASSIGN_OR_RETURN(ChangeBatch batch, reader.change_batch(from.process_batch()));
      return RequestBody(std::move(batch));
    }
    case v1::Request::kEnd:
      return RequestBody(End{});
    case v1::Request::kAnswerQuestions: {
      HARMONICA_ASSIGN_OR_RETURN(std::vector<RangeQuestion> questions, to_questions(from.answer_questions()));
      return RequestBody(std::move(questions));
    }
    case v1::Request::kProcessAnswers: {
      HARMONICA_ASSIGN_OR_RETURN(std::vector<RangeAnswer> answers, to_answers(from.process_answers()));
      return RequestBody(std::move(answers));
    }
    case v1::Request::kBeginComparison: {
      HARMONICA_ASSIGN_OR_RETURN(ChangeRequest request, reader.change_request(from.begin_comparison()));
      return RequestBody(BeginComparison{std::move(request)});
    }
    case v1::Request::kGetSchema:
      return RequestBody(GetSchema{});
    case v1::Request::kMeetSchema: {
      HARMONICA_ASSIGN_OR_RETURN(Schema schema, to_schema(from.meet_schema()));
      return RequestBody(std::move(schema));
    }
    case v1::Request::kMeetReplicas: {
      HARMONICA_ASSIGN_OR_RETURN(ReplicaTable replicas, reader.replica_table(from.meet_replicas()));
      return RequestBody(std::move(replicas));
    }
    case v1::Request::BODY_NOT_SET:
      break;
  }
  return Status(StatusCode::kUnsupported, "kind of request is not known here: update the older side");
}

Result<ResponseBody> to_body(const v1::Response& from, const MessageReader& reader) {
  switch (from.body_case()) {
    case v1::Response::kError: {
      HARMONICA_ASSIGN_OR_RETURN(PeerError error, to_error(from.error()));
      return ResponseBody(Status(error.code, std::move(error.message)));
    }
    case v1::Response::kOffer:
      return ResponseBody(Offer{});
    case v1::Response::kSourceBegun: {
      SourceBegun begun;
      HARMONICA_ASSIGN_OR_RETURN(begun.source, reader.description(from.source_begun().source()));
      HARMONICA_ASSIGN_OR_RETURN(begun.first, reader.batch_sent(from.source_begun().first()));
      return ResponseBody(std::move(begun));
    }
    case v1::Response::kBatchSent: {
      HARMONICA_ASSIGN_OR_RETURN(BatchSent sent, reader.batch_sent(from.batch_sent()));
      return ResponseBody(std::move(sent));
    }
    case v1::Response::kDestinationBegun: {
      HARMONICA_ASSIGN_OR_RETURN(ChangeRequest request, reader.change_request(from.destination_begun()));
      return ResponseBody(std::move(request));
    }
    case v1::Response::kReport: {
      HARMONICA_ASSIGN_OR_RETURN(BatchReport report, to_report(from.report()));
      return ResponseBody(std::move(report));
    }
    case v1::Response::kAnswers: {
      HARMONICA_ASSIGN_OR_RETURN(std::vector<RangeAnswer> answers, to_answers(from.answers()));
      return ResponseBody(std::move(answers));
    }
    case v1::Response::kComparisonBegun: {
      HARMONICA_ASSIGN_OR_RETURN(ComparedReplica compared, reader.compared_replica(from.comparison_begun()));
      return ResponseBody(std::move(compared));
    }
    case v1::Response::kSchema: {
      HARMONICA_ASSIGN_OR_RETURN(Schema schema, to_schema(from.schema()));
      return ResponseBody(std::move(schema));
    }
    case v1::Response::kReplicasMet: {
      HARMONICA_ASSIGN_OR_RETURN(ReplicaTable replicas, reader.replica_table(from.replicas_met()));
      return ResponseBody(std::move(replicas));
    }
    case v1::Response::kOtherReplicas:
      return ResponseBody(OtherReplicas{});
    case v1::Response::BODY_NOT_SET:
      break;
  }
  return Status(StatusCode::kUnsupported, "kind of response is not known here: update the older side");
}

// What a message with that digest may leave out; null: nothing that is known here.
const RetiredTicks* retired_for(std::uint64_t replicas_digest, const FindRetiredTicks& find_retired) {
  return replicas_digest == 0 || !find_retired ? nullptr : find_retired(replicas_digest);
}

// Whether some knowledge of the request leaves out what retired replicas have made.
bool leaves_out_retired(const v1::Request& from) {
  return from.begin_source().knowledge().vector_forms_size() > 0 ||
         from.process_batch().made_with().vector_forms_size() > 0 ||
         from.process_batch().forgotten().vector_forms_size() > 0;
}

Result<Request> request_of(ByteView bytes, const FindRetiredTicks& find_retired) {
  google::protobuf::Arena arena;
  HARMONICA_ASSIGN_OR_RETURN(const v1::Request* message, parsed<v1::Request>(bytes, MessageKind::kRequest, arena));
  const RetiredTicks* retired = retired_for(message->replicas_digest(), find_retired);
  HARMONICA_ASSIGN_OR_RETURN(const MessageReader reader, to_reader(message->replicas(), retired));
  Request request;
  HARMONICA_ASSIGN_OR_RETURN(request.heading, to_heading(*message));
  request.replicas_digest = message->replicas_digest();
  if (message->replicas_digest() != 0 && retired == nullptr && leaves_out_retired(*message)) {
    request.body = OtherReplicas{};
    return request;
  }
  HARMONICA_ASSIGN_OR_RETURN(request.body, to_body(*message, reader));
  return request;
}

Result<Response> response_of(ByteView bytes, const FindRetiredTicks& find_retired) {
  google::protobuf::Arena arena;
  HARMONICA_ASSIGN_OR_RETURN(const v1::Response* message, parsed<v1::Response>(bytes, MessageKind::kResponse, arena));
  const RetiredTicks* retired = retired_for(message->replicas_digest(), find_retired);
  HARMONICA_ASSIGN_OR_RETURN(const MessageReader reader, to_reader(message->replicas(), retired));
  Response response;
  HARMONICA_ASSIGN_OR_RETURN(response.heading, to_heading(*message));
  response.next_number = message->next_number();
  response.replicas_digest = message->replicas_digest();
  HARMONICA_ASSIGN_OR_RETURN(response.body, to_body(*message, reader));
  return response;
}

}  // namespace

Result<Request> decode_request(ByteView bytes, const FindRetiredTicks& find_retired) {
  auto request = request_of(bytes, find_retired);
  if (!request.ok()) return request.status().within("request");
  return request;
}

Result<Response> decode_response(ByteView bytes, const FindRetiredTicks& find_retired) {
  auto response = response_of(bytes, find_retired);
  if (!response.ok()) return response.status().within("response");
  return response;
}

}  // namespace harmonica::wire
