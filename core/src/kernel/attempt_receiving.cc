// What an attempt makes of a batch: which changes it takes, and what it learns.
#include "kernel/attempt.h"

#include <algorithm>
#include <utility>

#include "harmonica/limits.h"
#include "kernel/adoption.h"
#include "kernel/conflict_records.h"
#include "kernel/forgotten_life.h"
#include "kernel/item_versions.h"
#include "kernel/merge_bases.h"
#include "kernel/record_items.h"
#include "kernel/tombstone_cleaner.h"
#include "kernel/unknown_type.h"
#include "kernel/value_faults.h"

namespace harmonica::kernel {

Status Attempt::apply(const ReceivedBatch& received, Resolution resolution) {
  const ChangeBatch& batch = received.batch;
  context_.clock.observe(batch.made_with.greatest_tick());
  if (state_.scope.empty() && !batch.source.scope.empty()) {
    join_scope(context_, state_, batch.source.scope);
    changed_ = true;
  }
  if (findings_.stalled.contains(batch.range.first)) return leave_out_all(batch);
  const std::size_t steps_before = knowledge_.steps().size();
  std::vector<ItemId> left_out;
  for (const ItemChange& change : batch.changes) {
    // Created here since the request was made: what the source has left out is not known any more (rule R26).
    const bool is_asked = !batch.filter || received.asked_with == nullptr ||
                          knowledge_.at(change.item).contains(received.asked_with->at(change.item));
    HARMONICA_ASSIGN_OR_RETURN(const bool learned,
                               is_asked ? apply_change(batch, change, resolution) : Result<bool>(false));
    if (!learned) left_out.push_back(change.item);
  }
  HARMONICA_RETURN_IF_ERROR(recover(received, left_out));
  const bool is_filtered = batch.filter && received.asked_with != nullptr;
  if (is_filtered) HARMONICA_RETURN_IF_ERROR(learn_through_filter(received, left_out));
  const std::vector<ItemIdRange> except = not_learned(batch, left_out);
  if (!is_filtered) HARMONICA_RETURN_IF_ERROR(learn(knowledge_, batch.made_with, batch.range, except));
  HARMONICA_RETURN_IF_ERROR(learn(forgotten_, batch.forgotten, batch.range, except));
  if (knowledge_.steps().size() > std::max(steps_before, limits::kLearnedStepsMax) && !left_out.empty()) {
    stalled_ = batch.range.first;
  }
  if (state_.has_had_filter) {
    HARMONICA_ASSIGN_OR_RETURN(const bool cleaned, clean_acknowledged(context_, transaction_, batch, forgotten_));
    changed_ = changed_ || cleaned;
  }
  settle_wanted(batch.range, left_out);
  report_.received += batch.changes.size();
  return {};
}

Result<bool> Attempt::apply_change(const ChangeBatch& batch, const ItemChange& change, Resolution resolution) {
  if (findings_.held_back.failed.contains(change.item)) return false;
  if (context_.unsyncable.left_alone.contains(change.item)) return refuse_left_alone(change.item);
  const ItemType unknown = unknown_type(change.type);
  const ItemType* known_type = find_type(context_.schema(), change.type);
  const ItemType& type = known_type == nullptr ? unknown : *known_type;
  std::optional<std::string> fault =
      is_record(change.type) ? fault_of_record(context_.environment, change) : fault_of(type, change);
  if (fault) {
    return refuse(change.item, StatusCode::kInvalidArgument, *std::move(fault));
  }
  HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> before, transaction_.find(change.item));
  const bool same_type = before && before->item.type == change.type;
  const bool any_is_record = before && (is_record(change.type) || is_record(before->item.type));
  if (before && !same_type && (any_is_record || change.type < before->item.type)) {
    return refuse(change.item, StatusCode::kInvalidArgument,
                  "is of another type here, which keeps the id; it comes under a new id once the other replica has "
                  "learned of ours");
  }
  bool is_moving_in = false;
  if (!before) {
    HARMONICA_ASSIGN_OR_RETURN(const MoveIn move, move_in(transaction_, batch, change, knowledge_, forgotten_));
    if (move == MoveIn::kLeftOut) return wait_for_source(batch, change.item);
    if (move == MoveIn::kUnwanted) {
      ++report_.unchanged;
      return true;
    }
    is_moving_in = move == MoveIn::kAccepted;
  }
  const ClassifierInput input{
      type,
      same_type ? &before->item : nullptr,
      change,
      knowledge_.at(change.item),
      batch.made_with.at(change.item),
      forgotten_.at(change.item),
      same_type ? std::span<const UnitRegister>(before->merge_bases) : std::span<const UnitRegister>(),
      context_.options.custom_rule,
      is_record(change.type) ? Resolution::kAsInSchema : resolution};
  Classification classified = classify_change(input, [&] { return mint(); });
  if (is_record(change.type)) empty_dropped(classified.item, [&] { return mint(); });
  switch (classified.outcome) {
    case Outcome::kWantedWhole:
      return want_whole(change);
    case Outcome::kDeferred:
      ++report_.deferred;
      HARMONICA_RETURN_IF_ERROR(keep_deferred(context_, transaction_, classified.conflicts.front()));
      changed_ = true;
      return false;
    case Outcome::kRefused:
      refused_.push_back({change.item, classified.refusal});
      return false;
    case Outcome::kForgotten:
      if (!forgotten_.can_merge(Knowledge(versions_of(change)), {change.item, change.item})) {
        return refuse(change.item, StatusCode::kLimitExceeded, "no more deletions can be remembered one by one");
      }
      forgotten_.merge_at(change.item, versions_of(change));
      changed_ = true;
      ++report_.unchanged;
      break;
    case Outcome::kUnchanged:
      ++report_.unchanged;
      break;
    case Outcome::kApplied:
      if (!is_record(change.type)) count(input.local, classified.item);
      StoredItem after;
      after.item = std::move(classified.item);
      if (same_type) {
        after.view = before->view;
        after.shown = before->shown;
        after.merge_bases = before->merge_bases;
        keep_merge_bases(type, before->item, after, context_.acknowledged);
      } else if (before) {
        displaced_.push_back(*before);
        after.view = before->view;
      }
      if (is_moving_in) {
        moved_in_.insert(change.item);
        HARMONICA_RETURN_IF_ERROR(transaction_.put_ghost(change.item, {}));
      }
      HARMONICA_RETURN_IF_ERROR(accept(std::move(before), std::move(after)));
      break;
  }
  if (!is_record(change.type)) report_.minted += classified.minted;
  HARMONICA_RETURN_IF_ERROR(record_conflicts(classified));
  if (classified.outcome != Outcome::kUnchanged && wanted_whole_.erase(change.item) > 0) changed_ = true;
  if (deferred_.erase(change.item) > 0) {
    HARMONICA_RETURN_IF_ERROR(transaction_.remove_conflict(deferred_conflict_id(context_.environment, change.item)));
    changed_ = true;
  }
  return true;
}

