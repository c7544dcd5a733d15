// What both ends of a channel know of replicas that have retired, and so need not tell each other in every clock vector.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "harmonica/clock_vector.h"
#include "harmonica/replica_table.h"

namespace harmonica::wire {

// The last ticks of the retired replicas of one replica table. They stay in knowledge for ever, as a version may name them,
// but a scope that has seen ten thousand devices would send them with every session. (A component that everybody knows can
// be sealed: docs/adr/0023.)
struct RetiredTicks {
  std::uint64_t replicas_digest = 0;  // of that table; 0: nobody has retired, or the two ends have different tables
  ClockVector ticks;
  friend bool operator==(const RetiredTicks&, const RetiredTicks&) = default;
};

RetiredTicks retired_ticks_of(const ReplicaTable& table);

// The retired ticks of the table with that digest; null: it is another one, or not known here. Valid until it is called
// again.
using FindRetiredTicks = std::function<const RetiredTicks*(std::uint64_t replicas_digest)>;

// What a vector says besides the retired ticks, by replica: its other entries, those of retired replicas with another tick,
// and with tick 0 the retired replicas that it lacks.
std::vector<ClockVector::Entry> without_retired(const ClockVector& vector, const RetiredTicks& retired);

// The other way round. `entries` as above.
ClockVector with_retired(const std::vector<ClockVector::Entry>& entries, const RetiredTicks& retired);

}  // namespace harmonica::wire
