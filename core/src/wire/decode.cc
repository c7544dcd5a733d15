#include <google/protobuf/arena.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "harmonica.pb.h"
#include "harmonica/limits.h"
#include "harmonica/utf8.h"
#include "wire/codec.h"
#include "wire/enumerators.h"
#include "wire/message_parts.h"
#include "wire/schema_message.h"

namespace harmonica::wire {
namespace {

Status corrupt(std::string message) { return {StatusCode::kCorruption, std::move(message)}; }

Status too_many(std::size_t count, std::string_view what, std::size_t count_max) {
  return {StatusCode::kLimitExceeded,
          std::to_string(count) + " " + std::string(what) + ", and " + std::to_string(count_max) + " are allowed"};
}

template <typename IdType>
Result<IdType> to_id(const std::string& bytes) {
  const auto id = IdType::from_bytes(as_bytes(bytes));
  if (!id) return corrupt("id of " + std::to_string(bytes.size()) + " bytes");
  return *id;
}

// The id of an item: never the root above all.
Result<ItemId> to_item_id(const std::string& bytes) {
  HARMONICA_ASSIGN_OR_RETURN(const ItemId id, to_id<ItemId>(bytes));
  if (id.is_zero()) return corrupt("zero item id");
  return id;
}

// An end of a range, for which nothing stands where it is `otherwise`.
Result<ItemId> to_range_end(const std::string& bytes, const ItemId& otherwise) {
  if (bytes.empty()) return otherwise;
  HARMONICA_ASSIGN_OR_RETURN(const ItemId id, to_id<ItemId>(bytes));
  if (id == otherwise) return corrupt("range end " + id.to_text() + " written out");
  return id;
}

template <typename IdType>
Result<std::vector<IdType>> to_ids(const std::string& bytes) {
  if (bytes.size() % IdType::kSize != 0) return corrupt("ids of " + std::to_string(bytes.size()) + " bytes");
  std::vector<IdType> ids;
  ids.reserve(bytes.size() / IdType::kSize);
  for (ByteView rest = as_bytes(bytes); !rest.empty(); rest = rest.subspan(IdType::kSize)) {
    ids.push_back(*IdType::from_bytes(rest.first(IdType::kSize)));
  }
  return ids;
}

template <typename IdType>
Status check_rising(const std::vector<IdType>& ids) {
  for (std::size_t index = 1; index < ids.size(); ++index) {
    if (ids[index - 1] >= ids[index]) return corrupt("id " + ids[index].to_text() + " out of order");
  }
  return {};
}

Result<std::string> to_text(const std::string& bytes) {
  const std::size_t valid = valid_utf8_length(bytes);
  if (valid != bytes.size()) return corrupt("text is not UTF-8 at byte " + std::to_string(valid));
  return bytes;
}

// Type and unit numbers.
Result<std::uint16_t> to_number(std::uint32_t number, std::string_view what) {
  if (number == 0 || number > 0xffff) return corrupt(std::string(what) + " number " + std::to_string(number));
  return static_cast<std::uint16_t>(number);
}

template <typename Enum, std::size_t kCount>
Result<Enum> to_enum(const std::array<Numbered<Enum>, kCount>& table, std::uint32_t number, std::string_view what) {
  const auto value = find_value(table, number);
  if (!value) return corrupt("unknown " + std::string(what) + " " + std::to_string(number));
  return *value;
}

Status check_value_bytes(const std::string& bytes) {
  if (bytes.size() > limits::kValueBytesMax) return too_many(bytes.size(), "bytes of a value", limits::kValueBytesMax);
  return {};
}

// What is not a list.
Result<Value> to_single_value(const v1::Value& from) {
  switch (from.content_case()) {
    case v1::Value::kBoolean:
      return Value::boolean(from.boolean());
    case v1::Value::kInteger:
      return Value::integer(from.integer());
    case v1::Value::kReal:
      return Value::real(from.real());
    case v1::Value::kText: {
      HARMONICA_RETURN_IF_ERROR(check_value_bytes(from.text()));
      HARMONICA_ASSIGN_OR_RETURN(std::string text, to_text(from.text()));
      return Value::text(std::move(text));
    }
    case v1::Value::kBytes: {
      HARMONICA_RETURN_IF_ERROR(check_value_bytes(from.bytes()));
      const ByteView bytes = as_bytes(from.bytes());
      return Value::bytes(Bytes(bytes.begin(), bytes.end()));
    }
    case v1::Value::kIds: {
      HARMONICA_RETURN_IF_ERROR(check_value_bytes(from.ids()));
      HARMONICA_ASSIGN_OR_RETURN(Value::Ids ids, to_ids<ItemId>(from.ids()));
      return Value::ids(std::move(ids));
    }
    case v1::Value::kList:
      return corrupt("a list in a list");
    case v1::Value::CONTENT_NOT_SET:
      break;
  }
  return Value();
}

Result<Value> to_value(const v1::Value& from) {
  if (from.content_case() != v1::Value::kList) return to_single_value(from);
  Value::List list;
  list.reserve(static_cast<std::size_t>(from.list().members_size()));
  for (const v1::Value& member : from.list().members()) {
    HARMONICA_ASSIGN_OR_RETURN(Value value, to_single_value(member));
    list.push_back(std::move(value));
  }
  return Value::list(std::move(list));
}

Result<Filter> to_filter(const v1::Filter& from) {
  std::vector<FilterParameter> parameters;
  for (const v1::FilterParameter& message : from.parameters()) {
    HARMONICA_ASSIGN_OR_RETURN(std::string name, to_text(message.name()));
    if (!parameters.empty() && parameters.back().name >= name) return corrupt("parameter '" + name + "' out of order");
    HARMONICA_ASSIGN_OR_RETURN(Value value, to_single_value(message.value()));
    parameters.push_back({std::move(name), std::move(value)});
  }
  HARMONICA_ASSIGN_OR_RETURN(Filter filter, Filter::parse(from.text(), std::move(parameters)));
  if (filter.text() != from.text()) return corrupt("not in canonical form");
  return filter;
}

// What is wrong with a filter is wrong with the message.
Result<std::optional<Filter>> to_filter_if(const v1::Filter& from, bool is_there, std::string_view what) {
  if (!is_there) return std::optional<Filter>();
  Result<Filter> filter = to_filter(from);
  if (filter.ok()) return std::optional<Filter>(*std::move(filter));
  const bool is_limit = filter.status().code() == StatusCode::kLimitExceeded;
  return Status(is_limit ? StatusCode::kLimitExceeded : StatusCode::kCorruption, filter.status().message()).within(what);
}

struct Error {
  StatusCode code;
  std::string message;
};

Result<Error> to_error(const v1::Error& from) {
  if (from.code() == 0) return corrupt("error without a code");
  HARMONICA_ASSIGN_OR_RETURN(std::string message, to_text(from.message()));
  // A newer peer may know more codes.
  return Error{find_value(kStatusCodes, from.code()).value_or(StatusCode::kInternal), std::move(message)};
}

Result<ItemFailure> to_failure(const v1::ItemFailure& from) {
  HARMONICA_ASSIGN_OR_RETURN(const ItemId item, to_item_id(from.item()));
  HARMONICA_ASSIGN_OR_RETURN(Error error, to_error(from.error()));
  return ItemFailure{item, Status(error.code, std::move(error.message))};
}

Result<std::vector<Fingerprint>> to_fingerprints(const std::string& bytes) {
  constexpr std::size_t kSize = sizeof(Fingerprint);
  if (bytes.size() % kSize != 0) return corrupt("fingerprints of " + std::to_string(bytes.size()) + " bytes");
  std::vector<Fingerprint> fingerprints(bytes.size() / kSize);
  auto byte = bytes.begin();
  for (Fingerprint& fingerprint : fingerprints) {
    for (std::uint8_t& to : fingerprint) to = static_cast<std::uint8_t>(*byte++);
  }
  return fingerprints;
}

Result<std::vector<RangeQuestion>> to_questions(const v1::RangeQuestions& from) {
  HARMONICA_ASSIGN_OR_RETURN(const std::vector<ItemId> firsts, to_ids<ItemId>(from.firsts()));
  HARMONICA_ASSIGN_OR_RETURN(const std::vector<ItemId> lasts, to_ids<ItemId>(from.lasts()));
  HARMONICA_ASSIGN_OR_RETURN(const std::vector<Fingerprint> fingerprints, to_fingerprints(from.fingerprints()));
  if (firsts.size() > limits::kRangeQuestionsMax) return too_many(firsts.size(), "questions", limits::kRangeQuestionsMax);
  if (firsts.empty()) return corrupt("no question");
  if (lasts.size() != firsts.size() || fingerprints.size() != firsts.size()) {
    return corrupt("question without an end or a fingerprint");
  }
  std::vector<RangeQuestion> questions;
  questions.reserve(firsts.size());
  for (std::size_t index = 0; index < firsts.size(); ++index) {
    if (lasts[index] < firsts[index] || (index > 0 && firsts[index] <= lasts[index - 1])) {
      return corrupt("question about " + firsts[index].to_text() + " out of order");
    }
    questions.push_back({{firsts[index], lasts[index]}, fingerprints[index]});
  }
  return questions;
}

Result<RangeAnswer> to_answer(const v1::RangeAnswer& from) {
  RangeAnswer answer;
  HARMONICA_ASSIGN_OR_RETURN(answer.kind, to_enum(kRangeAnswerKinds, from.kind(), "kind"));
  HARMONICA_ASSIGN_OR_RETURN(answer.ids, to_ids<ItemId>(from.ids()));
  HARMONICA_RETURN_IF_ERROR(check_rising(answer.ids));
  HARMONICA_ASSIGN_OR_RETURN(answer.fingerprints, to_fingerprints(from.fingerprints()));
  const std::size_t ids = answer.ids.size();
  const std::size_t fingerprints = answer.fingerprints.size();
  switch (answer.kind) {
    case RangeAnswerKind::kEqual:
      if (ids != 0 || fingerprints != 0) return corrupt("equal, and ids or fingerprints");
      break;
    case RangeAnswerKind::kParts:
      if (ids >= limits::kRangePartsMax) return too_many(ids + 1, "parts", limits::kRangePartsMax);
      if (ids == 0 || fingerprints != ids + 1) return corrupt("parts without an id or a fingerprint");
      break;
    case RangeAnswerKind::kItems:
      if (ids > limits::kRangeItemsMax) return too_many(ids, "items", limits::kRangeItemsMax);
      if (fingerprints != ids) return corrupt("items without a fingerprint");
      break;
  }
  return answer;
}

Result<std::vector<RangeAnswer>> to_answers(const v1::RangeAnswers& from) {
  const auto count = static_cast<std::size_t>(from.answers_size());
  if (count > limits::kRangeQuestionsMax) return too_many(count, "answers", limits::kRangeQuestionsMax);
  if (count == 0) return corrupt("no answer");
  std::vector<RangeAnswer> answers;
  answers.reserve(count);
  for (const v1::RangeAnswer& message : from.answers()) {
    auto answer = to_answer(message);
    if (!answer.ok()) return answer.status().within("answer " + std::to_string(answers.size()));
    answers.push_back(*std::move(answer));
  }
  return answers;
}

Result<BatchReport> to_report(const v1::BatchReport& from) {
  BatchReport report;
  report.received = from.received();
  report.created = from.created();
  report.updated = from.updated();
  report.deleted = from.deleted();
  report.moved_out = from.moved_out();
  report.unchanged = from.unchanged();
  report.conflicts = from.conflicts();
  report.deferred = from.deferred();
  report.minted = from.minted();
  report.failures.reserve(static_cast<std::size_t>(from.failures_size()));
  for (const v1::ItemFailure& message : from.failures()) {
    auto failure = to_failure(message);
    if (!failure.ok()) return failure.status().within("failure " + std::to_string(report.failures.size()));
    report.failures.push_back(*std::move(failure));
  }
  if (from.has_questions()) {
    HARMONICA_ASSIGN_OR_RETURN(report.questions, to_questions(from.questions()));
  }
  return report;
}

// Every step lies within `range`, or its vector is empty.
bool is_empty_outside(const Knowledge& knowledge, const ItemIdRange& range) {
  const auto steps = knowledge.steps();
  const std::optional<ItemId> behind = next(range.last);
  for (std::size_t index = 0; index < steps.size(); ++index) {
    if (knowledge.vectors()[steps[index].vector].empty()) continue;
    if (steps[index].first < range.first) return false;
    const bool is_last = index + 1 == steps.size();
    if (is_last ? behind.has_value() : behind && steps[index + 1].first > *behind) return false;
  }
  return true;
}

// Turns the messages that refer to one replica table into the model.
class Reader {
 public:
  // `retired`: what vectors may leave out; null: nothing.
  Reader(std::vector<ReplicaId> replicas, const RetiredTicks* retired)
      : replicas_(std::move(replicas)), retired_(retired) {}

