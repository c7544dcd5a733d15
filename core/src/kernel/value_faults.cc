#include "kernel/value_faults.h"

#include "harmonica/limits.h"
#include "harmonica/utf8.h"

namespace harmonica::kernel {
namespace {

// Registers of counters hold more than the number that stores show.
ValueKind register_kind(const ItemType& type, const Unit& unit) {
  return type.rule_of(unit) == ConflictRule::kCounter ? ValueKind::kList : unit.kind;
}

}  // namespace

std::optional<std::string> fault_of(const Value& value) {
  if (value.weight() > limits::kValueBytesMax) {
    return "is larger than the " + std::to_string(limits::kValueBytesMax) + " bytes that are synced";
  }
  if (const std::string* text = value.if_text(); text != nullptr && !is_valid_utf8(*text)) return "is no UTF-8 text";
  if (const Value::List* list = value.if_list()) {
    for (const Value& member : *list) {
      if (member.kind() == ValueKind::kList) return "holds a list in a list";
      if (std::optional<std::string> fault = fault_of(member)) return fault;
    }
  }
  return std::nullopt;
}

std::optional<std::string> fault_of(const ItemType& type, const Unit& unit, const Value& value) {
  if (std::optional<std::string> fault = fault_of(value)) return fault;
  if (!value.is_null() && value.kind() != register_kind(type, unit)) return "is of another kind than the unit's";
  const Bytes* position = unit.role == UnitRole::kPosition ? value.if_bytes() : nullptr;
  if (position != nullptr && position->size() > limits::kPositionBytesMax) {
    return "is a position of more than " + std::to_string(limits::kPositionBytesMax) + " bytes";
  }
  return std::nullopt;
}

std::optional<std::string> fault_of(const ItemType& type, const ItemChange& change) {
  for (const UnitRegister& unit : change.units) {
    const Unit* known = type.find_unit(unit.unit);
    const std::optional<std::string> fault =
        known == nullptr ? fault_of(unit.content.value) : fault_of(type, *known, unit.content.value);
    if (!fault) continue;
    const std::string name = known == nullptr ? "" : " '" + known->name + "'";
    return "the value of unit " + std::to_string(unit.unit) + name + " " + *fault;
  }
  return std::nullopt;
}

}  // namespace harmonica::kernel
