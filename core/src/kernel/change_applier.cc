#include "kernel/change_applier.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harmonica/limits.h"
#include "kernel/adoption.h"
#include "kernel/conflict_records.h"
#include "kernel/erasure.h"
#include "kernel/filtering.h"
#include "kernel/first_contact.h"
#include "kernel/forgotten_life.h"
#include "kernel/item_versions.h"
#include "kernel/merge_bases.h"
#include "kernel/record_items.h"
#include "kernel/recovery.h"
#include "kernel/tombstone_cleaner.h"
#include "kernel/unknown_type.h"
#include "kernel/value_faults.h"
#include "kernel/views.h"
#include "kernel/write_plan.h"

namespace harmonica::kernel {
namespace {

// What earlier attempts at the same unit of work found out.
struct Findings {
  HeldBack held_back;
  PreparedWrite prepared;    // every state that may stand in the store by now
  std::set<ItemId> stalled;  // batches, by their first ids, of which too much is left out to learn the rest
};

// One attempt at a unit of work, in one transaction.
class Attempt {
 public:
  Attempt(ReplicaContext& context, MetadataTransaction& transaction, const Findings& findings)
      : context_(context),
        transaction_(transaction),
        findings_(findings),
        plan_(context, transaction, findings.held_back) {}

  Status begin() {
    HARMONICA_ASSIGN_OR_RETURN(state_, transaction_.state());
    HARMONICA_ASSIGN_OR_RETURN(knowledge_, transaction_.knowledge());
    HARMONICA_ASSIGN_OR_RETURN(forgotten_, transaction_.forgotten());
    context_.clock.observe(state_.last_tick);
    wanted_whole_ = {state_.wanted_whole.begin(), state_.wanted_whole.end()};
    return transaction_.scan_conflicts([&](const ConflictRecord& record) -> Result<Visit> {
      deferred_.insert(record.item);
      return Visit::kContinue;
    });
  }

  Status apply(const ReceivedBatch& received, Resolution resolution) {
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

  // A decision on a deferred item: classified again against the state of this moment (rule R11).
  Status decide(const ConflictRecord& conflict, Resolution resolution) {
    ChangeBatch batch;
    batch.range = {conflict.item, conflict.item};
    batch.changes.push_back(*conflict.deferred);
    batch.made_with = Knowledge(conflict.deferred_made_with).project(batch.range);
    batch.source.scope = state_.scope;
    return apply({batch, nullptr, std::vector<ItemId>()}, resolution);
  }

  // A local edit by the app: `item` with some registers to be made anew.
  Status edit(const Item& item) {
    HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> before, transaction_.find(item.id));
    if (!before) return {StatusCode::kNotFound, "item " + item.id.to_text() + ": not held"};
    StoredItem after = *before;
    after.item = item;
    if (const ItemType* type = context_.schema().find_type(item.type))
      keep_merge_bases(*type, before->item, after, context_.acknowledged);
    return accept(std::move(before), std::move(after));
  }

  // Erases an item that is held, for good.
  Status erase(const ItemId& item) {
    HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> before, transaction_.find(item));
    if (!before || before->item.erased()) return {};
    StoredItem after = erased_item(*before, mint());
    return accept(std::move(before), std::move(after));
  }

  // Brings the views in line with all registers that were changed, and plans the writes that follow.
  Status show() {
    for (const StoredItem& displaced : std::exchange(displaced_, {})) HARMONICA_RETURN_IF_ERROR(rehouse(displaced));
    if (inputs_.empty()) return {};
    for (const ViewInput& input : inputs_) note_made(input.before, input.after.item);
    HARMONICA_ASSIGN_OR_RETURN(std::vector<StoredItem> items,
                               update_views(context_.schema(), transaction_, std::exchange(inputs_, {})));
    HARMONICA_RETURN_IF_ERROR(plan_.choose_keys(items));
    for (StoredItem& item : items) HARMONICA_RETURN_IF_ERROR(plan_.put(std::move(item)));
    return {};
  }

