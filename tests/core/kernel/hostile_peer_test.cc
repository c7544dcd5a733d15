// What a peer sends is hostile: a batch that lies ends the session with an error that names the lie, an item that lies is
// left out and the rest goes on; what is held and known here stays as it was.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/kernel/note_device.h"
#include "harmonica/extension/provider.h"
#include "harmonica/limits.h"
#include "support/shorthand.h"

namespace harmonica::kernel {
namespace {

std::string items_of(NoteDevice& device) {
  std::string text;
  EXPECT_TRUE(device.replica
                  ->scan([&](const StoredItem& stored) -> Result<Visit> {
                    text += "\n" + stored.item.to_text();
                    return Visit::kContinue;
                  })
                  .ok());
  return text;
}

// What a replica holds and knows.
std::string state_of(NoteDevice& device) { return device.replica->status()->knowledge.to_text() + items_of(device); }

// An honest source with two notes, and a destination that holds one note of its own.
struct Pair {
  Pair() {
    source.write("a", "one");
    source.write("b", "two");
    destination.write("c", "own");
  }

  // The first of the batches that answer a request: both notes, or one if the limit is one byte.
  ChangeBatch batch(std::uint64_t bytes_max = 0) {
    const Result<ChangeRequest> request = destination.replica->provider().begin_destination({.batch_bytes_max = bytes_max});
    EXPECT_TRUE(request.ok()) << request.status().to_text();
    EXPECT_TRUE(source.replica->provider().begin_source(*request).ok());
    const Result<ChangeBatch> made = source.replica->provider().get_change_batch(kFirstItemId);
    EXPECT_TRUE(made.ok()) << made.status().to_text();
    return *made;
  }

  Result<BatchReport> apply(const ChangeBatch& batch) {
    return destination.replica->provider().process_change_batch(batch);
  }

