#include "harmonica/change.h"

#include <algorithm>

namespace harmonica {

SourceReach reach_of(const ChangeBatch& batch) {
  if (!batch.source_filter) return SourceReach::kEverything;
  return batch.source_filter == batch.filter ? SourceReach::kSameFilter : SourceReach::kOtherFilter;
}

const ItemChange* ChangeBatch::find(const ItemId& item) const {
  const auto found = std::lower_bound(changes.begin(), changes.end(), item,
                                      [](const ItemChange& change, const ItemId& id) { return change.item < id; });
  return found == changes.end() || found->item != item ? nullptr : &*found;
}

bool is_recovery_needed(const ChangeRequest& request, const ChangeBatch& batch) {
  const SourceReach reach = reach_of(batch);
  if (reach == SourceReach::kOtherFilter) return false;
  if (reach == SourceReach::kSameFilter) return !request.knowledge.contains(batch.made_with, batch.range);
  if (request.knowledge.contains(batch.forgotten, batch.range)) return false;
  // With a filter a batch does not name all that the source holds.
  if (batch.filter) return true;
  const ReplicaId& self = request.destination.replica;
  const auto knows_others = [&](const ClockVector& vector) {
    return std::any_of(vector.entries().begin(), vector.entries().end(),
                       [&](const ClockVector::Entry& entry) { return entry.replica != self; });
  };
  const auto is_known = [&](const ClockVector& vector) { return vector.at(self) != 0; };
  const auto asked = request.knowledge.vectors();
  const auto sent = batch.made_with.vectors();
  return std::any_of(asked.begin(), asked.end(), knows_others) || std::any_of(sent.begin(), sent.end(), is_known);
}

}  // namespace harmonica
