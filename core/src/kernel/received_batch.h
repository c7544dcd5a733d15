// A batch as it is applied.
#pragma once

#include <optional>
#include <vector>

#include "harmonica/change.h"

namespace harmonica::kernel {

// A batch, what the destination knew when it asked, and which items the source does not hold. Batch and knowledge must
// outlive it.
struct ReceivedBatch {
  const ChangeBatch& batch;
  const Knowledge* asked_with = nullptr;  // null: nobody asked, it is a decision
  // Of those held here, where the source has forgotten what is not known here, or may know of items that have left its
  // filter; sorted. Nothing: all that the batch does not name.
  std::optional<std::vector<ItemId>> absent;
};

}  // namespace harmonica::kernel
