// Which addresses Chromium loads from its bookmarks file.
#pragma once

#include <string_view>

namespace harmonica::providers {

// Whether Chromium takes the address for a valid one. It drops a bookmark with any other without a word, which must not be
// taken for a deletion later. Not a full parser: it knows the schemes with a host, their hosts and ports, and that all
// other schemes take anything. (WHATWG URL Standard, sections 3.2 and 4.4.)
bool chromium_loads_url(std::string_view url);

}  // namespace harmonica::providers
