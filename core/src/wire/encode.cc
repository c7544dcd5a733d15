#include <google/protobuf/arena.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "harmonica.pb.h"
#include "harmonica/limits.h"
#include "harmonica/utf8.h"
#include "wire/codec.h"
#include "wire/enumerators.h"
#include "wire/schema_message.h"

namespace harmonica::wire {
namespace {

// The replica ids of one message, in order and once.
class ReplicaIds {
 public:
  void add(const ReplicaId& id) {
    const auto place = std::lower_bound(ids_.begin(), ids_.end(), id);
    if (place == ids_.end() || *place != id) ids_.insert(place, id);
  }

  // Only of an id that was added.
  std::uint32_t index_of(const ReplicaId& id) const {
    return static_cast<std::uint32_t>(std::lower_bound(ids_.begin(), ids_.end(), id) - ids_.begin());
  }

  std::string bytes() const {
    std::string bytes;
    bytes.reserve(ids_.size() * ReplicaId::kSize);
    for (const ReplicaId& id : ids_) bytes += as_text(id.view());
    return bytes;
  }

 private:
  std::vector<ReplicaId> ids_;
};

// How a vector is written: as it is, or without what is known of retired replicas, if that has fewer entries.
struct WrittenVector {
  std::vector<ClockVector::Entry> entries;
  bool without_retired = false;
};

std::vector<WrittenVector> written(const Knowledge& knowledge, const RetiredTicks& retired) {
  std::vector<WrittenVector> vectors;
  vectors.reserve(knowledge.vectors().size());
  std::size_t left_out = 0;
  for (const ClockVector& vector : knowledge.vectors()) {
    WrittenVector& as = vectors.emplace_back();
    if (!vector.empty() && left_out + retired.ticks.entries().size() <= limits::kLeftOutEntriesMax) {
      as.entries = without_retired(vector, retired);
      as.without_retired = as.entries.size() < vector.entries().size();
    }
    if (as.without_retired) {
      left_out += retired.ticks.entries().size();
    } else {
      as.entries.assign(vector.entries().begin(), vector.entries().end());
    }
  }
  return vectors;
}

void collect(const Knowledge& knowledge, const RetiredTicks& retired, ReplicaIds& table) {
  const std::vector<WrittenVector> vectors = written(knowledge, retired);
  for (const WrittenVector& vector : vectors) {
    for (const ClockVector::Entry& entry : vector.entries) table.add(entry.replica);
  }
}

void collect(const ReplicaTable& table, ReplicaIds& replicas) {
  for (const ReplicaRow& row : table.rows()) {
    replicas.add(row.replica);
    if (!row.former.is_zero()) replicas.add(row.former);
  }
}

void collect(const ChangeRequest& request, const RetiredTicks& retired, ReplicaIds& table) {
  table.add(request.destination.replica);
  collect(request.knowledge, retired, table);
}

void collect(const ChangeBatch& batch, const RetiredTicks& retired, ReplicaIds& table) {
  table.add(batch.source.replica);
  table.add(batch.destination);
  for (const ItemChange& change : batch.changes) {
    table.add(change.existence.version.replica);
    for (const UnitRegister& unit : change.units) table.add(unit.content.version.replica);
  }
  collect(batch.made_with, retired, table);
  collect(batch.forgotten, retired, table);
}

template <typename Tag>
std::string bytes_of(const Id<Tag>& id) {
  return std::string(as_text(id.view()));
}

std::string bytes_of(const std::vector<ItemId>& ids) {
  std::string bytes;
  bytes.reserve(ids.size() * ItemId::kSize);
  for (const ItemId& id : ids) bytes += as_text(id.view());
  return bytes;
}

std::string bytes_of(const std::vector<Fingerprint>& fingerprints) {
  std::string bytes;
  bytes.reserve(fingerprints.size() * sizeof(Fingerprint));
  for (const Fingerprint& fingerprint : fingerprints) bytes += as_text(fingerprint);
  return bytes;
}

// Turns the model into messages; one for each message that is written.
class Writer {
 public:
  Writer(const ReplicaIds& replicas, const RetiredTicks& retired) : replicas_(replicas), retired_(retired) {}

