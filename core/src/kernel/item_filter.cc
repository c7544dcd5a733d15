#include "kernel/item_filter.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "harmonica/limits.h"
#include "kernel/counter.h"
#include "kernel/record_items.h"
#include "model/filter_expression.h"

namespace harmonica::kernel {

// What can be compared with each other.
enum class FilterClass : std::uint8_t { kNull, kBoolean, kNumber, kText, kBytes, kList };

// A field of one type.
struct FieldPlace {
  TypeId type = 0;
  UnitId unit = 0;
  bool is_counter = false;
};

// An operand once its field or parameter is known.
struct BoundOperand {
  FilterOperandKind kind = FilterOperandKind::kLiteral;
  Value value;
  std::vector<FieldPlace> places;
  FilterClass value_class = FilterClass::kNull;
};

namespace {

// In an order in which "and" is the least and "or" the greatest.
enum class Truth : std::uint8_t { kFalse, kUnknown, kTrue };

Truth truth_of(bool value) { return value ? Truth::kTrue : Truth::kFalse; }
Truth opposite(Truth truth) { return static_cast<Truth>(2 - static_cast<int>(truth)); }

FilterClass class_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::kNull:
      return FilterClass::kNull;
    case ValueKind::kBoolean:
      return FilterClass::kBoolean;
    case ValueKind::kInteger:
    case ValueKind::kReal:
      return FilterClass::kNumber;
    case ValueKind::kText:
      return FilterClass::kText;
    case ValueKind::kBytes:
      return FilterClass::kBytes;
    case ValueKind::kIds:
    case ValueKind::kList:
      break;
  }
  return FilterClass::kList;
}

std::string class_text(FilterClass value_class) {
  switch (value_class) {
    case FilterClass::kNull:
      return "null";
    case FilterClass::kBoolean:
      return "a boolean";
    case FilterClass::kNumber:
      return "a number";
    case FilterClass::kText:
      return "text";
    case FilterClass::kBytes:
      return "bytes";
    case FilterClass::kList:
      break;
  }
  return "a list";
}

std::partial_ordering compare_numbers(std::int64_t integer, double real) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (std::isnan(real)) return std::partial_ordering::unordered;
  if (real >= kTwoTo63) return std::partial_ordering::less;
  if (real < -kTwoTo63) return std::partial_ordering::greater;
  const double whole = std::floor(real);
  const auto floor = static_cast<std::int64_t>(whole);
  if (integer != floor) return integer <=> floor;
  return whole < real ? std::partial_ordering::less : std::partial_ordering::equivalent;
}

// Unordered: a null, what is no number, or two that cannot be compared.
std::partial_ordering compare_values(const Value& a, const Value& b) {
  if (a.if_boolean() != nullptr && b.if_boolean() != nullptr) return int{*a.if_boolean()} <=> int{*b.if_boolean()};
  if (a.if_text() != nullptr && b.if_text() != nullptr) return a.if_text()->compare(*b.if_text()) <=> 0;
  if (a.if_bytes() != nullptr && b.if_bytes() != nullptr)
    return as_text(*a.if_bytes()).compare(as_text(*b.if_bytes())) <=> 0;
  if (const std::int64_t* integer = a.if_integer()) {
    if (b.if_integer() != nullptr) return *integer <=> *b.if_integer();
    if (b.if_real() != nullptr) return compare_numbers(*integer, *b.if_real());
  }
  if (const double* real = a.if_real()) {
    if (b.if_real() != nullptr) return *real <=> *b.if_real();
    if (b.if_integer() != nullptr) return 0 <=> compare_numbers(*b.if_integer(), *real);
  }
  return std::partial_ordering::unordered;
}

Truth compare(FilterComparison comparison, const Value& a, const Value& b) {
  const std::partial_ordering order = compare_values(a, b);
  if (order == std::partial_ordering::unordered) return Truth::kUnknown;
  switch (comparison) {
    case FilterComparison::kEqual:
      return truth_of(order == 0);
    case FilterComparison::kUnequal:
      return truth_of(order != 0);
    case FilterComparison::kLess:
      return truth_of(order < 0);
    case FilterComparison::kLessOrEqual:
      return truth_of(order <= 0);
    case FilterComparison::kGreater:
      return truth_of(order > 0);
    case FilterComparison::kGreaterOrEqual:
      break;
  }
  return truth_of(order >= 0);
}

