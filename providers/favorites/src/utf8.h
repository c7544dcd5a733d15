// UTF-8 that may be damaged.
#pragma once

#include <string>
#include <string_view>

namespace harmonica::providers {

bool is_valid_utf8(std::string_view text);

// Each damaged part becomes one U+FFFD, as browsers do it; valid text is unchanged.
std::string with_valid_utf8(std::string_view text);

// Valid UTF-8 as little-endian UTF-16 code units, without a mark in front.
std::string to_utf16(std::string_view text);

}  // namespace harmonica::providers
