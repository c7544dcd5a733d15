// Every expected result follows from the rules of the kernel (R4 to R14), not from what the code does.
#include "kernel/change_classifier.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>

#include "support/shorthand.h"

namespace harmonica::kernel {
namespace {

using shorthand::item;
using shorthand::number;
using shorthand::replica;
using shorthand::vector;
using shorthand::version;

constexpr TypeId kNote = 1;
constexpr UnitId kPosition = 3;  // silent
constexpr UnitId kByHand = 4;    // a person decides

ItemType note(DeletionRule deletion) {
  ItemType type{kNote, "note", deletion, {}, {}};
  type.units = {
      {1, "title", ValueKind::kText},
      {2, "text", ValueKind::kText},
      {kPosition, "position", ValueKind::kText, UnitRole::kNone, ConflictRule::kLatest, ConflictRecording::kSilent},
      {kByHand, "status", ValueKind::kText, UnitRole::kNone, ConflictRule::kManual}};
  return type;
}

std::string text_of(const Version& at) { return static_cast<char>(at.replica.bytes.back()) + std::to_string(at.tick); }

std::string_view text_of(Existence existence) {
  if (existence == Existence::kCreated) return "created";
  if (existence == Existence::kErased) return "erased";
  return existence == Existence::kRestored ? "restored" : "deleted";
}

// "created@A1 1=x@A1 2=y@B2*": existence, then units; '*' follows what a rule made.
std::string text_of(const Item& held) {
  std::string text = std::string(text_of(held.existence.value)) + '@' + text_of(held.existence.version);
  for (const UnitRegister& unit : held.units) {
    text += ' ' + std::to_string(unit.unit) + '=' + *unit.content.value.if_text() + '@' + text_of(unit.content.version);
    if (unit.content.origin == Origin::kMadeByRule) text += '*';
  }
  return text;
}

Item parse(const std::string& text) {
  Item parsed;
  parsed.id = item(1);
  parsed.type = kNote;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t at = word.find('@');
    const bool by_rule = word.back() == '*';
    if (by_rule) word.pop_back();
    const Version made = version(std::string_view(word).substr(at + 1));
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      const std::string name = word.substr(0, at);
      const Existence value = name == "created"    ? Existence::kCreated
                              : name == "restored" ? Existence::kRestored
                              : name == "erased"   ? Existence::kErased
                                                   : Existence::kDeleted;
      parsed.existence = {made, value};
    } else {
      parsed.at(static_cast<UnitId>(number(word.substr(0, equals)))) = {
          made, Value::text(word.substr(equals + 1, at - equals - 1)), by_rule ? Origin::kMadeByRule : Origin::kWritten};
    }
  }
  EXPECT_EQ(text_of(parsed), text);
  return parsed;
}

std::string side_text(UnitId unit, const ConflictSide& side) {
  const bool unit_value = unit != kExistenceUnit && !side.value.is_null();
  return (unit_value ? *side.value.if_text() : std::string(text_of(side.existence))) + '@' + text_of(side.version);
}

// "; 1: kept a@A2, lost b@B1 (latest)", a line for each record.
std::string text_of(const ConflictRecord& conflict) {
  return std::to_string(conflict.unit) + ": kept " + side_text(conflict.unit, conflict.kept) + ", lost " +
         side_text(conflict.unit, conflict.lost) + " (" + conflict.rule + ")";
}

// A change that the destination D gets from the source S. `known` is what D knows of the item, `made_with` what S knows.
struct Case {
  std::string held;  // empty: nothing of the item
  std::string sent;
  std::string known = "{}";
  std::string made_with = "{}";
  std::string forgotten = "{}";
  DeletionRule deletion = DeletionRule::kEditWins;
  Resolution resolution = Resolution::kAsInSchema;
  bool whole = true;
  std::optional<ConflictRule> title_rule;
  std::string bases;  // former titles: "a@A1 b@D2"
  CustomRule custom;
};

Classification classify(const Case& given) {
  ItemType type = note(given.deletion);
  type.units[0].rule = given.title_rule;
  type.units[0].priority_unit = 2;
  const Item local = given.held.empty() ? Item() : parse(given.held);
  Item remote = parse(given.sent);
  const ItemChange change{remote.id, kNote, remote.existence, std::move(remote.units), given.whole};
  const ClockVector known = vector(given.known);
  const ClockVector made_with = vector(given.made_with);
  const ClockVector forgotten = vector(given.forgotten);
  std::vector<UnitRegister> bases;
  std::istringstream former(given.bases);
  for (std::string word; former >> word;) {
    const std::size_t at = word.find('@');
    bases.push_back({1, {version(std::string_view(word).substr(at + 1)), Value::text(word.substr(0, at))}});
  }
  const ClassifierInput input{type,
                              given.held.empty() ? nullptr : &local,
                              change,
                              known,
                              made_with,
                              forgotten,
                              bases,
                              given.custom,
                              given.resolution};
  Tick next_tick = 100;
  const Classification result = classify_change(input, [&] { return Version{replica('D'), next_tick++}; });
  if (result.outcome != Outcome::kDeferred) {
    EXPECT_EQ(result.minted, next_tick - 100);
  }
  if (result.outcome == Outcome::kApplied) {
    EXPECT_EQ(result.item.id, item(1));
    EXPECT_EQ(result.item.type, kNote);
  }
  for (const ConflictRecord& conflict : result.conflicts) {
    EXPECT_EQ(conflict.item, item(1));
    EXPECT_EQ(conflict.type, kNote);
  }
  return result;
}

// The outcome; what is to be stored, if anything, own versions being D100, D101, ...; and the records.
std::string outcome_of(const Case& given) {
  const Classification result = classify(given);
  std::string text;
  switch (result.outcome) {
    case Outcome::kUnchanged:
      text = "unchanged";
      break;
    case Outcome::kApplied:
      text = text_of(result.item);
      break;
    case Outcome::kForgotten:
      text = "forgotten";
      break;
    case Outcome::kWantedWhole:
      text = "wanted whole";
      break;
    case Outcome::kDeferred:
      text = "deferred";
      break;
    case Outcome::kRefused:
      text = "refused: " + result.refusal.message();
      break;
  }
  for (const ConflictRecord& conflict : result.conflicts) text += "; " + text_of(conflict);
  return text;
}

