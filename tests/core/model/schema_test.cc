#include "harmonica/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "harmonica/limits.h"
#include "support/shorthand.h"

namespace harmonica {
namespace {

using shorthand::item;

Schema notes() {
  const ItemType folder{.id = 1,
                        .name = "folder",
                        .units = {{.id = 1, .name = "parent", .kind = ValueKind::kIds, .role = UnitRole::kParent},
                                  {.id = 2, .name = "title", .kind = ValueKind::kText, .role = UnitRole::kName},
                                  {.id = 3, .name = "position", .kind = ValueKind::kBytes, .role = UnitRole::kPosition},
                                  {.id = 4, .name = "about", .kind = ValueKind::kIds, .role = UnitRole::kReference},
                                  {.id = 5, .name = "code", .kind = ValueKind::kInteger, .role = UnitRole::kKey}},
                        .natural_key = {2, 5}};
  const ItemType note{.id = 2, .name = "note", .units = {{.id = 1, .name = "body"}}, .natural_key = {}};
  return {.default_scope = "notes", .types = {folder, note}, .roots = {{item(1), "home"}, {item(2), "archive"}}};
}

TEST(Schema, FindsTypesUnitsRolesAndRoots) {
  const Schema schema = notes();
  EXPECT_EQ(schema.find_type(2)->name, "note");
  EXPECT_EQ(schema.find_type(3), nullptr);
  EXPECT_EQ(schema.types[0].find_unit(2)->name, "title");
  EXPECT_EQ(schema.types[0].find_unit(6), nullptr);
  EXPECT_EQ(schema.types[0].find_role(UnitRole::kPosition)->id, 3);
  EXPECT_EQ(schema.types[1].find_role(UnitRole::kPosition), nullptr);
  EXPECT_TRUE(schema.is_root(item(2)));
  EXPECT_FALSE(schema.is_root(item(3)));
  EXPECT_EQ(schema.default_root(), item(1));
  EXPECT_EQ(Schema().default_root(), ItemId());
}

TEST(Schema, AGoodOneIsValid) { EXPECT_EQ(notes().validate(), Status()); }

struct Flaw {
  const char* name;
  std::function<void(Schema&)> make;
  const char* message;
};

class SchemaFlaw : public testing::TestWithParam<Flaw> {};

TEST_P(SchemaFlaw, IsNamed) {
  Schema schema = notes();
  GetParam().make(schema);
  const Status status = schema.validate();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), testing::HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, SchemaFlaw,
    testing::Values(
        Flaw{"NoScope", [](Schema& s) { s.default_scope.clear(); }, "default scope ''"},
        Flaw{"TypeZero", [](Schema& s) { s.types[1].id = 0; }, "type 0 'note': its number is 0"},
        Flaw{"TypeOfConflictRecords", [](Schema& s) { s.types[1].id = kConflictRecordType; },
             "type 65534 'note': its number is that of conflict records"},
        Flaw{"TypeTwice", [](Schema& s) { s.types[1].id = 1; }, "type 1 'note': its number is used twice"},
        Flaw{"TypeNameless", [](Schema& s) { s.types[1].name.clear(); }, "type 2 '': its name is empty"},
        Flaw{"TypeNameTwice", [](Schema& s) { s.types[1].name = "folder"; }, "type 2 'folder': its name is used twice"},
        Flaw{"UnitZero", [](Schema& s) { s.types[0].units[1].id = 0; }, "type 1 'folder': unit 0 'title': its number is 0"},
        Flaw{"UnitTwice", [](Schema& s) { s.types[0].units[1].id = 1; }, "unit 1 'title': its number is used twice"},
        Flaw{"UnitNameTwice", [](Schema& s) { s.types[0].units[1].name = "parent"; }, "its name is used twice"},
        Flaw{"UnitsTooMany", [](Schema& s) { s.types[0].units.resize(limits::kUnitsMax + 1); }, "more than 4000 units"},
        Flaw{"UnitOfNull", [](Schema& s) { s.types[1].units[0].kind = ValueKind::kNull; }, "its kind is null"},
        Flaw{"ParentNotIds", [](Schema& s) { s.types[0].units[0].kind = ValueKind::kBytes; }, "'parent': its role needs"},
        Flaw{"NameNotText", [](Schema& s) { s.types[0].units[1].kind = ValueKind::kBytes; }, "'title': its role needs"},
        Flaw{"PositionNotBytes", [](Schema& s) { s.types[0].units[2].kind = ValueKind::kReal; },
             "'position': its role needs"},
        Flaw{"ReferenceNotIds", [](Schema& s) { s.types[0].units[3].kind = ValueKind::kText; }, "'about': its role needs"},
        Flaw{"NameRoleTwice",
             [](Schema& s) { s.types[0].units.push_back({.id = 9, .name = "other", .role = UnitRole::kName}); },
             "unit 9 'other': another unit has the same role"},
        Flaw{"ParentManual", [](Schema& s) { s.types[0].units[0].rule = ConflictRule::kManual; },
             "'parent': its kind or role forbids the rule manual"},
        Flaw{"PositionManual", [](Schema& s) { s.types[0].units[2].rule = ConflictRule::kManual; },
             "its kind or role forbids"},
        Flaw{"MaxOfIds", [](Schema& s) { s.types[0].units[3].rule = ConflictRule::kMax; },
             "'about': its kind or role forbids"},
        Flaw{"UnionOfText", [](Schema& s) { s.types[1].units[0].rule = ConflictRule::kUnion; }, "forbids the rule union"},
        Flaw{"AverageOfText", [](Schema& s) { s.types[1].units[0].rule = ConflictRule::kAverage; },
             "forbids the rule average"},
        Flaw{"RuleOfTheTypeThatDoesNotFit", [](Schema& s) { s.types[1].rule = ConflictRule::kCounter; },
             "type 2 'note': unit 1"},
        Flaw{"PriorityOfNothing", [](Schema& s) { s.types[1].units[0].rule = ConflictRule::kPriority; },
             "the rule priority needs another unit"},
        Flaw{"PriorityOfItself",
             [](Schema& s) {
               s.types[1].units[0].rule = ConflictRule::kPriority;
               s.types[1].units[0].priority_unit = s.types[1].units[0].id;
             },
             "the rule priority needs another unit"},
        Flaw{"KeyOfCounter",
             [](Schema& s) {
               s.types[1].units.push_back(
                   {.id = 9, .name = "count", .kind = ValueKind::kInteger, .rule = ConflictRule::kCounter});
               s.types[1].natural_key = {9};
             },
             "'count': its role or rule forbids it"},
        Flaw{"KeyUnitMissing", [](Schema& s) { s.types[1].natural_key = {7}; }, "type 2 'note': natural key: no unit 7"},
        Flaw{"KeyUnitTwice",
             [](Schema& s) {
               s.types[0].natural_key = {2, 2};
             },
             "'title' stands there twice"},
        Flaw{"KeyOfPosition", [](Schema& s) { s.types[0].natural_key = {3}; }, "'position': its role or rule forbids it"},
        Flaw{"RootZero", [](Schema& s) { s.roots[1].id = ItemId(); }, "its id is zero"},
        Flaw{"RootTwice", [](Schema& s) { s.roots[1].id = item(1); }, "its id is used twice"},
        Flaw{"RootNameless", [](Schema& s) { s.roots[1].name.clear(); }, "its name is empty"},
        Flaw{"RootNameTwice", [](Schema& s) { s.roots[1].name = "home"; }, "'home': its name is used twice"}),
    [](const auto& flaw) { return flaw.param.name; });

TEST(Schema, ManualIsAllowedForNamesAndPlainUnits) {
  Schema schema = notes();
  schema.types[0].units[1].rule = ConflictRule::kManual;
  schema.types[1].units[0].rule = ConflictRule::kManual;
  EXPECT_EQ(schema.validate(), Status());
}

TEST(Schema, RuleOfTheTypeIsForUnitsWithoutOneExceptParentAndPosition) {
  Schema schema = notes();
  schema.types[0].rule = ConflictRule::kManual;
  schema.types[0].units[3].rule = ConflictRule::kUnion;
  EXPECT_EQ(schema.validate(), Status());
  const std::vector<ConflictRule> rules = {ConflictRule::kLatest, ConflictRule::kManual, ConflictRule::kLatest,
                                           ConflictRule::kUnion};
  for (std::size_t place = 0; place < rules.size(); ++place) {
    EXPECT_EQ(schema.types[0].rule_of(schema.types[0].units[place]), rules[place]) << place;
  }
}

TEST(Schema, SeveralKeysAndReferencesAreAllowed) {
  Schema schema = notes();
  schema.types[1].units = {{.id = 1, .name = "a", .role = UnitRole::kKey},
                           {.id = 2, .name = "b", .role = UnitRole::kKey},
                           {.id = 3, .name = "c", .kind = ValueKind::kIds, .role = UnitRole::kReference},
                           {.id = 4, .name = "d", .kind = ValueKind::kIds, .role = UnitRole::kReference}};
  EXPECT_EQ(schema.validate(), Status());
}

TEST(SchemaFingerprint, IsTheSameInEveryBuild) { EXPECT_EQ(notes().fingerprint(), 12587797383826213707u); }

TEST(SchemaFingerprint, ChangesWithAllThatMustAgree) {
  const std::vector<std::function<void(Schema&)>> changes = {
      [](Schema&) {},
      [](Schema& s) { s.types[1].id = 3; },
      [](Schema& s) { s.types[1].name = "memo"; },
      [](Schema& s) { s.types[1].deletion = DeletionRule::kDeleteWins; },
      [](Schema& s) { s.types[1].units[0].id = 2; },
      [](Schema& s) { s.types[1].units[0].name = "text"; },
      [](Schema& s) { s.types[1].units[0].kind = ValueKind::kBytes; },
      [](Schema& s) { s.types[1].units[0].role = UnitRole::kKey; },
      [](Schema& s) { s.types[1].units[0].rule = ConflictRule::kManual; },
      [](Schema& s) { s.types[1].rule = ConflictRule::kEarliest; },
      [](Schema& s) { s.types[1].units.clear(); },
      [](Schema& s) { s.types[1].natural_key = {1}; },
      [](Schema& s) {
        s.types[0].natural_key = {5, 2};
      },
      [](Schema& s) { s.types.pop_back(); },
      [](Schema& s) { s.roots.pop_back(); },
      [](Schema& s) { std::swap(s.roots[0], s.roots[1]); },
  };
  std::vector<std::uint64_t> seen;
  for (const auto& change : changes) {
    Schema schema = notes();
    change(schema);
    seen.push_back(schema.fingerprint());
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
}

TEST(SchemaFingerprint, IgnoresOrderAndWhatIsEachReplicasOwn) {
  Schema schema = notes();
  std::swap(schema.types[0], schema.types[1]);
  std::swap(schema.types[1].units[0], schema.types[1].units[4]);
  schema.default_scope = "elsewhere";
  schema.roots[0].name = "Home";
  schema.types[0].units[0].recording = ConflictRecording::kSilent;
  EXPECT_EQ(schema.fingerprint(), notes().fingerprint());
}

}  // namespace
}  // namespace harmonica
