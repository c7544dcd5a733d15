// Schemas as messages.
#pragma once

#include "harmonica/schema.h"
#include "harmonica/status.h"

namespace harmonica::v1 {
class Schema;
}  // namespace harmonica::v1

namespace harmonica::wire {

void write(const Schema& from, v1::Schema* to);

// What the message says. corruption: it is no valid schema; limit_exceeded: larger than limits.h allows.
Result<Schema> to_schema(const v1::Schema& from);

}  // namespace harmonica::wire
