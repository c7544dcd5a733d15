#include "kernel/conflict_records.h"

#include "kernel/adoption.h"

namespace harmonica::kernel {

Status keep_record(ReplicaContext& context, MetadataTransaction& transaction, ConflictRecord& record,
                   const ConflictId& id) {
  record.id = id;
  record.decided_by = context.replica;
  record.when_ms = context.environment.wall_clock_ms();
  return transaction.put_conflict(record);
}

Status keep_record(ReplicaContext& context, MetadataTransaction& transaction, ConflictRecord& record) {
  return keep_record(context, transaction, record, conflict_id(context.environment, record));
}

}  // namespace harmonica::kernel
