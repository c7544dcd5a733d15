// Three-way merging of texts by words.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace harmonica::kernel {

// `base` with the changes of both sides; the same change made by both counts once. Nothing if both have changed the same
// words or words that touch each other, or if the texts differ too much for it to be worth the time. It does not depend on
// which side is which.
std::optional<std::string> merge_texts(std::string_view base, std::string_view one, std::string_view other);

}  // namespace harmonica::kernel
