#include "simulation/scenario_schema.h"

#include <utility>

namespace harmonica::simulation {
namespace {

Unit make_unit(UnitId id, std::string name, ValueKind kind, UnitRole role = UnitRole::kNone) {
  Unit unit;
  unit.id = id;
  unit.name = std::move(name);
  unit.kind = kind;
  unit.role = role;
  const bool silent = role == UnitRole::kPosition || id == units::kBirth;
  unit.recording = silent ? ConflictRecording::kSilent : ConflictRecording::kRecorded;
  return unit;
}

}  // namespace

Schema make_schema(const SchemaChoices& choices) {
  const Unit birth = make_unit(units::kBirth, "birth", ValueKind::kText);
  const Unit parent = make_unit(units::kParent, "parent", ValueKind::kIds, UnitRole::kParent);
  const Unit position = make_unit(units::kPosition, "position", ValueKind::kBytes, UnitRole::kPosition);
  const Unit title = make_unit(units::kTitle, "title", ValueKind::kText);
  const Unit name = make_unit(units::kName, "name", ValueKind::kText, UnitRole::kName);
  Unit content = make_unit(units::kContent, "content", ValueKind::kText);
  content.rule = choices.content_rule;
  content.priority_unit = units::kBirth;
  Unit state = make_unit(units::kState, "state", ValueKind::kText);
  state.rule = choices.state_rule;
  Unit label = make_unit(units::kLabel, "label", ValueKind::kText);
  label.rule = choices.label_rule;
  label.priority_unit = units::kState;
  Unit colour = make_unit(units::kColour, "colour", ValueKind::kText);
  colour.rule = choices.colour_rule;
  colour.priority_unit = units::kState;
  Unit count = make_unit(units::kCount, "count", ValueKind::kInteger);
  count.rule = choices.count_rule;
  Unit accounts = make_unit(units::kAccounts, "accounts", ValueKind::kIds, UnitRole::kReference);
  accounts.rule = choices.accounts_rule;

  Schema schema;
  schema.default_scope = "simulation";
  std::size_t turn = 0;
  const auto add = [&](TypeId id, std::string type_name, std::vector<Unit> units, std::vector<UnitId> natural_key) {
    ItemType type;
    type.id = id;
    type.name = std::move(type_name);
    type.deletion = choices.deletion_rules[turn++ % choices.deletion_rules.size()];
    type.units = std::move(units);
    type.natural_key = std::move(natural_key);
    schema.types.push_back(std::move(type));
  };
  add(types::kFolder, "folder", {birth, parent, position, title}, {units::kTitle});
  add(types::kBookmark, "bookmark", {birth, parent, position, title, make_unit(units::kUrl, "url", ValueKind::kText)},
      {units::kTitle, units::kUrl});
  if (!choices.bookmarks_only) {
    add(types::kDirectory, "directory", {birth, parent, name}, {units::kName});
    add(types::kFile, "file", {birth, parent, name, content}, {units::kName});
  }
  add(types::kNote, "note", {birth, label, colour, count, state}, {units::kLabel});
  if (!choices.bookmarks_only) {
    add(types::kAccount, "account", {birth, make_unit(units::kCode, "code", ValueKind::kText, UnitRole::kKey), content},
        {units::kBirth});
    add(types::kOrder, "order", {birth, accounts, content}, {units::kBirth});
  }
  if (choices.with_roots) {
    for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{2}}) {
      Root root;
      root.id.bytes.fill(0x11);
      root.id.bytes[15] = number;
      root.name = number == 1 ? "bar" : "other";
      schema.roots.push_back(std::move(root));
    }
  }
  return schema;
}

Schema schema_of_version(const Schema& schema, int version) {
  Schema known = schema;
  const auto drop_type = [&](TypeId id) {
    std::erase_if(known.types, [&](const ItemType& type) { return type.id == id; });
  };
  const auto drop_unit = [&](TypeId id, UnitId unit) {
    for (ItemType& type : known.types) {
      if (type.id == id) std::erase_if(type.units, [&](const Unit& one) { return one.id == unit; });
    }
  };
  if (version < 3) {
    drop_type(types::kOrder);
    drop_unit(types::kNote, units::kCount);
    drop_unit(types::kAccount, units::kCode);
  }
  if (version < 2) {
    drop_type(types::kAccount);
    drop_unit(types::kNote, units::kColour);
    drop_unit(types::kFile, units::kContent);
  }
  return known;
}

}  // namespace harmonica::simulation
