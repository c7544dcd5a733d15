// Two replicas' items compared by fingerprints of ranges.
#include "kernel/reconciler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "core/kernel/test_environment.h"
#include "harmonica/limits.h"
#include "harmonica/providers/memory.h"

namespace harmonica::kernel {
namespace {

ItemId item_id(std::uint64_t number) {
  ItemId id;
  for (std::size_t index = 0; index < 8; ++index) id.bytes[index] = static_cast<std::uint8_t>(number >> (56 - 8 * index));
  id.bytes[15] = 1;
  return id;
}

StoredItem stored(std::uint64_t number, Tick tick, Existence existence = Existence::kCreated) {
  StoredItem stored;
  stored.item.id = item_id(number);
  stored.item.type = 1;
  stored.item.existence = {{ReplicaId::from_bytes(Bytes(16, 1)).value(), tick}, existence};
  return stored;
}

class Holder {
 public:
  explicit Holder(SummedItems summed = SummedItems::kAll) : summed_(summed) {}
  ~Holder() { sums_.reset(); }

  void hold(const std::vector<StoredItem>& items) {
    const auto transaction = *metadata_.begin(TransactionMode::kWrite);
    for (const StoredItem& item : items) EXPECT_EQ(transaction->put(item, {}), Status());
    EXPECT_EQ(transaction->commit(), Status());
  }

  RangeSums& sums() {
    if (sums_ == nullptr) {
      snapshot_ = *metadata_.begin(TransactionMode::kRead);
      sums_ = std::make_unique<RangeSums>(*snapshot_, environment_, summed_);
    }
    return *sums_;
  }

