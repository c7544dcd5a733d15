// What texts were before they changed, kept so that what peers made of them can be merged.
#pragma once

#include <span>

#include "harmonica/extension/metadata_store.h"
#include "harmonica/schema.h"

namespace harmonica::kernel {

// Adds to `after` what its units with the rule text_merge were in `before`. Drops those that everybody has passed, if
// everybody has acknowledged `passed`, and one beyond the limit.
void keep_merge_bases(const ItemType& type, const Item& before, StoredItem& after, const ClockVector& passed);

// The youngest former text of the unit that the source knew too; null if there is none.
const Value* find_merge_base(std::span<const UnitRegister> bases, UnitId unit, const ClockVector& made_with);

}  // namespace harmonica::kernel