  // Items that an earlier session could not write are tried again.
  Status collect_unwritten() {
    if (!context_.has_store()) return {};
    IndexQuery query;
    query.kind = IndexKind::kUnwritten;
    HARMONICA_ASSIGN_OR_RETURN(const auto unwritten, transaction_.find_index(query));
    for (const IndexPosition& position : unwritten) {
      HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> item, transaction_.find(position.item));
      if (!item) continue;
      HARMONICA_RETURN_IF_ERROR(plan_.choose_keys(std::span(&*item, 1)));
      HARMONICA_RETURN_IF_ERROR(plan_.put(std::move(*item)));
    }
    return {};
  }

  // What a lost commit had written is settled: the store is now as the views say.
  Status settle_pending() {
    if (findings_.prepared.items.empty() || !plan_.left_astray().empty()) return {};
    return written(state_.write_number + 1);
  }

  Status finish() {
    HARMONICA_RETURN_IF_ERROR(end_decided());
    HARMONICA_RETURN_IF_ERROR(drop_records_of_erased());
    HARMONICA_RETURN_IF_ERROR(drop_old_records(context_, transaction_, made_));
    changed_ = changed_ || !made_.empty();
    if (changed_) HARMONICA_RETURN_IF_ERROR(commit_changes());
    // Not before: what a commit that fails has not dropped is to be dropped still.
    context_.records_are_within_limits = true;
    return {};
  }

  // The store has accepted the plan's writes.
  Status written(std::uint64_t write_number) {
    state_.write_number = write_number;
    changed_ = true;
    // What is still astray has to be seen again.
    if (!plan_.left_astray().empty()) return transaction_.set_anchor({});
    return context_.unsyncable.look_again ? Status() : transaction_.set_anchor(context_.anchor);
  }

  // The batch of which too much is left out, if there was one: then the attempt is to be made without it.
  const std::optional<ItemId>& stalled() const { return stalled_; }

  // What goes without a tombstone, after the plan's writes are made. As Removals::remove.
  Result<bool> remove_recovered(HeldBack& held_back) { return removals_.remove(transaction_, held_back); }
  bool is_recovered(const ItemId& item) const { return recovered_.contains(item) || removals_.contains(item); }

  bool has_erased() const { return has_erased_; }

  WritePlan& plan() { return plan_; }
  const ReplicaState& state() const { return state_; }
  MetadataTransaction& transaction() { return transaction_; }
  Version mint() { return context_.mint(); }

  BatchReport take_report() {
    for (const auto& [item, status] : findings_.held_back.failed) report_.failures.push_back({item, status});
    report_.failures.insert(report_.failures.end(), refused_.begin(), refused_.end());
    return std::move(report_);
  }

 private:
  Status commit_changes() {
    HARMONICA_RETURN_IF_ERROR(claim_own_ticks(context_, transaction_, std::exchange(made_, {}), knowledge_));
    state_.wanted_whole = {wanted_whole_.begin(), wanted_whole_.end()};
    HARMONICA_RETURN_IF_ERROR(transaction_.set_knowledge(knowledge_));
    HARMONICA_RETURN_IF_ERROR(transaction_.set_forgotten(forgotten_));
    return commit(context_, transaction_, state_);
  }

  // The registers of an item are decided. What is to be shown waits for its view; without a store, and of conflict records,
  // there is none.
  Status accept(std::optional<StoredItem> before, StoredItem after) {
    changed_ = true;
    if (after.item.erased()) HARMONICA_RETURN_IF_ERROR(leave_nothing_of(before, after));
    if (is_record(after.item.type)) {
      context_.records_are_within_limits = false;
      new_records_.push_back(after.item.id);
    }
    if (!context_.has_store() || is_record(after.item.type)) {
      note_made(before, after.item);
      return transaction_.put(after, entries_of(context_, after, WrittenState::kWritten));
    }
    inputs_.push_back({std::move(before), std::move(after)});
    return {};
  }

