#include "harmonica/assert.h"

#include <cstdio>
#include <cstdlib>

namespace harmonica {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "harmonica: assertion failed: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace harmonica
