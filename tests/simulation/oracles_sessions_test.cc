// Worked examples about sessions: interruption, failures, replay, crashes and races.
#include <gtest/gtest.h>

#include <algorithm>

#include "simulation/oracle_mesh.h"

namespace harmonica::simulation {
namespace {

const std::vector<std::string> kFive = {"i1", "i2", "i3", "i4", "i5"};

void create_five(OracleMesh& mesh) {
  std::int64_t time = 0;
  for (const std::string& name : kFive) mesh.create('A', ++time, name, "u of " + name);
}

std::size_t count_shown(OracleMesh& mesh, char replica) {
  return static_cast<std::size_t>(
      std::count_if(kFive.begin(), kFive.end(), [&](const std::string& name) { return mesh.shows(replica, name); }));
}

// Of each item: held and known, or neither.
void expect_knowledge_of_exactly_what_is_shown(OracleMesh& mesh, char replica) {
  std::int64_t time = 0;
  for (const std::string& name : kFive) {
    ++time;
    EXPECT_EQ(mesh.knows(replica, name, mesh.made('A', time)), mesh.shows(replica, name)) << name << " at " << replica;
  }
}

std::size_t steps_beside(const Knowledge& knowledge) { return knowledge.steps().size() - 1; }

TEST(Oracles, W09InterruptedSessionResumesWithWhatIsMissing) {
  OracleMesh mesh("AB");
  create_five(mesh);
  mesh.sync("A->B", {.batches = 2});
  EXPECT_EQ(count_shown(mesh, 'B'), 2u);
  expect_knowledge_of_exactly_what_is_shown(mesh, 'B');

  mesh.create('B', 20, "i9", "of B");
  const Version own = mesh.version('B', "i9");
  for (const std::string& name : kFive) EXPECT_TRUE(mesh.knows('B', name, own)) << name;

  EXPECT_EQ(mesh.sync("A->B").received, 3u);
  EXPECT_EQ(count_shown(mesh, 'B'), 5u);
  EXPECT_EQ(steps_beside(mesh.knowledge('B')), 0u);
}

TEST(Oracles, W10FailedItemIsLeftOutAndOfferedAgain) {
  OracleMesh mesh("AB");
  create_five(mesh);
  mesh.fail_writes_of('B', "i3");
  const SessionReport report = mesh.sync("A->B");
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures.front().item, mesh.id("i3"));
  EXPECT_EQ(count_shown(mesh, 'B'), 4u);
  expect_knowledge_of_exactly_what_is_shown(mesh, 'B');

