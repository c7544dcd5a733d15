#include "favorites_edits.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace harmonica::providers {
namespace {

WriteOutcome has_changed() { return {WriteState::kChanged, {}}; }

const Value* find_value(const StoreItem& item, UnitId unit) {
  const auto found =
      std::find_if(item.values.begin(), item.values.end(), [&](const UnitValue& value) { return value.unit == unit; });
  return found == item.values.end() ? nullptr : &found->value;
}

bool same_content(const StoreItem& a, const StoreItem& b) {
  return a.type == b.type && a.parent == b.parent && a.values == b.values;
}

FavoriteKind kind_of(TypeId type) { return type == kFolderType ? FavoriteKind::kFolder : FavoriteKind::kBookmark; }

std::size_t height_of(const Favorite& favorite) {
  std::size_t height = 0;
  for (const std::unique_ptr<Favorite>& child : favorite.children) height = std::max(height, 1 + height_of(*child));
  return height;
}

struct Texts {
  StoreKey key;
  std::string title;
  std::string url;
};

StoreItem make_store_item(const Favorite& favorite, Texts texts, const StoreKey& parent, const FavoritesCodec& codec) {
  StoreItem item;
  item.identity = codec.identity_of(texts.key);
  item.key = std::move(texts.key);
  item.parent = parent;
  item.type = favorite.kind == FavoriteKind::kFolder ? kFolderType : kBookmarkType;
  item.values.reserve(3);
  item.values.push_back({kTitleUnit, Value::text(std::move(texts.title))});
  if (favorite.kind == FavoriteKind::kBookmark) item.values.push_back({kUrlUnit, Value::text(std::move(texts.url))});
  if (favorite.added_us) item.values.push_back({kDateAddedUnit, Value::integer(*favorite.added_us)});
  std::optional<std::int64_t> changed_us = favorite.added_us;
  if (favorite.changed_us && (!changed_us || *changed_us < *favorite.changed_us)) changed_us = favorite.changed_us;
  if (changed_us) item.changed_ms = *changed_us / 1000;
  // What is read has the form in which what is written will be read back: the two are compared.
  return codec.as_held(std::move(item));
}

}  // namespace

StoreItem store_item_of(const Favorite& favorite, const StoreKey& parent, const FavoritesCodec& codec) {
  return make_store_item(favorite, {favorite.key, favorite.title, favorite.url}, parent, codec);
}

StoreItem take_store_item(Favorite& favorite, const StoreKey& parent, const FavoritesCodec& codec) {
  const bool is_folder = favorite.kind == FavoriteKind::kFolder;
  Texts texts{is_folder ? favorite.key : std::move(favorite.key), std::move(favorite.title), std::move(favorite.url)};
  return make_store_item(favorite, std::move(texts), parent, codec);
}

FavoritesEditor::FavoritesEditor(FavoritesDocument& document, const FavoritesCodec& codec)
    : document_(document), codec_(codec) {
  std::vector<std::pair<std::string_view, Children*>> pending;
  for (FavoritesTree::Root& root : document_.tree().roots) pending.emplace_back(root.name, &root.children);
  while (!pending.empty()) {
    const auto [parent, children] = pending.back();
    pending.pop_back();
    for (std::size_t slot = 0; slot < children->size(); ++slot) {
      Favorite& child = *(*children)[slot];
      if (child.kind == FavoriteKind::kKept) continue;
      places_.emplace(child.key, Place{&child, children, parent, slot});
      if (child.kind == FavoriteKind::kFolder && !child.children.empty()) pending.emplace_back(child.key, &child.children);
    }
  }
  for (const SkippedFavorite& skipped : document_.tree().skipped) {
    if (!skipped.key.empty()) skipped_.insert(skipped.key);
  }
}

FavoritesEditor::Place* FavoritesEditor::find(std::string_view key) {
  const auto found = places_.find(key);
  return found == places_.end() ? nullptr : &found->second;
}

