// Trees of favorites in a form that reads like a list: what the tests of the codecs and the matcher compare.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "favorites_tree.h"

namespace harmonica::providers {

// One line an entry, indented by its depth: "title <url>", "+ folder", "~" for what is kept; roots without entries are left
// out.
inline void append_favorites(std::string& text, const std::vector<std::unique_ptr<Favorite>>& entries, std::size_t depth) {
  for (const auto& entry : entries) {
    text.append(depth * 2, ' ');
    if (entry->kind == FavoriteKind::kKept) text += "~\n";
    if (entry->kind == FavoriteKind::kFolder) text += "+ " + entry->title + "\n";
    if (entry->kind == FavoriteKind::kBookmark) text += entry->title + " <" + entry->url + ">\n";
    append_favorites(text, entry->children, depth + 1);
  }
}

inline std::string to_text(const FavoritesTree& tree) {
  std::string text;
  for (const FavoritesTree::Root& root : tree.roots) {
    if (root.children.empty()) continue;
    text += root.name + "\n";
    append_favorites(text, root.children, 1);
  }
  return text;
}

inline std::vector<std::unique_ptr<Favorite>>& entries_of(FavoritesTree& tree, std::string_view root) {
  for (FavoritesTree::Root& candidate : tree.roots) {
    if (candidate.name == root) return candidate.children;
  }
  tree.roots.push_back({std::string(root), {}});
  return tree.roots.back().children;
}

inline std::unique_ptr<Favorite> bookmark(std::string title, std::string url, std::string key = {}) {
  auto favorite = std::make_unique<Favorite>();
  favorite->title = std::move(title);
  favorite->url = std::move(url);
  favorite->key = std::move(key);
  return favorite;
}

template <typename... Children>
std::unique_ptr<Favorite> folder(std::string title, Children... children) {
  auto favorite = std::make_unique<Favorite>();
  favorite->kind = FavoriteKind::kFolder;
  favorite->title = std::move(title);
  (favorite->children.push_back(std::move(children)), ...);
  return favorite;
}

}  // namespace harmonica::providers
