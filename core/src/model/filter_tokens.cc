#include "model/filter_tokens.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace harmonica {
namespace {

constexpr std::array<std::string_view, 11> kKeywords = {"and", "or",   "not",  "in",    "like", "escape",
                                                        "is",  "null", "true", "false", "type"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view word) {
  std::string result(word);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) { return lower(c); });
  return result;
}

int hex_digit(char c) {
  c = lower(c);
  if (is_digit(c)) return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

bool is_filter_keyword(std::string_view word) {
  return std::find(kKeywords.begin(), kKeywords.end(), lower(word)) != kKeywords.end();
}

bool is_plain_name(std::string_view word) {
  return !word.empty() && is_letter(word.front()) &&
         std::all_of(word.begin(), word.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

Status filter_error(std::size_t column, const std::string& what) {
  return {StatusCode::kInvalidArgument, "filter, column " + std::to_string(column) + ": " + what};
}

FilterToken FilterTokens::token(FilterTokenKind kind, std::string text) const {
  FilterToken made;
  made.kind = kind;
  made.text = std::move(text);
  made.column = token_column_;
  return made;
}

void FilterTokens::advance(std::size_t count) {
  for (; count > 0; --count, ++place_) {
    // What continues a character of UTF-8 has no column of its own.
    if ((static_cast<unsigned char>(text_[place_]) & 0xc0) != 0x80) ++column_;
  }
}

void FilterTokens::skip_spaces() {
  while (place_ < text_.size() && (at(0) == ' ' || at(0) == '\t' || at(0) == '\n' || at(0) == '\r')) advance(1);
}

Result<FilterToken> FilterTokens::next() {
  skip_spaces();
  token_column_ = column_;
  if (place_ == text_.size()) return token(FilterTokenKind::kEnd, "");
  const char c = at(0);
  if (c == '\'') return quoted('\'', FilterTokenKind::kLiteral);
  if (c == '"') return quoted('"', FilterTokenKind::kName);
  if ((c == 'x' || c == 'X') && at(1) == '\'') return bytes_literal();
  if (is_letter(c)) return word();
  const bool signed_number = (c == '-' || c == '+') && (is_digit(at(1)) || at(1) == '.');
  if (is_digit(c) || signed_number || (c == '.' && is_digit(at(1)))) return number();
  if (c == ':') return parameter();
  if (std::optional<FilterToken> found = symbol()) return *std::move(found);
  return filter_error(column_, "this character means nothing here; fields with other names stand between double quotes");
}

std::optional<FilterToken> FilterTokens::symbol() {
  for (const std::string_view two : {"<=", ">=", "!=", "<>"}) {
    if (text_.substr(place_, 2) != two) continue;
    advance(2);
    return token(FilterTokenKind::kSymbol, two == "<>" ? "!=" : std::string(two));
  }
  if (std::string_view("(),.=<>").find(at(0)) == std::string_view::npos) return std::nullopt;
  std::string one(1, at(0));
  advance(1);
  return token(FilterTokenKind::kSymbol, std::move(one));
}

Result<FilterToken> FilterTokens::word() {
  std::size_t length = 0;
  while (is_letter(at(length)) || is_digit(at(length))) ++length;
  const std::string_view found = text_.substr(place_, length);
  advance(length);
  if (is_filter_keyword(found)) return token(FilterTokenKind::kKeyword, lower(found));
  return token(FilterTokenKind::kName, std::string(found));
}

Result<FilterToken> FilterTokens::parameter() {
  std::size_t length = 1;
  while (is_letter(at(length)) || is_digit(at(length))) ++length;
  const std::string_view name = text_.substr(place_ + 1, length - 1);
  if (!is_plain_name(name)) return filter_error(column_, "expected the name of a parameter after ':'");
  advance(length);
  return token(FilterTokenKind::kParameter, std::string(name));
}

Result<FilterToken> FilterTokens::number() {
  std::size_t length = at(0) == '-' || at(0) == '+' ? 1 : 0;
  bool real = false;
  for (;; ++length) {
    const char c = at(length);
    const bool sign_of_exponent = (c == '-' || c == '+') && length > 0 && lower(at(length - 1)) == 'e';
    if (is_digit(c)) continue;
    if (c != '.' && lower(c) != 'e' && !sign_of_exponent) break;
    real = true;
  }
  const std::string_view digits = text_.substr(place_ + (at(0) == '+' ? 1 : 0), length - (at(0) == '+' ? 1 : 0));
  const char* const end = digits.data() + digits.size();
  FilterToken found = token(FilterTokenKind::kLiteral, "");
  if (real) {
    double value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc() || stop != end) return filter_error(column_, std::string(digits) + " is no number");
    found.value = Value::real(value);
  } else {
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc() || stop != end) {
      return filter_error(column_, std::string(digits) + " does not fit into 64 bits");
    }
    found.value = Value::integer(value);
  }
  advance(length);
  if (is_letter(at(0))) return filter_error(column_, "expected a space behind the number");
  return found;
}

Result<std::string> FilterTokens::between_quotes(char quote) {
  std::string inside;
  advance(1);
  while (true) {
    const std::size_t close = text_.find(quote, place_);
    if (close == std::string_view::npos) {
      return filter_error(token_column_, std::string("the closing ") + quote + " is missing");
    }
    inside += text_.substr(place_, close - place_);
    advance(close - place_ + 1);
    if (at(0) != quote) return inside;
    inside += quote;
    advance(1);
  }
}

Result<FilterToken> FilterTokens::quoted(char quote, FilterTokenKind kind) {
  HARMONICA_ASSIGN_OR_RETURN(std::string inside, between_quotes(quote));
  if (kind == FilterTokenKind::kName) {
    if (inside.empty()) return filter_error(token_column_, "a field has no empty name");
    return token(kind, std::move(inside));
  }
  FilterToken literal = token(kind, "");
  literal.value = Value::text(std::move(inside));
  return literal;
}

Result<FilterToken> FilterTokens::bytes_literal() {
  advance(1);
  HARMONICA_ASSIGN_OR_RETURN(const std::string digits, between_quotes('\''));
  Bytes bytes;
  for (std::size_t index = 0; index + 1 < digits.size(); index += 2) {
    const int high = hex_digit(digits[index]);
    const int low = hex_digit(digits[index + 1]);
    if (high < 0 || low < 0) return filter_error(token_column_, "bytes are two hexadecimal digits each, as in x'00ff'");
    bytes.push_back(static_cast<std::uint8_t>(high * 16 + low));
  }
  if (digits.size() % 2 != 0) return filter_error(token_column_, "bytes are two hexadecimal digits each, as in x'00ff'");
  FilterToken literal = token(FilterTokenKind::kLiteral, "");
  literal.value = Value::bytes(std::move(bytes));
  return literal;
}

}  // namespace harmonica
