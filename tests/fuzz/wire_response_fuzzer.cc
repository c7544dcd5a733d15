// Any bytes are refused, or say something that is written and read again as the same.

#include "core/wire/random_messages.h"
#include "harmonica/assert.h"
#include "wire/codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = harmonica::wire::decode_response({data, size});
  if (!read.ok()) return 0;
  const auto again = harmonica::wire::decode_response(harmonica::wire::encode(*read));
  HARMONICA_ASSERT(again.ok());
  HARMONICA_ASSERT(*again == *read);
  return 0;
}