const DeletionRule kAllDeletionRules[] = {DeletionRule::kEditWins, DeletionRule::kDeleteWins, DeletionRule::kLatest};

// Section 5 and R8: one register.

TEST(Classifier, VersionThatTheDestinationKnowsIsSkipped) {
  EXPECT_EQ(outcome_of({.held = "created@A1 1=new@D4",
                        .sent = "created@A1 1=old@S3",
                        .known = "{A:1,D:4,S:3}",
                        .made_with = "{A:1,S:3}",
                        .whole = false}),
            "unchanged");
}

TEST(Classifier, VersionThatTheSourceKnewIsReplaced) {
  EXPECT_EQ(outcome_of({.held = "created@A1 1=old@D4 2=b@A1",
                        .sent = "created@A1 1=new@S5",
                        .known = "{A:1,D:4}",
                        .made_with = "{A:1,D:4,S:5}",
                        .whole = false}),
            "created@A1 1=new@S5 2=b@A1");
}

TEST(Classifier, UnitThatTheDestinationLacksIsTaken) {
  EXPECT_EQ(outcome_of({.held = "created@A1 1=a@A1",
                        .sent = "created@A1 2=b@S2",
                        .known = "{A:1}",
                        .made_with = "{A:1,S:2}",
                        .whole = false}),
            "created@A1 1=a@A1 2=b@S2");
}

TEST(Classifier, GreaterVersionWinsAndTheLoserIsRecordedWithItsVersion) {
  EXPECT_EQ(outcome_of({.held = "created@A1 1=ours@D4",
                        .sent = "created@A1 1=theirs@S5",
                        .known = "{A:1,D:4}",
                        .made_with = "{A:1,S:5}",
                        .whole = false}),
            "created@A1 1=theirs@S5; 1: kept theirs@S5, lost ours@D4 (latest)");
  EXPECT_EQ(outcome_of({.held = "created@A1 1=ours@D6",
                        .sent = "created@A1 1=theirs@S5",
                        .known = "{A:1,D:6}",
                        .made_with = "{A:1,S:5}",
                        .whole = false}),
            "unchanged; 1: kept ours@D6, lost theirs@S5 (latest)");
}

TEST(Classifier, OfTwoVersionsWithOneTickThatOfTheGreaterReplicaWins) {
  EXPECT_EQ(outcome_of({.held = "created@A1 1=ours@D5",
                        .sent = "created@A1 1=theirs@S5",
                        .known = "{A:1,D:5}",
                        .made_with = "{A:1,S:5}",
                        .whole = false}),
            "created@A1 1=theirs@S5; 1: kept theirs@S5, lost ours@D5 (latest)");
}

TEST(Classifier, UnitsAreDecidedEachForItself) {
  EXPECT_EQ(outcome_of({.held = "created@A1 1=ours@D4 2=ours@D9",
                        .sent = "created@A1 1=theirs@S5 2=theirs@S6",
                        .known = "{A:1,D:9}",
                        .made_with = "{A:1,S:6}",
                        .whole = false}),
            "created@A1 1=theirs@S5 2=ours@D9; 1: kept theirs@S5, lost ours@D4 (latest); "
            "2: kept ours@D9, lost theirs@S6 (latest)");
}

TEST(Classifier, SameValueFromTwoSidesIsNoConflictAndTheGreaterVersionStays) {
  EXPECT_EQ(outcome_of({.held = "created@A1 1=same@D4",
                        .sent = "created@A1 1=same@S5",
                        .known = "{A:1,D:4}",
                        .made_with = "{A:1,S:5}",
                        .whole = false}),
            "created@A1 1=same@S5");
  EXPECT_EQ(outcome_of({.held = "created@A1 1=same@D6",
                        .sent = "created@A1 1=same@S5",
                        .known = "{A:1,D:6}",
                        .made_with = "{A:1,S:5}",
                        .whole = false}),
            "unchanged");
}

TEST(Classifier, WhatARuleMadeKeepsItsMark) {
  EXPECT_EQ(outcome_of({.held = "created@A1 1=old@A1",
                        .sent = "created@A1 1=merged@S5*",
                        .known = "{A:1}",
                        .made_with = "{A:1,S:5}",
                        .whole = false}),
            "created@A1 1=merged@S5*");
  EXPECT_EQ(outcome_of({.held = "created@A1 1=same@D4",
                        .sent = "created@A1 1=same@S5*",
                        .known = "{A:1,D:4}",
                        .made_with = "{A:1,S:5}",
                        .whole = false}),
            "created@A1 1=same@S5*");
  EXPECT_EQ(outcome_of({.held = "", .sent = "created@A1 1=merged@S5*", .made_with = "{A:1,S:5}"}),
            "created@A1 1=merged@S5*");
}

TEST(Classifier, BetweenTwoValuesThatRulesMadeTheGreaterVersionWins) {
  EXPECT_EQ(outcome_of({.held = "created@A1 1=ours@D6*",
                        .sent = "created@A1 1=theirs@S5*",
                        .known = "{A:1,D:6}",
                        .made_with = "{A:1,S:5}",
                        .whole = false}),
            "unchanged; 1: kept ours@D6, lost theirs@S5 (latest)");
}

TEST(Classifier, SilentUnitIsDecidedWithoutARecord) {
  for (const Resolution resolution :
       {Resolution::kAsInSchema, Resolution::kDefer, Resolution::kKeepLocal, Resolution::kTakeRemote}) {
    EXPECT_EQ(outcome_of({.held = "created@A1 3=ours@D4",
                          .sent = "created@A1 3=theirs@S5",
                          .known = "{A:1,D:4}",
                          .made_with = "{A:1,S:5}",
                          .resolution = resolution,
                          .whole = false}),
              "created@A1 3=theirs@S5");
    EXPECT_EQ(outcome_of({.held = "created@A1 3=ours@D6",
                          .sent = "created@A1 3=theirs@S5",
                          .known = "{A:1,D:6}",
                          .made_with = "{A:1,S:5}",
                          .resolution = resolution,
                          .whole = false}),
              "unchanged");
  }
}

