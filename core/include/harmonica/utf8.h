// Whether bytes from outside are text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace harmonica {

// Valid is what Unicode 15, table 3-7, says: no surrogates, nothing overlong, nothing beyond U+10FFFF. Null characters are
// characters. All three are pure and take linear time.
bool is_valid_utf8(std::string_view bytes);

// The length of the longest front part that is valid.
std::size_t valid_utf8_length(std::string_view bytes);

// The same text with each damaged part replaced by one U+FFFD, as browsers do it (Unicode 15, section 3.9: a damaged part
// is the longest start of a character that stands there, or a single byte). Valid text is unchanged.
std::string repaired_utf8(std::string_view bytes);

}  // namespace harmonica
