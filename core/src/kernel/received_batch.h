// A batch as it is applied.
#pragma once

#include <optional>
#include <vector>

#include "harmonica/change.h"

namespace harmonica::kernel {

// A batch, and which items the source does not hold. The batch must outlive it.
struct ReceivedBatch {
  const ChangeBatch& batch;
  // Of those held here, where the source has forgotten what is not known here; sorted. Nothing: all that the batch does not
  // name.
  std::optional<std::vector<ItemId>> absent;
};

}  // namespace harmonica::kernel