  void write(const ReplicaDescription& from, v1::ReplicaDescription* to) const {
    to->set_replica(replicas_.index_of(from.replica));
    to->set_scope(from.scope);
    to->set_schema_fingerprint(from.schema_fingerprint);
    to->set_wall_clock_ms(from.wall_clock_ms);
    for (const std::uint64_t mark : from.marks) to->add_marks(mark);
    for (const std::uint64_t mark : from.marks_of_peer) to->add_marks_of_peer(mark);
    to->set_replicas_digest(from.replicas_digest);
  }

  void write(const ReplicaTable& from, v1::ReplicaTable* to) const {
    for (const ReplicaRow& row : from.rows()) {
      v1::ReplicaRow* message = to->add_rows();
      message->set_replica(replicas_.index_of(row.replica));
      message->set_name(row.name);
      message->set_named_ms(row.named_ms);
      if (!row.former.is_zero()) {
        message->mutable_former()->set_replica(replicas_.index_of(row.former));
        message->mutable_former()->set_kept(row.kept);
        message->mutable_former()->set_copied(row.copied);
      }
      message->set_retired(row.retired);
      message->set_last(row.last);
    }
  }

  void write(const Knowledge& from, v1::Knowledge* to) const {
    bool any_without = false;
    const std::vector<WrittenVector> vectors = written(from, retired_);
    for (const WrittenVector& vector : vectors) {
      to->add_vector_sizes(static_cast<std::uint32_t>(vector.entries.size()));
      for (const ClockVector::Entry& entry : vector.entries) {
        to->add_entry_replicas(replicas_.index_of(entry.replica));
        to->add_entry_ticks(entry.tick);
      }
      to->add_vector_forms(vector.without_retired ? 1 : 0);
      any_without = any_without || vector.without_retired;
    }
    if (!any_without) to->clear_vector_forms();
    std::optional<ItemId> expected = kFirstItemId;
    for (const Knowledge::Step& step : from.steps()) {
      const bool is_first = step.first == kFirstItemId;
      const bool follows = !is_first && expected == step.first;
      if (!is_first && !follows) to->mutable_step_firsts()->append(as_text(step.first.view()));
      to->add_steps(step.vector * 2 + (follows ? 1 : 0));
      expected = next(step.first);
    }
  }

  void write(const ChangeRequest& from, v1::ChangeRequest* to) const {
    write(from.destination, to->mutable_destination());
    to->set_number(from.number);
    write(from.knowledge, to->mutable_knowledge());
    to->set_wanted_whole(bytes_of(from.wanted_whole));
    to->set_batch_bytes_max(from.batch_bytes_max);
    if (from.filter) write(*from.filter, to->mutable_filter());
  }

  void write(const ChangeBatch& from, v1::ChangeBatch* to) const {
    write(from.source, to->mutable_source());
    to->set_destination(replicas_.index_of(from.destination));
    to->set_request_number(from.request_number);
    if (from.range.first != kFirstItemId) to->set_range_first(bytes_of(from.range.first));
    if (from.range.last != last_item_id()) to->set_range_last(bytes_of(from.range.last));
    to->mutable_changes()->Reserve(static_cast<int>(from.changes.size()));
    for (const ItemChange& change : from.changes) write(change, to->add_changes());
    write(from.made_with, to->mutable_made_with());
    write(from.forgotten, to->mutable_forgotten());
    to->set_changes_left_estimate(from.changes_left_estimate);
    if (from.filter) write(*from.filter, to->mutable_filter());
    if (from.source_filter) write(*from.source_filter, to->mutable_source_filter());
    to->set_moved_out(bytes_of(from.moved_out));
  }