// Existence against existence.

TEST(Classifier, TwoCreationsAreNoConflictOfExistence) {
  EXPECT_EQ(
      outcome_of({.held = "created@D3 1=same@D3", .sent = "created@S2 1=same@S2", .known = "{D:3}", .made_with = "{S:2}"}),
      "unchanged");
  EXPECT_EQ(
      outcome_of({.held = "created@D1 1=same@D1", .sent = "created@S2 1=same@S2", .known = "{D:1}", .made_with = "{S:2}"}),
      "created@S2 1=same@S2");
}

TEST(Classifier, CreatedAndRestoredCountAsEqual) {
  EXPECT_EQ(outcome_of({.held = "created@D3", .sent = "restored@S4", .known = "{D:3}", .made_with = "{S:4}"}),
            "restored@S4");
  EXPECT_EQ(outcome_of({.held = "restored@D5", .sent = "created@S4", .known = "{D:5}", .made_with = "{S:4}"}), "unchanged");
}

TEST(Classifier, OfTwoDeletionsTheGreaterVersionStays) {
  EXPECT_EQ(outcome_of(
                {.held = "deleted@D5 1=a@A1", .sent = "deleted@S6 1=a@A1", .known = "{A:1,D:5}", .made_with = "{A:1,S:6}"}),
            "deleted@S6 1=a@A1");
  EXPECT_EQ(outcome_of(
                {.held = "deleted@D7 1=a@A1", .sent = "deleted@S6 1=a@A1", .known = "{A:1,D:7}", .made_with = "{A:1,S:6}"}),
            "unchanged");
}

// R10: existence against units.

TEST(Classifier, DeletionThatSawAllIsTakenUnderEveryRule) {
  for (const DeletionRule rule : kAllDeletionRules) {
    EXPECT_EQ(outcome_of({.held = "created@A1 1=a@D3",
                          .sent = "deleted@S6 1=a@D3",
                          .known = "{A:1,D:3}",
                          .made_with = "{A:1,D:3,S:6}",
                          .deletion = rule}),
              "deleted@S6 1=a@D3");
    // The source only has what the deletion here saw.
    EXPECT_EQ(outcome_of({.held = "deleted@D6 1=a@S3",
                          .sent = "created@A1 1=a@S3",
                          .known = "{A:1,D:6,S:3}",
                          .made_with = "{A:1,S:3}",
                          .deletion = rule}),
              "unchanged");
  }
}

TEST(Classifier, DeletionMeetsAnEditHere) {
  const auto outcome = [](DeletionRule rule, const std::string& edited) {
    return outcome_of({.held = "created@A1 1=new@" + edited + " 2=b@A1",
                       .sent = "deleted@S6 1=old@A1 2=b@A1",
                       .known = "{A:1,D:9}",
                       .made_with = "{A:1,S:6}",
                       .deletion = rule});
  };
  EXPECT_EQ(outcome(DeletionRule::kEditWins, "D5"),
            "restored@D100 1=new@D5 2=b@A1; 0: kept created@A1, lost deleted@S6 (edit_wins)");
  EXPECT_EQ(outcome(DeletionRule::kDeleteWins, "D7"),
            "deleted@S6 1=new@D7 2=b@A1; 1: kept deleted@S6, lost new@D7 (delete_wins)");
  EXPECT_EQ(outcome(DeletionRule::kLatest, "D5"), "deleted@S6 1=new@D5 2=b@A1; 1: kept deleted@S6, lost new@D5 (latest)");
  EXPECT_EQ(outcome(DeletionRule::kLatest, "D7"),
            "restored@D100 1=new@D7 2=b@A1; 0: kept created@A1, lost deleted@S6 (latest)");
}

TEST(Classifier, EditMeetsADeletionHere) {
  const auto outcome = [](DeletionRule rule, const std::string& edited) {
    return outcome_of({.held = "deleted@D6 1=old@A1 2=b@A1",
                       .sent = "created@A1 1=new@" + edited,
                       .known = "{A:1,D:6}",
                       .made_with = "{A:1,S:9}",
                       .deletion = rule,
                       .whole = false});
  };
  EXPECT_EQ(outcome(DeletionRule::kEditWins, "S5"),
            "restored@D100 1=new@S5 2=b@A1; 0: kept created@A1, lost deleted@D6 (edit_wins)");
  EXPECT_EQ(outcome(DeletionRule::kDeleteWins, "S7"),
            "deleted@D6 1=new@S7 2=b@A1; 1: kept deleted@D6, lost new@S7 (delete_wins)");
  EXPECT_EQ(outcome(DeletionRule::kLatest, "S5"), "deleted@D6 1=new@S5 2=b@A1; 1: kept deleted@D6, lost new@S5 (latest)");
  EXPECT_EQ(outcome(DeletionRule::kLatest, "S7"),
            "restored@D100 1=new@S7 2=b@A1; 0: kept created@A1, lost deleted@D6 (latest)");
}

TEST(Classifier, GreatestOfSeveralEditsDecidesUnderLatest) {
  EXPECT_EQ(outcome_of({.held = "created@A1 1=a@D5 2=b@D7",
                        .sent = "deleted@S6 1=x@A1 2=x@A1",
                        .known = "{A:1,D:7}",
                        .made_with = "{A:1,S:6}",
                        .deletion = DeletionRule::kLatest}),
            "restored@D100 1=a@D5 2=b@D7; 0: kept created@A1, lost deleted@S6 (latest)");
  EXPECT_EQ(outcome_of({.held = "created@A1 1=a@D4 2=b@D5",
                        .sent = "deleted@S6 1=x@A1 2=x@A1",
                        .known = "{A:1,D:5}",
                        .made_with = "{A:1,S:6}",
                        .deletion = DeletionRule::kLatest}),
            "deleted@S6 1=a@D4 2=b@D5; 1: kept deleted@S6, lost a@D4 (latest); 2: kept deleted@S6, lost b@D5 (latest)");
}

