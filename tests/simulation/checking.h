// What several checkers ask of a schema and a value.
#pragma once

#include <cstdint>
#include <string>

#include "harmonica/schema.h"
#include "harmonica/value.h"

namespace harmonica::simulation {

ConflictRule rule_of(const Schema& schema, TypeId type, UnitId unit);

// A counter's list: two members that say which counter it is, its first number; then for each replica its id, what it
// added, what it subtracted.
std::int64_t sum_of(const Value& counter);

// "existence"; "unit 3".
std::string unit_text(UnitId unit);

}  // namespace harmonica::simulation