// One character of UTF-8 that starts there.
std::size_t character_length(std::string_view text, std::size_t place) {
  std::size_t length = 1;
  while (place + length < text.size() && (static_cast<unsigned char>(text[place + length]) & 0xc0) == 0x80) ++length;
  return length;
}

// Goes back only to the last '%': what was matched before it need not be looked at again.
bool is_like(std::string_view text, std::string_view pattern, char escape) {
  std::size_t t = 0;
  std::size_t p = 0;
  std::optional<std::pair<std::size_t, std::size_t>> retry;  // from there in text and pattern
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '%') {
      retry = {t, ++p};
      continue;
    }
    if (p < pattern.size() && pattern[p] == '_') {
      t += character_length(text, t);
      ++p;
      continue;
    }
    const bool escaped = p + 1 < pattern.size() && escape != '\0' && pattern[p] == escape;
    const std::size_t literal = escaped ? p + 1 : p;
    if (literal < pattern.size() && pattern[literal] == text[t]) {
      p = literal + 1;
      ++t;
      continue;
    }
    if (!retry) return false;
    retry->first += character_length(text, retry->first);
    t = retry->first;
    p = retry->second;
  }
  while (p < pattern.size() && pattern[p] == '%') ++p;
  return p == pattern.size();
}

Truth like(const Value& text, const Value& pattern, char escape) {
  const std::string* whole = text.if_text();
  const std::string* wanted = pattern.if_text();
  if (whole == nullptr || wanted == nullptr || whole->size() > limits::kFilterLikeBytesMax ||
      wanted->size() > limits::kFilterPatternBytesMax) {
    return Truth::kUnknown;
  }
  return truth_of(is_like(*whole, *wanted, escape));
}

Status unfit(const FilterOperand& operand, const std::string& what) {
  return {StatusCode::kInvalidArgument, "filter, column " + std::to_string(operand.column) + ": " + what};
}

std::string field_name(const FilterOperand& operand) {
  return "'" + (operand.type_name.empty() ? "" : operand.type_name + ".") + operand.name + "'";
}

}  // namespace

struct ItemFilter::Condition {
  FilterNodeKind kind = FilterNodeKind::kAnd;
  std::vector<Condition> parts;
  std::vector<BoundOperand> operands;
  FilterComparison comparison = FilterComparison::kEqual;
  bool negated = false;
  char escape = '\0';

  // The tree with its names looked up.
  struct Binding {
    const Filter& filter;
    const Schema& schema;

    Result<Condition> condition(const FilterNode& node) const {
      Condition bound;
      bound.kind = node.kind;
      bound.comparison = node.comparison;
      bound.negated = node.negated;
      bound.escape = node.escape.empty() ? '\0' : node.escape.front();
      for (const FilterNode& part : node.parts) {
        HARMONICA_ASSIGN_OR_RETURN(Condition inner, condition(part));
        bound.parts.push_back(std::move(inner));
      }
      for (const FilterOperand& one : node.operands) {
        HARMONICA_ASSIGN_OR_RETURN(BoundOperand inner, operand(one));
        bound.operands.push_back(std::move(inner));
      }
      HARMONICA_RETURN_IF_ERROR(check(node, bound));
      return bound;
    }

    Result<BoundOperand> operand(const FilterOperand& one) const {
      BoundOperand bound;
      bound.kind = one.kind;
      switch (one.kind) {
        case FilterOperandKind::kField:
          HARMONICA_RETURN_IF_ERROR(find_field(one, bound));
          return bound;
        case FilterOperandKind::kType:
          bound.value_class = FilterClass::kText;
          return bound;
        case FilterOperandKind::kLiteral:
          bound.value = one.value;
          break;
        case FilterOperandKind::kParameter:
          for (const FilterParameter& parameter : filter.parameters()) {
            if (parameter.name == one.name) bound.value = parameter.value;
          }
          break;
      }
      bound.value_class = class_of(bound.value.kind());
      return bound;
    }

