// A store on trial: what the contracts and the mesh need of it beside the store itself.
#pragma once

#include <optional>
#include <string>

#include "harmonica/extension/item_store.h"

namespace harmonica::conformance {

// Made anew for each test, with an empty store of its own; removes it at the end. Titles are short ASCII texts; items with
// different titles must differ in every unit that depends on the title. Thread-compatible.
class StoreSubject {
 public:
  virtual ~StoreSubject() = default;

  virtual ItemStore& store() = 0;

  // Forgets all but what is durable, as a new start of the app does; `store` gives the new object.
  virtual void reopen() = 0;

  // Adds one item that others do not stand below, as another program would: not through `store`.
  virtual void edit_as_user() = 0;

  // Where new items may be put: a root of the schema, or empty.
  virtual StoreKey root() { return {}; }

  virtual StoreItem leaf(StoreKey key, StoreKey parent, std::string title) = 0;

  // An item that others can be put below. Nothing: the store is flat.
  virtual std::optional<StoreItem> folder(StoreKey /*key*/, StoreKey /*parent*/, std::string /*title*/) {
    return std::nullopt;
  }
};

}  // namespace harmonica::conformance
