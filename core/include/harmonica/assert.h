// Programmer errors. Never used on data that came from outside.
#pragma once

namespace harmonica {

// Prints the failed condition and where it stands, and aborts.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace harmonica

// Always on, in every build.
#define HARMONICA_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::harmonica::assertion_failed(#condition, __FILE__, __LINE__))