  mesh.heal('B');
  EXPECT_EQ(mesh.sync("A->B").received, 1u);
  EXPECT_EQ(count_shown(mesh, 'B'), 5u);
  EXPECT_EQ(steps_beside(mesh.knowledge('B')), 0u);
}

TEST(Oracles, W11PartialKnowledgeIsPassedOnAsItIs) {
  OracleMesh mesh("ABC");
  create_five(mesh);
  mesh.sync("A->B", {.batches = 2});
  EXPECT_EQ(mesh.sync("B->C").received, 2u);
  EXPECT_EQ(count_shown(mesh, 'C'), 2u);
  expect_knowledge_of_exactly_what_is_shown(mesh, 'C');
  EXPECT_EQ(mesh.sync("A->C").received, 3u);
  EXPECT_EQ(count_shown(mesh, 'C'), 5u);
}

TEST(Oracles, W12ConcurrentEditsOfOneUnitAreOneConflict) {
  OracleMesh mesh("AB");
  mesh.create('A', 1, "x", "first");
  mesh.sync("A->B");
  mesh.edit('A', 2, "x", "of A");
  mesh.edit('B', 3, "x", "of B");
  const SessionReport report = mesh.sync("A->B");
  EXPECT_EQ(report.conflicts, 1u);
  EXPECT_EQ(report.minted, 0u);
  EXPECT_EQ(mesh.value('B', "x"), "of B");
  EXPECT_EQ(mesh.lost_value('B', "x"), "of A");
}

TEST(Oracles, W13EditOfWhatWasSeenIsNoConflict) {
  OracleMesh mesh("AB");
  mesh.create('A', 1, "x", "first");
  mesh.sync("A->B");
  mesh.edit('B', 2, "x", "of B");
  const SessionReport back = mesh.sync("B->A");
  EXPECT_EQ(back.updated, 1u);
  EXPECT_EQ(back.conflicts, 0u);
  EXPECT_EQ(mesh.sync("A->B").received, 0u);
}

TEST(Oracles, W14ObsoleteVersionIsNotEvenSent) {
  OracleMesh mesh("ABC");
  mesh.create('A', 1, "x", "first");
  mesh.sync("A->B");
  mesh.sync("A->C");
  mesh.edit('B', 2, "x", "of B");
  mesh.sync("B->A");
  EXPECT_EQ(mesh.sync("C->A").received, 0u);
  const SessionReport report = mesh.sync("A->C");
  EXPECT_EQ(report.updated, 1u);
  EXPECT_EQ(report.conflicts, 0u);
  EXPECT_EQ(mesh.value('C', "x"), "of B");
}

TEST(Oracles, W15UnitsOfOneItemChangeApart) {
  OracleMesh mesh("AB");
  mesh.create('A', 1, "x", "name", "phone");
  mesh.sync("A->B");
  mesh.edit('A', 2, "x", "name of A", 'u');
  mesh.edit('B', 3, "x", "phone of B", 'v');
  EXPECT_EQ(mesh.sync("A->B").conflicts, 0u);
  EXPECT_EQ(mesh.sync("B->A").conflicts, 0u);
  for (const char replica : {'A', 'B'}) {
    EXPECT_EQ(mesh.value(replica, "x", 'u'), "name of A");
    EXPECT_EQ(mesh.value(replica, "x", 'v'), "phone of B");
  }
  EXPECT_TRUE(mesh.equal("AB"));
}

TEST(Oracles, W16LatestKeepsItsVersionAndIsQuietAfterwards) {
  OracleMesh mesh("AB");
  mesh.create('A', 1, "x", "first");
  mesh.sync("A->B");
  mesh.edit('A', 2, "x", "of A");
  mesh.edit('B', 3, "x", "of B");
  mesh.sync("A->B");
  mesh.sync("B->A");
  for (const char replica : {'A', 'B'}) EXPECT_EQ(mesh.version(replica, "x"), mesh.made('B', 3));
  EXPECT_TRUE(mesh.equal("AB"));
  for (const char* arrow : {"A->B", "B->A"}) {
    const SessionReport again = mesh.sync(arrow);
    EXPECT_EQ(again.received, 0u) << arrow;
    EXPECT_TRUE(again.quiet()) << arrow;
  }
}

TEST(Oracles, W42CrashBetweenDataAndKnowledgeIsAReplay) {
  for (const char moment : {'s', 'c', 'd'}) {
    OracleMesh mesh("AB");
    mesh.create('A', 1, "x", "first");
    mesh.sync("A->B");
    mesh.edit('A', 2, "x", "second");
    mesh.create('A', 3, "y", "new");
    mesh.cut_power_at('B', moment);
    mesh.sync("A->B");
    mesh.reboot('B');
    // Whatever is known is in the store: knowledge is never there before its data.
    EXPECT_TRUE(!mesh.knows('B', "x", mesh.made('A', 2)) || mesh.value('B', "x") == "second") << moment;
    EXPECT_TRUE(!mesh.knows('B', "y", mesh.made('A', 3)) || mesh.value('B', "y") == "new") << moment;

    const DetectionReport detected = mesh.detect('B');
    EXPECT_EQ(detected.created + detected.updated + detected.deleted, 0u) << moment;
    const SessionReport report = mesh.sync("A->B");
    EXPECT_EQ(report.conflicts + report.minted, 0u) << moment;
    EXPECT_EQ(mesh.sync("B->A").received, 0u) << moment;
    EXPECT_EQ(mesh.value('B', "x"), "second") << moment;
    EXPECT_EQ(mesh.store('B').size(), 2u) << moment;
    EXPECT_TRUE(mesh.equal("AB")) << moment;
  }
}

// A store in memory has no transactions of other writers; what can be in flight is an edit that the user makes after the
// store was enumerated and before the batch is made. Its tick comes later than all that was claimed, so nothing claims it.
TEST(Oracles, W43EditInFlightIsNotClaimedBeforeItIsSent) {
  OracleMesh mesh("AB");
  mesh.create('A', 5, "x", "first");
  mesh.create('A', 6, "y", "first");
  const ChangeRequest request = mesh.begin('B');
  ASSERT_TRUE(mesh.provider('A').begin_source(request).ok());
  mesh.type_unseen('A', "x", "in flight");
  const Result<ChangeBatch> batch = mesh.provider('A').get_change_batch(kFirstItemId);
  ASSERT_TRUE(batch.ok()) << batch.status().to_text();
  mesh.end('A');
  ASSERT_TRUE(mesh.apply('B', *batch).ok());
  mesh.end('B');
  EXPECT_EQ(mesh.value('B', "x"), "first");

  mesh.detect('A');
  EXPECT_FALSE(mesh.knows('B', "x", mesh.version('A', "x")));
  EXPECT_EQ(mesh.sync("A->B").received, 1u);
  EXPECT_EQ(mesh.value('B', "x"), "in flight");
}

TEST(Oracles, W51BatchesOutOfOrderOrTwiceChangeNothingMore) {
  OracleMesh plain("AB");
  create_five(plain);
  plain.sync("A->B");

  OracleMesh mesh("AB");
  create_five(mesh);
  const std::vector<ChangeBatch> batches = mesh.batches('A', mesh.begin('B'), 1);
  ASSERT_GE(batches.size(), 3u);
  // As the first of a request each, so that any order can be tried: a batch that teaches nothing of the ids before its own.
  std::vector<std::size_t> order = {2, 0, 1, 0};
  for (std::size_t rest = 3; rest < batches.size(); ++rest) order.push_back(rest);
  for (const std::size_t number : order) {
    ChangeBatch batch = batches[number];
    batch.range.first = kFirstItemId;
    batch.request_number = mesh.begin('B').number;
    const Result<BatchReport> applied = mesh.apply('B', batch);
    ASSERT_TRUE(applied.ok()) << applied.status().to_text();
    mesh.end('B');
  }
  EXPECT_EQ(mesh.state('B'), plain.state('B'));
  EXPECT_EQ(mesh.sync("A->B").received, 0u);
}

TEST(Oracles, W52TwoSourcesAtOnceAreOneUpdateAndOneConflict) {
  OracleMesh mesh("ABD");
  mesh.create('A', 1, "x", "first");
  mesh.sync("A->B");
  mesh.sync("A->D");
  mesh.edit('A', 2, "x", "of A");
  mesh.edit('B', 3, "x", "of B");
  // Both batches are made for what D knows now.
  const ChangeRequest request = mesh.begin('D');
  const std::vector<ChangeBatch> from_a = mesh.batches('A', request);
  std::vector<ChangeBatch> from_b = mesh.batches('B', request);
  ASSERT_EQ(from_a.size(), 1u);
  ASSERT_EQ(from_b.size(), 1u);
  const Result<BatchReport> first = mesh.apply('D', from_a.front());
  ASSERT_TRUE(first.ok()) << first.status().to_text();
  mesh.end('D');
  EXPECT_EQ(first->updated, 1u);
  EXPECT_EQ(first->conflicts, 0u);

  // Made for an earlier request: refused as it is, a conflict if it is taken.
  const ChangeRequest later = mesh.begin('D');
  EXPECT_EQ(mesh.apply('D', from_b.front()).status().code(), StatusCode::kInvalidArgument);
  mesh.end('D');
  from_b.front().request_number = mesh.begin('D').number;
  ASSERT_NE(from_b.front().request_number, later.number);
  const Result<BatchReport> second = mesh.apply('D', from_b.front());
  ASSERT_TRUE(second.ok()) << second.status().to_text();
  mesh.end('D');
  EXPECT_EQ(second->conflicts, 1u);
  EXPECT_EQ(mesh.value('D', "x"), "of B");
  EXPECT_EQ(mesh.lost_value('D', "x"), "of A");
}

TEST(Oracles, W53CancelledSessionReportsAndKeepsWhatWasApplied) {
  OracleMesh mesh("AB");
  create_five(mesh);
  const SessionReport report = mesh.sync("A->B", {.batches = 3});
  EXPECT_EQ(report.created, 3u);
  EXPECT_EQ(count_shown(mesh, 'B'), 3u);
  expect_knowledge_of_exactly_what_is_shown(mesh, 'B');
  EXPECT_EQ(mesh.sync("A->B").received, 2u);
}

TEST(Oracles, W54EditDuringApplyIsAConflictAndNotOverwritten) {
  OracleMesh mesh("AD");
  mesh.create('A', 1, "x", "first");
  mesh.sync("A->D");
  mesh.edit('A', 2, "x", "of A");
  mesh.before_next_write('D', [&] { mesh.type_unseen('D', "x", "typed meanwhile"); });
  const SessionReport report = mesh.sync("A->D");
  EXPECT_EQ(report.conflicts, 1u);
  EXPECT_EQ(mesh.value('D', "x"), "typed meanwhile");
  EXPECT_EQ(mesh.lost_value('D', "x"), "of A");
  mesh.settle();
  EXPECT_EQ(mesh.value('A', "x"), "typed meanwhile");
}

TEST(Oracles, SessionsThroughAChannelDoTheSame) {
  OracleMesh direct("AB");
  OracleMesh remote("AB");
  for (OracleMesh* mesh : {&direct, &remote}) {
    mesh->create('A', 1, "x", "first");
    mesh->create('B', 2, "x", "also first");
    mesh->create('B', 3, "y", "second");
  }
  for (const char* arrow : {"A->B", "B->A"}) {
    direct.sync(arrow);
    remote.sync_remotely(arrow);
  }
  for (const char replica : {'A', 'B'}) EXPECT_EQ(direct.state(replica), remote.state(replica));
}

// The winner of a conflict stands in the store already, the record of it is lost with the commit, and the user edits the
// winner: what lost is not what he replaced.
TEST(Oracles, W42WhatLostAConflictBeforeTheCrashIsOnRecordAlsoIfTheWinnerIsEdited) {
  OracleMesh mesh("AB");
  mesh.create('A', 1, "x", "first");
  mesh.sync("A->B");
  mesh.edit('B', 5, "x", "of B");
  mesh.edit('A', 6, "x", "of A");
  mesh.cut_power_at('B', 's');
  mesh.sync("A->B");
  mesh.reboot('B');
  EXPECT_EQ(mesh.value('B', "x"), "of A");
  mesh.edit('B', 7, "x", "over the winner");
  EXPECT_EQ(mesh.conflicts('B'), 1u);
  EXPECT_EQ(mesh.lost_value('B', "x"), "of B");
  mesh.settle();
  EXPECT_TRUE(mesh.equal("AB"));
  EXPECT_EQ(mesh.value('A', "x"), "over the winner");
}

}  // namespace
}  // namespace harmonica::simulation
