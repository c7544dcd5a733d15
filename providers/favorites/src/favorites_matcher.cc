#include "favorites_matcher.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "harmonica/providers/favorites.h"

namespace harmonica::providers {
namespace {

// A child that this many folders have says nothing about which of them it is.
constexpr std::size_t kFoldersOfOneChildMax = 8;

// Renamed folders inside renamed folders are found one level a round, from the inside out.
constexpr int kFolderRoundsMax = 16;

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

// An item as it was shown.
struct ShownFavorite {
  StoreKey key;
  StoreKey parent;
  FavoriteKind kind = FavoriteKind::kBookmark;
  std::string title;
  std::string url;
  bool is_free = true;  // no entry of the file is it
  std::size_t children = 0;
};

// An entry of the file; `parent` is the position of its folder among the entries, kNone directly below a root.
struct FileFavorite {
  Favorite* favorite;
  std::size_t parent;
  const std::string* root;
};

// What makes two entries the same wherever they stand.
std::string content_of(FavoriteKind kind, std::string_view title, std::string_view url) {
  std::string content = kind == FavoriteKind::kFolder ? "f" : "b";
  content += std::to_string(title.size());
  content += ':';
  content += title;
  content += url;
  return content;
}

std::string content_of(const Favorite& favorite) { return content_of(favorite.kind, favorite.title, favorite.url); }
std::string content_of(const ShownFavorite& shown) { return content_of(shown.kind, shown.title, shown.url); }

class FavoritesMatcher {
 public:
  explicit FavoritesMatcher(FavoritesTree& tree) : tree_(tree) {
    for (FavoritesTree::Root& root : tree_.roots) collect(root.children, kNone, root.name);
  }

  // Whether an entry has no key yet.
  bool has_open() const {
    return std::ranges::any_of(entries_, [](const FileFavorite& entry) { return is_open(*entry.favorite); });
  }

  Status read(const ShownItems& shown) {
    HARMONICA_RETURN_IF_ERROR(shown.for_each([&](const StoreItem& item) {
      if (item.type == kBookmarkType || item.type == kFolderType) shown_.push_back(shown_favorite(item));
    }));
    by_key_.reserve(shown_.size());
    for (std::size_t i = 0; i < shown_.size(); ++i) by_key_.emplace(shown_[i].key, i);
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      children_[shown_[i].parent].push_back(i);
      if (const std::size_t parent = find(shown_[i].parent); parent != kNone) ++shown_[parent].children;
    }
    return {};
  }

  void match() {
    for (const SkippedFavorite& skipped : tree_.skipped) take_key(skipped.key);
    for (const FileFavorite& entry : entries_) take_key(entry.favorite->key);
    for (FavoritesTree::Root& root : tree_.roots) match_children(root.name, root.children);
    for (const FileFavorite& entry : entries_) {
      if (entry.favorite->kind == FavoriteKind::kFolder && !entry.favorite->key.empty()) match_once(*entry.favorite);
    }
    for (int round = 0; round < kFolderRoundsMax && match_folders_by_children(); ++round) continue;
    match_folders_by_title();
    match_elsewhere();
    name_the_rest();
  }

 private:
  using Entries = std::vector<std::unique_ptr<Favorite>>;
  using Queues = std::unordered_map<std::string, std::deque<std::size_t>>;

  static ShownFavorite shown_favorite(const StoreItem& item) {
    ShownFavorite shown;
    shown.key = item.key;
    shown.parent = item.parent;
    shown.kind = item.type == kFolderType ? FavoriteKind::kFolder : FavoriteKind::kBookmark;
    for (const UnitValue& unit : item.values) {
      const std::string* text = unit.value.if_text();
      if (text != nullptr && unit.unit == kTitleUnit) shown.title = *text;
      if (text != nullptr && unit.unit == kUrlUnit) shown.url = *text;
    }
    return shown;
  }

  std::size_t find(std::string_view key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? kNone : found->second;
  }

  void collect(Entries& entries, std::size_t parent, const std::string& root) {
    for (const auto& entry : entries) {
      if (entry->kind == FavoriteKind::kKept) continue;
      entries_.push_back({entry.get(), parent, &root});
      collect(entry->children, entries_.size() - 1, root);
    }
  }

  void take_key(const StoreKey& key) {
    if (const std::size_t shown = find(key); !key.empty() && shown != kNone) shown_[shown].is_free = false;
  }

  void take(Favorite& favorite, std::size_t shown) {
    shown_[shown].is_free = false;
    favorite.key = shown_[shown].key;
  }

