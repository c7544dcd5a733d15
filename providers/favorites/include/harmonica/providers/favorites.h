// Browser favorites: Chromium `Bookmarks` files and Netscape bookmark HTML, told apart by content.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "harmonica/extension/item_store.h"
#include "harmonica/schema.h"
#include "harmonica/status.h"

namespace harmonica::providers {

// The types and units of the scope `favorites`. Numbers are for ever.
inline constexpr TypeId kBookmarkType = 1;
inline constexpr TypeId kFolderType = 2;
inline constexpr UnitId kTitleUnit = 1;  // text
inline constexpr UnitId kUrlUnit = 2;    // text, bookmarks only
inline constexpr UnitId kParentUnit = 3;
inline constexpr UnitId kPositionUnit = 4;
inline constexpr UnitId kDateAddedUnit = 5;  // integer: microseconds since 1970-01-01 UTC

// Roots `toolbar`, `menu`, `other` and `mobile`; their ids are the same everywhere.
const Schema& favorites_schema();

enum class FavoritesFormat { kChromium, kNetscapeHtml };

struct FavoritesOptions {
  // Where a copy of the user's file is kept before the first write to it; empty: beside the file, as
  // .harmonica-backup.NAME.
  std::string backup_directory;
};

// Opens the favorites file at `path`; its content decides the format. not_found: no such file; unsupported: a directory, an
// encrypted or unknown format; corruption: an empty file; permission_denied, io, limit_exceeded. What is inside is looked
// at by `enumerate` alone: corruption: damaged beyond reading; unsupported: a browser would show it as empty (says why).
// Every message names the path. The file is read, not changed.
// What is read and written, and what each format cannot hold: providers/favorites/README.md.
Result<std::unique_ptr<ItemStore>> open_favorites(const std::string& path, const FavoritesOptions& options);

// The format by content, of which the first 64 KiB are enough, or why there is none.
Result<FavoritesFormat> recognize_favorites(std::string_view content);

std::string_view to_text(FavoritesFormat format);

}  // namespace harmonica::providers
