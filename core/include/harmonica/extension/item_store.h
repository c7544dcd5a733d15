// The one interface that the author of a store writes. docs/writing-a-provider.md walks through it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harmonica/schema.h"
#include "harmonica/status.h"
#include "harmonica/value.h"

namespace harmonica {

class MetadataStore;

// The store's own name for an item: any bytes, never empty, the same as long as the item lives in the store. A root is
// named by its name in the schema, and no item has that key; the empty key is the root above all items.
using StoreKey = std::string;

struct UnitValue {
  UnitId unit = 0;
  Value value;
  friend bool operator==(const UnitValue&, const UnitValue&) = default;
};

// An item as a store holds it. A unit that is missing from `values` is one that the store cannot hold: it is never taken
// for cleared. Units with the roles parent and position are not in `values`: the store speaks of a parent's key and of the
// order of siblings instead.
struct StoreItem {
  StoreKey key;
  TypeId type = 0;
  StoreKey parent;                         // types with a parent role; otherwise empty
  std::vector<UnitValue> values;           // sorted by unit
  std::optional<std::int64_t> changed_ms;  // when the store says it last changed, since 1970-01-01 UTC
  std::optional<ItemId> identity;          // the item id, where the store recognises one that Harmonica gave it
  friend bool operator==(const StoreItem&, const StoreItem&) = default;
};

// What Harmonica last showed in the store, for stores that recognise their items only by comparing.
class ShownItems {
 public:
  virtual ~ShownItems() = default;
  // Every item shown, in no particular order, its siblings' order apart.
  virtual Status for_each(const std::function<void(const StoreItem&)>& visit) const = 0;
};

// Receives what a store enumerates.
class EnumerationSink {
 public:
  virtual ~EnumerationSink() = default;
  // In a full enumeration: parents before their children, siblings in their order, every item once.
  virtual Status item(StoreItem item) = 0;
  // Only when changes are enumerated: an item that is gone.
  virtual Status removed(const StoreKey& key) = 0;
  // Something in the store that cannot be synced, and why; one line, at every enumeration while it stands there, also if
  // nothing has changed. The rest goes on. With the key of an item that was shown before, that item is left as it is, with
  // all that was shown below it, and not taken for removed; otherwise the key is empty.
  virtual void skipped(const StoreKey& key, std::string what) = 0;
  // Damage that the store reads around and that its next write repairs; one line, at every enumeration until then.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): those who override it keep the line.
  virtual void mended(std::string /*what*/) {}
};

enum class EnumerationKind : std::uint8_t {
  kUnchanged,   // nothing has changed since the anchor, nothing was enumerated
  kEverything,  // what was not enumerated is gone
  kChanges,  // only what changed since the anchor; where siblings with positions came, went or changed places, all of them
};

struct Enumeration {
  EnumerationKind kind = EnumerationKind::kEverything;
  Bytes anchor;  // opaque to Harmonica: where the next enumeration may start from
  // Changes may be told in parts, so that a great many of them take little memory: the next part, which begins at `anchor`,
  // is asked for at once. All that is gone is told in the first one, and siblings with positions in the same one.
  bool more = false;
};

enum class WriteKind : std::uint8_t { kPut, kRemove };

// One write. The store compares what it holds under the key with `expected` before it writes (compare-and-swap), in the
// units that it holds; something that already equals `item` counts as written.
struct StoreWrite {
  WriteKind kind = WriteKind::kPut;
  StoreItem item;                     // for kRemove only key and type count
  StoreKey previous;                  // the sibling it follows in the end; empty: it is the first
  std::optional<StoreItem> expected;  // nothing: there must be no item with this key
  // It comes to its parent, or past a sibling. If it cannot be written, its next sibling follows `previous` instead of it.
  bool moves = false;
};

enum class WriteState : std::uint8_t {
  kWritten,
  kChanged,  // the store holds something else than expected: it will be detected, nothing was written
  kFailed,   // this item cannot be written; `status` says why
};

struct WriteOutcome {
  WriteState state = WriteState::kWritten;
  Status status;
};

struct Written {
  std::vector<WriteOutcome> outcomes;  // one for each write, in their order
  Bytes anchor;                        // as after an enumeration that would see just what was written
};

enum class WriteUnit : std::uint8_t {
  kEachItem,    // items can be written one by one
  kWholeStore,  // all writes of a session become one, all or nothing
};

// A place where an app or another program keeps items. Thread-compatible; used by one session at a time.
// Errors of the store as a whole (missing, unreadable, locked) are statuses; those of one item are outcomes.
class ItemStore {
 public:
  virtual ~ItemStore() = default;

  // Constant over the life of the object.
  virtual const Schema& schema() const = 0;
  virtual WriteUnit write_unit() const = 0;

  // What stands in the store now, or has changed since `anchor` (empty: never enumerated). not_found: there is no such
  // store; corruption: it cannot be read as one. A store that is missing or damaged is never an empty one.
  virtual Result<Enumeration> enumerate(const Bytes& anchor, const ShownItems& shown, EnumerationSink& sink) = 0;

  // The key that a new item with this id will have. Pure; never a root's name.
  virtual StoreKey key_for(const ItemId& item) const = 0;

  // How `item` will be read back once it was written: units that cannot be held are left out, values take the form that
  // the store gives them. Pure.
  virtual StoreItem as_held(StoreItem item) const { return item; }

  // The form of a value in which every store of the scope that holds the same thing names it: new items whose natural keys
  // are equal in this form become one item (docs/architecture.md, "Local changes"). Only for comparing; values stay as they
  // are. All stores of a scope must give the same form. Pure.
  virtual Value natural_form(TypeId type, UnitId unit, const Value& value) const {
    static_cast<void>(type);
    static_cast<void>(unit);
    return value;
  }

  // Writes, durably before it returns. Puts come first, parents before their children and siblings in their order; then
  // removals, children before their parents. `anchor` is that of the last enumeration or write; a store that is written
  // whole answers kChanged for every write if anything has changed since.
  virtual Result<Written> apply(std::span<const StoreWrite> writes, const Bytes& anchor) = 0;

  // The metadata store that shares this store's database, if there is one: then `apply` runs inside its transaction, and
  // data and metadata commit as one. Owned by the store.
  virtual MetadataStore* metadata() { return nullptr; }
};

}  // namespace harmonica
