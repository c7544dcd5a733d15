#include "kernel/conflict_records.h"

#include <algorithm>

#include "kernel/adoption.h"

namespace harmonica::kernel {

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
