#include "kernel/tombstone_cleaner.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "harmonica/limits.h"
#include "kernel/acknowledgement.h"
#include "kernel/adoption.h"
#include "kernel/filtering.h"
#include "kernel/item_versions.h"
#include "kernel/view_index.h"
#include "kernel/views.h"
#include "kernel/write_plan.h"

namespace harmonica::kernel {
namespace {

IndexQuery oldest_tombstones(std::size_t count_max) {
  IndexQuery query;
  query.kind = IndexKind::kTombstone;
  query.count_max = count_max;
  return query;
}

// A tick up to which deletions are old enough; nothing if none can be.
std::optional<Tick> due_up_to(ReplicaContext& context) {
  const std::int64_t latest_ms = context.environment.wall_clock_ms() - context.options.tombstone_retention_ms;
  if (latest_ms < 0) return std::nullopt;
  return first_tick_of(latest_ms + 1) - 1;
}

// Whether something still refers to the tombstone: the store, or a conflict that waits for a person.
Result<bool> is_in_use(ReplicaContext& context, MetadataTransaction& transaction, const StoredItem& stored) {
  if (stored.shown || context.astray.contains(stored.item.id)) return true;
  const ConflictId waiting = deferred_conflict_id(context.environment, stored.item.id);
  HARMONICA_ASSIGN_OR_RETURN(const std::optional<ConflictRecord> record, transaction.find_conflict(waiting));
  return record.has_value();
}

// Rule R13.
Status forget(MetadataTransaction& transaction, Knowledge& forgotten, const Item& tombstone) {
  forgotten.merge_at(tombstone.id, versions_of(tombstone));
  return transaction.remove(tombstone.id);
}

}  // namespace

Knowledge coarsened(const Knowledge& forgotten, const Knowledge& known) {
  ClockVector all;
  for (const ClockVector& vector : forgotten.vectors()) all.merge(vector);
  std::vector<ClockVector> vectors;
  vectors.reserve(known.vectors().size());
  for (const ClockVector& vector : known.vectors()) vectors.push_back(common(all, vector));
  Result<Knowledge> coarse =
      Knowledge::from_steps(std::move(vectors), std::vector<Knowledge::Step>(known.steps().begin(), known.steps().end()));
  return coarse.ok() ? *std::move(coarse) : forgotten;
}

Knowledge clipped_to(const Knowledge& forgotten, const Knowledge& known) {
  if (known.contains(forgotten)) return forgotten;
  std::vector<ItemId> firsts;
  for (const Knowledge* each : {&forgotten, &known}) {
    for (const Knowledge::Step& step : each->steps()) firsts.push_back(step.first);
  }
  std::sort(firsts.begin(), firsts.end());
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  std::vector<ClockVector> vectors;
  std::vector<Knowledge::Step> steps;
  for (const ItemId& first : firsts) {
    ClockVector vector = common(forgotten.at(first), known.at(first));
    if (vectors.empty() || vectors.back() != vector) {
      steps.push_back({first, static_cast<std::uint32_t>(vectors.size())});
      vectors.push_back(std::move(vector));
    }
  }
  Result<Knowledge> result = Knowledge::from_steps(std::move(vectors), std::move(steps));
  return result.ok() ? *std::move(result) : Knowledge();
}

Status clean_tombstones(ReplicaContext& context) {
  const std::optional<Tick> bound = due_up_to(context);
  const auto is_old = [&](const IndexPosition& position) { return bound && tombstone_tick(position.key) <= *bound; };
  const ClockVector before = context.acknowledged;
  {
    HARMONICA_ASSIGN_OR_RETURN(const auto look, context.metadata.begin(TransactionMode::kRead));
    HARMONICA_ASSIGN_OR_RETURN(context.acknowledged, acknowledged_by_all(context, *look));
    HARMONICA_ASSIGN_OR_RETURN(const auto oldest, look->find_index(oldest_tombstones(1)));
    if (oldest.empty()) return {};
    HARMONICA_ASSIGN_OR_RETURN(const ReplicaState state, look->state());
    if (state.has_had_filter) return {};
    const bool is_news = context.options.forget_acknowledged && context.acknowledged != before;
    if (!is_news && !is_old(oldest.front())) return {};
  }
  const auto is_passed = [&](const StoredItem& stored) {
    return context.options.forget_acknowledged && context.acknowledged.contains(versions_of(stored.item));
  };
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context.metadata.begin(TransactionMode::kWrite));
  HARMONICA_ASSIGN_OR_RETURN(ReplicaState state, transaction->state());
  HARMONICA_ASSIGN_OR_RETURN(const Knowledge known, transaction->knowledge());
  HARMONICA_ASSIGN_OR_RETURN(Knowledge forgotten, transaction->forgotten());
  HARMONICA_ASSIGN_OR_RETURN(const auto oldest, transaction->find_index(oldest_tombstones(limits::kTombstonesCleanedMax)));
  bool any = false;
  for (const IndexPosition& position : oldest) {
    if (!is_old(position) && !context.options.forget_acknowledged) break;
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction->find(position.item));
    if (!stored || stored->item.alive()) {
      return {StatusCode::kInternal, "item " + position.item.to_text() + " is listed as deleted and is not"};
    }
    if (!is_old(position) && !is_passed(*stored)) continue;
    HARMONICA_ASSIGN_OR_RETURN(const bool in_use, is_in_use(context, *transaction, *stored));
    if (in_use) continue;
    HARMONICA_RETURN_IF_ERROR(forget(*transaction, forgotten, stored->item));
    any = true;
  }
  if (!any) return {};
  if (forgotten.steps().size() > limits::kForgottenStepsMax) {
    Knowledge coarse = coarsened(forgotten, known);
    if (coarse.steps().size() < forgotten.steps().size()) forgotten = std::move(coarse);
  }
  HARMONICA_RETURN_IF_ERROR(transaction->set_forgotten(forgotten));
  return commit(context, *transaction, state);
}

