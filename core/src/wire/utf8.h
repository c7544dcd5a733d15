// Whether bytes from outside are text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace harmonica::wire {

// The length of the longest front part that is valid UTF-8 (Unicode 15, table 3-7: no surrogates, nothing overlong).
std::size_t valid_utf8_length(std::string_view bytes);

// The same text with each byte that is not UTF-8 replaced by U+FFFD.
std::string repaired_utf8(std::string_view bytes);

}  // namespace harmonica::wire
