#include "kernel/change_applier.h"

#include <algorithm>
#include <set>
#include <utility>

#include "harmonica/limits.h"
#include "kernel/attempt.h"
#include "kernel/erasure.h"
#include "kernel/first_contact.h"

namespace harmonica::kernel {
namespace {

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
      context.has_erased = context.has_erased || attempt.has_erased();
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
      context.has_erased = context.has_erased || attempt.has_erased();
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

Status wipe_erased(ReplicaContext& context) {
  if (!context.has_erased) return {};
  context.has_erased = false;
  return context.metadata.wipe_removed();
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
  HARMONICA_RETURN_IF_ERROR(wipe_erased(context));
  return items;
}

}  // namespace harmonica::kernel
