#include "model/filter_expression.h"

#include <utility>

#include "harmonica/limits.h"
#include "harmonica/utf8.h"
#include "model/filter_tokens.h"

namespace harmonica {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(text) {}

  Result<FilterNode> run() {
    HARMONICA_RETURN_IF_ERROR(advance());
    HARMONICA_ASSIGN_OR_RETURN(FilterNode filter, either(0));
    if (current_.kind != FilterTokenKind::kEnd) return unexpected("'and', 'or' or the end");
    return filter;
  }

 private:
  Status advance() {
    HARMONICA_ASSIGN_OR_RETURN(current_, tokens_.next());
    return {};
  }

  bool is_keyword(std::string_view word) const {
    return current_.kind == FilterTokenKind::kKeyword && current_.text == word;
  }
  bool is_symbol(std::string_view symbol) const {
    return current_.kind == FilterTokenKind::kSymbol && current_.text == symbol;
  }

  Status expect_symbol(std::string_view symbol) {
    if (!is_symbol(symbol)) return unexpected("'" + std::string(symbol) + "'");
    return advance();
  }

  Status unexpected(const std::string& expected) const {
    return filter_error(current_.column, "expected " + expected + ", found " + found());
  }

  std::string found() const {
    switch (current_.kind) {
      case FilterTokenKind::kEnd:
        return "the end";
      case FilterTokenKind::kLiteral:
        return current_.value.to_text();
      case FilterTokenKind::kParameter:
        return "':" + current_.text + "'";
      case FilterTokenKind::kKeyword:
      case FilterTokenKind::kName:
      case FilterTokenKind::kSymbol:
        break;
    }
    return "'" + current_.text + "'";
  }

  Status count_term() {
    if (++terms_ <= limits::kFilterTermsMax) return {};
    return {StatusCode::kLimitExceeded, "filter, column " + std::to_string(current_.column) + ": more than " +
                                            std::to_string(limits::kFilterTermsMax) + " terms"};
  }

  Status check_depth(std::size_t depth) const {
    if (depth <= limits::kFilterDepthMax) return {};
    return {StatusCode::kLimitExceeded, "filter, column " + std::to_string(current_.column) + ": nested more than " +
                                            std::to_string(limits::kFilterDepthMax) + " levels deep"};
  }

  Result<FilterNode> either(std::size_t depth) { return chain(depth, FilterNodeKind::kOr); }

  // Parts between "or", each of parts between "and".
  Result<FilterNode> chain(std::size_t depth, FilterNodeKind kind) {
    const bool is_or = kind == FilterNodeKind::kOr;
    FilterNode node;
    node.kind = kind;
    while (true) {
      HARMONICA_ASSIGN_OR_RETURN(FilterNode part, is_or ? chain(depth, FilterNodeKind::kAnd) : negation(depth));
      // "a or (b or c)" is "a or b or c".
      if (part.kind == kind) {
        for (FilterNode& inner : part.parts) node.parts.push_back(std::move(inner));
      } else {
        node.parts.push_back(std::move(part));
      }
      if (!is_keyword(is_or ? "or" : "and")) break;
      HARMONICA_RETURN_IF_ERROR(advance());
    }
    if (node.parts.size() > 1) return node;
    FilterNode only = std::move(node.parts.front());
    return only;
  }

  Result<FilterNode> negation(std::size_t depth) {
    HARMONICA_RETURN_IF_ERROR(check_depth(depth));
    if (!is_keyword("not")) return predicate(depth);
    HARMONICA_RETURN_IF_ERROR(advance());
    HARMONICA_ASSIGN_OR_RETURN(FilterNode part, negation(depth + 1));
    FilterNode node;
    node.kind = FilterNodeKind::kNot;
    node.parts.push_back(std::move(part));
    return node;
  }

