// Worked examples about the order of versions, deletion, and what is shown.
#include <gtest/gtest.h>

#include "simulation/oracle_mesh.h"

namespace harmonica::simulation {
namespace {

TEST(Oracles, W20ClockThatWasSetBackDivergesNothing) {
  OracleMesh mesh("ABCPQ");
  mesh.create('A', 1, "x", "base");
  for (const char* arrow : {"A->B", "A->C"}) mesh.sync(arrow);
  mesh.edit('A', 10, "x", "a");
  mesh.edit('B', 5, "x", "b");
  mesh.sync("A->C");
  mesh.edit('C', 1, "x", "c");
  // C's clock stands before what it has seen; its version comes after all the same.
  EXPECT_GT(mesh.version('C', "x"), mesh.version('A', "x"));
  for (const char* arrow : {"A->P", "B->P", "C->P"}) mesh.sync(arrow);
  for (const char* arrow : {"C->Q", "B->Q"}) mesh.sync(arrow);
  EXPECT_EQ(mesh.value('P', "x"), "c");
  EXPECT_EQ(mesh.value('Q', "x"), "c");
}

TEST(Oracles, W21UpdateBeatsDeleteConvergesThroughMinting) {
  OracleMesh mesh("ABCPQ");
  mesh.create('A', 1, "x", "base");
  for (const char* arrow : {"A->B", "A->C"}) mesh.sync(arrow);
  mesh.edit('B', 3, "x", "b");
  mesh.edit('A', 4, "x", "a");
  mesh.sync("A->C");
  mesh.remove('C', 5, "x");
  for (const char* arrow : {"A->P", "B->P", "C->P", "C->Q", "B->Q"}) mesh.sync(arrow);
  EXPECT_EQ(mesh.sync("B->Q").received, 0u);
  mesh.settle();
  for (const char replica : {'A', 'B', 'C', 'P', 'Q'}) {
    EXPECT_TRUE(mesh.alive(replica, "x")) << replica;
    EXPECT_TRUE(mesh.shows(replica, "x")) << replica;
  }
  EXPECT_TRUE(mesh.equal("ABCPQ"));
}

// The tombstone keeps its units, so both find the same greatest one.
TEST(Oracles, W56DeletedAndCreatedAgainMeetsAnEditOfTheFirstLife) {
  OracleMesh mesh("ABC", DeletionRule::kDeleteWins);
  mesh.create('C', 1, "x", "first life");
  mesh.sync("C->B");
  mesh.remove('C', 2, "x");
  mesh.sync("C->A");
  mesh.create('C', 3, "x", "second life");
  mesh.edit('B', 4, "x", "edited first life");
  for (const char* arrow : {"B->A", "C->A", "B->C"}) mesh.sync(arrow);
  for (const char replica : {'A', 'C'}) {
    EXPECT_TRUE(mesh.alive(replica, "x")) << replica;
    EXPECT_EQ(mesh.version(replica, "x"), mesh.made('B', 4)) << replica;
    EXPECT_EQ(mesh.value(replica, "x"), "edited first life") << replica;
  }
  EXPECT_EQ(mesh.version('A', "x", 'x'), mesh.version('C', "x", 'x'));
}

TEST(Oracles, W62RestoredIsWeakerThanADeletionThatSawTheEdit) {
  OracleMesh mesh("AB");
  mesh.create('A', 1, "x", "first");
  mesh.sync("A->B");
  mesh.remove('B', 2, "x");
  mesh.edit('A', 3, "x", "edited");
  EXPECT_EQ(mesh.sync("A->B").minted, 1u);
  EXPECT_TRUE(mesh.alive('B', "x"));
  mesh.remove('A', 4, "x");
  mesh.sync("A->B");
  mesh.sync("B->A");
  for (const char replica : {'A', 'B'}) EXPECT_FALSE(mesh.alive(replica, "x")) << replica;
  mesh.settle();
  for (const char replica : {'A', 'B'}) EXPECT_FALSE(mesh.shows(replica, "x")) << replica;
  EXPECT_TRUE(mesh.equal("AB"));
}

TEST(Oracles, W63CreationThatOneDeletionHadNotSeenStaysAndConverges) {
  OracleMesh mesh("ABC");
  mesh.create('B', 2, "x", "of B");
  mesh.sync("B->C");
  mesh.create('A', 3, "x", "of A");
  mesh.sync("A->B");
  mesh.remove('B', 4, "x");
  mesh.remove('A', 6, "x");
  mesh.sync("A->C");
  EXPECT_TRUE(mesh.alive('C', "x"));
  mesh.sync("A->B");
  EXPECT_EQ(mesh.version('B', "x", 'x'), mesh.made('A', 6));
  const SessionReport report = mesh.sync("C->B");
  EXPECT_EQ(report.minted, 0u);
  EXPECT_TRUE(mesh.alive('B', "x"));
  mesh.settle();
  for (const char replica : {'A', 'B', 'C'}) EXPECT_TRUE(mesh.shows(replica, "x")) << replica;
  EXPECT_TRUE(mesh.equal("ABC"));
}

// Two files of one name: the one with the greater id shows a suffix until the other is gone.
TEST(Oracles, W80SiblingOutsideTheBatchIsShownAnewInTheSameStep) {
  for (const char moment : {' ', 'p', 'c'}) {
    OracleMesh mesh("AB");
    mesh.create_file('A', 1, "f1", "n");
    mesh.create_file('B', 2, "f2", "n");
    mesh.settle();
    const std::string suffixed = mesh.id("f1") < mesh.id("f2") ? "f2" : "f1";
    const std::string plain = suffixed == "f2" ? "f1" : "f2";
    for (const char replica : {'A', 'B'}) {
      EXPECT_EQ(mesh.value(replica, plain, 'n'), "n");
      EXPECT_NE(mesh.value(replica, suffixed, 'n'), "n");
    }

    mesh.remove('A', 5, plain);
    if (moment == 'p') mesh.cut_power_at('B', 's');
    if (moment == 'c') mesh.cut_power_at('B', 'c');
    mesh.sync("A->B");
    if (moment != ' ') {
      mesh.reboot('B');
      const DetectionReport detected = mesh.detect('B');
      EXPECT_EQ(detected.created + detected.updated + detected.deleted, 0u) << moment;
      mesh.sync("A->B");
    }
    EXPECT_EQ(mesh.file_names('B'), std::vector<std::string>{"n"}) << moment;
    const DetectionReport detected = mesh.detect('B');
    EXPECT_EQ(detected.created + detected.updated + detected.deleted, 0u) << moment;
    EXPECT_EQ(mesh.sync("B->A").received, 0u) << moment;
    EXPECT_TRUE(mesh.equal("AB")) << moment;
  }
}

// Two types under one id (docs/adr/0010)

const ItemId kContested = shaped_item_id(Bytes(16, 7));

TEST(Oracles, OfTwoTypesUnderOneIdTheGreaterKeepsItWhoeverLearnsFirst) {
  for (const std::string_view first : {"A->B", "B->A", "C->A", "B->C"}) {
    OracleMesh mesh("ABC");
    mesh.create_file_recognised('A', 5, "file", kContested);
    mesh.create_recognised('B', 6, "thing", kContested);
    mesh.create_recognised('C', 7, "thing", kContested);
    mesh.sync(first);
    mesh.settle();
    EXPECT_TRUE(mesh.equal("ABC")) << first;
    EXPECT_EQ(mesh.id("file"), kContested) << first;
    for (const char replica : {'A', 'B', 'C'}) {
      EXPECT_TRUE(mesh.shows(replica, "file")) << first << " " << replica;
      EXPECT_TRUE(mesh.shows(replica, "thing")) << first << " " << replica;
      EXPECT_EQ(mesh.store(replica).size(), 2U) << first << " " << replica;
    }
  }
}

TEST(Oracles, ItemThatLostItsIdIsEditedAndDeletedLikeAnyOther) {
  OracleMesh mesh("AB");
  mesh.create_file_recognised('A', 5, "file", kContested);
  mesh.create_recognised('B', 6, "thing", kContested);
  mesh.settle();
  mesh.edit('B', 8, "thing", "edited");
  mesh.settle();
  EXPECT_EQ(mesh.value('A', "thing"), "edited");
  mesh.remove('A', 9, "thing");
  mesh.settle();
  EXPECT_FALSE(mesh.shows('B', "thing"));
  EXPECT_TRUE(mesh.shows('B', "file"));
  EXPECT_TRUE(mesh.equal("AB"));
}

TEST(Oracles, DeletedItemOfTheGreaterTypeKeepsItsId) {
  OracleMesh mesh("AB");
  mesh.create_file_recognised('A', 5, "file", kContested);
  mesh.remove('A', 6, "file");
  mesh.create_recognised('B', 7, "thing", kContested);
  mesh.settle();
  EXPECT_TRUE(mesh.equal("AB"));
  EXPECT_TRUE(mesh.shows('A', "thing"));
  EXPECT_TRUE(mesh.shows('B', "thing"));
  EXPECT_NE(mesh.id("thing"), kContested);
}

TEST(Oracles, W48DeferredConflictIsSentAgainUntilItIsDecided) {
  OracleMesh mesh("AB", ConflictRule::kManual);
  mesh.create('A', 1, "x", "first");
  mesh.create('A', 1, "y", "first");
  mesh.sync("A->B");
  mesh.edit('A', 5, "x", "of A");
  mesh.edit('B', 6, "x", "of B");
  for (int session = 0; session < 3; ++session) {
    const SessionReport report = mesh.sync("A->B");
    EXPECT_EQ(report.received, 1u);
    EXPECT_EQ(report.deferred, 1u);
    EXPECT_FALSE(mesh.knows('B', "x", mesh.made('A', 5)));
    EXPECT_EQ(mesh.conflicts('B'), 1u);
    EXPECT_EQ(mesh.value('B', "x"), "of B");
  }
  mesh.decide('B', 7, "x", Decision::kTakeRemote);
  EXPECT_EQ(mesh.value('B', "x"), "of A");
  EXPECT_TRUE(mesh.knows('B', "x", mesh.made('A', 5)));
  EXPECT_EQ(mesh.sync("A->B").received, 0u);
  mesh.settle();
  EXPECT_TRUE(mesh.equal("AB"));
}

}  // namespace
}  // namespace harmonica::simulation
