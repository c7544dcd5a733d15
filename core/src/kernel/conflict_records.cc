#include "kernel/conflict_records.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kernel/adoption.h"
#include "kernel/counter.h"
#include "kernel/record_items.h"
#include "kernel/replica_context.h"
#include "kernel/write_plan.h"

namespace harmonica::kernel {
namespace {

void sign(ReplicaContext& context, ConflictRecord& record) {
  record.decided_by = context.replica;
  record.when_ms = std::max({context.environment.wall_clock_ms(), milliseconds_of(record.kept.version.tick),
                             milliseconds_of(record.lost.version.tick)});
}

Status put(ReplicaContext& context, MetadataTransaction& transaction, Item record) {
  StoredItem stored;
  stored.item = std::move(record);
  context.records_are_within_limits = false;
  return transaction.put(stored, entries_of(context, stored, WrittenState::kWritten));
}

Status put_new(ReplicaContext& context, MetadataTransaction& transaction, const ConflictRecord& record,
               std::vector<MadeItem>& made) {
  const ItemId id = record_item_id(record.id);
  HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> held, transaction.find(id));
  if (held) return {};
  // With a filter it went to a replica that holds everything.
  HARMONICA_ASSIGN_OR_RETURN(const ClockVector ghost, transaction.find_ghost(id));
  if (!ghost.empty()) return {};
  made.push_back({id, true});
  return put(context, transaction, item_of(record, context.mint()));
}

Status drop(ReplicaContext& context, MetadataTransaction& transaction, const ItemId& id, std::vector<MadeItem>& made) {
  HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> held, transaction.find(id));
  if (!held || !held->item.alive()) return {};
  held->item.existence = {context.mint(), Existence::kDeleted};
  empty_dropped(held->item, [&] { return held->item.existence.version; });
  made.push_back({id});
  return put(context, transaction, std::move(held->item));
}

// Makes versions in a transaction that does nothing else.
Status write(ReplicaContext& context, const std::function<Status(MetadataTransaction&, std::vector<MadeItem>&)>& change) {
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context.metadata.begin(TransactionMode::kWrite));
  HARMONICA_ASSIGN_OR_RETURN(ReplicaState state, transaction->state());
  HARMONICA_ASSIGN_OR_RETURN(Knowledge knowledge, transaction->knowledge());
  context.clock.observe(state.last_tick);
  std::vector<MadeItem> made;
  HARMONICA_RETURN_IF_ERROR(change(*transaction, made));
  HARMONICA_RETURN_IF_ERROR(claim_own_ticks(context, *transaction, std::move(made), knowledge));
  HARMONICA_RETURN_IF_ERROR(transaction->set_knowledge(knowledge));
  return commit(context, *transaction, state);
}

}  // namespace

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

Status keep_deferred(ReplicaContext& context, MetadataTransaction& transaction, ConflictRecord& record) {
  record.id = deferred_conflict_id(context.environment, record.item);
  sign(context, record);
  return transaction.put_conflict(record);
}

Status keep_record(ReplicaContext& context, MetadataTransaction& transaction, ConflictRecord& record,
                   std::vector<MadeItem>& made) {
  record.id = conflict_id(context.environment, record);
  sign(context, record);
  return put_new(context, transaction, record, made);
}

std::uint64_t empty_dropped(Item& record, const std::function<Version()>& mint) {
  if (record.alive()) return 0;
  std::uint64_t minted = 0;
  for (UnitRegister& unit : record.units) {
    if (unit.content.value.is_null()) continue;
    unit.content = {mint(), Value(), Origin::kWritten};
    ++minted;
  }
  return minted;
}

Status drop_old_records(ReplicaContext& context, MetadataTransaction& transaction, std::vector<MadeItem>& made) {
  const ReplicaOptions& options = context.options;
  // By what replicas have written, not by a clock that may be wrong for once.
  const std::int64_t oldest_ms = milliseconds_of(context.clock.last()) - options.conflict_record_age_ms_max;
  IndexQuery query = living_records();
  // Too many they become only when one is put.
  if (context.records_are_within_limits) query.count_max = 1;
  HARMONICA_ASSIGN_OR_RETURN(std::vector<IndexPosition> by_age, transaction.find_index(query));
  const auto is_too_old = [&](const IndexPosition& position) { return record_time_ms(position) < oldest_ms; };
  if (query.count_max == 1 && !by_age.empty() && is_too_old(by_age.front())) {
    HARMONICA_ASSIGN_OR_RETURN(by_age, transaction.find_index(living_records()));
  }
  std::size_t left = by_age.size();
  for (const IndexPosition& position : by_age) {
    if (!is_too_old(position) && left <= options.conflict_records_max) break;
    HARMONICA_RETURN_IF_ERROR(drop(context, transaction, position.item, made));
    --left;
  }
  return {};
}

