#include <algorithm>
#include <string>
#include <utility>

#include "harmonica/schema.h"

namespace harmonica {
namespace {

template <typename Numbered>
std::string numbered_name(std::string_view kind, const Numbered& numbered) {
  return std::string(kind) + ' ' + std::to_string(numbered.id) + " '" + numbered.name + '\'';
}

std::string_view to_text(ValueKind kind) {
  switch (kind) {
    case ValueKind::kNull:
      return "null";
    case ValueKind::kBoolean:
      return "a boolean";
    case ValueKind::kInteger:
      return "an integer";
    case ValueKind::kReal:
      return "a real";
    case ValueKind::kText:
      return "a text";
    case ValueKind::kBytes:
      return "bytes";
    case ValueKind::kIds:
      return "ids";
    case ValueKind::kList:
      return "a list";
  }
  return "null";
}

std::string_view to_text(UnitRole role) {
  switch (role) {
    case UnitRole::kNone:
      return "none";
    case UnitRole::kParent:
      return "parent";
    case UnitRole::kName:
      return "name";
    case UnitRole::kPosition:
      return "position";
    case UnitRole::kKey:
      return "key";
    case UnitRole::kReference:
      return "reference";
  }
  return "none";
}

Status contradiction(const std::string& where, std::string_view what, std::string_view here, std::string_view there) {
  return {StatusCode::kUnsupported, "the schemas contradict each other: " + where + ": " + std::string(what) + " is " +
                                        std::string(here) + " here and " + std::string(there) +
                                        " there; give what changed a new number"};
}

std::string in_quotes(const std::string& name) { return '\'' + name + '\''; }

Status compare_units(const std::string& type, const std::pair<const ItemType*, const Unit*>& here,
                     const std::pair<const ItemType*, const Unit*>& there) {
  const Unit& own = *here.second;
  const Unit& other = *there.second;
  const std::string where = type + ", " + numbered_name("unit", own);
  if (own.name != other.name) return contradiction(where, "its name", in_quotes(own.name), in_quotes(other.name));
  if (own.kind != other.kind) return contradiction(where, "its value", to_text(own.kind), to_text(other.kind));
  if (own.role != other.role) return contradiction(where, "its role", to_text(own.role), to_text(other.role));
  const ConflictRule own_rule = here.first->rule_of(own);
  const ConflictRule other_rule = there.first->rule_of(other);
  if (own_rule != other_rule) {
    return contradiction(where, "its rule", to_text(own_rule), to_text(other_rule));
  }
  if (own_rule == ConflictRule::kPriority && own.priority_unit != other.priority_unit) {
    return contradiction(where, "its priority unit", std::to_string(own.priority_unit),
                         std::to_string(other.priority_unit));
  }
  return {};
}

// The natural key as far as the other side knows its units.
std::vector<UnitId> known_key(const ItemType& type, const ItemType& other) {
  std::vector<UnitId> key = type.natural_key;
  std::erase_if(key, [&](UnitId unit) { return other.find_unit(unit) == nullptr; });
  return key;
}

std::string to_text(const std::vector<UnitId>& units) {
  std::string text = "{";
  for (const UnitId unit : units) text += (text.size() > 1 ? ", " : "") + std::to_string(unit);
  return text + "}";
}

Status compare_types(const ItemType& here, const ItemType& there) {
  const std::string where = numbered_name("type", here);
  if (here.name != there.name) return contradiction(where, "its name", in_quotes(here.name), in_quotes(there.name));
  if (here.deletion != there.deletion) {
    return contradiction(where, "its deletion rule", to_text(here.deletion), to_text(there.deletion));
  }
  for (const Unit& unit : here.units) {
    if (const Unit* other = there.find_unit(unit.id)) {
      HARMONICA_RETURN_IF_ERROR(compare_units(where, {&here, &unit}, {&there, other}));
    }
  }
  const std::vector<UnitId> own_key = known_key(here, there);
  const std::vector<UnitId> other_key = known_key(there, here);
  if (own_key == other_key) return {};
  return contradiction(where, "its natural key", to_text(own_key), to_text(other_key));
}

// Beside units of a type with another rule of its own it keeps the one that it has.
Unit with_own_rule(const ItemType& type, Unit unit) {
  unit.rule = type.rule_of(unit);
  return unit;
}

void join_type(ItemType& own, const ItemType& other) {
  for (const Unit& unit : other.units) {
    if (own.find_unit(unit.id) == nullptr) own.units.push_back(with_own_rule(other, unit));
  }
  // Between two units that both have, first those of lesser numbers: so the order does not depend on which side is here.
  std::vector<UnitId> key;
  auto ours = own.natural_key.begin();
  auto theirs = other.natural_key.begin();
  const auto is_shared = [](const std::vector<UnitId>& units, UnitId unit) {
    return std::find(units.begin(), units.end(), unit) != units.end();
  };
  while (ours != own.natural_key.end() || theirs != other.natural_key.end()) {
    const bool ours_alone = ours != own.natural_key.end() && !is_shared(other.natural_key, *ours);
    const bool theirs_alone = theirs != other.natural_key.end() && !is_shared(own.natural_key, *theirs);
    if (ours_alone && (!theirs_alone || *ours < *theirs)) {
      key.push_back(*ours++);
    } else if (theirs_alone) {
      key.push_back(*theirs++);
    } else {
      key.push_back(*ours++);
      ++theirs;
    }
  }
  own.natural_key = std::move(key);
}

}  // namespace

Result<Schema> joined_schema(const Schema& here, const Schema& there) {
  if (here.is_empty()) return there;
  if (there.is_empty()) return here;
  if (here.default_root() != there.default_root()) {
    return contradiction("roots", "the first one", here.default_root().to_text(), there.default_root().to_text());
  }
  Schema joined = here;
  for (const ItemType& type : there.types) {
    const auto own = std::find_if(joined.types.begin(), joined.types.end(),
                                  [&](const ItemType& candidate) { return candidate.id == type.id; });
    if (own == joined.types.end()) {
      joined.types.push_back(type);
      continue;
    }
    HARMONICA_RETURN_IF_ERROR(compare_types(*own, type));
    join_type(*own, type);
  }
  for (const Root& root : there.roots) {
    if (!joined.is_root(root.id)) joined.roots.push_back(root);
  }
  // What each has alone may not go together: a name used twice, a second parent.
  const Status valid = joined.validate();
  if (!valid.ok()) {
    return Status(StatusCode::kUnsupported, "the schemas contradict each other: " + valid.message() +
                                                " if what is here and what is there are joined");
  }
  return joined;
}

Status check_compatible(const Schema& here, const Schema& there) { return joined_schema(here, there).status(); }

}  // namespace harmonica