  // What else is kept of an item that is erased goes with its values.
  Status leave_nothing_of(const std::optional<StoredItem>& before, StoredItem& erased) {
    erased.merge_bases.clear();
    if (deferred_.erase(erased.item.id) > 0) {
      const ConflictId waiting = deferred_conflict_id(context_.environment, erased.item.id);
      HARMONICA_RETURN_IF_ERROR(transaction_.remove_conflict(waiting));
    }
    const bool was_held = before && !before->item.erased();
    has_erased_ = has_erased_ || was_held;
    // They may have come before the item, or have outlived its tombstone.
    any_records_to_drop_ = any_records_to_drop_ || was_held || !before;
    return {};
  }

  // Also one that was made by somebody who had not heard of the erasure yet.
  Status drop_records_of_erased() {
    std::vector<ItemId> records = std::exchange(new_records_, {});
    if (any_records_to_drop_) {
      HARMONICA_ASSIGN_OR_RETURN(const auto positions, transaction_.find_index(living_records()));
      for (const IndexPosition& position : positions) records.push_back(position.item);
    }
    for (const ItemId& record : records) {
      HARMONICA_ASSIGN_OR_RETURN(const bool dropped, drop_record_of_erased(context_, transaction_, record, made_));
      has_erased_ = has_erased_ || dropped;
      changed_ = changed_ || dropped;
    }
    return {};
  }

