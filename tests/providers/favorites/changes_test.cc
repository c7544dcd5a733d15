// A store that tells only what has changed, beside one that tells everything.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harmonica/conformance/enumerated_items.h"
#include "harmonica/harmonica.h"
#include "harmonica/platform/system_environment.h"
#include "harmonica/providers/favorites.h"
#include "harmonica/providers/memory.h"
#include "support/make_bookmarks.h"
#include "support/temporary_directory.h"

namespace harmonica::providers {
namespace {

using conformance::EnumeratedItems;
using harmonica::testing::make_bookmarks;
using harmonica::testing::read_text;
using harmonica::testing::TemporaryDirectory;
using harmonica::testing::write_text;

constexpr std::size_t kBookmarks = 300;

std::unique_ptr<ItemStore> open(const std::string& path) {
  auto store = open_favorites(path, {});
  EXPECT_TRUE(store.ok()) << store.status().to_text();
  return std::move(store).value();
}

std::vector<StoreItem> items_of(const std::string& path) {
  EnumeratedItems found;
  EXPECT_TRUE(open(path)->enumerate({}, found, found).ok());
  return std::move(found.items);
}

// The children of each parent, in their order.
std::map<StoreKey, std::vector<StoreKey>> orders_of(const std::vector<StoreItem>& items) {
  std::map<StoreKey, std::vector<StoreKey>> orders;
  for (const StoreItem& item : items) orders[item.parent].push_back(item.key);
  return orders;
}

std::map<StoreKey, StoreItem> by_key(const std::vector<StoreItem>& items) {
  std::map<StoreKey, StoreItem> found;
  for (const StoreItem& item : items) found.emplace(item.key, item);
  return found;
}

// Another program that edits a file, one random edit at a time.
class User {
 public:
  User(std::string path, unsigned seed) : path_(std::move(path)), random_(seed) {}

  void edit() {
    store_ = open(path_);
    EnumeratedItems found;
    const auto enumeration = store_->enumerate({}, found, found);
    ASSERT_TRUE(enumeration.ok());
    items_ = std::move(found.items);
    writes_.clear();
    const StoreItem& item = items_[below(items_.size())];
    switch (below(6)) {
      case 0:
        retitle(item);
        break;
      case 1:
        put(item, item, sibling_of(item));
        break;
      case 2:
        move(item);
        break;
      case 3:
        insert(item);
        break;
      case 4:
        remove(item);
        break;
      default:
        give_another_key(item.key);
        return;
    }
    const auto written = store_->apply(writes_, enumeration->anchor);
    ASSERT_TRUE(written.ok()) << written.status().to_text();
    for (const WriteOutcome& outcome : written->outcomes) EXPECT_EQ(outcome.state, WriteState::kWritten);
  }

 private:
  std::size_t below(std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_); }

  void put(const StoreItem& before, StoreItem after, StoreKey previous) {
    writes_.push_back({WriteKind::kPut, std::move(after), std::move(previous), before});
  }

  // One of the same parent, or nothing.
  StoreKey sibling_of(const StoreItem& item) {
    std::vector<StoreKey> keys = {""};
    for (const StoreItem& other : items_) {
      if (other.parent == item.parent && other.key != item.key) keys.push_back(other.key);
    }
    return keys[below(keys.size())];
  }

  StoreKey predecessor_of(const StoreItem& item) const {
    StoreKey previous;
    for (const StoreItem& other : items_) {
      if (other.key == item.key) break;
      if (other.parent == item.parent) previous = other.key;
    }
    return previous;
  }

  void retitle(const StoreItem& item) {
    StoreItem after = item;
    after.values[0].value = Value::text("edited " + std::to_string(++number_));
    put(item, after, predecessor_of(item));
  }

  bool is_in(StoreKey key, const StoreKey& folder) const {
    const auto items = by_key(items_);
    for (auto found = items.find(key); found != items.end(); found = items.find(found->second.parent)) {
      if (found->first == folder) return true;
    }
    return false;
  }

