#include "kernel/tombstone_cleaner.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/kernel/test_environment.h"
#include "harmonica/extension/provider.h"
#include "harmonica/limits.h"
#include "harmonica/providers/memory.h"
#include "harmonica/replica.h"
#include "kernel/view_index.h"
#include "support/shorthand.h"

namespace harmonica::kernel {
namespace {

constexpr UnitId kTitle = 1;
constexpr std::int64_t kDayMs = 24 * 60 * 60 * 1000;

Schema schema() {
  Schema result;
  result.default_scope = "test";
  result.types = {{1, "note", DeletionRule::kEditWins, {{kTitle, "title", ValueKind::kText}}, {kTitle}}};
  return result;
}

class MovingClock final : public TestEnvironment {
 public:
  using TestEnvironment::TestEnvironment;
  std::int64_t wall_clock_ms() override { return TestEnvironment::wall_clock_ms() + passed_ms; }
  std::int64_t passed_ms = 0;
};

class TombstoneCleaner : public testing::Test {
 protected:
  void open(const ReplicaOptions& options) {
    replica_.reset();
    auto opened = Replica::open(store_, metadata_, environment_, options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    replica_ = *std::move(opened);
  }

  void create_and_remove(std::size_t count) {
    const auto key = [](std::size_t number) { return "n" + std::to_string(number); };
    for (std::size_t number = 0; number < count; ++number) {
      ASSERT_TRUE(store_.put({key(number), 1, "", {{kTitle, Value::text(key(number))}}, {}, {}}).ok());
    }
    ASSERT_TRUE(replica_->detect().ok());
    for (std::size_t number = 0; number < count; ++number) ASSERT_TRUE(store_.remove(key(number)).ok());
    ASSERT_TRUE(replica_->detect().ok());
  }

  void run_session() {
    ASSERT_TRUE(replica_->provider().begin_destination({}).ok());
    ASSERT_TRUE(replica_->provider().end().ok());
  }

  std::uint64_t tombstones() { return replica_->status()->counts.deleted; }

  providers::MemoryItemStore store_{schema(), WriteUnit::kEachItem};
  providers::MemoryMetadataStore metadata_;
  MovingClock environment_{1};
  std::unique_ptr<Replica> replica_;
};

TEST_F(TombstoneCleaner, KeepsThemForSixtyDays) {
  open({.guard = Guard::kConfirmed});
  create_and_remove(3);
  environment_.passed_ms = 60 * kDayMs - 1;
  run_session();
  EXPECT_EQ(tombstones(), 3u);
  EXPECT_TRUE(replica_->status()->forgotten.empty());
  environment_.passed_ms = 60 * kDayMs;
  run_session();
  EXPECT_EQ(tombstones(), 0u);
}

TEST_F(TombstoneCleaner, ForgetsEveryVersionOfWhatItRemoves) {
  open({.guard = Guard::kConfirmed, .tombstone_retention_ms = 0});
  create_and_remove(2);
  std::vector<Item> items;
  ASSERT_TRUE(replica_
                  ->scan([&](const StoredItem& stored) -> Result<Visit> {
                    items.push_back(stored.item);
                    return Visit::kContinue;
                  })
                  .ok());
  ASSERT_EQ(items.size(), 2u);
  run_session();
  const ReplicaStatus status = *replica_->status();
  for (const Item& item : items) {
    EXPECT_TRUE(status.forgotten.contains(item.id, item.existence.version));
    EXPECT_TRUE(status.forgotten.contains(item.id, item.units.front().content.version));
  }
  EXPECT_TRUE(status.knowledge.contains(status.forgotten));
}

TEST_F(TombstoneCleaner, RemovesABoundedNumberInOneSession) {
  open({.guard = Guard::kConfirmed, .tombstone_retention_ms = 0});
  create_and_remove(limits::kTombstonesCleanedMax + 5);
  run_session();
  EXPECT_EQ(tombstones(), 5u);
  run_session();
  EXPECT_EQ(tombstones(), 0u);
  EXPECT_LE(replica_->status()->forgotten.steps().size(), limits::kForgottenStepsMax);
}

TEST_F(TombstoneCleaner, CoarseForgottenKnowledgeIsOneVectorWithinWhatIsKnown) {
  const Knowledge known = shorthand::knowledge("{A:9,B:4}|i5:{A:9}");
  const Knowledge forgotten = shorthand::knowledge("{}|i3:{A:7}|i7:{A:2,B:4}");
  EXPECT_EQ(coarsened(forgotten, known), shorthand::knowledge("{A:7,B:4}|i5:{A:7}"));
}

TEST_F(TombstoneCleaner, FindsTombstonesOfMetadataThatHadNoIndexOfThem) {
  open({.guard = Guard::kConfirmed});
  create_and_remove(2);
  {
    const auto transaction = *metadata_.begin(TransactionMode::kWrite);
    std::vector<StoredItem> items;
    ASSERT_TRUE(transaction
                    ->scan(ItemIdRange::all(),
                           [&](const StoredItem& stored) -> Result<Visit> {
                             items.push_back(stored);
                             return Visit::kContinue;
                           })
                    .ok());
    for (const StoredItem& stored : items) ASSERT_TRUE(transaction->put(stored, {}).ok());
    ASSERT_TRUE(transaction->commit().ok());
  }
  open({.guard = Guard::kConfirmed, .tombstone_retention_ms = 0});
  run_session();
  EXPECT_EQ(tombstones(), 0u);
}

}  // namespace
}  // namespace harmonica::kernel
