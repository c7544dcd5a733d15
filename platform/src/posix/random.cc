#include <sys/random.h>

#include <algorithm>
#include <cerrno>

#include "harmonica/assert.h"
#include "harmonica/platform/crypto.h"

namespace harmonica::platform {

void random_bytes(std::span<std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::getrandom(bytes.data(), std::min<std::size_t>(bytes.size(), 256), 0);
    if (count < 0 && errno == EINTR) continue;
    HARMONICA_ASSERT(count > 0);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

}  // namespace harmonica::platform
