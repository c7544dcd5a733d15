// Finds what changed in a store since it was last shown something, and gives it versions (rules R4, R45, R46).
#pragma once

#include "harmonica/replica.h"
#include "kernel/replica_context.h"

namespace harmonica::kernel {

// Compares the store with what was last shown in it, by content, and commits the differences as local changes.
class ChangeDetector {
 public:
  explicit ChangeDetector(ReplicaContext& context) : context_(context) {}

  // guard: too much is gone, nothing was recorded. Errors of the store are passed on.
  Result<DetectionReport> detect();
  const DetectionReport& last() const { return last_; }

 private:
  ReplicaContext& context_;
  DetectionReport last_;
};

}  // namespace harmonica::kernel
