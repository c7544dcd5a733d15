// What every item store must do, whatever it keeps its items in. A store registers with a struct of traits:
//
//   struct MyTraits {
//     MyTraits();                                    // an empty store, and whatever it needs
//     ItemStore& store();
//     void reopen();                                 // forgets all but what is durable; `store` gives the new object
//     void edit_as_user();                           // adds one item, as another program would
//     StoreKey root();                               // where new items may be put
//     StoreItem folder(StoreKey key, StoreKey parent, std::string title);
//     StoreItem leaf(StoreKey key, StoreKey parent, std::string title);
//   };
//   INSTANTIATE_TYPED_TEST_SUITE_P(My, ItemStoreContract, ::testing::Types<MyTraits>);
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "contract/metadata_samples.h"
#include "harmonica/extension/item_store.h"

namespace harmonica::testing {

class EnumeratedItems : public EnumerationSink, public ShownItems {
 public:
  Status item(StoreItem item) override {
    items.push_back(std::move(item));
    return {};
  }
  Status removed(const StoreKey& key) override {
    removed_keys.push_back(key);
    return {};
  }
  void skipped(const StoreKey& /*key*/, std::string what) override { skipped_lines.push_back(std::move(what)); }

  Status for_each(const std::function<void(const StoreItem&)>& visit) const override {
    for (const StoreItem& item : items) visit(item);
    return {};
  }

  std::vector<StoreItem> items;
  std::vector<StoreKey> removed_keys;
  std::vector<std::string> skipped_lines;
};

// Keeps what was shown and the anchor, as the kernel does.
template <typename Traits>
class ItemStoreContract : public ::testing::Test {
 protected:
  ItemStore& store() { return traits_.store(); }
  StoreKey key(std::uint32_t number) { return store().key_for(shaped(number)); }

  static ItemId shaped(std::uint32_t number) { return shaped_item_id(item_id(number).view()); }

  // Looks at the store; `anchor_` and `seen_` follow.
  EnumerationKind look() {
    EnumeratedItems found;
    auto enumeration = store().enumerate(anchor_, seen_, found);
    EXPECT_TRUE(enumeration.ok()) << enumeration.status().to_text();
    EXPECT_THAT(found.skipped_lines, ::testing::IsEmpty());
    if (!enumeration.ok()) return EnumerationKind::kUnchanged;
    anchor_ = enumeration->anchor;
    if (enumeration->kind == EnumerationKind::kEverything) seen_ = found;
    if (enumeration->kind == EnumerationKind::kChanges) {
      std::set<StoreKey> gone(found.removed_keys.begin(), found.removed_keys.end());
      for (const StoreItem& item : found.items) gone.insert(item.key);
      std::erase_if(seen_.items, [&](const StoreItem& item) { return gone.contains(item.key); });
      seen_.items.insert(seen_.items.end(), found.items.begin(), found.items.end());
    }
    return enumeration->kind;
  }

  StoreWrite put(StoreItem item, StoreKey previous, std::optional<StoreItem> expected = {}) {
    return {WriteKind::kPut, store().as_held(std::move(item)), std::move(previous), std::move(expected)};
  }
  StoreWrite removal(StoreItem item) {
    item = store().as_held(std::move(item));
    return {WriteKind::kRemove, item, {}, item};
  }

  std::vector<WriteState> write(const std::vector<StoreWrite>& writes) {
    auto written = store().apply(writes, anchor_);
    EXPECT_TRUE(written.ok()) << written.status().to_text();
    std::vector<WriteState> states;
    if (!written.ok()) return states;
    for (const WriteOutcome& outcome : written->outcomes) states.push_back(outcome.state);
    anchor_ = written->anchor;
    return states;
  }

  // What stands in the store, by a look that trusts nothing known before: children of each parent, in order.
  std::map<StoreKey, std::vector<StoreKey>> tree() {
    EnumeratedItems found;
    auto enumeration = store().enumerate({}, seen_, found);
    EXPECT_TRUE(enumeration.ok()) << enumeration.status().to_text();
    std::map<StoreKey, std::vector<StoreKey>> children;
    std::set<StoreKey> known;
    for (const StoreItem& item : found.items) {
      EXPECT_TRUE(known.insert(item.key).second) << "twice: " << item.key;
      children[item.parent].push_back(item.key);
    }
    return children;
  }

  std::optional<StoreItem> held(const StoreKey& key) {
    EnumeratedItems found;
    auto enumeration = store().enumerate({}, seen_, found);
    EXPECT_TRUE(enumeration.ok()) << enumeration.status().to_text();
    for (const StoreItem& item : found.items) {
      if (item.key == key) return item;
    }
    return std::nullopt;
  }

  static void expect_same(const StoreItem& held, const StoreItem& written) {
    EXPECT_EQ(held.key, written.key);
    EXPECT_EQ(held.type, written.type);
    EXPECT_EQ(held.parent, written.parent);
    EXPECT_EQ(held.values, written.values);
  }

