// harmonica show of records: a line an item, as nothing in them is shown anywhere.
#include <cstdio>

#include "commands.h"
#include "output.h"

namespace harmonica::cli {
namespace {

void print_line(const Schema& schema, const Item& item) {
  std::string line = item.id.to_text() + "  " + type_name(schema, item.type) + "  " + label_of(schema, item);
  for (const UnitRegister& unit : item.units) {
    const Unit* known = unit_of(schema, item.type, unit.unit);
    if (known != nullptr && (known->role == UnitRole::kParent || known->role == UnitRole::kPosition)) continue;
    line += "  " + unit_name(schema, item.type, unit.unit) + "=" + display(unit.content.value);
  }
  std::printf("%s\n", line.c_str());
}

void write(JsonWriter& json, const Schema& schema, const Item& item) {
  json.StartObject();
  member(json, "id", item.id.to_text());
  member(json, "type", type_name(schema, item.type));
  for (const UnitRegister& unit : item.units) {
    const Value& value = unit.content.value;
    member(json, unit_name(schema, item.type, unit.unit), value.if_text() ? *value.if_text() : value.to_text());
  }
  json.EndObject();
}

}  // namespace

int show_records(const StoreOptions& options, OpenStore& store) {
  const Schema& schema = store.replica->schema();
  rapidjson::StringBuffer document;
  JsonWriter json(document);
  json.StartObject();
  key(json, "items");
  json.StartArray();
  const Status status = store.replica->scan([&](const StoredItem& stored) -> Result<Visit> {
    if (!stored.item.alive()) return Visit::kContinue;
    if (options.common.json) {
      write(json, schema, stored.item);
    } else {
      print_line(schema, stored.item);
    }
    return Visit::kContinue;
  });
  if (!status.ok()) return fail(options.common, status.within(store.name));
  json.EndArray();
  member(json, "guard", "");
  json.EndObject();
  if (options.common.json) print(document);
  return kExitDone;
}

}  // namespace harmonica::cli