  Result<ReplicaId> replica(std::uint32_t index) const {
    if (index >= replicas_.size()) {
      return corrupt("replica index " + std::to_string(index) + " in a table of " + std::to_string(replicas_.size()));
    }
    return replicas_[index];
  }

  Result<ReplicaDescription> description(const v1::ReplicaDescription& from) const {
    ReplicaDescription description;
    HARMONICA_ASSIGN_OR_RETURN(description.replica, replica(from.replica()));
    if (!from.scope().empty() && !is_valid_scope_name(from.scope())) return corrupt("scope is not a valid name");
    description.scope = from.scope();
    description.schema_fingerprint = from.schema_fingerprint();
    description.wall_clock_ms = from.wall_clock_ms();
    for (const auto* marks : {&from.marks(), &from.marks_of_peer()}) {
      const auto count = static_cast<std::size_t>(marks->size());
      if (count > limits::kMarksShownMax) return too_many(count, "marks", limits::kMarksShownMax);
    }
    description.replicas_digest = from.replicas_digest();
    description.marks.assign(from.marks().begin(), from.marks().end());
    description.marks_of_peer.assign(from.marks_of_peer().begin(), from.marks_of_peer().end());
    return description;
  }

  Result<ReplicaTable> replica_table(const v1::ReplicaTable& from) const {
    const auto count = static_cast<std::size_t>(from.rows_size());
    if (count > limits::kReplicasMax) return too_many(count, "replicas", limits::kReplicasMax);
    std::vector<ReplicaRow> rows;
    rows.reserve(count);
    for (const v1::ReplicaRow& message : from.rows()) {
      ReplicaRow row;
      HARMONICA_ASSIGN_OR_RETURN(row.replica, replica(message.replica()));
      if (!rows.empty() && row.replica <= rows.back().replica) return corrupt("rows out of order");
      HARMONICA_ASSIGN_OR_RETURN(row.name, to_text(message.name()));
      row.named_ms = message.named_ms();
      if (message.has_former()) {
        HARMONICA_ASSIGN_OR_RETURN(row.former, replica(message.former().replica()));
        row.kept = message.former().kept();
        row.copied = message.former().copied();
      }
      row.retired = message.retired();
      row.last = message.last();
      rows.push_back(std::move(row));
    }
    return ReplicaTable::from_rows(std::move(rows));
  }

