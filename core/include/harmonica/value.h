// Values of change units.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "harmonica/bytes.h"
#include "harmonica/ids.h"

namespace harmonica {

enum class ValueKind : std::uint8_t { kNull, kBoolean, kInteger, kReal, kText, kBytes, kIds, kList };

// A typed value. Text is UTF-8. `kIds` is a list of item ids, in order; `kList` holds the members of a unit that groups
// several fields, and no list holds lists. Equality is by kind and content; reals compare by their bits, so that equal
// values are equal bytes. Thread-compatible.
class Value {
 public:
  using Ids = std::vector<ItemId>;
  using List = std::vector<Value>;

  Value() = default;
  static Value boolean(bool value) { return Value(Content(value)); }
  static Value integer(std::int64_t value) { return Value(Content(value)); }
  static Value real(double value);
  static Value text(std::string value) { return Value(Content(std::move(value))); }
  static Value bytes(Bytes value) { return Value(Content(std::move(value))); }
  static Value ids(Ids value) { return Value(Content(std::move(value))); }
  static Value list(List value) { return Value(Content(std::move(value))); }

  ValueKind kind() const { return static_cast<ValueKind>(content_.index()); }
  bool is_null() const { return kind() == ValueKind::kNull; }

  // Null when the value is of another kind.
  const bool* if_boolean() const { return std::get_if<bool>(&content_); }
  const std::int64_t* if_integer() const { return std::get_if<std::int64_t>(&content_); }
  const double* if_real() const { return std::get_if<double>(&content_); }
  const std::string* if_text() const { return std::get_if<std::string>(&content_); }
  const Bytes* if_bytes() const { return std::get_if<Bytes>(&content_); }
  const Ids* if_ids() const { return std::get_if<Ids>(&content_); }
  const List* if_list() const { return std::get_if<List>(&content_); }

  // Bytes that the value takes in memory beyond its own object, about.
  std::size_t weight() const;

  // For people and logs: null, true, 12, 0.5, "text", x'00ff', <id id>, [a, b].
  std::string to_text() const;

  friend bool operator==(const Value& a, const Value& b);

 private:
  using Content = std::variant<std::monostate, bool, std::int64_t, double, std::string, Bytes, Ids, List>;
  explicit Value(Content content) : content_(std::move(content)) {}

  Content content_;
};

}  // namespace harmonica
