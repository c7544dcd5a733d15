// Worked examples about who a replica is: backups that come back, copies, wiped devices, clocks that were wrong.
#include <gtest/gtest.h>

#include "simulation/oracle_mesh.h"

namespace harmonica::simulation {
namespace {

constexpr std::int64_t kHourMs = 60 * 60 * 1000;

TEST(Oracles, W23RestoredReplicaLosesNothingAndGetsItsLaterEditsBack) {
  OracleMesh mesh("AB");
  for (const char* name : {"i1", "i2", "i3", "i4", "i5"}) mesh.create('A', 1, name, "first");
  mesh.sync("A->B");
  mesh.back_up('A');
  mesh.edit('A', 6, "i1", "edited before");
  mesh.edit('A', 7, "i2", "edited before");
  mesh.sync("A->B");
  const ReplicaId former = mesh.replica_id('A');
  mesh.bring_back('A', 6);
  EXPECT_NE(mesh.replica_id('A'), former);
  EXPECT_EQ(mesh.former_ids('A'), std::vector<ReplicaId>{former});

  for (const char* name : {"i3", "i4", "i5"}) mesh.edit('A', 6, name, "edited after");
  EXPECT_EQ(mesh.sync("A->B").updated, 3u);
  EXPECT_EQ(mesh.sync("B->A").updated, 2u);
  for (const char replica : {'A', 'B'}) {
    for (const char* name : {"i1", "i2"}) EXPECT_EQ(mesh.value(replica, name), "edited before");
    for (const char* name : {"i3", "i4", "i5"}) EXPECT_EQ(mesh.value(replica, name), "edited after");
  }
  EXPECT_TRUE(mesh.equal("AB"));
}

TEST(Oracles, W24OfTwoCopiesTheSecondTakesANewIdAndNoEditIsLost) {
  OracleMesh mesh("ABC");
  mesh.create('A', 1, "i1", "first");
  mesh.create('A', 1, "i2", "first");
  mesh.sync("A->B");
  mesh.copy_device('A', 'C');
  ASSERT_EQ(mesh.replica_id('A'), mesh.replica_id('C'));
  mesh.edit('A', 6, "i1", "of A");
  mesh.edit('C', 6, "i2", "of its copy");
  mesh.sync("A->B");
  mesh.sync("B->A");
  EXPECT_TRUE(mesh.former_ids('A').empty());
  mesh.sync("B->C");
  EXPECT_NE(mesh.replica_id('A'), mesh.replica_id('C'));
  mesh.sync("C->B");
  mesh.sync("B->A");
  for (const char replica : {'A', 'B', 'C'}) {
    EXPECT_EQ(mesh.value(replica, "i1"), "of A") << replica;
    EXPECT_EQ(mesh.value(replica, "i2"), "of its copy") << replica;
    EXPECT_EQ(mesh.conflicts(replica), 0u) << replica;
  }
  mesh.settle();
  EXPECT_TRUE(mesh.equal("ABC"));
}

// The copy only ever gives.
TEST(Oracles, W24ACopyIsFoundOutAlsoWhereItIsOnlyASource) {
  OracleMesh mesh("ABC");
  mesh.create('A', 1, "i1", "first");
  mesh.create('A', 1, "i2", "first");
  mesh.sync("A->B");
  mesh.copy_device('A', 'C');
  mesh.edit('A', 6, "i1", "of A");
  mesh.edit('C', 6, "i2", "of its copy");
  mesh.sync("A->B");
  mesh.sync("C->B");
  EXPECT_NE(mesh.replica_id('A'), mesh.replica_id('C'));
  EXPECT_EQ(mesh.value('B', "i1"), "of A");
  EXPECT_EQ(mesh.value('B', "i2"), "of its copy");
}

TEST(Oracles, W24TwoCopiesThatMeetPart) {
  OracleMesh mesh("ABC");
  mesh.create('A', 1, "i1", "first");
  mesh.create('A', 1, "i2", "first");
  mesh.sync("A->B");
  mesh.copy_device('A', 'C');
  mesh.edit('A', 6, "i1", "of A");
  mesh.edit('C', 6, "i2", "of its copy");
  mesh.edit('C', 7, "i1", "of its copy");
  mesh.sync("A->C");
  EXPECT_NE(mesh.replica_id('A'), mesh.replica_id('C'));
  mesh.settle();
  EXPECT_TRUE(mesh.equal("ABC"));
  EXPECT_EQ(mesh.value('B', "i2"), "of its copy");
  // Both edited i1: one of the two is shown, the other one is in a record.
  const bool shows_a = mesh.value('B', "i1") == "of A";
  EXPECT_EQ(mesh.value('B', "i1"), shows_a ? "of A" : "of its copy");
  std::string lost;
  for (const char replica : {'A', 'B', 'C'}) lost += mesh.lost_value(replica, "i1");
  EXPECT_NE(lost.find(shows_a ? "of its copy" : "of A"), std::string::npos) << lost;
}

// Copies that write nothing are one replica as far as anybody can see, and harm nobody.
TEST(Oracles, W24CopiesThatHaveNotWrittenStayAsTheyAre) {
  OracleMesh mesh("ABC");
  mesh.create('A', 1, "i1", "first");
  mesh.sync("A->B");
  mesh.sync("B->A");
  mesh.copy_device('A', 'C');
  mesh.edit('B', 6, "i1", "of B");
  mesh.sync("B->A");
  mesh.sync("B->C");
  mesh.sync("B->A");
  EXPECT_EQ(mesh.replica_id('A'), mesh.replica_id('C'));
  EXPECT_TRUE(mesh.equal("ABC"));
}

// Neither has met anybody when the copy is made: then both are new to all others.
TEST(Oracles, W24CopiesThatHaveToldNobodyPartWhenTheyMeetOthers) {
  OracleMesh mesh("ABC");
  mesh.create('A', 1, "x", "first");
  mesh.copy_device('A', 'C');
  mesh.edit('A', 6, "x", "of A");
  mesh.create('C', 7, "y", "of its copy");
  mesh.sync("A->B");
  mesh.sync("B->A");
  mesh.sync("B->C");
  EXPECT_NE(mesh.replica_id('A'), mesh.replica_id('C'));
  mesh.settle();
  EXPECT_TRUE(mesh.equal("ABC"));
  EXPECT_EQ(mesh.value('C', "x"), "of A");
  EXPECT_EQ(mesh.value('A', "y"), "of its copy");
}

TEST(Oracles, W24bWipedReplicaIsANewOne) {
  OracleMesh mesh("AB");
  mesh.create('A', 1, "x", "first");
  mesh.create('A', 1, "y", "first");
  mesh.sync("A->B");
  mesh.edit('A', 5, "x", "newer at A");
  mesh.forget_metadata('A', 6);
  mesh.edit('A', 7, "y", "newest at A");
  mesh.sync("B->A");
  mesh.sync("A->B");
  for (const char replica : {'A', 'B'}) {
    const bool shows_newer = mesh.value(replica, "x") == "newer at A";
    std::string lost;
    for (const char other : {'A', 'B'}) lost += mesh.lost_value(other, "x");
    EXPECT_TRUE(shows_newer || lost.find("newer at A") != std::string::npos) << replica;
    EXPECT_EQ(mesh.value(replica, "y"), "newest at A") << replica;
  }
  EXPECT_TRUE(mesh.equal("AB"));
}

// Each message has a table of replicas of its own; the same replica stands at different places in them.
TEST(Oracles, W44VersionsKeepTheirReplicasWhateverTheOrderOfTheTables) {
  OracleMesh mesh("ABCD");
  mesh.create('B', 1, "of B", "u");
  mesh.create('A', 2, "of A", "u");
  mesh.create('D', 3, "of D", "u");
  mesh.sync_remotely("D->B");
  mesh.sync_remotely("B->C");
  mesh.sync_remotely("A->C");
  mesh.sync_remotely("C->A");
  EXPECT_EQ(mesh.version('A', "of B"), mesh.made('B', 1));
  EXPECT_EQ(mesh.version('A', "of D"), mesh.made('D', 3));
  EXPECT_TRUE(mesh.knows('A', "of B", mesh.made('B', 1)));
  EXPECT_FALSE(mesh.knows('A', "of B", mesh.made('B', 2)));
  EXPECT_TRUE(mesh.equal("AC"));
}

TEST(Oracles, W46ChangesFromAFarFutureAreRefusedAndNearOnesRaiseTheClock) {
  OracleMesh mesh("ABC");
  mesh.create('A', 2 * kHourMs, "x", "from the future");
  mesh.create('C', kHourMs / 2, "y", "from a clock that is a little fast");
  mesh.set_clock('B', 100);
  {
    SyncSession session(mesh.provider('A'), mesh.provider('B'), {});
    const Status refused = session.run();
    EXPECT_EQ(refused.code(), StatusCode::kClockSkew);
    EXPECT_NE(refused.message().find("7199 s ahead"), std::string::npos) << refused.message();
  }
  EXPECT_FALSE(mesh.shows('B', "x"));
  mesh.create('B', 100, "own", "u");
  EXPECT_EQ(mesh.version('B', "own"), mesh.made('B', 100));
  mesh.sync("C->B");
  mesh.create('B', 100, "later", "u");
  EXPECT_EQ(mesh.version('B', "later"), mesh.made('B', kHourMs / 2, 1));
}

// Others hear of it, nothing changes for them; the device that comes back all the same takes another id, and its work
// arrives.
TEST(Oracles, W45RetiredReplicaThatComesBackIsANewOneAndLosesNothing) {
  OracleMesh mesh("ABD");
  mesh.create('D', 40, "x", "of D");
  mesh.sync("D->A");
  mesh.sync("A->B");
  const ReplicaId former = mesh.replica_id('D');
  mesh.retire('A', 50, 'D');
  mesh.sync("A->B");
  mesh.edit('D', 41, "x", "after it was retired");
  mesh.sync("B->D");
  EXPECT_NE(mesh.replica_id('D'), former);
  EXPECT_EQ(mesh.former_ids('D'), std::vector<ReplicaId>{former});
  mesh.sync("D->B");
  mesh.sync("B->A");
  for (const char replica : {'A', 'B', 'D'}) {
    EXPECT_EQ(mesh.value(replica, "x"), "after it was retired") << replica;
    EXPECT_EQ(mesh.version(replica, "x").replica, mesh.replica_id('D')) << replica;
    EXPECT_EQ(mesh.conflicts(replica), 0u) << replica;
    EXPECT_FALSE(mesh.knows(replica, "x", {former, mesh.made('A', 41).tick})) << replica;
  }
  mesh.settle();
  EXPECT_TRUE(mesh.equal("ABD"));
}

// The id before, which only the table of replicas still names, is in the list and can be retired too.
TEST(Oracles, W45WhoIsListedCanBeRetired) {
  OracleMesh mesh("ABD");
  mesh.create('A', 1, "y", "of A");
  mesh.sync("A->B");
  mesh.sync("A->D");
  const ReplicaId former = mesh.replica_id('D');
  mesh.back_up('D');
  mesh.create('D', 2, "x", "lost");
  mesh.detect('D');
  mesh.bring_back('D', 3);
  ASSERT_NE(mesh.replica_id('D'), former);
  mesh.sync("D->B");
  mesh.retire('B', 5, former);
}

// R32: the clock is right again, and the peer says the same.
TEST(Oracles, W46OwnChangesFromTheFutureAreMadeAnewOnceTheClockIsRight) {
  OracleMesh mesh("AB");
  mesh.create('A', 1, "old", "u");
  mesh.sync("A->B");
  mesh.create('A', 24 * kHourMs, "x", "from the future");
  mesh.edit('A', 24 * kHourMs, "old", "edited in the future");
  mesh.set_clock('A', 50);
  mesh.set_clock('B', 60);
  const ReplicaId former = mesh.replica_id('A');
  mesh.sync("A->B");
  EXPECT_NE(mesh.replica_id('A'), former);
  EXPECT_EQ(mesh.value('B', "x"), "from the future");
  EXPECT_EQ(mesh.value('B', "old"), "edited in the future");
  EXPECT_EQ(mesh.version('B', "old", 'v').replica, former);
  EXPECT_LE(milliseconds_of(mesh.knowledge('B').greatest_tick()), milliseconds_of(mesh.made('A', 60).tick));
  mesh.edit('B', 70, "old", "later");
  mesh.sync("B->A");
  EXPECT_EQ(mesh.value('A', "old"), "later");
  EXPECT_TRUE(mesh.equal("AB"));
}

// A clock that is merely behind, as of a board that starts in 1970, costs no id.
TEST(Oracles, W46AClockThatIsBehindIsFollowedByTheLogicalOne) {
  OracleMesh mesh("AB");
  mesh.create('A', 5 * kHourMs, "x", "u");
  mesh.set_clock('B', 5 * kHourMs);
  mesh.sync("A->B");
  const ReplicaId id = mesh.replica_id('A');
  mesh.edit('A', 1, "x", "later");
  mesh.sync("A->B");
  EXPECT_EQ(mesh.value('B', "x"), "later");
  EXPECT_EQ(mesh.replica_id('A'), id);
}

TEST(Oracles, W77RestoreFollowedByAnEditIsFoundAtOpening) {
  OracleMesh mesh("AB");
  mesh.create('A', 5, "x", "first");
  mesh.create('A', 5, "y", "first");
  mesh.sync("A->B");
  mesh.back_up('A');
  mesh.edit('A', 6, "x", "sixth");
  mesh.edit('A', 7, "y", "seventh");
  mesh.sync("A->B");
  const ReplicaId former = mesh.replica_id('A');
  mesh.bring_back('A', 90);
  mesh.edit('A', 90, "x", "ninetieth");
  EXPECT_NE(mesh.replica_id('A'), former);
  mesh.sync("A->B");
  mesh.sync("B->A");
  EXPECT_EQ(mesh.value('B', "x"), "ninetieth");
  EXPECT_EQ(mesh.lost_value('B', "x"), "sixth");
  EXPECT_EQ(mesh.value('A', "y"), "seventh");
  EXPECT_TRUE(mesh.equal("AB"));
}

// The same with what is kept outside of backups gone back too, as in a snapshot of a whole machine.
TEST(Oracles, W77RollbackOfAWholeMachineIsFoundByItsPeer) {
  OracleMesh mesh("AB");
  mesh.create('A', 5, "x", "first");
  mesh.create('A', 5, "y", "first");
  mesh.sync("A->B");
  mesh.sync("B->A");
  mesh.back_up('A');
  mesh.edit('A', 6, "x", "sixth");
  mesh.edit('A', 7, "y", "seventh");
  mesh.sync("A->B");
  const ReplicaId former = mesh.replica_id('A');
  mesh.bring_back('A', 90, OracleMesh::Outside::kGoesBackToo);
  EXPECT_EQ(mesh.replica_id('A'), former);
  mesh.edit('A', 90, "x", "ninetieth");
  mesh.sync("A->B");
  EXPECT_NE(mesh.replica_id('A'), former);
  mesh.sync("B->A");
  EXPECT_EQ(mesh.value('B', "x"), "ninetieth");
  EXPECT_EQ(mesh.lost_value('B', "x"), "sixth");
  EXPECT_EQ(mesh.value('A', "y"), "seventh");
  EXPECT_TRUE(mesh.equal("AB"));
}

// ... and by one that it had never met, which knows of it by hearsay. Nobody can tell then what was written after the
// snapshot, so all is made anew: what it had written later is kept in records.
TEST(Oracles, W77RollbackIsFoundByAStranger) {
  OracleMesh mesh("ABC");
  mesh.create('A', 5, "x", "first");
  mesh.create('A', 5, "y", "first");
  mesh.sync("A->B");
  mesh.back_up('A');
  mesh.edit('A', 6, "x", "sixth");
  mesh.edit('A', 7, "y", "seventh");
  mesh.sync("A->B");
  mesh.sync("B->C");
  const ReplicaId former = mesh.replica_id('A');
  mesh.bring_back('A', 6, OracleMesh::Outside::kGoesBackToo);
  mesh.sync("C->A");
  EXPECT_NE(mesh.replica_id('A'), former);
  for (const auto& [name, later] : {std::pair("x", "sixth"), std::pair("y", "seventh")}) {
    EXPECT_TRUE(mesh.value('A', name) == later || mesh.lost_value('A', name) == later) << name;
  }
  mesh.settle();
  EXPECT_TRUE(mesh.equal("ABC"));
}

TEST(Oracles, W78WhatACopyWroteUnderOneVersionBecomesAConflict) {
  OracleMesh mesh("ABC");
  mesh.create('A', 1, "x", "first");
  mesh.sync("A->B");
  mesh.sync("B->A");
  mesh.copy_device('A', 'C');
  mesh.edit('A', 6, "x", "p");
  mesh.edit('C', 6, "x", "q");
  ASSERT_EQ(mesh.version('A', "x"), mesh.version('C', "x"));
  mesh.sync("A->B");
  mesh.sync("C->B");
  const std::string shown = mesh.value('B', "x");
  EXPECT_TRUE(shown == "p" || shown == "q") << shown;
  EXPECT_EQ(mesh.lost_value('B', "x"), shown == "p" ? "q" : "p");
  EXPECT_EQ(mesh.version('C', "x").replica, mesh.replica_id('C'));
  mesh.settle();
  EXPECT_TRUE(mesh.equal("ABC"));
}

}  // namespace
}  // namespace harmonica::simulation