  Result<ApplyOptions> apply_options(const v1::ApplyOptions& from) const {
    HARMONICA_ASSIGN_OR_RETURN(const OnConflict on_conflict, to_enum(kOnConflicts, from.on_conflict(), "conflict option"));
    ApplyOptions options{on_conflict, from.batch_bytes_max(), std::nullopt};
    if (from.has_source()) {
      HARMONICA_ASSIGN_OR_RETURN(options.source, description(from.source()));
    }
    return options;
  }

  Result<Knowledge> knowledge(const v1::Knowledge& from) const {
    if (from.steps_size() == 0) return corrupt("no step");
    const auto step_count = static_cast<std::size_t>(from.steps_size());
    if (step_count > limits::kKnowledgeStepsMax) return too_many(step_count, "steps", limits::kKnowledgeStepsMax);
    if (from.vector_sizes_size() > from.steps_size()) return corrupt("more vectors than steps");
    HARMONICA_ASSIGN_OR_RETURN(std::vector<ClockVector> vectors, clock_vectors(from));
    HARMONICA_ASSIGN_OR_RETURN(std::vector<Knowledge::Step> steps, this->steps(from));
    const std::size_t vector_count = vectors.size();
    HARMONICA_ASSIGN_OR_RETURN(Knowledge knowledge, Knowledge::from_steps(std::move(vectors), std::move(steps)));
    // Order and use of the vectors were tested above; what is left is that no two are equal.
    if (knowledge.vectors().size() != vector_count || knowledge.steps().size() != step_count) {
      return corrupt("two equal vectors");
    }
    return knowledge;
  }

