// A favorites file as a tree in memory, the form that every format is read into and written from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace harmonica::providers {

enum class FavoriteKind : std::uint8_t {
  kBookmark,
  kFolder,
  kKept,  // no item: something that stays where it is among its siblings (a separator, an entry that cannot be synced)
};

// One bookmark or folder of a file.
struct Favorite {
  FavoriteKind kind = FavoriteKind::kBookmark;
  std::string key;  // the store key; empty until the file is matched (formats without ids)
  std::string title;
  std::string url;                                  // bookmarks only
  std::optional<std::int64_t> added_us;             // since 1970-01-01 UTC
  std::optional<std::int64_t> changed_us;           // the later of what the file says; folders and formats that have it
  std::vector<std::unique_ptr<Favorite>> children;  // folders only, in order
  std::uint32_t origin = 0;  // the document's own number for what it keeps of the entry; 0: a new entry
};

// An entry that cannot be synced. With a key the item that was shown under it stays as it is, and is not taken for removed.
struct SkippedFavorite {
  std::string key;   // empty: the entry has none
  std::string what;  // one line that names it
};

// The roots a file has; a root that a format cannot hold stays empty.
struct FavoritesTree {
  struct Root {
    std::string name;  // of favorites_schema()
    std::vector<std::unique_ptr<Favorite>> children;
  };
  std::vector<Root> roots;
  std::vector<SkippedFavorite> skipped;
  std::vector<std::string> mended;  // damage that the next write repairs, a line each
};

}  // namespace harmonica::providers