Status Attempt::recover(const ReceivedBatch& received, std::vector<ItemId>& left_out) {
  const ChangeBatch& batch = received.batch;
  HARMONICA_ASSIGN_OR_RETURN(const std::vector<ItemId> absent, absent_items(transaction_, knowledge_, received));
  for (const ItemId& item : absent) {
    if (batch.find(item) != nullptr) continue;
    // It may be deleted there, or have left the filter: whoever holds everything will tell.
    if (reach_of(batch) == SourceReach::kSameFilter) {
      left_out.push_back(item);
      continue;
    }
    HARMONICA_ASSIGN_OR_RETURN(const bool learned, recover_item(batch, item));
    if (!learned) left_out.push_back(item);
  }
  return {};
}

Result<bool> Attempt::recover_item(const ChangeBatch& batch, const ItemId& item) {
  HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> before, transaction_.find(item));
  if (!before) return true;
  if (findings_.held_back.failed.contains(item)) return false;
  if (context_.unsyncable.left_alone.contains(item)) return refuse_left_alone(item);
  recovered_.insert(item);
  // What is erased stays, also where the source claims to know that and does not hold it.
  if (!before->item.erased() && batch.made_with.at(item).contains(versions_of(before->item))) {
    if (before->item.alive() && !is_record(before->item.type)) ++report_.deleted;
    ViewInput gone = removals_.add(*std::move(before));
    HARMONICA_RETURN_IF_ERROR(accept(std::move(gone.before), std::move(gone.after)));
    return true;
  }
  const ItemType unknown = unknown_type(before->item.type);
  const ItemType* type = find_type(context_.schema(), before->item.type);
  const ForgottenLifeInput input{type == nullptr ? unknown : *type, before->item, batch.made_with.at(item),
                                 batch.forgotten.at(item)};
  Classification classified = meet_forgotten(input, [&] { return mint(); });
  if (classified.outcome == Outcome::kRefused) {
    refused_.push_back({item, classified.refusal});
    return false;
  }
  if (is_record(before->item.type)) {
    empty_dropped(classified.item, [&] { return mint(); });
  } else {
    report_.minted += classified.minted;
    if (before->item.alive() && !classified.item.alive()) ++report_.deleted;
  }
  HARMONICA_RETURN_IF_ERROR(record_conflicts(classified));
  if (classified.item == before->item) return true;
  StoredItem after = *before;
  after.item = std::move(classified.item);
  HARMONICA_RETURN_IF_ERROR(accept(std::move(before), std::move(after)));
  return true;
}

