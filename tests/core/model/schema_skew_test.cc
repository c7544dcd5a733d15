// Which schemas of two versions of an app go together, and what they are together.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harmonica/schema.h"

namespace harmonica {
namespace {

using ::testing::HasSubstr;

Unit unit(UnitId id, std::string name, ValueKind kind = ValueKind::kText, UnitRole role = UnitRole::kNone) {
  Unit unit;
  unit.id = id;
  unit.name = std::move(name);
  unit.kind = kind;
  unit.role = role;
  return unit;
}

Root root(std::uint8_t number, std::string name) {
  Root root;
  root.id.bytes[0] = number;
  root.name = std::move(name);
  return root;
}

Schema first_version() {
  Schema schema;
  schema.default_scope = "notes";
  schema.types = {{.id = 1, .name = "note", .units = {unit(1, "title"), unit(2, "text")}, .natural_key = {1}}};
  schema.roots = {root(1, "all")};
  return schema;
}

// With another unit, another type and another root.
Schema second_version() {
  Schema schema = first_version();
  schema.types[0].units.push_back(unit(3, "stars", ValueKind::kInteger));
  schema.types.push_back({.id = 2, .name = "tag", .units = {unit(1, "name")}});
  schema.roots.push_back(root(2, "archive"));
  return schema;
}

void expect_contradiction(const Schema& here, const Schema& there, const std::string& message) {
  EXPECT_EQ(check_compatible(here, there).code(), StatusCode::kUnsupported);
  EXPECT_THAT(check_compatible(here, there).message(), HasSubstr(message));
  EXPECT_EQ(check_compatible(there, here).code(), StatusCode::kUnsupported);
}

TEST(SchemaSkew, TypesUnitsAndRootsThatOneSideLacksAreCompatible) {
  EXPECT_EQ(check_compatible(first_version(), second_version()), Status());
  EXPECT_EQ(check_compatible(second_version(), first_version()), Status());
}

TEST(SchemaSkew, JoinedHasWhatEitherHasWhicheverIsHere) {
  Schema third = first_version();
  third.types[0].units.push_back(unit(4, "colour"));
  third.types[0].natural_key = {4, 1};
  const Schema joined = joined_schema(second_version(), third).value();
  EXPECT_EQ(joined.types[0].units.size(), 4u);
  EXPECT_NE(joined.find_type(2), nullptr);
  EXPECT_EQ(joined.fingerprint(), joined_schema(third, second_version()).value().fingerprint());
  EXPECT_EQ(joined_schema(joined, first_version()).value(), joined);
}

TEST(SchemaSkew, WhoHasNoSchemaIsCompatibleWithEveryone) {
  EXPECT_EQ(joined_schema(Schema(), second_version()).value(), second_version());
  EXPECT_EQ(joined_schema(second_version(), Schema()).value(), second_version());
}

// A unit's rule is what is in force, wherever it stands.
TEST(SchemaSkew, RulesAreComparedAsTheyAreInForce) {
  Schema other = first_version();
  other.types[0].rule = ConflictRule::kManual;
  for (Unit& unit : other.types[0].units) unit.rule = ConflictRule::kLatest;
  EXPECT_EQ(check_compatible(first_version(), other), Status());
  other.types[0].units.push_back(unit(9, "state"));
  const Schema joined = joined_schema(first_version(), other).value();
  EXPECT_EQ(joined.types[0].rule_of(*joined.types[0].find_unit(9)), ConflictRule::kManual);
}

TEST(SchemaSkew, WhatDiffersUnderOneNumberIsNamedOnBothSides) {
  Schema other = first_version();
  other.types[0].units[1].rule = ConflictRule::kTextMerge;
  expect_contradiction(first_version(), other,
                       "type 1 'note', unit 2 'text': its rule is latest here and text_merge there");
  other = first_version();
  other.types[0].units[1].name = "body";
  expect_contradiction(first_version(), other, "unit 2 'text': its name is 'text' here and 'body' there");
  other = first_version();
  other.types[0].units[1].kind = ValueKind::kInteger;
  expect_contradiction(first_version(), other, "unit 2 'text': its value is a text here and an integer there");
  other = first_version();
  other.types[0].units[1].role = UnitRole::kKey;
  expect_contradiction(first_version(), other, "unit 2 'text': its role is none here and key there");
  other = first_version();
  other.types[0].name = "page";
  expect_contradiction(first_version(), other, "type 1 'note': its name is 'note' here and 'page' there");
  other = first_version();
  other.types[0].deletion = DeletionRule::kDeleteWins;
  expect_contradiction(first_version(), other, "its deletion rule is edit_wins here and delete_wins there");
  other = first_version();
  other.types[0].natural_key = {2};
  expect_contradiction(first_version(), other, "its natural key is {1} here and {2} there");
  other = first_version();
  other.roots = {root(2, "archive"), root(1, "all")};
  expect_contradiction(first_version(), other, "roots: the first one");
}

TEST(SchemaSkew, PriorityUnitsHaveToAgree) {
  Schema here = second_version();
  here.types[0].units[1].rule = ConflictRule::kPriority;
  here.types[0].units[1].priority_unit = 3;
  Schema there = here;
  there.types[0].units[1].priority_unit = 1;
  expect_contradiction(here, there, "its priority unit is 3 here and 1 there");
}

TEST(SchemaSkew, NaturalKeysMayGrowByUnitsThatTheOtherSideLacks) {
  Schema grown = second_version();
  grown.types[0].natural_key = {3, 1};
  EXPECT_EQ(check_compatible(first_version(), grown), Status());
  expect_contradiction(second_version(), grown, "its natural key is {1} here and {3, 1} there");
}

TEST(SchemaSkew, WhatEachHasAloneMustGoTogether) {
  Schema here = first_version();
  here.types[0].units.push_back(unit(5, "in", ValueKind::kIds, UnitRole::kParent));
  Schema there = first_version();
  there.types[0].units.push_back(unit(6, "folder", ValueKind::kIds, UnitRole::kParent));
  expect_contradiction(here, there, "another unit has the same role");
  there = first_version();
  there.types.push_back({.id = 7, .name = "tag", .units = {unit(1, "name")}});
  expect_contradiction(second_version(), there, "its name is used twice");
}

}  // namespace
}  // namespace harmonica
