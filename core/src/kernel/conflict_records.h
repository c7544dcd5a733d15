// Keeping conflict records.
#pragma once

#include "harmonica/conflict.h"
#include "harmonica/extension/metadata_store.h"
#include "kernel/replica_context.h"

namespace harmonica::kernel {

// Says who met the conflict and when, and keeps the record under `id`.
Status keep_record(ReplicaContext& context, MetadataTransaction& transaction, ConflictRecord& record, const ConflictId& id);

// The same under the id that follows from item, unit and versions.
Status keep_record(ReplicaContext& context, MetadataTransaction& transaction, ConflictRecord& record);

}  // namespace harmonica::kernel
