// Worked examples about deletions that are forgotten, and replicas that never heard of them.
#include <gtest/gtest.h>

#include "simulation/oracle_mesh.h"

namespace harmonica::simulation {
namespace {

// Whether the batches that `source` has for `destination` need a recovery.
bool recovers(OracleMesh& mesh, char source, char destination) {
  const ChangeRequest request = mesh.begin(destination);
  bool any = false;
  for (const ChangeBatch& batch : mesh.batches(source, request)) any = any || is_recovery_needed(request, batch);
  mesh.end(destination);
  return any;
}

// A deletes what C never hears of.
void forget_behind_the_back_of_c(OracleMesh& mesh) {
  mesh.create('A', 1, "x", "first");
  for (const char* arrow : {"A->B", "A->C"}) mesh.sync(arrow);
  mesh.remove('A', 2, "x");
  mesh.sync("A->B");
  mesh.clean('A', 10);
  mesh.clean('B', 10);
}

TEST(Oracles, W25StalePeerLosesWhatWasDeletedLongAgo) {
  OracleMesh mesh("ABC");
  forget_behind_the_back_of_c(mesh);
  EXPECT_FALSE(mesh.holds('A', "x"));
  EXPECT_EQ(mesh.sync("C->A").received, 0u);
  EXPECT_FALSE(mesh.holds('A', "x"));
  EXPECT_TRUE(mesh.shows('C', "x"));
  EXPECT_EQ(mesh.sync("A->C").deleted, 1u);
  EXPECT_FALSE(mesh.holds('C', "x"));
  EXPECT_FALSE(mesh.shows('C', "x"));
  EXPECT_TRUE(mesh.knows('C', "x", mesh.made('A', 2)));
  EXPECT_TRUE(mesh.forgotten('C', "x").contains(mesh.made('A', 2)));
  mesh.settle();
  EXPECT_TRUE(mesh.equal("ABC"));
}

TEST(Oracles, W25ThroughAChannelToo) {
  OracleMesh mesh("ABC");
  forget_behind_the_back_of_c(mesh);
  EXPECT_EQ(mesh.sync_remotely("A->C").deleted, 1u);
  EXPECT_FALSE(mesh.holds('C', "x"));
  mesh.sync_remotely("A->B");
  mesh.sync_remotely("C->A");
  EXPECT_TRUE(mesh.equal("ABC"));
}

TEST(Oracles, W26EditOfAForgottenLifeMeetsItsDeletion) {
  for (const DeletionRule rule : {DeletionRule::kEditWins, DeletionRule::kDeleteWins}) {
    const bool lives = rule == DeletionRule::kEditWins;
    for (const bool edit_goes_first : {true, false}) {
      OracleMesh mesh("ABC", rule);
      forget_behind_the_back_of_c(mesh);
      mesh.edit('C', 3, "x", "edited");
      mesh.sync(edit_goes_first ? "C->A" : "A->C");
      mesh.settle();
      for (const char replica : {'A', 'B', 'C'}) EXPECT_EQ(mesh.shows(replica, "x"), lives) << replica;
      EXPECT_TRUE(mesh.equal("ABC"));
      if (lives) {
        EXPECT_EQ(mesh.value('B', "x"), "edited");
      } else {
        for (const char replica : {'A', 'B', 'C'}) EXPECT_EQ(mesh.conflicts(replica), 1u) << replica;
      }
    }
  }
}

TEST(Oracles, W27WhoHasHeardOfTheDeletionNeedsNoRecovery) {
  OracleMesh mesh("AC");
  mesh.create('A', 1, "x", "first");
  mesh.sync("A->C");
  mesh.remove('A', 2, "x");
  mesh.sync("A->C");
  mesh.clean('A', 10);
  mesh.create('A', 11, "y", "later");
  EXPECT_FALSE(recovers(mesh, 'A', 'C'));
  mesh.sync("A->C");
  EXPECT_TRUE(mesh.shows('C', "y"));
}

TEST(Oracles, W28RecoveryThatWasNotNeededChangesNothing) {
  OracleMesh mesh("AB");
  mesh.create('A', 1, "x", "first");
  mesh.create('A', 2, "y", "second");
  mesh.sync("A->B");
  mesh.remove('A', 3, "y");
  mesh.clean('A', 10);
  EXPECT_TRUE(recovers(mesh, 'A', 'B'));
  const SessionReport report = mesh.sync("A->B");
  EXPECT_EQ(report.deleted, 1u);
  EXPECT_EQ(report.minted, 0u);
  EXPECT_EQ(mesh.version('B', "x"), mesh.made('A', 1));
  EXPECT_TRUE(mesh.equal("AB"));
}

TEST(Oracles, W29NewReplicaSkipsRecovery) {
  OracleMesh mesh("ABD");
  mesh.create('A', 1, "x", "first");
  mesh.create('A', 2, "y", "second");
  mesh.sync("A->B");
  mesh.remove('A', 3, "x");
  mesh.clean('A', 10);
  EXPECT_FALSE(recovers(mesh, 'A', 'D'));
  EXPECT_EQ(mesh.sync("A->D").created, 1u);
  // Nor does one that holds something of its own and has met nobody.
  mesh.create('D', 11, "own", "of D");
  EXPECT_TRUE(mesh.shows('D', "y"));
  EXPECT_TRUE(mesh.forgotten('D', "x").contains(mesh.made('A', 3)));
}

TEST(Oracles, W30OfARangeOnlyWhatTheSourceHadKnownGoes) {
  OracleMesh mesh("AD");
  for (const char* name : {"i1", "i2", "i4"}) mesh.create('A', 1, name, name);
  mesh.sync("A->D");
  mesh.remove('A', 5, "i2");
  mesh.clean('A', 10);
  mesh.create('D', 11, "i3", "of D");
  mesh.sync("A->D");
  EXPECT_FALSE(mesh.holds('D', "i2"));
  for (const char* name : {"i1", "i3", "i4"}) EXPECT_TRUE(mesh.shows('D', name)) << name;
  mesh.sync("D->A");
  EXPECT_TRUE(mesh.shows('A', "i3"));
  EXPECT_TRUE(mesh.equal("AD"));
}

TEST(Oracles, W31InterruptedRecoveryLearnsNothingAndBeginsAgain) {
  OracleMesh mesh("AC");
  for (const char* name : {"x", "y", "z"}) mesh.create('A', 1, name, name);
  mesh.sync("A->C");
  for (const char* name : {"x", "y", "z"}) mesh.remove('A', 2, name);
  mesh.clean('A', 10);
  const std::string before = mesh.state('C');
  // The questions are asked, and nobody answers.
  const ChangeRequest request = mesh.begin('C');
  const std::vector<ChangeBatch> batches = mesh.batches('A', request);
  ASSERT_EQ(batches.size(), 1u);
  const Result<BatchReport> asked = mesh.apply('C', batches.front());
  ASSERT_TRUE(asked.ok());
  EXPECT_FALSE(asked->questions.empty());
  mesh.end('C');
  EXPECT_EQ(mesh.state('C'), before);
  EXPECT_TRUE(mesh.forgotten('C', "x").empty());
  EXPECT_EQ(mesh.sync("A->C").deleted, 3u);
  EXPECT_TRUE(mesh.equal("AC"));
}

TEST(Oracles, W31PeerThatAnswersNonsenseLeavesEverythingAsItWas) {
  OracleMesh mesh("AC");
  mesh.create('A', 1, "x", "first");
  mesh.sync("A->C");
  mesh.remove('A', 2, "x");
  mesh.clean('A', 10);
  const std::string before = mesh.state('C');
  const ChangeRequest request = mesh.begin('C');
  const std::vector<ChangeBatch> batches = mesh.batches('A', request);
  ASSERT_TRUE(mesh.apply('C', batches.front()).ok());
  const std::vector<RangeAnswer> outside = {{RangeAnswerKind::kItems, {ItemId()}, {Fingerprint{}}}};
  EXPECT_EQ(mesh.provider('C').process_answers(outside).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(mesh.provider('C').process_answers({}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(mesh.apply('C', batches.front()).status().code(), StatusCode::kInvalidArgument);
  mesh.end('C');
  EXPECT_EQ(mesh.state('C'), before);
}

TEST(Oracles, W31cTwoDeletionsAreOneTombstone) {
  OracleMesh mesh("AB");
  mesh.create('A', 1, "x", "first");
  mesh.sync("A->B");
  mesh.remove('B', 2, "x");
  mesh.remove('A', 3, "x");
  mesh.settle();
  EXPECT_EQ(mesh.conflicts('A') + mesh.conflicts('B'), 0u);
  EXPECT_EQ(mesh.version('B', "x", 'x'), mesh.made('A', 3));
  EXPECT_TRUE(mesh.equal("AB"));
}

TEST(Oracles, W31dLateJoinerInheritsWhatWasForgotten) {
  OracleMesh mesh("ADE");
  mesh.create('A', 1, "x", "first");
  mesh.sync("A->E");
  mesh.remove('A', 2, "x");
  mesh.clean('A', 10);
  mesh.sync("A->D");
  EXPECT_TRUE(mesh.forgotten('D', "x").contains(mesh.made('A', 2)));
  EXPECT_EQ(mesh.sync("D->E").deleted, 1u);
  EXPECT_FALSE(mesh.holds('E', "x"));
  mesh.settle();
  EXPECT_TRUE(mesh.equal("ADE"));
}

TEST(Oracles, W55TwinThatTheDeletionHadNotSeenLives) {
  for (const bool cleaned : {true, false}) {
    OracleMesh mesh("AB");
    mesh.create('A', 1, "x", "of A");
    mesh.create('B', 1, "x", "of B");
    mesh.remove('A', 2, "x");
    if (cleaned) mesh.clean('A', 2);
    mesh.sync("B->A");
    EXPECT_TRUE(mesh.alive('A', "x"));
    EXPECT_GT(mesh.version('A', "x", 'x'), mesh.made('A', 2));
    // Over what was forgotten every register is made anew.
    EXPECT_EQ(mesh.version('A', "x") > mesh.made('A', 2), cleaned);
    EXPECT_EQ(mesh.value('A', "x"), "of B");
    mesh.settle();
    EXPECT_TRUE(mesh.equal("AB"));
  }
}

TEST(Oracles, W58PartOfACleanedItemIsAskedForWhole) {
  OracleMesh mesh("DS");
  mesh.create('D', 1, "x", "u", "v");
  mesh.sync("D->S");
  mesh.remove('D', 3, "x");
  mesh.clean('D', 3);
  mesh.edit('S', 2, "x", "edited");
  mesh.sync("S->D");
  EXPECT_FALSE(mesh.holds('D', "x"));
  EXPECT_EQ(mesh.begin('D').wanted_whole, std::vector<ItemId>{mesh.id("x")});
  mesh.end('D');
  mesh.sync("S->D");
  EXPECT_EQ(mesh.value('D', "x"), "edited");
  EXPECT_EQ(mesh.value('D', "x", 'v'), "v");
  EXPECT_GT(mesh.version('D', "x", 'v'), mesh.made('D', 3));
  mesh.settle();
  EXPECT_TRUE(mesh.equal("DS"));
}

TEST(Oracles, W64CleaningRaisesAllVersionsOfTheTombstone) {
  OracleMesh mesh("BC", DeletionRule::kDeleteWins);
  mesh.create('C', 1, "x", "first");
  mesh.sync("C->B");
  mesh.remove('C', 4, "x");
  mesh.edit('B', 6, "x", "edited");
  mesh.sync("B->C");
  mesh.clean('C', 10);
  EXPECT_TRUE(mesh.forgotten('C', "x").contains(mesh.made('C', 4)));
  EXPECT_TRUE(mesh.forgotten('C', "x").contains(mesh.made('B', 6)));
}

TEST(Oracles, W65CreationOverAForgottenLifeIsMadeAnew) {
  OracleMesh mesh("ABC");
  mesh.create('A', 1, "x", "first");
  mesh.edit('A', 5, "x", "of A");
  mesh.sync("A->C");
  mesh.remove('A', 6, "x");
  mesh.clean('A', 10);
  mesh.create('B', 1, "x", "of B");
  mesh.sync("B->A");
  mesh.sync("B->C");
  mesh.sync("A->C");
  mesh.settle();
  for (const char replica : {'A', 'B', 'C'}) EXPECT_EQ(mesh.value(replica, "x"), "of B") << replica;
  EXPECT_TRUE(mesh.equal("ABC"));
}

TEST(Oracles, W66EditMetInRecoveryIsMadeAnewAtOnce) {
  OracleMesh mesh("ABT");
  mesh.create('B', 1, "x", "first");
  mesh.sync("B->A");
  mesh.remove('B', 2, "x");
  mesh.sync("B->T");
  mesh.clean('B', 3);
  mesh.edit('A', 3, "x", "edited");
  EXPECT_GE(mesh.sync("B->A").minted, 1u);
  EXPECT_TRUE(mesh.alive('A', "x"));
  EXPECT_GT(mesh.version('A', "x", 'x'), mesh.made('B', 2));
  mesh.sync("A->T");
  mesh.settle();
  for (const char replica : {'A', 'B', 'T'}) EXPECT_EQ(mesh.value(replica, "x"), "edited") << replica;
  EXPECT_TRUE(mesh.equal("ABT"));
}

TEST(Oracles, W67TombstonesAreRecoveredToo) {
  OracleMesh mesh("ABT");
  mesh.create('A', 1, "x", "first");
  for (const char* arrow : {"A->B", "A->T"}) mesh.sync(arrow);
  mesh.remove('B', 2, "x");
  mesh.remove('A', 6, "x");
  mesh.sync("B->A");
  mesh.clean('A', 10);
  EXPECT_TRUE(mesh.holds('B', "x"));
  mesh.sync("A->B");
  EXPECT_FALSE(mesh.holds('B', "x"));
  mesh.sync("B->T");
  EXPECT_FALSE(mesh.holds('T', "x"));
}

TEST(Oracles, W67TombstoneOfAForgottenLifeIsNotStored) {
  OracleMesh mesh("ABT");
  mesh.create('A', 1, "x", "first");
  for (const char* arrow : {"A->B", "A->T"}) mesh.sync(arrow);
  mesh.remove('B', 2, "x");
  mesh.remove('A', 6, "x");
  mesh.clean('A', 10);
  mesh.sync("B->A");
  EXPECT_FALSE(mesh.holds('A', "x"));
  EXPECT_TRUE(mesh.forgotten('A', "x").contains(mesh.made('B', 2)));
  mesh.sync("A->T");
  EXPECT_FALSE(mesh.holds('T', "x"));
}

// Cleaned before the power failed, or not at all: what is forgotten commits with the removal.
TEST(Oracles, W31bCrashWithinCleaningLosesNeitherTombstoneNorTrace) {
  for (const char moment : {'c', 'd'}) {
    OracleMesh mesh("AC");
    mesh.create('A', 1, "x", "first");
    mesh.sync("A->C");
    mesh.remove('A', 2, "x");
    mesh.clean_and_cut_power('A', 10, moment);
    const bool cleaned = moment == 'd';
    EXPECT_EQ(mesh.holds('A', "x"), !cleaned);
    EXPECT_EQ(mesh.forgotten('A', "x").contains(mesh.made('A', 2)), cleaned);
    mesh.settle();
    EXPECT_FALSE(mesh.shows('A', "x"));
    EXPECT_FALSE(mesh.shows('C', "x"));
  }
}

}  // namespace
}  // namespace harmonica::simulation
