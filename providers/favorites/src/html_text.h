// Text in HTML: character sets, character references, and the form that titles and addresses are kept in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harmonica/bytes.h"
#include "harmonica/status.h"

namespace harmonica::providers {

enum class ByteOrderMark : std::uint8_t { kNone, kUtf8, kUtf16 };

// A file as valid UTF-8, without a byte order mark.
struct DecodedHtml {
  std::string text;
  ByteOrderMark mark = ByteOrderMark::kNone;
  std::string charset;              // as it was taken to be, in lower case
  std::vector<std::string> mended;  // bytes that had to be replaced, a line
};

// The character set is that of the byte order mark, else of a META element. Bytes that are not valid in it become U+FFFD.
// Without either it is UTF-8 if at least half of the bytes beyond ASCII are valid in it, else windows-1252; in the former,
// single bytes that are not valid are read as windows-1252. unsupported: a character set that we cannot read, unless the
// bytes are valid UTF-8.
Result<DecodedHtml> decode_html(ByteView content);

// The charset named in the META elements of `text`, in lower case; empty if there is none.
std::string charset_in_meta(std::string_view text);

// Text of HTML with its character references resolved.
std::string decode_text(std::string_view raw);

// The same for an address: names without a semicolon count only for the four that a writer must escape, so that the
// "&copy=1" of an unescaped address stays.
std::string decode_address(std::string_view raw);

// & < > " ' as character references that every reader of bookmark files knows; in an attribute ' stays.
std::string escape_text(std::string_view text);
std::string escape_attribute(std::string_view text);

// A raw attribute value in a form that fits between double quotes on one line; its references are left alone.
std::string requote_attribute(std::string_view raw);

// The form in which a title is read back: valid UTF-8; white space that has a line break or tab in it is one blank, none
// at the ends; no other control characters. Blanks stay. Idempotent.
std::string normal_title(std::string_view text);

// The form in which an address is read back: valid UTF-8, no control characters, no blanks at the ends. Idempotent.
std::string normal_address(std::string_view text);

// A copy of at most 60 bytes on one line, for messages.
std::string excerpt(std::string_view text);

bool equals_ignoring_case(std::string_view a, std::string_view b);
bool is_html_space(char c);
bool is_ascii_letter(char c);
std::string_view without_blank_ends(std::string_view text);

}  // namespace harmonica::providers
