#include "harmonica/filter.h"

#include <algorithm>
#include <map>
#include <utility>

#include "harmonica/limits.h"
#include "harmonica/utf8.h"
#include "model/filter_expression.h"
#include "model/filter_tokens.h"

namespace harmonica {
namespace {

Status check_value(const FilterParameter& parameter) {
  const ValueKind kind = parameter.value.kind();
  if (kind == ValueKind::kIds || kind == ValueKind::kList) {
    return {StatusCode::kInvalidArgument,
            "filter: parameter '" + parameter.name + "' is a list, which no field is compared with"};
  }
  const std::string* text = parameter.value.if_text();
  if (text != nullptr && !is_valid_utf8(*text)) {
    return {StatusCode::kInvalidArgument, "filter: parameter '" + parameter.name + "' is not UTF-8"};
  }
  return {};
}

}  // namespace

Result<Filter> Filter::parse(std::string_view text, std::vector<FilterParameter> parameters) {
  HARMONICA_ASSIGN_OR_RETURN(const FilterNode expression, parse_filter_expression(text));
  std::map<std::string, std::size_t> named;  // with its column
  for_each_operand(expression, [&](const FilterOperand& operand) {
    if (operand.kind == FilterOperandKind::kParameter) named.try_emplace(operand.name, operand.column);
  });
  std::sort(parameters.begin(), parameters.end(),
            [](const FilterParameter& a, const FilterParameter& b) { return a.name < b.name; });
  std::size_t weight = 0;
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    const std::string& name = parameters[index].name;
    if (index > 0 && name == parameters[index - 1].name) {
      return Status(StatusCode::kInvalidArgument, "filter: parameter '" + name + "' has two values");
    }
    if (named.erase(name) == 0) {
      return Status(StatusCode::kInvalidArgument, "filter: nothing in it is called ':" + name + "'");
    }
    HARMONICA_RETURN_IF_ERROR(check_value(parameters[index]));
    weight += parameters[index].value.weight();
  }
  if (!named.empty()) {
    return filter_error(named.begin()->second, "parameter ':" + named.begin()->first + "' has no value");
  }
  if (weight > limits::kFilterBytesMax) {
    return Status(StatusCode::kLimitExceeded, "filter: its parameters take " + std::to_string(weight) + " bytes, and " +
                                                  std::to_string(limits::kFilterBytesMax) + " are allowed");
  }
  Filter filter;
  filter.text_ = filter_text(expression);
  filter.parameters_ = std::move(parameters);
  if (filter.text_.size() > limits::kFilterBytesMax) {
    return Status(StatusCode::kLimitExceeded, "filter: " + std::to_string(filter.text_.size()) +
                                                  " bytes in canonical form, and " +
                                                  std::to_string(limits::kFilterBytesMax) + " are allowed");
  }
  return filter;
}

std::optional<Value> filter_literal(std::string_view text) {
  if (!is_valid_utf8(text)) return std::nullopt;
  FilterTokens tokens(text);
  const Result<FilterToken> literal = tokens.next();
  if (!literal.ok()) return std::nullopt;
  const Result<FilterToken> end = tokens.next();
  if (!end.ok() || end->kind != FilterTokenKind::kEnd) return std::nullopt;
  if (literal->kind == FilterTokenKind::kLiteral) return literal->value;
  const bool is_boolean =
      literal->kind == FilterTokenKind::kKeyword && (literal->text == "true" || literal->text == "false");
  return is_boolean ? std::optional(Value::boolean(literal->text == "true")) : std::nullopt;
}

std::string Filter::to_text() const {
  std::string text = text_;
  for (const FilterParameter& parameter : parameters_) {
    text += parameter == parameters_.front() ? " (" : ", ";
    text += parameter.name + " = " + parameter.value.to_text();
  }
  if (!parameters_.empty()) text += ")";
  return text;
}

}  // namespace harmonica