  void move(const StoreItem& item) {
    StoreItem after = item;
    after.parent = items_[below(items_.size())].parent;
    if (is_in(after.parent, item.key)) after.parent = "mobile";
    put(item, after, sibling_of({.key = item.key, .parent = after.parent}));
  }

  void insert(const StoreItem& beside) {
    std::array<std::uint8_t, 16> bytes;
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(below(256));
    StoreItem item;
    item.key = store_->key_for(shaped_item_id(bytes));
    item.type = kBookmarkType;
    item.parent = beside.parent;
    item.values = {{kTitleUnit, Value::text("new " + std::to_string(++number_))},
                   {kUrlUnit, Value::text("https://new.example/")}};
    writes_.push_back({WriteKind::kPut, std::move(item), sibling_of(beside), std::nullopt});
  }

  // With all that is in it, the deepest first.
  void remove(const StoreItem& item) {
    std::vector<const StoreItem*> gone;
    for (const StoreItem& other : items_) {
      if (is_in(other.key, item.key)) gone.push_back(&other);
    }
    if (gone.size() > items_.size() / 20) return retitle(item);
    std::reverse(gone.begin(), gone.end());
    for (const StoreItem* one : gone) writes_.push_back({WriteKind::kRemove, *one, {}, *one});
  }

  void give_another_key(const StoreKey& key) {
    std::string text = read_text(path_);
    const std::size_t at = text.find(key);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, 8, [&] {
      std::string digits;
      for (int i = 0; i < 8; ++i) digits += "0123456789abcdef"[below(16)];
      return digits;
    }());
    write_text(path_, text);
  }

  const std::string path_;
  std::mt19937 random_;
  std::unique_ptr<ItemStore> store_;
  std::vector<StoreItem> items_;
  std::vector<StoreWrite> writes_;
  int number_ = 0;
};

class FavoritesChanges : public ::testing::TestWithParam<unsigned> {
 protected:
  FavoritesChanges() { write_text(path(), make_bookmarks(kBookmarks, GetParam())); }

  std::string path() const { return directory_ / "Bookmarks"; }

  const TemporaryDirectory directory_;
};

TEST_P(FavoritesChanges, WhoeverKnewWhatWasKnowsWhatIs) {
  User user(path(), GetParam());
  EnumeratedItems known;
  auto enumeration = open(path())->enumerate({}, known, known);
  ASSERT_TRUE(enumeration.ok());
  std::size_t told = 0;
  for (int round = 0; round < 30; ++round) {
    user.edit();
    if (round % 3 == 0) user.edit();
    EnumeratedItems found;
    enumeration = open(path())->enumerate(enumeration->anchor, known, found);
    ASSERT_TRUE(enumeration.ok());
    const std::vector<StoreItem> now = items_of(path());
    if (enumeration->kind == EnumerationKind::kChanges) {
      ++told;
      EXPECT_LT(found.items.size(), now.size() / 4);
      std::map<StoreKey, StoreItem> items = by_key(known.items);
      for (const StoreKey& key : found.removed_keys) EXPECT_EQ(items.erase(key), 1U) << key;
      for (const StoreItem& item : found.items) items.insert_or_assign(item.key, item);
      EXPECT_TRUE(items == by_key(now));
      // Where the children of a parent are others, or in another order, all of them are told, in that order.
      const auto orders_before = orders_of(known.items);
      const auto orders_told = orders_of(found.items);
      for (const auto& [parent, order] : orders_of(now)) {
        const auto before = orders_before.find(parent);
        if (before != orders_before.end() && before->second == order) continue;
        ASSERT_TRUE(orders_told.contains(parent)) << parent;
        EXPECT_TRUE(orders_told.at(parent) == order) << parent;
      }
    } else if (enumeration->kind == EnumerationKind::kEverything) {
      EXPECT_TRUE(found.items == now);
    }
    known.items = now;
  }
  EXPECT_GT(told, 15U);
}

