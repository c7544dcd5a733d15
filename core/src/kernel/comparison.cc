#include <utility>

#include "harmonica/replica.h"

namespace harmonica {
namespace {

// What differs between two copies of an item, in one line; empty if nothing does.
std::string difference(const StoredItem& first, const ReplicaItem& second) {
  if (!(first.item == second.item)) return "first has " + first.item.to_text() + ", second has " + second.item.to_text();
  if (!(first.view == second.view)) return "is shown in different places";
  return {};
}

}  // namespace

Result<Comparison> compare(Replica& first, Replica& second, std::size_t differences_max) {
  for (Replica* replica : {&first, &second}) {
    HARMONICA_ASSIGN_OR_RETURN(const DetectionReport detected, replica->detect());
    static_cast<void>(detected);
  }
  HARMONICA_ASSIGN_OR_RETURN(ReplicaStatus first_status, first.status());
  HARMONICA_ASSIGN_OR_RETURN(ReplicaStatus second_status, second.status());
  if (first_status.scope != second_status.scope || first_status.scope.empty()) {
    return Status(StatusCode::kScopeMismatch, "the stores belong to different scopes ('" + first_status.scope + "' and '" +
                                                  second_status.scope + "'); sync them first");
  }
  Comparison comparison;
  comparison.scope = first_status.scope;
  comparison.first_knowledge = std::move(first_status.knowledge);
  comparison.second_knowledge = std::move(second_status.knowledge);
  std::size_t differences = 0;
  const auto note = [&](const ItemId& item, std::string what) {
    if (++differences <= differences_max) comparison.differences.push_back({item, std::move(what)});
  };
  HARMONICA_RETURN_IF_ERROR(first.scan([&](const StoredItem& stored) -> Result<Visit> {
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<ReplicaItem> other, second.find(stored.item.id));
    if (!other) {
      note(stored.item.id, "only the first holds " + stored.item.to_text());
    } else if (std::string what = difference(stored, *other); !what.empty()) {
      note(stored.item.id, std::move(what));
    }
    return Visit::kContinue;
  }));
  HARMONICA_RETURN_IF_ERROR(second.scan([&](const StoredItem& stored) -> Result<Visit> {
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<ReplicaItem> other, first.find(stored.item.id));
    if (!other) note(stored.item.id, "only the second holds " + stored.item.to_text());
    return Visit::kContinue;
  }));
  comparison.equal = differences == 0;
  return comparison;
}

}  // namespace harmonica
