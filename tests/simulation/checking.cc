#include "simulation/checking.h"

namespace harmonica::simulation {

ConflictRule rule_of(const Schema& schema, TypeId type, UnitId unit) {
  const ItemType* item_type = schema.find_type(type);
  const Unit* found = item_type == nullptr ? nullptr : item_type->find_unit(unit);
  return found == nullptr ? ConflictRule::kLatest : item_type->rule_of(*found);
}

std::int64_t sum_of(const Value& counter) {
  const Value::List& list = *counter.if_list();
  std::int64_t sum = *list[2].if_integer();
  for (std::size_t at = 3; at < list.size(); at += 3) sum += *list[at + 1].if_integer() - *list[at + 2].if_integer();
  return sum;
}

std::string unit_text(UnitId unit) { return unit == kExistenceUnit ? "existence" : "unit " + std::to_string(unit); }

}  // namespace harmonica::simulation
