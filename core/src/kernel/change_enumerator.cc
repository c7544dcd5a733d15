#include "kernel/change_enumerator.h"

#include <algorithm>
#include <utility>

#include "harmonica/limits.h"
#include "kernel/item_versions.h"

namespace harmonica::kernel {
namespace {

// Items looked up at a time: enough to amortise the look-up, few enough to stay within a small batch.
constexpr std::size_t kLookAhead = 1'000;

// The next items to look at, in id order: those that lack something, and those wanted whole.
std::vector<ItemId> merge_wanted(std::vector<ItemId> lacking, const std::vector<ItemId>& wanted, const ItemIdRange& range) {
  const auto from = std::lower_bound(wanted.begin(), wanted.end(), range.first);
  const auto to = std::upper_bound(from, wanted.end(), range.last);
  if (from == to) return lacking;
  std::vector<ItemId> merged;
  std::set_union(lacking.begin(), lacking.end(), from, to, std::back_inserter(merged));
  return merged;
}

// A unit that is decided by another one's value comes with that value as it is here: what the destination has of it may be
// newer.
void add_priorities(const Schema& schema, const Item& item, ItemChange& change) {
  const ItemType* type = schema.find_type(item.type);
  const auto has_priority = [&](const Unit& unit) { return type->rule_of(unit) == ConflictRule::kPriority; };
  if (type == nullptr || change.whole || std::none_of(type->units.begin(), type->units.end(), has_priority)) return;
  std::vector<UnitRegister> units;
  for (const UnitRegister& unit : item.units) {
    const auto needs_it = [&](const UnitRegister& sent) {
      const Unit* known = type->find_unit(sent.unit);
      return sent.unit == unit.unit || (known != nullptr && has_priority(*known) && known->priority_unit == unit.unit);
    };
    if (std::any_of(change.units.begin(), change.units.end(), needs_it)) units.push_back(unit);
  }
  change.units = std::move(units);
}

}  // namespace

std::size_t weight_of(const ItemChange& change) {
  std::size_t weight = 48;
  for (const UnitRegister& unit : change.units) weight += 16 + unit.content.value.weight();
  return weight;
}

std::optional<ItemChange> change_for(const Item& item, const ClockVector& known, Extent extent) {
  const bool existence_lacks = !known.contains(item.existence.version);
  ItemChange change;
  change.item = item.id;
  change.type = item.type;
  change.existence = item.existence;
  change.whole = existence_lacks || extent == Extent::kWhole;
  change.units.reserve(item.units.size());
  for (const UnitRegister& unit : item.units) {
    if (change.whole || !known.contains(unit.content.version)) change.units.push_back(unit);
  }
  if (!change.whole && change.units.empty()) return std::nullopt;
  if (change.units.size() == item.units.size()) change.whole = true;
  return change;
}

Result<ChangeBatch> enumerate_changes(const Schema& schema, MetadataTransaction& transaction,
                                      const ReplicaDescription& source, const ChangeRequest& request, const ItemId& first) {
  HARMONICA_ASSIGN_OR_RETURN(const Knowledge knowledge, transaction.knowledge());
  HARMONICA_ASSIGN_OR_RETURN(const Knowledge forgotten, transaction.forgotten());
  const std::uint64_t bytes_max = request.batch_bytes_max == 0 ? limits::kBatchBytesDefault : request.batch_bytes_max;

  ChangeBatch batch;
  batch.source = source;
  batch.destination = request.destination.replica;
  batch.request_number = request.number;
  batch.range = {first, last_item_id()};

  std::uint64_t weight = 0;
  ItemId from = first;
  bool full = false;
  std::vector<ItemId> withheld;
  while (!full) {
    HARMONICA_ASSIGN_OR_RETURN(std::vector<ItemId> lacking,
                               transaction.find_lacking(request.knowledge, {from, last_item_id()}, kLookAhead));
    const bool exhausted = lacking.size() < kLookAhead;
    const ItemId seen_to = exhausted ? last_item_id() : lacking.back();
    const std::vector<ItemId> items = merge_wanted(std::move(lacking), request.wanted_whole, {from, seen_to});
    for (std::size_t index = 0; index < items.size(); ++index) {
      const ItemId& id = items[index];
      HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction.find(id));
      if (!stored) continue;  // wanted whole, but not held here either
      // It has been asked for again and has not come yet: what stands here is not to be passed on, nor what is known of it.
      if (!knowledge.at(id).contains(versions_of(stored->item))) {
        withheld.push_back(id);
        continue;
      }
      const bool wanted = std::binary_search(request.wanted_whole.begin(), request.wanted_whole.end(), id);
      std::optional<ItemChange> change =
          change_for(stored->item, request.knowledge.at(id), wanted ? Extent::kWhole : Extent::kLacking);
      if (change) add_priorities(schema, stored->item, *change);
      if (!change) continue;
      const std::size_t change_weight = weight_of(*change);
      if (!batch.changes.empty() &&
          (weight + change_weight > bytes_max || batch.changes.size() >= limits::kBatchChangesMax)) {
        batch.changes_left_estimate = items.size() - index;
        full = true;
        break;
      }
      weight += change_weight;
      batch.changes.push_back(std::move(*change));
    }
    if (full || exhausted) break;
    const std::optional<ItemId> following = next(seen_to);
    if (!following) break;
    from = *following;
  }
  if (full) batch.range.last = batch.changes.back().item;
  batch.last = !full;
  batch.made_with = knowledge.project(batch.range);
  batch.forgotten = forgotten.project(batch.range);
  for (const ItemId& id : withheld) {
    batch.made_with.assign({id, id}, {});
    batch.forgotten.assign({id, id}, {});
  }
  return batch;
}

}  // namespace harmonica::kernel
