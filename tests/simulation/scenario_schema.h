// The schema that simulated devices share, and the numbers of its types and units.
#pragma once

#include "harmonica/schema.h"
#include "simulation/random.h"

namespace harmonica::simulation {

namespace types {
inline constexpr TypeId kFolder = 1;
inline constexpr TypeId kBookmark = 2;
inline constexpr TypeId kDirectory = 3;
inline constexpr TypeId kFile = 4;
inline constexpr TypeId kNote = 5;
inline constexpr TypeId kAccount = 6;
inline constexpr TypeId kOrder = 7;
}  // namespace types

namespace units {
inline constexpr UnitId kBirth = 1;  // a text that no two items share and nobody edits: tells items from copies of them
inline constexpr UnitId kParent = 2;
inline constexpr UnitId kPosition = 3;
inline constexpr UnitId kTitle = 4;
inline constexpr UnitId kUrl = 5;
inline constexpr UnitId kName = 6;
inline constexpr UnitId kContent = 7;
inline constexpr UnitId kLabel = 8;
inline constexpr UnitId kColour = 9;
inline constexpr UnitId kCount = 10;
inline constexpr UnitId kState = 11;  // manual in some schemas
inline constexpr UnitId kCode = 12;
inline constexpr UnitId kAccounts = 13;
}  // namespace units

// What varies between scenarios.
struct SchemaChoices {
  std::vector<DeletionRule> deletion_rules = {DeletionRule::kEditWins};  // for the types in turn
  ConflictRule state_rule = ConflictRule::kLatest;
  // Units with a rule of their own in the scenario of rules.
  ConflictRule label_rule = ConflictRule::kLatest;
  ConflictRule colour_rule = ConflictRule::kLatest;
  ConflictRule count_rule = ConflictRule::kLatest;
  ConflictRule content_rule = ConflictRule::kLatest;
  ConflictRule accounts_rule = ConflictRule::kLatest;
  bool with_roots = false;
  bool bookmarks_only = false;  // folders, bookmarks and notes: nothing in whose view ids take part
};

// Folders and bookmarks with parent and position, directories and files with a unique name, notes of several plain units,
// accounts with a unique code and orders that refer to accounts.
Schema make_schema(const SchemaChoices& choices);

inline constexpr int kSchemaVersions = 3;

// What version 1 or 2 of the app knew of that schema; version 3 knows all of it.
Schema schema_of_version(const Schema& schema, int version);

}  // namespace harmonica::simulation
