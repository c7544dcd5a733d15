#include "harmonica/providers/favorites.h"

#include <algorithm>
#include <array>
#include <utility>

#include "favorites_document.h"
#include "favorites_store.h"
#include "harmonica/platform/file_system.h"

namespace harmonica::providers {
namespace {

// Enough to recognise a format by.
constexpr std::size_t kHeadBytes = 64 * 1024;

constexpr std::string_view kKnownFormats = "Harmonica reads Chromium Bookmarks files and bookmark HTML";

// Chromium's guids of its own folders, and one of the same kind for the menu: a name for ever, in every store.
constexpr std::array<std::uint8_t, 16> kToolbarId = {0x0b, 0xc5, 0xd1, 0x3f, 0x2c, 0xba, 0x5d, 0x74,
                                                     0x95, 0x1f, 0x3f, 0x23, 0x3f, 0xe6, 0xc9, 0x08};
constexpr std::array<std::uint8_t, 16> kMenuId = {0xe9, 0xc4, 0xaa, 0xfe, 0x0c, 0x4e, 0x5e, 0x55,
                                                  0x81, 0x21, 0xb3, 0x9c, 0x1a, 0xc7, 0xdc, 0x6b};
constexpr std::array<std::uint8_t, 16> kOtherId = {0x82, 0xb0, 0x81, 0xec, 0x3d, 0xd3, 0x52, 0x9c,
                                                   0x84, 0x75, 0xab, 0x6c, 0x34, 0x45, 0x90, 0xdd};
constexpr std::array<std::uint8_t, 16> kMobileId = {0x4c, 0xf2, 0xe3, 0x51, 0x0e, 0x85, 0x53, 0x2b,
                                                    0xbb, 0x37, 0xdf, 0x04, 0x5d, 0x8f, 0x8d, 0x0f};

// A foreign format by what its files begin with, and what to do about it.
struct Foreign {
  std::string_view start;
  std::string_view what;
};
constexpr std::array<Foreign, 9> kForeign = {{
    {"SQLite format 3", "is an SQLite database; if it is Firefox's places.sqlite, export its bookmarks as HTML"},
    {"mozLz40", "is a Firefox backup; export its bookmarks as HTML"},
    {"v10", "is encrypted, as Chromium's EncryptedBookmarks files are; give the file Bookmarks beside it"},
    {"v11", "is encrypted, as Chromium's EncryptedBookmarks files are; give the file Bookmarks beside it"},
    {"bplist", "is a property list, as Safari keeps; export its bookmarks as HTML"},
    {"<?xml", "is XML, which is not supported; export the bookmarks as HTML"},
    {"[InternetShortcut]", "is a single Internet shortcut, which is not supported"},
    {"\xFF\xFE", "is UTF-16 text, which is not supported; save it as UTF-8"},
    {"\xFE\xFF", "is UTF-16 text, which is not supported; save it as UTF-8"},
}};

bool contains_ignoring_case(std::string_view text, std::string_view lower_case) {
  return std::search(text.begin(), text.end(), lower_case.begin(), lower_case.end(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
         }) != text.end();
}

Schema make_schema() {
  Unit title;
  title.id = kTitleUnit;
  title.name = "title";
  Unit url;
  url.id = kUrlUnit;
  url.name = "url";
  Unit parent;
  parent.id = kParentUnit;
  parent.name = "parent";
  parent.kind = ValueKind::kIds;
  parent.role = UnitRole::kParent;
  Unit position;
  position.id = kPositionUnit;
  position.name = "position";
  position.kind = ValueKind::kBytes;
  position.role = UnitRole::kPosition;
  position.recording = ConflictRecording::kSilent;
  Unit added;
  added.id = kDateAddedUnit;
  added.name = "date_added";
  added.kind = ValueKind::kInteger;
  added.recording = ConflictRecording::kSilent;

  ItemType bookmark;
  bookmark.id = kBookmarkType;
  bookmark.name = "bookmark";
  bookmark.units = {title, url, parent, position, added};
  bookmark.natural_key = {kTitleUnit, kUrlUnit};
  ItemType folder;
  folder.id = kFolderType;
  folder.name = "folder";
  folder.units = {title, parent, position, added};
  folder.natural_key = {kTitleUnit};

  Schema schema;
  schema.default_scope = "favorites";
  schema.types = {bookmark, folder};
  schema.roots = {{shaped_item_id(kToolbarId), "toolbar"},
                  {shaped_item_id(kMenuId), "menu"},
                  {shaped_item_id(kOtherId), "other"},
                  {shaped_item_id(kMobileId), "mobile"}};
  return schema;
}

}  // namespace

const Schema& favorites_schema() {
  static const Schema schema = make_schema();
  return schema;
}

Result<FavoritesFormat> recognize_favorites(std::string_view content) {
  if (content.empty()) {
    return Status(StatusCode::kCorruption,
                  "is empty, which is not the same as having no bookmarks; restore it from a copy");
  }
  for (const Foreign& foreign : kForeign) {
    if (content.starts_with(foreign.start)) return Status(StatusCode::kUnsupported, std::string(foreign.what));
  }
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  const std::size_t start = content.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || content[start] == '\0') {
    return Status(StatusCode::kCorruption, "has nothing but blanks; restore it from a copy");
  }
  content.remove_prefix(start);
  if (content.front() == '{') return FavoritesFormat::kChromium;
  constexpr std::array<std::string_view, 4> kHtmlSigns = {"<!doctype netscape-bookmark", "<dl", "<dt", "<h3"};
  const bool is_html = content.front() == '<' && std::any_of(kHtmlSigns.begin(), kHtmlSigns.end(), [&](auto sign) {
                         return contains_ignoring_case(content, sign);
                       });
  if (is_html) return FavoritesFormat::kNetscapeHtml;
  return Status(StatusCode::kUnsupported, "is no favorites file that Harmonica knows; " + std::string(kKnownFormats));
}

std::string_view to_text(FavoritesFormat format) {
  switch (format) {
    case FavoritesFormat::kChromium:
      return "Chromium Bookmarks";
    case FavoritesFormat::kNetscapeHtml:
      return "bookmark HTML";
  }
  return "unknown";
}

Result<std::unique_ptr<ItemStore>> open_favorites(const std::string& path, const FavoritesOptions& options) {
  HARMONICA_ASSIGN_OR_RETURN(const std::string canonical, platform::canonical_path(path));
  const auto head = platform::read_head(canonical, kHeadBytes);
  if (head.status().code() == StatusCode::kNotFound) {
    const std::string encrypted = canonical.substr(0, canonical.rfind('/') + 1) + "EncryptedBookmarks2";
    if (platform::exists(encrypted)) {
      return Status(StatusCode::kNotFound,
                    path + ": no such file; " + encrypted + " beside it is encrypted and cannot be used");
    }
  }
  if (!head.ok()) return head.status();
  HARMONICA_ASSIGN_OR_RETURN(const platform::FileStamp stamp, platform::stamp_file(canonical));
  if (stamp.size > kFavoritesBytesMax) {
    return Status(StatusCode::kLimitExceeded, path + ": has " + std::to_string(stamp.size) + " bytes, more than the " +
                                                  std::to_string(kFavoritesBytesMax) + " that are read");
  }
  const auto format = recognize_favorites(as_text(*head));
  if (!format.ok()) return format.status().within(path);
  const FavoritesCodec& codec = *format == FavoritesFormat::kChromium ? chromium_bookmarks_codec() : netscape_html_codec();
  return std::unique_ptr<ItemStore>(std::make_unique<FavoritesStore>(canonical, codec, options));
}

}  // namespace harmonica::providers
