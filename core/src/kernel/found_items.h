// What a store has now, beside what was shown in it.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harmonica/extension/environment.h"
#include "kernel/id_hash.h"
#include "kernel/known_items.h"

namespace harmonica::kernel {

// An item that the store has now.
struct Found {
  StoreItem content;
  KnownItem* known = nullptr;  // nothing: new
  ItemId item;
  ItemId parent;
  bool orphan = false;             // written by us, its commit lost: not a user's
  bool differs = false;            // from what was shown, by whoever's hand
  bool moved = false;              // by the user
  std::vector<UnitValue> changed;  // by the user; with what the user saw before
  // Units that the store shows for the first time since the schema has them, otherwise than others had written them before.
  std::vector<UnitValue> overruled;
  Bytes position;             // as shown, or the new one
  bool repositioned = false;  // by the user
  bool reborn = false;        // known, but deleted: the user made it anew

  // Whether a user has changed it, so that it gets a version.
  bool is_users() const { return !orphan && (known == nullptr || reborn || moved || repositioned || !changed.empty()); }
};

// When the item last changed, as far as its store says, in milliseconds; not in the future. 0: unknown, so oldest.
std::int64_t time_of(const Found& found, Environment& environment);

// All that the store has told, in its order. Does not grow once it is filled.
struct FoundItems {
  std::vector<Found> all;
  // Places in it of what was not known.
  std::unordered_map<std::string_view, std::size_t> new_by_key;
  std::unordered_map<ItemId, std::size_t, IdHash> new_by_item;

  // Where an item is in it; nothing if the store has not told of it.
  Result<std::optional<std::size_t>> place_of(const ItemId& item, KnownItems& known) const;
};

}  // namespace harmonica::kernel
