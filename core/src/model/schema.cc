#include "harmonica/schema.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "harmonica/limits.h"
#include "model/digest.h"

namespace harmonica {
namespace {

Status invalid(std::string message) { return Status(StatusCode::kInvalidArgument, std::move(message)); }

// What a message calls a type or a unit.
template <typename Numbered>
std::string title(std::string_view kind, const Numbered& numbered) {
  return std::string(kind) + ' ' + std::to_string(numbered.id) + " '" + numbered.name + '\'';
}

// Numbers and names of types, units or roots.
template <typename Numbered>
Status check_numbers_and_names(std::string_view kind, std::span<const Numbered> all) {
  std::set<std::uint32_t> numbers;
  std::set<std::string_view> names;
  for (const Numbered& one : all) {
    if (one.id == 0) return invalid(title(kind, one) + ": its number is 0; give it one of 1 or more");
    if (!numbers.insert(one.id).second) return invalid(title(kind, one) + ": its number is used twice");
    if (one.name.empty()) return invalid(title(kind, one) + ": its name is empty");
    if (!names.insert(one.name).second) return invalid(title(kind, one) + ": its name is used twice");
  }
  return {};
}

bool is_single(UnitRole role) {
  return role == UnitRole::kParent || role == UnitRole::kName || role == UnitRole::kPosition;
}

bool fits(UnitRole role, ValueKind kind) {
  switch (role) {
    case UnitRole::kNone:
    case UnitRole::kKey:
      return true;
    case UnitRole::kParent:
    case UnitRole::kReference:
      return kind == ValueKind::kIds;
    case UnitRole::kName:
      return kind == ValueKind::kText;
    case UnitRole::kPosition:
      return kind == ValueKind::kBytes;
  }
  return false;
}

// What the tree hangs on: a deferred or combined parent would leave a hole that everything beneath has to wait for.
bool is_structural(UnitRole role) { return role == UnitRole::kParent || role == UnitRole::kPosition; }

bool has_order(ValueKind kind) { return kind != ValueKind::kIds && kind != ValueKind::kList; }

bool is_number(ValueKind kind) { return kind == ValueKind::kInteger || kind == ValueKind::kReal; }

bool fits(ConflictRule rule, const Unit& unit) {
  if (is_structural(unit.role)) return rule == ConflictRule::kLatest;
  switch (rule) {
    case ConflictRule::kMax:
    case ConflictRule::kMin:
      return has_order(unit.kind);
    case ConflictRule::kUnion:
      return !has_order(unit.kind);
    case ConflictRule::kTextMerge:
      return unit.kind == ValueKind::kText;
    case ConflictRule::kCounter:
      return unit.kind == ValueKind::kInteger && unit.role == UnitRole::kNone;
    case ConflictRule::kAdditive:
    case ConflictRule::kAverage:
      return is_number(unit.kind);
    default:
      return true;
  }
}

Status check_unit(const Unit& unit) {
  if (unit.kind == ValueKind::kNull) return invalid(title("unit", unit) + ": its kind is null; give it a kind");
  if (!fits(unit.role, unit.kind)) return invalid(title("unit", unit) + ": its role needs another kind of value");
  return {};
}

Status check_rule(const ItemType& type, const Unit& unit) {
  const ConflictRule rule = unit.rule.value_or(type.rule_of(unit));
  if (!fits(rule, unit)) {
    return invalid(title("unit", unit) + ": its kind or role forbids the rule " + std::string(to_text(rule)));
  }
  if (rule != ConflictRule::kPriority) return {};
  const Unit* priority = type.find_unit(unit.priority_unit);
  if (priority == nullptr || priority == &unit || !has_order(priority->kind) || is_structural(priority->role)) {
    return invalid(title("unit", unit) + ": the rule priority needs another unit of the type whose values have an order");
  }
  if (type.rule_of(*priority) == ConflictRule::kCounter) {
    return invalid(title("unit", unit) + ": a counter gives no priority, as no side has all of it");
  }
  return {};
}

Status check_natural_key(const ItemType& type) {
  std::set<UnitId> seen;
  for (const UnitId id : type.natural_key) {
    const Unit* unit = type.find_unit(id);
    if (unit == nullptr) return invalid("natural key: no unit " + std::to_string(id));
    // It counts below the parent as it is, a position is new wherever an item appears, and a counter is no one's alone.
    if (is_structural(unit->role) || type.rule_of(*unit) == ConflictRule::kCounter) {
      return invalid("natural key: " + title("unit", *unit) + ": its role or rule forbids it");
    }
    if (!seen.insert(id).second) return invalid("natural key: " + title("unit", *unit) + " stands there twice");
  }
  return {};
}

Status check_type(const ItemType& type) {
  if (type.units.size() > limits::kUnitsMax) return invalid("more than " + std::to_string(limits::kUnitsMax) + " units");
  HARMONICA_RETURN_IF_ERROR(check_numbers_and_names<Unit>("unit", type.units));
  std::set<UnitRole> roles;
  for (const Unit& unit : type.units) {
    HARMONICA_RETURN_IF_ERROR(check_unit(unit));
    HARMONICA_RETURN_IF_ERROR(check_rule(type, unit));
    if (is_single(unit.role) && !roles.insert(unit.role).second) {
      return invalid(title("unit", unit) + ": another unit has the same role");
    }
  }
  return check_natural_key(type);
}

Status check_roots(std::span<const Root> roots) {
  std::set<ItemId> ids;
  std::set<std::string_view> names;
  for (const Root& root : roots) {
    const std::string title = "root " + root.id.to_text() + " '" + root.name + '\'';
    if (root.id.is_zero()) return invalid(title + ": its id is zero");
    if (!ids.insert(root.id).second) return invalid(title + ": its id is used twice");
    if (root.name.empty()) return invalid(title + ": its name is empty");
    if (!names.insert(root.name).second) return invalid(title + ": its name is used twice");
  }
  return {};
}

// Pointers in the order of their numbers: in which order a schema lists them means nothing.
template <typename Numbered>
std::vector<const Numbered*> by_number(std::span<const Numbered> all) {
  std::vector<const Numbered*> sorted;
  for (const Numbered& one : all) sorted.push_back(&one);
  std::sort(sorted.begin(), sorted.end(), [](const Numbered* a, const Numbered* b) { return a->id < b->id; });
  return sorted;
}

void add_unit(StableDigest& fingerprint, const ItemType& type, const Unit& unit) {
  fingerprint.add(unit.id);
  fingerprint.add(as_bytes(unit.name));
  fingerprint.add(static_cast<std::uint64_t>(unit.kind));
  fingerprint.add(static_cast<std::uint64_t>(unit.role));
  fingerprint.add(static_cast<std::uint64_t>(type.rule_of(unit)));
  if (type.rule_of(unit) == ConflictRule::kPriority) fingerprint.add(unit.priority_unit);
}

void add_type(StableDigest& fingerprint, const ItemType& type) {
  fingerprint.add(type.id);
  fingerprint.add(as_bytes(type.name));
  fingerprint.add(static_cast<std::uint64_t>(type.deletion));
  fingerprint.add(std::uint64_t{type.units.size()});
  for (const Unit* unit : by_number<Unit>(type.units)) add_unit(fingerprint, type, *unit);
  fingerprint.add(std::uint64_t{type.natural_key.size()});
  for (const UnitId unit : type.natural_key) fingerprint.add(unit);
}

}  // namespace

std::string_view to_text(DeletionRule rule) {
  switch (rule) {
    case DeletionRule::kEditWins:
      return "edit_wins";
    case DeletionRule::kDeleteWins:
      return "delete_wins";
    case DeletionRule::kLatest:
      return "latest";
  }
  return "latest";
}

std::string_view to_text(ConflictRule rule) {
  switch (rule) {
    case ConflictRule::kLatest:
      return "latest";
    case ConflictRule::kManual:
      return "manual";
    case ConflictRule::kEarliest:
      return "earliest";
    case ConflictRule::kMax:
      return "max";
    case ConflictRule::kMin:
      return "min";
    case ConflictRule::kUnion:
      return "union";
    case ConflictRule::kTextMerge:
      return "text_merge";
    case ConflictRule::kPriority:
      return "priority";
    case ConflictRule::kCounter:
      return "counter";
    case ConflictRule::kAdditive:
      return "additive";
    case ConflictRule::kAverage:
      return "average";
    case ConflictRule::kSourceWins:
      return "source_wins";
    case ConflictRule::kDestinationWins:
      return "destination_wins";
    case ConflictRule::kCustom:
      return "custom";
  }
  return "latest";
}

const Unit* ItemType::find_unit(UnitId unit) const {
  const auto place = std::find_if(units.begin(), units.end(), [&](const Unit& one) { return one.id == unit; });
  return place != units.end() ? &*place : nullptr;
}

const Unit* ItemType::find_role(UnitRole role) const {
  const auto place = std::find_if(units.begin(), units.end(), [&](const Unit& one) { return one.role == role; });
  return place != units.end() ? &*place : nullptr;
}

ConflictRule ItemType::rule_of(const Unit& unit) const {
  return unit.rule.value_or(is_structural(unit.role) ? ConflictRule::kLatest : rule);
}

const ItemType* Schema::find_type(TypeId type) const {
  const auto place = std::find_if(types.begin(), types.end(), [&](const ItemType& one) { return one.id == type; });
  return place != types.end() ? &*place : nullptr;
}

bool Schema::is_root(const ItemId& id) const {
  return std::any_of(roots.begin(), roots.end(), [&](const Root& root) { return root.id == id; });
}

ItemId Schema::default_root() const { return roots.empty() ? ItemId{} : roots.front().id; }

std::uint64_t Schema::fingerprint() const {
  StableDigest fingerprint;
  fingerprint.add(std::uint64_t{types.size()});
  for (const ItemType* type : by_number<ItemType>(types)) add_type(fingerprint, *type);
  fingerprint.add(std::uint64_t{roots.size()});
  for (const Root& root : roots) fingerprint.add(root.id.view());
  return fingerprint.value();
}

Status Schema::validate() const {
  if (!is_valid_scope_name(default_scope)) return invalid("default scope '" + default_scope + "': not a scope name");
  HARMONICA_RETURN_IF_ERROR(check_numbers_and_names<ItemType>("type", types));
  for (const ItemType& type : types) {
    if (type.id == kConflictRecordType) {
      return invalid(title("type", type) + ": its number is that of conflict records; give it a smaller one");
    }
    HARMONICA_RETURN_IF_ERROR(check_type(type).within(title("type", type)));
  }
  return check_roots(roots);
}

}  // namespace harmonica