Status Attempt::learn_through_filter(const ReceivedBatch& received, std::vector<ItemId>& left_out) {
  const ChangeBatch& batch = received.batch;
  HARMONICA_ASSIGN_OR_RETURN(const std::vector<ItemId> since,
                             items_since_request(transaction_, *received.asked_with, batch));
  HARMONICA_RETURN_IF_ERROR(check_request_holds(received, since, left_out));
  std::vector<ItemId> gone;
  HARMONICA_ASSIGN_OR_RETURN(const std::vector<ItemId> leaving, leaving_items(transaction_, batch));
  for (const ItemId& item : leaving) {
    if (recovered_.contains(item)) continue;
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction_.find(item));
    if (!stored) continue;
    if (may_leave(batch, *stored)) {
      HARMONICA_RETURN_IF_ERROR(transaction_.put_ghost(item, versions_of(stored->item)));
      inputs_.push_back(removals_.add(*stored));
      gone.push_back(item);
      if (!is_record(stored->item.type)) ++report_.moved_out;
    } else if (std::binary_search(batch.moved_out.begin(), batch.moved_out.end(), item)) {
      left_out.push_back(item);
    }
  }
  std::set_difference(since.begin(), since.end(), gone.begin(), gone.end(), std::back_inserter(left_out));
  VectorsByItem exceptions;
  for (const ItemId& item : left_out) exceptions.emplace_back(item, knowledge_.at(item));
  for (auto item = moved_in_.lower_bound(batch.range.first); item != moved_in_.end() && *item <= batch.range.last; ++item) {
    exceptions.emplace_back(*item, batch.made_with.at(*item));
  }
  std::sort(exceptions.begin(), exceptions.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  HARMONICA_ASSIGN_OR_RETURN(Knowledge learned, learned_through_filter(transaction_, knowledge_, batch, gone, exceptions));
  changed_ = changed_ || !gone.empty() || learned != knowledge_;
  knowledge_ = std::move(learned);
  return {};
}

bool Attempt::may_leave(const ChangeBatch& batch, const StoredItem& stored) const {
  const ItemId& item = stored.item.id;
  return reach_of(batch) == SourceReach::kEverything && !stored.item.erased() &&
         batch.made_with.at(item).contains(versions_of(stored.item)) && !findings_.held_back.failed.contains(item) &&
         !context_.unsyncable.left_alone.contains(item);
}

Status Attempt::check_request_holds(const ReceivedBatch& received, const std::vector<ItemId>& since,
                                    const std::vector<ItemId>& left_out) const {
  const ItemIdRange& range = received.batch.range;
  bool holds = received.batch.filter == state_.filter;
  if (holds && !knowledge_.contains(*received.asked_with, range)) {
    Knowledge asked_of_others = *received.asked_with;
    for (const std::vector<ItemId>* items : {&since, &left_out}) {
      for (const ItemId& item : *items) asked_of_others.assign({item, item}, {});
    }
    holds = knowledge_.contains(asked_of_others, range);
  }
  if (holds) return {};
  return {StatusCode::kInvalidArgument,
          "change batch: what was known here, or the filter, has changed since it was asked for; run the session again"};
}

