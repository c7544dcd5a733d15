// What every metadata store must do. Each registers once, at the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "contract/metadata_samples.h"
#include "harmonica/providers/memory.h"
#include "harmonica/providers/metadata.h"
#include "harmonica/providers/records.h"

namespace harmonica {
namespace {

using testing::conflict_id;
using testing::conflict_record;
using testing::deferred_record;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::item_id;
using testing::item_with_bases;
using testing::plain_item;
using testing::replica_id;
using testing::rich_item;

enum class Backend { kMemory, kSqliteFile, kSqliteMemory, kRecords };

class MetadataStoreContract : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    switch (GetParam()) {
      case Backend::kMemory:
        store_ = providers::make_memory_metadata();
        return;
      case Backend::kSqliteFile: {
        std::string pattern = std::filesystem::temp_directory_path() / "harmonica-contract-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        auto store = providers::open_sqlite_metadata(folder_ / "metadata.db");
        ASSERT_TRUE(store.ok()) << store.status().to_text();
        store_ = *std::move(store);
        return;
      }
      case Backend::kRecords: {
        // Beside another scope with the same items, of which nothing must be seen.
        std::string pattern = std::filesystem::temp_directory_path() / "harmonica-contract-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        {
          auto other = providers::open_records(folder_ / "records.db", {.scope = "other"});
          ASSERT_TRUE(other.ok()) << other.status().to_text();
          store_ = *std::move(other);
          const auto transaction = write();
          for (std::uint32_t number = 1; number < 50; ++number) {
            put(*transaction, plain_item(number, {replica_id(1), number}, {replica_id(2), number}),
                {{IndexKind::kStoreKey, {static_cast<std::uint8_t>(number)}}});
          }
          ASSERT_TRUE(transaction->put_conflict(conflict_record(1, 100)).ok());
          ASSERT_TRUE(transaction->set_knowledge(Knowledge(ClockVector({{replica_id(1), 99}}))).ok());
          ASSERT_TRUE(transaction->commit().ok());
        }
        auto store = providers::open_sqlite_scope(folder_ / "records.db", 2);
        ASSERT_TRUE(store.ok()) << store.status().to_text();
        store_ = *std::move(store);
        return;
      }
      case Backend::kSqliteMemory: {
        auto store = providers::open_sqlite_metadata(":memory:");
        ASSERT_TRUE(store.ok()) << store.status().to_text();
        store_ = *std::move(store);
        return;
      }
    }
  }

  void TearDown() override {
    store_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  std::unique_ptr<MetadataTransaction> begin(TransactionMode mode) {
    auto transaction = store_->begin(mode);
    EXPECT_TRUE(transaction.ok()) << transaction.status().to_text();
    return *std::move(transaction);
  }
  std::unique_ptr<MetadataTransaction> read() { return begin(TransactionMode::kRead); }
  std::unique_ptr<MetadataTransaction> write() { return begin(TransactionMode::kWrite); }

  static void put(MetadataTransaction& transaction, const StoredItem& item, std::vector<IndexEntry> entries = {}) {
    const Status status = transaction.put(item, entries);
    ASSERT_TRUE(status.ok()) << status.to_text();
  }

  static std::vector<ItemId> scanned(MetadataTransaction& transaction, const ItemIdRange& range) {
    std::vector<ItemId> ids;
    const Status status = transaction.scan(range, [&](const StoredItem& item) -> Result<Visit> {
      ids.push_back(item.item.id);
      return Visit::kContinue;
    });
    EXPECT_TRUE(status.ok()) << status.to_text();
    return ids;
  }

  static std::vector<ConflictRecord> conflicts(MetadataTransaction& transaction) {
    std::vector<ConflictRecord> records;
    const Status status = transaction.scan_conflicts([&](const ConflictRecord& record) -> Result<Visit> {
      records.push_back(record);
      return Visit::kContinue;
    });
    EXPECT_TRUE(status.ok()) << status.to_text();
    return records;
  }

  std::filesystem::path folder_;
  std::unique_ptr<MetadataStore> store_;
};

TEST_P(MetadataStoreContract, ANewStoreHoldsNothing) {
  const auto transaction = read();
  EXPECT_EQ(*transaction->state(), ReplicaState{});
  EXPECT_EQ(*transaction->knowledge(), Knowledge());
  EXPECT_EQ(*transaction->forgotten(), Knowledge());
  EXPECT_EQ(*transaction->anchor(), Bytes());
  EXPECT_EQ(*transaction->counts(), ItemCounts{});
  EXPECT_FALSE(transaction->find(item_id(1))->has_value());
  EXPECT_THAT(scanned(*transaction, ItemIdRange::all()), IsEmpty());
  EXPECT_THAT(*transaction->find_index({}), IsEmpty());
  EXPECT_THAT(*transaction->find_lacking(Knowledge(), ItemIdRange::all(), 10), IsEmpty());
  EXPECT_THAT(conflicts(*transaction), IsEmpty());
  EXPECT_EQ(*store_->prepared(1), PreparedWrite{});
}

TEST_P(MetadataStoreContract, TheFilterIsKeptWithTheState) {
  const Filter filter = *Filter::parse("count >= :n or label = :t", {{"t", Value::text("x")}, {"n", Value::real(0.5)}});
  auto transaction = write();
  ReplicaState state = *transaction->state();
  state.filter = filter;
  state.has_had_filter = true;
  ASSERT_TRUE(transaction->set_state(state).ok());
  EXPECT_EQ(transaction->state()->filter, filter);
  ASSERT_TRUE(transaction->commit().ok());
  transaction.reset();
  EXPECT_EQ(*read()->state(), state);
  transaction = write();
  state.filter.reset();
  ASSERT_TRUE(transaction->set_state(state).ok());
  ASSERT_TRUE(transaction->commit().ok());
  transaction.reset();
  EXPECT_EQ(*read()->state(), state);
}

