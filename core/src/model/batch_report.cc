#include "harmonica/extension/provider.h"

namespace harmonica {

void BatchReport::add(const BatchReport& other) {
  received += other.received;
  created += other.created;
  updated += other.updated;
  deleted += other.deleted;
  moved_out += other.moved_out;
  unchanged += other.unchanged;
  conflicts += other.conflicts;
  deferred += other.deferred;
  minted += other.minted;
  failures.insert(failures.end(), other.failures.begin(), other.failures.end());
}

}  // namespace harmonica
