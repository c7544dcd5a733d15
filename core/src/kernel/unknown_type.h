// What stands in place of an item type that the schema does not have.
#pragma once

#include <string_view>

#include "harmonica/schema.h"

namespace harmonica::kernel {

// A type without units and, as no type of a valid schema, without a name. What needs its rules cannot be decided.
inline ItemType unknown_type(TypeId id) { return {.id = id}; }
inline bool is_unknown(const ItemType& type) { return type.name.empty(); }

// Why what needs a rule that the schema does not have is left out (rule R11).
inline constexpr std::string_view kNeedsNewerSchema =
    "this replica's schema does not say how that is decided: it needs a newer schema, here or on a device that both "
    "changes "
    "reach";

}  // namespace harmonica::kernel