    Status find_field(const FilterOperand& one, BoundOperand& bound) const {
      bool type_found = one.type_name.empty();
      for (const ItemType& type : schema.types) {
        if (!one.type_name.empty() && type.name != one.type_name) continue;
        type_found = true;
        const auto unit = std::find_if(type.units.begin(), type.units.end(),
                                       [&](const Unit& candidate) { return candidate.name == one.name; });
        if (unit == type.units.end()) continue;
        const FilterClass found = class_of(unit->kind);
        if (!bound.places.empty() && found != bound.value_class) {
          return unfit(one, "field " + field_name(one) + " is " + class_text(bound.value_class) + " in one type and " +
                                class_text(found) + " in another; write the type before it, as in " + type.name + "." +
                                one.name);
        }
        bound.value_class = found;
        bound.places.push_back({type.id, unit->id, type.rule_of(*unit) == ConflictRule::kCounter});
      }
      if (!type_found) return unfit(one, "no type is called '" + one.type_name + "'");
      if (bound.places.empty()) return unfit(one, "no item has a field " + field_name(one));
      return {};
    }

    Status check(const FilterNode& node, const Condition& bound) const {
      switch (node.kind) {
        case FilterNodeKind::kOr:
        case FilterNodeKind::kAnd:
        case FilterNodeKind::kNot:
        case FilterNodeKind::kIsNull:
          return {};
        case FilterNodeKind::kIsTrue:
          return check_class(node, bound, 0, FilterClass::kBoolean);
        case FilterNodeKind::kLike:
          HARMONICA_RETURN_IF_ERROR(check_class(node, bound, 0, FilterClass::kText));
          HARMONICA_RETURN_IF_ERROR(check_class(node, bound, 1, FilterClass::kText));
          return check_pattern(node, bound);
        case FilterNodeKind::kCompare:
        case FilterNodeKind::kIn:
          break;
      }
      for (std::size_t index = 0; index < bound.operands.size(); ++index) {
        if (bound.operands[index].value_class == FilterClass::kList) {
          return unfit(node.operands[index], "a list can only be asked whether it is null");
        }
        if (index == 0) continue;
        const std::size_t other = bound.operands[0].value_class == FilterClass::kNull ? index : 0;
        HARMONICA_RETURN_IF_ERROR(check_class(node, bound, index, bound.operands[other].value_class));
        HARMONICA_RETURN_IF_ERROR(check_type_name(node, bound, 0, index));
        HARMONICA_RETURN_IF_ERROR(check_type_name(node, bound, index, 0));
      }
      return {};
    }

    Status check_class(const FilterNode& node, const Condition& bound, std::size_t index, FilterClass wanted) const {
      const FilterClass found = bound.operands[index].value_class;
      if (found == wanted || found == FilterClass::kNull) return {};
      return unfit(node.operands[index], "expected " + class_text(wanted) + ", and this is " + class_text(found));
    }

    Status check_pattern(const FilterNode& node, const Condition& bound) const {
      const std::string* pattern = bound.operands[1].value.if_text();
      if (pattern == nullptr) return {};
      if (pattern->size() > limits::kFilterPatternBytesMax) {
        return {StatusCode::kLimitExceeded, "filter, column " + std::to_string(node.operands[1].column) +
                                                ": a pattern of " + std::to_string(pattern->size()) + " bytes, and " +
                                                std::to_string(limits::kFilterPatternBytesMax) + " are allowed"};
      }
      return {};
    }

    // A type that is misspelt would match nothing, in silence.
    Status check_type_name(const FilterNode& node, const Condition& bound, std::size_t type, std::size_t name) const {
      const bool is_equality = node.kind == FilterNodeKind::kIn || node.comparison == FilterComparison::kEqual ||
                               node.comparison == FilterComparison::kUnequal;
      const std::string* wanted = bound.operands[name].value.if_text();
      if (bound.operands[type].kind != FilterOperandKind::kType || wanted == nullptr || !is_equality) return {};
      const bool is_known = std::any_of(schema.types.begin(), schema.types.end(),
                                        [&](const ItemType& candidate) { return candidate.name == *wanted; });
      return is_known ? Status() : unfit(node.operands[name], "no type is called '" + *wanted + "'");
    }
  };

