// Chromium `Bookmarks` of any shape: reading ends in a document or an error, and what an edited document writes is read
// back the same.

#include "favorites_document.h"
#include "favorites_in_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  harmonica::providers::read_edit_and_read_again(harmonica::providers::chromium_bookmarks_codec(), {data, size});
  return 0;
}