Result<bool> Attempt::refuse(const ItemId& item, StatusCode code, std::string message) {
  refused_.push_back({item, Status(code, std::move(message))});
  return false;
}

Result<bool> Attempt::refuse_left_alone(const ItemId& item) {
  return refuse(item, StatusCode::kCorruption,
                "what the store holds of it cannot be synced, so nothing is written over it; mend it first");
}

Result<bool> Attempt::wait_for_source(const ChangeBatch& batch, const ItemId& item) {
  if (reach_of(batch) != SourceReach::kEverything) return false;
  return refuse(item, StatusCode::kUnavailable,
                "it went from here in a version that the peer does not know yet; should that be lost with a restored "
                "backup, verify and repair");
}

Result<bool> Attempt::want_whole(const ItemChange& change) {
  const ItemId& item = change.item;
  if (wanted_whole_.size() >= limits::kWantedWholeMax && !wanted_whole_.contains(item)) {
    return refuse(item, StatusCode::kLimitExceeded, "too many items are waiting to be sent whole; sync again");
  }
  if (wanted_whole_.insert(item).second) changed_ = true;
  context_.wanted_for[item].merge(versions_of(change));
  return false;
}

void Attempt::settle_wanted(const ItemIdRange& range, const std::vector<ItemId>& left_out) {
  const auto end = wanted_whole_.upper_bound(range.last);
  for (auto wanted = wanted_whole_.lower_bound(range.first); wanted != end;) {
    const auto versions = context_.wanted_for.find(*wanted);
    const bool is_waiting = versions != context_.wanted_for.end() && !knowledge_.at(*wanted).contains(versions->second);
    if (is_waiting || std::find(left_out.begin(), left_out.end(), *wanted) != left_out.end()) {
      ++wanted;
      continue;
    }
    changed_ = true;
    wanted = wanted_whole_.erase(wanted);
  }
}

void Attempt::count(const Item* before, const Item& after) {
  const bool was_alive = before != nullptr && before->alive();
  if (after.alive() && !was_alive) {
    ++report_.created;
  } else if (after.alive()) {
    ++report_.updated;
  } else if (was_alive) {
    ++report_.deleted;
  } else {
    ++report_.unchanged;
  }
}

std::vector<ItemIdRange> Attempt::not_learned(const ChangeBatch& batch, std::vector<ItemId> left_out) const {
  std::sort(left_out.begin(), left_out.end());
  left_out.erase(std::unique(left_out.begin(), left_out.end()), left_out.end());
  std::vector<ItemIdRange> ranges;
  auto change = batch.changes.begin();
  auto recovered = recovered_.begin();
  for (const ItemId& item : left_out) {
    bool came_in = false;
    for (; change != batch.changes.end() && change->item < item; ++change) came_in = true;
    for (; recovered != recovered_.end() && *recovered < item; ++recovered) came_in = true;
    if (change != batch.changes.end() && change->item == item) ++change;
    if (recovered != recovered_.end() && *recovered == item) ++recovered;
    if (ranges.empty() || came_in) ranges.push_back({item, item});
    ranges.back().last = item;
  }
  return ranges;
}

Status Attempt::learn(Knowledge& own, const Knowledge& other, const ItemIdRange& range,
                      const std::vector<ItemIdRange>& except) {
  if (except.empty() && own.contains(other, range)) return {};
  if (!own.can_merge(other, range, 2 * except.size())) {
    return {StatusCode::kLimitExceeded,
            "what the peer knows differs from item to item so much that it cannot be kept together with what is known "
            "here; sync with other peers first"};
  }
  changed_ = true;
  own.merge(except.empty() ? other : other.exclude(except), range);
  return {};
}

Status Attempt::leave_out_all(const ChangeBatch& batch) {
  for (const ItemChange& change : batch.changes) {
    if (findings_.held_back.failed.contains(change.item)) continue;
    refused_.push_back({change.item, Status(StatusCode::kLimitExceeded,
                                            "waits because too many others cannot be applied; mend some of them first")});
  }
  report_.received += batch.changes.size();
  return {};
}

}  // namespace harmonica::kernel
