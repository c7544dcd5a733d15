// Any bytes are refused, or are a filter whose canonical text reads back as itself.

#include <string_view>

#include "harmonica/assert.h"
#include "model/filter_expression.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = harmonica::parse_filter_expression({reinterpret_cast<const char*>(data), size});
  if (!read.ok()) return 0;
  const std::string text = harmonica::filter_text(*read);
  // Only a canonical text may have grown beyond what is read.
  const auto again = harmonica::parse_filter_expression(text);
  if (!again.ok()) {
    HARMONICA_ASSERT(again.status().code() == harmonica::StatusCode::kLimitExceeded && text.size() > size);
    return 0;
  }
  HARMONICA_ASSERT(harmonica::filter_text(*again) == text);
  return 0;
}
