// What a format of favorites files offers to the store: one codec a format, one document a file that was read.
#pragma once

#include <memory>
#include <optional>

#include "favorites_tree.h"
#include "harmonica/bytes.h"
#include "harmonica/extension/item_store.h"
#include "harmonica/providers/favorites.h"
#include "harmonica/status.h"

namespace harmonica::providers {

// A file that was read: its tree, and everything of the original that the tree does not model (unknown keys, attributes,
// icons, comments), found again by `Favorite::origin`. The store edits the tree: it inserts, moves and removes whole
// `Favorite` objects and sets their title, url and dates; a new one has origin 0. It never removes a kKept entry, except
// with its folder. Thread-compatible.
class FavoritesDocument {
 public:
  virtual ~FavoritesDocument() = default;

  FavoritesTree& tree() { return tree_; }
  const FavoritesTree& tree() const { return tree_; }

  // The bytes of the file as the tree stands. Reading them gives the same tree, in the same order of roots and entries
  // (formats without keys: apart from the keys). A document that was not edited and has nothing to mend gives the bytes
  // that the format's own program wrote. limit_exceeded: the file would become too large to be read again.
  virtual Result<Bytes> write() const = 0;

 protected:
  FavoritesTree tree_;
};

// One format. Pure and constant, so thread-safe.
class FavoritesCodec {
 public:
  virtual ~FavoritesCodec() = default;

  virtual FavoritesFormat format() const = 0;

  // Where the keys of entries come from: the file itself, or a comparison with what was last shown, done by the store after
  // `read` with `Status match_favorites(FavoritesTree&, const ShownItems&)` of favorites_matcher.h.
  // Then the keys are part of the anchor, in the order of the tree, so they should be short (16 bytes).
  enum class Keys { kInFile, kByMatching };
  virtual Keys keys() const = 0;

  // As ItemStore::key_for and ItemStore::as_held.
  virtual StoreKey key_for(const ItemId& item) const = 0;
  virtual StoreItem as_held(StoreItem item) const = 0;

  // The item id inside a key that `key_for` made; nothing for a key that came from elsewhere.
  virtual std::optional<ItemId> identity_of(const StoreKey& key) const = 0;

  // Why the file cannot hold this entry `depth` folders below a root (0: directly in it); ok if it can.
  virtual Status can_hold(const StoreItem& item, std::size_t depth) const = 0;

  // corruption, unsupported, limit_exceeded: in one line, without the path, which the caller adds. Never an empty tree for
  // a file that is damaged. The tree has every root that the format knows, also when the file lacks it.
  virtual Result<std::unique_ptr<FavoritesDocument>> read(ByteView content) const = 0;
};

// A file larger than this is refused: 64 MiB is some 200,000 bookmarks, and files are parsed whole.
inline constexpr std::uint64_t kFavoritesBytesMax = 64 * 1024 * 1024;

// Folders inside folders that are synced; what lies deeper is skipped by name and kept in the file.
inline constexpr std::size_t kFavoritesDepthMax = 200;

const FavoritesCodec& chromium_bookmarks_codec();  // chromium_bookmarks.cc
const FavoritesCodec& netscape_html_codec();       // netscape_html.cc

}  // namespace harmonica::providers
