#include "chromium_identities.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "harmonica/platform/crypto.h"

namespace harmonica::providers {
namespace {

// The guids of Chromium's permanent folders, and one that it replaces because a fault once gave it to many bookmarks.
constexpr std::array<std::string_view, 7> kForbiddenGuids = {
    "2509a7dc-215d-52f7-a429-8d80431c6c75", "0bc5d13f-2cba-5d74-951f-3f233fe6c908", "82b081ec-3dd3-529c-8475-ab6c344590dd",
    "4cf2e351-0e85-532b-bb37-df045d8f8d0f", "323123f4-9381-5aee-80e6-ea5fca2f7672", "89fc5b66-beb6-56c1-a99b-70635d7df201",
    "da39a3ee-5e6b-fb0d-b255-bfef95601890"};

// Numbers that were seen. Those of a browser are small and dense.
class IdSet {
 public:
  explicit IdSet(std::size_t small) : small_(small) {}

  // Whether it is new.
  bool insert(std::int64_t id) {
    if (id < 0 || static_cast<std::uint64_t>(id) >= small_.size()) return large_.insert(id).second;
    const auto index = static_cast<std::size_t>(id);
    const bool is_new = !small_[index];
    small_[index] = true;
    return is_new;
  }

 private:
  std::vector<bool> small_;
  std::unordered_set<std::int64_t> large_;
};

// Keys that were seen, which must outlive it.
class KeySet {
 public:
  explicit KeySet(std::size_t expected) : slots_(std::bit_ceil(2 * expected + 16)) { keys_.reserve(expected); }

  // Whether it is new.
  bool insert(std::string_view key) {
    Slot& slot = find(key);
    if (slot.number != 0) return false;
    keys_.push_back(key);
    slot = {hash_of(key), static_cast<std::uint32_t>(keys_.size())};
    if (2 * keys_.size() > slots_.size()) grow();
    return true;
  }

  bool contains(std::string_view key) { return find(key).number != 0; }

 private:
  // Open addressing: looking a key up touches one cache line, and the key itself only where the hashes are equal.
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = 0;  // of the key, from 1; 0: free
  };

  static std::uint32_t hash_of(std::string_view key) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>()(key));
  }

  Slot& find(std::string_view key) {
    const std::uint32_t hash = hash_of(key);
    for (std::size_t at = hash;; ++at) {
      Slot& slot = slots_[at & (slots_.size() - 1)];
      if (slot.number == 0 || (slot.hash == hash && keys_[slot.number - 1] == key)) return slot;
    }
  }

  void grow() {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    for (const Slot& slot : old) {
      if (slot.number != 0) find(keys_[slot.number - 1]) = slot;
    }
  }

  std::vector<Slot> slots_;
  std::vector<std::string_view> keys_;
};

// Goes over the tree once more, in the order of the checksum: compares that, gives keys to entries without a good one of
// their own, and finds the folder that stands for the menu.
class IdentitySettler {
 public:
  IdentitySettler(ChromiumDocument& document, ChromiumChecksums present)
      : document_(document), checksum_(present), ids_(16 * document.entries.size()), keys_(document.entries.size()) {
    for (const std::string_view guid : kForbiddenGuids) keys_.insert(guid);
  }

  ChromiumChecksum::Digests run() {
    for (std::size_t i = 0; i < kChromiumRoots.size(); ++i) {
      ChromiumDocument::Root& root = document_.roots[i];
      settle_id(root.entry, "root", root.title);
      checksum_.folder(id_text(root.entry), root.title);
      FavoritesTree::Root& shown = document_.tree().roots[kChromiumRoots[i].root];
      visit(shown.children, shown.name);
    }
    if (menu_ != nullptr) {
      menu_->kind = FavoriteKind::kKept;
      document_.menu_origin = menu_->origin;
      document_.tree().roots[kMenuRoot].children = std::move(menu_->children);
      menu_->children.clear();
    }
    // A key that a living entry took over says nothing about the skipped one.
    for (SkippedFavorite& skipped : document_.tree().skipped) {
      if (keys_.contains(skipped.key)) skipped.key.clear();
    }
    return checksum_.finish();
  }

 private:
  static std::string id_text(const ChromiumDocument::Entry& entry) {
    return entry.id == 0 ? std::string() : std::to_string(entry.id);
  }

  void mended(std::string what) { document_.tree().mended.push_back(std::move(what)); }

  void settle_id(ChromiumDocument::Entry& entry, std::string_view kind, std::string_view title) {
    if (entry.id != 0 && ids_.insert(entry.id)) return;
    mended(std::string(kind) + " " + quoted(title) + ": its id was missing, bad or taken; it gets a new one");
    entry.id = 0;
  }

  // The same each time the file is read, until the first write makes it permanent.
  std::string derived_key(const Favorite& favorite, const std::string& parent_key) {
    std::string source = "harmonica favorites guid\n" + parent_key + "\n" + favorite.title + "\n" + favorite.url + "\n";
    source += favorite.kind == FavoriteKind::kFolder ? "folder" : "url";
    std::uint32_t& twins = twins_[source];
    std::string key;
    do {
      const auto hash = platform::sha256(as_bytes(source + "\n" + std::to_string(++twins)));
      std::array<std::uint8_t, 16> bytes;
      std::copy_n(hash.begin(), bytes.size(), bytes.begin());
      // Version 5, "made from a name": version 8 would be taken for an item id.
      bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0F) | 0x50);
      bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3F) | 0x80);
      key = chromium_guid(bytes);
    } while (keys_.contains(key));
    return key;
  }

  void settle_key(Favorite& favorite, const std::string& parent_key, std::string_view kind) {
    if (!favorite.key.empty() && keys_.insert(favorite.key)) return;
    mended(std::string(kind) + " " + quoted(favorite.title) + ": its guid was missing, bad or taken; it gets a new one");
    favorite.key = derived_key(favorite, parent_key);
    keys_.insert(favorite.key);
  }

  void visit(std::vector<std::unique_ptr<Favorite>>& children, const std::string& parent_key) {
    for (const std::unique_ptr<Favorite>& child : children) {
      if (child->kind == FavoriteKind::kKept) continue;
      const bool is_folder = child->kind == FavoriteKind::kFolder;
      const std::string_view kind = is_folder ? "folder" : "bookmark";
      ChromiumDocument::Entry& entry = document_.entries[child->origin];
      settle_id(entry, kind, child->title);
      const std::string id = id_text(entry);
      const bool is_menu = is_folder && menu_ == nullptr && child->key == kChromiumMenuGuid;
      if (is_menu) {
        menu_ = child.get();
        keys_.insert(child->key);
      }
      if (!is_menu) settle_key(*child, parent_key, kind);
      if (is_folder) {
        checksum_.folder(id, child->title);
        visit(child->children, is_menu ? document_.tree().roots[kMenuRoot].name : child->key);
      } else {
        checksum_.bookmark(id, child->title, child->url);
      }
      if (!is_chromium_title(child->title)) child->title = chromium_title(std::move(child->title));
    }
  }

  ChromiumDocument& document_;
  ChromiumChecksum checksum_;
  IdSet ids_;
  KeySet keys_;  // views the keys of the tree
  std::unordered_map<std::string, std::uint32_t> twins_;
  Favorite* menu_ = nullptr;
};

}  // namespace

ChromiumChecksum::Digests settle_identities(ChromiumDocument& document, ChromiumChecksums present) {
  return IdentitySettler(document, present).run();
}

}  // namespace harmonica::providers
