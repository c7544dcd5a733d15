#include "wire/schema_message.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "harmonica.pb.h"
#include "harmonica/limits.h"
#include "wire/enumerators.h"
#include "wire/message_values.h"

namespace harmonica::wire {
namespace {

Status check_count(int count, std::string_view what, std::size_t count_max) {
  if (static_cast<std::size_t>(count) <= count_max) return {};
  return too_many(static_cast<std::size_t>(count), what, count_max);
}

Result<std::uint16_t> schema_number(std::uint32_t number) {
  if (number > 0xffff) return corrupt("number " + std::to_string(number));
  return static_cast<std::uint16_t>(number);
}

Result<std::string> to_name(const std::string& bytes) {
  if (bytes.size() > limits::kSchemaNameBytesMax) {
    return too_many(bytes.size(), "bytes of a name", limits::kSchemaNameBytesMax);
  }
  return to_text(bytes);
}

Result<Unit> to_unit(const v1::Unit& from) {
  Unit unit;
  HARMONICA_ASSIGN_OR_RETURN(unit.id, schema_number(from.id()));
  HARMONICA_ASSIGN_OR_RETURN(unit.name, to_name(from.name()));
  HARMONICA_ASSIGN_OR_RETURN(unit.kind, to_enum(kValueKinds, from.kind(), "kind"));
  HARMONICA_ASSIGN_OR_RETURN(unit.role, to_enum(kUnitRoles, from.role(), "role"));
  if (from.rule() != 0) {
    HARMONICA_ASSIGN_OR_RETURN(unit.rule, to_enum(kConflictRules, from.rule(), "rule"));
  }
  HARMONICA_ASSIGN_OR_RETURN(unit.recording, to_enum(kConflictRecordings, from.recording(), "recording"));
  HARMONICA_ASSIGN_OR_RETURN(unit.priority_unit, schema_number(from.priority_unit()));
  return unit;
}

Result<ItemType> to_type(const v1::ItemType& from) {
  ItemType type;
  HARMONICA_ASSIGN_OR_RETURN(type.id, schema_number(from.id()));
  HARMONICA_ASSIGN_OR_RETURN(type.name, to_name(from.name()));
  HARMONICA_ASSIGN_OR_RETURN(type.deletion, to_enum(kDeletionRules, from.deletion(), "deletion rule"));
  HARMONICA_ASSIGN_OR_RETURN(type.rule, to_enum(kConflictRules, from.rule(), "rule"));
  HARMONICA_RETURN_IF_ERROR(check_count(from.units_size(), "units", limits::kUnitsMax));
  HARMONICA_RETURN_IF_ERROR(check_count(from.natural_key_size(), "units in a natural key", limits::kUnitsMax));
  type.units.reserve(static_cast<std::size_t>(from.units_size()));
  for (const v1::Unit& message : from.units()) {
    auto unit = to_unit(message);
    if (!unit.ok()) return unit.status().within("unit " + std::to_string(message.id()));
    type.units.push_back(*std::move(unit));
  }
  for (const std::uint32_t number : from.natural_key()) {
    HARMONICA_ASSIGN_OR_RETURN(const UnitId unit, schema_number(number));
    type.natural_key.push_back(unit);
  }
  return type;
}

void write(const Unit& from, v1::Unit* to) {
  to->set_id(from.id);
  to->set_name(from.name);
  to->set_kind(number_of(kValueKinds, from.kind));
  to->set_role(number_of(kUnitRoles, from.role));
  if (from.rule) to->set_rule(number_of(kConflictRules, *from.rule));
  to->set_recording(number_of(kConflictRecordings, from.recording));
  to->set_priority_unit(from.priority_unit);
}

void write(const ItemType& from, v1::ItemType* to) {
  to->set_id(from.id);
  to->set_name(from.name);
  to->set_deletion(number_of(kDeletionRules, from.deletion));
  to->set_rule(number_of(kConflictRules, from.rule));
  for (const Unit& unit : from.units) write(unit, to->add_units());
  for (const UnitId unit : from.natural_key) to->add_natural_key(unit);
}

}  // namespace

void write(const Schema& from, v1::Schema* to) {
  to->set_default_scope(from.default_scope);
  for (const ItemType& type : from.types) write(type, to->add_types());
  for (const Root& root : from.roots) {
    v1::Root* message = to->add_roots();
    message->set_id(std::string(as_text(root.id.view())));
    message->set_name(root.name);
  }
}

Result<Schema> to_schema(const v1::Schema& from) {
  HARMONICA_RETURN_IF_ERROR(check_count(from.types_size(), "types", limits::kSchemaTypesMax));
  HARMONICA_RETURN_IF_ERROR(check_count(from.roots_size(), "roots", limits::kSchemaRootsMax));
  Schema schema;
  if (!from.default_scope().empty() && !is_valid_scope_name(from.default_scope())) {
    return corrupt("default scope is not a scope name");
  }
  schema.default_scope = from.default_scope();
  for (const v1::ItemType& message : from.types()) {
    auto type = to_type(message);
    if (!type.ok()) return type.status().within("type " + std::to_string(message.id()));
    schema.types.push_back(*std::move(type));
  }
  for (const v1::Root& message : from.roots()) {
    const auto id = ItemId::from_bytes(as_bytes(message.id()));
    if (!id) return corrupt("root id of " + std::to_string(message.id().size()) + " bytes");
    HARMONICA_ASSIGN_OR_RETURN(std::string name, to_name(message.name()));
    schema.roots.push_back({*id, std::move(name)});
  }
  if (schema.is_empty()) return schema;
  const Status valid = schema.validate();
  if (!valid.ok()) return corrupt(valid.message());
  return schema;
}

}  // namespace harmonica::wire