  Result<FilterNode> predicate(std::size_t depth) {
    if (is_symbol("(")) {
      HARMONICA_RETURN_IF_ERROR(advance());
      HARMONICA_ASSIGN_OR_RETURN(FilterNode inside, either(depth + 1));
      HARMONICA_RETURN_IF_ERROR(expect_symbol(")"));
      return inside;
    }
    FilterNode node;
    HARMONICA_RETURN_IF_ERROR(count_term());
    HARMONICA_RETURN_IF_ERROR(add_operand(node, "a condition"));
    if (const std::optional<FilterComparison> comparison = comparison_here()) {
      node.kind = FilterNodeKind::kCompare;
      node.comparison = *comparison;
      HARMONICA_RETURN_IF_ERROR(advance());
      HARMONICA_RETURN_IF_ERROR(add_operand(node, "a field, a value or a parameter"));
      return node;
    }
    if (is_keyword("is")) return null_test(std::move(node));
    if (is_keyword("not")) {
      node.negated = true;
      HARMONICA_RETURN_IF_ERROR(advance());
      if (!is_keyword("in") && !is_keyword("like")) return unexpected("'in' or 'like'");
    }
    if (is_keyword("in")) return membership(std::move(node));
    if (is_keyword("like")) return likeness(std::move(node));
    node.kind = FilterNodeKind::kIsTrue;
    return node;
  }

  Result<FilterNode> null_test(FilterNode node) {
    node.kind = FilterNodeKind::kIsNull;
    HARMONICA_RETURN_IF_ERROR(advance());
    if (is_keyword("not")) {
      node.negated = true;
      HARMONICA_RETURN_IF_ERROR(advance());
    }
    if (!is_keyword("null")) return unexpected("'null'");
    HARMONICA_RETURN_IF_ERROR(advance());
    return node;
  }

  Result<FilterNode> membership(FilterNode node) {
    node.kind = FilterNodeKind::kIn;
    HARMONICA_RETURN_IF_ERROR(advance());
    HARMONICA_RETURN_IF_ERROR(expect_symbol("("));
    while (true) {
      HARMONICA_RETURN_IF_ERROR(count_term());
      HARMONICA_RETURN_IF_ERROR(add_operand(node, "a value"));
      if (!is_symbol(",")) break;
      HARMONICA_RETURN_IF_ERROR(advance());
    }
    if (!is_symbol(")")) return unexpected("',' or ')'");
    HARMONICA_RETURN_IF_ERROR(advance());
    return node;
  }

  Result<FilterNode> likeness(FilterNode node) {
    node.kind = FilterNodeKind::kLike;
    HARMONICA_RETURN_IF_ERROR(advance());
    HARMONICA_RETURN_IF_ERROR(add_operand(node, "a pattern"));
    if (!is_keyword("escape")) return node;
    HARMONICA_RETURN_IF_ERROR(advance());
    const std::string* escape = current_.kind == FilterTokenKind::kLiteral ? current_.value.if_text() : nullptr;
    const bool is_character = escape != nullptr && escape->size() == 1 && *escape != "%" && *escape != "_" &&
                              static_cast<unsigned char>(escape->front()) < 0x80;
    if (!is_character) return unexpected("one character between quotes, not % or _");
    node.escape = *escape;
    HARMONICA_RETURN_IF_ERROR(advance());
    return node;
  }

  std::optional<FilterComparison> comparison_here() const {
    if (is_symbol("=")) return FilterComparison::kEqual;
    if (is_symbol("!=")) return FilterComparison::kUnequal;
    if (is_symbol("<")) return FilterComparison::kLess;
    if (is_symbol("<=")) return FilterComparison::kLessOrEqual;
    if (is_symbol(">")) return FilterComparison::kGreater;
    if (is_symbol(">=")) return FilterComparison::kGreaterOrEqual;
    return std::nullopt;
  }

  Status add_operand(FilterNode& node, const std::string& expected) {
    FilterOperand operand;
    operand.column = current_.column;
    switch (current_.kind) {
      case FilterTokenKind::kLiteral:
        operand.value = current_.value;
        break;
      case FilterTokenKind::kParameter:
        operand.kind = FilterOperandKind::kParameter;
        operand.name = current_.text;
        break;
      case FilterTokenKind::kName:
        return add_field(node, std::move(operand));
      case FilterTokenKind::kKeyword:
        if (current_.text == "null") return filter_error(current_.column, "nothing is equal to null; write 'is null'");
        if (current_.text == "type") {
          operand.kind = FilterOperandKind::kType;
        } else if (current_.text == "true" || current_.text == "false") {
          operand.value = Value::boolean(current_.text == "true");
        } else {
          return unexpected(expected);
        }
        break;
      case FilterTokenKind::kEnd:
      case FilterTokenKind::kSymbol:
        return unexpected(expected);
    }
    node.operands.push_back(std::move(operand));
    return advance();
  }

