// What every item store must do, whatever it keeps its items in. An author registers the subject (store_subject.h) once:
//
//   INSTANTIATE_TYPED_TEST_SUITE_P(My, ItemStoreContract, ::testing::Types<MySubject>);
//
// and, where items stand below each other, TreeStoreContract (tree_store_contract.h) too. Needs GoogleTest and GoogleMock.
#pragma once

#include "harmonica/conformance/item_store_fixture.h"

namespace harmonica::conformance {

// `Subject` is a StoreSubject that can be made without arguments.
template <typename Subject>
class ItemStoreContract : public ItemStoreFixture {
 protected:
  StoreSubject& subject() override { return subject_; }
  StoreKey root() { return subject_.root(); }

  // Two leaves, "first" and "second".
  void fill() {
    look();
    first_ = leaf(key(2), root(), "first");
    second_ = leaf(key(3), root(), "second");
    EXPECT_THAT(write({put(first_, ""), put(second_, first_.key)}), ::testing::Each(WriteState::kWritten));
    seen_.items = {first_, second_};
  }
  void expect_leaves(const std::vector<StoreKey>& keys) { EXPECT_EQ(tree()[root()], siblings(keys)); }

  Subject subject_;
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

TYPED_TEST_P(ItemStoreContract, WhatWasWrittenIsEnumerated) {
  this->fill();
  this->expect_leaves({this->first_.key, this->second_.key});
  this->expect_held(this->first_);
  this->expect_held(this->second_);
}

TYPED_TEST_P(ItemStoreContract, WhatWasWrittenOutlivesTheObject) {
  this->fill();
  this->subject_.reopen();
  this->expect_held(this->second_);
  this->expect_leaves({this->first_.key, this->second_.key});
}

TYPED_TEST_P(ItemStoreContract, AnAnchorAnswersForWhatHasNotChanged) {
  this->fill();
  const auto before = this->tree();
  for (int time = 0; time < 2; ++time) {
    const bool reads_all = this->anchor_.empty();
    EXPECT_EQ(this->look(), reads_all ? EnumerationKind::kEverything : EnumerationKind::kUnchanged);
    EXPECT_EQ(this->tree(), before);
  }
}

TYPED_TEST_P(ItemStoreContract, AnEditOfAnotherProgramIsSeen) {
  this->fill();
  this->subject_.edit_as_user();
  EXPECT_NE(this->look(), EnumerationKind::kUnchanged);
  EXPECT_EQ(this->seen_.items.size(), 3u);
}

TYPED_TEST_P(ItemStoreContract, AnUpdateReplacesTheValues) {
  this->fill();
  const StoreItem changed = this->leaf(this->first_.key, this->root(), "changed");
  EXPECT_THAT(this->write({this->put(changed, "", this->first_)}), ::testing::ElementsAre(WriteState::kWritten));
  this->expect_held(changed);
  this->expect_leaves({this->first_.key, this->second_.key});
}

TYPED_TEST_P(ItemStoreContract, ARemovalTakesWhatItNames) {
  this->fill();
  EXPECT_THAT(this->write({this->removal(this->first_)}), ::testing::ElementsAre(WriteState::kWritten));
  this->expect_leaves({this->second_.key});
  EXPECT_THAT(this->write({this->removal(this->second_)}), ::testing::ElementsAre(WriteState::kWritten));
  EXPECT_THAT(this->tree(), ::testing::IsEmpty());
}

TYPED_TEST_P(ItemStoreContract, WritingAgainWhatStandsThereCountsAsWritten) {
  this->fill();
  const auto before = this->tree();
  const std::vector<StoreWrite> again = {this->put(this->first_, ""), this->put(this->second_, this->first_.key)};
  EXPECT_THAT(this->write(again), ::testing::Each(WriteState::kWritten));
  EXPECT_EQ(this->tree(), before);
  const StoreItem gone = this->leaf(this->key(9), this->root(), "gone");
  EXPECT_THAT(this->write({this->removal(gone)}), ::testing::ElementsAre(WriteState::kWritten));
  EXPECT_EQ(this->tree(), before);
}

TYPED_TEST_P(ItemStoreContract, AWriteThatExpectsSomethingElseChangesNothing) {
  this->fill();
  const auto before = this->tree();
  const StoreItem other = this->leaf(this->first_.key, this->root(), "other");
  const StoreItem wanted = this->leaf(this->first_.key, this->root(), "wanted");
  const std::vector<StoreWrite> wrong = {
      this->put(wanted, "", other),
      this->put(wanted, ""),
      {WriteKind::kRemove, this->first_, {}, other},
      this->put(this->leaf(this->key(9), this->root(), "new"), "", other),
  };
  for (const StoreWrite& write : wrong) {
    EXPECT_THAT(this->write({write}), ::testing::ElementsAre(WriteState::kChanged));
    EXPECT_EQ(this->tree(), before);
    this->expect_held(this->first_);
  }
}

TYPED_TEST_P(ItemStoreContract, WritingNeverHidesAnEditOfAnotherProgram) {
  this->fill();
  this->subject_.edit_as_user();
  const StoreItem added = this->leaf(this->key(9), this->root(), "added");
  const WriteState state = this->write({this->put(added, this->second_.key)}).at(0);
  const bool whole = this->store().write_unit() == WriteUnit::kWholeStore;
  EXPECT_EQ(state, whole ? WriteState::kChanged : WriteState::kWritten);
  EXPECT_EQ(this->held(added.key).has_value(), !whole);
  // The anchor of the write does not cover the edit.
  EXPECT_NE(this->look(), EnumerationKind::kUnchanged);
  EXPECT_EQ(this->seen_.items.size(), whole ? 3u : 4u);
}

TYPED_TEST_P(ItemStoreContract, ManyItemsAreWrittenAndReadInOrder) {
  constexpr std::uint32_t kItems = 500;
  this->look();
  std::vector<StoreWrite> writes;
  std::vector<StoreKey> keys;
  for (std::uint32_t number = 1; number <= kItems; ++number) {
    const StoreKey previous = keys.empty() ? StoreKey() : keys.back();
    keys.push_back(this->key(number));
    writes.push_back(this->put(this->leaf(keys.back(), this->root(), std::to_string(number)), previous));
    this->seen_.items.push_back(writes.back().item);
  }
  EXPECT_THAT(this->write(writes), ::testing::Each(WriteState::kWritten));
  this->expect_leaves(keys);
}

REGISTER_TYPED_TEST_SUITE_P(ItemStoreContract, ItsSchemaIsValid, KeysOfNewItemsAreDistinctAndNoRoots,
                            AnEmptyStoreHoldsNothing, WhatWasWrittenIsEnumerated, WhatWasWrittenOutlivesTheObject,
                            AnAnchorAnswersForWhatHasNotChanged, AnEditOfAnotherProgramIsSeen, AnUpdateReplacesTheValues,
                            ARemovalTakesWhatItNames, WritingAgainWhatStandsThereCountsAsWritten,
                            AWriteThatExpectsSomethingElseChangesNothing, WritingNeverHidesAnEditOfAnotherProgram,
                            ManyItemsAreWrittenAndReadInOrder);

}  // namespace harmonica::conformance