// Null if there is no such folder or root.
FavoritesEditor::Children* FavoritesEditor::children_of(std::string_view parent) {
  for (FavoritesTree::Root& root : document_.tree().roots) {
    if (root.name == parent) return &root.children;
  }
  const Place* place = find(parent);
  return place == nullptr || place->favorite->kind != FavoriteKind::kFolder ? nullptr : &place->favorite->children;
}

// The key of a folder or the name of a root that there is, where it stands.
std::string_view FavoritesEditor::standing_name(std::string_view parent) const {
  for (const FavoritesTree::Root& root : document_.tree().roots) {
    if (root.name == parent) return root.name;
  }
  return places_.find(parent)->first;
}

// Few places are between the slot remembered and the one where the entry is now.
std::size_t FavoritesEditor::slot_of(Place& place) {
  const Children& siblings = *place.siblings;
  std::size_t below = std::min(place.slot, siblings.size());
  std::size_t above = below;
  while (true) {
    if (above < siblings.size()) {
      if (siblings[above].get() == place.favorite) return place.slot = above;
      ++above;
    }
    if (below > 0) {
      --below;
      if (siblings[below].get() == place.favorite) return place.slot = below;
    } else {
      HARMONICA_ASSERT(above < siblings.size());
    }
  }
}

StoreKey FavoritesEditor::predecessor_of(Place& place) {
  for (std::size_t slot = slot_of(place); slot > 0; --slot) {
    const Favorite& before = *(*place.siblings)[slot - 1];
    if (before.kind != FavoriteKind::kKept) return before.key;
  }
  return {};
}

bool FavoritesEditor::is_above(std::string_view folder, std::string_view below) {
  while (const Place* place = find(below)) {
    if (below == folder) return true;
    below = place->parent;
  }
  return false;
}

std::size_t FavoritesEditor::depth_in(std::string_view parent) {
  std::size_t depth = 0;
  for (const Place* place = find(parent); place != nullptr; place = find(place->parent)) ++depth;
  return depth;
}

WriteOutcome FavoritesEditor::apply(const StoreWrite& write) {
  if (skipped_.contains(write.item.key)) {
    return {WriteState::kFailed,
            Status(StatusCode::kUnsupported, "the entry in the file cannot be read, so it is left as it is")};
  }
  WriteOutcome outcome = write.kind == WriteKind::kPut ? put(write) : remove(write);
  if (outcome.state == WriteState::kFailed) unwritten_.emplace(write.item.key, Unwritten{write.previous, write.moves});
  return outcome;
}

WriteOutcome FavoritesEditor::put(const StoreWrite& write) {
  const StoreItem wanted = codec_.as_held(write.item);
  Place* place = find(write.item.key);
  StoreItem held;
  if (place != nullptr) {
    held = store_item_of(*place->favorite, StoreKey(place->parent), codec_);
    const bool as_expected = write.expected && same_content(held, codec_.as_held(*write.expected));
    if (!as_expected && !same_content(held, wanted)) return has_changed();
    if (held.type != write.item.type) {
      return {WriteState::kFailed, Status(StatusCode::kInvalidArgument, "an entry cannot change its type")};
    }
  } else if (write.expected) {
    return has_changed();
  }

  Children* siblings = children_of(write.item.parent);
  if (siblings == nullptr) {
    const Place* parent = find(write.item.parent);
    if (parent != nullptr && parent->favorite != nullptr && parent->favorite->kind == FavoriteKind::kBookmark) {
      return {WriteState::kFailed, Status(StatusCode::kInvalidArgument, "what should be its folder is a bookmark here")};
    }
    if (!unwritten_.contains(write.item.parent) && !skipped_.contains(write.item.parent)) return has_changed();
    return {WriteState::kFailed, Status(StatusCode::kUnavailable, "its folder is not in the file")};
  }
  if (place != nullptr && is_above(write.item.key, write.item.parent)) {
    return {WriteState::kFailed, Status(StatusCode::kInvalidArgument, "its folder is below itself")};
  }
  const bool moves = place == nullptr || held.parent != write.item.parent;
  const std::size_t height = place != nullptr && moves ? height_of(*place->favorite) : 0;
  if (Status status = codec_.can_hold(write.item, depth_in(write.item.parent) + height); !status.ok()) {
    return {WriteState::kFailed, std::move(status)};
  }

  // A sibling that was to come here and was not written is not there; its own predecessor takes its part.
  StoreKey previous = write.previous;
  std::unordered_set<StoreKey> passed;
  while (!previous.empty()) {
    const Place* sibling = find(previous);
    const bool is_here = sibling != nullptr && sibling->parent == write.item.parent && previous != write.item.key;
    const auto skipped = unwritten_.find(previous);
    if (is_here && (skipped == unwritten_.end() || !skipped->second.moves)) break;
    if (skipped == unwritten_.end() || !passed.insert(previous).second) return has_changed();
    previous = skipped->second.previous;
  }

  std::unique_ptr<Favorite> favorite;
  if (place == nullptr) {
    favorite = std::make_unique<Favorite>();
    favorite->kind = kind_of(write.item.type);
    favorite->key = write.item.key;
    set_values(*favorite, wanted, write.item);
  } else {
    if (!same_content(held, wanted)) set_values(*place->favorite, wanted, write.item);
    if (!moves && predecessor_of(*place) == previous) return {};
    const std::size_t slot = slot_of(*place);
    favorite = std::move((*place->siblings)[slot]);
    place->siblings->erase(place->siblings->begin() + static_cast<std::ptrdiff_t>(slot));
  }
  place_after(previous, write.item.parent, std::move(favorite));
  return {};
}