 private:
  const SummedItems summed_;
  providers::MemoryMetadataStore metadata_;
  TestEnvironment environment_{1};
  std::unique_ptr<MetadataTransaction> snapshot_;
  std::unique_ptr<RangeSums> sums_;
};

struct Found {
  RangeDifferences differences;
  std::size_t turns = 0;
  std::size_t bytes = 0;  // of ids and fingerprints
};

Found reconcile(Holder& here, Holder& there, Interest interest) {
  const ItemIdRange all = ItemIdRange::all();
  Reconciler reconciler(here.sums(), interest, std::span(&all, 1));
  Found found;
  while (true) {
    const auto questions = reconciler.questions();
    EXPECT_TRUE(questions.ok());
    if (questions->empty()) break;
    const auto answers = answer_questions(there.sums(), *questions);
    EXPECT_TRUE(answers.ok()) << answers.status().to_text();
    EXPECT_EQ(reconciler.take(*answers), Status());
    ++found.turns;
    found.bytes += questions->size() * 48;
    for (const RangeAnswer& answer : *answers) found.bytes += 4 + 16 * (answer.ids.size() + answer.fingerprints.size());
  }
  found.differences = reconciler.take_differences();
  return found;
}

TEST(Reconciler, OneDifferenceInManyItemsIsFoundInTwoTurnsAndFewBytes) {
  Holder here;
  Holder there;
  std::vector<StoredItem> items;
  for (std::uint64_t number = 1; number <= 30'000; ++number) items.push_back(stored(number << 40, number));
  here.hold(items);
  items.erase(items.begin() + 17'000);
  there.hold(items);
  const Found found = reconcile(here, there, Interest::kEverything);
  EXPECT_EQ(found.differences.only_here, (std::vector<ItemId>{item_id(std::uint64_t{17'001} << 40)}));
  EXPECT_TRUE(found.differences.only_there.empty());
  EXPECT_TRUE(found.differences.differing.empty());
  EXPECT_LE(found.turns, 2u);
  EXPECT_LE(found.bytes, 7'000u);
}

TEST(Reconciler, FindsExactlyTheDifferences) {
  for (std::uint32_t seed = 1; seed <= 18; ++seed) {
    std::mt19937 random(seed);
    Holder here;
    Holder there;
    std::vector<StoredItem> ours;
    std::vector<StoredItem> theirs;
    RangeDifferences expected;
    const std::uint64_t count = seed % 3 == 0 ? 4'000 : random() % 300;
    const std::uint32_t rarity = seed % 2 == 0 ? 3 : 200;
    for (std::uint64_t number = 1; number <= count; ++number) {
      const std::uint64_t place = number * (1 + random() % 5) + (number << 20);
      const auto draw = random() % rarity == 0 ? random() % 3 : 3;
      if (draw != 1) ours.push_back(stored(place, 5));
      if (draw != 0) theirs.push_back(stored(place, draw == 2 ? 6 : 5));
      if (draw == 0) expected.only_here.push_back(item_id(place));
      if (draw == 1) expected.only_there.push_back(item_id(place));
      if (draw == 2) expected.differing.push_back(item_id(place));
    }
    here.hold(ours);
    there.hold(theirs);
    const Found all = reconcile(here, there, Interest::kEverything);
    EXPECT_EQ(all.differences.only_here, expected.only_here) << seed;
    EXPECT_EQ(all.differences.only_there, expected.only_there) << seed;
    EXPECT_EQ(all.differences.differing, expected.differing) << seed;
    EXPECT_EQ(reconcile(here, there, Interest::kOnlyHere).differences.only_here, expected.only_here) << seed;
  }
}

TEST(Reconciler, WhoHoldsNothingHasNoQuestionsAboutWhatOnlyItHolds) {
  Holder here;
  Holder there;
  there.hold({stored(1, 1), stored(2, 2)});
  EXPECT_EQ(reconcile(here, there, Interest::kOnlyHere).turns, 0u);
  EXPECT_EQ(reconcile(here, there, Interest::kEverything).differences.only_there.size(), 2u);
}

TEST(Reconciler, TombstonesCountOnlyWhereTheyAreSummed) {
  Holder all;
  Holder living(SummedItems::kLiving);
  Holder nothing(SummedItems::kLiving);
  all.hold({stored(1, 1, Existence::kDeleted)});
  living.hold({stored(1, 1, Existence::kDeleted)});
  EXPECT_EQ(reconcile(all, nothing, Interest::kEverything).differences.only_here.size(), 1u);
  EXPECT_EQ(reconcile(living, nothing, Interest::kEverything).differences.only_here.size(), 0u);
}

TEST(Reconciler, QuestionsThatOverlapAreRefused) {
  Holder there;
  const RangeQuestion first{{item_id(1), item_id(5)}, {}};
  const RangeQuestion second{{item_id(5), item_id(9)}, {}};
  const std::vector<RangeQuestion> overlapping = {first, second};
  EXPECT_EQ(answer_questions(there.sums(), overlapping).status().code(), StatusCode::kInvalidArgument);
  const std::vector<RangeQuestion> many(limits::kRangeQuestionsMax + 1);
  EXPECT_EQ(answer_questions(there.sums(), many).status().code(), StatusCode::kLimitExceeded);
}

class LyingPeer : public testing::Test {
 protected:
  LyingPeer() {
    std::vector<StoredItem> items;
    for (std::uint64_t number = 1; number <= 10; ++number) items.push_back(stored(number << 40, number));
    here_.hold(items);
    reconciler_.emplace(here_.sums(), Interest::kOnlyHere, std::span(&all_, 1));
  }

  StatusCode take(const std::vector<RangeAnswer>& answers) {
    EXPECT_EQ(reconciler_->questions()->size(), 1u);
    return reconciler_->take(answers).code();
  }

  const ItemIdRange all_{item_id(1), item_id(std::uint64_t{1} << 60)};
  Holder here_;
  std::optional<Reconciler> reconciler_;
};

TEST_F(LyingPeer, IsRefusedWithMoreOrFewerAnswersThanQuestions) { EXPECT_EQ(take({}), StatusCode::kInvalidArgument); }

TEST_F(LyingPeer, IsRefusedWithIdsOutsideTheRange) {
  EXPECT_EQ(take({{RangeAnswerKind::kItems, {ItemId{}}, {Fingerprint{}}}}), StatusCode::kInvalidArgument);
}

TEST_F(LyingPeer, IsRefusedWithPartsThatDoNotCut) {
  EXPECT_EQ(take({{RangeAnswerKind::kParts, {item_id(1)}, {Fingerprint{}, Fingerprint{}}}}), StatusCode::kInvalidArgument);
}

TEST_F(LyingPeer, ThatNeverEndsIsLeft) {
  ItemId cut = all_.last;
  StatusCode code = StatusCode::kOk;
  int turns = 0;
  for (; code == StatusCode::kOk && turns <= limits::kRangeDepthMax; ++turns) {
    // Of each range only the last id is cut off; no fingerprint is ever right.
    std::vector<RangeAnswer> answers;
    const auto questions = reconciler_->questions();
    ASSERT_TRUE(questions.ok());
    for (const RangeQuestion& question : *questions) {
      cut = question.range.last;
      RangeAnswer answer{RangeAnswerKind::kParts, {cut}, {Fingerprint{1}, Fingerprint{}}};
      answers.push_back(answer);
    }
    code = reconciler_->take(answers).code();
  }
  EXPECT_EQ(code, StatusCode::kLimitExceeded);
}

}  // namespace
}  // namespace harmonica::kernel