  // Whether the change may be learned.
  Result<bool> apply_change(const ChangeBatch& batch, const ItemChange& change, Resolution resolution) {
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

  // Rule R15: what is held here and not there, where the source has forgotten something that is not known here.
  Status recover(const ReceivedBatch& received, std::vector<ItemId>& left_out) {
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

  // Whether what the source knows of the item may be learned.
  Result<bool> recover_item(const ChangeBatch& batch, const ItemId& item) {
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

  // Rules R21, R22 and R24.
  Status learn_through_filter(const ReceivedBatch& received, std::vector<ItemId>& left_out) {
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
    for (auto item = moved_in_.lower_bound(batch.range.first); item != moved_in_.end() && *item <= batch.range.last;
         ++item) {
      exceptions.emplace_back(*item, batch.made_with.at(*item));
    }
    std::sort(exceptions.begin(), exceptions.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    HARMONICA_ASSIGN_OR_RETURN(Knowledge learned,
                               learned_through_filter(transaction_, knowledge_, batch, gone, exceptions));
    changed_ = changed_ || !gone.empty() || learned != knowledge_;
    knowledge_ = std::move(learned);
    return {};
  }

  // Only what a source that holds everything has, with all that was written here, may go (rule R21).
  bool may_leave(const ChangeBatch& batch, const StoredItem& stored) const {
    const ItemId& item = stored.item.id;
    return reach_of(batch) == SourceReach::kEverything && !stored.item.erased() &&
           batch.made_with.at(item).contains(versions_of(stored.item)) && !findings_.held_back.failed.contains(item) &&
           !context_.unsyncable.left_alone.contains(item);
  }

  // Rule R7: what the source has left out because it was known has to be known still.
  Status check_request_holds(const ReceivedBatch& received, const std::vector<ItemId>& since,
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

  // What gets a version of this replica's own that is not claimed yet.
  void note_made(const std::optional<StoredItem>& before, const Item& after) {
    const Version own{context_.replica, versions_of(after).at(context_.replica)};
    if (knowledge_.contains(after.id, own)) return;
    made_.push_back({after.id, !before && !moved_in_.contains(after.id)});
  }

  Status record_conflicts(Classification& classified) {
    for (ConflictRecord& conflict : classified.conflicts) {
      HARMONICA_RETURN_IF_ERROR(record_conflict(conflict));
    }
    return {};
  }

  // An item whose id now belongs to one of a greater type lives on under its second id (docs/adr/0010). Whoever holds it
  // does that, and all arrive at the same id.
  Status rehouse(const StoredItem& displaced) {
    const ItemId second = second_item_id(context_.environment, displaced.item.id, displaced.item.type);
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> held, transaction_.find(second));
    const auto comes =
        std::find_if(inputs_.begin(), inputs_.end(), [&](const ViewInput& input) { return input.after.item.id == second; });
    if (displaced.item.erased()) return erase_second(displaced.item, second, comes == inputs_.end() ? nullptr : &*comes);
    if (displaced.item.alive() && !held && comes == inputs_.end()) {
      StoredItem moved;
      moved.item = displaced.item;
      moved.item.id = second;
      moved.shown = displaced.shown;
      const Version version = mint();
      ++report_.minted;
      moved.item.existence.version = version;
      for (UnitRegister& unit : moved.item.units) unit.content.version = version;
      return accept(std::nullopt, std::move(moved));
    }
    // Deleted; or another device was faster, and what stands in the store twice then goes once. The plan removes what
    // stands there for an item that is not held.
    if (displaced.shown) {
      const ItemId gone = second_item_id(context_.environment, second, displaced.item.type);
      context_.astray[gone] = {displaced.item.type, displaced.shown};
    }
    if (!displaced.item.alive()) return {};
    return record_differences(displaced.item, comes == inputs_.end() ? held->item : comes->after.item);
  }

  // Under whichever id an old device brings it back, it is erased. `comes`: what this batch makes of the second id.
  Status erase_second(const Item& displaced, const ItemId& second, ViewInput* comes) {
    if (comes != nullptr) {
      if (comes->after.item.erased()) return {};
      comes->after = erased_item(comes->after, mint());
      return leave_nothing_of(comes->before, comes->after);
    }
    HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> held, transaction_.find(second));
    if (held && held->item.erased()) return {};
    StoredItem erased;
    erased.item.id = second;
    erased.item.type = displaced.type;
    erased = erased_item(held ? *held : erased, mint());
    return accept(std::move(held), std::move(erased));
  }

  // What differs in an item from the one that takes its place is not lost in silence; unless that is erased.
  Status record_differences(const Item& displaced, const Item& kept) {
    if (kept.erased()) return {};
    const ItemType* type = context_.schema().find_type(displaced.type);
    for (const UnitRegister& unit : displaced.units) {
      const Unit* known = type == nullptr ? nullptr : type->find_unit(unit.unit);
      if (known != nullptr && known->recording == ConflictRecording::kSilent) continue;
      const Register* now = kept.find(unit.unit);
      if (now != nullptr && now->value == unit.content.value) continue;
      const Register nothing;
      const Register& stays = now == nullptr ? nothing : *now;
      ConflictRecord conflict{.item = kept.id,
                              .type = kept.type,
                              .unit = unit.unit,
                              .kept = {stays.version, stays.value, kept.existence.value},
                              .lost = {unit.content.version, unit.content.value, displaced.existence.value},
                              .rule = "second_id"};
      HARMONICA_RETURN_IF_ERROR(record_conflict(conflict));
    }
    return {};
  }

  // A conflict that was decided elsewhere waits no longer, also where the outcome is what is held here.
  Status end_decided() {
    for (const ItemId& item : deferred_) {
      const ConflictId id = deferred_conflict_id(context_.environment, item);
      HARMONICA_ASSIGN_OR_RETURN(const std::optional<ConflictRecord> record, transaction_.find_conflict(id));
      if (!record || !record->deferred || !knowledge_.at(item).contains(versions_of(*record->deferred))) continue;
      HARMONICA_RETURN_IF_ERROR(transaction_.remove_conflict(id));
      changed_ = true;
    }
    return {};
  }

  Result<bool> refuse(const ItemId& item, StatusCode code, std::string message) {
    refused_.push_back({item, Status(code, std::move(message))});
    return false;
  }

  Result<bool> refuse_left_alone(const ItemId& item) {
    return refuse(item, StatusCode::kCorruption,
                  "what the store holds of it cannot be synced, so nothing is written over it; mend it first");
  }

  // Whoever holds everything will come to know it, unless it was lost: that has to be said.
  Result<bool> wait_for_source(const ChangeBatch& batch, const ItemId& item) {
    if (reach_of(batch) != SourceReach::kEverything) return false;
    return refuse(item, StatusCode::kUnavailable,
                  "it went from here in a version that the peer does not know yet; should that be lost with a restored "
                  "backup, verify and repair");
  }

  Result<bool> want_whole(const ItemChange& change) {
    const ItemId& item = change.item;
    if (wanted_whole_.size() >= limits::kWantedWholeMax && !wanted_whole_.contains(item)) {
      return refuse(item, StatusCode::kLimitExceeded, "too many items are waiting to be sent whole; sync again");
    }
    if (wanted_whole_.insert(item).second) changed_ = true;
    context_.wanted_for[item].merge(versions_of(change));
    return false;
  }

  // Another source may hold the item whole, but not what is lacking here; or nobody holds it any more.
  void settle_wanted(const ItemIdRange& range, const std::vector<ItemId>& left_out) {
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

  Status record_conflict(ConflictRecord& conflict) {
    ++report_.conflicts;
    changed_ = true;
    return keep_record(context_, transaction_, conflict, made_);
  }

  void count(const Item* before, const Item& after) {
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

  // Nothing is learned of items that were left out (rule R11), nor of what lies between two of them if nothing came in
  // there: so a store that takes nothing at all costs one range, and not one for each item. `left_out` in any order.
  std::vector<ItemIdRange> not_learned(const ChangeBatch& batch, std::vector<ItemId> left_out) const {
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

  // `except`: ranges that rise, within `range`.
  Status learn(Knowledge& own, const Knowledge& other, const ItemIdRange& range, const std::vector<ItemIdRange>& except) {
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

  // Where too many items fail, one here and one there, what is known could not be said in few words any more. So the rest
  // of such a batch has to wait until some of them are mended.
  Status leave_out_all(const ChangeBatch& batch) {
    for (const ItemChange& change : batch.changes) {
      if (findings_.held_back.failed.contains(change.item)) continue;
      refused_.push_back({change.item, Status(StatusCode::kLimitExceeded,
                                              "waits because too many others cannot be applied; mend some of them first")});
    }
    report_.received += batch.changes.size();
    return {};
  }

  ReplicaContext& context_;
  MetadataTransaction& transaction_;
  const Findings& findings_;
  WritePlan plan_;
  ReplicaState state_;
  Knowledge knowledge_;
  Knowledge forgotten_;
  std::set<ItemId> wanted_whole_;
  std::set<ItemId> deferred_;
  std::vector<ItemId> new_records_;  // conflict records that came in or were made
  std::vector<ViewInput> inputs_;    // of all batches; no item is in two
  std::vector<StoredItem> displaced_;
  std::set<ItemId> recovered_;
  Removals removals_;
  std::vector<ItemFailure> refused_;
  BatchReport report_;
  std::set<ItemId> moved_in_;
  std::vector<MadeItem> made_;
  bool changed_ = false;  // there is something to commit
  std::optional<ItemId> stalled_;
  bool has_erased_ = false;
  bool any_records_to_drop_ = false;  // perhaps, about what was erased here
};

// What the store made of the writes.
enum class Acceptance : std::uint8_t { kAll, kSomeFailed, kStoreChanged };

// Takes from the store's answers what the next attempt must know. `is_received` tells which items are written because of
// what was received, and not for their views alone.
Acceptance examine(const std::vector<WriteOutcome>& outcomes, std::span<const PreparedItem> writes,
                   const std::function<bool(const ItemId&)>& is_received, Findings& findings) {
  Acceptance acceptance = Acceptance::kAll;
  for (std::size_t index = 0; index < writes.size(); ++index) {
    const ItemId& item = writes[index].item;
    switch (outcomes[index].state) {
      case WriteState::kWritten:
        break;
      case WriteState::kChanged:
        acceptance = Acceptance::kStoreChanged;
        break;
      case WriteState::kFailed:
        if (acceptance == Acceptance::kAll) acceptance = Acceptance::kSomeFailed;
        // An item that fails again although it was left out is written because of its view alone.
        if (is_received(item) && findings.held_back.failed.emplace(item, outcomes[index].status).second) break;
        findings.held_back.unwritable.insert(item);
        break;
    }
  }
  return acceptance;
}

// What is still astray after a commit goes on counting as ours.
Status keep_astray(ReplicaContext& context, const std::vector<PreparedItem>& left_astray, std::uint64_t write_number) {
  std::erase_if(context.astray, [&](const auto& entry) {
    return std::none_of(left_astray.begin(), left_astray.end(),
                        [&](const PreparedItem& item) { return item.item == entry.first; });
  });
  if (left_astray.empty()) return {};
  return context.metadata.prepare({write_number + 1, left_astray});
}

// After the commit of `attempt`, whose transaction stands in the way.
Status wipe_erased(ReplicaContext& context, const Attempt& attempt, std::unique_ptr<MetadataTransaction>& transaction) {
  if (!attempt.has_erased()) return {};
  transaction.reset();
  return context.metadata.wipe_removed();
}

// Repeats `fill` in fresh transactions until the store has accepted what follows from it.
Result<BatchReport> run(ReplicaContext& context, ChangeDetector& detector, std::span<const ReceivedBatch> batches,
                        const std::function<Status(Attempt&)>& fill) {
  Findings findings;
  HARMONICA_ASSIGN_OR_RETURN(findings.prepared.items, pending_items(context));
  for (int store_changes = 0;;) {
    HARMONICA_ASSIGN_OR_RETURN(auto transaction, context.metadata.begin(TransactionMode::kWrite));
    Attempt attempt(context, *transaction, findings);
    HARMONICA_RETURN_IF_ERROR(attempt.begin());
    HARMONICA_RETURN_IF_ERROR(fill(attempt));
    if (attempt.stalled() && findings.stalled.insert(*attempt.stalled()).second) continue;
    HARMONICA_RETURN_IF_ERROR(attempt.show());
    HARMONICA_RETURN_IF_ERROR(attempt.collect_unwritten());
    HARMONICA_ASSIGN_OR_RETURN(const std::vector<StoreWrite> writes, attempt.plan().writes());
    HARMONICA_ASSIGN_OR_RETURN(const bool all_removed, attempt.remove_recovered(findings.held_back));
    if (!all_removed) continue;
    if (writes.empty()) {
      HARMONICA_RETURN_IF_ERROR(attempt.settle_pending());
      HARMONICA_RETURN_IF_ERROR(attempt.finish());
      HARMONICA_RETURN_IF_ERROR(wipe_erased(context, attempt, transaction));
      return attempt.take_report();
    }

    const std::uint64_t write_number = attempt.state().write_number + 1;
    std::vector<PreparedItem> prepared = attempt.plan().take_prepared();
    std::span<const PreparedItem> planned = prepared;
    if (!context.shares_database()) {
      std::vector<PreparedItem>& all = findings.prepared.items;
      if (all.empty()) {
        all = std::move(prepared);
      } else {
        all.insert(all.end(), std::move_iterator(prepared.begin()), std::move_iterator(prepared.end()));
      }
      planned = std::span(all).last(planned.size());
      findings.prepared.write_number = write_number;
      HARMONICA_RETURN_IF_ERROR(context.metadata.prepare(findings.prepared));
    }
    HARMONICA_ASSIGN_OR_RETURN(Written written, context.store.apply(writes, context.anchor));
    if (written.outcomes.size() != writes.size()) {
      return Status(StatusCode::kInternal, "the store answered " + std::to_string(written.outcomes.size()) + " of " +
                                               std::to_string(writes.size()) + " writes");
    }
    const auto is_received = [&](const ItemId& item) {
      return attempt.is_recovered(item) || std::any_of(batches.begin(), batches.end(), [&](const ReceivedBatch& received) {
               return received.batch.find(item) != nullptr;
             });
    };
    const Acceptance acceptance = examine(written.outcomes, planned, is_received, findings);
    if (acceptance == Acceptance::kAll) {
      context.anchor = std::move(written.anchor);
      if (attempt.plan().left_astray().empty()) context.disturbed.clear();
      HARMONICA_RETURN_IF_ERROR(attempt.written(write_number));
      HARMONICA_RETURN_IF_ERROR(attempt.finish());
      HARMONICA_RETURN_IF_ERROR(keep_astray(context, attempt.plan().left_astray(), write_number));
      HARMONICA_RETURN_IF_ERROR(wipe_erased(context, attempt, transaction));
      return attempt.take_report();
    }
    if (acceptance == Acceptance::kSomeFailed) context.anchor = std::move(written.anchor);
    findings.held_back.disturbed.insert(attempt.plan().ordered_parents().begin(), attempt.plan().ordered_parents().end());
    for (std::size_t index = 0; index < planned.size(); ++index) {
      if (written.outcomes[index].state != WriteState::kWritten) continue;
      context.astray[planned[index].item] = {writes[index].item.type, planned[index].shown};
    }
    if (acceptance == Acceptance::kStoreChanged) {
      if (++store_changes > limits::kStoreChangedRetriesMax) {
        return Status(StatusCode::kUnavailable,
                      "the store keeps changing while it is written; try again when it is at rest");
      }
      transaction.reset();
      HARMONICA_ASSIGN_OR_RETURN(const DetectionReport detected, detector.detect());
      static_cast<void>(detected);
    }
  }
}

}  // namespace

Result<BatchReport> apply_changes(ReplicaContext& context, ChangeDetector& detector, std::span<const ReceivedBatch> batches,
                                  Resolution resolution) {
  HARMONICA_ASSIGN_OR_RETURN(const FirstContactState contact, settle_first_contact(context, batches));
  if (contact == FirstContactState::kIncomplete) return BatchReport();
  return run(context, detector, batches, [&](Attempt& attempt) -> Status {
    for (const ReceivedBatch& received : batches) HARMONICA_RETURN_IF_ERROR(attempt.apply(received, resolution));
    return {};
  });
}

Status apply_decision(ReplicaContext& context, ChangeDetector& detector, const ConflictRecord& conflict,
                      Resolution resolution) {
  const Result<BatchReport> applied =
      run(context, detector, {}, [&](Attempt& attempt) { return attempt.decide(conflict, resolution); });
  if (!applied.ok()) return applied.status();
  if (applied->failures.empty()) return {};
  const ItemFailure& failure = applied->failures.front();
  return failure.status.within("item " + failure.item.to_text());
}

Status apply_local_edit(ReplicaContext& context, ChangeDetector& detector, const ItemId& item, const LocalEdit& edit) {
  const Result<BatchReport> applied = run(context, detector, {}, [&](Attempt& attempt) -> Status {
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> held, attempt.transaction().find(item));
    if (!held) {
      return {
          StatusCode::kNotFound,
          "item " + item.to_text() +
              ": has not come yet, was deleted and is forgotten, or is outside the filter; sync, or make it anew with the "
              "value of the record"};
    }
    if (held->item.erased()) {
      return {StatusCode::kNotFound, "item " + item.to_text() + ": was erased for good; make it anew"};
    }
    Item edited = held->item;
    edit(edited, [&] { return attempt.mint(); });
    return attempt.edit(edited);
  });
  return applied.ok() ? Status() : applied.status();
}

Result<std::vector<ItemId>> apply_local_erasure(ReplicaContext& context, ChangeDetector& detector, const ItemId& item) {
  std::vector<ItemId> items;
  const Result<BatchReport> applied = run(context, detector, {}, [&](Attempt& attempt) -> Status {
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> held, attempt.transaction().find(item));
    if (!held) return {StatusCode::kNotFound, "item " + item.to_text() + ": not held"};
    if (held->item.erased()) return {StatusCode::kNotFound, "item " + item.to_text() + ": was erased before"};
    HARMONICA_ASSIGN_OR_RETURN(items, items_to_erase(context, attempt.transaction(), item));
    for (const ItemId& one : items) HARMONICA_RETURN_IF_ERROR(attempt.erase(one));
    return {};
  });
  if (!applied.ok()) return applied.status();
  return items;
}

}  // namespace harmonica::kernel
