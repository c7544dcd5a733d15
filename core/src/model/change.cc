#include "harmonica/change.h"

#include <algorithm>

namespace harmonica {

bool is_recovery_needed(const ChangeRequest& request, const ChangeBatch& batch) {
  if (request.knowledge.contains(batch.forgotten, batch.range)) return false;
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
