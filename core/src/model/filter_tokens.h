// The words of a filter's text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harmonica/status.h"
#include "harmonica/value.h"

namespace harmonica {

enum class FilterTokenKind : std::uint8_t {
  kEnd,
  kKeyword,    // `text` in lower case
  kName,       // `text`; not a keyword, or between double quotes
  kParameter,  // `text` without the colon
  kLiteral,    // `value`
  kSymbol,     // `text`: ( ) , . = != < <= > >=
};

struct FilterToken {
  FilterTokenKind kind = FilterTokenKind::kEnd;
  std::string text;
  Value value;
  std::size_t column = 1;  // from 1, in characters
};

bool is_filter_keyword(std::string_view word);
// Letters, digits and underscores, no digit first.
bool is_plain_name(std::string_view word);

// invalid_argument, with the column.
Status filter_error(std::size_t column, const std::string& what);

// Reads tokens one after the other. The text must be valid UTF-8 and outlive it.
class FilterTokens {
 public:
  explicit FilterTokens(std::string_view text) : text_(text) {}

  Result<FilterToken> next();

 private:
  Result<FilterToken> number();
  Result<FilterToken> quoted(char quote, FilterTokenKind kind);
  Result<FilterToken> bytes_literal();
  Result<FilterToken> word();
  Result<FilterToken> parameter();
  std::optional<FilterToken> symbol();
  // The characters up to the closing quote, which is doubled where it is one of them.
  Result<std::string> between_quotes(char quote);
  void skip_spaces();
  void advance(std::size_t count);
  char at(std::size_t offset) const { return place_ + offset < text_.size() ? text_[place_ + offset] : '\0'; }
  FilterToken token(FilterTokenKind kind, std::string text) const;

  std::string_view text_;
  std::size_t place_ = 0;
  std::size_t column_ = 1;
  std::size_t token_column_ = 1;
};

}  // namespace harmonica