  // The children of the folder that was shown under `key`, and then theirs.
  void match_children(const StoreKey& key, Entries& entries) {
    const auto shown = children_.find(key);
    if (shown == children_.end()) return;
    match_in_order(entries, shown->second, [](const auto& entry) { return content_of(entry); });
    match_in_order(entries, shown->second,
                   [](const auto& entry) { return entry.kind == FavoriteKind::kBookmark ? entry.url : std::string(); });
    match_by_title(entries, shown->second);
    for (const auto& entry : entries) {
      if (entry->kind == FavoriteKind::kFolder && !entry->key.empty()) match_once(*entry);
    }
  }

  void match_once(Favorite& folder) {
    if (matched_folders_.insert(&folder).second) match_children(folder.key, folder.children);
  }

  static bool is_open(const Favorite& entry) { return entry.kind != FavoriteKind::kKept && entry.key.empty(); }

  template <typename Content>
  void match_in_order(Entries& entries, const std::vector<std::size_t>& shown, const Content& content) {
    if (std::ranges::none_of(entries, [](const auto& entry) { return is_open(*entry); })) return;
    Queues queues;
    for (const std::size_t i : shown) {
      if (shown_[i].is_free) queues[content(shown_[i])].push_back(i);
    }
    queues.erase(std::string());
    for (const auto& entry : entries) {
      if (!is_open(*entry)) continue;
      const auto queue = queues.find(content(*entry));
      if (queue == queues.end() || queue->second.empty()) continue;
      take(*entry, queue->second.front());
      queue->second.pop_front();
    }
  }

  void match_by_title(Entries& entries, const std::vector<std::size_t>& shown) {
    std::unordered_map<std::string_view, std::vector<std::size_t>> candidates;
    for (const std::size_t i : shown) {
      if (shown_[i].is_free && shown_[i].kind == FavoriteKind::kBookmark) candidates[shown_[i].title].push_back(i);
    }
    std::unordered_map<std::string_view, std::size_t> counts;
    for (const auto& entry : entries) {
      if (is_open(*entry) && entry->kind == FavoriteKind::kBookmark) ++counts[entry->title];
    }
    for (const auto& entry : entries) {
      if (!is_open(*entry) || entry->kind != FavoriteKind::kBookmark || entry->title.empty()) continue;
      const auto found = candidates.find(entry->title);
      if (found == candidates.end() || found->second.size() != 1 || counts[entry->title] != 1) continue;
      take(*entry, found->second.front());
    }
  }

  struct FolderPair {
    std::size_t overlap;
    bool same_title;
    bool same_parent;
    std::size_t entry;
    std::size_t shown;

    // The best first; the order of the file and of what was shown decides between equals.
    auto rank() const { return std::tuple(~overlap, !same_title, !same_parent, entry, shown); }
  };

  // Whether it found any.
  bool match_folders_by_children() {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (is_open(*entries_[i].favorite) && entries_[i].favorite->kind == FavoriteKind::kFolder) open.push_back(i);
    }
    if (open.empty()) return false;
    const Homes homes = homes_of_free_items();
    std::vector<FolderPair> pairs;
    for (const std::size_t i : open) add_pairs(i, homes, pairs);
    std::ranges::sort(pairs, {}, &FolderPair::rank);
    bool found = false;
    for (const FolderPair& pair : pairs) {
      Favorite& folder = *entries_[pair.entry].favorite;
      if (!is_open(folder) || !shown_[pair.shown].is_free) continue;
      take(folder, pair.shown);
      match_once(folder);
      found = true;
    }
    return found;
  }

  // For each content the free folders that had it, with how often.
  using Homes = std::unordered_map<std::string, std::map<std::size_t, std::size_t>>;

  Homes homes_of_free_items() const {
    Homes homes;
    for (const ShownFavorite& shown : shown_) {
      const std::size_t parent = shown.is_free ? find(shown.parent) : kNone;
      if (parent != kNone && shown_[parent].is_free) ++homes[content_of(shown)][parent];
    }
    return homes;
  }

  void add_pairs(std::size_t index, const Homes& homes, std::vector<FolderPair>& pairs) const {
    const FileFavorite& folder = entries_[index];
    std::map<std::size_t, std::size_t> overlaps;
    std::unordered_map<std::string, std::size_t> counts;
    std::size_t children = 0;
    for (const auto& child : folder.favorite->children) {
      if (child->kind == FavoriteKind::kKept) continue;
      ++children;
      if (child->key.empty()) {
        ++counts[content_of(*child)];
      } else if (const std::size_t shown = find(child->key); shown != kNone) {
        const std::size_t parent = find(shown_[shown].parent);
        if (parent != kNone && shown_[parent].is_free) ++overlaps[parent];
      }
    }
    for (const auto& [content, count] : counts) {
      const auto found = homes.find(content);
      if (found == homes.end() || found->second.size() > kFoldersOfOneChildMax) continue;
      for (const auto& [parent, shown_count] : found->second) overlaps[parent] += std::min(count, shown_count);
    }
    const StoreKey& parent_key = folder.parent == kNone ? *folder.root : entries_[folder.parent].favorite->key;
    for (const auto& [shown, overlap] : overlaps) {
      if (shown_[shown].kind != FavoriteKind::kFolder || overlap * 2 < std::min(children, shown_[shown].children)) continue;
      pairs.push_back(
          {overlap, shown_[shown].title == folder.favorite->title, shown_[shown].parent == parent_key, index, shown});
    }
  }

