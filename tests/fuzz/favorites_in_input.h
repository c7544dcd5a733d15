// What every codec of favorites files owes for any input.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "favorites_document.h"

namespace harmonica::providers {

inline void append_items(std::string& text, const std::vector<std::unique_ptr<Favorite>>& entries) {
  for (const auto& entry : entries) {
    if (entry->kind == FavoriteKind::kKept) continue;
    text += (entry->kind == FavoriteKind::kFolder ? "(" : "<") + entry->title + "|" + entry->url + "|" + entry->key + "|" +
            std::to_string(entry->added_us.value_or(0)) + "|" + std::to_string(entry->changed_us.value_or(0));
    append_items(text, entry->children);
    text += ")";
  }
}

inline std::string items_of(const FavoritesTree& tree) {
  std::string text;
  for (const FavoritesTree::Root& root : tree.roots) {
    text += root.name + ":";
    append_items(text, root.children);
  }
  return text;
}

// Reads, adds a bookmark to each root, writes, reads again: the items are the same, and written anew so are the bytes, so
// that nothing grows from one write to the next. Ends the program otherwise.
inline void read_edit_and_read_again(const FavoritesCodec& codec, ByteView input) {
  const auto document = codec.read(input);
  if (!document.ok()) return;
  FavoritesTree& tree = (*document)->tree();
  std::uint8_t number = 0;
  for (FavoritesTree::Root& root : tree.roots) {
    auto added = std::make_unique<Favorite>();
    added->key = codec.key_for(shaped_item_id(Bytes(16, ++number)));
    added->title = "in " + root.name;
    added->url = "http://" + root.name + "/";
    added->added_us = 1'500'000'000'000'000;
    root.children.push_back(std::move(added));
  }
  const auto written = (*document)->write();
  if (!written.ok()) return;
  const auto again = codec.read(*written);
  if (!again.ok() || items_of((*again)->tree()) != items_of(tree)) std::abort();
  (*again)->tree().mended.push_back("written anew");
  const auto twice = (*again)->write();
  if (!twice.ok() || *twice != *written) std::abort();
}

}  // namespace harmonica::providers