TEST_P(MetadataStoreContract, GhostsAreKeptByItem) {
  const auto ghosts = [](MetadataTransaction& transaction, const ItemIdRange& range) {
    std::vector<std::pair<ItemId, ClockVector>> found;
    const Status status =
        transaction.scan_ghosts(range, [&](const ItemId& item, const ClockVector& versions) -> Result<Visit> {
          found.emplace_back(item, versions);
          return found.size() == 2 ? Visit::kStop : Visit::kContinue;
        });
    EXPECT_TRUE(status.ok()) << status.to_text();
    return found;
  };
  const ClockVector one({{replica_id(1), 3}});
  const ClockVector two({{replica_id(1), 4}, {replica_id(2), std::numeric_limits<Tick>::max()}});
  auto transaction = write();
  EXPECT_TRUE(transaction->find_ghost(item_id(1))->empty());
  for (const std::uint32_t number : {9u, 1u, 5u}) ASSERT_TRUE(transaction->put_ghost(item_id(number), one).ok());
  ASSERT_TRUE(transaction->put_ghost(item_id(5), two).ok());
  EXPECT_EQ(*transaction->find_ghost(item_id(5)), two);
  EXPECT_TRUE(transaction->find_ghost(item_id(6))->empty());
  EXPECT_FALSE(transaction->find(item_id(5))->has_value());
  EXPECT_THAT(ghosts(*transaction, ItemIdRange::all()),
              ElementsAre(std::pair(item_id(1), one), std::pair(item_id(5), two)));
  EXPECT_THAT(ghosts(*transaction, {item_id(5), item_id(8)}), ElementsAre(std::pair(item_id(5), two)));
  ASSERT_TRUE(transaction->put_ghost(item_id(1), {}).ok());
  ASSERT_TRUE(transaction->put_ghost(item_id(2), {}).ok());
  ASSERT_TRUE(transaction->commit().ok());
  EXPECT_THAT(ghosts(*read(), ItemIdRange::all()), ElementsAre(std::pair(item_id(5), two), std::pair(item_id(9), one)));
  // What is not committed is not there.
  transaction.reset();
  ASSERT_TRUE(write()->put_ghost(item_id(1), one).ok());
  EXPECT_TRUE(read()->find_ghost(item_id(1))->empty());
}

TEST_P(MetadataStoreContract, AnItemIsFoundAsItWasPut) {
  const auto transaction = write();
  put(*transaction, item_with_bases(4));
  put(*transaction, rich_item(5));
  put(*transaction, plain_item(6, {replica_id(1), 3}, {replica_id(1), 3}));
  EXPECT_EQ(*transaction->find(item_id(4)), item_with_bases(4));
  EXPECT_EQ(*transaction->find(item_id(5)), rich_item(5));
  ASSERT_TRUE(transaction->commit().ok());
  EXPECT_EQ(*read()->find(item_id(5)), rich_item(5));
  EXPECT_EQ(*read()->find(item_id(6)), plain_item(6, {replica_id(1), 3}, {replica_id(1), 3}));
  // One after the other, in the same memory.
  std::vector<StoredItem> all;
  const Status status = read()->scan(ItemIdRange::all(), [&](const StoredItem& item) -> Result<Visit> {
    all.push_back(item);
    return Visit::kContinue;
  });
  EXPECT_EQ(status, Status());
  EXPECT_THAT(all, ElementsAre(item_with_bases(4), rich_item(5), plain_item(6, {replica_id(1), 3}, {replica_id(1), 3})));
}

TEST_P(MetadataStoreContract, StateAndKnowledgeAreReadAsTheyWereSet) {
  ReplicaState state;
  state.replica = replica_id(1);
  state.scope = "favorites";
  state.schema_fingerprint = std::numeric_limits<std::uint64_t>::max();
  state.last_tick = std::numeric_limits<Tick>::max();
  state.reserved_tick = 5;
  state.write_number = 7;
  const Bytes anchor = {0, 1, 255};
  state.wanted_whole = {item_id(1), item_id(2)};
  state.former_replicas = {replica_id(8), replica_id(2)};
  Knowledge knowledge(ClockVector({{replica_id(1), 100}, {replica_id(2), std::numeric_limits<Tick>::max()}}));
  knowledge.assign({item_id(3), item_id(4)}, ClockVector({{replica_id(3), 1}}));
  knowledge.assign({item_id(9), last_item_id()}, ClockVector());
  const Knowledge forgotten(ClockVector({{replica_id(4), 4}}));

  const auto transaction = write();
  ASSERT_TRUE(transaction->set_state(state).ok());
  ASSERT_TRUE(transaction->set_anchor(anchor).ok());
  ASSERT_TRUE(transaction->set_knowledge(knowledge).ok());
  ASSERT_TRUE(transaction->set_forgotten(forgotten).ok());
  ASSERT_TRUE(transaction->commit().ok());
  EXPECT_EQ(*read()->state(), state);
  EXPECT_EQ(*read()->anchor(), anchor);
  EXPECT_EQ(*read()->knowledge(), knowledge);
  EXPECT_EQ(*read()->forgotten(), forgotten);
}

