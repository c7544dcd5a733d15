// A life of an item that one side has forgotten and the other still holds (rules R14 and R15), as a pure function.
#pragma once

#include <functional>

#include "kernel/change_classifier.h"

namespace harmonica::kernel {

struct ForgottenLifeInput {
  const ItemType& type;
  const Item& held;              // by the side that has not forgotten it
  const ClockVector& known;      // of the item, by the side that has
  const ClockVector& forgotten;  // by that side
};

// What becomes of the item: every register that is not younger than what was forgotten is made anew with its value, so that
// it is the greatest that anybody knows; and an edit meets the forgotten deletion by the type's deletion rule. Refused if
// that rule is needed and not known.
Classification meet_forgotten(const ForgottenLifeInput& input, const std::function<Version()>& mint);

}  // namespace harmonica::kernel
