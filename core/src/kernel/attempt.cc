#include "kernel/attempt.h"

#include <algorithm>
#include <utility>

#include "kernel/adoption.h"
#include "kernel/conflict_records.h"
#include "kernel/erasure.h"
#include "kernel/item_versions.h"
#include "kernel/merge_bases.h"
#include "kernel/record_items.h"
#include "kernel/view_index.h"

namespace harmonica::kernel {

Attempt::Attempt(ReplicaContext& context, MetadataTransaction& transaction, const Findings& findings)
    : context_(context), transaction_(transaction), findings_(findings), plan_(context, transaction, findings.held_back) {}

Status Attempt::begin() {
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

Status Attempt::decide(const ConflictRecord& conflict, Resolution resolution) {
  ChangeBatch batch;
  batch.range = {conflict.item, conflict.item};
  batch.changes.push_back(*conflict.deferred);
  batch.made_with = Knowledge(conflict.deferred_made_with).project(batch.range);
  batch.source.scope = state_.scope;
  return apply({batch, nullptr, std::vector<ItemId>()}, resolution);
}

Status Attempt::edit(const Item& item) {
  HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> before, transaction_.find(item.id));
  if (!before) return {StatusCode::kNotFound, "item " + item.id.to_text() + ": not held"};
  StoredItem after = *before;
  after.item = item;
  if (const ItemType* type = context_.schema().find_type(item.type))
    keep_merge_bases(*type, before->item, after, context_.acknowledged);
  return accept(std::move(before), std::move(after));
}

Status Attempt::erase(const ItemId& item) {
  HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> before, transaction_.find(item));
  if (!before || before->item.erased()) return {};
  StoredItem after = erased_item(*before, mint());
  return accept(std::move(before), std::move(after));
}

Status Attempt::show() {
  for (const StoredItem& displaced : std::exchange(displaced_, {})) HARMONICA_RETURN_IF_ERROR(rehouse(displaced));
  if (inputs_.empty()) return {};
  for (const ViewInput& input : inputs_) note_made(input.before, input.after.item);
  HARMONICA_ASSIGN_OR_RETURN(std::vector<StoredItem> items,
                             update_views(context_.schema(), transaction_, std::exchange(inputs_, {})));
  HARMONICA_RETURN_IF_ERROR(plan_.choose_keys(items));
  for (StoredItem& item : items) HARMONICA_RETURN_IF_ERROR(plan_.put(std::move(item)));
  return {};
}

Status Attempt::collect_unwritten() {
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

Status Attempt::settle_pending() {
  if (findings_.prepared.items.empty() || !plan_.left_astray().empty()) return {};
  return written(state_.write_number + 1);
}

Status Attempt::finish() {
  HARMONICA_RETURN_IF_ERROR(end_decided());
  HARMONICA_RETURN_IF_ERROR(drop_records_of_erased());
  HARMONICA_RETURN_IF_ERROR(drop_old_records(context_, transaction_, made_));
  changed_ = changed_ || !made_.empty();
  if (changed_) HARMONICA_RETURN_IF_ERROR(commit_changes());
  // Not before: what a commit that fails has not dropped is to be dropped still.
  context_.records_are_within_limits = true;
  return {};
}

Status Attempt::written(std::uint64_t write_number) {
  state_.write_number = write_number;
  changed_ = true;
  // What is still astray has to be seen again.
  if (!plan_.left_astray().empty()) return transaction_.set_anchor({});
  return context_.unsyncable.look_again ? Status() : transaction_.set_anchor(context_.anchor);
}

BatchReport Attempt::take_report() {
  for (const auto& [item, status] : findings_.held_back.failed) report_.failures.push_back({item, status});
  report_.failures.insert(report_.failures.end(), refused_.begin(), refused_.end());
  return std::move(report_);
}

Status Attempt::commit_changes() {
  HARMONICA_RETURN_IF_ERROR(claim_own_ticks(context_, transaction_, std::exchange(made_, {}), knowledge_));
  state_.wanted_whole = {wanted_whole_.begin(), wanted_whole_.end()};
  HARMONICA_RETURN_IF_ERROR(transaction_.set_knowledge(knowledge_));
  HARMONICA_RETURN_IF_ERROR(transaction_.set_forgotten(forgotten_));
  return commit(context_, transaction_, state_);
}

Status Attempt::accept(std::optional<StoredItem> before, StoredItem after) {
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

Status Attempt::leave_nothing_of(const std::optional<StoredItem>& before, StoredItem& erased) {
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

Status Attempt::drop_records_of_erased() {
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

void Attempt::note_made(const std::optional<StoredItem>& before, const Item& after) {
  const Version own{context_.replica, versions_of(after).at(context_.replica)};
  if (knowledge_.contains(after.id, own)) return;
  made_.push_back({after.id, !before && !moved_in_.contains(after.id)});
}

Status Attempt::record_conflicts(Classification& classified) {
  for (ConflictRecord& conflict : classified.conflicts) {
    HARMONICA_RETURN_IF_ERROR(record_conflict(conflict));
  }
  return {};
}

Status Attempt::rehouse(const StoredItem& displaced) {
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

Status Attempt::erase_second(const Item& displaced, const ItemId& second, ViewInput* comes) {
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

Status Attempt::record_differences(const Item& displaced, const Item& kept) {
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

Status Attempt::end_decided() {
  for (const ItemId& item : deferred_) {
    const ConflictId id = deferred_conflict_id(context_.environment, item);
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<ConflictRecord> record, transaction_.find_conflict(id));
    if (!record || !record->deferred || !knowledge_.at(item).contains(versions_of(*record->deferred))) continue;
    HARMONICA_RETURN_IF_ERROR(transaction_.remove_conflict(id));
    changed_ = true;
  }
  return {};
}

Status Attempt::record_conflict(ConflictRecord& conflict) {
  ++report_.conflicts;
  changed_ = true;
  return keep_record(context_, transaction_, conflict, made_);
}

}  // namespace harmonica::kernel