  bool depends_on(TypeId type, UnitId unit) const {
    for (const BoundOperand& operand : operands) {
      for (const FieldPlace& place : operand.places) {
        if (place.type == type && place.unit == unit) return true;
      }
    }
    return std::any_of(parts.begin(), parts.end(), [&](const Condition& part) { return part.depends_on(type, unit); });
  }

  static Value value_of(const BoundOperand& operand, const Item& item, const Schema& schema) {
    if (operand.kind == FilterOperandKind::kType) {
      const ItemType* type = schema.find_type(item.type);
      return type == nullptr ? Value() : Value::text(type->name);
    }
    if (operand.kind != FilterOperandKind::kField) return operand.value;
    for (const FieldPlace& place : operand.places) {
      if (place.type != item.type) continue;
      const Value& held = item.value_of(place.unit);
      return place.is_counter ? counter_shown(held) : held;
    }
    return {};
  }

  Truth ask(const Item& item, const Schema& schema) const {
    if (kind == FilterNodeKind::kOr || kind == FilterNodeKind::kAnd) {
      const bool is_or = kind == FilterNodeKind::kOr;
      Truth truth = truth_of(!is_or);
      for (const Condition& part : parts) {
        const Truth one = part.ask(item, schema);
        truth = is_or ? std::max(truth, one) : std::min(truth, one);
      }
      return truth;
    }
    if (kind == FilterNodeKind::kNot) return opposite(parts.front().ask(item, schema));
    const Truth plain = ask_operands(item, schema);
    return negated ? opposite(plain) : plain;
  }

  Truth ask_operands(const Item& item, const Schema& schema) const {
    const Value first = value_of(operands[0], item, schema);
    if (kind == FilterNodeKind::kIsNull) return truth_of(first.is_null());
    if (kind == FilterNodeKind::kIsTrue)
      return first.if_boolean() == nullptr ? Truth::kUnknown : truth_of(*first.if_boolean());
    if (kind == FilterNodeKind::kLike) return like(first, value_of(operands[1], item, schema), escape);
    if (kind == FilterNodeKind::kCompare) return compare(comparison, first, value_of(operands[1], item, schema));
    Truth found = Truth::kFalse;
    for (std::size_t index = 1; index < operands.size(); ++index) {
      found = std::max(found, compare(FilterComparison::kEqual, first, value_of(operands[index], item, schema)));
    }
    return found;
  }
};

ItemFilter::ItemFilter(Filter filter, const Schema& schema) : filter_(std::move(filter)), schema_(&schema) {}
ItemFilter::ItemFilter(ItemFilter&&) noexcept = default;
ItemFilter& ItemFilter::operator=(ItemFilter&&) noexcept = default;
ItemFilter::~ItemFilter() = default;

Result<ItemFilter> ItemFilter::bind(const Filter& filter, const Schema& schema) {
  HARMONICA_ASSIGN_OR_RETURN(const FilterNode expression, parse_filter_expression(filter.text()));
  HARMONICA_ASSIGN_OR_RETURN(Condition condition, (Condition::Binding{filter, schema}.condition(expression)));
  ItemFilter bound(filter, schema);
  bound.condition_ = std::make_unique<const Condition>(std::move(condition));
  return bound;
}

// What is erased is told to everybody. A conflict record has values of an item that may not match, and may have been of one
// that did not at any time.
bool ItemFilter::matches(const Item& item) const {
  if (item.erased()) return true;
  return !is_record(item.type) && condition_->ask(item, *schema_) == Truth::kTrue;
}

bool ItemFilter::depends_on(TypeId type, UnitId unit) const { return condition_->depends_on(type, unit); }

Result<std::optional<ItemFilter>> bind_filter(const std::optional<Filter>& filter, const Schema& schema) {
  if (!filter) return std::optional<ItemFilter>();
  HARMONICA_ASSIGN_OR_RETURN(ItemFilter bound, ItemFilter::bind(*filter, schema));
  return std::optional<ItemFilter>(std::move(bound));
}

}  // namespace harmonica::kernel

namespace harmonica {

Status check_filter(const Filter& filter, const Schema& schema) {
  const Result<kernel::ItemFilter> bound = kernel::ItemFilter::bind(filter, schema);
  return bound.ok() ? Status() : bound.status();
}

}  // namespace harmonica