  Result<ChangeRequest> change_request(const v1::ChangeRequest& from) const {
    ChangeRequest request;
    auto destination = description(from.destination());
    if (!destination.ok()) return destination.status().within("destination");
    request.destination = *std::move(destination);
    request.number = from.number();
    auto knowledge = this->knowledge(from.knowledge());
    if (!knowledge.ok()) return knowledge.status().within("knowledge");
    request.knowledge = *std::move(knowledge);
    auto wanted = wanted_whole(from.wanted_whole());
    if (!wanted.ok()) return wanted.status().within("wanted whole");
    request.wanted_whole = *std::move(wanted);
    request.batch_bytes_max = from.batch_bytes_max();
    HARMONICA_ASSIGN_OR_RETURN(request.filter, to_filter_if(from.filter(), from.has_filter(), "filter"));
    return request;
  }

  Result<ChangeBatch> change_batch(const v1::ChangeBatch& from) const {
    ChangeBatch batch;
    auto source = description(from.source());
    if (!source.ok()) return source.status().within("source");
    batch.source = *std::move(source);
    auto destination = replica(from.destination());
    if (!destination.ok()) return destination.status().within("destination");
    batch.destination = *destination;
    batch.request_number = from.request_number();
    auto covered = range(from);
    if (!covered.ok()) return covered.status().within("range");
    batch.range = *covered;
    batch.last = batch.range.last == last_item_id();
    HARMONICA_ASSIGN_OR_RETURN(batch.changes, changes(from, batch.range));
    auto made_with = knowledge_within(from.made_with(), batch.range);
    if (!made_with.ok()) return made_with.status().within("made-with knowledge");
    batch.made_with = *std::move(made_with);
    auto forgotten = knowledge_within(from.forgotten(), batch.range);
    if (!forgotten.ok()) return forgotten.status().within("forgotten knowledge");
    batch.forgotten = *std::move(forgotten);
    batch.changes_left_estimate = from.changes_left_estimate();
    HARMONICA_ASSIGN_OR_RETURN(batch.filter, to_filter_if(from.filter(), from.has_filter(), "filter"));
    HARMONICA_ASSIGN_OR_RETURN(batch.source_filter,
                               to_filter_if(from.source_filter(), from.has_source_filter(), "source filter"));
    auto moved_out = this->moved_out(from.moved_out(), batch.range);
    if (!moved_out.ok()) return moved_out.status().within("moved out");
    batch.moved_out = *std::move(moved_out);
    return batch;
  }