  void match_folders_by_title() {
    std::unordered_map<std::string_view, std::vector<std::size_t>> candidates;
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      if (shown_[i].is_free && shown_[i].kind == FavoriteKind::kFolder) candidates[shown_[i].title].push_back(i);
    }
    std::unordered_map<std::string_view, std::size_t> counts;
    const auto is_open_folder = [](const FileFavorite& entry) {
      return is_open(*entry.favorite) && entry.favorite->kind == FavoriteKind::kFolder;
    };
    for (const FileFavorite& entry : entries_) {
      if (is_open_folder(entry)) ++counts[entry.favorite->title];
    }
    for (const FileFavorite& entry : entries_) {
      if (!is_open_folder(entry)) continue;
      const auto found = candidates.find(entry.favorite->title);
      if (found == candidates.end() || found->second.size() != 1 || counts[entry.favorite->title] != 1) continue;
      if (!shown_[found->second.front()].is_free) continue;
      take(*entry.favorite, found->second.front());
      match_once(*entry.favorite);
    }
  }

  void match_elsewhere() {
    Queues queues;
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      if (shown_[i].is_free && shown_[i].kind == FavoriteKind::kBookmark) queues[content_of(shown_[i])].push_back(i);
    }
    for (const FileFavorite& entry : entries_) {
      if (!is_open(*entry.favorite) || entry.favorite->kind != FavoriteKind::kBookmark) continue;
      const auto queue = queues.find(content_of(*entry.favorite));
      if (queue == queues.end() || queue->second.empty()) continue;
      take(*entry.favorite, queue->second.front());
      queue->second.pop_front();
    }
  }

  // Parents before their children, whose keys depend on them.
  void name_the_rest() {
    if (!has_open()) return;
    std::unordered_set<std::string_view> taken;
    for (const ShownFavorite& shown : shown_) taken.insert(shown.key);
    for (const SkippedFavorite& skipped : tree_.skipped) taken.insert(skipped.key);
    for (const FileFavorite& entry : entries_) taken.insert(entry.favorite->key);
    std::unordered_map<std::string, std::uint64_t> numbers;
    for (const FileFavorite& entry : entries_) {
      if (!is_open(*entry.favorite)) continue;
      const StoreKey& parent = entry.parent == kNone ? *entry.root : entries_[entry.parent].favorite->key;
      const std::string place = std::to_string(parent.size()) + ":" + parent + content_of(*entry.favorite);
      std::uint64_t& number = numbers[place];
      do {
        entry.favorite->key = "n:" + digits_of(place, number++);
      } while (!taken.insert(entry.favorite->key).second);
    }
  }

  // FNV-1a, stirred (the finalizer of MurmurHash3); keys that meet are told apart by the running number.
  static std::string digits_of(std::string_view place, std::uint64_t number) {
    std::uint64_t hash = 0xCBF29CE484222325;
    const auto add = [&](std::uint8_t byte) { hash = (hash ^ byte) * 0x100000001B3; };
    for (const char c : place) add(static_cast<std::uint8_t>(c));
    for (int shift = 0; shift < 64; shift += 8) add(static_cast<std::uint8_t>(number >> shift));
    hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCD;
    hash = (hash ^ (hash >> 33)) * 0xC4CEB9FE1A85EC53;
    hash ^= hash >> 33;
    std::string digits;
    for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(hash >> shift) & 15];
    return digits;
  }

  FavoritesTree& tree_;
  std::vector<ShownFavorite> shown_;
  std::unordered_map<std::string_view, std::size_t> by_key_;
  std::unordered_map<std::string_view, std::vector<std::size_t>> children_;  // of what was shown, by the parent's key
  std::vector<FileFavorite> entries_;                                        // parents before their children
  std::unordered_set<const Favorite*> matched_folders_;
};

}  // namespace

Status match_favorites(FavoritesTree& tree, const ShownItems& shown) {
  FavoritesMatcher matcher(tree);
  if (!matcher.has_open()) return {};
  HARMONICA_RETURN_IF_ERROR(matcher.read(shown));
  matcher.match();
  return {};
}

}  // namespace harmonica::providers
