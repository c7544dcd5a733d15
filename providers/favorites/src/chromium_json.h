// JSON text in the form in which Chromium writes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harmonica/bytes.h"

namespace harmonica::providers {

// JSON objects and arrays inside each other that Chromium reads and writes (base::internal::kAbsoluteMaxDepth).
inline constexpr std::size_t kChromiumJsonDepthMax = 200;

// The text without the blanks between its tokens. It must be valid JSON.
std::string compact_json(std::string_view json);
void append_compact_json(std::string_view json, std::string& target);

// Every escape of half a surrogate pair becomes \uFFFD, as browsers do it.
std::string without_lone_surrogates(std::string_view json);

// Members of an object that the tree does not model: names, and values as compact JSON, sorted by name.
class JsonMembers {
 public:
  // `value` is any JSON. Replaces a member of the same name.
  void put(std::string_view name, std::string_view value);
  void clear() { count_ = 0; }

  // One string, for keeping many of them in little memory; a PackedJsonMembers reads it. Valid until the next call.
  std::string_view pack();

 private:
  struct Member {
    std::string name;
    std::string value;
  };
  std::vector<Member> members_;  // more than there are: they are used again, with the memory that they hold
  std::size_t count_ = 0;
  std::string packed_;
};

// Goes over packed members in their order. Views the packed string.
class PackedJsonMembers {
 public:
  explicit PackedJsonMembers(std::string_view packed) : rest_(packed) { next(); }
  bool at_end() const { return at_end_; }
  std::string_view name() const { return name_; }
  std::string_view value() const { return value_; }
  void next();

 private:
  std::string_view rest_;
  std::string_view name_;
  std::string_view value_;
  bool at_end_ = false;
};

// Writes JSON as Chromium's JSONWriter does with its option "pretty": three blanks a level, lists on one line with what
// they hold, members sorted by name (whoever calls sees to that).
class ChromiumJsonWriter {
 public:
  void reserve(std::size_t bytes) { out_.reserve(bytes); }

  void begin_object();
  void end_object();
  void begin_list();
  void end_list();
  // Before each value of a list.
  void element();
  void name(std::string_view name);

  void text(std::string_view text);
  // Text that needs no escape.
  void plain_text(std::string_view text);
  // Any value, as compact JSON.
  void value(std::string_view compact);

  void end_line() { out_.push_back('\n'); }
  std::size_t depth() const { return open_.size(); }
  std::size_t size() const { return out_.size(); }
  // Over bytes that were written already.
  void overwrite(std::size_t at, std::string_view text);
  Bytes take() && { return std::move(out_); }

 private:
  struct Open {
    bool object;
    bool empty;
  };
  void append(std::string_view text) {
    const ByteView bytes = as_bytes(text);
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }
  void indent();

  Bytes out_;
  std::vector<Open> open_;
  std::size_t objects_ = 0;
};

}  // namespace harmonica::providers
