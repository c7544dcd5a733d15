// What messages say without naming a replica: values, filters, errors, ranges, reports.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harmonica/bytes.h"
#include "harmonica/extension/provider.h"
#include "harmonica/filter.h"
#include "harmonica/ids.h"
#include "harmonica/status.h"
#include "harmonica/value.h"
#include "wire/enumerators.h"

namespace harmonica::v1 {
class BatchReport;
class Error;
class Filter;
class RangeAnswers;
class RangeQuestions;
class Value;
}  // namespace harmonica::v1

namespace harmonica::wire {

// What is wrong with a message.
Status corrupt(std::string message);
Status too_many(std::size_t count, std::string_view what, std::size_t count_max);

template <typename IdType>
Result<IdType> to_id(const std::string& bytes) {
  const auto id = IdType::from_bytes(as_bytes(bytes));
  if (!id) return corrupt("id of " + std::to_string(bytes.size()) + " bytes");
  return *id;
}

// The id of an item: never the root above all.
Result<ItemId> to_item_id(const std::string& bytes);

// An end of a range, for which nothing stands where it is `otherwise`.
Result<ItemId> to_range_end(const std::string& bytes, const ItemId& otherwise);

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

// What is UTF-8.
Result<std::string> to_text(const std::string& bytes);

// Type and unit numbers.
Result<std::uint16_t> to_number(std::uint32_t number, std::string_view what);

template <typename Enum, std::size_t kCount>
Result<Enum> to_enum(const std::array<Numbered<Enum>, kCount>& table, std::uint32_t number, std::string_view what) {
  const auto value = find_value(table, number);
  if (!value) return corrupt("unknown " + std::string(what) + " " + std::to_string(number));
  return *value;
}

Result<Value> to_value(const v1::Value& from);

// What is wrong with a filter is wrong with the message.
Result<std::optional<Filter>> to_filter_if(const v1::Filter& from, bool is_there, std::string_view what);

struct PeerError {
  StatusCode code;
  std::string message;
};

Result<PeerError> to_error(const v1::Error& from);

Result<std::vector<RangeQuestion>> to_questions(const v1::RangeQuestions& from);
Result<std::vector<RangeAnswer>> to_answers(const v1::RangeAnswers& from);
Result<BatchReport> to_report(const v1::BatchReport& from);

}  // namespace harmonica::wire
