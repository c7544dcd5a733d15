#include "harmonica/item.h"

#include <algorithm>
#include <string_view>

namespace harmonica {
namespace {

std::string_view existence_text(Existence existence) {
  switch (existence) {
    case Existence::kCreated:
      return "created";
    case Existence::kRestored:
      return "restored";
    case Existence::kDeleted:
      return "deleted";
    case Existence::kErased:
      return "erased";
  }
  return "unknown";
}

template <typename Units>
auto place_of(Units& units, UnitId unit) {
  return std::lower_bound(units.begin(), units.end(), unit,
                          [](const UnitRegister& held, UnitId id) { return held.unit < id; });
}

}  // namespace

const Register* Item::find(UnitId unit) const {
  const auto place = place_of(units, unit);
  return place != units.end() && place->unit == unit ? &place->content : nullptr;
}

Register* Item::find(UnitId unit) {
  const auto place = place_of(units, unit);
  return place != units.end() && place->unit == unit ? &place->content : nullptr;
}

Register& Item::at(UnitId unit) {
  const auto place = place_of(units, unit);
  if (place != units.end() && place->unit == unit) return place->content;
  return units.insert(place, UnitRegister{unit, {}})->content;
}

const Value& Item::value_of(UnitId unit) const {
  static const Value kNull;
  const Register* held = find(unit);
  return held != nullptr ? held->value : kNull;
}

std::string Item::to_text() const {
  std::string text = id.to_text() + ' ' + std::to_string(type) + ' ';
  text.append(existence_text(existence.value)) += '@' + existence.version.to_text();
  for (const UnitRegister& held : units) {
    text += ' ' + std::to_string(held.unit) + '=' + held.content.value.to_text() + '@' + held.content.version.to_text();
    if (held.content.origin == Origin::kMadeByRule) text += '*';
  }
  return text;
}

}  // namespace harmonica