TEST_P(MetadataStoreContract, MarksPeersAndReplicasAreReadAsTheyWereSet) {
  const std::vector<LineageMark> lineage = {{1, 0}, {std::numeric_limits<std::uint64_t>::max(), 7}};
  const Peer first{replica_id(1), {5, 6}, -8, ClockVector({{replica_id(2), 7}})};
  const Peer second{replica_id(255), {}, 4, {}};
  ReplicaRow row;
  row.replica = replica_id(9);
  row.name = "h\xc3\xa9";
  row.named_ms = -5;
  row.former = replica_id(8);
  row.kept = std::numeric_limits<Tick>::max();
  row.copied = true;
  row.last = 3;
  ReplicaRow gone;
  gone.replica = replica_id(3);
  gone.retired = true;
  const ReplicaTable table = *ReplicaTable::from_rows({row, gone});
  {
    const auto transaction = write();
    EXPECT_THAT(*transaction->lineage(), IsEmpty());
    EXPECT_THAT(*transaction->peers(), IsEmpty());
    ASSERT_TRUE(transaction->set_lineage(lineage).ok());
    EXPECT_EQ(*transaction->replicas(), ReplicaTable());
    ASSERT_TRUE(transaction->set_replicas(table).ok());
    ASSERT_TRUE(transaction->put_peer(second).ok());
    ASSERT_TRUE(transaction->put_peer({replica_id(1), {1}, 1}).ok());
    ASSERT_TRUE(transaction->put_peer(first).ok());
    EXPECT_EQ(*transaction->find_peer(replica_id(1)), first);
    ASSERT_TRUE(transaction->commit().ok());
  }
  EXPECT_EQ(*read()->lineage(), lineage);
  EXPECT_EQ(*read()->replicas(), table);
  EXPECT_THAT(*read()->peers(), ElementsAre(first, second));
  EXPECT_EQ(*read()->find_peer(replica_id(255)), second);
  EXPECT_FALSE(read()->find_peer(replica_id(2))->has_value());
}

TEST_P(MetadataStoreContract, PutReplacesAnItemWithItsEntriesAndVersions) {
  const auto transaction = write();
  put(*transaction, plain_item(1, {replica_id(1), 3}, {replica_id(2), 9}),
      {{IndexKind::kStoreKey, {1}}, {IndexKind::kName, {2}}});
  put(*transaction, plain_item(1, {replica_id(1), 3}, {replica_id(1), 4}),
      {{IndexKind::kName, {2}}, {IndexKind::kChild, {}}});
  EXPECT_EQ(*transaction->find(item_id(1)), plain_item(1, {replica_id(1), 3}, {replica_id(1), 4}));
  EXPECT_THAT(*transaction->find_index({IndexKind::kStoreKey, {}, {}}), IsEmpty());
  EXPECT_THAT(*transaction->find_index({IndexKind::kName, {}, {}}), ElementsAre(IndexPosition{{2}, item_id(1)}));
  EXPECT_THAT(*transaction->find_index({IndexKind::kChild, {}, {}}), ElementsAre(IndexPosition{{}, item_id(1)}));
  const Knowledge of_first(ClockVector({{replica_id(1), 4}}));
  EXPECT_THAT(*transaction->find_lacking(of_first, ItemIdRange::all(), 10), IsEmpty());
}

TEST_P(MetadataStoreContract, RemoveTakesAnItemWithItsEntriesAndVersions) {
  const auto transaction = write();
  put(*transaction, rich_item(1), {{IndexKind::kStoreKey, {1}}});
  ASSERT_TRUE(transaction->remove(item_id(1)).ok());
  ASSERT_TRUE(transaction->remove(item_id(2)).ok());
  EXPECT_FALSE(transaction->find(item_id(1))->has_value());
  EXPECT_THAT(*transaction->find_index({IndexKind::kStoreKey, {}, {}}), IsEmpty());
  EXPECT_THAT(*transaction->find_lacking(Knowledge(ClockVector({{replica_id(3), 1}})), ItemIdRange::all(), 10), IsEmpty());
}

TEST_P(MetadataStoreContract, CountsFollowEveryPutAndRemove) {
  StoredItem item = plain_item(1, {replica_id(1), 1}, {replica_id(1), 1});
  auto first = write();
  put(*first, item);
  put(*first, rich_item(2));
  EXPECT_EQ(*first->counts(), (ItemCounts{2, 0, 1}));
  item.item.existence = {{replica_id(1), 2}, Existence::kDeleted};
  put(*first, item);
  EXPECT_EQ(*first->counts(), (ItemCounts{1, 1, 1}));
  ASSERT_TRUE(first->commit().ok());
  EXPECT_EQ(*read()->counts(), (ItemCounts{1, 1, 1}));
  first.reset();
  const auto second = write();
  ASSERT_TRUE(second->remove(item_id(2)).ok());
  ASSERT_TRUE(second->remove(item_id(1)).ok());
  EXPECT_EQ(*second->counts(), ItemCounts{});
}

TEST_P(MetadataStoreContract, ScanGoesInIdOrderWithinItsRange) {
  const auto transaction = write();
  for (const std::uint32_t number : {0x80000000u, 5u, 3u, 4u, 1u}) {
    put(*transaction, plain_item(number, {replica_id(1), 1}, {replica_id(1), 1}));
  }
  EXPECT_THAT(scanned(*transaction, ItemIdRange::all()),
              ElementsAre(item_id(1), item_id(3), item_id(4), item_id(5), item_id(0x80000000u)));
  EXPECT_THAT(scanned(*transaction, {item_id(3), item_id(4)}), ElementsAre(item_id(3), item_id(4)));
  EXPECT_THAT(scanned(*transaction, {item_id(2), item_id(2)}), IsEmpty());
}