  NoteDevice source{1, {}};
  NoteDevice destination{2, {}};
};

Tick far_ahead() { return first_tick_of(TestEnvironment(0).now_ms + limits::kClockDriftMsMax + 1000); }

struct Lie {
  const char* name;
  std::function<void(ChangeBatch&, Pair&)> tell;
  StatusCode code;
  const char* words;
  std::uint64_t bytes_max = 0;
};

class BatchThatLies : public testing::TestWithParam<Lie> {};

TEST_P(BatchThatLies, EndsTheSessionAndChangesNothing) {
  Pair pair;
  ChangeBatch batch = pair.batch(GetParam().bytes_max);
  const std::string before = state_of(pair.destination);
  GetParam().tell(batch, pair);
  const Result<BatchReport> report = pair.apply(batch);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().code(), GetParam().code) << report.status().to_text();
  EXPECT_NE(report.status().message().find(GetParam().words), std::string::npos) << report.status().to_text();
  EXPECT_EQ(state_of(pair.destination), before);
  // And the next session with an honest peer goes through.
  sync(pair.destination, pair.source);
  EXPECT_EQ(state_of(pair.destination), state_of(pair.source));
}

INSTANTIATE_TEST_SUITE_P(
    All, BatchThatLies,
    testing::Values(Lie{"ForAnotherReplica", [](ChangeBatch& batch, Pair&) { batch.destination = shorthand::replica('X'); },
                        StatusCode::kInvalidArgument, "made for replica"},
                    Lie{"OfAnotherRequest", [](ChangeBatch& batch, Pair&) { ++batch.request_number; },
                        StatusCode::kInvalidArgument, "made for another request"},
                    Lie{"ForAnotherFilter", [](ChangeBatch& batch, Pair&) { batch.filter = *Filter::parse("a = 1", {}); },
                        StatusCode::kInvalidArgument, "made for another filter"},
                    Lie{"ErasedWithValues",
                        [](ChangeBatch& batch, Pair&) { batch.changes[0].existence.value = Existence::kErased; },
                        StatusCode::kInvalidArgument, "is erased, and comes with units"},
                    Lie{"MovedOutOfNoFilter", [](ChangeBatch& batch, Pair&) { batch.moved_out = {shorthand::item(1)}; },
                        StatusCode::kInvalidArgument, "moved out of no filter"},
                    Lie{"BeginningLater", [](ChangeBatch& batch, Pair&) { batch.range.first = shorthand::item(1); },
                        StatusCode::kInvalidArgument, "does not follow"},
                    Lie{"RangeBackwards",
                        [](ChangeBatch& batch, Pair&) {
                          batch.range.first = shorthand::item(9);
                          batch.range.last = shorthand::item(3);
                        },
                        StatusCode::kInvalidArgument, "does not follow"},
                    Lie{"LastInTheMiddle", [](ChangeBatch& batch, Pair&) { batch.last = true; },
                        StatusCode::kInvalidArgument, "does not end as it says", 1},
                    Lie{"NeverEnding", [](ChangeBatch& batch, Pair&) { batch.last = false; }, StatusCode::kInvalidArgument,
                        "does not end as it says"},
                    Lie{"OfNoScope", [](ChangeBatch& batch, Pair&) { batch.source.scope.clear(); },
                        StatusCode::kInvalidArgument, "names no scope"},
                    Lie{"OfAnotherSchema", [](ChangeBatch& batch, Pair&) { ++batch.source.schema_fingerprint; },
                        StatusCode::kUnsupported, "schema is not ours"},
                    Lie{"TeachingMoreThanItsRange",
                        [](ChangeBatch& batch, Pair& pair) { batch.made_with = pair.source.replica->status()->knowledge; },
                        StatusCode::kInvalidArgument, "teaches more than its range", 1},
                    Lie{"ForgettingMoreThanItsRange",
                        [](ChangeBatch& batch, Pair& pair) { batch.forgotten = pair.source.replica->status()->knowledge; },
                        StatusCode::kInvalidArgument, "teaches more than its range", 1},
                    Lie{"ForgettingMoreThanItKnows",
                        [](ChangeBatch& batch, Pair&) { batch.forgotten = Knowledge(shorthand::vector("{X:5}")); },
                        StatusCode::kInvalidArgument, "has forgotten what its source does not know"},
                    Lie{"OutOfOrder", [](ChangeBatch& batch, Pair&) { std::swap(batch.changes[0], batch.changes[1]); },
                        StatusCode::kInvalidArgument, "out of order or out of range"},
                    Lie{"OneItemTwice", [](ChangeBatch& batch, Pair&) { batch.changes[1] = batch.changes[0]; },
                        StatusCode::kInvalidArgument, "out of order or out of range"},
                    Lie{"ItemBeyondItsRange", [](ChangeBatch& batch, Pair&) { batch.changes[0].item = last_item_id(); },
                        StatusCode::kInvalidArgument, "out of order or out of range", 1},
                    Lie{"UnitsOutOfOrder",
                        [](ChangeBatch& batch, Pair&) { std::swap(batch.changes[0].units[0], batch.changes[0].units[1]); },
                        StatusCode::kInvalidArgument, "are not in order"},
                    Lie{"VersionThatItsSourceDoesNotKnow",
                        [](ChangeBatch& batch, Pair&) { batch.changes[0].units[0].content.version.tick += 100; },
                        StatusCode::kInvalidArgument, "a version that its source does not know"},
                    Lie{"NoVersion", [](ChangeBatch& batch, Pair&) { batch.changes[0].existence.version = Version(); },
                        StatusCode::kInvalidArgument, "a version that its source does not know"},
                    Lie{"FromTheFuture",
                        [](ChangeBatch& batch, Pair&) {
                          batch.made_with.raise_everywhere({shorthand::replica('X'), far_ahead()});
                        },
                        StatusCode::kClockSkew, "ahead of this device's clock"},
                    Lie{"AtTheLastTick",
                        [](ChangeBatch& batch, Pair&) {
                          const Version last{batch.source.replica, std::numeric_limits<Tick>::max()};
                          batch.changes[0].existence.version = last;
                          batch.made_with.raise_everywhere(last);
                        },
                        StatusCode::kClockSkew, "ahead of this device's clock"}),
    [](const auto& lie) { return std::string(lie.param.name); });

// It cannot be told from the truth: that this replica was rolled back. It costs an id, and new versions.
TEST(HostilePeer, KnowingOursBeforeWeMadeItCostsAnIdAndNoValue) {
  Pair pair;
  sync(pair.destination, pair.source);
  ChangeBatch batch = pair.batch();
  const ReplicaId former = pair.destination.replica->status()->replica;
  // One tick went with joining the scope.
  batch.made_with.raise_everywhere({batch.destination, pair.destination.replica->status()->knowledge.greatest_tick() + 2});
  const Result<BatchReport> report = pair.apply(batch);
  EXPECT_EQ(report.status().code(), StatusCode::kUnavailable) << report.status().to_text();
  EXPECT_NE(pair.destination.replica->status()->replica, former);
  EXPECT_EQ(pair.destination.replica->status()->former_replicas, std::vector<ReplicaId>{former});
  EXPECT_EQ(pair.destination.text("c"), "own");
  sync(pair.destination, pair.source);
  EXPECT_EQ(pair.source.text("c"), "own");
  EXPECT_EQ(pair.destination.text("a"), "one");
  EXPECT_EQ(state_of(pair.destination), state_of(pair.source));
}

TEST(HostilePeer, AMarkThatWeNeverShowedCostsAnIdAndNoValue) {
  Pair pair;
  sync(pair.destination, pair.source);
  ChangeBatch batch = pair.batch();
  const ReplicaId former = pair.destination.replica->status()->replica;
  batch.source.marks_of_peer = {12345};
  const Result<BatchReport> report = pair.apply(batch);
  EXPECT_EQ(report.status().code(), StatusCode::kUnavailable) << report.status().to_text();
  EXPECT_NE(pair.destination.replica->status()->replica, former);
  EXPECT_EQ(pair.destination.text("a"), "one");
  EXPECT_EQ(pair.destination.text("c"), "own");
  sync(pair.destination, pair.source);
  EXPECT_EQ(state_of(pair.destination), state_of(pair.source));
}

struct WrongItem {
  const char* name;
  std::function<void(ItemChange&)> tell;
  StatusCode code;
  const char* words;
};

class ItemThatLies : public testing::TestWithParam<WrongItem> {};

TEST_P(ItemThatLies, IsLeftOutAndTheRestGoesOn) {
  Pair pair;
  ChangeBatch batch = pair.batch();
  ItemChange& lying = batch.changes[0];
  GetParam().tell(lying);
  const Result<BatchReport> report = pair.apply(batch);
  ASSERT_TRUE(report.ok()) << report.status().to_text();
  EXPECT_EQ(report->created, 1u);
  ASSERT_EQ(report->failures.size(), 1u);
  const ItemFailure& failure = report->failures.front();
  EXPECT_EQ(failure.item, lying.item);
  EXPECT_EQ(failure.status.code(), GetParam().code);
  EXPECT_NE(failure.status.message().find(GetParam().words), std::string::npos) << failure.status.to_text();
  const Knowledge knowledge = pair.destination.replica->status()->knowledge;
  EXPECT_FALSE(knowledge.contains(lying.item, lying.existence.version));
  EXPECT_TRUE(knowledge.contains(batch.changes[1].item, batch.changes[1].existence.version));
}

INSTANTIATE_TEST_SUITE_P(
    All, ItemThatLies,
    testing::Values(WrongItem{"ValueOfAnotherKind",
                              [](ItemChange& change) { change.units[1].content.value = Value::integer(1); },
                              StatusCode::kInvalidArgument, "the value of unit 2 'text' is of another kind"},
                    WrongItem{"TextThatIsNone",
                              [](ItemChange& change) { change.units[1].content.value = Value::text("\xff"); },
                              StatusCode::kInvalidArgument, "the value of unit 2 'text' is no UTF-8 text"},
                    WrongItem{"ListInAList",
                              [](ItemChange& change) {
                                change.units.push_back({9, {change.existence.version, Value::list({Value::list({})})}});
                              },
                              StatusCode::kInvalidArgument, "the value of unit 9 holds a list in a list"},
                    WrongItem{"ValueThatIsTooLarge",
                              [](ItemChange& change) {
                                change.units[1].content.value = Value::text(std::string(limits::kValueBytesMax + 1, 'x'));
                              },
                              StatusCode::kInvalidArgument, "is larger than"}),
    [](const auto& item) { return std::string(item.param.name); });

TEST(HostilePeer, SecondContentUnderAVersionIsFoundAndLeftOut) {
  Pair pair;
  sync(pair.destination, pair.source);
  pair.source.write("a", "changed");
  ChangeBatch batch = pair.batch();
  ASSERT_EQ(batch.changes.size(), 1u);
  ItemChange& change = batch.changes[0];
  const std::string before = items_of(pair.destination);
  // A peer that sends the whole item, with another name under the version that it has always had.
  const std::string name = "forged";
  const Version made = change.existence.version;
  change.units.insert(change.units.begin(), {kName, {made, Value::text(name)}});
  const Result<BatchReport> report = pair.apply(batch);
  ASSERT_TRUE(report.ok()) << report.status().to_text();
  ASSERT_EQ(report->failures.size(), 1u);
  EXPECT_EQ(report->failures.front().status.code(), StatusCode::kCorruption);
  EXPECT_NE(report->failures.front().status.message().find("two contents under the version"), std::string::npos);
  EXPECT_EQ(items_of(pair.destination), before);
}

TEST(HostilePeer, ItemThatIsDeletedAndAliveUnderOneVersionIsLeftOut) {
  Pair pair;
  sync(pair.destination, pair.source);
  pair.source.write("a", "changed");
  ChangeBatch batch = pair.batch();
  batch.changes[0].existence.value = Existence::kDeleted;
  const std::string before = items_of(pair.destination);
  const Result<BatchReport> report = pair.apply(batch);
  ASSERT_TRUE(report.ok()) << report.status().to_text();
  ASSERT_EQ(report->failures.size(), 1u);
  EXPECT_EQ(report->failures.front().status.code(), StatusCode::kCorruption);
  EXPECT_EQ(items_of(pair.destination), before);
}

}  // namespace
}  // namespace harmonica::kernel
