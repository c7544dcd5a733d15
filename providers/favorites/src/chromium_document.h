// A Chromium `Bookmarks` file that was read, with what the tree does not model.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "chromium_checksum.h"
#include "favorites_document.h"

namespace harmonica::providers {

// The roots of the tree, in their order there.
enum ChromiumTreeRoot : std::size_t { kToolbarRoot, kMenuRoot, kOtherRoot, kMobileRoot, kTreeRootCount };

// A root as the file names it, and which of the tree it is. In the order of the file and of the checksum.
struct ChromiumRootName {
  std::string_view name;
  ChromiumTreeRoot root;
};
inline constexpr std::array<ChromiumRootName, 3> kChromiumRoots = {
    {{"bookmark_bar", kToolbarRoot}, {"other", kOtherRoot}, {"synced", kMobileRoot}}};

// The folder in `other` that stands for the root `menu`, which Chromium does not have.
inline constexpr std::string_view kChromiumMenuGuid = "e9c4aafe-0c4e-5e55-8121-b39c1ac7dc6b";
inline constexpr std::string_view kChromiumMenuTitle = "Bookmarks menu";

// Folders around an entry in the file, at most: with more of them Chromium takes the whole file for unreadable.
inline constexpr std::size_t kChromiumFoldersMax = 97;

// Microseconds between 1601-01-01, where Chromium's dates begin, and 1970-01-01.
inline constexpr std::int64_t kChromiumEpochUs = 11'644'473'600'000'000;

// A title as Chromium holds it: line ends and tabs become blanks.
std::string chromium_title(std::string title);
bool is_chromium_title(std::string_view title);

// A text in a message: in quotes, in one line, cut where it is long.
std::string quoted(std::string_view text);

// A guid in lower case; empty if it is none.
std::string parse_chromium_guid(std::string_view text);
// The guid of 16 bytes.
std::string chromium_guid(ByteView bytes);

class ChromiumDocument final : public FavoritesDocument {
 public:
  // What is kept of a node.
  struct Entry {
    std::int64_t id = 0;         // 0: it needs a new one
    std::int64_t modified = -1;  // date_modified as in the file; -1: there is none
    std::int64_t used = -1;      // date_last_used likewise; -1 also if it is no plain number
    std::uint32_t text = 0;      // number of an interned text: packed members, or the whole of a kept entry
  };
  struct Root {
    std::string title;
    Entry entry;
  };

  ChromiumDocument();

  Result<Bytes> write() const override;

  // The number of a text, the same for equal ones: nearly all nodes have the same few unmodelled members.
  std::uint32_t intern(std::string_view text);
  const std::string& text(std::uint32_t number) const { return *texts_[number]; }
  // The new entry's number, for Favorite::origin.
  std::uint32_t add(Entry entry);

  std::vector<Entry> entries;  // [0] stands for entries that the file does not have yet
  std::array<Root, kChromiumRoots.size()> roots;
  std::string members;            // of the file, packed
  std::string root_members;       // beside the roots, packed
  std::int64_t id_max = 0;        // the greatest id ever given
  std::uint32_t menu_origin = 0;  // of the kept entry that stands for the menu folder; 0: the file has none
  std::size_t size_read = 0;
  ChromiumChecksums checksums = ChromiumChecksums::kMd5;

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> numbers_;
  std::vector<const std::string*> texts_;
};

// As FavoritesCodec::read.
Result<std::unique_ptr<FavoritesDocument>> read_chromium_bookmarks(std::string_view content);

}  // namespace harmonica::providers
