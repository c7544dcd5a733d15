#include "simulation/scenario.h"

#include <algorithm>
#include <array>

namespace harmonica::simulation {
namespace {

constexpr std::array<Scenario, 15> kScenarios = {
    Scenario::kMixed,    Scenario::kBookmarks,     Scenario::kRules,    Scenario::kForgetting,     Scenario::kSchema,
    Scenario::kHub,      Scenario::kCopies,        Scenario::kFilters,  Scenario::kFiltersRestore, Scenario::kCrowd,
    Scenario::kDiskFull, Scenario::kCopiesRestore, Scenario::kIdentity, Scenario::kErasing,        Scenario::kRecords,
};

void choose_rules(Random& random, SchemaChoices& choices) {
  using Rules = std::vector<ConflictRule>;
  static const Rules of_labels = {ConflictRule::kEarliest, ConflictRule::kMax,        ConflictRule::kMin,
                                  ConflictRule::kPriority, ConflictRule::kSourceWins, ConflictRule::kDestinationWins,
                                  ConflictRule::kCustom,   ConflictRule::kLatest};
  static const Rules of_texts = {ConflictRule::kTextMerge, ConflictRule::kTextMerge, ConflictRule::kPriority,
                                 ConflictRule::kCustom, ConflictRule::kSourceWins};
  static const Rules of_numbers = {ConflictRule::kCounter,  ConflictRule::kCounter, ConflictRule::kMax,
                                   ConflictRule::kAdditive, ConflictRule::kAverage, ConflictRule::kEarliest};
  choices.label_rule = random.pick(of_labels);
  choices.colour_rule = random.pick(of_texts);
  choices.count_rule = random.pick(of_numbers);
  choices.content_rule = random.pick(of_texts);
  choices.accounts_rule = random.chance(700) ? ConflictRule::kUnion : ConflictRule::kDestinationWins;
}

}  // namespace

std::span<const Scenario> scenarios() { return kScenarios; }

std::string_view to_text(Scenario scenario) {
  switch (scenario) {
    case Scenario::kMixed:
      return "mixed";
    case Scenario::kBookmarks:
      return "bookmarks";
    case Scenario::kRules:
      return "rules";
    case Scenario::kForgetting:
      return "forgetting";
    case Scenario::kSchema:
      return "schema";
    case Scenario::kHub:
      return "hub";
    case Scenario::kCopies:
      return "copies";
    case Scenario::kFilters:
      return "filters";
    case Scenario::kFiltersRestore:
      return "filters-restore";
    case Scenario::kCrowd:
      return "crowd";
    case Scenario::kDiskFull:
      return "disk-full";
    case Scenario::kCopiesRestore:
      return "copies-restore";
    case Scenario::kIdentity:
      return "identity";
    case Scenario::kErasing:
      return "erasing";
    case Scenario::kRecords:
      return "records";
  }
  return "mixed";
}

std::optional<Scenario> parse_scenario(std::string_view text) {
  const auto found =
      std::find_if(kScenarios.begin(), kScenarios.end(), [&](Scenario scenario) { return to_text(scenario) == text; });
  if (found == kScenarios.end()) return std::nullopt;
  return *found;
}

std::string scenario_names() {
  std::string names;
  for (const Scenario scenario : kScenarios) names += (names.empty() ? "" : "|") + std::string(to_text(scenario));
  return names;
}

bool has_filters(Scenario scenario) { return scenario == Scenario::kFilters || scenario == Scenario::kFiltersRestore; }

bool has_copies(Scenario scenario) { return scenario == Scenario::kCopies || scenario == Scenario::kCopiesRestore; }

bool keeps_backups(Scenario scenario) {
  return has_copies(scenario) || scenario == Scenario::kFiltersRestore || scenario == Scenario::kIdentity;
}

Bounds devices_of(Scenario scenario) {
  constexpr std::size_t kCrowdMax = 16;
  if (scenario == Scenario::kCrowd) return {2, kCrowdMax - 1};
  return {std::size_t{has_copies(scenario) ? 3U : 2U}, 4};
}

Bounds steps_of(Scenario scenario) { return scenario == Scenario::kCrowd ? Bounds{40, 80} : Bounds{20, 40}; }

Misfortunes misfortunes_of(Scenario scenario) {
  Misfortunes misfortunes;
  if (scenario == Scenario::kCopies || scenario == Scenario::kFilters) misfortunes.restore = 0;
  // What was dropped or has gone by age would come back with the restored state.
  if (scenario == Scenario::kRecords) misfortunes.restore = 0;
  if (scenario == Scenario::kCopiesRestore) misfortunes.restore = 60;
  if (scenario == Scenario::kDiskFull) misfortunes.disk_full = 120;
  if (scenario == Scenario::kIdentity) {
    misfortunes.wipe = 15;
    misfortunes.retirement = 30;
  }
  return misfortunes;
}

SchemaChoices choose_schema(Random& random, Scenario scenario) {
  static const std::vector<DeletionRule> rules = {DeletionRule::kEditWins, DeletionRule::kDeleteWins,
                                                  DeletionRule::kLatest};
  SchemaChoices choices;
  choices.deletion_rules = {random.pick(rules), random.pick(rules), random.pick(rules)};
  choices.state_rule = random.chance(250) ? ConflictRule::kManual : ConflictRule::kLatest;
  choices.with_roots = random.chance(300);
  choices.bookmarks_only = scenario == Scenario::kBookmarks;
  if (scenario == Scenario::kRules || scenario == Scenario::kSchema || scenario == Scenario::kHub ||
      scenario == Scenario::kRecords) {
    choose_rules(random, choices);
  }
  return choices;
}

}  // namespace harmonica::simulation
