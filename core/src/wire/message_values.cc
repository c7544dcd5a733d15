#include "wire/message_values.h"

#include "harmonica.pb.h"
#include "harmonica/limits.h"
#include "harmonica/utf8.h"

namespace harmonica::wire {
namespace {

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

Result<ItemFailure> to_failure(const v1::ItemFailure& from) {
  HARMONICA_ASSIGN_OR_RETURN(const ItemId item, to_item_id(from.item()));
  HARMONICA_ASSIGN_OR_RETURN(const PeerError error, to_error(from.error()));
  return ItemFailure{item, Status(error.code, error.message)};
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

}  // namespace

Status corrupt(std::string message) { return {StatusCode::kCorruption, std::move(message)}; }

Status too_many(std::size_t count, std::string_view what, std::size_t count_max) {
  return {StatusCode::kLimitExceeded,
          std::to_string(count) + " " + std::string(what) + ", and " + std::to_string(count_max) + " are allowed"};
}

Result<ItemId> to_item_id(const std::string& bytes) {
  HARMONICA_ASSIGN_OR_RETURN(const ItemId id, to_id<ItemId>(bytes));
  if (id.is_zero()) return corrupt("zero item id");
  return id;
}

Result<ItemId> to_range_end(const std::string& bytes, const ItemId& otherwise) {
  if (bytes.empty()) return otherwise;
  HARMONICA_ASSIGN_OR_RETURN(const ItemId id, to_id<ItemId>(bytes));
  if (id == otherwise) return corrupt("range end " + id.to_text() + " written out");
  return id;
}

Result<std::string> to_text(const std::string& bytes) {
  const std::size_t valid = valid_utf8_length(bytes);
  if (valid != bytes.size()) return corrupt("text is not UTF-8 at byte " + std::to_string(valid));
  return bytes;
}

Result<std::uint16_t> to_number(std::uint32_t number, std::string_view what) {
  if (number == 0 || number > 0xffff) return corrupt(std::string(what) + " number " + std::to_string(number));
  return static_cast<std::uint16_t>(number);
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

Result<std::optional<Filter>> to_filter_if(const v1::Filter& from, bool is_there, std::string_view what) {
  if (!is_there) return std::optional<Filter>();
  Result<Filter> filter = to_filter(from);
  if (filter.ok()) return std::optional<Filter>(*std::move(filter));
  const bool is_limit = filter.status().code() == StatusCode::kLimitExceeded;
  return Status(is_limit ? StatusCode::kLimitExceeded : StatusCode::kCorruption, filter.status().message()).within(what);
}

Result<PeerError> to_error(const v1::Error& from) {
  if (from.code() == 0) return corrupt("error without a code");
  HARMONICA_ASSIGN_OR_RETURN(std::string message, to_text(from.message()));
  // A newer peer may know more codes.
  return PeerError{find_value(kStatusCodes, from.code()).value_or(StatusCode::kInternal), std::move(message)};
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

}  // namespace harmonica::wire