TEST_P(FavoritesChanges, TheSameIsDetectedAsFromEverything) {
  // Never lets the store compare.
  class Forgetful : public ItemStore {
   public:
    explicit Forgetful(ItemStore& store) : store_(store) {}
    const Schema& schema() const override { return store_.schema(); }
    WriteUnit write_unit() const override { return store_.write_unit(); }
    Result<Enumeration> enumerate(const Bytes&, const ShownItems& shown, EnumerationSink& sink) override {
      return store_.enumerate({}, shown, sink);
    }
    StoreKey key_for(const ItemId& item) const override { return store_.key_for(item); }
    StoreItem as_held(StoreItem item) const override { return store_.as_held(std::move(item)); }
    Value natural_form(TypeId type, UnitId unit, const Value& value) const override {
      return store_.natural_form(type, unit, value);
    }
    Result<Written> apply(std::span<const StoreWrite> writes, const Bytes& anchor) override {
      return store_.apply(writes, anchor);
    }

   private:
    ItemStore& store_;
  };

  User user(path(), GetParam());
  const auto environment = platform::make_system_environment({.reservations_directory = directory_ / "reservations"});
  const auto store = open(path());
  Forgetful forgetful(*store);
  MemoryMetadataStore metadata[2];
  const auto comparing = Replica::open(*store, metadata[0], *environment, {});
  const auto whole = Replica::open(forgetful, metadata[1], *environment, {});
  ASSERT_TRUE(comparing.ok() && whole.ok());
  for (int round = 0; round < 30; ++round) {
    const auto told = (*comparing)->detect();
    const auto everything = (*whole)->detect();
    ASSERT_TRUE(told.ok() && everything.ok());
    EXPECT_EQ(told->created, everything->created) << round;
    EXPECT_EQ(told->updated, everything->updated) << round;
    EXPECT_EQ(told->deleted, everything->deleted) << round;
    user.edit();
    if (round % 3 == 0) user.edit();
  }
}

TEST_P(FavoritesChanges, TwoFilesThatAreEditedBecomeEqual) {
  const std::string other = directory_ / "Other";
  write_text(other, make_bookmarks(0, 1));
  User here(path(), GetParam());
  User there(other, GetParam() + 1);
  const auto environment = platform::make_system_environment({.reservations_directory = directory_ / "reservations"});
  const std::unique_ptr<ItemStore> stores[2] = {open(path()), open(other)};
  MemoryMetadataStore metadata[2];
  std::unique_ptr<Replica> replicas[2];
  for (int side = 0; side < 2; ++side) {
    auto replica = Replica::open(*stores[side], metadata[side], *environment, {});
    ASSERT_TRUE(replica.ok());
    replicas[side] = std::move(replica).value();
  }
  // Titles and addresses with the titles above them: keys are each file's own.
  const auto lines_of = [](const std::string& path) {
    std::map<StoreKey, std::string> paths;
    std::vector<std::string> lines;
    for (const StoreItem& item : items_of(path)) {
      const std::string above = paths.contains(item.parent) ? paths[item.parent] : item.parent;
      std::string line = above + "/" + item.values[0].value.to_text();
      paths[item.key] = line;
      if (item.type == kBookmarkType) line += " " + item.values[1].value.to_text();
      lines.push_back(std::move(line));
    }
    return lines;
  };
  for (int round = 0; round < 15; ++round) {
    const auto synchronized = synchronize(replicas[0]->provider(), replicas[1]->provider(), {});
    ASSERT_TRUE(synchronized.ok()) << synchronized.status().to_text();
    EXPECT_EQ(lines_of(path()), lines_of(other)) << round;
    here.edit();
    there.edit();
    if (round % 3 == 0) here.edit();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, FavoritesChanges, ::testing::Range(1U, 5U));

// What is not told item by item.

class WholeFavorites : public FavoritesChanges {};

TEST_P(WholeFavorites, ADamagedAnchorIsAnsweredWithEverything) {
  EnumeratedItems known;
  const auto enumeration = open(path())->enumerate({}, known, known);
  ASSERT_TRUE(enumeration.ok());
  User(path(), 1).edit();
  for (const std::size_t kept : {std::size_t{0}, std::size_t{20}, std::size_t{150}, enumeration->anchor.size() - 1}) {
    EnumeratedItems found;
    const auto again = open(path())->enumerate(
        Bytes(enumeration->anchor.begin(), enumeration->anchor.begin() + static_cast<std::ptrdiff_t>(kept)), known, found);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->kind, EnumerationKind::kEverything) << kept;
    EXPECT_TRUE(found.items == items_of(path()));
  }
}

