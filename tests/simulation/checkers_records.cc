#include "simulation/checkers.h"

#include <algorithm>
#include <utility>

#include "harmonica/limits.h"

namespace harmonica::simulation {
namespace {

// The item of a record has its id.
ItemId item_of(const ConflictRecord& record) {
  ItemId item;
  item.bytes = record.id.bytes;
  return item;
}

}  // namespace

void Checkers::before_drop(Device& device, const ConflictId& record) {
  collect_recorded(device, recorded_before_restore_);
  dropped_.insert(record);
}

// What was decided is listed by every device that holds everything, within the least limits of all, and not what was
// dropped. Where items may differ between copies, so may records, as they are items.
void Checkers::check_records(const std::vector<std::unique_ptr<Device>>& devices) {
  std::size_t count_max = limits::kConflictRecordsMax;
  std::int64_t age_ms_max = limits::kConflictRecordAgeMsMax;
  for (const std::unique_ptr<Device>& device : devices) {
    count_max = std::min(count_max, device->record_limits().count_max);
    age_ms_max = std::min(age_ms_max, device->record_limits().age_ms_max);
  }
  std::optional<std::vector<ConflictRecord>> first;
  for (const std::unique_ptr<Device>& device : devices) {
    View view;
    if (!look(*device, view)) return;
    Result<std::vector<ConflictRecord>> records = device->replica().conflicts();
    if (!records.ok()) return fail("conflicts must answer", *device, records.status().to_text());
    std::erase_if(*records, [](const ConflictRecord& record) { return record.state != ConflictState::kDecided; });
    if (view.status.filter) {
      if (!records->empty()) fail("conflict records go to those who want everything", *device, "it keeps some");
      continue;
    }
    const std::int64_t oldest_ms = milliseconds_of(view.status.knowledge.greatest_tick()) - age_ms_max;
    for (const ConflictRecord& record : *records) {
      if (record.when_ms < oldest_ms) fail("conflict records are within limits", *device, "it keeps one that is too old");
      if (dropped_.contains(record.id)) fail("the dropped stays dropped", *device, record.id.to_text() + " is back");
    }
    if (records->size() > count_max) fail("conflict records are within limits", *device, "it keeps too many");
    std::erase_if(*records, [&](const ConflictRecord& record) { return is_between_copies(item_of(record)); });
    if (!first) {
      first = *std::move(records);
    } else if (*records != *first) {
      fail("one conflict is one record", *device, "it lists others than " + devices.front()->name());
    }
  }
}

}  // namespace harmonica::simulation