  // A folder with two leaves, "first" and "second".
  void fill() {
    look();
    folder_ = store().as_held(traits_.folder(key(1), traits_.root(), "folder"));
    first_ = store().as_held(traits_.leaf(key(2), key(1), "first"));
    second_ = store().as_held(traits_.leaf(key(3), key(1), "second"));
    const std::vector<StoreWrite> writes = {put(folder_, ""), put(first_, ""), put(second_, first_.key)};
    EXPECT_THAT(write(writes), ::testing::Each(WriteState::kWritten));
    seen_.items = {folder_, first_, second_};
  }

  Traits traits_;
  Bytes anchor_;
  EnumeratedItems seen_;
  StoreItem folder_;
  StoreItem first_;
  StoreItem second_;
};

TYPED_TEST_SUITE_P(ItemStoreContract);

TYPED_TEST_P(ItemStoreContract, ItsSchemaIsValid) {
  const Status status = this->store().schema().validate();
  EXPECT_TRUE(status.ok()) << status.to_text();
}

TYPED_TEST_P(ItemStoreContract, KeysOfNewItemsAreDistinctAndNoRoots) {
  EXPECT_NE(this->key(1), this->key(2));
  EXPECT_EQ(this->key(1), this->key(1));
  EXPECT_FALSE(this->key(1).empty());
  for (const Root& root : this->store().schema().roots) EXPECT_NE(this->key(1), root.name);
}

TYPED_TEST_P(ItemStoreContract, AnEmptyStoreHoldsNothing) {
  EXPECT_EQ(this->look(), EnumerationKind::kEverything);
  EXPECT_THAT(this->seen_.items, ::testing::IsEmpty());
}

TYPED_TEST_P(ItemStoreContract, WhatWasWrittenIsEnumeratedInItsOrder) {
  this->fill();
  const auto tree = this->tree();
  EXPECT_THAT(tree.at(this->folder_.key), ::testing::ElementsAre(this->first_.key, this->second_.key));
  const auto first = this->held(this->first_.key);
  const auto folder = this->held(this->folder_.key);
  ASSERT_TRUE(first.has_value() && folder.has_value());
  this->expect_same(*first, this->first_);
  this->expect_same(*folder, this->folder_);
}

TYPED_TEST_P(ItemStoreContract, WhatWasWrittenOutlivesTheObject) {
  this->fill();
  this->traits_.reopen();
  const auto second = this->held(this->second_.key);
  ASSERT_TRUE(second.has_value());
  this->expect_same(*second, this->second_);
  EXPECT_THAT(this->tree().at(this->folder_.key), ::testing::ElementsAre(this->first_.key, this->second_.key));
}

TYPED_TEST_P(ItemStoreContract, AnAnchorAnswersForWhatHasNotChanged) {
  this->fill();
  const auto before = this->tree();
  EXPECT_EQ(this->look(), EnumerationKind::kUnchanged);
  EXPECT_EQ(this->look(), EnumerationKind::kUnchanged);
  EXPECT_EQ(this->tree(), before);
}

TYPED_TEST_P(ItemStoreContract, AnEditOfAnotherProgramIsSeen) {
  this->fill();
  this->traits_.edit_as_user();
  EXPECT_NE(this->look(), EnumerationKind::kUnchanged);
  EXPECT_EQ(this->seen_.items.size(), 4u);
}

TYPED_TEST_P(ItemStoreContract, AnUpdateReplacesTheValues) {
  this->fill();
  const StoreItem changed = this->store().as_held(this->traits_.leaf(this->first_.key, this->folder_.key, "changed"));
  EXPECT_THAT(this->write({this->put(changed, "", this->first_)}), ::testing::ElementsAre(WriteState::kWritten));
  const auto first = this->held(this->first_.key);
  ASSERT_TRUE(first.has_value());
  this->expect_same(*first, changed);
  EXPECT_THAT(this->tree().at(this->folder_.key), ::testing::ElementsAre(this->first_.key, this->second_.key));
}

TYPED_TEST_P(ItemStoreContract, AMoveTakesAnItemToItsNewPlace) {
  this->fill();
  StoreItem moved = this->second_;
  moved.parent = this->traits_.root();
  EXPECT_THAT(this->write({this->put(moved, this->folder_.key, this->second_)}),
              ::testing::ElementsAre(WriteState::kWritten));
  EXPECT_THAT(this->tree().at(this->traits_.root()), ::testing::ElementsAre(this->folder_.key, this->second_.key));
  EXPECT_THAT(this->tree().at(this->folder_.key), ::testing::ElementsAre(this->first_.key));
}

TYPED_TEST_P(ItemStoreContract, AReorderChangesOnlyTheOrder) {
  this->fill();
  EXPECT_THAT(this->write({this->put(this->second_, "", this->second_)}), ::testing::ElementsAre(WriteState::kWritten));
  EXPECT_THAT(this->tree().at(this->folder_.key), ::testing::ElementsAre(this->second_.key, this->first_.key));
}

TYPED_TEST_P(ItemStoreContract, RemovalsGoChildrenFirst) {
  this->fill();
  EXPECT_THAT(this->write({this->removal(this->second_), this->removal(this->first_), this->removal(this->folder_)}),
              ::testing::Each(WriteState::kWritten));
  EXPECT_THAT(this->tree(), ::testing::IsEmpty());
}

TYPED_TEST_P(ItemStoreContract, WritingAgainWhatStandsThereCountsAsWritten) {
  this->fill();
  const auto before = this->tree();
  const std::vector<StoreWrite> again = {this->put(this->folder_, ""), this->put(this->first_, ""),
                                         this->put(this->second_, this->first_.key)};
  EXPECT_THAT(this->write(again), ::testing::Each(WriteState::kWritten));
  EXPECT_EQ(this->tree(), before);
  const StoreItem gone = this->traits_.leaf(this->key(9), this->folder_.key, "gone");
  EXPECT_THAT(this->write({this->removal(gone)}), ::testing::ElementsAre(WriteState::kWritten));
  EXPECT_EQ(this->tree(), before);
}

TYPED_TEST_P(ItemStoreContract, AWriteThatExpectsSomethingElseChangesNothing) {
  this->fill();
  const auto before = this->tree();
  const StoreItem other = this->store().as_held(this->traits_.leaf(this->first_.key, this->folder_.key, "other"));
  const StoreItem wanted = this->store().as_held(this->traits_.leaf(this->first_.key, this->folder_.key, "wanted"));
  const std::vector<StoreWrite> wrong = {
      this->put(wanted, "", other),
      this->put(wanted, ""),
      {WriteKind::kRemove, this->first_, {}, other},
      this->put(this->store().as_held(this->traits_.leaf(this->key(9), this->folder_.key, "new")), "", other),
  };
  for (const StoreWrite& write : wrong) {
    EXPECT_THAT(this->write({write}), ::testing::ElementsAre(WriteState::kChanged));
    EXPECT_EQ(this->tree(), before);
    const auto first = this->held(this->first_.key);
    ASSERT_TRUE(first.has_value());
    this->expect_same(*first, this->first_);
  }
}

TYPED_TEST_P(ItemStoreContract, WritingNeverHidesAnEditOfAnotherProgram) {
  this->fill();
  this->traits_.edit_as_user();
  const StoreItem added = this->store().as_held(this->traits_.leaf(this->key(9), this->folder_.key, "added"));
  const WriteState state = this->write({this->put(added, this->second_.key)}).at(0);
  const bool whole = this->store().write_unit() == WriteUnit::kWholeStore;
  EXPECT_EQ(state, whole ? WriteState::kChanged : WriteState::kWritten);
  EXPECT_EQ(this->held(added.key).has_value(), !whole);
  // The anchor of the write does not cover the edit.
  EXPECT_NE(this->look(), EnumerationKind::kUnchanged);
  EXPECT_EQ(this->seen_.items.size(), whole ? 4u : 5u);
}

TYPED_TEST_P(ItemStoreContract, ThousandsOfItemsAreWrittenAndReadInOrder) {
  constexpr std::uint32_t kItems = 3000;
  this->look();
  std::vector<StoreWrite> writes;
  std::vector<StoreKey> keys;
  for (std::uint32_t number = 1; number <= kItems; ++number) {
    const StoreKey previous = keys.empty() ? StoreKey() : keys.back();
    keys.push_back(this->key(number));
    writes.push_back(this->put(this->traits_.leaf(keys.back(), this->traits_.root(), std::to_string(number)), previous));
    this->seen_.items.push_back(writes.back().item);
  }
  EXPECT_THAT(this->write(writes), ::testing::Each(WriteState::kWritten));
  EXPECT_EQ(this->tree().at(this->traits_.root()), keys);
}

REGISTER_TYPED_TEST_SUITE_P(ItemStoreContract, ItsSchemaIsValid, KeysOfNewItemsAreDistinctAndNoRoots,
                            AnEmptyStoreHoldsNothing, WhatWasWrittenIsEnumeratedInItsOrder, WhatWasWrittenOutlivesTheObject,
                            AnAnchorAnswersForWhatHasNotChanged, AnEditOfAnotherProgramIsSeen, AnUpdateReplacesTheValues,
                            AMoveTakesAnItemToItsNewPlace, AReorderChangesOnlyTheOrder, RemovalsGoChildrenFirst,
                            WritingAgainWhatStandsThereCountsAsWritten, AWriteThatExpectsSomethingElseChangesNothing,
                            WritingNeverHidesAnEditOfAnotherProgram, ThousandsOfItemsAreWrittenAndReadInOrder);

}  // namespace harmonica::testing
