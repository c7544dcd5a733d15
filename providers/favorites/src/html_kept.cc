#include "html_kept.h"

#include <algorithm>

#include "html_element.h"
#include "html_text.h"

namespace harmonica::providers {
namespace {

// A tag that lost its '>' or a quote, with the values that were read from it.
std::string closed_tag(const HtmlTag& tag) {
  std::string text = tag.side == HtmlTag::Side::kEnd ? "</" : "<";
  text += tag.name;
  for (HtmlAttributes attributes(tag); const std::optional<HtmlAttribute> attribute = attributes.next();) {
    if (!is_attribute_name(attribute->name)) continue;
    text += " ";
    text += attribute->name;
    if (attribute->form == HtmlAttribute::Form::kWithValue) text += "=\"" + requote_attribute(attribute->value) + "\"";
  }
  return text + ">";
}

// A tag that means nothing to the reader, whatever stands between its quotes, as text.
std::string without_markup(std::string_view tag) {
  std::string text;
  for (const char c : tag) {
    if (c == '<') {
      text += "&lt;";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string self_contained_html(std::string_view html, HtmlComments comments) {
  std::string result;
  result.reserve(html.size());
  HtmlTokenizer tokenizer(html);
  while (tokenizer.next()) {
    const auto token = [&] { return html.substr(tokenizer.begin(), tokenizer.end() - tokenizer.begin()); };
    if (tokenizer.kind() == HtmlToken::kTag && !tokenizer.tag().is_closed) {
      const bool is_ours = element_of(tokenizer.tag().name) != HtmlElement::kUnknown;
      result += is_ours ? closed_tag(tokenizer.tag()) : without_markup(token());
      continue;
    }
    const bool is_no_comment = tokenizer.kind() == HtmlToken::kComment && comments == HtmlComments::kInEntryText &&
                               tokenizer.begin() > 0 && !is_comment_in_text(html, tokenizer);
    // The reader goes on behind its '<' and finds what stands in it.
    if (is_no_comment) tokenizer.read_as_text();
    if (tokenizer.kind() == HtmlToken::kText && (token().starts_with("<!") || token().starts_with("<?"))) {
      result += "&lt;";
      result += token().substr(1);
    } else {
      result += token();
    }
  }
  return result;
}

bool is_comment_in_text(std::string_view html, const HtmlTokenizer& tokenizer) {
  constexpr std::size_t kShortCommentBytes = 1000;
  const std::string_view comment = html.substr(tokenizer.begin(), tokenizer.end() - tokenizer.begin());
  const bool is_short = comment.size() <= kShortCommentBytes && comment.find_first_of("\r\n") == std::string_view::npos;
  return is_short || tokenizer.begins_line();
}

bool is_attribute_name(std::string_view name) {
  return std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == ':' ||
           c == '.';
  });
}

}  // namespace harmonica::providers
