// Conflict records as items: how those of decided conflicts are kept, and travel (docs/adr/0021).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harmonica/change.h"
#include "harmonica/conflict.h"
#include "harmonica/extension/environment.h"
#include "harmonica/extension/metadata_store.h"
#include "harmonica/item.h"

namespace harmonica::kernel {

inline bool is_record(TypeId type) { return type == kConflictRecordType; }

// The hidden type: in no schema, and known to every replica. Its units are silent, so there is no record of a record, and
// `latest` decides them, so two replicas that met one conflict mint nothing when they find that out.
const ItemType& record_type();

// The hidden type for records, otherwise that of the schema; null: unknown.
const ItemType* find_type(const Schema& schema, TypeId type);

ItemId record_item_id(const ConflictId& conflict);

// The record as an item that was made with this version.
Item item_of(const ConflictRecord& record, const Version& version);

// Nothing if it was dropped, or makes no sense.
std::optional<ConflictRecord> record_of(const Item& item);

// Why a change of a record cannot be taken: what it says is not what its id was made from, or more than is synced.
std::optional<std::string> fault_of_record(Environment& environment, const ItemChange& change);

// As it stands in the index kConflictRecord: dropped ones first, then by the time of their conflicts.
Bytes record_index_key(const Item& item);
// Living records, oldest first.
IndexQuery living_records();
// Dropped ones.
IndexQuery dropped_records();
std::int64_t record_time_ms(const IndexPosition& position);

}  // namespace harmonica::kernel
