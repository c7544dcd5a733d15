// Messages between a remote provider and its endpoint, and their bytes. docs/protocol.md is the specification.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "harmonica/bytes.h"
#include "harmonica/change.h"
#include "harmonica/extension/provider.h"
#include "harmonica/replica_table.h"
#include "harmonica/schema.h"
#include "harmonica/status.h"
#include "wire/retired_ticks.h"

namespace harmonica::wire {

inline constexpr std::uint32_t kProtocolVersion = 1;

// Names a session without a random number: the far replica is the source: the destination and the number of its request;
// the far replica is the destination: no replica and a number that the endpoint offered.
struct SessionId {
  ReplicaId replica;
  std::uint64_t number = 0;
  friend bool operator==(const SessionId&, const SessionId&) = default;
};

// What requests and responses begin with. A response repeats its request's.
struct Heading {
  SessionId session;
  std::uint64_t sequence = 0;
  friend bool operator==(const Heading&, const Heading&) = default;
};

struct GetBatch {
  ItemId first;
  friend bool operator==(const GetBatch&, const GetBatch&) = default;
};

struct End {
  friend bool operator==(const End&, const End&) = default;
};

// Of it, only the destination, the number and the filter travel.
struct BeginComparison {
  ChangeRequest request;
  friend bool operator==(const BeginComparison&, const BeginComparison&) = default;
};

struct GetSchema {
  friend bool operator==(const GetSchema&, const GetSchema&) = default;
};

// The request leaves out what a replica table says that is not known here. Nothing was read of it.
struct OtherReplicas {
  friend bool operator==(const OtherReplicas&, const OtherReplicas&) = default;
};

// In the order of the table in docs/protocol.md: begin source, get batch, begin destination, process batch, end, answer
// questions, process answers, begin comparison, get schema, meet schema, meet replicas; and what could not be read.
using RequestBody = std::variant<ChangeRequest, GetBatch, ApplyOptions, ChangeBatch, End, std::vector<RangeQuestion>,
                                 std::vector<RangeAnswer>, BeginComparison, GetSchema, Schema, ReplicaTable, OtherReplicas>;

struct Request {
  Heading heading;
  RequestBody body;
  std::uint64_t replicas_digest = 0;  // of the table whose retired ticks may be left out between the two; 0: none
  friend bool operator==(const Request&, const Request&) = default;
};

// The session cannot begin under the number that was asked for, but under `next_number`. Nothing was done.
struct Offer {
  friend bool operator==(const Offer&, const Offer&) = default;
};

// A batch of the far replica. With the last one the endpoint ends the session, and `ended` is that end's report.
struct BatchSent {
  ChangeBatch batch;
  std::optional<BatchReport> ended;
  friend bool operator==(const BatchSent&, const BatchSent&) = default;
};

struct SourceBegun {
  ReplicaDescription source;
  BatchSent first;
  friend bool operator==(const SourceBegun&, const SourceBegun&) = default;
};

// An error is a status that is not ok.
using ResponseBody = std::variant<Status, Offer, SourceBegun, BatchSent, ChangeRequest, BatchReport,
                                  std::vector<RangeAnswer>, ComparedReplica, Schema, ReplicaTable, OtherReplicas>;

struct Response {
  Heading heading;
  std::uint64_t next_number = 0;  // under which the next session with the far replica as destination may begin
  ResponseBody body = Offer{};
  std::uint64_t replicas_digest = 0;  // of the request, if the endpoint's table is the same
  friend bool operator==(const Response&, const Response&) = default;
};

// The bytes of a request, one function for each body. Equal arguments give equal bytes. What `retired` says is left out
// where that makes a message shorter, and the message names its digest.
Bytes encode_begin_source(const Heading& heading, const ChangeRequest& request, const RetiredTicks& retired = {});
Bytes encode_get_batch(const Heading& heading, const ItemId& first);
Bytes encode_begin_destination(const Heading& heading, const ApplyOptions& options, const RetiredTicks& retired = {});
Bytes encode_process_batch(const Heading& heading, const ChangeBatch& batch, const RetiredTicks& retired = {});
Bytes encode_end(const Heading& heading);
Bytes encode_answer_questions(const Heading& heading, std::span<const RangeQuestion> questions);
Bytes encode_process_answers(const Heading& heading, std::span<const RangeAnswer> answers);
Bytes encode_begin_comparison(const Heading& heading, const ChangeRequest& request, const RetiredTicks& retired = {});
Bytes encode_get_schema(const Heading& heading);
Bytes encode_meet_replicas(const Heading& heading, const ReplicaTable& replicas);
Bytes encode_meet_schema(const Heading& heading, const Schema& schema);

// What `retired` says counts if the response names its digest.
Bytes encode(const Response& response, const RetiredTicks& retired = {});

// What the bytes say. corruption: they break a rule of the specification; limit_exceeded: they exceed limits.h;
// unsupported: another protocol version, or a body that is not known. The message names the part.
Result<Request> decode_request(ByteView bytes, const FindRetiredTicks& find_retired = {});
Result<Response> decode_response(ByteView bytes, const FindRetiredTicks& find_retired = {});

}  // namespace harmonica::wire
