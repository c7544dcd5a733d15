// What a tree held, in a few bytes an entry: enough to tell later what has changed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "favorites_tree.h"
#include "harmonica/extension/item_store.h"

namespace harmonica::providers {

// Of one entry that is an item.
struct FavoriteDigest {
  std::array<std::uint8_t, 16> key{};  // the guid that is its key
  std::uint64_t content = 0;           // of all that is told of it, and of the order of its children
  friend bool operator==(const FavoriteDigest&, const FavoriteDigest&) = default;
};

struct FavoritesDigest {
  std::vector<std::uint64_t> roots;     // the order of the children of each; empty: nothing is known
  std::vector<FavoriteDigest> entries;  // in the order of the tree

  bool empty() const { return roots.empty(); }
  friend bool operator==(const FavoritesDigest&, const FavoritesDigest&) = default;
};

// An empty one for a tree with keys that are no guids: it is always enumerated whole.
FavoritesDigest digest_of(const FavoritesTree& tree);

// What is to be told of a tree so that whoever knows what it was knows what it is. Of a folder or root whose children came,
// went or changed their order all children are told.
struct FavoritesChanges {
  std::vector<bool> is_told;  // of each entry, in the order of the tree
  std::vector<StoreKey> removed;
};

// `now` is that of the tree. Nothing if `before` is empty, or if so much has changed that all may as well be told.
std::optional<FavoritesChanges> changes_between(const FavoritesDigest& before, const FavoritesDigest& now,
                                                const FavoritesTree& tree);

}  // namespace harmonica::providers
