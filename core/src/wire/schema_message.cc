#include "wire/schema_message.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "harmonica.pb.h"
#include "harmonica/limits.h"
#include "harmonica/utf8.h"
#include "wire/enumerators.h"

namespace harmonica::wire {
namespace {

Status bad_schema(std::string message) { return {StatusCode::kCorruption, std::move(message)}; }

Status check_count(int count, std::string_view what, std::size_t count_max) {
  if (static_cast<std::size_t>(count) <= count_max) return {};
  return {StatusCode::kLimitExceeded,
          std::to_string(count) + " " + std::string(what) + ", and " + std::to_string(count_max) + " are allowed"};
}

Result<std::uint16_t> schema_number(std::uint32_t number) {
  if (number > 0xffff) return bad_schema("number " + std::to_string(number));
  return static_cast<std::uint16_t>(number);
}

Result<std::string> to_name(const std::string& bytes) {
  if (bytes.size() > limits::kSchemaNameBytesMax) {
    return Status(StatusCode::kLimitExceeded, "name of " + std::to_string(bytes.size()) + " bytes, and " +
                                                  std::to_string(limits::kSchemaNameBytesMax) + " are allowed");
  }
  const std::size_t valid = valid_utf8_length(bytes);
  if (valid != bytes.size()) return bad_schema("name is not UTF-8 at byte " + std::to_string(valid));
  return bytes;
}

template <typename Enum, std::size_t kCount>
Result<Enum> enumerator_of(const std::array<Numbered<Enum>, kCount>& table, std::uint32_t number, std::string_view what) {
  const auto value = find_value(table, number);
  if (!value) return bad_schema("unknown " + std::string(what) + " " + std::to_string(number));
  return *value;
}

Result<Unit> to_unit(const v1::Unit& from) {
  Unit unit;
  HARMONICA_ASSIGN_OR_RETURN(unit.id, schema_number(from.id()));
  HARMONICA_ASSIGN_OR_RETURN(unit.name, to_name(from.name()));
  HARMONICA_ASSIGN_OR_RETURN(unit.kind, enumerator_of(kValueKinds, from.kind(), "kind"));
  HARMONICA_ASSIGN_OR_RETURN(unit.role, enumerator_of(kUnitRoles, from.role(), "role"));
  if (from.rule() != 0) {
    HARMONICA_ASSIGN_OR_RETURN(unit.rule, enumerator_of(kConflictRules, from.rule(), "rule"));
  }
  HARMONICA_ASSIGN_OR_RETURN(unit.recording, enumerator_of(kConflictRecordings, from.recording(), "recording"));
  HARMONICA_ASSIGN_OR_RETURN(unit.priority_unit, schema_number(from.priority_unit()));
  return unit;
}

Result<ItemType> to_type(const v1::ItemType& from) {
  ItemType type;
  HARMONICA_ASSIGN_OR_RETURN(type.id, schema_number(from.id()));
  HARMONICA_ASSIGN_OR_RETURN(type.name, to_name(from.name()));
  HARMONICA_ASSIGN_OR_RETURN(type.deletion, enumerator_of(kDeletionRules, from.deletion(), "deletion rule"));
  HARMONICA_ASSIGN_OR_RETURN(type.rule, enumerator_of(kConflictRules, from.rule(), "rule"));
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
    return bad_schema("default scope is not a scope name");
  }
  schema.default_scope = from.default_scope();
  for (const v1::ItemType& message : from.types()) {
    auto type = to_type(message);
    if (!type.ok()) return type.status().within("type " + std::to_string(message.id()));
    schema.types.push_back(*std::move(type));
  }
  for (const v1::Root& message : from.roots()) {
    const auto id = ItemId::from_bytes(as_bytes(message.id()));
    if (!id) return bad_schema("root id of " + std::to_string(message.id().size()) + " bytes");
    HARMONICA_ASSIGN_OR_RETURN(std::string name, to_name(message.name()));
    schema.roots.push_back({*id, std::move(name)});
  }
  if (schema.is_empty()) return schema;
  const Status valid = schema.validate();
  if (!valid.ok()) return bad_schema(valid.message());
  return schema;
}

}  // namespace harmonica::wire
