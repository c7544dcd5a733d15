#include "html_kept.h"

#include <algorithm>

#include "html_text.h"
#include "html_tokenizer.h"

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

}  // namespace

std::string self_contained_html(std::string_view html, HtmlComments comments) {
  std::string result;
  result.reserve(html.size());
  HtmlTokenizer tokenizer(html);
  while (tokenizer.next()) {
    const auto token = [&] { return html.substr(tokenizer.begin(), tokenizer.end() - tokenizer.begin()); };
    const bool is_comment = tokenizer.kind() == HtmlToken::kComment;
    if (is_comment && comments == HtmlComments::kShort && !is_short_comment(token())) tokenizer.read_as_text();
    if (tokenizer.kind() == HtmlToken::kTag && !tokenizer.tag().is_closed) {
      result += closed_tag(tokenizer.tag());
    } else if (tokenizer.kind() == HtmlToken::kText && (token().starts_with("<!") || token().starts_with("<?"))) {
      result += "&lt;";
      result += token().substr(1);
    } else {
      result += token();
    }
  }
  return result;
}

bool is_short_comment(std::string_view comment) {
  constexpr std::size_t kShortCommentBytes = 1000;
  return comment.size() <= kShortCommentBytes && comment.find('\n') == std::string_view::npos;
}

bool is_attribute_name(std::string_view name) {
  return std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == ':' ||
           c == '.';
  });
}

}  // namespace harmonica::providers