  Result<ComparedReplica> compared_replica(const v1::ComparedReplica& from) const {
    ComparedReplica compared;
    HARMONICA_ASSIGN_OR_RETURN(compared.replica, description(from.replica()));
    auto knowledge = this->knowledge(from.knowledge());
    if (!knowledge.ok()) return knowledge.status().within("knowledge");
    compared.knowledge = *std::move(knowledge);
    HARMONICA_ASSIGN_OR_RETURN(compared.filter, to_filter_if(from.filter(), from.has_filter(), "filter"));
    return compared;
  }

  Result<BatchSent> batch_sent(const v1::BatchSent& from) const {
    BatchSent sent;
    auto batch = change_batch(from.batch());
    if (!batch.ok()) return batch.status().within("batch");
    sent.batch = *std::move(batch);
    if (from.has_ended()) {
      HARMONICA_ASSIGN_OR_RETURN(sent.ended, to_report(from.ended()));
    }
    return sent;
  }

 private:
  static Result<Version> version_of(const ClockVector::Entry& entry) {
    if (entry.tick == 0) return corrupt("version without a tick");
    return Version{entry.replica, entry.tick};
  }

  Result<Version> version(std::uint32_t replica_index, Tick tick) const {
    HARMONICA_ASSIGN_OR_RETURN(const ReplicaId id, replica(replica_index));
    return version_of({id, tick});
  }

