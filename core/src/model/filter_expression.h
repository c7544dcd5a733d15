// A filter's text as a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harmonica/status.h"
#include "harmonica/value.h"

namespace harmonica {

enum class FilterOperandKind : std::uint8_t {
  kField,      // `name`, of `type_name` only unless that is empty
  kType,       // the name of the item's type
  kLiteral,    // `value`
  kParameter,  // `name`
};

struct FilterOperand {
  FilterOperandKind kind = FilterOperandKind::kLiteral;
  std::string type_name;
  std::string name;
  Value value;
  std::size_t column = 0;  // in the text, from 1, in characters
};

enum class FilterNodeKind : std::uint8_t {
  kOr,  // of `parts`
  kAnd,
  kNot,      // of the one part
  kCompare,  // operands 0 and 1
  kIn,       // operand 0 among the others
  kLike,     // operand 0 like operand 1
  kIsNull,   // operand 0
  kIsTrue,   // operand 0, a boolean
};

enum class FilterComparison : std::uint8_t { kEqual, kUnequal, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

struct FilterNode {
  FilterNodeKind kind = FilterNodeKind::kAnd;
  std::vector<FilterNode> parts;
  std::vector<FilterOperand> operands;
  FilterComparison comparison = FilterComparison::kEqual;
  bool negated = false;  // "not in", "not like", "is not null"
  std::string escape;    // of kLike: one character, or empty
};

// Errors as Filter::parse has them for a text.
Result<FilterNode> parse_filter_expression(std::string_view text);

// The canonical text, which parses to the same tree.
std::string filter_text(const FilterNode& filter);

// Visits every operand.
template <typename Visit>
void for_each_operand(const FilterNode& node, const Visit& visit) {
  for (const FilterOperand& operand : node.operands) visit(operand);
  for (const FilterNode& part : node.parts) for_each_operand(part, visit);
}

}  // namespace harmonica
