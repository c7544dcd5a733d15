// Conflict records: what lost, to what, and why. Nothing is overwritten before its record is written.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "harmonica/change.h"
#include "harmonica/item.h"

namespace harmonica {

enum class ConflictState : std::uint8_t {
  kDecided,   // a rule decided; `lost` can be restored
  kDeferred,  // both sides are kept apart until someone decides
};

// One side of a conflict. For a unit: its register. For existence: `existence`, and `value` is null.
struct ConflictSide {
  Version version;
  Value value;
  Existence existence = Existence::kCreated;
  friend bool operator==(const ConflictSide&, const ConflictSide&) = default;
};

struct ConflictRecord {
  ConflictId id;  // made from item, unit and both versions
  ItemId item;
  TypeId type = 0;
  UnitId unit = kExistenceUnit;
  ConflictSide kept;  // what the rule made of the two, under the version that `lost` met; deferred: what this replica holds
  ConflictSide lost;  // deferred: what the other replica holds
  ConflictState state = ConflictState::kDecided;
  std::string rule;  // "latest", "edit_wins", "manual", ...
  ReplicaId decided_by;
  std::int64_t when_ms = 0;            // since 1970-01-01 UTC
  std::optional<ItemChange> deferred;  // the change that waits, whole or in part
  ClockVector deferred_made_with;      // learned for this item once it is decided (rule R11)
  friend bool operator==(const ConflictRecord&, const ConflictRecord&) = default;
};

// Two concurrent values of a unit whose rule is custom, in the order of their versions.
struct CustomConflict {
  ItemId item;
  TypeId type = 0;
  UnitId unit = 0;
  const Register& lesser;
  const Register& greater;
};

// An app's own rule. It must be pure and the same on every replica, and answer with a value of the unit's kind or null;
// anything else leaves the item out, to be offered again. It is not asked about two outcomes of its own.
using CustomRule = std::function<Value(const CustomConflict&)>;

}  // namespace harmonica