TEST_P(WholeFavorites, WhenAnEntryCanNoLongerBeReadOrCanBeAgainEverythingIsEnumerated) {
  EnumeratedItems known;
  auto enumeration = open(path())->enumerate({}, known, known);
  const std::string text = read_text(path());
  std::string broken = text;
  const std::string kType = "\"type\": \"url\"";
  broken.replace(broken.find(kType), kType.size(), "\"type\": \"odd\"");
  for (const std::string* content : {&std::as_const(broken), &text}) {
    write_text(path(), *content);
    EnumeratedItems found;
    enumeration = open(path())->enumerate(enumeration->anchor, known, found);
    ASSERT_TRUE(enumeration.ok());
    EXPECT_EQ(enumeration->kind, EnumerationKind::kEverything);
    EXPECT_EQ(found.skipped_lines.size(), content == &broken ? 1U : 0U);
  }
}

TEST_P(WholeFavorites, WhatIsSkippedIsToldBesideWhatChanged) {
  std::string text = read_text(path());
  const std::string kType = "\"type\": \"url\"";
  text.replace(text.find(kType), kType.size(), "\"type\": \"odd\"");
  write_text(path(), text);
  EnumeratedItems known;
  const auto enumeration = open(path())->enumerate({}, known, known);
  ASSERT_TRUE(enumeration.ok());
  const std::size_t name = text.rfind("\"name\": \"", text.rfind(kType));
  text.insert(name + 9, "edited ");
  write_text(path(), text);
  EnumeratedItems found;
  const auto again = open(path())->enumerate(enumeration->anchor, known, found);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->kind, EnumerationKind::kChanges);
  EXPECT_EQ(found.items.size(), 1U);
  EXPECT_EQ(found.skipped_lines, known.skipped_lines);
}

// Under the same guid a folder is another item than the bookmark was: it needs a place among its siblings, so all are told.
TEST_P(WholeFavorites, AnEntryOfAnotherKindIsToldWithItsSiblings) {
  EnumeratedItems known;
  const auto enumeration = open(path())->enumerate({}, known, known);
  ASSERT_TRUE(enumeration.ok());
  std::string text = read_text(path());
  const std::string kType = "\"type\": \"url\"";
  text.replace(text.find(kType, text.size() / 2), kType.size(), "\"children\": [], \"type\": \"folder\"");
  write_text(path(), text);
  EnumeratedItems found;
  const auto again = open(path())->enumerate(enumeration->anchor, known, found);
  ASSERT_TRUE(again.ok());
  const auto before = by_key(known.items);
  const auto changed = std::find_if(found.items.begin(), found.items.end(), [&](const StoreItem& item) {
    return before.contains(item.key) && before.at(item.key).type != item.type;
  });
  ASSERT_NE(changed, found.items.end());
  EXPECT_TRUE(orders_of(found.items).at(changed->parent) == orders_of(items_of(path())).at(changed->parent));
}

TEST_P(WholeFavorites, AFileThatIsEmptyNowIsEnumeratedWhole) {
  EnumeratedItems known;
  const auto enumeration = open(path())->enumerate({}, known, known);
  ASSERT_TRUE(enumeration.ok());
  write_text(path(), make_bookmarks(0, 1));
  EnumeratedItems found;
  const auto again = open(path())->enumerate(enumeration->anchor, known, found);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->kind, EnumerationKind::kEverything);
}

INSTANTIATE_TEST_SUITE_P(OneFile, WholeFavorites, ::testing::Values(1U));

}  // namespace
}  // namespace harmonica::providers