TEST(Classifier, UnitsOfATombstoneMergeToo) {
  // The deleting side holds a greater title than the edit; the edit still is news, and brings the item back.
  EXPECT_EQ(outcome_of({.held = "deleted@D6 1=ours@D5",
                        .sent = "created@A1 1=theirs@S4",
                        .known = "{A:1,D:6}",
                        .made_with = "{A:1,S:4}",
                        .whole = false}),
            "restored@D100 1=ours@D5; 1: kept ours@D5, lost theirs@S4 (latest); "
            "0: kept created@A1, lost deleted@D6 (edit_wins)");
  EXPECT_EQ(outcome_of({.held = "deleted@A3 1=old@A1",
                        .sent = "deleted@A3 1=new@S4",
                        .known = "{A:3}",
                        .made_with = "{A:3,S:4}",
                        .whole = false}),
            "deleted@A3 1=new@S4");
}

TEST(Classifier, LostEditOfASilentUnitLeavesNoRecord) {
  EXPECT_EQ(outcome_of({.held = "created@A1 1=a@D5 3=p@D5",
                        .sent = "deleted@S6 1=x@A1 3=q@A1",
                        .known = "{A:1,D:5}",
                        .made_with = "{A:1,S:6}",
                        .deletion = DeletionRule::kDeleteWins}),
            "deleted@S6 1=a@D5 3=p@D5; 1: kept deleted@S6, lost a@D5 (delete_wins)");
}

TEST(Classifier, CreationIsStrongerThanAConcurrentDeletionUnderEveryRule) {
  for (const DeletionRule rule : kAllDeletionRules) {
    const std::string name = rule == DeletionRule::kEditWins     ? "edit_wins"
                             : rule == DeletionRule::kDeleteWins ? "delete_wins"
                                                                 : "latest";
    const auto expect = [&](const std::string& held, const std::string& sent, const std::string& expected) {
      EXPECT_EQ(outcome_of({.held = held, .sent = sent, .known = "{A:1,D:9}", .made_with = "{A:1,S:9}", .deletion = rule}),
                expected + " (" + name + ")");
    };
    // The greater version stays, a lesser creation is minted as restored (R8).
    expect("created@D7 1=a@A1", "deleted@S6 1=a@A1", "unchanged; 0: kept created@D7, lost deleted@S6");
    expect("created@D5 1=a@A1", "deleted@S6 1=a@A1", "restored@D100 1=a@A1; 0: kept created@D5, lost deleted@S6");
    expect("deleted@D6 1=a@A1", "created@S7 1=a@A1", "created@S7 1=a@A1; 0: kept created@S7, lost deleted@D6");
    expect("deleted@D6 1=a@A1", "created@S5 1=a@A1", "restored@D100 1=a@A1; 0: kept created@S5, lost deleted@D6");
  }
}

TEST(Classifier, RestoredIsWeakerThanAConcurrentDeletionThatSawTheUnits) {
  for (const DeletionRule rule : kAllDeletionRules) {
    const auto outcome = [&](const std::string& held, const std::string& sent) {
      return outcome_of({.held = held, .sent = sent, .known = "{A:1,D:9}", .made_with = "{A:1,S:9}", .deletion = rule});
    };
    EXPECT_EQ(outcome("restored@D5 1=a@A1", "deleted@S6 1=a@A1"), "deleted@S6 1=a@A1");
    EXPECT_EQ(outcome("restored@D7 1=a@A1", "deleted@S6 1=a@A1"), "deleted@D100 1=a@A1");
    EXPECT_EQ(outcome("deleted@D6 1=a@A1", "restored@S5 1=a@A1"), "unchanged");
    EXPECT_EQ(outcome("deleted@D6 1=a@A1", "restored@S7 1=a@A1"), "deleted@D100 1=a@A1");
  }
}

TEST(Classifier, RestoredWithAnEditUnknownToTheDeletionStaysAlive) {
  const auto outcome = [](const std::string& held, const std::string& sent) {
    return outcome_of({.held = held, .sent = sent, .known = "{A:1,D:9}", .made_with = "{A:1,S:9}"});
  };
  EXPECT_EQ(outcome("restored@D7 1=b@D4", "deleted@S6 1=a@A1"),
            "unchanged; 0: kept restored@D7, lost deleted@S6 (edit_wins)");
  EXPECT_EQ(outcome("restored@D5 1=b@D4", "deleted@S6 1=a@A1"),
            "restored@D100 1=b@D4; 0: kept restored@D5, lost deleted@S6 (edit_wins)");
  EXPECT_EQ(outcome("deleted@D6 1=a@A1", "restored@S7 1=b@S4"),
            "restored@S7 1=b@S4; 0: kept restored@S7, lost deleted@D6 (edit_wins)");
}

TEST(Classifier, LifeThatFollowedTheDeletionIsTaken) {
  for (const DeletionRule rule : kAllDeletionRules) {
    EXPECT_EQ(outcome_of({.held = "deleted@D6 1=a@A1",
                          .sent = "created@S7 1=b@S7",
                          .known = "{A:1,D:6}",
                          .made_with = "{A:1,D:6,S:7}",
                          .deletion = rule}),
              "created@S7 1=b@S7");
    EXPECT_EQ(outcome_of({.held = "created@D7 1=b@D7",
                          .sent = "deleted@S6 1=c@A2",
                          .known = "{A:1,D:7,S:6}",
                          .made_with = "{A:2,S:6}",
                          .deletion = rule}),
              "unchanged; 1: kept b@D7, lost c@A2 (latest)");
  }
}

