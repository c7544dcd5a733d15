// Chromium `Bookmarks` files of any size, for tests and benchmarks. Shares no code with the codec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace harmonica::testing {

// The text of a file in Chromium's own form with this many bookmarks, in folders of some twenty, up to four deep, in all
// three roots. The same seed gives the same text; its checksum is missing.
std::string make_bookmarks(std::size_t bookmarks, std::uint64_t seed);

}  // namespace harmonica::testing
