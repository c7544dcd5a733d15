// What is removed for good is not in the files any more.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "contract/metadata_samples.h"
#include "harmonica/providers/metadata.h"
#include "providers/metadata/temporary_folder.h"

namespace harmonica {
namespace {

using testing::item_id;
using testing::plain_item;
using testing::replica_id;
using testing::TemporaryFolder;

constexpr std::uint32_t kItems = 3'000;

// Beside it some text of any length, so that pages fill, split and join at all places; now and then enough to be kept
// apart.
std::string text_of(std::uint32_t item, std::uint32_t state, std::mt19937& random) {
  const std::size_t length = random() % 20 == 0 ? 3'000 + random() % 9'000 : random() % 300;
  return "zebrafinch-" + std::to_string(item) + "-" + std::to_string(state) + "." + std::string(length, 'x');
}

StoredItem item_with(std::uint32_t number, const std::string& text) {
  StoredItem stored = plain_item(number, {replica_id(1), number}, {replica_id(1), number});
  stored.item.units[0].content.value = Value::text(text);
  stored.shown = ShownItem{"key" + std::to_string(number), item_id(1), {}, {{1, Value::text(text + " (shown)")}}};
  stored.merge_bases = {{1, {{replica_id(2), 1}, Value::text(text + " (before)"), Origin::kWritten}}};
  return stored;
}

StoredItem erased_item(std::uint32_t number) {
  StoredItem stored = plain_item(number, {replica_id(3), 1}, {});
  stored.item.existence.value = Existence::kErased;
  stored.item.units.clear();
  return stored;
}

std::vector<IndexEntry> entries_of(const std::string& text) {
  return {{IndexKind::kName, Bytes(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find('.')))}};
}

ConflictRecord record_of(std::uint32_t number, const std::string& text) {
  ConflictRecord record = testing::conflict_record(1, number);
  for (std::size_t byte = 0; byte < 4; ++byte) record.id.bytes[byte] = static_cast<std::uint8_t>(number >> (8 * byte));
  record.item = item_id(number);
  record.lost.value = Value::text(text);
  return record;
}

class Session {
 public:
  explicit Session(MetadataStore& store) : transaction_(*store.begin(TransactionMode::kWrite)) {}
  ~Session() { EXPECT_EQ(transaction_->commit(), Status()); }
  MetadataTransaction* operator->() { return transaction_.get(); }

 private:
  std::unique_ptr<MetadataTransaction> transaction_;
};

std::string all_bytes(const TemporaryFolder& folder) {
  std::string bytes;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    std::ifstream file(entry.path(), std::ios::binary);
    bytes.append(std::istreambuf_iterator<char>(file), {});
  }
  return bytes;
}

TEST(Wiped, NothingOfWhatWasErasedIsInTheFiles) {
  std::mt19937 random(7);
  const TemporaryFolder folder;
  auto opened = providers::open_sqlite_metadata(folder.file("metadata.db"));
  ASSERT_TRUE(opened.ok()) << opened.status().to_text();
  MetadataStore& store = **opened;
  std::vector<std::uint32_t> order(kItems);
  for (std::uint32_t index = 0; index < kItems; ++index) order[index] = index + 1;
  // Each is written twice, in any order, in several transactions.
  for (std::uint32_t state = 0; state < 2; ++state) {
    std::shuffle(order.begin(), order.end(), random);
    for (std::size_t first = 0; first < order.size(); first += 500) {
      Session session(store);
      for (std::size_t index = first; index < first + 500; ++index) {
        const std::string text = text_of(order[index], state, random);
        ASSERT_EQ(session->put(item_with(order[index], text), entries_of(text)), Status());
        if (order[index] % 3 == 0) {
          ASSERT_EQ(session->put_conflict(record_of(order[index], text)), Status());
        }
      }
    }
  }
  ASSERT_EQ(store.prepare({0, {{item_id(1), "key1", ShownItem{"key1", {}, {}, {{1, Value::text("zebrafinch-1-1.")}}}}}}),
            Status());
  std::shuffle(order.begin(), order.end(), random);
  const std::size_t erased = kItems * 9 / 10;
  for (std::size_t first = 0; first < erased; first += 30) {
    Session session(store);
    for (std::size_t index = first; index < first + 30; ++index) {
      ASSERT_EQ(session->put(erased_item(order[index]), std::vector<IndexEntry>{{IndexKind::kErased, {}}}), Status());
      ASSERT_EQ(session->remove_conflict(record_of(order[index], "").id), Status());
    }
  }
  ASSERT_EQ(store.wipe_removed(), Status());
  const std::string bytes = all_bytes(folder);
  std::size_t found = 0;
  for (std::size_t index = 0; index < order.size(); ++index) {
    const std::string name = "zebrafinch-" + std::to_string(order[index]) + "-";
    if (index >= erased) {
      EXPECT_NE(bytes.find(name + "1."), std::string::npos) << name;
    } else if (bytes.find(name) != std::string::npos) {
      ++found;
      ADD_FAILURE() << bytes.substr(bytes.find(name), 40);
    }
    if (found > 10) break;
  }
}

