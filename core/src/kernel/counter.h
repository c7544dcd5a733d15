// Counters: what each replica has added and subtracted, in one register, so that steps made apart all count.
#pragma once

#include <cstdint>

#include "harmonica/ids.h"
#include "harmonica/value.h"

namespace harmonica::kernel {

// A register's value holds, for each replica in id order, its id, what it has added and what it has subtracted. The number
// with which a counter was created stands under the replica id zero: two devices that hold the same one before they meet
// count it once.

// The number to be shown: all that was added less all that was subtracted, 0 for what is no counter.
Value counter_shown(const Value& counter);

// As created with a number.
Value new_counter(std::int64_t number);

// The counter after `replica` has changed what is shown from one number to another.
Value counted(const Value& counter, const ReplicaId& replica, std::int64_t from, std::int64_t to);

// The greater of both, replica by replica. Commutative, associative, idempotent.
Value merge_counters(const Value& a, const Value& b);

}  // namespace harmonica::kernel
