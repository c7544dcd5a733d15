// Cuts HTML as bookmark files have it into tags, comments and text. docs/adr/0005-html-tokenizer.md says why it is ours.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace harmonica::providers {

// An element's start or end. Views into the text.
struct HtmlTag {
  std::string_view name;        // as written
  std::string_view attributes;  // what stands between the name and the '>'
  enum class Side : std::uint8_t { kStart, kEnd } side = Side::kStart;
  // Its '>' stands there, and so do the quotes that close its values: it reads the same whatever follows.
  bool is_closed = true;
};

struct HtmlAttribute {
  std::string_view name;   // as written
  std::string_view value;  // as written, without its quotes; empty if there is none
  enum class Form : std::uint8_t { kNameOnly, kWithValue } form = Form::kNameOnly;
};

// The attributes of one tag, in their order. A name may come more than once; then the first counts.
class HtmlAttributes {
 public:
  explicit HtmlAttributes(const HtmlTag& tag) : text_(tag.attributes) {}
  std::optional<HtmlAttribute> next();

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

enum class HtmlToken : std::uint8_t { kText, kTag, kComment };

// One pass over a text in linear time and without memory of its own. Never fails: what is no tag is text; no element
// swallows what follows it; a quote that is not closed before the next entry's line ends at the first '>' or line break.
// Thread-compatible.
class HtmlTokenizer {
 public:
  explicit HtmlTokenizer(std::string_view text) : text_(text) {}

  // False at the end.
  bool next();

  HtmlToken kind() const { return kind_; }
  const HtmlTag& tag() const { return tag_; }  // of the last kTag
  std::size_t begin() const { return begin_; }
  std::size_t end() const { return end_; }

  // Only blanks stand before it on its line, in text of the token before it.
  bool begins_line() const { return begins_line_; }

  // The last token is text up to the next '<', whatever it looked like.
  void read_as_text();

  // The text ends in the middle of a tag.
  bool cut_off() const { return cut_off_; }

 private:
  bool take_tag();
  bool take_comment();

  std::string_view text_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  HtmlToken kind_ = HtmlToken::kText;
  HtmlTag tag_;
  bool begins_line_ = false;
  bool cut_off_ = false;
  std::size_t comment_end_ = 0;  // the first "-->" and '>' that were found last
  std::size_t declaration_end_ = 0;
};

}  // namespace harmonica::providers
