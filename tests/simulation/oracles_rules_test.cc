// Worked examples about conflict rules.
#include <gtest/gtest.h>

#include <vector>

#include "simulation/oracle_mesh.h"

namespace harmonica::simulation {
namespace {

struct Round {
  std::uint64_t conflicts = 0;
  std::uint64_t minted = 0;
};

// All arrows at once: every batch is made before the first one is applied.
Round exchange(OracleMesh& mesh, const std::vector<const char*>& arrows) {
  std::vector<std::pair<char, ChangeBatch>> under_way;
  for (const char* arrow : arrows) {
    const ChangeRequest request = mesh.begin(arrow[3]);
    for (ChangeBatch& batch : mesh.batches(arrow[0], request)) under_way.emplace_back(arrow[3], std::move(batch));
  }
  Round round;
  for (auto& [destination, batch] : under_way) {
    batch.request_number = mesh.begin(destination).number;
    const Result<BatchReport> report = mesh.apply(destination, batch);
    EXPECT_TRUE(report.ok()) << report.status().to_text();
    if (!report.ok()) continue;
    round.conflicts += report->conflicts;
    round.minted += report->minted;
    mesh.end(destination);
  }
  return round;
}

// x at A, B and C, written apart after all had the same one.
void write_apart(OracleMesh& mesh, const std::string& base, const std::vector<std::string>& values) {
  mesh.create('A', 1, "x", base);
  for (const char* arrow : {"A->B", "A->C"}) {
    if (values.size() > 2 || arrow[3] == 'B') mesh.sync(arrow);
  }
  std::int64_t time = 2;
  char letter = 'A';
  for (const std::string& value : values) mesh.edit(letter++, time++, "x", value);
}

const std::vector<const char*> kRing = {"C->A", "A->B", "B->C"};
const std::vector<const char*> kFull = {"B->A", "C->A", "A->B", "C->B", "A->C", "B->C"};

TEST(Oracles, W17RulesThatSeeTheRoleNeverEndInDifferentContentAtEqualKnowledge) {
  for (const ConflictRule rule : {ConflictRule::kDestinationWins, ConflictRule::kSourceWins}) {
    OracleMesh mesh("ABC", rule);
    write_apart(mesh, "base", {"a", "b", "c"});
    for (int round = 0; round < 6; ++round) {
      exchange(mesh, kRing);
      if (mesh.knowledge('A') == mesh.knowledge('B') && mesh.knowledge('B') == mesh.knowledge('C')) break;
    }
    mesh.settle();
    EXPECT_TRUE(mesh.equal("ABC")) << to_text(rule);
  }
}

TEST(Oracles, W18SimultaneousResolvingEnds) {
  OracleMesh mesh("AB", ConflictRule::kDestinationWins);
  write_apart(mesh, "base", {"a", "b"});
  const std::vector<const char*> both = {"A->B", "B->A"};
  EXPECT_EQ(exchange(mesh, both).conflicts, 2u);
  exchange(mesh, both);
  EXPECT_EQ(exchange(mesh, both).conflicts, 0u);
  EXPECT_TRUE(mesh.equal("AB"));
}

TEST(Oracles, W19DestinationWinsOverTwoSessionsIsOneConflict) {
  OracleMesh mesh("AB", ConflictRule::kDestinationWins);
  mesh.create('B', 1, "x", "base");
  mesh.sync("B->A");
  mesh.edit('B', 2, "x", "b");
  mesh.edit('A', 3, "x", "a");
  const SessionReport there = mesh.sync("A->B");
  EXPECT_EQ(there.conflicts, 1u);
  EXPECT_EQ(there.minted, 1u);
  EXPECT_EQ(mesh.sync("B->A").conflicts, 0u);
  EXPECT_EQ(mesh.value('A', "x"), "b");
  EXPECT_EQ(mesh.version('A', "x").replica, mesh.replica_id('B'));
  EXPECT_TRUE(mesh.equal("AB"));
  EXPECT_EQ(mesh.lost_value('B', "x"), "a");
}

TEST(Oracles, W22UnionFallsSilentWithEverythingInOneVersion) {
  OracleMesh mesh("ABC", ConflictRule::kUnion, ValueKind::kList);
  write_apart(mesh, "", {"a", "b", "c"});
  std::vector<std::uint64_t> minted;
  for (int round = 0; round < 8; ++round) minted.push_back(exchange(mesh, kRing).minted);
  EXPECT_EQ(minted.front(), 3u);
  EXPECT_EQ(minted.back(), 0u);
  for (const char replica : {'A', 'B', 'C'}) EXPECT_EQ(mesh.value(replica, "x"), "a,b,c") << replica;
  EXPECT_TRUE(mesh.equal("ABC"));
  EXPECT_EQ(mesh.conflicts('A') + mesh.conflicts('B') + mesh.conflicts('C'), 0u);
}

TEST(Oracles, W57CounterThroughAResurrection) {
  OracleMesh mesh("ABC", ConflictRule::kCounter, ValueKind::kInteger);
  mesh.create('A', 1, "x", "1");
  for (const char* arrow : {"A->B", "A->C"}) mesh.sync(arrow);
  mesh.remove('A', 2, "x");
  mesh.edit('B', 2, "x", "2");
  mesh.edit('C', 2, "x", "2");
  for (const char* arrow : {"B->A", "C->A"}) mesh.sync(arrow);
  EXPECT_TRUE(mesh.alive('A', "x"));
  EXPECT_EQ(mesh.version('A', "x", 'x').replica, mesh.replica_id('A'));
  EXPECT_EQ(mesh.value('A', "x"), "3");
  mesh.settle();
  EXPECT_TRUE(mesh.equal("ABC"));
  EXPECT_EQ(mesh.conflicts('A'), 1u);  // that of the deletion
}

TEST(Oracles, CounterCountsWhatIsDoneApartInAnyOrder) {
  OracleMesh mesh("ABC", ConflictRule::kCounter, ValueKind::kInteger);
  write_apart(mesh, "10", {"13", "8", "10"});
  mesh.edit('C', 9, "x", "20");
  for (int round = 0; round < 4; ++round) exchange(mesh, kFull);
  for (const char replica : {'A', 'B', 'C'}) EXPECT_EQ(mesh.value(replica, "x"), "21") << replica;
  mesh.edit('B', 20, "x", "0");
  mesh.settle();
  EXPECT_EQ(mesh.value('A', "x"), "0");
  EXPECT_TRUE(mesh.equal("ABC"));
}

// The same counter on two devices before they ever met counts once.
TEST(Oracles, CounterThatTwoDevicesHeldBeforeTheyMetIsNotAdded) {
  OracleMesh mesh("AB", ConflictRule::kCounter, ValueKind::kInteger);
  mesh.create('A', 1, "x", "5");
  mesh.create('B', 2, "x", "5");
  mesh.settle();
  for (const char replica : {'A', 'B'}) EXPECT_EQ(mesh.value(replica, "x"), "5") << replica;
}

TEST(Oracles, CounterIsNotCountedTwiceAfterALostCommit) {
  OracleMesh mesh("AB", ConflictRule::kCounter, ValueKind::kInteger);
  mesh.create('A', 1, "x", "5");
  mesh.sync("A->B");
  mesh.edit('A', 2, "x", "8");
  mesh.cut_power_at('B', 's');
  mesh.sync("A->B");
  mesh.reboot('B');
  // The store already shows 8; a user goes on from there.
  mesh.edit('B', 3, "x", "9");
  mesh.settle();
  for (const char replica : {'A', 'B'}) EXPECT_EQ(mesh.value(replica, "x"), "9") << replica;
}

TEST(Oracles, W60MaxIsMintedWhereTheWinnersVersionIsTheLesser) {
  OracleMesh mesh("ABPQ", ConflictRule::kMax, ValueKind::kInteger);
  mesh.create('B', 1, "x", "1");
  mesh.sync("B->A");
  mesh.edit('B', 2, "x", "7");
  mesh.edit('A', 3, "x", "10");
  mesh.sync("A->P");
  mesh.edit('A', 4, "x", "5");
  for (const char* arrow : {"B->P", "A->P", "B->Q", "A->Q"}) mesh.sync(arrow);
  EXPECT_EQ(mesh.value('Q', "x"), "7");
  EXPECT_EQ(mesh.version('Q', "x").replica, mesh.replica_id('Q'));
  mesh.settle();
  for (const char replica : {'A', 'B', 'P', 'Q'}) EXPECT_EQ(mesh.value(replica, "x"), "7") << replica;
  EXPECT_TRUE(mesh.equal("ABPQ"));
}

TEST(Oracles, W61EarliestEndsAlsoWhenAllResolveAtOnce) {
  OracleMesh mesh("ABC", ConflictRule::kEarliest);
  write_apart(mesh, "base", {"a", "b", "c"});
  for (const char* arrow : {"A->C", "C->A"}) mesh.sync(arrow);
  std::uint64_t minted = 1;
  int rounds = 0;
  while (minted > 0 && rounds++ < 20) minted = exchange(mesh, kFull).minted;
  EXPECT_LT(rounds, 10);
  mesh.settle();
  EXPECT_TRUE(mesh.equal("ABC"));
}

TEST(Oracles, CounterDoesNotGrowWhereADeviceLosesItsMetadata) {
  OracleMesh mesh("AB", ConflictRule::kCounter, ValueKind::kInteger);
  mesh.create('A', 1, "x", "10");
  mesh.sync("A->B");
  mesh.edit('A', 2, "x", "15");
  mesh.sync("A->B");
  for (int loss = 0; loss < 2; ++loss) {
    mesh.forget_metadata('B', 10 + loss);
    mesh.sync("A->B");
    mesh.settle();
    for (const char replica : {'A', 'B'}) EXPECT_EQ(mesh.value(replica, "x"), "15") << replica << loss;
  }
  mesh.edit('A', 20, "x", "16");
  mesh.edit('B', 21, "x", "17");
  mesh.settle();
  for (const char replica : {'A', 'B'}) EXPECT_EQ(mesh.value(replica, "x"), "18") << replica;
}

// What the other side has of the priority must not decide for this one.
TEST(Oracles, PriorityWinsWhicheverSideAsksFirst) {
  for (const bool to_a_first : {true, false}) {
    OracleMesh mesh("AB", ConflictRule::kPriority);
    mesh.create('A', 1, "x", "base", "1");
    mesh.sync("A->B");
    mesh.edit('B', 2, "x", "5", 'v');
    mesh.edit('B', 3, "x", "from b");
    mesh.edit('A', 4, "x", "from a");
    mesh.sync(to_a_first ? "B->A" : "A->B");
    mesh.settle();
    EXPECT_EQ(mesh.value('A', "x"), "from b") << to_a_first;
    EXPECT_TRUE(mesh.equal("AB"));
  }
}

TEST(Oracles, TextsAreMergedHoweverOftenTheyWereChangedApart) {
  for (const bool to_a_first : {true, false}) {
    OracleMesh mesh("AB", ConflictRule::kTextMerge);
    mesh.create('A', 1, "x", "one two three four five");
    mesh.sync("A->B");
    for (int edit = 0; edit < 20; ++edit) mesh.edit('A', 2 + edit, "x", "one two three four " + std::to_string(edit));
    mesh.edit('B', 30, "x", "1 two three four five");
    mesh.sync(to_a_first ? "B->A" : "A->B");
    mesh.settle();
    EXPECT_EQ(mesh.value('A', "x"), "1 two three four 19") << to_a_first;
    EXPECT_TRUE(mesh.equal("AB"));
    EXPECT_EQ(mesh.conflicts('A') + mesh.conflicts('B'), 0u);
  }
}

// A session that leaves conflicts to a person leaves it nothing that loses nothing.
TEST(Oracles, CountersAndSetsAreJoinedUnderEveryOptionOfASession) {
  for (const OnConflict option :
       {OnConflict::kManual, OnConflict::kLatest, OnConflict::kSourceWins, OnConflict::kDestinationWins}) {
    OracleMesh counters("AB", ConflictRule::kCounter, ValueKind::kInteger);
    write_apart(counters, "10", {"13", "14"});
    OracleMesh sets("AB", ConflictRule::kUnion, ValueKind::kList);
    write_apart(sets, "a", {"a,b", "a,c"});
    for (OracleMesh* mesh : {&counters, &sets}) {
      SyncSession session(mesh->provider('A'), mesh->provider('B'), {.on_conflict = option});
      EXPECT_EQ(session.run(), Status());
      EXPECT_EQ(session.report().conflicts + session.report().deferred, 0u);
    }
    EXPECT_EQ(counters.value('B', "x"), "17");
    EXPECT_EQ(sets.value('B', "x"), "a,b,c");
  }
}

// Every rule, resolved by all at once: equal in the end, and quiet.
TEST(Oracles, EveryRuleEndsEqual) {
  struct Example {
    ConflictRule rule;
    ValueKind kind;
    std::string base;
    std::vector<std::string> values;
  };
  const std::vector<std::string> numbers = {"3", "8", "5"};
  const std::vector<Example> examples = {
      {ConflictRule::kLatest, ValueKind::kText, "base", {"a", "b", "c"}},
      {ConflictRule::kEarliest, ValueKind::kInteger, "1", numbers},
      {ConflictRule::kMax, ValueKind::kInteger, "1", numbers},
      {ConflictRule::kMin, ValueKind::kInteger, "1", numbers},
      {ConflictRule::kUnion, ValueKind::kList, "a", {"a,b", "c", "a,d"}},
      {ConflictRule::kTextMerge, ValueKind::kText, "one two three", {"1 two three", "one 2 three", "one two 3"}},
      {ConflictRule::kPriority, ValueKind::kText, "base", {"a", "b", "c"}},
      {ConflictRule::kCounter, ValueKind::kInteger, "1", numbers},
      {ConflictRule::kAdditive, ValueKind::kInteger, "1", numbers},
      {ConflictRule::kAverage, ValueKind::kInteger, "1", numbers},
      {ConflictRule::kSourceWins, ValueKind::kInteger, "1", numbers},
      {ConflictRule::kDestinationWins, ValueKind::kInteger, "1", numbers}};
  for (const Example& example : examples) {
    OracleMesh mesh("ABC", example.rule, example.kind);
    write_apart(mesh, example.base, example.values);
    int rounds = 0;
    while (exchange(mesh, kFull).minted > 0 && rounds < 30) ++rounds;
    EXPECT_LT(rounds, 10) << to_text(example.rule);
    mesh.settle();
    EXPECT_TRUE(mesh.equal("ABC")) << to_text(example.rule);
    if (example.rule == ConflictRule::kTextMerge) {
      EXPECT_EQ(mesh.value('A', "x"), "1 2 3");
    }
    if (example.rule == ConflictRule::kUnion) {
      EXPECT_EQ(mesh.value('A', "x"), "a,b,c,d");
    }
  }
}

}  // namespace
}  // namespace harmonica::simulation
