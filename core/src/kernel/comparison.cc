#include <utility>

#include "harmonica/extension/provider.h"
#include "harmonica/replica.h"

namespace harmonica {
namespace {

std::string held_text(const std::optional<ReplicaItem>& item) { return item ? item->item.to_text() : "nothing"; }

Version held_version(const std::optional<ReplicaItem>& item, UnitId unit) {
  if (!item) return {};
  if (unit == kExistenceUnit) return item->item.existence.version;
  const Register* held = item->item.find(unit);
  return held == nullptr ? Version() : held->version;
}

enum class Claims : std::uint8_t {
  kHonest,
  kUnfounded,     // knows a version that it neither holds nor has replaced
  kUnfoundedOwn,  // one of its own: that stays known
};

// What a replica claims of an item, seen by what another one holds of it.
Claims claims_of(const ReplicaStatus& status, const std::optional<ReplicaItem>& held,
                 const std::optional<ReplicaItem>& other) {
  if (!other) return Claims::kHonest;
  const ItemId& id = other->item.id;
  const Tick forgotten = status.forgotten.at(id).greatest_tick();
  Claims claims = Claims::kHonest;
  const auto look = [&](UnitId unit, const Version& version) {
    if (!status.knowledge.contains(id, version) || version <= held_version(held, unit)) return;
    if (!held && version.tick <= forgotten) return;
    // With a filter a replica can have handed over what it wrote, and give up that it knows of it.
    const bool stays_known = held || !status.has_had_filter;
    if (version.replica == status.replica && stays_known) claims = Claims::kUnfoundedOwn;
    if (claims == Claims::kHonest) claims = Claims::kUnfounded;
  };
  look(kExistenceUnit, other->item.existence.version);
  // Of what is erased no units are held, whatever is known of them.
  if (held && held->item.erased()) return claims;
  for (const UnitRegister& unit : other->item.units) look(unit.unit, unit.content.version);
  return claims;
}

}  // namespace

Result<RepairReport> repair(const Comparison& comparison, Replica& first, Replica& second) {
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaStatus first_status, first.status());
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaStatus second_status, second.status());
  RepairReport report;
  std::vector<ItemId> by_first;
  std::vector<ItemId> by_second;
  for (const Difference& difference : comparison.differences) {
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<ReplicaItem> here, first.find(difference.item));
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<ReplicaItem> there, second.find(difference.item));
    const Claims of_first = claims_of(first_status, here, there);
    const Claims of_second = claims_of(second_status, there, here);
    if (of_first == Claims::kHonest && of_second == Claims::kHonest) {
      if (!here && first_status.has_had_filter) {
        by_first.push_back(difference.item);
      } else if (!there && second_status.has_had_filter) {
        by_second.push_back(difference.item);
      } else {
        ++report.left_to_sync;
      }
    } else if (of_first == Claims::kUnfounded && of_second == Claims::kHonest) {
      by_first.push_back(difference.item);
    } else if (of_second == Claims::kUnfounded && of_first == Claims::kHonest) {
      by_second.push_back(difference.item);
    } else {
      ++report.left;
    }
  }
  HARMONICA_RETURN_IF_ERROR(first.ask_again_for(by_first));
  HARMONICA_RETURN_IF_ERROR(second.ask_again_for(by_second));
  report.asked_again_first = by_first.size();
  report.asked_again_second = by_second.size();
  // Only who holds everything can tell that a version is lost.
  if (!second_status.filter) {
    HARMONICA_ASSIGN_OR_RETURN(const std::uint64_t lost, first.ask_again_for_lost(second_status.knowledge));
    report.asked_again_first += lost;
  }
  if (!first_status.filter) {
    HARMONICA_ASSIGN_OR_RETURN(const std::uint64_t lost, second.ask_again_for_lost(first_status.knowledge));
    report.asked_again_second += lost;
  }
  return report;
}

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
