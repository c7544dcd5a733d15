#include "kernel/forgotten_life.h"

#include <string>

#include "kernel/conflict_records.h"
#include "kernel/unknown_type.h"

namespace harmonica::kernel {

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
    if (is_unknown(input.type)) {
      Classification refused;
      refused.outcome = Outcome::kRefused;
      refused.refusal = {StatusCode::kUnsupported,
                         "whether the item lives is in conflict, and " + std::string(kNeedsNewerSchema)};
      return refused;
    }
    const bool lives = input.type.deletion != DeletionRule::kDeleteWins;
    result.item.existence = {minted(), lives ? Existence::kRestored : Existence::kDeleted};
    for (const UnitRegister& unit : input.held.units) {
      if (lives || input.known.contains(unit.content.version) || !is_recorded(input.type, unit.unit)) continue;
      result.conflicts.push_back(
          lost_to_deletion(input.type, input.held.id, result.item.existence, unit, to_text(input.type.deletion)));
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