  void write(const BatchSent& from, v1::BatchSent* to) const {
    write(from.batch, to->mutable_batch());
    if (from.ended) write(*from.ended, to->mutable_ended());
  }

  static void write(const BatchReport& from, v1::BatchReport* to) {
    to->set_received(from.received);
    to->set_created(from.created);
    to->set_updated(from.updated);
    to->set_deleted(from.deleted);
    to->set_moved_out(from.moved_out);
    to->set_unchanged(from.unchanged);
    to->set_conflicts(from.conflicts);
    to->set_deferred(from.deferred);
    to->set_minted(from.minted);
    for (const ItemFailure& failure : from.failures) {
      v1::ItemFailure* message = to->add_failures();
      message->set_item(bytes_of(failure.item));
      write(failure.status, message->mutable_error());
    }
    if (!from.questions.empty()) write(from.questions, to->mutable_questions());
  }

  static void write(std::span<const RangeQuestion> from, v1::RangeQuestions* to) {
    for (const RangeQuestion& question : from) {
      to->mutable_firsts()->append(as_text(question.range.first.view()));
      to->mutable_lasts()->append(as_text(question.range.last.view()));
      to->mutable_fingerprints()->append(as_text(question.fingerprint));
    }
  }

  static void write(std::span<const RangeAnswer> from, v1::RangeAnswers* to) {
    for (const RangeAnswer& answer : from) {
      v1::RangeAnswer* message = to->add_answers();
      message->set_kind(number_of(kRangeAnswerKinds, answer.kind));
      message->set_ids(bytes_of(answer.ids));
      message->set_fingerprints(bytes_of(answer.fingerprints));
    }
  }

  void write(const ComparedReplica& from, v1::ComparedReplica* to) const {
    write(from.replica, to->mutable_replica());
    write(from.knowledge, to->mutable_knowledge());
    if (from.filter) write(*from.filter, to->mutable_filter());
  }

  static void write(const Filter& from, v1::Filter* to) {
    to->set_text(from.text());
    for (const FilterParameter& parameter : from.parameters()) {
      v1::FilterParameter* message = to->add_parameters();
      message->set_name(parameter.name);
      if (!parameter.value.is_null()) write(parameter.value, message->mutable_value());
    }
  }

  static void write(const Status& from, v1::Error* to) {
    to->set_code(number_of(kStatusCodes, from.code()));
    to->set_message(repaired_utf8(from.message()));
  }

 private:
  void write(const ItemChange& from, v1::ItemChange* to) const {
    to->set_item(bytes_of(from.item));
    to->set_type(from.type);
    to->set_existence(number_of(kExistences, from.existence.value));
    to->set_replica(replicas_.index_of(from.existence.version.replica));
    to->set_tick(from.existence.version.tick);
    to->set_whole(from.whole);
    to->mutable_units()->Reserve(static_cast<int>(from.units.size()));
    for (const UnitRegister& unit : from.units) {
      v1::UnitRegister* message = to->add_units();
      message->set_unit(unit.unit);
      message->set_replica(replicas_.index_of(unit.content.version.replica));
      message->set_ticks_after_existence(
          static_cast<std::int64_t>(unit.content.version.tick - from.existence.version.tick));
      message->set_origin(number_of(kOrigins, unit.content.origin));
      if (!unit.content.value.is_null()) write(unit.content.value, message->mutable_value());
    }
  }

  static void write(const Value& from, v1::Value* to) {
    if (const auto* boolean = from.if_boolean()) to->set_boolean(*boolean);
    if (const auto* integer = from.if_integer()) to->set_integer(*integer);
    if (const auto* real = from.if_real()) to->set_real(*real);
    if (const auto* text = from.if_text()) to->set_text(*text);
    if (const auto* bytes = from.if_bytes()) to->set_bytes(bytes->data(), bytes->size());
    if (const auto* ids = from.if_ids()) to->set_ids(bytes_of(*ids));
    if (const auto* list = from.if_list()) {
      v1::ValueList* members = to->mutable_list();
      for (const Value& member : *list) write(member, members->add_members());
    }
  }