TEST(Classifier, W62RestoredAndW63TwoDeletions) {
  // B has deleted, A edits: B brings it back. A, who has seen the edit, deletes.
  EXPECT_EQ(outcome_of({.held = "deleted@D2 1=a@A1",
                        .sent = "created@A1 1=b@A3",
                        .known = "{A:1,D:2}",
                        .made_with = "{A:3}",
                        .whole = false}),
            "restored@D100 1=b@A3; 0: kept created@A1, lost deleted@D2 (edit_wins)");
  EXPECT_EQ(
      outcome_of({.held = "restored@D5 1=b@A3", .sent = "deleted@A4 1=b@A3", .known = "{A:3,D:5}", .made_with = "{A:4}"}),
      "deleted@D100 1=b@A3");
  // C holds what B created, and A, who knows only its own creation, deletes.
  EXPECT_EQ(outcome_of({.held = "created@B2 1=x@B2", .sent = "deleted@A6 1=x@A3", .known = "{B:2}", .made_with = "{A:6}"}),
            "restored@D100 1=x@A3; 0: kept created@B2, lost deleted@A6 (edit_wins)");
}

// R6, R14: the destination holds nothing of the item.

TEST(Classifier, NewItemIsTakenAsItIs) {
  EXPECT_EQ(outcome_of({.sent = "created@S2 1=a@S2 2=b@A9*", .made_with = "{A:9,S:2}"}), "created@S2 1=a@S2 2=b@A9*");
  EXPECT_EQ(outcome_of({.sent = "deleted@S5 1=a@S2", .made_with = "{S:5}"}), "deleted@S5 1=a@S2");
}

TEST(Classifier, ReplayOfWhatIsNotHeldAnyMoreChangesNothing) {
  EXPECT_EQ(outcome_of({.sent = "created@S2 1=a@S3", .known = "{S:3}", .made_with = "{S:3}", .forgotten = "{D:9,S:3}"}),
            "unchanged");
  EXPECT_EQ(outcome_of({.sent = "created@S2 1=a@S3", .known = "{S:3}", .made_with = "{S:3}", .whole = false}), "unchanged");
}

TEST(Classifier, PartOfAnItemThatIsNotHeldIsWantedWhole) {
  EXPECT_EQ(
      outcome_of(
          {.sent = "created@S2 1=a@S5", .known = "{S:2}", .made_with = "{S:5}", .forgotten = "{D:3,S:2}", .whole = false}),
      "wanted whole");
}

TEST(Classifier, ForgottenLifeThatTheSourceKnewIsNoHindrance) {
  EXPECT_EQ(
      outcome_of({.sent = "created@S7 1=a@S7", .known = "{S:1,D:6}", .made_with = "{S:7,D:6}", .forgotten = "{S:1,D:6}"}),
      "created@S7 1=a@S7");
  EXPECT_EQ(
      outcome_of({.sent = "deleted@S8 1=a@S7", .known = "{S:1,D:6}", .made_with = "{S:8,D:6}", .forgotten = "{S:1,D:6}"}),
      "deleted@S8 1=a@S7");
}

TEST(Classifier, TombstoneOfAForgottenLifeIsForgotten) {
  EXPECT_EQ(outcome_of({.sent = "deleted@S4 1=a@S1", .known = "{S:1,D:6}", .made_with = "{S:4}", .forgotten = "{S:1,D:6}"}),
            "forgotten");
}

TEST(Classifier, RestoredForAnEditThatTheForgottenDeletionSawIsDeleted) {
  for (const DeletionRule rule : kAllDeletionRules) {
    EXPECT_EQ(outcome_of({.sent = "restored@S7 1=a@A1 2=b@A8",
                          .known = "{A:8,D:6}",
                          .made_with = "{A:8,S:7}",
                          .forgotten = "{A:1,D:6}",
                          .deletion = rule}),
              "deleted@D100 1=a@D101 2=b@A8");
  }
}

TEST(Classifier, EditThatMeetsAForgottenDeletionIsDecidedByTheDeletionRule) {
  const auto outcome = [](DeletionRule rule) {
    return classify({.sent = "created@A1 1=old@A1 2=new@S5",
                     .known = "{A:1,D:3}",
                     .made_with = "{A:1,S:5}",
                     .forgotten = "{A:1,D:3}",
                     .deletion = rule});
  };
  EXPECT_EQ(text_of(outcome(DeletionRule::kEditWins).item), "restored@D100 1=old@D101 2=new@S5");
  EXPECT_EQ(text_of(outcome(DeletionRule::kLatest).item), "restored@D100 1=old@D101 2=new@S5");
  EXPECT_EQ(text_of(outcome(DeletionRule::kDeleteWins).item), "deleted@D100 1=old@D101 2=new@S5");
  EXPECT_TRUE(outcome(DeletionRule::kEditWins).conflicts.empty());
  ASSERT_EQ(outcome(DeletionRule::kDeleteWins).conflicts.size(), 1u);
  EXPECT_EQ(text_of(outcome(DeletionRule::kDeleteWins).conflicts.front()),
            "2: kept deleted@D100, lost new@S5 (delete_wins)");
}

TEST(Classifier, CreationMeetsAForgottenLifeAndMintsOnlyWhatIsNotYounger) {
  // W55, W65: versions up to the greatest tick that was forgotten are made anew, values and marks stay.
  EXPECT_EQ(outcome_of({.sent = "created@B1 1=b@B1", .known = "{A:2}", .made_with = "{B:1}", .forgotten = "{A:2}"}),
            "created@D100 1=b@D101");
  EXPECT_EQ(
      outcome_of({.sent = "created@B1 1=b@B6 2=c@B7 3=d@B2", .known = "{A:6}", .made_with = "{B:7}", .forgotten = "{A:6}"}),
      "created@D100 1=b@D101 2=c@B7 3=d@D102");
  EXPECT_EQ(outcome_of({.sent = "created@B7 1=b@B7", .known = "{A:6}", .made_with = "{B:7}", .forgotten = "{A:6}"}),
            "created@B7 1=b@B7");
}

// R11: what waits for a person, and what a person has decided.