Result<bool> drop_record_of_erased(ReplicaContext& context, MetadataTransaction& transaction, const ItemId& record,
                                   std::vector<MadeItem>& made) {
  HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> held, transaction.find(record));
  const std::optional<ConflictRecord> kept = held ? record_of(held->item) : std::nullopt;
  if (!kept) return false;
  HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> item, transaction.find(kept->item));
  if (!item || !item->item.erased()) return false;
  HARMONICA_RETURN_IF_ERROR(drop(context, transaction, record, made));
  return true;
}

Status drop_record(ReplicaContext& context, const ConflictId& conflict) {
  return write(context, [&](MetadataTransaction& transaction, std::vector<MadeItem>& made) {
    return drop(context, transaction, record_item_id(conflict), made);
  });
}

Result<std::vector<ConflictRecord>> all_records(MetadataTransaction& transaction) {
  std::vector<ConflictRecord> records;
  HARMONICA_RETURN_IF_ERROR(transaction.scan_conflicts([&](const ConflictRecord& record) -> Result<Visit> {
    records.push_back(record);
    return Visit::kContinue;
  }));
  HARMONICA_ASSIGN_OR_RETURN(const auto positions, transaction.find_index(living_records()));
  for (const IndexPosition& position : positions) {
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction.find(position.item));
    std::optional<ConflictRecord> record = stored ? record_of(stored->item) : std::nullopt;
    if (record) records.push_back(*std::move(record));
  }
  std::sort(records.begin(), records.end(), [](const ConflictRecord& a, const ConflictRecord& b) {
    return a.when_ms == b.when_ms ? a.id < b.id : a.when_ms < b.when_ms;
  });
  return records;
}

Result<std::optional<ConflictRecord>> find_record(MetadataTransaction& transaction, const ConflictId& conflict) {
  HARMONICA_ASSIGN_OR_RETURN(std::optional<ConflictRecord> waiting, transaction.find_conflict(conflict));
  if (waiting) return waiting;
  HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction.find(record_item_id(conflict)));
  return stored ? record_of(stored->item) : std::nullopt;
}

Result<RecordCounts> count_records(MetadataTransaction& transaction) {
  RecordCounts counts;
  HARMONICA_ASSIGN_OR_RETURN(const auto decided, transaction.find_index(living_records()));
  HARMONICA_ASSIGN_OR_RETURN(const auto dropped, transaction.find_index(dropped_records()));
  counts.decided = decided.size();
  counts.dropped = dropped.size();
  HARMONICA_RETURN_IF_ERROR(transaction.scan_conflicts([&](const ConflictRecord&) -> Result<Visit> {
    ++counts.deferred;
    return Visit::kContinue;
  }));
  return counts;
}

Status adopt_earlier_records(ReplicaContext& context) {
  std::vector<ConflictRecord> earlier;
  {
    HARMONICA_ASSIGN_OR_RETURN(const auto look, context.metadata.begin(TransactionMode::kRead));
    HARMONICA_RETURN_IF_ERROR(look->scan_conflicts([&](const ConflictRecord& record) -> Result<Visit> {
      if (record.state == ConflictState::kDecided) earlier.push_back(record);
      return Visit::kContinue;
    }));
  }
  if (earlier.empty()) return {};
  return write(context, [&](MetadataTransaction& transaction, std::vector<MadeItem>& made) -> Status {
    for (const ConflictRecord& record : earlier) {
      HARMONICA_RETURN_IF_ERROR(transaction.remove_conflict(record.id));
      HARMONICA_RETURN_IF_ERROR(put_new(context, transaction, record, made));
    }
    return {};
  });
}

}  // namespace harmonica::kernel
