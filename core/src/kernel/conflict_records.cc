#include "kernel/conflict_records.h"

#include <algorithm>
#include <string>

#include "kernel/adoption.h"
#include "kernel/counter.h"
#include "kernel/replica_context.h"

namespace harmonica::kernel {

bool is_recorded(const ItemType& type, UnitId unit) {
  const Unit* known = type.find_unit(unit);
  return known == nullptr || known->recording == ConflictRecording::kRecorded;
}

ConflictSide side_of(const ItemType& type, UnitId unit, const Register& content) {
  const Unit* known = type.find_unit(unit);
  const bool is_counter = known != nullptr && type.rule_of(*known) == ConflictRule::kCounter;
  return {content.version, is_counter ? counter_shown(content.value) : content.value, Existence::kCreated};
}

ConflictRecord lost_to_deletion(const ItemType& type, const ItemId& item, const ExistenceRegister& deletion,
                                const UnitRegister& unit, std::string_view rule) {
  return {.item = item,
          .type = type.id,
          .unit = unit.unit,
          .kept = {deletion.version, Value(), deletion.value},
          .lost = side_of(type, unit.unit, unit.content),
          .rule = std::string(rule)};
}

Status keep_record(ReplicaContext& context, MetadataTransaction& transaction, ConflictRecord& record,
                   const ConflictId& id) {
  record.id = id;
  record.decided_by = context.replica;
  record.when_ms = std::max({context.environment.wall_clock_ms(), milliseconds_of(record.kept.version.tick),
                             milliseconds_of(record.lost.version.tick)});
  return transaction.put_conflict(record);
}

Status keep_record(ReplicaContext& context, MetadataTransaction& transaction, ConflictRecord& record) {
  return keep_record(context, transaction, record, conflict_id(context.environment, record));
}

}  // namespace harmonica::kernel
