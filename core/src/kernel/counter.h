// Counters: what each replica has added and subtracted, in one register, so that steps made apart all count.
#pragma once

#include <cstdint>

#include "harmonica/value.h"
#include "harmonica/version.h"

namespace harmonica::kernel {

// A register's value holds the version with which the counter was created and its first number; then, for each replica in
// id order, its id, what it has added and what it has subtracted. Null, and whatever else is no counter, is one that nobody
// has created.

// The number to be shown: the first one and all that was added, less all that was subtracted. Null for what is no counter.
Value counter_shown(const Value& counter);

Value new_counter(const Version& created, std::int64_t number);

// The counter after the maker of `version` has changed what is shown from one number to another; a new one if it was none.
Value counted(const Value& counter, const Version& version, std::int64_t from, std::int64_t to);

// Of two that were created apart the one that was created first; of one, the greater sums of both sides, replica by
// replica. Commutative, associative, idempotent.
Value merge_counters(const Value& a, const Value& b);

// Whether both were created as one, so that merging them loses no step.
bool is_same_counter(const Value& a, const Value& b);

}  // namespace harmonica::kernel