  Result<std::vector<ClockVector>> clock_vectors(const v1::Knowledge& from) const {
    if (from.entry_replicas_size() != from.entry_ticks_size()) return corrupt("vector entries without replica or tick");
    if (from.vector_forms_size() != 0 && from.vector_forms_size() != from.vector_sizes_size()) {
      return corrupt("vectors without a form");
    }
    std::vector<ClockVector> vectors;
    vectors.reserve(static_cast<std::size_t>(from.vector_sizes_size()));
    int entry = 0;
    std::size_t left_out = 0;
    for (int index = 0; index < from.vector_sizes_size(); ++index) {
      const std::uint32_t size = from.vector_sizes(index);
      if (size > static_cast<std::uint32_t>(from.entry_replicas_size() - entry)) return corrupt("vector cut short");
      const int end = entry + static_cast<int>(size);
      std::vector<ClockVector::Entry> entries;
      entries.reserve(size);
      for (const int first = entry; entry < end; ++entry) {
        if (entry > first && from.entry_replicas(entry - 1) >= from.entry_replicas(entry)) {
          return corrupt("vector entries out of order");
        }
        HARMONICA_ASSIGN_OR_RETURN(const ReplicaId id, replica(from.entry_replicas(entry)));
        entries.push_back({id, from.entry_ticks(entry)});
      }
      const std::uint32_t form = from.vector_forms_size() == 0 ? 0 : from.vector_forms(index);
      if (form == 1 && retired_ != nullptr) {
        left_out += retired_->ticks.entries().size();
        if (left_out > limits::kLeftOutEntriesMax)
          return too_many(left_out, "entries left out", limits::kLeftOutEntriesMax);
        HARMONICA_ASSIGN_OR_RETURN(ClockVector vector, joined_with_retired(entries));
        vectors.push_back(std::move(vector));
        continue;
      }
      if (form != 0) return corrupt("unknown form " + std::to_string(form) + " of a vector");
      for (const ClockVector::Entry& one : entries) HARMONICA_RETURN_IF_ERROR(version_of(one).status());
      vectors.emplace_back(std::move(entries));
    }
    if (entry != from.entry_replicas_size()) return corrupt("vector entries left over");
    return vectors;
  }

  // A vector that leaves out what is known of retired replicas, in its one form.
  Result<ClockVector> joined_with_retired(const std::vector<ClockVector::Entry>& entries) const {
    ClockVector vector = with_retired(entries, *retired_);
    if (without_retired(vector, *retired_) != entries) return corrupt("vector repeats the tick of a retired replica");
    if (entries.size() >= vector.entries().size()) return corrupt("vector that is shorter with its retired replicas");
    return vector;
  }