  Status add_field(FilterNode& node, FilterOperand operand) {
    operand.kind = FilterOperandKind::kField;
    operand.name = std::move(current_.text);
    HARMONICA_RETURN_IF_ERROR(advance());
    if (is_symbol(".")) {
      HARMONICA_RETURN_IF_ERROR(advance());
      if (current_.kind != FilterTokenKind::kName) return unexpected("the name of a field of type '" + operand.name + "'");
      operand.type_name = std::exchange(operand.name, std::move(current_.text));
      HARMONICA_RETURN_IF_ERROR(advance());
    }
    node.operands.push_back(std::move(operand));
    return {};
  }

  FilterTokens tokens_;
  FilterToken current_;
  std::size_t terms_ = 0;
};

std::string in_quotes(std::string_view text, char quote) {
  std::string quoted(1, quote);
  for (const char c : text) {
    quoted += c;
    if (c == quote) quoted += c;
  }
  return quoted + quote;
}

std::string name_text(const std::string& name) {
  return is_plain_name(name) && !is_filter_keyword(name) ? name : in_quotes(name, '"');
}

std::string operand_text(const FilterOperand& operand) {
  switch (operand.kind) {
    case FilterOperandKind::kField:
      return operand.type_name.empty() ? name_text(operand.name)
                                       : name_text(operand.type_name) + "." + name_text(operand.name);
    case FilterOperandKind::kType:
      return "type";
    case FilterOperandKind::kParameter:
      return ":" + operand.name;
    case FilterOperandKind::kLiteral:
      break;
  }
  const std::string* text = operand.value.if_text();
  return text == nullptr ? operand.value.to_text() : in_quotes(*text, '\'');
}

std::string_view comparison_text(FilterComparison comparison) {
  switch (comparison) {
    case FilterComparison::kEqual:
      return " = ";
    case FilterComparison::kUnequal:
      return " != ";
    case FilterComparison::kLess:
      return " < ";
    case FilterComparison::kLessOrEqual:
      return " <= ";
    case FilterComparison::kGreater:
      return " > ";
    case FilterComparison::kGreaterOrEqual:
      break;
  }
  return " >= ";
}

std::string part_text(const FilterNode& part, FilterNodeKind within) {
  const bool is_looser =
      part.kind == FilterNodeKind::kOr || (part.kind == FilterNodeKind::kAnd && within == FilterNodeKind::kNot);
  const std::string text = filter_text(part);
  return is_looser ? "(" + text + ")" : text;
}

}  // namespace

Result<FilterNode> parse_filter_expression(std::string_view text) {
  if (text.size() > limits::kFilterBytesMax) {
    return Status(StatusCode::kLimitExceeded, "filter: " + std::to_string(text.size()) + " bytes, and " +
                                                  std::to_string(limits::kFilterBytesMax) + " are allowed");
  }
  if (!is_valid_utf8(text)) return Status(StatusCode::kInvalidArgument, "filter: the text is not UTF-8");
  return Parser(text).run();
}

std::string filter_text(const FilterNode& filter) {
  std::string text;
  switch (filter.kind) {
    case FilterNodeKind::kOr:
    case FilterNodeKind::kAnd:
      for (const FilterNode& part : filter.parts) {
        if (!text.empty()) text += filter.kind == FilterNodeKind::kOr ? " or " : " and ";
        text += part_text(part, filter.kind);
      }
      return text;
    case FilterNodeKind::kNot:
      return "not " + part_text(filter.parts.front(), filter.kind);
    case FilterNodeKind::kCompare:
      return operand_text(filter.operands[0]) + std::string(comparison_text(filter.comparison)) +
             operand_text(filter.operands[1]);
    case FilterNodeKind::kIn:
      for (std::size_t index = 1; index < filter.operands.size(); ++index) {
        text += (index == 1 ? "" : ", ") + operand_text(filter.operands[index]);
      }
      return operand_text(filter.operands[0]) + (filter.negated ? " not in (" : " in (") + text + ")";
    case FilterNodeKind::kLike:
      if (!filter.escape.empty()) text = " escape " + in_quotes(filter.escape, '\'');
      return operand_text(filter.operands[0]) + (filter.negated ? " not like " : " like ") +
             operand_text(filter.operands[1]) + text;
    case FilterNodeKind::kIsNull:
      return operand_text(filter.operands[0]) + (filter.negated ? " is not null" : " is null");
    case FilterNodeKind::kIsTrue:
      break;
  }
  return operand_text(filter.operands[0]);
}

}  // namespace harmonica
