// Stores that tell their changes in parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/kernel/note_device.h"
#include "simulation/forwarding.h"

namespace harmonica::kernel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kLongAgoMs = 1'600'000'000'000;

// A log of changes that is told from where the anchor says, three at a time. An anchor is the number of changes told.
class LoggingStore : public simulation::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  std::vector<StoreItem> log;
  std::vector<std::pair<std::size_t, StoreKey>> removed;  // told before the change with that number
  EnumerationKind kind = EnumerationKind::kChanges;
  bool stands_still = false;
  std::vector<std::size_t> asked;  // the anchors

  Result<Enumeration> enumerate(const Bytes& anchor, const ShownItems& /*shown*/, EnumerationSink& sink) override {
    const std::size_t from = anchor.empty() ? 0 : anchor.front();
    asked.push_back(from);
    if (from == log.size()) return Enumeration{EnumerationKind::kUnchanged, anchor};
    const std::size_t to = std::min(log.size(), from + 3);
    for (std::size_t place = from; place < to; ++place) {
      for (const auto& [before, key] : removed) {
        if (before == place) HARMONICA_RETURN_IF_ERROR(sink.removed(key));
      }
      HARMONICA_RETURN_IF_ERROR(sink.item(log[place]));
    }
    const Bytes told = {static_cast<std::uint8_t>(to)};
    return Enumeration{kind, stands_still ? anchor : told, to < log.size()};
  }
};

StoreItem note(const std::string& key, const std::string& name, std::int64_t changed_ms = kLongAgoMs) {
  return {key, kNote, "", {{kName, Value::text(name)}, {kText, Value::text("text")}}, changed_ms, {}};
}

class DetectionInParts : public ::testing::Test {
 protected:
  DetectionInParts() { open(); }

  void open() {
    replica.reset();
    auto opened = Replica::open(store, metadata, environment, {});
    EXPECT_TRUE(opened.ok()) << opened.status().to_text();
    replica = std::move(*opened);
  }

  std::vector<StoredItem> held() {
    std::vector<StoredItem> items;
    EXPECT_EQ(replica->scan([&](const StoredItem& item) -> Result<Visit> {
      items.push_back(item);
      return Visit::kContinue;
    }),
              Status());
    return items;
  }

  providers::MemoryItemStore memory{note_schema(), WriteUnit::kEachItem};
  LoggingStore store{memory};
  providers::MemoryMetadataStore metadata;
  TestEnvironment environment{1};
  std::unique_ptr<Replica> replica;
};

TEST_F(DetectionInParts, IsOneDetection) {
  for (int number = 0; number < 8; ++number) {
    store.log.push_back(note("k" + std::to_string(number), "n" + std::to_string(number)));
  }
  const auto report = replica->detect();
  ASSERT_TRUE(report.ok()) << report.status().to_text();
  EXPECT_EQ(report->enumerated, 8u);
  EXPECT_EQ(report->created, 8u);
  EXPECT_EQ(held().size(), 8u);
  EXPECT_THAT(store.asked, ElementsAre(0, 3, 6));
  ASSERT_TRUE(replica->detect().ok());
  EXPECT_THAT(store.asked, ElementsAre(0, 3, 6, 8));
}

// The first detection takes ticks from the items' own times in all its parts, and equal items of two parts are two.
TEST_F(DetectionInParts, TheFirstOneIsTheFirstInAllItsParts) {
  for (int number = 0; number < 7; ++number) {
    store.log.push_back(note("k" + std::to_string(number), number % 3 == 0 ? "same" : "n" + std::to_string(number),
                             kLongAgoMs + number * 1000));
  }
  ASSERT_TRUE(replica->detect().ok());
  const std::vector<StoredItem> items = held();
  ASSERT_EQ(items.size(), 7u);
  for (const StoredItem& item : items) {
    const std::int64_t number = item.shown->key.back() - '0';
    EXPECT_EQ(milliseconds_of(item.item.existence.version.tick), kLongAgoMs + number * 1000) << item.shown->key;
  }
}

// What only the kernel finds faulty is told again from where this detection began, until it is mended.
TEST_F(DetectionInParts, BeginsAgainWhereSomethingWasLeftOut) {
  for (int number = 0; number < 5; ++number) store.log.push_back(note("k" + std::to_string(number), "n"));
  store.log[1].values[1].value = Value::text("\xff");
  const auto report = replica->detect();
  ASSERT_TRUE(report.ok()) << report.status().to_text();
  EXPECT_THAT(report->skipped, ElementsAre(HasSubstr("k1")));
  EXPECT_EQ(held().size(), 4u);
  store.log[1].values[1].value = Value::text("mended");
  ASSERT_TRUE(replica->detect().ok());
  EXPECT_EQ(held().size(), 5u);
  EXPECT_THAT(store.asked, ElementsAre(0, 3, 0, 3));
  ASSERT_TRUE(replica->detect().ok());
  EXPECT_EQ(store.asked.back(), 5u);
}

TEST_F(DetectionInParts, GoesOnAfterAPowerCut) {
  for (int number = 0; number < 5; ++number) store.log.push_back(note("k" + std::to_string(number), "n"));
  store.removed = {{4, "k0"}};  // is refused, after the first part was committed
  EXPECT_EQ(replica->detect().status().code(), StatusCode::kInternal);
  open();
  EXPECT_EQ(held().size(), 3u);
  store.removed.clear();
  ASSERT_TRUE(replica->detect().ok());
  EXPECT_EQ(held().size(), 5u);
  EXPECT_THAT(store.asked, ElementsAre(0, 3, 3));
}

TEST_F(DetectionInParts, RefusesWhatIsNoPart) {
  for (int number = 0; number < 5; ++number) store.log.push_back(note("k" + std::to_string(number), "n"));
  store.removed = {{3, "k0"}};
  EXPECT_THAT(replica->detect().status().message(), HasSubstr("gone from it in a later part"));
  open();
  store.removed.clear();
  store.stands_still = true;
  store.asked.clear();
  store.log.push_back(note("k5", "n"));
  store.log.push_back(note("k6", "n"));
  EXPECT_THAT(replica->detect().status().message(), HasSubstr("same part"));
  store.stands_still = false;
  store.kind = EnumerationKind::kEverything;
  EXPECT_THAT(replica->detect().status().message(), HasSubstr("everything as a part"));
}

}  // namespace
}  // namespace harmonica::kernel
