// A user who edits a store, and what users typed.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "chance.h"
#include "harmonica/conformance/enumerated_items.h"
#include "harmonica/conformance/store_subject.h"

namespace harmonica::conformance {

// A unit and, as text, a value in it that no two edits share.
using TypedValue = std::pair<UnitId, std::string>;

// Of all users of a run.
struct Typed {
  std::set<TypedValue> values;
  std::set<TypedValue> replaced;  // by someone who saw them, or removed with their item
  std::uint64_t titles = 0;
  std::uint64_t edits = 0;
  std::vector<std::string> findings;
};

// Edits through the store's own `apply`, as another program that knows what stands there. Thread-compatible.
class MeshUser {
 public:
  MeshUser(StoreSubject& subject, Chance& chance, Typed& typed) : subject_(subject), chance_(chance), typed_(typed) {}

  // One edit: creates, changes, moves or removes. What the store refuses (kFailed) did not happen.
  void edit();
  // A leaf with this title, which is not counted as typed.
  void add_shared(const std::string& title);

 private:
  struct Place {
    StoreKey parent;
    StoreKey previous;
  };

  bool look();
  Place any_place(const StoreItem* moved);
  bool is_below(StoreKey item, const StoreKey& ancestor) const;
  bool has_children(const StoreKey& key) const;
  StoreKey previous_of(const StoreItem& item) const;
  bool is_ordered(TypeId type) const;
  void create();
  void change(const StoreItem& before);
  void move(const StoreItem& before);
  void remove(const StoreItem& before);
  StoreItem titled(bool is_folder, StoreKey key, StoreKey parent, const std::string& title);
  bool write(StoreWrite write);

  StoreSubject& subject_;
  Chance& chance_;
  Typed& typed_;
  EnumeratedItems standing_;
  Bytes anchor_;
};

// The values of `item` that depend on its title.
std::vector<TypedValue> typed_values(StoreSubject& subject, const StoreItem& item);

}  // namespace harmonica::conformance