// Neither is waited for whoever reads, nor does anything stay behind him.
TEST(Wiped, WhatAReaderHasKeptGoesWhenTheStoreIsOpenedNext) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metadata.db");
  {
    auto opened = providers::open_sqlite_metadata(path);
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    MetadataStore& store = **opened;
    {
      Session session(store);
      ASSERT_EQ(session->put(item_with(1, "zebrafinch-1-0."), {}), Status());
    }
    auto reader = store.begin(TransactionMode::kRead);
    ASSERT_TRUE((*reader)->find(item_id(1)).ok());
    {
      Session session(store);
      ASSERT_EQ(session->put(erased_item(1), {}), Status());
    }
    EXPECT_EQ(store.wipe_removed(), Status());
    const auto read = (*reader)->find(item_id(1));
    ASSERT_TRUE(read.ok());
    EXPECT_FALSE((*read)->item.erased());
    EXPECT_NE(all_bytes(folder).find("zebrafinch"), std::string::npos);
  }
  ASSERT_TRUE(providers::open_sqlite_metadata(path).ok());
  EXPECT_EQ(all_bytes(folder).find("zebrafinch"), std::string::npos);
}

TEST(Wiped, WhatAProcessThatEndedHasLeftGoesWhenTheStoreIsOpenedNext) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metadata.db");
  {
    auto opened = providers::open_sqlite_metadata(path);
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    {
      Session session(**opened);
      for (std::uint32_t number = 1; number < 9; ++number) {
        ASSERT_EQ(session->put(item_with(number, "zebrafinch-1-0."), {}), Status());
      }
    }
    ASSERT_EQ((*opened)->prepare({0, {{item_id(1), "zebrafinch", std::nullopt}}}), Status());
    Session session(**opened);
    for (std::uint32_t number = 1; number < 9; ++number) ASSERT_EQ(session->put(erased_item(number), {}), Status());
  }
  EXPECT_NE(all_bytes(folder).find("zebrafinch"), std::string::npos);
  ASSERT_TRUE(providers::open_sqlite_metadata(path).ok());
  EXPECT_EQ(all_bytes(folder).find("zebrafinch"), std::string::npos);
}

// What was prepared for a write that may have been lost says what stands in the store, and is needed.
TEST(Wiped, WhatStillCountsOfWhatWasPreparedStays) {
  const TemporaryFolder folder;
  auto opened = providers::open_sqlite_metadata(folder.file("metadata.db"));
  ASSERT_TRUE(opened.ok()) << opened.status().to_text();
  ASSERT_EQ((*opened)->prepare({1, {{item_id(1), "key", std::nullopt}}}), Status());
  ASSERT_EQ((*opened)->wipe_removed(), Status());
  EXPECT_EQ((*opened)->prepared(1)->items.size(), 1u);
}

}  // namespace
}  // namespace harmonica
