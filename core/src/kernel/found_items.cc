#include "kernel/found_items.h"

#include <algorithm>

namespace harmonica::kernel {

std::int64_t time_of(const Found& found, Environment& environment) {
  const std::int64_t now = std::max<std::int64_t>(environment.wall_clock_ms(), 0);
  return std::clamp<std::int64_t>(found.content.changed_ms.value_or(0), 0, now);
}

Result<std::optional<std::size_t>> FoundItems::place_of(const ItemId& item, KnownItems& known) const {
  if (const auto found = new_by_item.find(item); found != new_by_item.end()) return std::optional(found->second);
  HARMONICA_ASSIGN_OR_RETURN(const KnownItem* shown, known.find(item));
  return shown == nullptr ? std::nullopt : shown->place;
}

}  // namespace harmonica::kernel
