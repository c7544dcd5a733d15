// Worked examples about items that are erased for good.
#include <gtest/gtest.h>

#include "simulation/oracle_mesh.h"

namespace harmonica::simulation {
namespace {

void expect_erased_everywhere(OracleMesh& mesh, std::string_view replicas, const std::string& name) {
  mesh.settle();
  for (const char replica : replicas) {
    EXPECT_TRUE(mesh.erased(replica, name)) << name << " at " << replica;
    EXPECT_FALSE(mesh.shows(replica, name)) << name << " at " << replica;
    EXPECT_EQ(mesh.conflicts(replica), 0u) << replica;
  }
  EXPECT_TRUE(mesh.equal(replicas));
}

TEST(Oracles, W101ErasureReachesAllThreeOfARing) {
  for (const DeletionRule rule : {DeletionRule::kEditWins, DeletionRule::kDeleteWins, DeletionRule::kLatest}) {
    OracleMesh mesh("ABC", rule);
    mesh.create('A', 1, "x", "first");
    mesh.settle();
    EXPECT_EQ(mesh.erase('B', 2, "x"), 1u);
    EXPECT_TRUE(mesh.erased('B', "x"));
    EXPECT_EQ(mesh.version('B', "x", 'x'), mesh.made('B', 2));
    for (const char* arrow : {"B->C", "C->A", "A->B"}) mesh.sync(arrow);
    expect_erased_everywhere(mesh, "ABC", "x");
    EXPECT_EQ(mesh.version('A', "x", 'x'), mesh.made('B', 2));
  }
}

TEST(Oracles, W102ErasureBeatsAnEditThatItHasNotSeen) {
  for (const DeletionRule rule : {DeletionRule::kEditWins, DeletionRule::kDeleteWins, DeletionRule::kLatest}) {
    for (const bool edit_goes_first : {true, false}) {
      for (const std::int64_t edited_at : {3, 9}) {
        OracleMesh mesh("AB", rule);
        mesh.create('A', 1, "x", "first");
        mesh.sync("A->B");
        mesh.erase('A', 5, "x");
        mesh.edit('B', edited_at, "x", "secret");
        mesh.sync(edit_goes_first ? "B->A" : "A->B");
        expect_erased_everywhere(mesh, "AB", "x");
      }
    }
  }
}

// The creation has the greater version, so that whoever meets it makes the erasure anew.
TEST(Oracles, W103ErasureBeatsAConcurrentCreation) {
  for (const bool creation_goes_first : {true, false}) {
    OracleMesh mesh("ABC");
    mesh.create('A', 1, "x", "first");
    mesh.create('B', 8, "x", "another");
    mesh.sync("B->C");
    mesh.erase('A', 5, "x");
    mesh.sync(creation_goes_first ? "B->A" : "A->B");
    expect_erased_everywhere(mesh, "ABC", "x");
    EXPECT_GT(mesh.version('C', "x", 'x'), mesh.made('B', 8));
  }
}

TEST(Oracles, W104ErasureMeetsADeletionOnEitherSide) {
  for (const std::int64_t deleted_at : {3, 9}) {
    for (const char* arrow : {"A->B", "B->A"}) {
      OracleMesh mesh("AB");
      mesh.create('A', 1, "x", "first");
      mesh.sync("A->B");
      mesh.erase('A', 5, "x");
      mesh.remove('B', deleted_at, "x");
      mesh.sync(arrow);
      expect_erased_everywhere(mesh, "AB", "x");
    }
  }
}

TEST(Oracles, W105TombstoneCanBeErasedToo) {
  OracleMesh mesh("AB");
  mesh.create('A', 1, "x", "first");
  mesh.remove('A', 2, "x");
  mesh.sync("A->B");
  EXPECT_EQ(mesh.erase('B', 3, "x"), 1u);
  expect_erased_everywhere(mesh, "AB", "x");
}

TEST(Oracles, W106TwoErasuresAgreeOnTheGreaterVersion) {
  OracleMesh mesh("ABC");
  mesh.create('A', 1, "x", "first");
  mesh.settle();
  mesh.erase('A', 5, "x");
  mesh.erase('B', 6, "x");
  expect_erased_everywhere(mesh, "ABC", "x");
  EXPECT_EQ(mesh.version('C', "x", 'x'), mesh.made('B', 6));
}

// B's edit has brought it back behind A's deletion; the erasure of C, which knows neither, ends both.
TEST(Oracles, W107ErasureBeatsWhatARuleHasRestored) {
  OracleMesh mesh("ABC");
  mesh.create('A', 1, "x", "first");
  mesh.settle();
  mesh.remove('A', 2, "x");
  mesh.edit('B', 3, "x", "secret");
  mesh.erase('C', 4, "x");
  mesh.sync("A->B");
  EXPECT_TRUE(mesh.alive('B', "x"));
  EXPECT_EQ(mesh.conflicts('B'), 1u);
  mesh.sync("B->C");
  EXPECT_TRUE(mesh.erased('C', "x"));
  expect_erased_everywhere(mesh, "ABC", "x");
}

TEST(Oracles, W108OldDeviceBringsNothingBackAfterTheRetention) {
  for (const bool edit_goes_first : {true, false}) {
    OracleMesh mesh("ABC");
    mesh.create('A', 1, "x", "first");
    mesh.create('A', 1, "y", "other");
    mesh.settle();
    mesh.erase('A', 5, "x");
    mesh.remove('A', 6, "y");
    mesh.sync("A->B");
    for (const char replica : {'A', 'B'}) mesh.clean(replica, 10);
    EXPECT_FALSE(mesh.holds('A', "y"));
    EXPECT_TRUE(mesh.erased('A', "x"));
    mesh.edit('C', 20, "x", "secret");
    mesh.sync(edit_goes_first ? "C->B" : "B->C");
    expect_erased_everywhere(mesh, "ABC", "x");
  }
}

// Who has forgotten the deletion of an item learns that it was erased, under a version that is the greatest for it.
TEST(Oracles, W109ErasureMeetsAForgottenDeletion) {
  for (const char* arrow : {"C->A", "A->C"}) {
    OracleMesh mesh("ABC");
    mesh.create('A', 1, "x", "first");
    mesh.settle();
    mesh.erase('C', 2, "x");
    mesh.remove('A', 6, "x");
    mesh.sync("A->B");
    for (const char replica : {'A', 'B'}) mesh.clean(replica, 10);
    EXPECT_FALSE(mesh.holds('A', "x"));
    mesh.sync(arrow);
    expect_erased_everywhere(mesh, "ABC", "x");
    EXPECT_GT(mesh.version('A', "x", 'x'), mesh.made('A', 6));
  }
}

TEST(Oracles, W110RecordsOfWhatIsErasedGoEverywhere) {
  OracleMesh mesh("ABC");
  mesh.create('A', 1, "x", "first");
  mesh.create('A', 1, "y", "first");
  mesh.settle();
  for (const char* name : {"x", "y"}) {
    mesh.edit('A', 2, name, "of a");
    mesh.edit('B', 3, name, "of b");
    mesh.edit('C', 4, name, "of c");
  }
  mesh.sync("A->B");
  mesh.sync("A->C");
  EXPECT_EQ(mesh.conflicts('B'), 2u);
  EXPECT_EQ(mesh.conflicts('C'), 2u);
  mesh.erase('B', 5, "x");
  EXPECT_EQ(mesh.conflicts('B'), 1u);
  mesh.settle();
  for (const char replica : {'A', 'B', 'C'}) {
    EXPECT_TRUE(mesh.erased(replica, "x")) << replica;
    EXPECT_EQ(mesh.lost_value(replica, "x"), "") << replica;
    EXPECT_EQ(mesh.conflicts(replica), 3u) << replica;  // those of y, whoever met them
  }
  EXPECT_TRUE(mesh.equal("ABC"));
}

TEST(Oracles, W110bRecordThatComesAfterAnErasureGoesToo) {
  OracleMesh mesh("ABC");
  mesh.create('A', 1, "x", "first");
  mesh.settle();
  mesh.edit('A', 2, "x", "of a");
  mesh.edit('B', 3, "x", "of b");
  mesh.sync("A->B");
  EXPECT_EQ(mesh.conflicts('B'), 1u);
  mesh.erase('C', 4, "x");
  mesh.sync("B->C");
  EXPECT_EQ(mesh.conflicts('C'), 0u);
  mesh.settle();
  for (const char replica : {'A', 'B', 'C'}) EXPECT_EQ(mesh.conflicts(replica), 0u) << replica;
  EXPECT_TRUE(mesh.equal("ABC"));
}

TEST(Oracles, W110cErasureThatComesAfterTheTombstoneIsCleanedTakesRecordsToo) {
  OracleMesh mesh("ABC");
  mesh.create('A', 1, "x", "first");
  mesh.settle();
  mesh.edit('A', 2, "x", "of a");
  mesh.edit('C', 3, "x", "of c");
  mesh.sync("A->C");
  mesh.remove('C', 4, "x");
  mesh.clean('C', 5);
  EXPECT_FALSE(mesh.holds('C', "x"));
  EXPECT_EQ(mesh.conflicts('C'), 1u);
  mesh.erase('B', 6, "x");
  mesh.sync("B->C");
  EXPECT_TRUE(mesh.erased('C', "x"));
  EXPECT_EQ(mesh.conflicts('C'), 0u);
  mesh.settle();
  for (const char replica : {'A', 'B', 'C'}) EXPECT_EQ(mesh.conflicts(replica), 0u) << replica;
  EXPECT_TRUE(mesh.equal("ABC"));
}

TEST(Oracles, W111ConflictThatWaitsGoesWithWhatIsErased) {
  for (const bool at_home : {true, false}) {
    OracleMesh mesh("AB", ConflictRule::kManual);
    mesh.create('A', 1, "x", "first");
    mesh.sync("A->B");
    mesh.edit('A', 2, "x", "of a");
    mesh.edit('B', 3, "x", "of b");
    mesh.sync("A->B");
    EXPECT_EQ(mesh.conflicts('B'), 1u);
    mesh.erase(at_home ? 'B' : 'A', 4, "x");
    expect_erased_everywhere(mesh, "AB", "x");
  }
}

TEST(Oracles, W112FormerTextsGoWithWhatIsErased) {
  OracleMesh mesh("AB", ConflictRule::kTextMerge);
  mesh.create('A', 1, "x", "one two");
  mesh.sync("A->B");
  mesh.edit('B', 2, "x", "one two three");
  mesh.erase('A', 3, "x");
  expect_erased_everywhere(mesh, "AB", "x");
}

TEST(Oracles, W113WhatIsShownBelowIsErasedToo) {
  OracleMesh mesh("AB");
  for (const char* name : {"folder", "file", "below", "apart"}) mesh.create_file('A', 1, name, name);
  for (const char* name : {"folder", "file", "below", "apart"}) mesh.id(name);
  mesh.move_file('A', 2, "file", "folder");
  mesh.move_file('A', 2, "below", "file");
  mesh.sync("A->B");
  EXPECT_EQ(mesh.erase('B', 3, "folder"), 3u);
  mesh.settle();
  for (const char* name : {"folder", "file", "below"}) {
    EXPECT_TRUE(mesh.erased('A', name)) << name;
    EXPECT_TRUE(mesh.erased('B', name)) << name;
  }
  EXPECT_TRUE(mesh.shows('A', "apart"));
  EXPECT_TRUE(mesh.equal("AB"));
}

// What was put into the folder elsewhere was never seen by who erased it.
TEST(Oracles, W114WhatCameIntoAnErasedFolderMeanwhileStays) {
  OracleMesh mesh("AB");
  mesh.create_file('A', 1, "folder", "folder");
  mesh.sync("A->B");
  mesh.create_file('B', 2, "file", "file");
  mesh.move_file('B', 2, "file", "folder");
  mesh.erase('A', 3, "folder");
  mesh.settle();
  EXPECT_TRUE(mesh.erased('B', "folder"));
  EXPECT_EQ(mesh.parent_of('A', "file"), "");
  EXPECT_TRUE(mesh.shows('A', "file"));
  EXPECT_TRUE(mesh.equal("AB"));
}

TEST(Oracles, W115SameThingMadeAnewGetsAnotherId) {
  OracleMesh mesh("AB");
  mesh.create('A', 1, "x", "first");
  mesh.sync("A->B");
  const ItemId before = mesh.id("x");
  mesh.erase('A', 2, "x");
  mesh.create('A', 3, "x", "again");
  mesh.edit('B', 4, "x", "secret");
  mesh.settle();
  EXPECT_NE(mesh.id("x"), before);
  for (const char replica : {'A', 'B'}) {
    EXPECT_EQ(mesh.value(replica, "x"), "again") << replica;
    EXPECT_EQ(mesh.conflicts(replica), 0u) << replica;
  }
  EXPECT_TRUE(mesh.equal("AB"));
}

TEST(Oracles, W116FilteredReplicaErasesWhatItHolds) {
  OracleMesh mesh("ABC");
  mesh.set_filter('C', "u = 'wanted'");
  mesh.create('A', 1, "x", "wanted");
  mesh.create('A', 1, "y", "other");
  mesh.settle();
  EXPECT_TRUE(mesh.shows('C', "x"));
  EXPECT_FALSE(mesh.holds('C', "y"));
  mesh.erase('A', 2, "x");
  mesh.erase('A', 2, "y");
  mesh.edit('C', 3, "x", "secret");
  mesh.sync("A->C");
  EXPECT_TRUE(mesh.erased('C', "x"));
  EXPECT_TRUE(mesh.erased('C', "y"));
  mesh.settle();
  for (const char replica : {'A', 'B', 'C'}) {
    EXPECT_TRUE(mesh.erased(replica, "x")) << replica;
    EXPECT_TRUE(mesh.erased(replica, "y")) << replica;
  }
}

// Nor does what went from the filter come in again, whatever version it went in.
TEST(Oracles, W117GhostMeetsAnErasure) {
  OracleMesh mesh("ABC");
  mesh.set_filter('C', "u = 'wanted'");
  mesh.create('A', 1, "x", "wanted");
  mesh.settle();
  mesh.erase('B', 2, "x");
  mesh.edit('A', 3, "x", "other");
  mesh.sync("A->C");
  EXPECT_FALSE(mesh.holds('C', "x"));
  mesh.sync("B->C");
  EXPECT_TRUE(mesh.erased('C', "x"));
  mesh.settle();
  for (const char replica : {'A', 'B', 'C'}) EXPECT_TRUE(mesh.erased(replica, "x")) << replica;
  mesh.set_filter('C', "");
  mesh.settle();
  EXPECT_TRUE(mesh.equal("ABC"));
}

TEST(Oracles, W118RestoredBackupBringsNothingBack) {
  OracleMesh mesh("AB");
  mesh.create('A', 1, "x", "first");
  mesh.sync("A->B");
  mesh.back_up('B');
  mesh.erase('A', 2, "x");
  mesh.sync("A->B");
  EXPECT_TRUE(mesh.erased('B', "x"));
  mesh.bring_back('B', 3);
  EXPECT_TRUE(mesh.shows('B', "x"));
  mesh.edit('B', 4, "x", "secret");
  mesh.sync("B->A");
  expect_erased_everywhere(mesh, "AB", "x");
}

TEST(Oracles, W119ErasedItemThatCannotBeTakenOutOfTheStoreGoesLater) {
  OracleMesh mesh("AB");
  mesh.create('A', 1, "x", "first");
  mesh.sync("A->B");
  mesh.fail_writes_of('A', "x");
  mesh.erase('A', 2, "x");
  EXPECT_TRUE(mesh.shows('A', "x"));
  mesh.edit('A', 3, "x", "secret");
  mesh.sync("A->B");
  EXPECT_TRUE(mesh.erased('B', "x"));
  mesh.heal('A');
  expect_erased_everywhere(mesh, "AB", "x");
}

TEST(Oracles, W120UserWhoRemovesWhatIsErasedMakesNoDeletionOfIt) {
  OracleMesh mesh("AB");
  mesh.create('A', 1, "x", "first");
  mesh.sync("A->B");
  mesh.fail_writes_of('A', "x");
  mesh.erase('A', 2, "x");
  const Version erased = mesh.version('A', "x", 'x');
  mesh.remove('A', 3, "x");
  EXPECT_EQ(mesh.version('A', "x", 'x'), erased);
  mesh.heal('A');
  expect_erased_everywhere(mesh, "AB", "x");
}

TEST(Oracles, W121ErasureSurvivesAPowerCutWhereverItComes) {
  for (const char moment : {'s', 'c', 'd'}) {
    OracleMesh mesh("AB");
    mesh.create('A', 1, "x", "first");
    mesh.sync("A->B");
    mesh.erase('A', 2, "x");
    mesh.cut_power_at('B', moment);
    mesh.sync("A->B");
    mesh.reboot('B');
    expect_erased_everywhere(mesh, "AB", "x");
  }
}

TEST(Oracles, W122RestoringWhatLostIsNotPossibleOnceItIsErased) {
  OracleMesh mesh("AB");
  mesh.create('A', 1, "x", "first");
  mesh.sync("A->B");
  mesh.edit('A', 2, "x", "of a");
  mesh.edit('B', 3, "x", "of b");
  mesh.sync("A->B");
  EXPECT_EQ(mesh.lost_value('B', "x"), "of a");
  mesh.erase('A', 4, "x");
  mesh.sync_remotely("A->B");
  EXPECT_EQ(mesh.conflicts('B'), 0u);
  expect_erased_everywhere(mesh, "AB", "x");
}

// A file has come under the id of a thing that is erased (docs/adr/0010): the thing is not to live on under its second id.
TEST(Oracles, W123ErasedItemThatLosesItsIdToAnotherTypeStaysErased) {
  for (const bool file_goes_first : {true, false}) {
    OracleMesh mesh("ABC");
    ItemId id;
    id.bytes.fill(7);
    mesh.create_recognised('A', 1, "x", id);
    mesh.sync("A->C");
    EXPECT_EQ(mesh.id("x"), id);
    mesh.erase('A', 2, "x");
    mesh.create_file_recognised('B', 3, "file", id);
    mesh.edit('C', 4, "x", "secret");
    mesh.sync("B->A");
    mesh.sync(file_goes_first ? "B->C" : "A->C");
    mesh.settle();
    for (const char replica : {'A', 'B', 'C'}) {
      EXPECT_FALSE(mesh.shows(replica, "x")) << replica;
      EXPECT_TRUE(mesh.shows(replica, "file")) << replica;
      EXPECT_EQ(mesh.conflicts(replica), 0u) << replica;
    }
    EXPECT_TRUE(mesh.equal("ABC"));
  }
}

}  // namespace
}  // namespace harmonica::simulation
