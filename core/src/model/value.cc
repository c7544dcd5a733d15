#include "harmonica/value.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

namespace harmonica {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += "\\x" + to_hex(as_bytes(std::string_view(&c, 1)));
    } else {
      out += c;
    }
  }
  return out += '"';
}

// The shortest digits that read back as the same number, never to be taken for an integer.
std::string real_text(double value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  std::string text(digits.data(), end);
  if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// Two that share their content need no look at it.
template <typename T>
bool same(const T* a, const T* b) {
  return a == b || *a == *b;
}

// The same on every platform: replicas compare weights with limits.
constexpr std::size_t kMemberWeight = 24;

}  // namespace

Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(Value&& other) noexcept = default;

Value Value::real(double value) {
  return Value(Content(std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value));
}

std::size_t Value::weight() const {
  if (const auto* text = if_text()) return text->size();
  if (const auto* bytes = if_bytes()) return bytes->size();
  if (const auto* ids = if_ids()) return ids->size() * ItemId::kSize;
  std::size_t sum = 0;
  if (const auto* list = if_list()) {
    for (const Value& member : *list) sum += kMemberWeight + member.weight();
  }
  return sum;
}

std::string Value::to_text() const {
  switch (kind()) {
    case ValueKind::kNull:
      return "null";
    case ValueKind::kBoolean:
      return *if_boolean() ? "true" : "false";
    case ValueKind::kInteger:
      return std::to_string(*if_integer());
    case ValueKind::kReal:
      return real_text(*if_real());
    case ValueKind::kText:
      return quoted(*if_text());
    case ValueKind::kBytes:
      return "x'" + to_hex(*if_bytes()) + "'";
    case ValueKind::kIds: {
      std::string text = "<";
      for (const ItemId& id : *if_ids()) {
        if (text.size() > 1) text += ' ';
        text += id.to_text();
      }
      return text += '>';
    }
    case ValueKind::kList: {
      std::string text = "[";
      for (const Value& member : *if_list()) {
        if (text.size() > 1) text += ", ";
        text += member.to_text();
      }
      return text += ']';
    }
  }
  return "null";
}

bool operator==(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case ValueKind::kReal:
      return std::bit_cast<std::uint64_t>(*a.if_real()) == std::bit_cast<std::uint64_t>(*b.if_real());
    case ValueKind::kText:
      return same(a.if_text(), b.if_text());
    case ValueKind::kBytes:
      return same(a.if_bytes(), b.if_bytes());
    case ValueKind::kIds:
      return same(a.if_ids(), b.if_ids());
    case ValueKind::kList:
      return same(a.if_list(), b.if_list());
    case ValueKind::kNull:
    case ValueKind::kBoolean:
    case ValueKind::kInteger:
      break;
  }
  return a.content_ == b.content_;
}

}  // namespace harmonica