TEST_P(MetadataStoreContract, AVisitorMayReadStopAndFail) {
  const auto transaction = write();
  for (const std::uint32_t number : {1u, 2u, 3u}) {
    put(*transaction, plain_item(number, {replica_id(1), 1}, {replica_id(1), 1}));
  }
  std::vector<ItemId> visited;
  ASSERT_TRUE(transaction
                  ->scan(ItemIdRange::all(),
                         [&](const StoredItem& item) -> Result<Visit> {
                           EXPECT_EQ(*transaction->find(item.item.id), item);
                           EXPECT_EQ(scanned(*transaction, ItemIdRange::all()).size(), 3u);
                           visited.push_back(item.item.id);
                           return visited.size() == 2 ? Visit::kStop : Visit::kContinue;
                         })
                  .ok());
  EXPECT_THAT(visited, ElementsAre(item_id(1), item_id(2)));
  const Status failed = transaction->scan(
      ItemIdRange::all(), [](const StoredItem&) -> Result<Visit> { return Status(StatusCode::kCancelled, "enough"); });
  EXPECT_EQ(failed, Status(StatusCode::kCancelled, "enough"));
}

// Every query over a handful of keys, compared with sorting and filtering them.
TEST_P(MetadataStoreContract, FindIndexOrdersByKeyThenItem) {
  const std::vector<Bytes> keys = {{}, {0}, {0, 1}, {1}, {1, 255}, {1, 255, 255}, {255}, {255, 255}};
  const std::vector<IndexKind> kinds = {IndexKind::kStoreKey, IndexKind::kChild, IndexKind::kUnwritten};
  std::vector<IndexPosition> all;
  const auto transaction = write();
  for (std::uint32_t number = 1; number <= 3; ++number) {
    std::vector<IndexEntry> entries;
    for (const IndexKind kind : kinds) {
      for (const Bytes& key : keys) {
        if ((number + key.size()) % 2 == 0 || number == 1) entries.push_back({kind, key});
      }
    }
    for (const IndexEntry& entry : entries) {
      if (entry.kind == IndexKind::kChild) all.push_back({entry.key, item_id(number)});
    }
    put(*transaction, plain_item(number, {replica_id(1), 1}, {replica_id(1), 1}), entries);
  }
  const auto less = [](const IndexPosition& a, const IndexPosition& b) {
    return a.key != b.key ? a.key < b.key : a.item < b.item;
  };
  std::sort(all.begin(), all.end(), less);

  std::vector<std::optional<IndexPosition>> afters = {std::nullopt, IndexPosition{{0, 0}, item_id(2)},
                                                      IndexPosition{{1}, last_item_id()}};
  for (const IndexPosition& position : all) afters.emplace_back(position);
  for (const IndexOrder order : {IndexOrder::kAscending, IndexOrder::kDescending}) {
    for (const Bytes& prefix : keys) {
      for (const auto& after : afters) {
        for (const std::size_t count_max : {0u, 1u, 3u}) {
          std::vector<IndexPosition> expected;
          for (const IndexPosition& position : all) {
            const bool starts =
                position.key.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), position.key.begin());
            const bool beyond =
                !after.has_value() || (order == IndexOrder::kAscending ? less(*after, position) : less(position, *after));
            if (starts && beyond) expected.push_back(position);
          }
          if (order == IndexOrder::kDescending) std::reverse(expected.begin(), expected.end());
          if (count_max != 0 && expected.size() > count_max) expected.resize(count_max);
          EXPECT_EQ(*transaction->find_index({IndexKind::kChild, prefix, after, order, count_max}), expected)
              << to_hex(prefix) << " after " << (after ? to_hex(after->key) : "nothing");
        }
      }
    }
  }
}

TEST_P(MetadataStoreContract, FindLackingGivesTheFirstItemsBeyondAKnowledge) {
  const auto transaction = write();
  put(*transaction, plain_item(1, {replica_id(1), 10}, {replica_id(1), 10}));
  put(*transaction, plain_item(2, {replica_id(1), 10}, {replica_id(2), 20}));
  put(*transaction, plain_item(3, {replica_id(3), 1}, {replica_id(3), 1}));
  put(*transaction, plain_item(4, {replica_id(1), 10}, {replica_id(1), std::numeric_limits<Tick>::max()}));
  const auto lacking = [&](const Knowledge& knowledge, const ItemIdRange& range, std::size_t count_max) {
    return *transaction->find_lacking(knowledge, range, count_max);
  };
  Knowledge knowledge(ClockVector({{replica_id(1), 10}, {replica_id(2), 19}, {replica_id(3), 1}}));
  EXPECT_THAT(lacking(knowledge, ItemIdRange::all(), 10), ElementsAre(item_id(2), item_id(4)));
  EXPECT_THAT(lacking(knowledge, ItemIdRange::all(), 1), ElementsAre(item_id(2)));
  EXPECT_THAT(lacking(knowledge, ItemIdRange::all(), 0), IsEmpty());
  EXPECT_THAT(lacking(knowledge, {item_id(3), last_item_id()}, 10), ElementsAre(item_id(4)));
  knowledge.assign({item_id(1), item_id(1)}, ClockVector());
  knowledge.merge_at(item_id(4), ClockVector({{replica_id(1), std::numeric_limits<Tick>::max()}}));
  EXPECT_THAT(lacking(knowledge, ItemIdRange::all(), 10), ElementsAre(item_id(1), item_id(2)));
  EXPECT_THAT(lacking(Knowledge(), ItemIdRange::all(), 3), ElementsAre(item_id(1), item_id(2), item_id(3)));
}

