// Keys for the entries of files that have none: the keys that the same entries had when they were last shown.
#pragma once

#include "favorites_tree.h"
#include "harmonica/extension/item_store.h"
#include "harmonica/status.h"

namespace harmonica::providers {

// Fills in the empty keys of `tree`. An entry is the one that was shown, in this order,
//   in the same folder with the same title and address (the first of twins is the first), the same address, or the same
//   title (if only one has it); for folders: with the same title in the same folder, with at least half of the same
//   children, or with the same title elsewhere (if only one has it); elsewhere with the same title and address.
// Any other gets a new key, "n:" and 16 digits, made from where it stands and what it is, and different from every key in
// `tree` and `shown`. The same tree and items give the same keys. Takes n log n time. Errors are those of `shown`.
Status match_favorites(FavoritesTree& tree, const ShownItems& shown);

}  // namespace harmonica::providers