TEST(Classifier, ConflictThatIsLeftToAPersonWaitsWithAllThatDecidingTakes) {
  const Case given{.held = "created@A1 1=ours@D4 2=b@A1",
                   .sent = "created@A1 1=theirs@S5 2=c@S5",
                   .known = "{A:1,D:4}",
                   .made_with = "{A:1,S:5}",
                   .resolution = Resolution::kDefer,
                   .whole = false};
  const Classification result = classify(given);
  EXPECT_EQ(result.outcome, Outcome::kDeferred);
  EXPECT_EQ(result.minted, 0u);
  ASSERT_EQ(result.conflicts.size(), 1u);
  const ConflictRecord& waiting = result.conflicts.front();
  EXPECT_EQ(text_of(waiting), "1: kept ours@D4, lost theirs@S5 (manual)");
  EXPECT_EQ(waiting.state, ConflictState::kDeferred);
  Item sent = parse(given.sent);
  EXPECT_EQ(waiting.deferred, (ItemChange{sent.id, kNote, sent.existence, sent.units, false}));
  EXPECT_EQ(waiting.deferred_made_with, vector("{A:1,S:5}"));
}

TEST(Classifier, ManualUnitWaitsAndOthersDoNot) {
  EXPECT_EQ(outcome_of({.held = "created@A1 1=ours@D4 4=ours@D4",
                        .sent = "created@A1 1=theirs@S5 4=theirs@S5",
                        .known = "{A:1,D:4}",
                        .made_with = "{A:1,S:5}",
                        .whole = false}),
            "deferred; 4: kept ours@D4, lost theirs@S5 (manual)");
  EXPECT_EQ(outcome_of({.held = "created@A1 4=same@D4",
                        .sent = "created@A1 4=same@S5",
                        .known = "{A:1,D:4}",
                        .made_with = "{A:1,S:5}",
                        .whole = false}),
            "created@A1 4=same@S5");
  EXPECT_EQ(outcome_of({.held = "created@A1 4=old@D4",
                        .sent = "created@A1 4=new@S5",
                        .known = "{A:1,D:4}",
                        .made_with = "{A:1,D:4,S:5}",
                        .whole = false}),
            "created@A1 4=new@S5");
}

TEST(Classifier, ManualUnitThatLosesToADeletionIsAConflictOfExistenceOnly) {
  EXPECT_EQ(outcome_of({.held = "created@A1 4=new@D5",
                        .sent = "deleted@S6 4=old@A1",
                        .known = "{A:1,D:5}",
                        .made_with = "{A:1,S:6}",
                        .deletion = DeletionRule::kDeleteWins}),
            "deleted@S6 4=new@D5; 4: kept deleted@S6, lost new@D5 (delete_wins)");
}

TEST(Classifier, DeletionAgainstAnEditWaitsWhereAllIsLeftToAPerson) {
  for (const DeletionRule rule : kAllDeletionRules) {
    EXPECT_EQ(outcome_of({.held = "created@A1 1=new@D5",
                          .sent = "deleted@S6 1=old@A1",
                          .known = "{A:1,D:5}",
                          .made_with = "{A:1,S:6}",
                          .deletion = rule,
                          .resolution = Resolution::kDefer}),
              "deferred; 0: kept created@A1, lost deleted@S6 (manual)");
  }
}

TEST(Classifier, DeletionThatTakesNothingWithItButSilentUnitsDoesNotWait) {
  const auto outcome = [](DeletionRule rule) {
    return outcome_of({.held = "created@A1 1=a@A1 3=p@D5",
                       .sent = "deleted@S6 1=a@A1 3=o@A1",
                       .known = "{A:1,D:5}",
                       .made_with = "{A:1,S:6}",
                       .deletion = rule,
                       .resolution = Resolution::kDefer});
  };
  EXPECT_EQ(outcome(DeletionRule::kDeleteWins), "deleted@S6 1=a@A1 3=p@D5");
  EXPECT_EQ(outcome(DeletionRule::kEditWins), "deferred; 0: kept created@A1, lost deleted@S6 (manual)");
}

TEST(Classifier, ChangesWithoutAConflictDoNotWait) {
  EXPECT_EQ(outcome_of({.held = "created@A1 1=old@D4",
                        .sent = "deleted@S6 1=old@D4",
                        .known = "{A:1,D:4}",
                        .made_with = "{A:1,D:4,S:6}",
                        .resolution = Resolution::kDefer}),
            "deleted@S6 1=old@D4");
}

TEST(Classifier, PersonsDecisionForTheLesserVersionIsMinted) {
  const auto outcome = [](const std::string& held, Resolution resolution) {
    return outcome_of({.held = "created@A1 1=ours@" + held,
                       .sent = "created@A1 1=theirs@S5",
                       .known = "{A:1,D:9}",
                       .made_with = "{A:1,S:5}",
                       .resolution = resolution,
                       .whole = false});
  };
  EXPECT_EQ(outcome("D4", Resolution::kKeepLocal),
            "created@A1 1=ours@D100; 1: kept ours@D4, lost theirs@S5 (decided: keep local)");
  EXPECT_EQ(outcome("D6", Resolution::kKeepLocal), "unchanged; 1: kept ours@D6, lost theirs@S5 (decided: keep local)");
  EXPECT_EQ(outcome("D4", Resolution::kTakeRemote),
            "created@A1 1=theirs@S5; 1: kept theirs@S5, lost ours@D4 (decided: take remote)");
  EXPECT_EQ(outcome("D6", Resolution::kTakeRemote),
            "created@A1 1=theirs@D100; 1: kept theirs@S5, lost ours@D6 (decided: take remote)");
}

TEST(Classifier, PersonDecidesAboutADeletionToo) {
  const auto outcome = [](const std::string& held, const std::string& sent, Resolution resolution) {
    return outcome_of({.held = held,
                       .sent = sent,
                       .known = "{A:1,D:9}",
                       .made_with = "{A:1,S:9}",
                       .deletion = DeletionRule::kDeleteWins,
                       .resolution = resolution});
  };
  EXPECT_EQ(outcome("created@A1 1=new@D5", "deleted@S6 1=old@A1", Resolution::kKeepLocal),
            "restored@D100 1=new@D5; 0: kept created@A1, lost deleted@S6 (decided: keep local)");
  EXPECT_EQ(outcome("created@A1 1=new@D5", "deleted@S6 1=old@A1", Resolution::kTakeRemote),
            "deleted@S6 1=new@D5; 1: kept deleted@S6, lost new@D5 (decided: take remote)");
  // Also against a creation, which no rule would give up.
  EXPECT_EQ(outcome("created@D7 1=new@D7", "deleted@S6 1=a@A1", Resolution::kTakeRemote),
            "deleted@D100 1=new@D7; 1: kept deleted@S6, lost new@D7 (decided: take remote)");
}