// Random stores and knowledges, large enough for every way of searching, compared with asking each item.
TEST_P(MetadataStoreContract, FindLackingIsRightForEveryKnowledge) {
  constexpr std::uint32_t kItems = 700;
  std::mt19937 random(1);
  const auto draw = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  std::map<ItemId, Item> items;
  const auto transaction = write();
  for (std::uint32_t number = 1; number <= kItems; ++number) {
    const auto version = [&] { return Version{replica_id(static_cast<std::uint8_t>(1 + draw(5))), 1 + draw(1000)}; };
    const StoredItem item = plain_item(2 * number, version(), version());
    put(*transaction, item);
    items.emplace(item.item.id, item.item);
  }
  for (int round = 0; round < 300; ++round) {
    const auto vector = [&] {
      std::vector<ClockVector::Entry> entries;
      // Now and then one that knows nearly everything, and one that knows nothing.
      const std::uint32_t least = draw(4) == 0 ? 0 : draw(2) == 0 ? 990 : 500;
      if (draw(6) == 0) return ClockVector();
      for (std::uint8_t replica = 1; replica <= 5; ++replica) {
        entries.push_back({replica_id(replica), least + draw(1001 - least)});
      }
      return ClockVector(std::move(entries));
    };
    Knowledge knowledge(vector());
    for (std::uint32_t steps = draw(8); steps > 0; --steps) {
      const std::uint32_t first = draw(2 * kItems);
      knowledge.assign({item_id(first), item_id(first + draw(draw(3) == 0 ? 600 : 3))}, vector());
    }
    const std::uint32_t first = draw(3) == 0 ? 0 : draw(2 * kItems);
    const ItemIdRange range{item_id(first), draw(2) == 0 ? last_item_id() : item_id(first + draw(400))};
    const std::size_t count_max = draw(4) == 0 ? 1 + draw(5) : 1 + draw(2 * kItems);
    std::vector<ItemId> expected;
    for (const auto& [id, item] : items) {
      const bool known =
          knowledge.contains(id, item.existence.version) && knowledge.contains(id, item.units[0].content.version);
      if (!known && range.contains(id) && expected.size() < count_max) expected.push_back(id);
    }
    ASSERT_EQ(*transaction->find_lacking(knowledge, range, count_max), expected) << knowledge.to_text();
  }
}

TEST_P(MetadataStoreContract, ReadsSeeEveryStepOfTheTransaction) {
  {
    const auto earlier = write();
    put(*earlier, plain_item(1, {replica_id(1), 1}, {replica_id(1), 1}), {{IndexKind::kName, {1}}});
    put(*earlier, plain_item(2, {replica_id(1), 1}, {replica_id(1), 1}), {{IndexKind::kName, {2}}});
    ASSERT_TRUE(earlier->commit().ok());
  }
  const auto transaction = write();
  const auto named = [&] {
    const std::vector<IndexPosition> positions = *transaction->find_index({IndexKind::kName, {}, {}});
    std::vector<ItemId> items;
    for (const IndexPosition& position : positions) items.push_back(position.item);
    return items;
  };
  const auto lacking = [&] {
    return *transaction->find_lacking(Knowledge(ClockVector({{replica_id(1), 1}})), ItemIdRange::all(), 10);
  };
  const StoredItem first = plain_item(1, {replica_id(1), 1}, {replica_id(1), 2});
  const StoredItem second = plain_item(1, {replica_id(1), 1}, {replica_id(2), 3});

  put(*transaction, first, {{IndexKind::kName, {1}}, {IndexKind::kName, {3}}});
  EXPECT_THAT(named(), ElementsAre(item_id(1), item_id(2), item_id(1)));
  ASSERT_TRUE(transaction->remove(item_id(1)).ok());
  EXPECT_FALSE(transaction->find(item_id(1))->has_value());
  put(*transaction, first, {{IndexKind::kName, {3}}});
  put(*transaction, second, {{IndexKind::kName, {4}}});
  EXPECT_EQ(*transaction->find(item_id(1)), second);
  EXPECT_THAT(scanned(*transaction, ItemIdRange::all()), ElementsAre(item_id(1), item_id(2)));
  EXPECT_THAT(named(), ElementsAre(item_id(2), item_id(1)));
  EXPECT_THAT(lacking(), ElementsAre(item_id(1)));
  put(*transaction, plain_item(3, {replica_id(3), 1}, {replica_id(3), 1}));
  ASSERT_TRUE(transaction->remove(item_id(3)).ok());
  ASSERT_TRUE(transaction->remove(item_id(2)).ok());
  EXPECT_EQ(*transaction->counts(), (ItemCounts{1, 0, 0}));
  ASSERT_TRUE(transaction->remove(item_id(1)).ok());
  ASSERT_TRUE(transaction->commit().ok());

  const auto reader = read();
  EXPECT_THAT(scanned(*reader, ItemIdRange::all()), IsEmpty());
  EXPECT_THAT(*reader->find_index({IndexKind::kName, {}, {}}), IsEmpty());
  EXPECT_EQ(*reader->counts(), ItemCounts{});
}

