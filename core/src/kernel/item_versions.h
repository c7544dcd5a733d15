// The versions of all registers of an item.
#pragma once

#include "harmonica/clock_vector.h"
#include "harmonica/item.h"

namespace harmonica::kernel {

// Of an Item, or of an ItemChange.
template <typename Registers>
ClockVector versions_of(const Registers& held) {
  ClockVector versions;
  versions.raise(held.existence.version);
  for (const UnitRegister& unit : held.units) versions.raise(unit.content.version);
  return versions;
}

}  // namespace harmonica::kernel