  // The steps; their ids rise, neighbours differ, vectors appear in order and all are used.
  static Result<std::vector<Knowledge::Step>> steps(const v1::Knowledge& from) {
    HARMONICA_ASSIGN_OR_RETURN(const std::vector<ItemId> firsts, to_ids<ItemId>(from.step_firsts()));
    const auto vector_count = static_cast<std::uint32_t>(from.vector_sizes_size());
    std::vector<Knowledge::Step> steps;
    steps.reserve(static_cast<std::size_t>(from.steps_size()));
    std::uint32_t seen = 0;
    auto id = firsts.begin();
    for (const std::uint32_t code : from.steps()) {
      Knowledge::Step step{kFirstItemId, code / 2};
      if (steps.empty()) {
        if (code % 2 != 0) return corrupt("the first step follows nothing");
      } else {
        const std::optional<ItemId> following = next(steps.back().first);
        if (code % 2 != 0) {
          if (!following) return corrupt("a step behind the last id");
          step.first = *following;
        } else {
          if (id == firsts.end()) return corrupt("step without an id");
          step.first = *id++;
          if (step.first <= steps.back().first) return corrupt("step " + step.first.to_text() + " out of order");
          if (step.first == following) return corrupt("step " + step.first.to_text() + " written out");
        }
        if (step.vector == steps.back().vector) return corrupt("neighbouring steps of one vector");
      }
      if (step.vector >= vector_count)
        return corrupt("vector index " + std::to_string(step.vector) + " in a table of " + std::to_string(vector_count));
      if (step.vector > seen) return corrupt("vectors not in order of use");
      if (step.vector == seen) ++seen;
      steps.push_back(step);
    }
    if (id != firsts.end()) return corrupt("step ids left over");
    if (seen != vector_count) return corrupt("unused vector");
    return steps;
  }

  Result<Knowledge> knowledge_within(const v1::Knowledge& from, const ItemIdRange& range) const {
    HARMONICA_ASSIGN_OR_RETURN(Knowledge knowledge, this->knowledge(from));
    if (!is_empty_outside(knowledge, range)) return corrupt("not empty outside the range");
    return knowledge;
  }

  static Result<std::vector<ItemId>> wanted_whole(const std::string& bytes) {
    HARMONICA_ASSIGN_OR_RETURN(std::vector<ItemId> ids, to_ids<ItemId>(bytes));
    if (ids.size() > limits::kWantedWholeMax) return too_many(ids.size(), "items", limits::kWantedWholeMax);
    if (!ids.empty() && ids.front().is_zero()) return corrupt("zero item id");
    HARMONICA_RETURN_IF_ERROR(check_rising(ids));
    return ids;
  }

  static Result<std::vector<ItemId>> moved_out(const std::string& bytes, const ItemIdRange& range) {
    HARMONICA_ASSIGN_OR_RETURN(std::vector<ItemId> ids, to_ids<ItemId>(bytes));
    if (ids.size() > limits::kBatchChangesMax) return too_many(ids.size(), "items", limits::kBatchChangesMax);
    if (!ids.empty() && ids.front().is_zero()) return corrupt("zero item id");
    HARMONICA_RETURN_IF_ERROR(check_rising(ids));
    if (!ids.empty() && !(range.contains(ids.front()) && range.contains(ids.back()))) return corrupt("outside the range");
    return ids;
  }

  static Result<ItemIdRange> range(const v1::ChangeBatch& from) {
    HARMONICA_ASSIGN_OR_RETURN(const ItemId first, to_range_end(from.range_first(), kFirstItemId));
    HARMONICA_ASSIGN_OR_RETURN(const ItemId last, to_range_end(from.range_last(), last_item_id()));
    if (first > last) return corrupt("begins at " + first.to_text() + " and ends before it");
    return ItemIdRange{first, last};
  }

