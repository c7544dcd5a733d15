// HTML that is carried over from a file as it stands, because nothing in it is ours.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace harmonica::providers {

// How the reader takes a comment where the HTML stands.
enum class HtmlComments : std::uint8_t {
  kAny,    // a comment is one
  kShort,  // within an entry's text: only if is_short_comment()
};

// What is read from `html`, which ends where a token does, in a form that reads the same whatever is written behind it:
// tags and the quotes in them are closed, and the '<' of a comment that is none is a reference. Sound HTML is returned as
// it is. Idempotent.
std::string self_contained_html(std::string_view html, HtmlComments comments);

// Whether a comment in a title or description is one. If it is long or goes over several lines, it is a "<!--" that
// somebody forgot to escape, and what follows it are entries.
bool is_short_comment(std::string_view comment);

// Whether an attribute's name is one, and not debris of a quote that was lost.
bool is_attribute_name(std::string_view name);

}  // namespace harmonica::providers
