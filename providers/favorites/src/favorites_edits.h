// Writes of the kernel, applied to the tree of a document.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "favorites_document.h"

namespace harmonica::providers {

// An entry of the tree as the store shows it. `parent` is its folder's key, or the name of its root.
StoreItem store_item_of(const Favorite& favorite, const StoreKey& parent, const FavoritesCodec& codec);
// The same, and takes the title and the address out of the entry, and the key out of a bookmark.
StoreItem take_store_item(Favorite& favorite, const StoreKey& parent, const FavoritesCodec& codec);

// Edits one document. The document and the codec must outlive it. Thread-compatible.
class FavoritesEditor {
 public:
  FavoritesEditor(FavoritesDocument& document, const FavoritesCodec& codec);

  // Compare-and-swap, as ItemStore::apply. After kChanged the document is not to be written.
  WriteOutcome apply(const StoreWrite& write);

  // Whether the tree differs from the one that was read.
  bool edited() const { return edited_; }

 private:
  using Children = std::vector<std::unique_ptr<Favorite>>;

  // Where an entry stands. `slot` is where it stood when that was last looked at: a good place to start looking.
  struct Place {
    Favorite* favorite = nullptr;
    Children* siblings = nullptr;  // itself among them
    std::string_view parent;       // the key of its folder or the name of its root, where that stands
    std::size_t slot = 0;
  };

  Children* children_of(std::string_view parent);
  Place* find(std::string_view key);
  std::size_t slot_of(Place& place);
  StoreKey predecessor_of(Place& place);
  bool is_above(std::string_view folder, std::string_view below);
  std::size_t depth_in(std::string_view parent);
  WriteOutcome put(const StoreWrite& write);
  WriteOutcome remove(const StoreWrite& write);
  void set_values(Favorite& favorite, const StoreItem& wanted, const StoreItem& given);
  void place_after(const StoreKey& previous, const StoreKey& parent, std::unique_ptr<Favorite> favorite);
  std::string_view standing_name(std::string_view parent) const;

  FavoritesDocument& document_;
  const FavoritesCodec& codec_;
  std::unordered_map<std::string_view, Place> places_;  // by the keys of the tree, where those stand
  std::unordered_set<StoreKey> skipped_;
  // For every put that was not written, the sibling that it was to follow, and whether it was to come there.
  struct Unwritten {
    StoreKey previous;
    bool moves = false;
  };
  std::unordered_map<StoreKey, Unwritten> unwritten_;
  bool edited_ = false;
};

}  // namespace harmonica::providers
