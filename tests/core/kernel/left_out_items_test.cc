// Stores that cannot take thousands of items: the others go on syncing, and knowledge stays small.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/kernel/note_device.h"
#include "harmonica/limits.h"
#include "simulation/forwarding.h"

namespace harmonica::kernel {
namespace {

using testing::HasSubstr;

// Refuses some of the notes that are to be written into it.
class RefusingStore : public simulation::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  std::function<bool(const StoreItem&)> refuses = [](const StoreItem&) { return false; };

  Result<Written> apply(std::span<const StoreWrite> writes, const Bytes& anchor) override {
    std::vector<StoreWrite> possible;
    for (const StoreWrite& write : writes) {
      if (!refuses(write.item)) possible.push_back(write);
    }
    HARMONICA_ASSIGN_OR_RETURN(Written written, inner_.apply(possible, anchor));
    std::vector<WriteOutcome> outcomes;
    auto outcome = written.outcomes.begin();
    for (const StoreWrite& write : writes) {
      outcomes.push_back(refuses(write.item) ? WriteOutcome{WriteState::kFailed, Status(StatusCode::kIo, "refused")}
                                             : *outcome++);
    }
    written.outcomes = std::move(outcomes);
    return written;
  }
};

// Of every `share` notes one.
std::function<bool(const StoreItem&)> every(std::size_t share) {
  return [share](const StoreItem& item) {
    if (item.values.empty()) return false;
    return std::stoul(item.values.front().value.if_text()->substr(1)) % share == 0;
  };
}

class LeftOutItems : public ::testing::Test {
 protected:
  explicit LeftOutItems() : source_(1, {}) {
    auto opened = Replica::open(store_, metadata_, environment_, {});
    EXPECT_TRUE(opened.ok()) << opened.status().to_text();
    destination_ = std::move(*opened);
  }

  void fill(std::size_t count) {
    for (std::size_t number = 0; number < count; ++number) {
      const std::string name = "n" + std::to_string(number);
      EXPECT_EQ(source_.store.put({name, kNote, "", {{kName, Value::text(name)}, {kText, Value::text("text")}}, {}, {}}),
                Status());
    }
  }

  SessionReport pull(std::uint64_t batch_bytes_max = 0) {
    SessionOptions options;
    options.batch_bytes_max = batch_bytes_max;
    SyncSession session(source_.replica->provider(), destination_->provider(), options);
    const Status status = session.run();
    EXPECT_TRUE(status.ok()) << status.to_text();
    return session.report();
  }

  std::size_t steps() { return destination_->status()->knowledge.steps().size(); }

  NoteDevice source_;
  providers::MemoryItemStore memory_{note_schema(), WriteUnit::kEachItem};
  RefusingStore store_{memory_};
  providers::MemoryMetadataStore metadata_;
  TestEnvironment environment_{2};
  std::unique_ptr<Replica> destination_;
};

TEST_F(LeftOutItems, AFewCostTwoStepsEach) {
  fill(1'000);
  store_.refuses = every(100);
  EXPECT_EQ(pull().failures.size(), 10u);
  EXPECT_EQ(memory_.children("").size(), 990u);
  EXPECT_LE(steps(), 21u);
  EXPECT_EQ(pull().failures.size(), 10u);
  store_.refuses = every(2'000);
  pull();
  EXPECT_LE(steps(), 3u);
}

TEST_F(LeftOutItems, AllOfThemCostOneRangeABatch) {
  fill(3'000);
  store_.refuses = every(1);
  const SessionReport report = pull(20'000);
  EXPECT_EQ(report.failures.size(), 3'000u);
  EXPECT_LE(steps(), 2 * report.batches + 1);
  store_.refuses = every(5'000);
  EXPECT_EQ(pull(20'000).created, 2'999u);
}

TEST_F(LeftOutItems, ThousandsOfThemDoNotMakeKnowledgeGrowWithoutBound) {
  const std::size_t count = 3 * limits::kLearnedStepsMax;  // half of them in some quarter as many runs
  fill(count);
  store_.refuses = every(2);
  const SessionReport report = pull(50'000);
  EXPECT_LE(steps(), limits::kLearnedStepsMax);
  EXPECT_GT(memory_.children("").size(), count / 4);
  EXPECT_TRUE(std::any_of(report.failures.begin(), report.failures.end(), [](const auto& failure) {
    return failure.status.code() == StatusCode::kLimitExceeded &&
           failure.status.message().find("mend some of them first") != std::string::npos;
  }));

  // What is created or changed meanwhile comes, if nothing fails beside it.
  source_.write("n" + std::to_string(count + 1), "new");
  pull(50'000);
  EXPECT_LE(steps(), limits::kLearnedStepsMax);

  store_.refuses = every(4 * count);
  for (int session = 0; session < 2; ++session) pull(50'000);
  EXPECT_EQ(memory_.children("").size(), count);
  EXPECT_LE(steps(), 3u);
}

}  // namespace
}  // namespace harmonica::kernel
