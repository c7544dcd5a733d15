#include "kernel/change_enumerator.h"

#include <algorithm>
#include <utility>

#include "harmonica/limits.h"
#include "kernel/filtering.h"
#include "kernel/item_versions.h"
#include "kernel/tombstone_cleaner.h"

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

class Enumeration {
 public:
  Enumeration(const ChangeSource& source, const ItemId& first) : source_(source), request_(source.request) {
    batch_.source = source.description;
    batch_.destination = request_.destination.replica;
    batch_.request_number = request_.number;
    batch_.range = {first, last_item_id()};
    batch_.filter = request_.filter;
  }

  Result<ChangeBatch> run() {
    HARMONICA_ASSIGN_OR_RETURN(knowledge_, source_.transaction.knowledge());
    HARMONICA_ASSIGN_OR_RETURN(const ReplicaState state, source_.transaction.state());
    batch_.source_filter = state.filter;
    ItemId from = batch_.range.first;
    while (true) {
      HARMONICA_ASSIGN_OR_RETURN(std::vector<ItemId> lacking,
                                 source_.transaction.find_lacking(request_.knowledge, {from, last_item_id()}, kLookAhead));
      const bool exhausted = lacking.size() < kLookAhead;
      const ItemId seen_to = exhausted ? last_item_id() : lacking.back();
      const std::vector<ItemId> items = merge_wanted(std::move(lacking), request_.wanted_whole, {from, seen_to});
      HARMONICA_RETURN_IF_ERROR(take(items));
      if (full_ || exhausted) break;
      const std::optional<ItemId> following = next(seen_to);
      if (!following) break;
      from = *following;
    }
    if (full_) batch_.range.last = last_named_;
    batch_.last = !full_;
    HARMONICA_RETURN_IF_ERROR(teach());
    return std::move(batch_);
  }

 private:
  Status take(const std::vector<ItemId>& items) {
    for (std::size_t index = 0; index < items.size() && !full_; ++index) {
      const ItemId& id = items[index];
      HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, source_.transaction.find(id));
      if (!stored) continue;  // wanted whole, but not held here either
      // It has been asked for again and has not come yet: what stands here is not to be passed on, nor what is known of it.
      if (!knowledge_.at(id).contains(versions_of(stored->item))) {
        withheld_.push_back(id);
        continue;
      }
      if (source_.filter != nullptr && !is_wanted(stored->item)) {
        if (is_news_of_leaving(stored->item)) name_as_moved_out(id);
      } else if (std::optional<ItemChange> change = change_of(stored->item)) {
        add(*std::move(change));
      }
      if (full_) batch_.changes_left_estimate = items.size() - index;
    }
    return {};
  }

  // A deletion is for those who may have held the item; an erasure is for all.
  bool is_wanted(const Item& item) const {
    const bool is_for_all = item.alive() || item.erased();
    return source_.filter->matches(item) && (is_for_all || !request_.knowledge.at(item.id).empty());
  }

  // Rule R20. Who knows nothing of the item cannot hold it.
  bool is_news_of_leaving(const Item& item) const {
    const ClockVector& known = request_.knowledge.at(item.id);
    return reach_of(batch_) != SourceReach::kOtherFilter && !known.empty() && !known.contains(versions_of(item));
  }

  std::optional<ItemChange> change_of(const Item& item) const {
    const ClockVector& known = request_.knowledge.at(item.id);
    bool wanted = std::binary_search(request_.wanted_whole.begin(), request_.wanted_whole.end(), item.id);
    if (source_.filter != nullptr) {
      // Perhaps it did not match before, and is not held there.
      wanted = wanted || std::any_of(item.units.begin(), item.units.end(), [&](const UnitRegister& unit) {
                 return !known.contains(unit.content.version) && source_.filter->depends_on(item.type, unit.unit);
               });
    }
    std::optional<ItemChange> change = change_for(item, known, wanted ? Extent::kWhole : Extent::kLacking);
    if (change) add_priorities(source_.schema, item, *change);
    return change;
  }

  void add(ItemChange change) {
    if (!has_room(weight_of(change))) return;
    last_named_ = change.item;
    batch_.changes.push_back(std::move(change));
  }

  void name_as_moved_out(const ItemId& item) {
    if (!has_room(ItemId::kSize)) return;
    last_named_ = item;
    batch_.moved_out.push_back(item);
  }

  bool has_room(std::size_t weight) {
    const std::uint64_t bytes_max = request_.batch_bytes_max == 0 ? limits::kBatchBytesDefault : request_.batch_bytes_max;
    const std::size_t named = batch_.changes.size() + batch_.moved_out.size();
    full_ = named > 0 && (weight_ + weight > bytes_max || named >= limits::kBatchChangesMax);
    if (!full_) weight_ += weight;
    return !full_;
  }

  Status teach() {
    HARMONICA_ASSIGN_OR_RETURN(const Knowledge forgotten, source_.transaction.forgotten());
    batch_.made_with = knowledge_.project(batch_.range);
    batch_.forgotten = forgotten.project(batch_.range);
    for (const ItemId& id : withheld_) {
      batch_.made_with.assign({id, id}, {});
      batch_.forgotten.assign({id, id}, {});
    }
    if (reach_of(batch_) == SourceReach::kOtherFilter) {
      VectorsByItem sent;
      for (const ItemChange& change : batch_.changes) sent.emplace_back(change.item, knowledge_.at(change.item));
      HARMONICA_ASSIGN_OR_RETURN(batch_.made_with, with_vectors(Knowledge(), sent));
    }
    // What is forgotten of items about which nothing is known any more stays here (rule R28).
    batch_.forgotten = clipped_to(batch_.forgotten, batch_.made_with);
    return {};
  }

  const ChangeSource& source_;
  const ChangeRequest& request_;
  ChangeBatch batch_;
  Knowledge knowledge_;
  std::vector<ItemId> withheld_;
  std::uint64_t weight_ = 0;
  ItemId last_named_;
  bool full_ = false;
};

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

Result<ChangeBatch> enumerate_changes(const ChangeSource& source, const ItemId& first) {
  return Enumeration(source, first).run();
}

}  // namespace harmonica::kernel
