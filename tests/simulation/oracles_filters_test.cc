// Worked examples about replicas that hold only what matches a filter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulation/oracle_mesh.h"

namespace harmonica::simulation {
namespace {

constexpr const char* kFourOrMore = "u >= '4'";

TEST(Oracles, W32WhatLeavesTheFilterGoesWithoutATombstone) {
  OracleMesh mesh("ABC");
  mesh.set_filter('C', kFourOrMore);
  mesh.create('A', 1, "x", "5");
  for (const char* arrow : {"A->B", "A->C"}) mesh.sync(arrow);
  EXPECT_TRUE(mesh.shows('C', "x"));
  mesh.edit('A', 2, "x", "3");
  const SessionReport report = mesh.sync("A->C");
  EXPECT_EQ(report.moved_out, 1u);
  EXPECT_EQ(report.deleted, 0u);
  EXPECT_FALSE(mesh.shows('C', "x"));
  EXPECT_FALSE(mesh.holds('C', "x"));
  EXPECT_EQ(mesh.sync("C->B").received, 0u);
  EXPECT_EQ(mesh.value('B', "x"), "5");
}

TEST(Oracles, W33WhatMatchesAgainComesBackAsItIs) {
  OracleMesh mesh("AC");
  mesh.set_filter('C', kFourOrMore);
  mesh.create('A', 1, "x", "5");
  mesh.sync("A->C");
  mesh.edit('A', 2, "x", "3");
  mesh.sync("A->C");
  mesh.edit('A', 3, "x", "5");
  const SessionReport report = mesh.sync("A->C");
  EXPECT_EQ(report.created, 1u);
  EXPECT_EQ(report.conflicts, 0u);
  EXPECT_EQ(mesh.value('C', "x"), "5");
  EXPECT_EQ(mesh.version('C', "x"), mesh.made('A', 3));
  EXPECT_EQ(mesh.version('C', "x", 'x'), mesh.made('A', 1));
}

// R33: the version because of which C let go of it is lost with a restore.
TEST(Oracles, W33WhatLeftBecauseOfALostVersionComesBack) {
  OracleMesh mesh("AC");
  mesh.set_filter('C', kFourOrMore);
  mesh.create('A', 1, "x", "5");
  mesh.sync("A->C");
  mesh.back_up('A');
  mesh.edit('A', 2, "x", "3");
  mesh.sync("A->C");
  EXPECT_FALSE(mesh.holds('C', "x"));
  mesh.bring_back('A', 3);
  EXPECT_EQ(mesh.value('A', "x"), "5");
  mesh.sync("A->C");
  EXPECT_EQ(mesh.value('C', "x"), "5");
}

// ... and so does what never came because of one.
TEST(Oracles, W33WhatDidNotMatchInALostVersionComes) {
  OracleMesh mesh("AC");
  mesh.set_filter('C', kFourOrMore);
  mesh.create('A', 1, "x", "5");
  mesh.back_up('A');
  mesh.edit('A', 2, "x", "3");
  mesh.sync("A->C");
  EXPECT_FALSE(mesh.holds('C', "x"));
  mesh.bring_back('A', 3);
  mesh.sync("A->C");
  EXPECT_EQ(mesh.value('C', "x"), "5");
}

TEST(Oracles, W34OwnEditThatLeavesTheFilterStaysUntilItIsTaken) {
  OracleMesh mesh("AC");
  mesh.set_filter('C', kFourOrMore);
  mesh.create('A', 1, "x", "5");
  mesh.sync("A->C");
  mesh.edit('C', 2, "x", "2");
  EXPECT_EQ(mesh.sync("A->C").moved_out, 0u);
  EXPECT_EQ(mesh.value('C', "x"), "2");
  mesh.sync("C->A");
  EXPECT_EQ(mesh.value('A', "x"), "2");
  EXPECT_EQ(mesh.sync("A->C").moved_out, 1u);
  EXPECT_FALSE(mesh.holds('C', "x"));
  EXPECT_EQ(mesh.value('A', "x"), "2");
}

// A thousand items of which two match; B holds half of them, with a filter of its own.
TEST(Oracles, W35SourceWithAnotherFilterTeachesOfWhatItSends) {
  OracleMesh mesh("ABC");
  for (int number = 0; number < 300; ++number) {
    mesh.create('A', number + 1, "i" + std::to_string(number), number % 150 == 7 ? "5" : "1");
  }
  mesh.set_filter('B', "v = 'v'");
  mesh.sync("A->B");
  mesh.set_filter('C', kFourOrMore);
  EXPECT_EQ(mesh.sync("B->C").received, 2u);
  EXPECT_EQ(mesh.knowledge('C').steps().size(), 5u);
  EXPECT_EQ(mesh.sync("B->C").received, 0u);
  EXPECT_EQ(mesh.sync("A->C").received, 0u);
  EXPECT_EQ(mesh.knowledge('C').steps().size(), 1u);
  EXPECT_TRUE(mesh.shows('C', "i7"));
  EXPECT_TRUE(mesh.shows('C', "i157"));
}

TEST(Oracles, W36NarrowerRelayDoesNotHideWhatItDoesNotCarry) {
  OracleMesh mesh("ABC");
  mesh.set_filter('B', "u >= '6'");
  mesh.set_filter('C', kFourOrMore);
  mesh.create('A', 1, "x", "7");
  mesh.create('A', 2, "y", "5");
  mesh.sync("A->B");
  EXPECT_EQ(mesh.sync("B->C").received, 1u);
  EXPECT_TRUE(mesh.shows('C', "x"));
  EXPECT_FALSE(mesh.knows('C', "y", mesh.made('A', 2)));
  EXPECT_EQ(mesh.sync("A->C").received, 1u);
  EXPECT_TRUE(mesh.shows('C', "y"));
}

TEST(Oracles, W36bWideningBringsWhatIsNewlyVisibleAndNothingElse) {
  OracleMesh mesh("AC");
  for (int number = 0; number < 200; ++number) {
    mesh.create('A', number + 1, "i" + std::to_string(number), std::to_string(number % 10));
  }
  mesh.remove('A', 300, "i3");
  mesh.set_filter('C', "u >= '4'");
  EXPECT_EQ(mesh.sync("A->C").received, 120u);
  EXPECT_TRUE(mesh.knows('C', "i2", mesh.made('A', 3)));
  mesh.set_filter('C', "u >= '2'");
  EXPECT_FALSE(mesh.knows('C', "i2", mesh.made('A', 3)));
  EXPECT_TRUE(mesh.knows('C', "i4", mesh.made('A', 5)));
  const SessionReport widened = mesh.sync("A->C");
  EXPECT_EQ(widened.received, 39u);
  EXPECT_EQ(widened.created, 39u);
  EXPECT_TRUE(mesh.shows('C', "i2"));
  EXPECT_FALSE(mesh.holds('C', "i3"));
  EXPECT_EQ(mesh.sync("A->C").received, 0u);
  // And narrower again: nothing is sent, what does not match goes.
  mesh.set_filter('C', "u >= '8'");
  const SessionReport narrowed = mesh.sync("A->C");
  EXPECT_EQ(narrowed.received, 0u);
  EXPECT_EQ(narrowed.moved_out, 119u);
  mesh.set_filter('C', "");
  EXPECT_EQ(mesh.sync("A->C").created, 159u);
  EXPECT_TRUE(mesh.shows('C', "i0"));
}

TEST(Oracles, W59BatchForAnotherFilterIsRefused) {
  OracleMesh mesh("AC");
  mesh.set_filter('C', kFourOrMore);
  mesh.create('A', 1, "x", "2");
  const ChangeRequest before = mesh.begin('C');
  const ChangeBatch batch = mesh.batches('A', before).front();
  EXPECT_TRUE(batch.changes.empty());
  mesh.set_filter('C', "u >= '1'");
  EXPECT_EQ(mesh.apply('C', batch).status().code(), StatusCode::kInvalidArgument);
  ChangeBatch forged = batch;
  forged.request_number = mesh.begin('C').number;
  EXPECT_EQ(mesh.apply('C', forged).status().code(), StatusCode::kInvalidArgument);
  mesh.end('C');
  mesh.sync("A->C");
  EXPECT_TRUE(mesh.shows('C', "x"));
}

TEST(Oracles, WhatMovesOutIsInOrderAndNotSentToo) {
  OracleMesh mesh("AC");
  mesh.set_filter('C', kFourOrMore);
  for (const char* name : {"x", "y", "z"}) mesh.create('A', 1, name, "5");
  mesh.sync("A->C");
  for (const char* name : {"x", "y"}) mesh.edit('A', 2, name, "1");
  mesh.edit('A', 3, "z", "6");
  const ChangeBatch honest = mesh.batches('A', mesh.begin('C')).front();
  ASSERT_EQ(honest.moved_out.size(), 2u);
  ASSERT_EQ(honest.changes.size(), 1u);
  ChangeBatch backwards = honest;
  std::swap(backwards.moved_out[0], backwards.moved_out[1]);
  EXPECT_EQ(mesh.apply('C', backwards).status().code(), StatusCode::kInvalidArgument);
  ChangeBatch sent_too = honest;
  sent_too.moved_out = {honest.changes.front().item};
  EXPECT_EQ(mesh.apply('C', sent_too).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(mesh.apply('C', honest).ok());
  mesh.end('C');
  EXPECT_FALSE(mesh.holds('C', "x"));
  EXPECT_EQ(mesh.value('C', "z"), "6");
}

TEST(Oracles, W68AnotherLifeOutsideTheFilterMovesOut) {
  OracleMesh mesh("AC");
  mesh.set_filter('C', kFourOrMore);
  mesh.create('A', 1, "x", "5");
  mesh.sync("A->C");
  mesh.remove('A', 2, "x");
  mesh.create('A', 3, "x", "1");
  EXPECT_EQ(mesh.sync("A->C").moved_out, 1u);
  EXPECT_FALSE(mesh.holds('C', "x"));
}

TEST(Oracles, W69NothingGoesOnTheWordOfAnotherFilteredReplica) {
  OracleMesh mesh("ACD");
  mesh.set_filter('C', kFourOrMore);
  mesh.set_filter('D', kFourOrMore);
  mesh.create('A', 1, "x", "5");
  for (const char* arrow : {"A->C", "A->D"}) mesh.sync(arrow);
  mesh.edit('C', 2, "x", "8");
  mesh.edit('D', 6, "x", "1");
  mesh.sync("C->D");
  EXPECT_EQ(mesh.value('D', "x"), "1");
  EXPECT_EQ(mesh.sync("D->C").moved_out, 0u);
  EXPECT_EQ(mesh.value('C', "x"), "8");
  EXPECT_FALSE(mesh.knows('C', "x", mesh.made('D', 6)));
  mesh.sync("D->A");
  EXPECT_EQ(mesh.sync("A->C").moved_out, 1u);
  EXPECT_FALSE(mesh.holds('C', "x"));
  EXPECT_EQ(mesh.value('A', "x"), "1");
}

TEST(Oracles, W70TwoHalfClaimsDoNotHideWhatTheyMakeTogether) {
  OracleMesh mesh("ABCS");
  mesh.set_filter('C', "u >= '1' and v >= '1'");
  mesh.create('A', 1, "x", "0", "0");
  mesh.sync("A->B");
  mesh.edit('B', 2, "x", "1", 'v');
  mesh.edit('A', 5, "x", "1", 'u');
  for (const char* arrow : {"A->C", "B->C"}) mesh.sync(arrow);
  EXPECT_FALSE(mesh.holds('C', "x"));
  for (const char* arrow : {"A->S", "B->S", "S->C"}) mesh.sync(arrow);
  EXPECT_EQ(mesh.value('C', "x", 'u'), "1");
  EXPECT_EQ(mesh.value('C', "x", 'v'), "1");
}

TEST(Oracles, W71StaleCopyDoesNotMoveBackIn) {
  OracleMesh mesh("ABC");
  mesh.set_filter('C', kFourOrMore);
  mesh.create('A', 1, "x", "5");
  for (const char* arrow : {"A->B", "A->C"}) mesh.sync(arrow);
  mesh.edit('A', 2, "x", "7");
  mesh.sync("A->C");
  mesh.edit('A', 3, "x", "1");
  mesh.sync("A->C");
  // B has what C let go of in an older version: known as long as C remembers, and then bounded by what it held.
  EXPECT_EQ(mesh.sync("B->C").received, 0u);
  mesh.set_filter('C', "u >= '3'");
  EXPECT_EQ(mesh.sync("B->C").created, 0u);
  EXPECT_FALSE(mesh.holds('C', "x"));
  mesh.sync("A->B");
  EXPECT_EQ(mesh.sync("B->C").received, 0u);
  EXPECT_FALSE(mesh.holds('C', "x"));
  mesh.edit('A', 9, "x", "8");
  mesh.sync("A->C");
  EXPECT_EQ(mesh.value('C', "x"), "8");
}

// B says nothing of x, which does not match: between the request and that answer C has come to hold an x of its own.
TEST(Oracles, W72WhatCameInSinceTheRequestIsNotLearned) {
  OracleMesh mesh("BC");
  mesh.set_filter('C', kFourOrMore);
  mesh.create('B', 3, "x", "1");
  const ChangeRequest request = mesh.begin('C');
  const ChangeBatch batch = mesh.batches('B', request).front();
  EXPECT_TRUE(batch.changes.empty());
  EXPECT_TRUE(batch.moved_out.empty());
  mesh.create('C', 8, "x", "6");
  EXPECT_TRUE(mesh.apply('C', batch).ok());
  mesh.end('C');
  EXPECT_FALSE(mesh.knows('C', "x", mesh.made('B', 3)));
  mesh.sync("C->B");
  EXPECT_EQ(mesh.conflicts('B'), 1u);
  EXPECT_EQ(mesh.lost_value('B', "x"), "1");
}

TEST(Oracles, W73OwnTicksAreNotTaughtForWhatIsNotHeld) {
  OracleMesh mesh("ABC");
  mesh.set_filter('C', kFourOrMore);
  mesh.create('C', 1, "x", "5");
  mesh.edit('C', 2, "x", "2");
  mesh.sync("C->A");
  mesh.sync("A->C");
  EXPECT_FALSE(mesh.holds('C', "x"));
  mesh.create('C', 3, "y", "6");
  mesh.sync("C->B");
  EXPECT_FALSE(mesh.knows('B', "x", mesh.made('C', 1)));
  mesh.sync("A->B");
  EXPECT_EQ(mesh.value('B', "x"), "2");
}

TEST(Oracles, W74CreatingOverTheUnseenIsAConflict) {
  OracleMesh mesh("AC");
  mesh.set_filter('C', kFourOrMore);
  mesh.create('A', 5, "x", "1");
  mesh.sync("A->C");
  EXPECT_TRUE(mesh.knows('C', "x", mesh.made('A', 5)));
  mesh.create('C', 8, "x", "6");
  EXPECT_FALSE(mesh.knows('C', "x", mesh.made('A', 5)));
  mesh.sync("C->A");
  EXPECT_EQ(mesh.conflicts('A'), 1u);
  EXPECT_EQ(mesh.lost_value('A', "x"), "1");
  EXPECT_EQ(mesh.value('A', "x"), "6");
}

TEST(Oracles, W74OfWhatMovedOutAnotherIsMadeUnderAnotherId) {
  OracleMesh mesh("AC");
  mesh.set_filter('C', kFourOrMore);
  mesh.create('A', 1, "x", "5");
  mesh.sync("A->C");
  const ItemId first = mesh.id("x");
  mesh.edit('A', 2, "x", "1");
  mesh.sync("A->C");
  mesh.create('C', 3, "x", "7");
  mesh.sync("C->A");
  EXPECT_EQ(mesh.conflicts('A'), 0u);
  EXPECT_EQ(mesh.store('A').children("").size(), 2u);
  EXPECT_TRUE(mesh.knows('A', "x", mesh.made('C', 3)));
  EXPECT_FALSE(first.is_zero());
}

TEST(Oracles, W75DeletionIsRememberedUntilSomeoneWhoHoldsEverythingHasIt) {
  OracleMesh mesh("ABC");
  mesh.set_filter('C', kFourOrMore);
  mesh.create('A', 1, "x", "5");
  for (const char* arrow : {"A->B", "A->C"}) mesh.sync(arrow);
  mesh.remove('C', 2, "x");
  mesh.set_retention('C', 10, 0);
  mesh.sync("A->C");
  EXPECT_TRUE(mesh.holds('C', "x"));
  mesh.sync("C->A");
  EXPECT_FALSE(mesh.shows('A', "x"));
  mesh.sync("A->C");
  EXPECT_FALSE(mesh.holds('C', "x"));
  EXPECT_TRUE(mesh.forgotten('C', "x").contains(mesh.made('C', 2)));
  mesh.sync("B->C");
  EXPECT_FALSE(mesh.holds('C', "x"));
}

TEST(Oracles, W76WideningBringsBackWhatTheReplicaHasWrittenItself) {
  OracleMesh mesh("AC");
  mesh.set_filter('C', kFourOrMore);
  mesh.create('C', 1, "x", "2");
  mesh.create('C', 2, "y", "6");
  mesh.sync("C->A");
  mesh.sync("A->C");
  EXPECT_FALSE(mesh.holds('C', "x"));
  mesh.set_filter('C', "u >= '2'");
  mesh.edit('C', 3, "y", "7");
  mesh.sync("A->C");
  EXPECT_EQ(mesh.value('C', "x"), "2");
  EXPECT_EQ(mesh.value('C', "y"), "7");
}

TEST(Oracles, OneThatDropsItsFilterDoesNotClaimWhatItHasHandedOver) {
  OracleMesh mesh("AC");
  mesh.set_filter('C', kFourOrMore);
  mesh.create('C', 1, "x", "2");
  mesh.sync("C->A");
  mesh.sync("A->C");
  EXPECT_FALSE(mesh.holds('C', "x"));
  mesh.set_filter('C', "");
  mesh.create('C', 2, "y", "6");
  mesh.sync("A->C");
  EXPECT_EQ(mesh.value('C', "x"), "2");
  mesh.settle();
  EXPECT_TRUE(mesh.equal("AC"));
}

TEST(Oracles, SameFilterExchangeTeachesOfAllThatBothHold) {
  OracleMesh mesh("ACD");
  for (const char replica : {'C', 'D'}) mesh.set_filter(replica, kFourOrMore);
  for (int number = 0; number < 40; ++number) {
    mesh.create('A', number + 1, "i" + std::to_string(number), std::to_string(number % 10));
  }
  mesh.sync("A->C");
  EXPECT_EQ(mesh.sync("C->D").received, 24u);
  EXPECT_EQ(mesh.knowledge('D'), mesh.knowledge('C'));
  EXPECT_EQ(mesh.sync("A->D").received, 0u);
}

// C has let x go. D, with the same filter, has not heard of it, and learns nothing of x from C's silence.
TEST(Oracles, SameFilterSourceThatLetAnItemGoDoesNotHideThatItLeft) {
  for (const bool is_remote : {false, true}) {
    OracleMesh mesh("ACD");
    for (const char replica : {'C', 'D'}) mesh.set_filter(replica, kFourOrMore);
    mesh.create('A', 1, "x", "5");
    mesh.create('A', 2, "y", "6");
    for (const char* arrow : {"A->C", "A->D"}) mesh.sync(arrow);
    mesh.edit('A', 3, "x", "1");
    mesh.edit('A', 4, "y", "7");
    mesh.sync("A->C");
    const SessionReport report = is_remote ? mesh.sync_remotely("C->D") : mesh.sync("C->D");
    EXPECT_EQ(report.updated, 1u);
    EXPECT_TRUE(mesh.shows('D', "x"));
    EXPECT_FALSE(mesh.knows('D', "x", mesh.made('A', 3)));
    EXPECT_EQ((is_remote ? mesh.sync_remotely("A->D") : mesh.sync("A->D")).moved_out, 1u);
    EXPECT_FALSE(mesh.holds('D', "x"));
  }
}

TEST(Oracles, DeletionsOfWhatWasNeverWantedAreNotSent) {
  OracleMesh mesh("AC");
  mesh.create('A', 1, "x", "5");
  mesh.create('A', 2, "y", "1");
  for (const char* name : {"x", "y"}) mesh.remove('A', 3, name);
  mesh.set_filter('C', kFourOrMore);
  EXPECT_EQ(mesh.sync("A->C").received, 0u);
  mesh.create('A', 5, "z", "5");
  mesh.create('A', 6, "w", "1");
  mesh.sync("A->C");
  for (const char* name : {"z", "w"}) mesh.remove('A', 7, name);
  EXPECT_EQ(mesh.sync("A->C").received, 1u);
  EXPECT_TRUE(mesh.holds('C', "z"));
  EXPECT_FALSE(mesh.holds('C', "w"));
}

TEST(Oracles, PeerWhoseFilterMeansNothingHereIsToldSo) {
  OracleMesh mesh("AC");
  mesh.create('A', 1, "x", "5");
  ChangeRequest request = mesh.begin('C');
  mesh.end('C');
  request.filter = *Filter::parse("stars >= 4", {});
  const Result<ReplicaDescription> begun = mesh.provider('A').begin_source(request);
  ASSERT_FALSE(begun.ok());
  EXPECT_EQ(begun.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(begun.status().message(), testing::HasSubstr("no item has a field 'stars'"));
}

}  // namespace
}  // namespace harmonica::simulation
