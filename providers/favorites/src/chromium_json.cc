#include "chromium_json.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "harmonica/assert.h"
#include "json_text.h"

namespace harmonica::providers {
namespace {

constexpr std::size_t kIndentBlanks = 3;
constexpr std::size_t kEscapeLength = 6;  // \u0000
constexpr std::string_view kHexDigits = "0123456789ABCDEF";

// Past the closing quote of the string that begins at `at`.
std::size_t end_of_string(std::string_view json, std::size_t at) {
  for (++at; at < json.size(); ++at) {
    if (json[at] == '\\') {
      ++at;
    } else if (json[at] == '"') {
      return at + 1;
    }
  }
  return json.size();
}

// The code unit of an escape \uXXXX at `at`, if there is one.
std::optional<std::uint32_t> escaped_unit(std::string_view json, std::size_t at) {
  if (at + kEscapeLength > json.size() || json[at] != '\\' || json[at + 1] != 'u') return std::nullopt;
  std::uint32_t unit = 0;
  for (std::size_t i = 2; i < kEscapeLength; ++i) {
    const char c = json[at + i];
    const std::size_t digit = kHexDigits.find(c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c);
    if (digit == std::string_view::npos) return std::nullopt;
    unit = unit << 4 | static_cast<std::uint32_t>(digit);
  }
  return unit;
}

bool is_high(std::uint32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
bool is_low(std::uint32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

void pack_text(std::string_view text, std::string& packed) {
  const auto size = static_cast<std::uint32_t>(text.size());
  packed.append(reinterpret_cast<const char*>(&size), sizeof(size));
  packed.append(text);
}

std::string_view unpack_text(std::string_view& packed) {
  std::uint32_t size = 0;
  HARMONICA_ASSERT(packed.size() >= sizeof(size));
  std::memcpy(&size, packed.data(), sizeof(size));
  packed.remove_prefix(sizeof(size));
  const std::string_view text = packed.substr(0, size);
  packed.remove_prefix(size);
  return text;
}

// Characters that may stand in a string as they are, by their byte; a first byte of 0xE2 needs a closer look (U+2028).
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t i = 0x20; i < plain.size(); ++i) plain[i] = true;
  plain['"'] = plain['\\'] = plain['<'] = plain[0xE2] = false;
  return plain;
}();

}  // namespace

std::string compact_json(std::string_view json) {
  std::string result;
  append_compact_json(json, result);
  return result;
}

void append_compact_json(std::string_view json, std::string& target) {
  target.reserve(target.size() + json.size());
  for (std::size_t at = 0; at < json.size();) {
    if (json[at] == '"') {
      const std::size_t end = end_of_string(json, at);
      target.append(json.substr(at, end - at));
      at = end;
    } else {
      if (!is_json_blank(json[at])) target.push_back(json[at]);
      ++at;
    }
  }
}

std::string without_lone_surrogates(std::string_view json) {
  std::string result(json);
  for (std::size_t at = 0; at < result.size();) {
    if (result[at] != '\\') {
      ++at;
      continue;
    }
    const auto unit = escaped_unit(result, at);
    if (!unit) {
      at += 2;
      continue;
    }
    if (is_high(*unit)) {
      const auto second = escaped_unit(result, at + kEscapeLength);
      if (second && is_low(*second)) {
        at += 2 * kEscapeLength;
        continue;
      }
    }
    if (is_high(*unit) || is_low(*unit)) result.replace(at, kEscapeLength, "\\uFFFD");
    at += kEscapeLength;
  }
  return result;
}

void JsonMembers::put(std::string_view name, std::string_view value) {
  const auto end = members_.begin() + static_cast<std::ptrdiff_t>(count_);
  auto place = std::lower_bound(members_.begin(), end, name,
                                [](const Member& member, std::string_view wanted) { return member.name < wanted; });
  if (place == end || place->name != name) {
    const std::ptrdiff_t index = place - members_.begin();
    if (count_ == members_.size()) members_.emplace_back();
    place = members_.begin() + index;
    std::rotate(place, members_.begin() + static_cast<std::ptrdiff_t>(count_),
                members_.begin() + static_cast<std::ptrdiff_t>(count_) + 1);
    ++count_;
    place->name = name;
  }
  place->value.clear();
  append_compact_json(value, place->value);
}

std::string_view JsonMembers::pack() {
  packed_.clear();
  for (std::size_t i = 0; i < count_; ++i) {
    pack_text(members_[i].name, packed_);
    pack_text(members_[i].value, packed_);
  }
  return packed_;
}

void PackedJsonMembers::next() {
  at_end_ = rest_.empty();
  if (at_end_) return;
  name_ = unpack_text(rest_);
  value_ = unpack_text(rest_);
}

void ChromiumJsonWriter::indent() { out_.insert(out_.end(), objects_ * kIndentBlanks, ' '); }

void ChromiumJsonWriter::begin_object() {
  append("{\n");
  open_.push_back({true, true});
  ++objects_;
}

void ChromiumJsonWriter::end_object() {
  open_.pop_back();
  --objects_;
  out_.push_back('\n');
  indent();
  out_.push_back('}');
}

void ChromiumJsonWriter::begin_list() {
  append("[ ");
  open_.push_back({false, true});
}

void ChromiumJsonWriter::end_list() {
  open_.pop_back();
  append(" ]");
}

void ChromiumJsonWriter::element() {
  if (!open_.back().empty) append(", ");
  open_.back().empty = false;
}

void ChromiumJsonWriter::name(std::string_view name) {
  if (!open_.back().empty) append(",\n");
  open_.back().empty = false;
  indent();
  text(name);
  append(": ");
}

void ChromiumJsonWriter::plain_text(std::string_view text) {
  out_.push_back('"');
  append(text);
  out_.push_back('"');
}

void ChromiumJsonWriter::text(std::string_view text) {
  out_.push_back('"');
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (kPlain[c]) continue;
    std::string escape;
    std::size_t length = 1;
    switch (c) {
      case '\b':
        escape = "\\b";
        break;
      case '\f':
        escape = "\\f";
        break;
      case '\n':
        escape = "\\n";
        break;
      case '\r':
        escape = "\\r";
        break;
      case '\t':
        escape = "\\t";
        break;
      case '"':
        escape = "\\\"";
        break;
      case '\\':
        escape = "\\\\";
        break;
      case 0xE2:
        if (text.substr(at, 3) != "\u2028" && text.substr(at, 3) != "\u2029") continue;
        escape = text[at + 2] == '\xA8' ? "\\u2028" : "\\u2029";
        length = 3;
        break;
      default:
        escape = {'\\', 'u', '0', '0', kHexDigits[c >> 4], kHexDigits[c & 0xF]};
    }
    append(text.substr(start, at - start));
    append(escape);
    at += length - 1;
    start = at + 1;
  }
  append(text.substr(start));
  out_.push_back('"');
}