  Result<std::vector<ItemChange>> changes(const v1::ChangeBatch& from, const ItemIdRange& range) const {
    const auto count = static_cast<std::size_t>(from.changes_size());
    if (count > limits::kBatchChangesMax) return too_many(count, "changes", limits::kBatchChangesMax);
    std::vector<ItemChange> changes;
    changes.reserve(count);
    for (const v1::ItemChange& message : from.changes()) {
      auto change = item_change(message);
      if (!change.ok()) return change.status().within("change " + std::to_string(changes.size()));
      if (!changes.empty() && changes.back().item >= change->item) {
        return corrupt("change of item " + change->item.to_text() + " out of order");
      }
      if (!range.contains(change->item)) {
        return corrupt("change of item " + change->item.to_text() + " outside the range");
      }
      changes.push_back(*std::move(change));
    }
    return changes;
  }

  Result<ItemChange> item_change(const v1::ItemChange& from) const {
    const auto unit_count = static_cast<std::size_t>(from.units_size());
    if (unit_count > limits::kUnitsMax) return too_many(unit_count, "units", limits::kUnitsMax);
    ItemChange change;
    HARMONICA_ASSIGN_OR_RETURN(change.item, to_item_id(from.item()));
    HARMONICA_ASSIGN_OR_RETURN(change.type, to_number(from.type(), "type"));
    HARMONICA_ASSIGN_OR_RETURN(change.existence.value, to_enum(kExistences, from.existence(), "existence"));
    HARMONICA_ASSIGN_OR_RETURN(change.existence.version, version(from.replica(), from.tick()));
    change.whole = from.whole();
    change.units.reserve(unit_count);
    for (const v1::UnitRegister& message : from.units()) {
      auto unit = unit_register(message, from.tick());
      if (!unit.ok()) return unit.status().within("unit " + std::to_string(message.unit()));
      if (!change.units.empty() && change.units.back().unit >= unit->unit) {
        return corrupt("unit " + std::to_string(unit->unit) + " out of order");
      }
      change.units.push_back(*std::move(unit));
    }
    if (change.existence.value == Existence::kErased && !(change.whole && change.units.empty())) {
      return corrupt("item " + change.item.to_text() + " is erased, and comes with units, or not whole");
    }
    return change;
  }

  Result<UnitRegister> unit_register(const v1::UnitRegister& from, Tick existence_tick) const {
    UnitRegister unit;
    HARMONICA_ASSIGN_OR_RETURN(unit.unit, to_number(from.unit(), "unit"));
    HARMONICA_ASSIGN_OR_RETURN(unit.content.version,
                               version(from.replica(), existence_tick + static_cast<Tick>(from.ticks_after_existence())));
    HARMONICA_ASSIGN_OR_RETURN(unit.content.origin, to_enum(kOrigins, from.origin(), "origin"));
    HARMONICA_ASSIGN_OR_RETURN(unit.content.value, to_value(from.value()));
    return unit;
  }

  std::vector<ReplicaId> replicas_;
  const RetiredTicks* retired_;
};

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

Result<Reader> to_reader(const std::string& replica_bytes, const RetiredTicks* retired) {
  const std::size_t count = replica_bytes.size() / ReplicaId::kSize;
  if (count > limits::kReplicasMax) return too_many(count, "replicas", limits::kReplicasMax);
  auto replicas = to_ids<ReplicaId>(replica_bytes);
  if (!replicas.ok()) return replicas.status().within("replica table");
  const Status rising = check_rising(*replicas);
  if (!rising.ok()) return rising.within("replica table");
  return Reader(*std::move(replicas), retired);
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

Result<RequestBody> to_body(const v1::Request& from, const Reader& reader) {
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

Result<ResponseBody> to_body(const v1::Response& from, const Reader& reader) {
  switch (from.body_case()) {
    case v1::Response::kError: {
      HARMONICA_ASSIGN_OR_RETURN(Error error, to_error(from.error()));
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
  HARMONICA_ASSIGN_OR_RETURN(const Reader reader, to_reader(message->replicas(), retired));
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
  HARMONICA_ASSIGN_OR_RETURN(const Reader reader, to_reader(message->replicas(), retired));
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
