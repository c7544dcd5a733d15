// Items and their registers.
#pragma once

#include <string>
#include <vector>

#include "harmonica/schema.h"
#include "harmonica/value.h"
#include "harmonica/version.h"

namespace harmonica {

// Whether a value came from a writer or from a conflict rule. Between two results of rules `latest` decides, so that
// resolving ends (rule R9).
enum class Origin : std::uint8_t { kWritten, kMadeByRule };

enum class Existence : std::uint8_t {
  kCreated,   // by a user
  kRestored,  // by a conflict rule, after a deletion
  kDeleted,
  kErased,  // for good: stronger than whatever it meets, and no unit is kept (docs/adr/0022)
};

inline bool is_alive(Existence existence) { return existence == Existence::kCreated || existence == Existence::kRestored; }

// One change unit of an item: the greatest version of it that the replica knows, and that version's value.
struct Register {
  Version version;
  Value value;
  Origin origin = Origin::kWritten;
  friend bool operator==(const Register&, const Register&) = default;
};

// The existence of an item is a register too (rule R1).
struct ExistenceRegister {
  Version version;
  Existence value = Existence::kCreated;
  friend bool operator==(const ExistenceRegister&, const ExistenceRegister&) = default;
};

struct UnitRegister {
  UnitId unit = 0;
  Register content;
  friend bool operator==(const UnitRegister&, const UnitRegister&) = default;
};

// Everything that syncs is an item. A deleted one keeps its registers, values included: its tombstone (rule R2). Of an
// erased one its existence is left alone: no unit, and so no value. Thread-compatible.
struct Item {
  ItemId id;
  TypeId type = 0;
  ExistenceRegister existence;
  std::vector<UnitRegister> units;  // sorted by unit, none twice; units that the schema does not know are kept

  bool alive() const { return is_alive(existence.value); }
  bool erased() const { return existence.value == Existence::kErased; }
  const Register* find(UnitId unit) const;
  Register* find(UnitId unit);
  // The register of that unit, made if it is missing.
  Register& at(UnitId unit);
  // Null value if the unit is missing.
  const Value& value_of(UnitId unit) const;

  // "id type existence@version unit=value@version ...", for logs and tests; '*' follows what a rule made.
  std::string to_text() const;

  friend bool operator==(const Item&, const Item&) = default;
};

}  // namespace harmonica
