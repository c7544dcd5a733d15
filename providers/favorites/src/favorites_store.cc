#include "favorites_store.h"

#include <algorithm>
#include <utility>

#include "favorites_address.h"
#include "favorites_anchor.h"
#include "favorites_edits.h"
#include "favorites_matcher.h"
#include "harmonica/platform/crypto.h"

namespace harmonica::providers {
namespace {

using Children = std::vector<std::unique_ptr<Favorite>>;

// Visits every entry that is an item, with its parent's key: parents before children, siblings in their order.
template <typename Visit>
Status for_each_entry(const FavoritesTree& tree, Visit visit) {
  struct Level {
    const StoreKey* parent;
    const Children* children;
    std::size_t next = 0;
  };
  std::vector<Level> levels;
  for (const FavoritesTree::Root& root : tree.roots) {
    levels.push_back({&root.name, &root.children});
    while (!levels.empty()) {
      Level& level = levels.back();
      if (level.next == level.children->size()) {
        levels.pop_back();
        continue;
      }
      Favorite& favorite = *(*level.children)[level.next++];
      if (favorite.kind == FavoriteKind::kKept) continue;
      HARMONICA_RETURN_IF_ERROR(visit(favorite, *level.parent));
      if (!favorite.children.empty()) levels.push_back({&favorite.key, &favorite.children});
    }
  }
  return {};
}

std::vector<StoreKey> keys_of(const FavoritesTree& tree) {
  std::vector<StoreKey> keys;
  const Status visited = for_each_entry(tree, [&](const Favorite& favorite, const StoreKey&) {
    keys.push_back(favorite.key);
    return Status();
  });
  HARMONICA_ASSERT(visited.ok());
  return keys;
}

// The keys that the entries of this very content were given when it was enumerated. False if they are not as many.
bool give_keys(FavoritesTree& tree, const std::vector<StoreKey>& keys) {
  std::size_t next = 0;
  const Status visited = for_each_entry(tree, [&](Favorite& favorite, const StoreKey&) {
    if (next == keys.size()) return Status(StatusCode::kCorruption, "too few keys");
    favorite.key = keys[next++];
    return Status();
  });
  return visited.ok() && next == keys.size();
}

void tell_lines(const std::vector<SkippedFavorite>& skipped, const std::vector<std::string>& mended,
                EnumerationSink& sink) {
  for (const std::string& what : mended) sink.mended(what);
  for (const SkippedFavorite& one : skipped) sink.skipped(one.key, one.what);
}

bool same_keys(const std::vector<SkippedFavorite>& a, const std::vector<SkippedFavorite>& b) {
  return std::ranges::equal(a, b, {}, &SkippedFavorite::key, &SkippedFavorite::key);
}

Written all_changed(std::span<const StoreWrite> writes, const Bytes& anchor) {
  return {std::vector<WriteOutcome>(writes.size(), {WriteState::kChanged, {}}), anchor};
}

}  // namespace

FavoritesStore::FavoritesStore(std::string path, const FavoritesCodec& codec, FavoritesOptions options)
    : path_(std::move(path)), codec_(codec), options_(std::move(options)) {}

Result<Enumeration> FavoritesStore::enumerate(const Bytes& since, const ShownItems& shown, EnumerationSink& sink) {
  const auto comparable = [&](FavoritesAnchor::Entries entries) {
    std::optional<FavoritesAnchor> anchor = FavoritesAnchor::decode(since, entries);
    if (anchor && (anchor->format != codec_.format() || anchor->read_again)) anchor.reset();
    return anchor;
  };
  std::optional<FavoritesAnchor> before = comparable(FavoritesAnchor::Entries::kPassedOver);
  if (before) {
    HARMONICA_ASSIGN_OR_RETURN(const platform::FileStamp stamp, platform::stamp_file(path_));
    if (stamp == before->stamp && !before->racy) {
      tell_lines(before->skipped, before->mended, sink);
      return Enumeration{EnumerationKind::kUnchanged, since};
    }
    before = comparable(FavoritesAnchor::Entries::kDecoded);
    // Of the same size it often is the same file, saved again or just written by us.
    if (before && stamp.size == before->stamp.size) {
      HARMONICA_ASSIGN_OR_RETURN(const platform::FileHash now, platform::hash_file(path_, kFavoritesBytesMax));
      if (now.sha256 == before->hash) {
        tell_lines(before->skipped, before->mended, sink);
        before->stamp = now.stamp;
        before->racy = is_racy(now.stamp);
        return Enumeration{EnumerationKind::kUnchanged, before->encode()};
      }
    }
  }

  HARMONICA_ASSIGN_OR_RETURN(platform::FileContent content, platform::read_file(path_, kFavoritesBytesMax));
  FavoritesAnchor anchor;
  anchor.format = codec_.format();
  anchor.stamp = content.stamp;
  anchor.racy = is_racy(content.stamp);
  anchor.hash = platform::sha256(content.bytes);
  auto read = codec_.read(content.bytes);
  if (!read.ok()) return read.status().within(path_);
  const std::unique_ptr<FavoritesDocument> document = std::move(read).value();
  content.bytes = Bytes();
  if (codec_.keys() == FavoritesCodec::Keys::kByMatching) {
    HARMONICA_RETURN_IF_ERROR(match_favorites(document->tree(), shown));
    anchor.keys = keys_of(document->tree());
  } else {
    anchor.digest = digest_of(document->tree());
  }
  anchor.remember_lines(document->tree());
  std::optional<FavoritesChanges> changes;
  // What is skipped now and was not before, or the other way round, is more than a change of items.
  if (before && same_keys(before->skipped, anchor.skipped)) {
    changes = changes_between(before->digest, anchor.digest, document->tree());
  }
  HARMONICA_RETURN_IF_ERROR(report(document->tree(), changes ? &*changes : nullptr, sink));
  return Enumeration{changes ? EnumerationKind::kChanges : EnumerationKind::kEverything, anchor.encode()};
}

// Takes the items out of the tree, those of `changes` or, if it is null, all.
Status FavoritesStore::report(FavoritesTree& tree, const FavoritesChanges* changes, EnumerationSink& sink) const {
  tell_lines(tree.skipped, tree.mended, sink);
  if (changes != nullptr) {
    for (const StoreKey& key : changes->removed) HARMONICA_RETURN_IF_ERROR(sink.removed(key));
  }
  std::size_t entry = 0;
  return for_each_entry(tree, [&](Favorite& favorite, const StoreKey& parent) {
    if (changes != nullptr && !changes->is_told[entry++]) return Status();
    return sink.item(take_store_item(favorite, parent, codec_));
  });
}

Value FavoritesStore::natural_form(TypeId, UnitId unit, const Value& value) const {
  const std::string* text = value.if_text();
  return unit == kUrlUnit && text != nullptr ? Value::text(natural_address(*text)) : value;
}

Result<Written> FavoritesStore::apply(std::span<const StoreWrite> writes, const Bytes& since) {
  std::optional<FavoritesAnchor> anchor = FavoritesAnchor::decode(since);
  if (!anchor || anchor->format != codec_.format()) return all_changed(writes, since);

  HARMONICA_ASSIGN_OR_RETURN(platform::FileContent content, platform::read_file(path_, kFavoritesBytesMax));
  const bool is_proven = !anchor->racy && content.stamp == anchor->stamp;
  if (!is_proven && platform::sha256(content.bytes) != anchor->hash) return all_changed(writes, since);
  auto read = codec_.read(content.bytes);
  if (!read.ok()) return read.status().within(path_);
  std::unique_ptr<FavoritesDocument> document = std::move(read).value();
  content.bytes = Bytes();
  const bool matched = codec_.keys() == FavoritesCodec::Keys::kByMatching;
  if (matched && !give_keys(document->tree(), anchor->keys)) return all_changed(writes, since);

  Written written;
  written.outcomes.reserve(writes.size());
  bool edited = false;
  {
    FavoritesEditor editor(*document, codec_);
    for (const StoreWrite& write : writes) {
      WriteOutcome outcome = editor.apply(write);
      if (outcome.state == WriteState::kChanged) return all_changed(writes, since);
      written.outcomes.push_back(std::move(outcome));
    }
    edited = editor.edited();
  }
  if (!edited) {
    written.anchor = since;
    return written;
  }

  auto bytes = document->write();
  if (!bytes.ok()) return bytes.status().within(path_);
  // What was mended is repaired now; what was skipped stands there still, apart from what went with its folder.
  anchor->read_again = !document->tree().skipped.empty();
  anchor->skipped.clear();
  anchor->mended.clear();
  if (matched) {
    anchor->keys = keys_of(document->tree());
  } else {
    anchor->digest = digest_of(document->tree());
  }
  document.reset();
  HARMONICA_RETURN_IF_ERROR(keep_copy());

  // Whatever was saved since it was read above must not be lost. A stamp that may hide a change is not believed.
  bool saved_meanwhile = false;
  const auto last_look = [&]() -> Status {
    HARMONICA_ASSIGN_OR_RETURN(const platform::FileStamp stamp, platform::stamp_file(path_));
    saved_meanwhile = stamp != content.stamp;
    if (!saved_meanwhile && is_racy(stamp)) {
      HARMONICA_ASSIGN_OR_RETURN(const platform::FileHash again, platform::hash_file(path_, kFavoritesBytesMax));
      saved_meanwhile = again.sha256 != anchor->hash;
    }
    return saved_meanwhile ? Status(StatusCode::kUnavailable, "was saved meanwhile") : Status();
  };
  const Status replaced = platform::replace_file(path_, *bytes, last_look);
  if (saved_meanwhile) return all_changed(writes, since);
  HARMONICA_RETURN_IF_ERROR(replaced);

  HARMONICA_ASSIGN_OR_RETURN(anchor->stamp, platform::stamp_file(path_));
  anchor->racy = true;
  anchor->hash = platform::sha256(*bytes);
  written.anchor = anchor->encode();
  return written;
}

// Of the file as it was before Harmonica's first write to it.
Status FavoritesStore::keep_copy() const {
  const std::size_t slash = path_.rfind('/');
  const std::string name = path_.substr(slash + 1);
  std::string copy = path_.substr(0, slash + 1) + ".harmonica-backup." + name;
  if (!options_.backup_directory.empty()) {
    HARMONICA_RETURN_IF_ERROR(platform::create_directories(options_.backup_directory));
    // Profiles of one browser have files of one name.
    const auto hash = platform::sha256(as_bytes(path_));
    copy = options_.backup_directory + "/" + name + "." + to_hex(ByteView(hash).first(4)) + ".harmonica-backup";
  }
  if (platform::exists(copy)) return {};
  return platform::copy_file(path_, copy).within("copy before the first write");
}

}  // namespace harmonica::providers
