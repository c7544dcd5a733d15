// Ticks as SQLite's integers, which are signed.
#pragma once

#include <cstdint>

#include "harmonica/version.h"

namespace harmonica::providers {

// Keeps the order of all ticks, absurd ones too.
inline std::int64_t sortable(Tick tick) { return static_cast<std::int64_t>(tick ^ (std::uint64_t{1} << 63)); }

}  // namespace harmonica::providers