// Random puts, removals, commits and abandoned transactions, with reads in between, compared with a map.
TEST_P(MetadataStoreContract, AnyMixOfReadsAndWritesAgreesWithAMap) {
  struct Held {
    StoredItem item;
    std::vector<IndexEntry> entries;
  };
  using Content = std::map<ItemId, Held>;
  std::mt19937 random(1);
  const auto draw = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  Content committed;
  for (int round = 0; round < 60; ++round) {
    Content content = committed;
    const auto transaction = write();
    for (std::uint32_t step = draw(80); step > 0; --step) {
      const std::uint32_t number = 1 + draw(12);
      const std::uint32_t action = draw(20);
      if (action < 10) {
        const auto version = [&] { return Version{replica_id(static_cast<std::uint8_t>(1 + draw(3))), 1 + draw(20)}; };
        Held held{plain_item(number, version(), version()), {}};
        if (draw(4) == 0) held.item.item.existence.value = Existence::kDeleted;
        if (draw(2) == 0) held.item.shown = ShownItem{"key", item_id(draw(3)), {1}, {}};
        held.item.view.parent = item_id(draw(3));
        for (std::uint8_t key = 0; key < 4; ++key) {
          if (draw(2) == 0) held.entries.push_back({IndexKind::kChild, Bytes(draw(20), key)});
        }
        put(*transaction, held.item, held.entries);
        content[item_id(number)] = held;
      } else if (action < 13) {
        ASSERT_TRUE(transaction->remove(item_id(number)).ok());
        content.erase(item_id(number));
      } else if (action < 16) {
        const auto found = *transaction->find(item_id(number));
        const auto expected = content.find(item_id(number));
        ASSERT_EQ(found, expected == content.end() ? std::nullopt : std::optional(expected->second.item));
      } else if (action == 16) {
        std::vector<ItemId> expected;
        for (const auto& [id, held] : content) expected.push_back(id);
        ASSERT_EQ(scanned(*transaction, ItemIdRange::all()), expected);
      } else if (action == 17) {
        std::set<std::pair<Bytes, ItemId>> expected;
        for (const auto& [id, held] : content) {
          for (const IndexEntry& entry : held.entries) expected.emplace(entry.key, id);
        }
        std::set<std::pair<Bytes, ItemId>> found;
        const std::vector<IndexPosition> positions = *transaction->find_index({IndexKind::kChild, {}, {}});
        for (const IndexPosition& position : positions) found.emplace(position.key, position.item);
        ASSERT_EQ(found, expected);
      } else if (action == 18) {
        ItemCounts expected;
        for (const auto& [id, held] : content) {
          ++(held.item.item.alive() ? expected.alive : expected.deleted);
          if (held.item.shown) ++expected.shown;
        }
        ASSERT_EQ(*transaction->counts(), expected);
      } else {
        const ClockVector vector({{replica_id(1), draw(20)}, {replica_id(2), draw(20)}, {replica_id(3), 18}});
        std::vector<ItemId> expected;
        for (const auto& [id, held] : content) {
          const Item& item = held.item.item;
          if (!vector.contains(item.existence.version) || !vector.contains(item.units[0].content.version)) {
            expected.push_back(id);
          }
        }
        ASSERT_EQ(*transaction->find_lacking(Knowledge(vector), ItemIdRange::all(), 100), expected);
      }
    }
    if (draw(4) == 0) continue;
    ASSERT_TRUE(transaction->commit().ok());
    committed = std::move(content);
  }
}

// More than anything would keep in memory before it writes.
TEST_P(MetadataStoreContract, ALargeTransactionIsSeenWholeByItselfAndByNobodyElseBeforeItsCommit) {
  constexpr std::uint32_t kItems = 6000;
  const auto item = [](std::uint32_t number, char letter) {
    StoredItem stored = plain_item(number, {replica_id(1), number}, {replica_id(2), number});
    stored.item.units[0].content.value = Value::text(std::string(2000, letter));
    return stored;
  };
  const auto entry = [](std::uint32_t number) {
    return IndexEntry{IndexKind::kStoreKey, {static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(number >> 8)}};
  };
  const auto scrambled = [](std::uint32_t index) { return 1 + index * 4001 % kItems; };
  {
    const auto before = read();
    const auto transaction = write();
    for (std::uint32_t index = 0; index < kItems; ++index) {
      const std::uint32_t number = scrambled(index);
      put(*transaction, item(number, 'a'), {entry(number)});
      // Some of them again, whether written out already or not.
      const std::uint32_t earlier = scrambled(index / 2);
      if (index % 3 == 0) put(*transaction, item(earlier, 'b'), {entry(earlier)});
      if (index % 3 == 1) {
        ASSERT_TRUE(transaction->remove(item_id(earlier)).ok());
      }
    }
    std::map<std::uint32_t, char> expected;
    for (std::uint32_t index = 0; index < kItems; ++index) {
      expected[scrambled(index)] = 'a';
      if (index % 3 == 0) expected[scrambled(index / 2)] = 'b';
      if (index % 3 == 1) expected.erase(scrambled(index / 2));
    }
    const auto check = [&](MetadataTransaction& reader) {
      auto next = expected.begin();
      ASSERT_TRUE(reader
                      .scan(ItemIdRange::all(),
                            [&](const StoredItem& found) -> Result<Visit> {
                              EXPECT_TRUE(found == item(next->first, next->second)) << next->first;
                              ++next;
                              return Visit::kContinue;
                            })
                      .ok());
      EXPECT_TRUE(next == expected.end());
      EXPECT_EQ(*reader.counts(), (ItemCounts{expected.size(), 0, 0}));
      EXPECT_EQ(reader.find_index({IndexKind::kStoreKey, {}, {}})->size(), expected.size());
    };
    check(*transaction);
    EXPECT_EQ(*before->counts(), ItemCounts{});
    EXPECT_EQ(*read()->counts(), ItemCounts{});
    ASSERT_TRUE(transaction->commit().ok());
    EXPECT_EQ(*before->counts(), ItemCounts{});
    check(*read());
  }
  {
    const auto abandoned = write();
    for (std::uint32_t number = 1; number <= kItems; ++number) put(*abandoned, item(number, 'c'), {entry(number)});
  }
  EXPECT_LT(read()->counts()->alive, kItems);
  EXPECT_NE(read()->find(item_id(scrambled(kItems - 1)))->value(), item(scrambled(kItems - 1), 'c'));
}

