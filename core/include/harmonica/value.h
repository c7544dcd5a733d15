// Values of change units.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "harmonica/bytes.h"
#include "harmonica/ids.h"

namespace harmonica {

enum class ValueKind : std::uint8_t { kNull, kBoolean, kInteger, kReal, kText, kBytes, kIds, kList };

// A typed value. Text is UTF-8. `kIds` is a list of item ids, in order; `kList` holds the members of a unit that groups
// several fields, and no list holds lists. Equality is by kind and content; reals compare by their bits, so that equal
// values are equal bytes. Copies share what they hold, which never changes (docs/adr/0013), so a copy costs little however
// large the value is. Thread-compatible.
class Value {
 public:
  using Ids = std::vector<ItemId>;
  using List = std::vector<Value>;

  Value() = default;
  Value(const Value&) = default;
  Value& operator=(const Value&) = default;
  // Not inline: GCC 12 warns of uninitialized memory where it inlines these (a false alarm).
  Value(Value&& other) noexcept;
  Value& operator=(Value&& other) noexcept;
  ~Value() = default;
  static Value boolean(bool value) { return Value(Content(value)); }
  static Value integer(std::int64_t value) { return Value(Content(value)); }
  static Value real(double value);
  static Value text(std::string value) { return shared(std::move(value)); }
  static Value bytes(Bytes value) { return shared(std::move(value)); }
  static Value ids(Ids value) { return shared(std::move(value)); }
  static Value list(List value) { return shared(std::move(value)); }

  ValueKind kind() const { return static_cast<ValueKind>(content_.index()); }
  bool is_null() const { return kind() == ValueKind::kNull; }

  // Null when the value is of another kind.
  const bool* if_boolean() const { return std::get_if<bool>(&content_); }
  const std::int64_t* if_integer() const { return std::get_if<std::int64_t>(&content_); }
  const double* if_real() const { return std::get_if<double>(&content_); }
  const std::string* if_text() const { return if_shared<std::string>(); }
  const Bytes* if_bytes() const { return if_shared<Bytes>(); }
  const Ids* if_ids() const { return if_shared<Ids>(); }
  const List* if_list() const { return if_shared<List>(); }

  // Bytes that the value takes in memory beyond its own object, about; the same number on every platform.
  std::size_t weight() const;

  // For people and logs: null, true, 12, 0.5, "text", x'00ff', <id id>, [a, b].
  std::string to_text() const;

  friend bool operator==(const Value& a, const Value& b);

 private:
  template <typename T>
  using Shared = std::shared_ptr<const T>;
  using Content = std::variant<std::monostate, bool, std::int64_t, double, Shared<std::string>, Shared<Bytes>, Shared<Ids>,
                               Shared<List>>;
  explicit Value(Content content) : content_(std::move(content)) {}

  template <typename T>
  static Value shared(T value) {
    return Value(Content(std::make_shared<const T>(std::move(value))));
  }
  template <typename T>
  const T* if_shared() const {
    const Shared<T>* held = std::get_if<Shared<T>>(&content_);
    return held == nullptr ? nullptr : held->get();
  }

  Content content_;
};

}  // namespace harmonica
