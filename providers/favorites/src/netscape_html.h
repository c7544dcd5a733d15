// The Netscape bookmark file format: what a document keeps of the file it was read from.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "favorites_document.h"
#include "html_text.h"
#include "html_tokenizer.h"

namespace harmonica::providers {

// The roots, in the order of the schema, and the attribute of the folder that stands for each.
enum class HtmlRoot : std::uint8_t { kToolbar, kMenu, kOther, kMobile };

inline constexpr std::size_t kHtmlRoots = 4;
inline constexpr std::array<std::string_view, kHtmlRoots> kHtmlRootNames = {"toolbar", "menu", "other", "mobile"};
inline constexpr std::array<std::string_view, kHtmlRoots> kHtmlRootAttributes = {
    "PERSONAL_TOOLBAR_FOLDER", "BOOKMARKS_MENU", "UNFILED_BOOKMARKS_FOLDER", "MOBILE_BOOKMARKS_FOLDER"};

// Holds the key of an entry, so that it is recognised when the file is read again.
inline constexpr std::string_view kHtmlKeyAttribute = "HARMONICA_ID";

// A part of the document's text.
struct HtmlSlice {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool empty() const { return begin == end; }
};

// What stands behind `Favorite::origin`.
struct HtmlOrigin {
  enum class Role : std::uint8_t {
    kEntry,       // a bookmark or a folder
    kRootFolder,  // the folder that stands for `root`; in the tree a kKept where it stands
    kSeparator,
    kText,      // comments, text and elements that mean nothing to us
    kUnsynced,  // a bookmark or folder that is no item, with all that belongs to it
  };

  Role role = Role::kEntry;
  HtmlRoot root = HtmlRoot::kToolbar;
  HtmlSlice attributes;                 // of the A or heading
  HtmlSlice title;                      // between its tags
  HtmlSlice note;                       // the description that follows, from its <DD> on, or other text on the line
  HtmlSlice whole;                      // kSeparator, kText; kUnsynced: its tags and title
  HtmlSlice list;                       // kUnsynced: that of a folder
  std::vector<std::uint32_t> children;  // origins as they were read
};

// The modelled part of an entry.
struct HtmlEntry {
  std::string title;
  std::string url;
  std::string key;  // empty: none, or none that can be one
  std::optional<std::int64_t> added_us;
  std::optional<std::int64_t> changed_us;
};

class NetscapeHtmlDocument final : public FavoritesDocument {
 public:
  Result<Bytes> write() const override;

 private:
  friend class NetscapeHtmlReader;
  friend class NetscapeHtmlWriter;

  std::string_view view(const HtmlSlice& slice) const {
    return std::string_view(text_).substr(slice.begin, slice.end - slice.begin);
  }
  HtmlTag tag_of(const HtmlOrigin& origin) const { return {{}, view(origin.attributes), HtmlTag::Side::kStart}; }
  HtmlEntry entry_of(const HtmlOrigin& origin) const;
  bool as_read() const;
  bool as_read(const std::vector<std::unique_ptr<Favorite>>& entries, const std::vector<std::uint32_t>& origins) const;

  std::string text_;               // valid UTF-8
  std::optional<Bytes> original_;  // where it was not the same as `text_`
  ByteOrderMark mark_ = ByteOrderMark::kNone;
  HtmlSlice header_;
  HtmlSlice footer_;
  std::vector<HtmlOrigin> origins_ = std::vector<HtmlOrigin>(1);  // 0 is that of new entries

  // Entries outside of the root folders belong to this root: the menu in the files of Firefox, otherwise `other`.
  HtmlRoot outer_root_ = HtmlRoot::kOther;
  std::array<std::uint32_t, kHtmlRoots> root_folders_ = {};  // origins; 0: none in the file
  // What stands outside of the root folders and is no item, where `outer_root_` has a folder of its own.
  std::vector<std::unique_ptr<Favorite>> outer_kept_;
  std::array<std::vector<std::uint32_t>, kHtmlRoots> root_children_;  // origins as they were read
};

// As FavoritesCodec::read. netscape_html_reader.cc
Result<std::unique_ptr<NetscapeHtmlDocument>> read_netscape_html(ByteView content);

// Microseconds since 1970 from what the attribute says, its unit by its magnitude; nothing for what is no date.
std::optional<std::int64_t> html_date(std::string_view text);

// The date as ADD_DATE holds it: whole seconds; nothing if it would not be read back as the same.
std::optional<std::int64_t> html_date_seconds(std::int64_t date_us);

// The text of a heading or link without the elements in it; text that only looks like an element stays.
std::string html_title(std::string_view raw);

}  // namespace harmonica::providers