TEST_P(MetadataStoreContract, ConflictsStandInOrderOfTimeThenId) {
  const auto transaction = write();
  for (const ConflictRecord& record :
       {conflict_record(3, 50), conflict_record(2, 50), deferred_record(1, 60), conflict_record(4, -1)}) {
    ASSERT_TRUE(transaction->put_conflict(record).ok());
  }
  ASSERT_TRUE(transaction->put_conflict(conflict_record(3, 70)).ok());
  ASSERT_TRUE(transaction->remove_conflict(conflict_id(2)).ok());
  ASSERT_TRUE(transaction->remove_conflict(conflict_id(99)).ok());
  ASSERT_TRUE(transaction->commit().ok());
  const auto reader = read();
  EXPECT_THAT(conflicts(*reader), ElementsAre(conflict_record(4, -1), deferred_record(1, 60), conflict_record(3, 70)));
  EXPECT_EQ(*reader->find_conflict(conflict_id(1)), deferred_record(1, 60));
  EXPECT_FALSE(reader->find_conflict(conflict_id(2))->has_value());
}

TEST_P(MetadataStoreContract, WithoutCommitNothingStays) {
  {
    const auto transaction = write();
    put(*transaction, rich_item(1), {{IndexKind::kStoreKey, {1}}});
    ASSERT_TRUE(transaction->set_knowledge(Knowledge(ClockVector({{replica_id(1), 1}}))).ok());
    ASSERT_TRUE(transaction->put_conflict(conflict_record(1, 1)).ok());
  }
  const auto reader = read();
  EXPECT_FALSE(reader->find(item_id(1))->has_value());
  EXPECT_EQ(*reader->knowledge(), Knowledge());
  EXPECT_EQ(*reader->counts(), ItemCounts{});
  EXPECT_THAT(*reader->find_index({IndexKind::kStoreKey, {}, {}}), IsEmpty());
  EXPECT_THAT(conflicts(*reader), IsEmpty());
}

TEST_P(MetadataStoreContract, ReplicasOfAnAbandonedTransactionLeaveNoTrace) {
  {
    const auto abandoned = write();
    put(*abandoned, plain_item(1, {replica_id(7), 1}, {replica_id(8), 1}));
  }
  const StoredItem item = plain_item(1, {replica_id(9), 1}, {replica_id(7), 2});
  {
    const auto transaction = write();
    put(*transaction, item);
    ASSERT_TRUE(transaction->commit().ok());
  }
  EXPECT_EQ(*read()->find(item_id(1)), item);
  EXPECT_THAT(
      *read()->find_lacking(Knowledge(ClockVector({{replica_id(9), 1}, {replica_id(7), 1}})), ItemIdRange::all(), 9),
      ElementsAre(item_id(1)));
}

TEST_P(MetadataStoreContract, AReaderKeepsTheSnapshotItBeganWith) {
  const auto before = read();
  const auto writer = write();
  put(*writer, rich_item(1));
  const auto beside = read();
  ASSERT_TRUE(writer->commit().ok());
  const auto after = read();
  EXPECT_FALSE(before->find(item_id(1))->has_value());
  EXPECT_FALSE(beside->find(item_id(1))->has_value());
  EXPECT_TRUE(after->find(item_id(1))->has_value());
  EXPECT_EQ(*before->counts(), ItemCounts{});
}

TEST_P(MetadataStoreContract, ASecondWriterIsUnavailable) {
  auto first = write();
  EXPECT_EQ(store_->begin(TransactionMode::kWrite).status().code(), StatusCode::kUnavailable);
  first.reset();
  EXPECT_TRUE(store_->begin(TransactionMode::kWrite).ok());
}

TEST_P(MetadataStoreContract, WhatIsPreparedStandsApartFromTransactions) {
  PreparedWrite prepared;
  prepared.write_number = 8;
  prepared.items = {{item_id(1), "key", ShownItem{"key", item_id(2), {3}, {{1, Value::text("shown")}}}},
                    {item_id(2), "gone", std::nullopt}};
  {
    const auto abandoned = write();
    put(*abandoned, rich_item(1));
    ASSERT_TRUE(store_->prepare(prepared).ok());
  }
  EXPECT_EQ(*store_->prepared(8), prepared);
  EXPECT_EQ(*store_->prepared(7), PreparedWrite{});
  EXPECT_EQ(*read()->counts(), ItemCounts{});
  ASSERT_TRUE(store_->prepare({9, {}}).ok());
  EXPECT_EQ(*store_->prepared(9), (PreparedWrite{9, {}}));
  EXPECT_EQ(*store_->prepared(8), PreparedWrite{});
}