// R8 with the rules of the schema: what is not the greater side's value is minted.

Case titles(ConflictRule rule, const std::string& held, const std::string& sent) {
  return {.held = "created@A1 1=" + held,
          .sent = "created@A1 1=" + sent,
          .known = "{A:1,D:9}",
          .made_with = "{A:1,S:9}",
          .whole = false,
          .title_rule = rule};
}

TEST(Classifier, RuleWhoseOutcomeIsTheGreaterSidesValueKeepsItsVersion) {
  EXPECT_EQ(outcome_of(titles(ConflictRule::kMax, "a@D4", "b@S5")), "created@A1 1=b@S5; 1: kept b@S5, lost a@D4 (max)");
  EXPECT_EQ(outcome_of(titles(ConflictRule::kMin, "a@D6", "b@S5")), "unchanged; 1: kept a@D6, lost b@S5 (min)");
  EXPECT_EQ(outcome_of(titles(ConflictRule::kSourceWins, "a@D4", "b@S5")),
            "created@A1 1=b@S5; 1: kept b@S5, lost a@D4 (source_wins)");
}

TEST(Classifier, AnyOtherOutcomeIsMintedAndMarkedAsMadeByARule) {
  EXPECT_EQ(outcome_of(titles(ConflictRule::kMax, "b@D4", "a@S5")), "created@A1 1=b@D100*; 1: kept b@D4, lost a@S5 (max)");
  EXPECT_EQ(outcome_of(titles(ConflictRule::kEarliest, "a@D6", "b@S5")),
            "created@A1 1=b@D100*; 1: kept b@S5, lost a@D6 (earliest)");
  EXPECT_EQ(outcome_of(titles(ConflictRule::kDestinationWins, "a@D4", "b@S5")),
            "created@A1 1=a@D100*; 1: kept a@D4, lost b@S5 (destination_wins)");
}

// R9
TEST(Classifier, BetweenTwoOutcomesOfARuleThatDoesNotEndByItselfTheLatestDecides) {
  EXPECT_EQ(outcome_of(titles(ConflictRule::kEarliest, "a@D6*", "b@S5*")), "unchanged; 1: kept a@D6, lost b@S5 (earliest)");
  EXPECT_EQ(outcome_of(titles(ConflictRule::kMin, "b@D6*", "a@S5*")),
            "created@A1 1=a@D100*; 1: kept a@S5, lost b@D6 (min)");
}

TEST(Classifier, PriorityIsThatOfEachSide) {
  const auto outcome = [](const std::string& held, const std::string& sent) {
    return outcome_of({.held = "created@A1 1=a@D4 2=" + held,
                       .sent = "created@A1 1=b@S5 2=" + sent,
                       .known = "{A:1,D:9}",
                       .made_with = "{A:1,S:9}",
                       .whole = false,
                       .title_rule = ConflictRule::kPriority});
  };
  EXPECT_EQ(outcome("high@D4", "gone@S5"),
            "created@A1 1=a@D100* 2=gone@S5; 1: kept a@D4, lost b@S5 (priority); 2: kept gone@S5, lost high@D4 (latest)");
  EXPECT_EQ(outcome("gone@D4", "high@S5"),
            "created@A1 1=b@S5 2=high@S5; 1: kept b@S5, lost a@D4 (priority); 2: kept high@S5, lost gone@D4 (latest)");
  EXPECT_EQ(outcome("same@A1", "same@A1"), "created@A1 1=b@S5 2=same@A1; 1: kept b@S5, lost a@D4 (priority)");
}

TEST(Classifier, TextsAreMergedFromTheYoungestBaseThatTheSourceKnew) {
  Case given = titles(ConflictRule::kTextMerge, "one.2.three@D4", "1.two.three@S5");
  given.bases = "zero@A0 one.two.three@A1 one.too.three@D3";
  EXPECT_EQ(outcome_of(given), "created@A1 1=1.2.three@D100*");
  given.bases = "zero@D2 one.too.three@D3";
  EXPECT_EQ(outcome_of(given), "created@A1 1=1.two.three@S5; 1: kept 1.two.three@S5, lost one.2.three@D4 (text_merge)");
}

TEST(Classifier, AppsOwnRuleSeesBothSidesInTheOrderOfTheirVersions) {
  Case given = titles(ConflictRule::kCustom, "a@D6", "b@S5");
  given.custom = [](const CustomConflict& conflict) {
    return Value::text(*conflict.lesser.value.if_text() + "+" + *conflict.greater.value.if_text());
  };
  EXPECT_EQ(outcome_of(given),
            "created@A1 1=b+a@D100*; 1: kept b+a@D6, lost b@S5 (custom); 1: kept b+a@S5, lost a@D6 (custom)");
}

TEST(Classifier, ItemWhoseConflictNobodyHereCanDecideIsLeftOut) {
  Case given = titles(ConflictRule::kCustom, "a@D6", "b@S5");
  EXPECT_EQ(outcome_of(given),
            "refused: unit 1 'title' is in conflict, and the app decides it by a rule of its own that was not given");
  given.custom = [](const CustomConflict&) { return Value::text("\xff"); };
  EXPECT_EQ(outcome_of(given),
            "refused: unit 1 'title' is in conflict, and the value that the app's rule has answered is no UTF-8 text");
  given.custom = [](const CustomConflict&) { return Value::integer(1); };
  EXPECT_EQ(
      outcome_of(given),
      "refused: unit 1 'title' is in conflict, and the value that the app's rule has answered is of another kind than the "
      "unit's");
}

