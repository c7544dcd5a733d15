#include "html_tokenizer.h"

#include <algorithm>
#include <array>

#include "html_text.h"

namespace harmonica::providers {
namespace {

// Whether an entry, a heading or a list begins or ends at the start of `line`, blanks apart.
bool begins_structure(std::string_view line) {
  std::size_t at = 0;
  while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
  line = line.substr(at, 5);
  constexpr std::array<std::string_view, 6> kStarts = {"<DT>", "<DL>", "</DL>", "<DD>", "<A ", "<H"};
  return std::ranges::any_of(
      kStarts, [&](std::string_view start) { return equals_ignoring_case(line.substr(0, start.size()), start); });
}

// The position of the quote that closes a value which begins at `from`, or of what ends it if there is none. Looking for a
// quote in vain happens at most once for each kind of quote up to one line of structure, so the whole stays linear.
struct QuotedEnd {
  std::size_t position = 0;
  enum class How : std::uint8_t { kQuote, kRecovered, kTextEnds } how = How::kQuote;
};

QuotedEnd find_quoted_end(std::string_view text, std::size_t from, char quote) {
  for (std::size_t at = from; at < text.size(); ++at) {
    if (text[at] == quote) return {at, QuotedEnd::How::kQuote};
    const bool ends_line = text[at] == '\n' || text[at] == '\r';
    if (ends_line && begins_structure(text.substr(at + 1))) break;
  }
  const std::size_t recovered = text.find_first_of(">\r\n", from);
  if (recovered == std::string_view::npos) return {text.size(), QuotedEnd::How::kTextEnds};
  return {recovered, QuotedEnd::How::kRecovered};
}

struct ScannedAttribute {
  HtmlAttribute attribute;
  std::size_t end = 0;
  QuotedEnd::How quoted = QuotedEnd::How::kQuote;
};

// The attribute at or after `from`; nothing where the tag ends.
std::optional<ScannedAttribute> scan_attribute(std::string_view text, std::size_t from) {
  const auto skip_space = [&](std::size_t at) {
    while (at < text.size() && is_html_space(text[at])) ++at;
    return at;
  };
  std::size_t at = from;
  while (at < text.size() && (is_html_space(text[at]) || text[at] == '/')) ++at;
  if (at == text.size() || text[at] == '>' || text[at] == '<') return std::nullopt;

  ScannedAttribute scanned;
  const std::size_t name = at++;
  while (at < text.size() && !is_html_space(text[at]) && text[at] != '=' && text[at] != '>' && text[at] != '/' &&
         text[at] != '<') {
    ++at;
  }
  scanned.attribute.name = text.substr(name, at - name);
  scanned.end = at;
  at = skip_space(at);
  if (at == text.size() || text[at] != '=') return scanned;
  at = skip_space(at + 1);
  scanned.attribute.form = HtmlAttribute::Form::kWithValue;
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
    const QuotedEnd quoted = find_quoted_end(text, at + 1, text[at]);
    scanned.attribute.value = text.substr(at + 1, quoted.position - at - 1);
    scanned.end = quoted.how == QuotedEnd::How::kQuote ? quoted.position + 1 : quoted.position;
    scanned.quoted = quoted.how;
    return scanned;
  }
  const std::size_t value = at;
  if (at < text.size() && text[at] == '<') {
    scanned.end = at;
    return scanned;
  }
  while (at < text.size() && !is_html_space(text[at]) && text[at] != '>') ++at;
  scanned.attribute.value = text.substr(value, at - value);
  scanned.end = at;
  return scanned;
}

}  // namespace

std::optional<HtmlAttribute> HtmlAttributes::next() {
  const std::optional<ScannedAttribute> scanned = scan_attribute(text_, position_);
  if (!scanned) return std::nullopt;
  position_ = scanned->end;
  return scanned->attribute;
}

bool HtmlTokenizer::next() {
  begins_line_ = false;
  if (kind_ == HtmlToken::kText && end_ > begin_) {
    const std::string_view before = text_.substr(begin_, end_ - begin_);
    const std::size_t last = before.find_last_not_of(" \t");
    begins_line_ = last != std::string_view::npos && (before[last] == '\n' || before[last] == '\r');
  }
  begin_ = end_;
  if (begin_ == text_.size()) return false;
  if (text_[begin_] == '<' && (take_tag() || take_comment())) return true;
  read_as_text();
  return true;
}

bool HtmlTokenizer::take_tag() {
  std::size_t at = begin_ + 1;
  const bool closes = at < text_.size() && text_[at] == '/';
  if (closes) ++at;
  const std::size_t name = at;
  if (at == text_.size() || !is_ascii_letter(text_[at])) return false;
  while (at < text_.size() && !is_html_space(text_[at]) && text_[at] != '>' && text_[at] != '/' && text_[at] != '<') ++at;
  tag_.name = text_.substr(name, at - name);
  tag_.side = closes ? HtmlTag::Side::kEnd : HtmlTag::Side::kStart;
  const std::size_t attributes = at;
  bool text_ends = false;
  bool quotes_are_closed = true;
  while (const std::optional<ScannedAttribute> scanned = scan_attribute(text_, at)) {
    at = scanned->end;
    text_ends = scanned->quoted == QuotedEnd::How::kTextEnds;
    quotes_are_closed = quotes_are_closed && scanned->quoted == QuotedEnd::How::kQuote;
  }
  while (at < text_.size() && text_[at] != '>' && text_[at] != '<') ++at;
  tag_.attributes = text_.substr(attributes, at - attributes);
  if (at == text_.size() || text_ends) cut_off_ = true;
  const bool has_end = at < text_.size() && text_[at] == '>';
  tag_.is_closed = has_end && quotes_are_closed;
  end_ = has_end ? at + 1 : at;
  kind_ = HtmlToken::kTag;
  return true;
}

bool HtmlTokenizer::take_comment() {
  const std::string_view rest = text_.substr(begin_, 4);
  if (!rest.starts_with("<!") && !rest.starts_with("<?")) return false;
  const bool is_comment = rest == "<!--";
  std::size_t& found = is_comment ? comment_end_ : declaration_end_;
  const std::size_t from = begin_ + (is_comment ? 4 : 2);
  // What was found for an earlier one holds for this one too, so looking for it is linear whatever the text does.
  if (found < from) found = is_comment ? text_.find("-->", from) : text_.find('>', from);
  if (found == std::string_view::npos) return false;
  kind_ = HtmlToken::kComment;
  end_ = found + (is_comment ? 3 : 1);
  return true;
}

void HtmlTokenizer::read_as_text() {
  kind_ = HtmlToken::kText;
  end_ = std::min(text_.find('<', begin_ + 1), text_.size());
}

}  // namespace harmonica::providers