TEST_P(MetadataStoreContract, WipingWhatWasRemovedTakesNothingElse) {
  StoredItem erased = plain_item(2, {replica_id(1), 9}, {});
  erased.item.existence.value = Existence::kErased;
  erased.item.units.clear();
  {
    const auto transaction = write();
    put(*transaction, rich_item(1), {{IndexKind::kStoreKey, {1}}});
    put(*transaction, plain_item(2, {replica_id(1), 2}, {replica_id(1), 2}));
    ASSERT_TRUE(transaction->put_conflict(conflict_record(1, 5)).ok());
    ASSERT_TRUE(transaction->commit().ok());
  }
  const auto before = read();
  {
    const auto transaction = write();
    put(*transaction, erased, {{IndexKind::kErased, {}}});
    ASSERT_TRUE(transaction->commit().ok());
  }
  EXPECT_EQ(store_->wipe_removed(), Status());
  EXPECT_EQ(store_->wipe_removed(), Status());
  EXPECT_TRUE((*before->find(item_id(2)))->item.alive());
  const auto now = read();
  EXPECT_EQ(**now->find(item_id(1)), rich_item(1));
  EXPECT_EQ(**now->find(item_id(2)), erased);
  EXPECT_EQ(**now->find_conflict(conflict_record(1, 5).id), conflict_record(1, 5));
  EXPECT_EQ(now->find_index({IndexKind::kErased, {}, {}})->size(), 1u);
  EXPECT_EQ(*now->counts(), (ItemCounts{1, 1, 1}));
}

TEST_P(MetadataStoreContract, SchemasAreRememberedAsTheyWereSet) {
  EXPECT_EQ(*read()->schemas(), SchemaMemory{});
  SchemaMemory schemas;
  schemas.own.default_scope = "notes";
  ItemType note{.id = 7, .name = "note", .deletion = DeletionRule::kDeleteWins, .rule = ConflictRule::kManual};
  note.units = {{.id = 1, .name = "title", .rule = ConflictRule::kPriority, .priority_unit = 300},
                {.id = 2, .name = "order", .kind = ValueKind::kBytes, .role = UnitRole::kPosition},
                {.id = 300, .name = "rank", .kind = ValueKind::kInteger, .recording = ConflictRecording::kSilent}};
  note.natural_key = {300, 1};
  schemas.own.types = {note, {.id = 65535, .name = "tag"}};
  schemas.own.roots = {{item_id(5), "bar"}};
  schemas.compatible = {1, std::numeric_limits<std::uint64_t>::max()};
  {
    const auto transaction = write();
    ASSERT_TRUE(transaction->set_schemas(schemas).ok());
    EXPECT_EQ(*transaction->schemas(), schemas);
  }
  EXPECT_EQ(*read()->schemas(), SchemaMemory{});
  const auto transaction = write();
  ASSERT_TRUE(transaction->set_schemas(schemas).ok());
  ASSERT_TRUE(transaction->commit().ok());
  EXPECT_EQ(*read()->schemas(), schemas);
}

// However a store keeps them.
TEST_P(MetadataStoreContract, LargeValuesComeBackWhole) {
  const auto item_with = [](std::uint32_t number, std::size_t bytes, char filled_with) {
    StoredItem item = plain_item(number, {replica_id(1), number}, {replica_id(1), number});
    item.item.units.push_back({2, {{replica_id(1), number}, Value::text(std::string(bytes, filled_with))}});
    item.item.units.push_back({3, {{replica_id(1), number}, Value::bytes(Bytes(bytes, 7)), Origin::kMadeByRule}});
    item.item.units.push_back({4, {{replica_id(1), number}, Value::integer(5)}});
    return item;
  };
  const std::vector<StoredItem> items = {item_with(1, 4'000, 'a'), item_with(2, 5'000, 'a'), item_with(3, 5'000, 'a'),
                                         item_with(4, 3'000'000, 'b')};
  {
    const auto transaction = write();
    for (const StoredItem& item : items) put(*transaction, item);
    for (const StoredItem& item : items) EXPECT_EQ(*transaction->find(item.item.id), item);
    ASSERT_TRUE(transaction->commit().ok());
  }
  {
    // One of two that share it goes, another one changes and changes back.
    const auto transaction = write();
    ASSERT_TRUE(transaction->remove(items[1].item.id).ok());
    put(*transaction, item_with(4, 6'000, 'c'));
    EXPECT_EQ(scanned(*transaction, ItemIdRange::all()).size(), 3u);
    put(*transaction, items[3]);
    ASSERT_TRUE(transaction->commit().ok());
  }
  const auto transaction = read();
  for (const std::size_t index : {std::size_t{0}, std::size_t{2}, std::size_t{3}}) {
    EXPECT_EQ(*transaction->find(items[index].item.id), items[index]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, MetadataStoreContract,
                         ::testing::Values(Backend::kMemory, Backend::kSqliteFile, Backend::kSqliteMemory,
                                           Backend::kRecords),
                         [](const ::testing::TestParamInfo<Backend>& backend) -> std::string {
                           switch (backend.param) {
                             case Backend::kMemory:
                               return "Memory";
                             case Backend::kSqliteFile:
                               return "SqliteFile";
                             case Backend::kSqliteMemory:
                               return "SqliteMemory";
                             case Backend::kRecords:
                               return "Records";
                           }
                           return "";
                         });

}  // namespace
}  // namespace harmonica
