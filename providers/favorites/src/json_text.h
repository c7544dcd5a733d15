// JSON text as RapidJSON's parser reads it, without a copy of every string.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace harmonica::providers {

inline bool is_json_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// A stream for `Reader::Parse` with kParseInsituFlag. "In situ" the parser asks the stream where a string is to be put, and
// puts it there character by character. This one finds the end of the string at once, and if there are no escapes in it,
// answers with the place where it stands already and lets the parser put nothing. So the text stays as it is, and what
// the handler is given is valid for the call. The text must outlive it. The names are those that RapidJSON calls.
class JsonText {
 public:
  using Ch = char;

  explicit JsonText(std::string_view text) : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  char Peek() const { return at_ == end_ ? '\0' : *at_; }
  char Take() { return at_ == end_ ? '\0' : *at_++; }
  std::size_t Tell() const { return static_cast<std::size_t>(at_ - begin_); }

  char* PutBegin();
  void Put(char c) {
    if (put_ != nullptr) *put_++ = c;
  }
  std::size_t PutEnd(const char* begin) const {
    return put_ != nullptr ? static_cast<std::size_t>(put_ - begin) : plain_length_ + 1;
  }

  void skip_blanks() {
    if (static_cast<unsigned char>(Peek()) <= ' ') skip_run();
  }

 private:
  void skip_run();

  const char* begin_;
  const char* at_;
  const char* end_;
  char* put_ = nullptr;           // null while a string stays where it is
  std::size_t plain_length_ = 0;  // of that string
  std::string decoded_;           // the last string with escapes
};

// Found by the parser in place of its own.
inline void SkipWhitespace(JsonText& text) { text.skip_blanks(); }

}  // namespace harmonica::providers
