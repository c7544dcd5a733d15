#include "kernel/forgotten_life.h"

#include <utility>

namespace harmonica::kernel {
namespace {

bool is_recorded(const ItemType& type, UnitId id) {
  const Unit* unit = type.find_unit(id);
  return unit == nullptr || unit->recording == ConflictRecording::kRecorded;
}

}  // namespace

Classification meet_forgotten(const ForgottenLifeInput& input, const std::function<Version()>& mint) {
  Classification result;
  result.outcome = Outcome::kApplied;
  result.item = input.held;
  const auto minted = [&] {
    ++result.minted;
    return mint();
  };
  bool any_unit_unknown = false;
  for (const UnitRegister& unit : input.held.units) {
    any_unit_unknown = any_unit_unknown || !input.known.contains(unit.content.version);
  }
  const ExistenceRegister& existence = input.held.existence;
  const Tick bound = input.forgotten.greatest_tick();
  if (existence.value == Existence::kRestored && !any_unit_unknown) {
    result.item.existence = {minted(), Existence::kDeleted};
  } else if (input.held.alive() && input.known.contains(existence.version)) {
    const bool lives = input.type.deletion != DeletionRule::kDeleteWins;
    result.item.existence = {minted(), lives ? Existence::kRestored : Existence::kDeleted};
    for (const UnitRegister& unit : input.held.units) {
      if (lives || input.known.contains(unit.content.version) || !is_recorded(input.type, unit.unit)) continue;
      ConflictRecord conflict;
      conflict.item = input.held.id;
      conflict.type = input.held.type;
      conflict.unit = unit.unit;
      conflict.kept = {result.item.existence.version, Value(), Existence::kDeleted};
      conflict.lost = {unit.content.version, unit.content.value, Existence::kCreated};
      conflict.rule = rule_name(input.type.deletion);
      result.conflicts.push_back(std::move(conflict));
    }
  } else if (existence.version.tick <= bound) {
    result.item.existence.version = minted();
  }
  for (UnitRegister& unit : result.item.units) {
    if (unit.content.version.tick <= bound) unit.content.version = minted();
  }
  return result;
}

}  // namespace harmonica::kernel
