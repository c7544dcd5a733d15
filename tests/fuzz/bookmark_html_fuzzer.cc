// Bookmark HTML of any shape: reading ends in a document or an error, and what an edited document writes is read back the
// same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "favorites_document.h"

namespace {

using harmonica::providers::Favorite;
using harmonica::providers::FavoriteKind;
using harmonica::providers::FavoritesTree;

void append(std::string& text, const std::vector<std::unique_ptr<Favorite>>& entries) {
  for (const auto& entry : entries) {
    if (entry->kind == FavoriteKind::kKept) continue;
    text += (entry->kind == FavoriteKind::kFolder ? "(" : "<") + entry->title + "|" + entry->url + "|" + entry->key + "|" +
            std::to_string(entry->added_us.value_or(0)) + "|" + std::to_string(entry->changed_us.value_or(0));
    append(text, entry->children);
    text += ")";
  }
}

std::string items_of(const FavoritesTree& tree) {
  std::string text;
  for (const FavoritesTree::Root& root : tree.roots) {
    text += root.name + ":";
    append(text, root.children);
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto& codec = harmonica::providers::netscape_html_codec();
  const auto document = codec.read({data, size});
  if (!document.ok()) return 0;
  FavoritesTree& tree = (*document)->tree();
  for (FavoritesTree::Root& root : tree.roots) {
    auto added = std::make_unique<Favorite>();
    added->title = "in " + root.name;
    added->url = "http://" + root.name + "/";
    root.children.push_back(std::move(added));
  }
  const auto written = (*document)->write();
  if (!written.ok()) return 0;
  const auto again = codec.read(*written);
  if (!again.ok() || items_of((*again)->tree()) != items_of(tree)) std::abort();
  (*again)->tree().mended.push_back("written anew");
  const auto twice = (*again)->write();
  if (!twice.ok() || *twice != *written) std::abort();
  return 0;
}
