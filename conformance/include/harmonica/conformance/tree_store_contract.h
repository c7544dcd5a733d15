// What a store must do whose items stand below each other and whose siblings have an order. Registered like
// ItemStoreContract and beside it; the subject gives folders.
#pragma once

#include "harmonica/conformance/item_store_fixture.h"

namespace harmonica::conformance {

// `Subject` is a StoreSubject that can be made without arguments.
template <typename Subject>
class TreeStoreContract : public ItemStoreFixture {
 protected:
  StoreSubject& subject() override { return subject_; }

  // A folder with two leaves, "first" and "second".
  void fill() {
    look();
    auto folder = subject_.folder(key(1), subject_.root(), "folder");
    ASSERT_TRUE(folder.has_value()) << "a tree needs folders";
    folder_ = store().as_held(*std::move(folder));
    first_ = leaf(key(2), folder_.key, "first");
    second_ = leaf(key(3), folder_.key, "second");
    EXPECT_THAT(write({put(folder_, ""), put(first_, ""), put(second_, first_.key)}),
                ::testing::Each(WriteState::kWritten));
    seen_.items = {folder_, first_, second_};
  }
  std::vector<StoreKey> below(const StoreKey& parent) { return tree()[parent]; }

  Subject subject_;
  StoreItem folder_;
  StoreItem first_;
  StoreItem second_;
};

TYPED_TEST_SUITE_P(TreeStoreContract);

TYPED_TEST_P(TreeStoreContract, ATreeIsEnumeratedInItsOrder) {
  ASSERT_NO_FATAL_FAILURE(this->fill());
  EXPECT_THAT(this->below(this->folder_.key), ::testing::ElementsAre(this->first_.key, this->second_.key));
  for (const StoreItem& item : {this->folder_, this->first_, this->second_}) this->expect_held(item);
}

TYPED_TEST_P(TreeStoreContract, ParentsAreEnumeratedBeforeTheirChildren) {
  ASSERT_NO_FATAL_FAILURE(this->fill());
  std::set<StoreKey> told = {this->subject_.root()};
  for (const StoreItem& item : this->standing()) {
    EXPECT_TRUE(told.contains(item.parent)) << item.key << " comes before its parent " << item.parent;
    told.insert(item.key);
  }
}

TYPED_TEST_P(TreeStoreContract, TheOrderOutlivesTheObject) {
  ASSERT_NO_FATAL_FAILURE(this->fill());
  this->subject_.reopen();
  EXPECT_THAT(this->below(this->folder_.key), ::testing::ElementsAre(this->first_.key, this->second_.key));
}

TYPED_TEST_P(TreeStoreContract, AnUpdateLeavesTheOrder) {
  ASSERT_NO_FATAL_FAILURE(this->fill());
  const StoreItem changed = this->leaf(this->first_.key, this->folder_.key, "changed");
  EXPECT_THAT(this->write({this->put(changed, "", this->first_)}), ::testing::ElementsAre(WriteState::kWritten));
  EXPECT_THAT(this->below(this->folder_.key), ::testing::ElementsAre(this->first_.key, this->second_.key));
}

TYPED_TEST_P(TreeStoreContract, AMoveTakesAnItemToItsNewPlace) {
  ASSERT_NO_FATAL_FAILURE(this->fill());
  StoreItem moved = this->second_;
  moved.parent = this->subject_.root();
  EXPECT_THAT(this->write({this->put(moved, this->folder_.key, this->second_)}),
              ::testing::ElementsAre(WriteState::kWritten));
  EXPECT_THAT(this->below(this->subject_.root()), ::testing::ElementsAre(this->folder_.key, this->second_.key));
  EXPECT_THAT(this->below(this->folder_.key), ::testing::ElementsAre(this->first_.key));
}

TYPED_TEST_P(TreeStoreContract, AReorderChangesOnlyTheOrder) {
  ASSERT_NO_FATAL_FAILURE(this->fill());
  EXPECT_THAT(this->write({this->put(this->second_, "", this->second_)}), ::testing::ElementsAre(WriteState::kWritten));
  EXPECT_THAT(this->below(this->folder_.key), ::testing::ElementsAre(this->second_.key, this->first_.key));
}

TYPED_TEST_P(TreeStoreContract, RemovalsGoChildrenFirst) {
  ASSERT_NO_FATAL_FAILURE(this->fill());
  EXPECT_THAT(this->write({this->removal(this->second_), this->removal(this->first_), this->removal(this->folder_)}),
              ::testing::Each(WriteState::kWritten));
  EXPECT_THAT(this->tree(), ::testing::IsEmpty());
}

TYPED_TEST_P(TreeStoreContract, WritingATreeAgainChangesNothing) {
  ASSERT_NO_FATAL_FAILURE(this->fill());
  const auto before = this->tree();
  EXPECT_THAT(
      this->write({this->put(this->folder_, ""), this->put(this->first_, ""), this->put(this->second_, this->first_.key)}),
      ::testing::Each(WriteState::kWritten));
  EXPECT_EQ(this->tree(), before);
}

REGISTER_TYPED_TEST_SUITE_P(TreeStoreContract, ATreeIsEnumeratedInItsOrder, ParentsAreEnumeratedBeforeTheirChildren,
                            TheOrderOutlivesTheObject, AnUpdateLeavesTheOrder, AMoveTakesAnItemToItsNewPlace,
                            AReorderChangesOnlyTheOrder, RemovalsGoChildrenFirst, WritingATreeAgainChangesNothing);

}  // namespace harmonica::conformance
