// Ticks and versions: when, and who.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harmonica/ids.h"

namespace harmonica {

// A hybrid logical clock value: milliseconds since 1970-01-01 UTC in the upper 48 bits, a counter in the lower 16.
// Strictly rises per replica, and is greater than every tick that the replica has learned of. Zero means none.
// (Kulkarni, Demirbas et al., "Logical Physical Clocks", 2014.)
using Tick = std::uint64_t;

inline constexpr int kTickCounterBits = 16;

// The first tick of a millisecond; negative times count as 0, times past 48 bits as the last.
Tick first_tick_of(std::int64_t unix_ms);

// The millisecond of a tick.
inline std::int64_t milliseconds_of(Tick tick) { return static_cast<std::int64_t>(tick >> kTickCounterBits); }

// Names one change for ever. Ordered by tick, then replica; because of the clock rule this order extends causality.
struct Version {
  ReplicaId replica;
  Tick tick = 0;

  bool is_none() const { return tick == 0; }

  // "REPLICA@TICK", the replica in hexadecimal and the tick in decimal.
  std::string to_text() const;
  static std::optional<Version> parse(std::string_view text);

  friend std::strong_ordering operator<=>(const Version& a, const Version& b) {
    if (const auto order = a.tick <=> b.tick; order != 0) return order;
    return a.replica <=> b.replica;
  }
  friend bool operator==(const Version&, const Version&) = default;
};

}  // namespace harmonica