Result<bool> clean_acknowledged(ReplicaContext& context, MetadataTransaction& transaction, const ChangeBatch& batch,
                                Knowledge& forgotten) {
  const std::optional<Tick> bound = due_up_to(context);
  if (!bound || reach_of(batch) != SourceReach::kEverything) return false;
  HARMONICA_ASSIGN_OR_RETURN(const auto oldest, transaction.find_index(oldest_tombstones(limits::kTombstonesCleanedMax)));
  bool any = false;
  for (const IndexPosition& position : oldest) {
    if (tombstone_tick(position.key) > *bound) break;
    if (!batch.range.contains(position.item) || batch.find(position.item) != nullptr) continue;
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction.find(position.item));
    if (!stored || !batch.made_with.at(position.item).contains(versions_of(stored->item))) continue;
    HARMONICA_ASSIGN_OR_RETURN(const bool in_use, is_in_use(context, transaction, *stored));
    if (in_use) continue;
    HARMONICA_RETURN_IF_ERROR(forget(transaction, forgotten, stored->item));
    any = true;
  }
  return any;
}

Status index_tombstones(ReplicaContext& context) {
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context.metadata.begin(TransactionMode::kWrite));
  HARMONICA_ASSIGN_OR_RETURN(const ItemCounts counts, transaction->counts());
  if (counts.deleted == 0) return {};
  HARMONICA_ASSIGN_OR_RETURN(const auto indexed, transaction->find_index(oldest_tombstones(1)));
  HARMONICA_ASSIGN_OR_RETURN(const auto erased, transaction->find_index({IndexKind::kErased, {}, {}}));
  if (!indexed.empty() || !erased.empty()) return {};
  std::vector<StoredItem> tombstones;
  HARMONICA_RETURN_IF_ERROR(transaction->scan(ItemIdRange::all(), [&](const StoredItem& stored) -> Result<Visit> {
    if (!stored.item.alive()) tombstones.push_back(stored);
    return Visit::kContinue;
  }));
  for (const StoredItem& stored : tombstones) {
    const WrittenState written = stored.shown ? WrittenState::kUnwritten : WrittenState::kWritten;
    HARMONICA_RETURN_IF_ERROR(transaction->put(stored, entries_of(context, stored, written)));
  }
  return transaction->commit();
}

}  // namespace harmonica::kernel
