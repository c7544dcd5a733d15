#include "kernel/recovery.h"

#include <algorithm>
#include <utility>

namespace harmonica::kernel {

std::vector<ItemIdRange> ranges_lacking(const Knowledge& destination, const Knowledge& source, const ItemIdRange& range) {
  std::vector<ItemId> firsts;
  for (const Knowledge* knowledge : {&destination, &source}) {
    for (const Knowledge::Step& step : knowledge->steps()) {
      if (range.contains(step.first)) firsts.push_back(step.first);
    }
  }
  firsts.push_back(range.first);
  std::sort(firsts.begin(), firsts.end());
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  std::vector<ItemIdRange> lacking;
  bool open = false;
  for (const ItemId& first : firsts) {
    const bool lacks = !destination.at(first).contains(source.at(first));
    if (open && !lacks) lacking.back().last = previous(first);
    if (!open && lacks) lacking.push_back({first, range.last});
    open = lacks;
  }
  return lacking;
}

Result<std::vector<ItemId>> absent_items(MetadataTransaction& transaction, const Knowledge& knowledge,
                                         const ReceivedBatch& received) {
  std::vector<ItemId> absent;
  const bool same_filter = reach_of(received.batch) == SourceReach::kSameFilter;
  // With a filter the batch does not name all that its source holds.
  if (received.batch.filter && !received.absent) return absent;
  const Knowledge& bound = same_filter ? received.batch.made_with : received.batch.forgotten;
  for (const ItemIdRange& range : ranges_lacking(knowledge, bound, received.batch.range)) {
    if (received.absent) {
      const auto from = std::lower_bound(received.absent->begin(), received.absent->end(), range.first);
      absent.insert(absent.end(), from, std::upper_bound(from, received.absent->end(), range.last));
      continue;
    }
    HARMONICA_RETURN_IF_ERROR(transaction.scan(range, [&](const StoredItem& stored) -> Result<Visit> {
      absent.push_back(stored.item.id);
      return Visit::kContinue;
    }));
  }
  return absent;
}

ViewInput Removals::add(StoredItem before) {
  items_.insert(before.item.id);
  StoredItem after = before;
  after.item.existence.value = Existence::kDeleted;
  return {std::move(before), std::move(after)};
}

Result<bool> Removals::remove(MetadataTransaction& transaction, HeldBack& held_back) const {
  bool all = true;
  for (const ItemId& item : items_) {
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction.find(item));
    if (stored && stored->shown) {
      held_back.failed.emplace(item, Status(StatusCode::kUnavailable, "what stands in it cannot be written"));
      all = false;
      continue;
    }
    HARMONICA_RETURN_IF_ERROR(transaction.remove(item));
  }
  return all;
}

}  // namespace harmonica::kernel