TEST(Classifier, RuleOfTheSessionStandsBeforeThatOfTheSchema) {
  Case given = titles(ConflictRule::kMax, "b@D4", "a@S5");
  given.resolution = Resolution::kLatest;
  EXPECT_EQ(outcome_of(given), "created@A1 1=a@S5; 1: kept a@S5, lost b@D4 (latest)");
  given.resolution = Resolution::kDestinationWins;
  EXPECT_EQ(outcome_of(given), "created@A1 1=b@D100*; 1: kept b@D4, lost a@S5 (destination_wins)");
  given.resolution = Resolution::kDefer;
  EXPECT_EQ(outcome_of(given), "deferred; 1: kept b@D4, lost a@S5 (manual)");
}

TEST(Classifier, ReplayOfAnAppliedChangeChangesNothing) {
  Case given{.held = "created@A1 1=new@D5 2=b@A1",
             .sent = "deleted@S6 1=old@A1 2=b@A1",
             .known = "{A:1,D:5}",
             .made_with = "{A:1,S:6}"};
  given.held = text_of(classify(given).item);
  given.known = "{A:1,D:100,S:6}";
  EXPECT_EQ(outcome_of(given), "unchanged");
}

// R47: erased for good.

const Resolution kAllResolutions[] = {Resolution::kAsInSchema,      Resolution::kLatest, Resolution::kSourceWins,
                                      Resolution::kDestinationWins, Resolution::kDefer,  Resolution::kKeepLocal,
                                      Resolution::kTakeRemote};

TEST(Classifier, ErasureIsTakenWithAllUnitsUnderEveryRule) {
  for (const DeletionRule rule : kAllDeletionRules) {
    for (const Resolution resolution : kAllResolutions) {
      for (const char* held : {"created@A1 1=a@A1 2=b@D5", "restored@A1 4=a@D5", "deleted@A1 1=a@A1 2=b@D5"}) {
        EXPECT_EQ(outcome_of({.held = held,
                              .sent = "erased@S6",
                              .known = "{A:1,D:5}",
                              .made_with = "{A:1,S:6}",
                              .deletion = rule,
                              .resolution = resolution}),
                  "erased@S6");
      }
    }
  }
}

TEST(Classifier, ErasureBeatsACreationThatItHasNotSeen) {
  EXPECT_EQ(outcome_of({.held = "created@D5 1=a@D5", .sent = "erased@S6", .known = "{D:5}", .made_with = "{A:1,S:6}"}),
            "erased@S6");
  // R8: made anew where the other side's version is the greater one.
  EXPECT_EQ(outcome_of({.held = "created@D9 1=a@D9", .sent = "erased@S6", .known = "{D:9}", .made_with = "{A:1,S:6}"}),
            "erased@D100");
  EXPECT_EQ(outcome_of({.held = "deleted@D9 1=a@A1", .sent = "erased@S6", .known = "{A:1,D:9}", .made_with = "{A:1,S:6}"}),
            "erased@D100");
}

TEST(Classifier, NothingComesBackToWhatIsErased) {
  for (const DeletionRule rule : kAllDeletionRules) {
    for (const Resolution resolution : kAllResolutions) {
      for (const char* sent : {"created@S4 1=a@S9", "restored@S4 7=a@S9", "deleted@S4 4=a@S9"}) {
        EXPECT_EQ(outcome_of({.held = "erased@D5",
                              .sent = sent,
                              .known = "{D:5}",
                              .made_with = "{S:9}",
                              .deletion = rule,
                              .resolution = resolution}),
                  "unchanged");
      }
      EXPECT_EQ(outcome_of({.held = "erased@D5",
                            .sent = "created@S9 1=a@S9",
                            .known = "{D:5}",
                            .made_with = "{S:9}",
                            .deletion = rule,
                            .resolution = resolution}),
                "erased@D100");
    }
  }
  // Of a life that is known only the units are sent, and no more.
  EXPECT_EQ(outcome_of({.held = "erased@D5",
                        .sent = "created@A1 1=a@S9",
                        .known = "{A:1,D:5}",
                        .made_with = "{A:1,S:9}",
                        .whole = false}),
            "unchanged");
}

TEST(Classifier, OfTwoErasuresTheGreaterVersionStays) {
  EXPECT_EQ(outcome_of({.held = "erased@D5", .sent = "erased@S6", .known = "{D:5}", .made_with = "{S:6}"}), "erased@S6");
  EXPECT_EQ(outcome_of({.held = "erased@D7", .sent = "erased@S6", .known = "{D:7}", .made_with = "{S:6}"}), "unchanged");
  EXPECT_EQ(outcome_of({.held = "erased@D7", .sent = "erased@S9", .known = "{D:7}", .made_with = "{D:7,S:9}"}),
            "erased@S9");
}

TEST(Classifier, ErasureOfWhatIsNotHeldIsKept) {
  EXPECT_EQ(outcome_of({.held = "", .sent = "erased@S6", .made_with = "{A:1,S:6}"}), "erased@S6");
  EXPECT_EQ(outcome_of({.held = "", .sent = "erased@S6", .known = "{S:6}", .made_with = "{A:1,S:6}"}), "unchanged");
  // R14: a life that is forgotten here may have a greater version.
  EXPECT_EQ(outcome_of({.held = "", .sent = "erased@S6", .known = "{A:9}", .made_with = "{A:1,S:6}", .forgotten = "{A:9}"}),
            "erased@D100");
  EXPECT_EQ(outcome_of({.held = "", .sent = "erased@S6", .known = "{A:5}", .made_with = "{A:1,S:6}", .forgotten = "{A:5}"}),
            "erased@S6");
}

TEST(Classifier, ErasedAndAliveUnderOneVersionIsRefused) {
  EXPECT_EQ(
      classify({.held = "created@A1 1=a@A1", .sent = "erased@A1", .known = "{A:1}", .made_with = "{A:1}"}).refusal.code(),
      StatusCode::kCorruption);
}

}  // namespace
}  // namespace harmonica::kernel