  const ReplicaIds& replicas_;
  const RetiredTicks& retired_;
};

template <typename Message>
void write_envelope(const Heading& heading, const ReplicaIds& replicas, Message* to) {
  to->set_protocol(kProtocolVersion);
  to->set_replicas(replicas.bytes());
  if (heading.session != SessionId{}) {
    v1::SessionId* session = to->mutable_session();
    if (!heading.session.replica.is_zero()) session->set_replica(bytes_of(heading.session.replica));
    session->set_number(heading.session.number);
  }
  to->set_sequence(heading.sequence);
}

template <typename Message>
Bytes serialized(const Message& message) {
  Bytes bytes(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(bytes.data());
  return bytes;
}

// `write_body` is given the message that holds the body.
template <typename WriteBody>
Bytes encoded_request(const Heading& heading, const ReplicaIds& replicas, const RetiredTicks& retired,
                      const WriteBody& write_body) {
  google::protobuf::Arena arena;
  auto* message = google::protobuf::Arena::CreateMessage<v1::Request>(&arena);
  write_envelope(heading, replicas, message);
  message->set_replicas_digest(retired.replicas_digest);
  write_body(Writer(replicas, retired), message);
  return serialized(*message);
}

// A body that names no replica but those of its heading.
template <typename WriteBody>
Bytes encoded_request(const Heading& heading, const WriteBody& write_body) {
  return encoded_request(heading, {}, {}, write_body);
}

}  // namespace

Bytes encode_begin_source(const Heading& heading, const ChangeRequest& request, const RetiredTicks& retired) {
  ReplicaIds replicas;
  collect(request, retired, replicas);
  return encoded_request(heading, replicas, retired,
                         [&](const Writer& writer, v1::Request* to) { writer.write(request, to->mutable_begin_source()); });
}

Bytes encode_get_batch(const Heading& heading, const ItemId& first) {
  return encoded_request(heading, [&](const Writer&, v1::Request* to) {
    v1::GetBatch* message = to->mutable_get_batch();
    if (first != kFirstItemId) message->set_first(bytes_of(first));
  });
}

Bytes encode_begin_destination(const Heading& heading, const ApplyOptions& options, const RetiredTicks& retired) {
  ReplicaIds replicas;
  if (options.source) replicas.add(options.source->replica);
  return encoded_request(heading, replicas, retired, [&](const Writer& writer, v1::Request* to) {
    v1::ApplyOptions* message = to->mutable_begin_destination();
    message->set_on_conflict(number_of(kOnConflicts, options.on_conflict));
    message->set_batch_bytes_max(options.batch_bytes_max);
    if (options.source) writer.write(*options.source, message->mutable_source());
  });
}

Bytes encode_process_batch(const Heading& heading, const ChangeBatch& batch, const RetiredTicks& retired) {
  ReplicaIds replicas;
  collect(batch, retired, replicas);
  return encoded_request(heading, replicas, retired,
                         [&](const Writer& writer, v1::Request* to) { writer.write(batch, to->mutable_process_batch()); });
}

Bytes encode_end(const Heading& heading) {
  return encoded_request(heading, [](const Writer&, v1::Request* to) { to->mutable_end(); });
}

Bytes encode_answer_questions(const Heading& heading, std::span<const RangeQuestion> questions) {
  return encoded_request(heading,
                         [&](const Writer&, v1::Request* to) { Writer::write(questions, to->mutable_answer_questions()); });
}

Bytes encode_process_answers(const Heading& heading, std::span<const RangeAnswer> answers) {
  return encoded_request(heading,
                         [&](const Writer&, v1::Request* to) { Writer::write(answers, to->mutable_process_answers()); });
}

Bytes encode_begin_comparison(const Heading& heading, const ChangeRequest& request, const RetiredTicks& retired) {
  ChangeRequest named;
  named.destination = request.destination;
  named.number = request.number;
  named.filter = request.filter;
  ReplicaIds replicas;
  collect(named, retired, replicas);
  return encoded_request(heading, replicas, retired, [&](const Writer& writer, v1::Request* to) {
    writer.write(named, to->mutable_begin_comparison());
  });
}

Bytes encode_get_schema(const Heading& heading) {
  return encoded_request(heading, [](const Writer&, v1::Request* to) { to->mutable_get_schema(); });
}

Bytes encode_meet_replicas(const Heading& heading, const ReplicaTable& table) {
  ReplicaIds replicas;
  collect(table, replicas);
  return encoded_request(heading, replicas, {},
                         [&](const Writer& writer, v1::Request* to) { writer.write(table, to->mutable_meet_replicas()); });
}

Bytes encode_meet_schema(const Heading& heading, const Schema& schema) {
  return encoded_request(heading, [&](const Writer&, v1::Request* to) { wire::write(schema, to->mutable_meet_schema()); });
}

Bytes encode(const Response& response, const RetiredTicks& known) {
  static const RetiredTicks nothing;
  const RetiredTicks& retired = response.replicas_digest == 0 ? nothing : known;
  ReplicaIds replicas;
  if (const auto* begun = std::get_if<SourceBegun>(&response.body)) {
    replicas.add(begun->source.replica);
    collect(begun->first.batch, retired, replicas);
  } else if (const auto* sent = std::get_if<BatchSent>(&response.body)) {
    collect(sent->batch, retired, replicas);
  } else if (const auto* request = std::get_if<ChangeRequest>(&response.body)) {
    collect(*request, retired, replicas);
  } else if (const auto* compared = std::get_if<ComparedReplica>(&response.body)) {
    replicas.add(compared->replica.replica);
    collect(compared->knowledge, retired, replicas);
  } else if (const auto* table = std::get_if<ReplicaTable>(&response.body)) {
    collect(*table, replicas);
  }

  google::protobuf::Arena arena;
  auto* message = google::protobuf::Arena::CreateMessage<v1::Response>(&arena);
  write_envelope(response.heading, replicas, message);
  message->set_next_number(response.next_number);
  message->set_replicas_digest(response.replicas_digest);
  const Writer writer(replicas, retired);
  if (const auto* error = std::get_if<Status>(&response.body)) {
    Writer::write(*error, message->mutable_error());
  } else if (const auto* begun = std::get_if<SourceBegun>(&response.body)) {
    writer.write(begun->source, message->mutable_source_begun()->mutable_source());
    writer.write(begun->first, message->mutable_source_begun()->mutable_first());
  } else if (const auto* sent = std::get_if<BatchSent>(&response.body)) {
    writer.write(*sent, message->mutable_batch_sent());
  } else if (const auto* request = std::get_if<ChangeRequest>(&response.body)) {
    writer.write(*request, message->mutable_destination_begun());
  } else if (const auto* report = std::get_if<BatchReport>(&response.body)) {
    Writer::write(*report, message->mutable_report());
  } else if (const auto* answers = std::get_if<std::vector<RangeAnswer>>(&response.body)) {
    Writer::write(*answers, message->mutable_answers());
  } else if (const auto* compared = std::get_if<ComparedReplica>(&response.body)) {
    writer.write(*compared, message->mutable_comparison_begun());
  } else if (const auto* table = std::get_if<ReplicaTable>(&response.body)) {
    writer.write(*table, message->mutable_replicas_met());
  } else if (const auto* schema = std::get_if<Schema>(&response.body)) {
    wire::write(*schema, message->mutable_schema());
  } else if (std::holds_alternative<OtherReplicas>(response.body)) {
    message->mutable_other_replicas();
  } else {
    message->mutable_offer();
  }
  return serialized(*message);
}

}  // namespace harmonica::wire