void ChromiumJsonWriter::value(std::string_view compact) {
  bool expects_name = false;
  for (std::size_t at = 0; at < compact.size();) {
    const char c = compact[at];
    const bool starts_value = c != '}' && c != ']' && c != ',' && c != ':';
    const bool in_object = expects_name && c == '"';
    if (in_object) {
      // Names keep the escapes they had, so they are copied and not written anew.
      if (!open_.back().empty) append(",\n");
      open_.back().empty = false;
      indent();
      const std::size_t end = end_of_string(compact, at);
      append(compact.substr(at, end - at));
      append(": ");
      at = end + 1;
      expects_name = false;
      continue;
    }
    if (starts_value && at != 0 && !open_.back().object) element();
    if (c == '{') {
      begin_object();
      expects_name = true;
      ++at;
    } else if (c == '[') {
      begin_list();
      expects_name = false;
      ++at;
    } else if (c == '}') {
      end_object();
      expects_name = false;
      ++at;
    } else if (c == ']') {
      end_list();
      ++at;
    } else if (c == ',') {
      expects_name = open_.back().object;
      ++at;
    } else {
      const std::size_t end =
          c == '"' ? end_of_string(compact, at) : std::min(compact.find_first_of(",]}", at), compact.size());
      append(compact.substr(at, end - at));
      at = end;
    }
  }
}

void ChromiumJsonWriter::overwrite(std::size_t at, std::string_view text) {
  HARMONICA_ASSERT(at + text.size() <= out_.size());
  std::copy(text.begin(), text.end(), out_.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace harmonica::providers
