#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "contract/metadata_samples.h"
#include "harmonica/providers/memory.h"

namespace harmonica::providers {
namespace {

using ::testing::ElementsAre;

constexpr TypeId kNode = 1;
constexpr TypeId kFlat = 2;

Schema node_schema() {
  Schema schema;
  schema.default_scope = "nodes";
  const Unit name{1, "name", ValueKind::kText};
  const Unit parent{2, "parent", ValueKind::kIds, UnitRole::kParent};
  schema.types = {{kNode, "node", DeletionRule::kEditWins, {name, parent}, {}},
                  {kFlat, "flat", DeletionRule::kEditWins, {name}, {}}};
  schema.roots = {{testing::item_id(1), "top"}};
  return schema;
}

StoreItem node(StoreKey key, StoreKey parent, std::string name = "n") {
  return {std::move(key), kNode, std::move(parent), {{1, Value::text(std::move(name))}}, {}, {}};
}

StoreWrite put(StoreItem item, StoreKey previous = {}, std::optional<StoreItem> expected = {}) {
  return {WriteKind::kPut, std::move(item), std::move(previous), std::move(expected)};
}

class Sink : public EnumerationSink, public ShownItems {
 public:
  Status item(StoreItem) override { return {}; }
  Status removed(const StoreKey&) override { return {}; }
  void skipped(const StoreKey&, std::string) override {}
  Status for_each(const std::function<void(const StoreItem&)>&) const override { return {}; }
};

Bytes anchor_of(MemoryItemStore& store) {
  Sink sink;
  return store.enumerate({}, sink, sink)->anchor;
}

// top: a (b, c (d)), e
MemoryItemStore sample(WriteUnit unit = WriteUnit::kEachItem) {
  MemoryItemStore store(node_schema(), unit);
  for (const StoreItem& item : {node("a", "top"), node("b", "a"), node("c", "a"), node("d", "c"), node("e", "top")}) {
    EXPECT_TRUE(store.put(item).ok());
  }
  return store;
}

TEST(MemoryItemStore, PrintsItsTree) {
  MemoryItemStore store = sample();
  EXPECT_TRUE(store.put({"f", kFlat, "", {{1, Value::integer(3)}}, {}, {}}).ok());
  EXPECT_EQ(store.to_text(),
            "f 2 1=3\n"
            "top\n"
            "  a 1 1=\"n\"\n"
            "    b 1 1=\"n\"\n"
            "    c 1 1=\"n\"\n"
            "      d 1 1=\"n\"\n"
            "  e 1 1=\"n\"\n");
}

TEST(MemoryItemStore, PutPlacesAfterTheSiblingOrLast) {
  MemoryItemStore store = sample();
  EXPECT_TRUE(store.put(node("e", "a"), "b").ok());
  EXPECT_THAT(store.children("a"), ElementsAre("b", "e", "c"));
  EXPECT_TRUE(store.put(node("c", "a"), "").ok());
  EXPECT_THAT(store.children("a"), ElementsAre("c", "b", "e"));
  EXPECT_TRUE(store.put(node("c", "a", "renamed")).ok());
  EXPECT_THAT(store.children("a"), ElementsAre("c", "b", "e"));
  EXPECT_TRUE(store.put(node("d", "a")).ok());
  EXPECT_THAT(store.children("a"), ElementsAre("c", "b", "e", "d"));
}

TEST(MemoryItemStore, PutRefusesWhatCannotStand) {
  MemoryItemStore store = sample();
  const std::string before = store.to_text();
  EXPECT_EQ(store.put(node("a", "d")).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(store.put(node("", "top")).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(store.put(node("top", "a")).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(store.put({"x", 99, "", {}, {}, {}}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(store.put({"x", kFlat, "a", {}, {}, {}}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(store.put(node("x", "nowhere")).code(), StatusCode::kNotFound);
  EXPECT_EQ(store.put(node("x", "a"), "e").code(), StatusCode::kNotFound);
  EXPECT_EQ(store.put(node("b", "a"), "b").code(), StatusCode::kNotFound);
  EXPECT_EQ(store.remove("x").code(), StatusCode::kNotFound);
  EXPECT_EQ(store.to_text(), before);
}

TEST(MemoryItemStore, RemoveTakesAllBelow) {
  MemoryItemStore store = sample();
  EXPECT_TRUE(store.remove("a").ok());
  EXPECT_EQ(store.to_text(), "top\n  e 1 1=\"n\"\n");
  EXPECT_EQ(store.size(), 1u);
}

TEST(MemoryItemStore, CopiesEditedApartNeverShareAnAnchor) {
  MemoryItemStore first = sample();
  MemoryItemStore second = first;
  EXPECT_EQ(anchor_of(first), anchor_of(second));
  EXPECT_TRUE(first.put(node("e", "top", "x")).ok());
  EXPECT_TRUE(second.put(node("e", "top", "y")).ok());
  EXPECT_NE(anchor_of(first), anchor_of(second));
}

TEST(MemoryItemStore, ASiblingThatWasNotWrittenIsPassedOver) {
  MemoryItemStore store = sample();
  // "x" is expected to be there already, so it is not written; "y" takes the place behind b.
  const std::vector<StoreWrite> writes = {put(node("x", "a"), "b", node("x", "a")), put(node("y", "a"), "x")};
  const auto written = store.apply(writes, anchor_of(store));
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(written->outcomes[0].state, WriteState::kChanged);
  EXPECT_EQ(written->outcomes[1].state, WriteState::kWritten);
  EXPECT_THAT(store.children("a"), ElementsAre("b", "y", "c"));
}

TEST(MemoryItemStore, ASiblingThatWasNotWrittenIsFollowedUnlessItWasToMove) {
  for (const bool moves : {false, true}) {
    MemoryItemStore store = sample();
    StoreWrite unwritten = put(node("c", "a", "new"), "", node("c", "a", "other"));
    unwritten.moves = moves;
    const auto written = store.apply(std::vector<StoreWrite>{unwritten, put(node("y", "a"), "c")}, anchor_of(store));
    ASSERT_TRUE(written.ok());
    EXPECT_EQ(written->outcomes[0].state, WriteState::kChanged);
    EXPECT_EQ(store.children("a"), moves ? std::vector<StoreKey>({"y", "b", "c"}) : std::vector<StoreKey>({"b", "c", "y"}));
  }
}

TEST(MemoryItemStore, AParentOrSiblingThatAUserRemovedMeansChanged) {
  MemoryItemStore store = sample();
  const std::vector<StoreWrite> writes = {
      put(node("x", "removed")), put(node("y", "a"), "removed"), {WriteKind::kRemove, node("c", "a"), {}, node("c", "a")}};
  const auto written = store.apply(writes, anchor_of(store));
  ASSERT_TRUE(written.ok());
  for (const WriteOutcome& outcome : written->outcomes) EXPECT_EQ(outcome.state, WriteState::kChanged);
  EXPECT_EQ(store.to_text(), sample().to_text());
}

TEST(MemoryItemStore, WhatTheSchemaForbidsFailsAloneAndTheRestGoesOn) {
  for (const WriteUnit unit : {WriteUnit::kEachItem, WriteUnit::kWholeStore}) {
    MemoryItemStore store = sample(unit);
    const std::vector<StoreWrite> writes = {put({"x", 99, "", {}, {}, {}}), put(node("y", "x")), put(node("z", "a"))};
    const auto written = store.apply(writes, anchor_of(store));
    ASSERT_TRUE(written.ok());
    EXPECT_EQ(written->outcomes[0].state, WriteState::kFailed);
    EXPECT_EQ(written->outcomes[0].status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(written->outcomes[1].state, WriteState::kFailed);
    EXPECT_EQ(written->outcomes[2].state, WriteState::kWritten);
    EXPECT_THAT(store.children("a"), ElementsAre("z", "b", "c"));
    EXPECT_EQ(written->anchor, anchor_of(store));
  }
}

TEST(MemoryItemStore, AWholeStoreIsWrittenAllOrNothing) {
  MemoryItemStore store = sample(WriteUnit::kWholeStore);
  const Bytes anchor = anchor_of(store);
  const std::vector<StoreWrite> writes = {put(node("x", "a")),
                                          put(node("e", "top", "new"), "a", node("e", "top", "other"))};
  const auto written = store.apply(writes, anchor);
  ASSERT_TRUE(written.ok());
  for (const WriteOutcome& outcome : written->outcomes) EXPECT_EQ(outcome.state, WriteState::kChanged);
  EXPECT_EQ(store.to_text(), sample().to_text());
  EXPECT_EQ(anchor_of(store), anchor);
}

TEST(MemoryMetadataStore, ACopyIsABackupThatCanBeRestored) {
  MemoryMetadataStore store;
  const auto set_tick = [](MemoryMetadataStore& metadata, Tick tick) {
    const auto transaction = *metadata.begin(TransactionMode::kWrite);
    ReplicaState state;
    state.last_tick = tick;
    EXPECT_TRUE(transaction->set_state(state).ok());
    EXPECT_TRUE(transaction->put(testing::plain_item(static_cast<std::uint32_t>(tick), {}, {}), {}).ok());
    EXPECT_TRUE(transaction->commit().ok());
  };
  const auto tick_of = [](MemoryMetadataStore& metadata) {
    return (*metadata.begin(TransactionMode::kRead))->state()->last_tick;
  };
  set_tick(store, 1);
  EXPECT_TRUE(store.prepare({7, {}}).ok());
  MemoryMetadataStore backup = store;
  set_tick(store, 2);
  EXPECT_TRUE(store.prepare({8, {}}).ok());
  EXPECT_EQ(tick_of(backup), 1u);
  EXPECT_EQ(backup.prepared(7)->write_number, 7u);
  EXPECT_EQ((*store.begin(TransactionMode::kRead))->counts()->alive, 2u);
  store = backup;
  EXPECT_EQ(tick_of(store), 1u);
  set_tick(store, 3);
  EXPECT_EQ(tick_of(backup), 1u);
  EXPECT_EQ((*backup.begin(TransactionMode::kRead))->counts()->alive, 1u);
}

}  // namespace
}  // namespace harmonica::providers
