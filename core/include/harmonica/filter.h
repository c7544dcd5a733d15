// Filters: which items a replica wants to hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harmonica/schema.h"
#include "harmonica/status.h"
#include "harmonica/value.h"

namespace harmonica {

// A value for a `:name` in a filter's text.
struct FilterParameter {
  std::string name;  // without the colon
  Value value;
  friend bool operator==(const FilterParameter&, const FilterParameter&) = default;
};

// A condition on the fields of one item, such as "count >= :least and label like 'a%'". The language, its logic of three
// values and its limits: docs/filters.md. The text is kept in canonical form, so filters that differ in spaces, letters of
// keywords or needless parentheses are equal, and equal filters are equal bytes. Immutable; thread-compatible.
class Filter {
 public:
  // invalid_argument: the text is no filter (the message says where, and what was expected there), names a parameter
  // without a value, or does not name one that has a value; or a value is a list. limit_exceeded: longer, deeper or of more
  // terms than limits.h allows.
  static Result<Filter> parse(std::string_view text, std::vector<FilterParameter> parameters);

  const std::string& text() const { return text_; }
  // Sorted by name, none twice.
  const std::vector<FilterParameter>& parameters() const { return parameters_; }

  // For people: "count >= :least (least = 3)".
  std::string to_text() const;

  friend bool operator==(const Filter&, const Filter&) = default;

 private:
  Filter() = default;

  std::string text_;
  std::vector<FilterParameter> parameters_;
};

// The value that a literal of the language stands for, such as 12, 0.5, true, 'text' or x'00ff'; nothing: it is none.
std::optional<Value> filter_literal(std::string_view text);

// Whether items of that schema can be asked. invalid_argument: the filter names a field or type that the schema does not
// have, or compares values of different kinds; the message names them.
Status check_filter(const Filter& filter, const Schema& schema);

}  // namespace harmonica
