// Conflict records: how they are made, and how they are kept.
#pragma once

#include <string_view>

#include "harmonica/conflict.h"
#include "harmonica/extension/metadata_store.h"
#include "harmonica/schema.h"

namespace harmonica::kernel {

struct ReplicaContext;

// Whether a decided conflict of the unit leaves a record.
bool is_recorded(const ItemType& type, UnitId unit);

// A register as people know it: of a counter its number.
ConflictSide side_of(const ItemType& type, UnitId unit, const Register& content);

// A unit that an item's deletion takes with it.
ConflictRecord lost_to_deletion(const ItemType& type, const ItemId& item, const ExistenceRegister& deletion,
                                const UnitRegister& unit, std::string_view rule);

// Says who met the conflict and when, and keeps the record under `id`.
Status keep_record(ReplicaContext& context, MetadataTransaction& transaction, ConflictRecord& record, const ConflictId& id);

// The same under the id that follows from item, unit and versions.
Status keep_record(ReplicaContext& context, MetadataTransaction& transaction, ConflictRecord& record);

}  // namespace harmonica::kernel
