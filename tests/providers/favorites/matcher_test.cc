#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "favorites_matcher.h"
#include "favorites_text.h"
#include "harmonica/providers/favorites.h"

namespace harmonica::providers {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

// What was shown: the keys say what each item is.
class Shown final : public ShownItems {
 public:
  Status for_each(const std::function<void(const StoreItem&)>& visit) const override {
    for (const StoreItem& item : items_) visit(item);
    return {};
  }

  Shown& bookmark(StoreKey key, StoreKey parent, std::string title, std::string url) {
    items_.push_back({std::move(key),
                      kBookmarkType,
                      std::move(parent),
                      {{kTitleUnit, Value::text(std::move(title))}, {kUrlUnit, Value::text(std::move(url))}},
                      {},
                      {}});
    return *this;
  }
  Shown& folder(StoreKey key, StoreKey parent, std::string title) {
    items_.push_back(
        {std::move(key), kFolderType, std::move(parent), {{kTitleUnit, Value::text(std::move(title))}}, {}, {}});
    return *this;
  }

 private:
  std::vector<StoreItem> items_;
};

void append_keys(const std::vector<std::unique_ptr<Favorite>>& entries, std::vector<std::string>& keys) {
  for (const auto& entry : entries) {
    if (entry->kind != FavoriteKind::kKept) keys.push_back(entry->key);
    append_keys(entry->children, keys);
  }
}

std::vector<std::string> keys_of(const FavoritesTree& tree) {
  std::vector<std::string> keys;
  for (const FavoritesTree::Root& root : tree.roots) append_keys(root.children, keys);
  return keys;
}

template <typename... Entries>
FavoritesTree tree_in_other(Entries... entries) {
  FavoritesTree tree;
  (entries_of(tree, "other").push_back(std::move(entries)), ...);
  return tree;
}

std::vector<std::string> matched(FavoritesTree tree, const Shown& shown) {
  EXPECT_TRUE(match_favorites(tree, shown).ok());
  return keys_of(tree);
}

TEST(FavoritesMatcher, TheSameEntryKeepsItsKeyAndTwinsTheirOrder) {
  Shown shown;
  shown.bookmark("a1", "other", "a", "u").bookmark("b", "other", "b", "u").bookmark("a2", "other", "a", "u");
  EXPECT_THAT(matched(tree_in_other(bookmark("a", "u"), bookmark("a", "u"), bookmark("b", "u")), shown),
              ElementsAre("a1", "a2", "b"));
}

TEST(FavoritesMatcher, ATitleEditIsFoundByTheAddress) {
  Shown shown;
  shown.bookmark("a", "other", "old", "u").bookmark("b", "other", "b", "v");
  EXPECT_THAT(matched(tree_in_other(bookmark("b", "v"), bookmark("new", "u")), shown), ElementsAre("b", "a"));
}

TEST(FavoritesMatcher, AnAddressEditIsFoundByTheTitleIfOnlyOneHasIt) {
  Shown shown;
  shown.bookmark("a", "other", "a", "u").bookmark("t1", "other", "twin", "v1").bookmark("t2", "other", "twin", "v2");
  EXPECT_THAT(matched(tree_in_other(bookmark("a", "new"), bookmark("twin", "v3"), bookmark("twin", "v4")), shown),
              ElementsAre("a", StartsWith("n:"), StartsWith("n:")));
}

TEST(FavoritesMatcher, UntitledEntriesAreNotTakenForEachOther) {
  Shown shown;
  shown.bookmark("a", "other", "", "u");
  EXPECT_THAT(matched(tree_in_other(bookmark("", "v")), shown), ElementsAre(StartsWith("n:")));
}

TEST(FavoritesMatcher, AMoveIsFoundByTitleAndAddress) {
  Shown shown;
  shown.bookmark("a", "other", "a", "u").folder("f", "other", "f").bookmark("g", "toolbar", "g", "w");
  EXPECT_THAT(matched(tree_in_other(folder("f", bookmark("a", "u"), bookmark("g", "w"))), shown),
              ElementsAre("f", "a", "g"));
}

TEST(FavoritesMatcher, ABookmarkNeverBecomesAFolder) {
  Shown shown;
  shown.bookmark("a", "other", "x", "u");
  EXPECT_THAT(matched(tree_in_other(folder("x")), shown), ElementsAre(StartsWith("n:")));
}

TEST(FavoritesMatcher, ARenamedFolderIsFoundByItsChildren) {
  Shown shown;
  shown.folder("f", "other", "old")
      .bookmark("1", "f", "one", "u1")
      .bookmark("2", "f", "two", "u2")
      .bookmark("3", "f", "three", "u3");
  EXPECT_THAT(
      matched(tree_in_other(folder("new", bookmark("one", "u1"), bookmark("two", "u2"), bookmark("four", "u4"))), shown),
      ElementsAre("f", "1", "2", StartsWith("n:")));
}

TEST(FavoritesMatcher, AFolderWithAFewOfTheChildrenIsNotTheRenamedOne) {
  Shown shown;
  shown.folder("f", "other", "old")
      .bookmark("1", "f", "one", "u1")
      .bookmark("2", "f", "two", "u2")
      .bookmark("3", "f", "three", "u3");
  EXPECT_THAT(matched(tree_in_other(folder("taken out", bookmark("one", "u1")),
                                    folder("new", bookmark("two", "u2"), bookmark("three", "u3"))),
                      shown),
              ElementsAre(StartsWith("n:"), "1", "f", "2", "3"));
}

TEST(FavoritesMatcher, RenamedFoldersInsideARenamedFolderAreFound) {
  Shown shown;
  shown.folder("a", "other", "a")
      .folder("b", "a", "b")
      .folder("c", "b", "c")
      .bookmark("x", "c", "x", "u")
      .folder("d", "b", "d");
  EXPECT_THAT(matched(tree_in_other(folder("A", folder("B", folder("C", bookmark("x", "u")), folder("d")))), shown),
              ElementsAre("a", "b", "c", "x", "d"));
}

TEST(FavoritesMatcher, AMovedFolderIsFoundWithWhatIsInIt) {
  Shown shown;
  shown.folder("f", "other", "f").bookmark("x", "f", "x", "u").folder("e", "other", "empty").folder("g", "other", "g");
  EXPECT_THAT(matched(tree_in_other(folder("g", folder("f", bookmark("x", "u")), folder("empty"))), shown),
              ElementsAre("g", "f", "x", "e"));
}

TEST(FavoritesMatcher, KeysOfTheFileStandAndAreNotGivenTwice) {
  Shown shown;
  shown.bookmark("a", "other", "a", "u").bookmark("b", "other", "a", "u");
  EXPECT_THAT(matched(tree_in_other(bookmark("a", "u"), bookmark("renamed", "v", "a")), shown), ElementsAre("b", "a"));
}

TEST(FavoritesMatcher, NewKeysAreTheSameEveryTimeAndNeverOnesInUse) {
  const auto tree = [] { return tree_in_other(bookmark("a", "u"), bookmark("a", "u"), folder("f", bookmark("a", "u"))); };
  const std::vector<std::string> first = matched(tree(), Shown());
  EXPECT_EQ(std::set<std::string>(first.begin(), first.end()).size(), 4U);
  EXPECT_EQ(matched(tree(), Shown()), first);
  Shown shown;
  shown.bookmark(first[0], "toolbar", "another", "v");
  const std::vector<std::string> second = matched(tree(), shown);
  EXPECT_THAT(second, testing::Not(testing::Contains(first[0])));
}

TEST(FavoritesMatcher, MatchingAgainGivesTheSameKeys) {
  FavoritesTree tree = tree_in_other(bookmark("a", "u"), bookmark("a", "u"), folder("f", bookmark("a", "u"), folder("f")));
  ASSERT_TRUE(match_favorites(tree, Shown()).ok());
  const std::vector<std::string> keys = keys_of(tree);
  Shown shown;
  shown.bookmark(keys[0], "other", "a", "u")
      .bookmark(keys[1], "other", "a", "u")
      .folder(keys[2], "other", "f")
      .bookmark(keys[3], keys[2], "a", "u")
      .folder(keys[4], keys[2], "f");
  EXPECT_EQ(
      matched(tree_in_other(bookmark("a", "u"), bookmark("a", "u"), folder("f", bookmark("a", "u"), folder("f"))), shown),
      keys);
}

TEST(FavoritesMatcher, TenThousandTwinsInRenamedFoldersTakeLittleTime) {
  const auto start = std::chrono::steady_clock::now();
  Shown shown;
  FavoritesTree tree;
  constexpr int kFolders = 500;
  for (int f = 0; f < kFolders; ++f) {
    const std::string key = "f" + std::to_string(f);
    shown.folder(key, "other", key);
    auto renamed = folder("renamed " + key, bookmark("own", "http://own/" + key));
    shown.bookmark(key + "own", key, "own", "http://own/" + key);
    for (int i = 0; i < 20; ++i) {
      shown.bookmark(key + "/" + std::to_string(i), key, "twin", "http://twin/");
      renamed->children.push_back(bookmark("twin", "http://twin/"));
    }
    entries_of(tree, "other").push_back(std::move(renamed));
  }
  for (int i = 0; i < 10'000; ++i) {
    shown.bookmark("t" + std::to_string(i), "toolbar", "twin", "http://twin/");
    entries_of(tree, "toolbar").push_back(bookmark("twin", "http://twin/"));
  }
  const std::vector<std::string> keys = matched(std::move(tree), shown);
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size());
  EXPECT_EQ(std::ranges::count_if(keys, [](const std::string& key) { return key.starts_with("t"); }), 10'000);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

}  // namespace
}  // namespace harmonica::providers