// `wanted`: what is given, in the form in which it will be held.
void FavoritesEditor::set_values(Favorite& favorite, const StoreItem& wanted, const StoreItem& given) {
  if (const Value* title = find_value(wanted, kTitleUnit)) {
    edited_ = edited_ || favorite.title != *title->if_text();
    favorite.title = *title->if_text();
  }
  if (const Value* url = find_value(wanted, kUrlUnit)) {
    edited_ = edited_ || favorite.url != *url->if_text();
    favorite.url = *url->if_text();
  }
  const Value* date = find_value(wanted, kDateAddedUnit);
  const Value* given_date = find_value(given, kDateAddedUnit);
  // A date that was not given, or that the format cannot hold, leaves the one that is there; null takes it away.
  if (date != nullptr || (given_date != nullptr && given_date->is_null())) {
    const std::optional<std::int64_t> added =
        date == nullptr ? std::nullopt : std::optional<std::int64_t>(*date->if_integer());
    edited_ = edited_ || favorite.added_us != added;
    favorite.added_us = added;
  }
}

void FavoritesEditor::place_after(const StoreKey& previous, const StoreKey& parent, std::unique_ptr<Favorite> favorite) {
  edited_ = true;
  Children* siblings = children_of(parent);
  std::size_t slot = 0;
  if (!previous.empty()) slot = slot_of(*find(previous)) + 1;
  Place& place = places_[favorite->key];
  place = {favorite.get(), siblings, standing_name(parent), slot};
  siblings->insert(siblings->begin() + static_cast<std::ptrdiff_t>(slot), std::move(favorite));
}

WriteOutcome FavoritesEditor::remove(const StoreWrite& write) {
  Place* place = find(write.item.key);
  if (place == nullptr) return {};
  const StoreItem held = store_item_of(*place->favorite, StoreKey(place->parent), codec_);
  if (!write.expected || !same_content(held, codec_.as_held(*write.expected))) return has_changed();
  const Children& children = place->favorite->children;
  for (const std::unique_ptr<Favorite>& child : children) {
    if (child->kind == FavoriteKind::kKept) continue;
    if (!unwritten_.contains(child->key)) return has_changed();
    return {WriteState::kFailed, Status(StatusCode::kUnavailable, "something in it could not be moved away")};
  }
  Children& siblings = *place->siblings;
  const std::size_t slot = slot_of(*place);
  // Its key there is the entry's own.
  places_.erase(write.item.key);
  siblings.erase(siblings.begin() + static_cast<std::ptrdiff_t>(slot));
  edited_ = true;
  return {};
}

}  // namespace harmonica::providers
