// What is wrong with values that stores and peers bring.
#pragma once

#include <optional>
#include <string>

#include "harmonica/change.h"
#include "harmonica/schema.h"

namespace harmonica::kernel {

// Why a value cannot be synced; nothing if it can.
std::optional<std::string> fault_of(const Value& value);

// Why a unit cannot have the value in its register.
std::optional<std::string> fault_of(const ItemType& type, const Unit& unit, const Value& value);

// The first unit of a peer's change that holds what its schema does not allow, and why; nothing if there is none. Units
// that the schema does not know may hold any value.
std::optional<std::string> fault_of(const ItemType& type, const ItemChange& change);

}  // namespace harmonica::kernel
