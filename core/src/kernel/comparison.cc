#include <utility>

#include "harmonica/extension/provider.h"
#include "harmonica/replica.h"

namespace harmonica {
namespace {

std::string held_text(const std::optional<ReplicaItem>& item) { return item ? item->item.to_text() : "nothing"; }

}  // namespace

Status describe_differences(Comparison& comparison, Replica& first, Replica& second) {
  for (Difference& difference : comparison.differences) {
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<ReplicaItem> here, first.find(difference.item));
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<ReplicaItem> there, second.find(difference.item));
    difference.what = "first has " + held_text(here) + ", second has " + held_text(there);
  }
  return {};
}

Result<Comparison> compare(Replica& first, Replica& second, std::size_t differences_max) {
  HARMONICA_ASSIGN_OR_RETURN(Comparison comparison, first.compare_with(second.provider(), differences_max));
  HARMONICA_RETURN_IF_ERROR(describe_differences(comparison, first, second));
  return comparison;
}

}  // namespace harmonica
