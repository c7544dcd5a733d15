#include "favorites_digest.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "chromium_document.h"

namespace harmonica::providers {
namespace {

using Children = std::vector<std::unique_ptr<Favorite>>;
using Guid = std::array<std::uint8_t, 16>;

constexpr std::size_t kGuidLength = 36;

// Looking up changes one by one costs more than comparing everything when they are more than one in so many.
constexpr std::size_t kEntriesPerChangeMin = 8;

// The bytes of a guid as parse_chromium_guid leaves it.
std::optional<Guid> bytes_of(std::string_view guid) {
  if (guid.size() != kGuidLength) return std::nullopt;
  Guid bytes{};
  std::size_t digits = 0;
  for (std::size_t at = 0; at < guid.size(); ++at) {
    const char c = guid[at];
    if (at == 8 || at == 13 || at == 18 || at == 23) {
      if (c != '-') return std::nullopt;
      continue;
    }
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return std::nullopt;
    std::uint8_t& byte = bytes[digits++ / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | digit);
  }
  return bytes;
}

// The round and the finalizer of xxHash64, over one lane. Two contents of one entry meet by chance once in 2^64.
class Digester {
 public:
  Digester& add(std::uint64_t number) {
    state_ = std::rotl(state_ ^ (std::rotl(number * kPrime2, 31) * kPrime1), 27) * kPrime1 + kPrime3;
    return *this;
  }
  // The length goes first, so that texts in a row cannot be taken for others.
  Digester& add(std::string_view text) {
    add(text.size());
    for (; text.size() >= 8; text.remove_prefix(8)) add(word(text.substr(0, 8)));
    if (!text.empty()) add(word(text));
    return *this;
  }
  std::uint64_t finish() const {
    std::uint64_t hash = state_;
    hash = (hash ^ (hash >> 33)) * kPrime2;
    hash = (hash ^ (hash >> 29)) * kPrime3;
    return hash ^ (hash >> 32);
  }

 private:
  static constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87;
  static constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
  static constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9;

  // Another order of bytes on another machine costs one enumeration of everything.
  static std::uint64_t word(std::string_view bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), bytes.size());
    return word;
  }

  std::uint64_t state_ = kPrime3;
};

// Their order. One of another kind is another item, also under the same key.
void add_children(const Children& children, Digester& digester) {
  for (const std::unique_ptr<Favorite>& child : children) {
    if (child->kind != FavoriteKind::kKept) digester.add(static_cast<std::uint64_t>(child->kind)).add(child->key);
  }
}

std::uint64_t content_of(const Favorite& favorite, std::string_view parent) {
  Digester digester;
  digester.add(static_cast<std::uint64_t>(favorite.kind)).add(parent).add(favorite.title).add(favorite.url);
  digester.add(favorite.added_us ? 1 : 0).add(static_cast<std::uint64_t>(favorite.added_us.value_or(0)));
  add_children(favorite.children, digester);
  return digester.finish();
}

// Whether all keys are guids.
bool add_entries(const Children& children, std::string_view parent, std::vector<FavoriteDigest>& entries) {
  for (const std::unique_ptr<Favorite>& child : children) {
    if (child->kind == FavoriteKind::kKept) continue;
    const std::optional<Guid> key = bytes_of(child->key);
    if (!key) return false;
    entries.push_back({*key, content_of(*child, parent)});
    if (!add_entries(child->children, child->key, entries)) return false;
  }
  return true;
}

// Finds the entries of one digest in the order of another, which nearly always is the same.
class EntryFinder {
 public:
  explicit EntryFinder(const std::vector<FavoriteDigest>& entries) : entries_(entries), is_found_(entries.size()) {}

  // Null: not there.
  const FavoriteDigest* find(const Guid& key) {
    if (next_ == entries_.size() || entries_[next_].key != key) {
      if (places_.empty()) {
        places_.reserve(entries_.size());
        for (std::size_t place = 0; place < entries_.size(); ++place) places_.emplace(text(entries_[place].key), place);
      }
      const auto found = places_.find(text(key));
      if (found == places_.end()) return nullptr;
      next_ = found->second;
    }
    is_found_[next_] = true;
    return &entries_[next_++];
  }

  std::vector<StoreKey> not_found() const {
    std::vector<StoreKey> keys;
    for (std::size_t place = 0; place < entries_.size(); ++place) {
      if (!is_found_[place]) keys.push_back(chromium_guid(entries_[place].key));
    }
    return keys;
  }

 private:
  static std::string_view text(const Guid& key) { return as_text(key); }

  const std::vector<FavoriteDigest>& entries_;
  std::vector<bool> is_found_;
  std::size_t next_ = 0;
  std::unordered_map<std::string_view, std::size_t> places_;  // filled when it is first needed
};

class Comparison {
 public:
  Comparison(const FavoritesDigest& before, const FavoritesDigest& now) : now_(now), before_(before.entries) {
    changes_.is_told.reserve(now.entries.size());
  }

  void compare(const Children& children, bool order_changed) {
    for (const std::unique_ptr<Favorite>& child : children) {
      if (child->kind == FavoriteKind::kKept) continue;
      const FavoriteDigest& entry = now_.entries[changes_.is_told.size()];
      const FavoriteDigest* before = before_.find(entry.key);
      const bool changed = before == nullptr || before->content != entry.content;
      changes_.is_told.push_back(changed || order_changed);
      told_ += changes_.is_told.back() ? 1 : 0;
      compare(child->children, changed);
    }
  }

  std::optional<FavoritesChanges> finish() {
    changes_.removed = before_.not_found();
    if ((told_ + changes_.removed.size()) * kEntriesPerChangeMin > now_.entries.size()) return std::nullopt;
    return std::move(changes_);
  }

 private:
  const FavoritesDigest& now_;
  EntryFinder before_;
  FavoritesChanges changes_;
  std::size_t told_ = 0;
};

}  // namespace

FavoritesDigest digest_of(const FavoritesTree& tree) {
  FavoritesDigest digest;
  for (const FavoritesTree::Root& root : tree.roots) {
    Digester order;
    add_children(root.children, order);
    digest.roots.push_back(order.finish());
    if (!add_entries(root.children, root.name, digest.entries)) return {};
  }
  return digest;
}

std::optional<FavoritesChanges> changes_between(const FavoritesDigest& before, const FavoritesDigest& now,
                                                const FavoritesTree& tree) {
  if (before.roots.size() != tree.roots.size() || now.roots.size() != tree.roots.size()) return std::nullopt;
  Comparison comparison(before, now);
  for (std::size_t root = 0; root < tree.roots.size(); ++root) {
    comparison.compare(tree.roots[root].children, before.roots[root] != now.roots[root]);
  }
  return comparison.finish();
}

}  // namespace harmonica::providers
