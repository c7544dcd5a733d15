// Conflict records: how they are made, kept and dropped.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "harmonica/conflict.h"
#include "harmonica/extension/metadata_store.h"
#include "harmonica/schema.h"
#include "kernel/filtering.h"

namespace harmonica::kernel {

struct ReplicaContext;

// Whether a decided conflict of the unit leaves a record.
bool is_recorded(const ItemType& type, UnitId unit);

// A register as people know it: of a counter its number.
ConflictSide side_of(const ItemType& type, UnitId unit, const Register& content);

// A unit that an item's deletion takes with it.
ConflictRecord lost_to_deletion(const ItemType& type, const ItemId& item, const ExistenceRegister& deletion,
                                const UnitRegister& unit, std::string_view rule);

// Says who met a conflict that waits for a person, and when, and keeps it: here alone, as nothing is decided.
Status keep_deferred(ReplicaContext& context, MetadataTransaction& transaction, ConflictRecord& record);

// Says who met a decided conflict and when, and keeps the record under the id that follows from item, unit and versions: as
// an item, which travels (docs/adr/0021). Where there is one already, or was until somebody dropped it, nothing is done.
// Adds to `made`.
Status keep_record(ReplicaContext& context, MetadataTransaction& transaction, ConflictRecord& record,
                   std::vector<MadeItem>& made);

// No dropped record keeps a value, also where one that was dropped and one that was not have met. The number of versions
// made.
std::uint64_t empty_dropped(Item& record, const std::function<Version()>& mint);

// Drops what is too old, and the oldest of what is too much, for all replicas. Adds to `made`.
Status drop_old_records(ReplicaContext& context, MetadataTransaction& transaction, std::vector<MadeItem>& made);

// Drops a record if its item is erased. Whether it did. Adds to `made`.
Result<bool> drop_record_of_erased(ReplicaContext& context, MetadataTransaction& transaction, const ItemId& record,
                                   std::vector<MadeItem>& made);

// In a transaction of its own.
Status drop_record(ReplicaContext& context, const ConflictId& conflict);

// Those of decided conflicts, and those that wait; oldest first.
Result<std::vector<ConflictRecord>> all_records(MetadataTransaction& transaction);
Result<std::optional<ConflictRecord>> find_record(MetadataTransaction& transaction, const ConflictId& conflict);

struct RecordCounts {
  std::uint64_t decided = 0;
  std::uint64_t dropped = 0;  // items that are remembered of those
  std::uint64_t deferred = 0;
};
Result<RecordCounts> count_records(MetadataTransaction& transaction);

// Records of decided conflicts that earlier builds kept beside the items become items.
Status adopt_earlier_records(ReplicaContext& context);

}  // namespace harmonica::kernel
