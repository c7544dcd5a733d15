// Replicas compared over a channel, and mended.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/kernel/test_environment.h"
#include "harmonica/extension/provider.h"
#include "harmonica/extension/remote.h"
#include "harmonica/providers/memory.h"
#include "harmonica/replica.h"
#include "harmonica/session.h"

namespace harmonica::kernel {
namespace {

constexpr UnitId kTitle = 1;

Schema schema() {
  Schema result;
  result.default_scope = "test";
  result.types = {{1, "note", DeletionRule::kEditWins, {{kTitle, "title", ValueKind::kText}}, {}}};
  return result;
}

struct Device {
  explicit Device(std::uint8_t seed) : environment(seed) {
    auto opened = Replica::open(store, metadata, environment, {Guard::kConfirmed});
    EXPECT_TRUE(opened.ok()) << opened.status().to_text();
    replica = *std::move(opened);
  }

  void put(const StoreKey& key, const std::string& title) {
    EXPECT_EQ(store.put({key, 1, "", {{kTitle, Value::text(title)}}, {}, {}}), Status());
  }
  std::string title(const StoreKey& key) const {
    const StoreItem* item = store.find(key);
    return item == nullptr ? "" : *item->values.front().value.if_text();
  }

  // The metadata and the store go back to what the item was before, and the knowledge does not.
  void lose(const StoredItem& before) {
    EXPECT_EQ(store.put({before.shown->key, 1, "", before.shown->values, {}, {}}), Status());
    const auto transaction = *metadata.begin(TransactionMode::kWrite);
    EXPECT_EQ(transaction->put(before, std::vector<IndexEntry>{{IndexKind::kStoreKey, Bytes(before.shown->key.begin(),
                                                                                            before.shown->key.end())}}),
              Status());
    EXPECT_EQ(transaction->commit(), Status());
  }
  StoredItem only_item() {
    StoredItem found;
    EXPECT_EQ(replica->scan([&](const StoredItem& stored) -> Result<Visit> {
      found = stored;
      return Visit::kContinue;
    }),
              Status());
    return found;
  }

  providers::MemoryItemStore store{schema(), WriteUnit::kEachItem};
  providers::MemoryMetadataStore metadata;
  TestEnvironment environment;
  std::unique_ptr<Replica> replica;
};

class CountingChannel final : public Channel {
 public:
  explicit CountingChannel(RequestHandler& handler) : handler_(handler) {}
  Result<Bytes> exchange(ByteView request) override {
    ++exchanges;
    Bytes response = handler_.handle(request);
    bytes += request.size() + response.size();
    return response;
  }
  std::size_t exchanges = 0;
  std::size_t bytes = 0;

 private:
  RequestHandler& handler_;
};

void sync(Device& first, Device& second) {
  const Result<SynchronizeReport> done = synchronize(first.replica->provider(), second.replica->provider(), {});
  ASSERT_TRUE(done.ok()) << done.status().to_text();
}

TEST(Comparison, FindsOneDifferenceAmongManyItemsInFourExchangesAndFewBytes) {
  Device first(1);
  Device second(2);
  for (int number = 0; number < 5'000; ++number) first.put("n" + std::to_string(number), std::to_string(number));
  sync(first, second);
  first.put("n77", "changed");
  const std::unique_ptr<RequestHandler> endpoint = make_provider_endpoint(second.replica->provider());
  CountingChannel channel(*endpoint);
  const std::unique_ptr<Provider> far = make_remote_provider(channel, {});
  const Result<Comparison> comparison = first.replica->compare_with(*far, 10);
  ASSERT_TRUE(comparison.ok()) << comparison.status().to_text();
  EXPECT_FALSE(comparison->equal);
  ASSERT_EQ(comparison->differences.size(), 1u);
  EXPECT_EQ(comparison->differences.front().kind, DifferenceKind::kVersions);
  EXPECT_EQ(comparison->exchanges, channel.exchanges);
  EXPECT_LE(channel.exchanges, 4u);
  EXPECT_LE(channel.bytes, 8'000u);
}

TEST(Comparison, EqualReplicasTakeThreeExchanges) {
  Device first(1);
  Device second(2);
  first.put("a", "title");
  sync(first, second);
  const Result<Comparison> comparison = compare(*first.replica, *second.replica, 10);
  ASSERT_TRUE(comparison.ok());
  EXPECT_TRUE(comparison->equal);
  EXPECT_EQ(comparison->exchanges, 3u);
  EXPECT_EQ(comparison->first_knowledge, comparison->second_knowledge);
}

TEST(Comparison, OfReplicasThatNeverSyncedIsRefused) {
  Device first(1);
  Device second(2);
  EXPECT_EQ(compare(*first.replica, *second.replica, 10).status().code(), StatusCode::kScopeMismatch);
}

TEST(Comparison, RepairBringsBackWhatAReplicaClaimsAndHasLost) {
  Device first(1);
  Device second(2);
  first.put("a", "old");
  sync(first, second);
  const StoredItem old = second.only_item();
  first.put("a", "new");
  sync(first, second);
  second.lose(old);
  sync(first, second);
  EXPECT_NE(second.title(old.shown->key), "new");

  const Result<Comparison> comparison = compare(*first.replica, *second.replica, 10);
  ASSERT_TRUE(comparison.ok());
  EXPECT_EQ(comparison->difference_count, 1u);
  const Result<RepairReport> repaired = repair(*comparison, *first.replica, *second.replica);
  ASSERT_TRUE(repaired.ok()) << repaired.status().to_text();
  EXPECT_EQ(repaired->asked_again_first, 0u);
  EXPECT_EQ(repaired->asked_again_second, 1u);

  // Until it has come, what stands here is passed on to nobody.
  Device third(3);
  sync(third, second);
  EXPECT_EQ(third.title(old.shown->key), "");
  sync(first, second);
  sync(third, second);
  EXPECT_EQ(second.title(old.shown->key), "new");
  EXPECT_EQ(third.title(old.shown->key), "new");
  EXPECT_TRUE(compare(*first.replica, *second.replica, 10)->equal);
}

TEST(Comparison, RepairLeavesToSyncWhatOnlyHasNotBeenSynced) {
  Device first(1);
  Device second(2);
  first.put("a", "old");
  sync(first, second);
  first.put("a", "new");
  const Result<Comparison> comparison = compare(*first.replica, *second.replica, 10);
  ASSERT_TRUE(comparison.ok());
  const Result<RepairReport> repaired = repair(*comparison, *first.replica, *second.replica);
  ASSERT_TRUE(repaired.ok());
  EXPECT_EQ(repaired->left_to_sync, 1u);
  EXPECT_EQ(repaired->asked_again_first + repaired->asked_again_second + repaired->left, 0u);
}

}  // namespace
}  // namespace harmonica::kernel
