// Which items have a version that a knowledge does not contain.
#pragma once

#include <cstddef>
#include <vector>

#include "connection.h"
#include "harmonica/knowledge.h"

namespace harmonica::providers {

// The first `count_max` items in id order within `range` that have a version which `knowledge` does not contain.
//
// Inside one step there are two ways to them: to walk the items in id order and test each, which is fast where most items
// are lacking; and to ask the index of versions for all that lie beyond the step's vector, which is fast where few are.
// Neither can be told from the other beforehand, so both are tried side by side with limits that grow together, and the
// first to come to its end gives the answer. The time is within a constant factor of the better one: for an answer of n
// items out of m that are lacking among N, about the lesser of m and n * N / m, plus one look at the index for each replica
// and distinct vector, plus the steps. What the index answered for a vector serves all steps that share it.
Result<std::vector<ItemId>> search_lacking(Connection& connection, const Knowledge& knowledge, const ItemIdRange& range,
                                           std::size_t count_max);

}  // namespace harmonica::providers
