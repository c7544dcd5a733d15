// HTML that is carried over from a file as it stands, because nothing in it is ours.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "html_tokenizer.h"

namespace harmonica::providers {

// How the reader takes comments where the HTML stands.
enum class HtmlComments : std::uint8_t {
  kAny,          // a comment is one
  kInEntryText,  // behind other text, only if is_comment_in_text()
};

// What is read from `html`, which ends where a token does, in a form that reads the same whatever is written behind it. A
// tag that lost its '>' or a quote is text if its element means nothing to us; otherwise it is closed, and what are no
// attributes in it goes. The '<' of text that looks like a comment is a reference. Sound HTML is returned as it is.
// Idempotent.
std::string self_contained_html(std::string_view html, HtmlComments comments);

// Whether a comment in a title or description is one. If it begins in the middle of a line and is long or goes over several
// lines, it is a "<!--" that somebody forgot to escape, and what follows it are entries. `html` is what is being cut.
bool is_comment_in_text(std::string_view html, const HtmlTokenizer& tokenizer);

// Whether an attribute's name is one, and not debris of a quote that was lost.
bool is_attribute_name(std::string_view name);

}  // namespace harmonica::providers
