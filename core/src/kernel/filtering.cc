#include "kernel/filtering.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "kernel/identity.h"
#include "kernel/item_versions.h"
#include "kernel/write_plan.h"

namespace harmonica::kernel {
namespace {

// Items read or written together: enough to amortise what that costs, few enough to be held in memory.
constexpr std::size_t kTogether = 1'000;

// Puts knowledge together from vectors in the order of ids.
class KnowledgeBuilder {
 public:
  // From `first` on this vector, which must stay where it is.
  void add(const ItemId& first, const ClockVector& vector) {
    const auto [place, is_new] = places_.try_emplace(&vector, static_cast<std::uint32_t>(vectors_.size()));
    if (is_new) vectors_.push_back(vector);
    if (steps_.empty() || steps_.back().vector != place->second) steps_.push_back({first, place->second});
  }

  Result<Knowledge> finish() { return Knowledge::from_steps(std::move(vectors_), std::move(steps_)); }

 private:
  std::unordered_map<const ClockVector*, std::uint32_t> places_;
  std::vector<ClockVector> vectors_;
  std::vector<Knowledge::Step> steps_;
};

void add_item(std::vector<ItemId>& firsts, const ItemId& item) {
  firsts.push_back(item);
  if (const std::optional<ItemId> following = next(item)) firsts.push_back(*following);
}

void add_steps(std::vector<ItemId>& firsts, const Knowledge& knowledge) {
  for (const Knowledge::Step& step : knowledge.steps()) firsts.push_back(step.first);
}

void sort_once(std::vector<ItemId>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

bool contains(const std::vector<ItemId>& sorted, const ItemId& item) {
  return std::binary_search(sorted.begin(), sorted.end(), item);
}

// Whether its own ticks can be claimed for every item: it holds what it knows of, and what it has written of items that
// went out of a filter came back.
Result<bool> claims_everywhere(const ReplicaContext& context, MetadataTransaction& transaction) {
  if (context.filter) return false;
  bool any = false;
  HARMONICA_RETURN_IF_ERROR(
      transaction.scan_ghosts(ItemIdRange::all(), [&](const ItemId&, const ClockVector&) -> Result<Visit> {
        any = true;
        return Visit::kStop;
      }));
  return !any;
}

// What is known where the destination's vector and the source's meet, of an item that is held and of one that is not.
class VectorUnions {
 public:
  const ClockVector& of(const ClockVector& own, const ClockVector& sent) {
    const auto [joined, is_new] = unions_.try_emplace({&own, &sent}, own);
    if (is_new) joined->second.merge(sent);
    return joined->second;
  }

 private:
  std::map<std::pair<const ClockVector*, const ClockVector*>, ClockVector> unions_;
};

Result<Knowledge> known_of_held_only(MetadataTransaction& transaction, const Knowledge& knowledge) {
  static const ClockVector nothing;
  KnowledgeBuilder builder;
  std::optional<ItemId> gap = kFirstItemId;  // up to the next item held
  HARMONICA_RETURN_IF_ERROR(transaction.scan(ItemIdRange::all(), [&](const StoredItem& stored) -> Result<Visit> {
    if (gap && *gap < stored.item.id) builder.add(*gap, nothing);
    builder.add(stored.item.id, knowledge.at(stored.item.id));
    gap = next(stored.item.id);
    return Visit::kContinue;
  }));
  if (gap) builder.add(*gap, nothing);
  return builder.finish();
}

// A deletion that was made and forgotten here, and that nobody may have heard of, would keep an item out for ever: a
// replica with a filter waits until its source knows all that was forgotten.
Status give_up_own_forgotten(MetadataTransaction& transaction, const ReplicaState& state) {
  HARMONICA_ASSIGN_OR_RETURN(const Knowledge forgotten, transaction.forgotten());
  std::vector<ClockVector> vectors;
  for (const ClockVector& vector : forgotten.vectors()) {
    std::vector<ClockVector::Entry> others;
    for (const ClockVector::Entry& entry : vector.entries()) {
      const auto& former = state.former_replicas;
      const bool is_own =
          entry.replica == state.replica || std::find(former.begin(), former.end(), entry.replica) != former.end();
      if (!is_own) others.push_back(entry);
    }
    vectors.emplace_back(std::move(others));
  }
  HARMONICA_ASSIGN_OR_RETURN(const Knowledge left, Knowledge::from_steps(std::move(vectors), {forgotten.steps().begin(),
                                                                                              forgotten.steps().end()}));
  return transaction.set_forgotten(left);
}

// Whether an item matches stands in the index, with every item.
Status index_again(ReplicaContext& context, MetadataTransaction& transaction) {
  IndexQuery query;
  query.kind = IndexKind::kUnwritten;
  HARMONICA_ASSIGN_OR_RETURN(const auto positions, transaction.find_index(query));
  std::set<ItemId> unwritten;
  for (const IndexPosition& position : positions) unwritten.insert(position.item);
  std::optional<ItemId> from = kFirstItemId;
  while (from) {
    std::vector<StoredItem> items;
    HARMONICA_RETURN_IF_ERROR(transaction.scan({*from, last_item_id()}, [&](const StoredItem& stored) -> Result<Visit> {
      items.push_back(stored);
      return items.size() < kTogether ? Visit::kContinue : Visit::kStop;
    }));
    for (const StoredItem& stored : items) {
      const WrittenState written = unwritten.contains(stored.item.id) ? WrittenState::kUnwritten : WrittenState::kWritten;
      HARMONICA_RETURN_IF_ERROR(transaction.put(stored, entries_of(context, stored, written)));
    }
    from = items.size() < kTogether ? std::nullopt : next(items.back().item.id);
  }
  return {};
}

}  // namespace

Status open_filter(ReplicaContext& context) {
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context.metadata.begin(TransactionMode::kRead));
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaState state, transaction->state());
  HARMONICA_ASSIGN_OR_RETURN(context.filter, bind_filter(state.filter, context.schema()));
  return {};
}

Result<Knowledge> with_vectors(const Knowledge& knowledge, const VectorsByItem& vectors) {
  std::vector<ItemId> firsts;
  add_steps(firsts, knowledge);
  for (const auto& [item, vector] : vectors) add_item(firsts, item);
  sort_once(firsts);
  KnowledgeBuilder builder;
  auto exception = vectors.begin();
  for (const ItemId& first : firsts) {
    while (exception != vectors.end() && exception->first < first) ++exception;
    const bool is_here = exception != vectors.end() && exception->first == first;
    builder.add(first, is_here ? exception->second : knowledge.at(first));
  }
  return builder.finish();
}

Status claim_own_ticks(const ReplicaContext& context, MetadataTransaction& transaction, std::vector<MadeItem> made,
                       Knowledge& knowledge) {
  if (made.empty()) return {};
  const Version own{context.replica, context.clock.last()};
  HARMONICA_ASSIGN_OR_RETURN(const bool everywhere, claims_everywhere(context, transaction));
  if (everywhere) {
    knowledge.raise_everywhere(own);
    return {};
  }
  std::sort(made.begin(), made.end(), [](const MadeItem& a, const MadeItem& b) {
    return a.item == b.item ? a.created && !b.created : a.item < b.item;
  });
  VectorsByItem vectors;
  vectors.reserve(made.size());
  for (const MadeItem& one : made) {
    if (!vectors.empty() && vectors.back().first == one.item) continue;
    ClockVector vector;
    if (!one.created || !context.filter) vector = knowledge.at(one.item);
    vector.raise(own);
    vectors.emplace_back(one.item, std::move(vector));
  }
  HARMONICA_ASSIGN_OR_RETURN(knowledge, with_vectors(knowledge, vectors));
  return {};
}

Result<bool> may_create(const ReplicaContext& context, MetadataTransaction& transaction, const ItemId& item) {
  HARMONICA_ASSIGN_OR_RETURN(const ClockVector ghost, transaction.find_ghost(item));
  if (!ghost.empty()) return false;
  if (!context.filter) return true;
  HARMONICA_ASSIGN_OR_RETURN(const Knowledge forgotten, transaction.forgotten());
  return forgotten.at(item).at(context.replica) == 0;
}

Result<MoveIn> move_in(MetadataTransaction& transaction, const ChangeBatch& batch, const ItemChange& change,
                       const Knowledge& knowledge, const Knowledge& forgotten) {
  const ClockVector& known = knowledge.at(change.item);
  const ClockVector& bound = forgotten.at(change.item);
  HARMONICA_ASSIGN_OR_RETURN(const ClockVector ghost, transaction.find_ghost(change.item));
  // A replica that had a filter keeps what bounds the items that are not back yet.
  if (!batch.filter && ghost.empty() && known.contains(bound)) return MoveIn::kOrdinary;
  if (known.contains(versions_of(change)) || !change.whole) return MoveIn::kOrdinary;
  // Nothing comes back with it, whoever sends it.
  if (change.existence.value == Existence::kErased) return MoveIn::kAccepted;
  if (batch.filter && !is_alive(change.existence.value)) return MoveIn::kUnwanted;
  const ClockVector& made_with = batch.made_with.at(change.item);
  return made_with.contains(bound) && made_with.contains(ghost) ? MoveIn::kAccepted : MoveIn::kLeftOut;
}

Result<std::vector<ItemId>> leaving_items(MetadataTransaction& transaction, const ChangeBatch& batch) {
  std::vector<ItemId> leaving = batch.moved_out;
  if (reach_of(batch) != SourceReach::kEverything) return leaving;
  IndexQuery query;
  query.kind = IndexKind::kOutside;
  // All keys are empty: the entries stand in the order of the items.
  if (kFirstItemId < batch.range.first) query.after = IndexPosition{{}, previous(batch.range.first)};
  query.count_max = kTogether;
  while (true) {
    HARMONICA_ASSIGN_OR_RETURN(const auto positions, transaction.find_index(query));
    for (const IndexPosition& position : positions) {
      if (batch.range.contains(position.item) && batch.find(position.item) == nullptr) {
        leaving.push_back(position.item);
      }
    }
    if (positions.size() < kTogether || batch.range.last < positions.back().item) break;
    query.after = positions.back();
  }
  sort_once(leaving);
  return leaving;
}

Result<std::vector<ItemId>> items_since_request(MetadataTransaction& transaction, const Knowledge& asked_with,
                                                const ChangeBatch& batch) {
  std::vector<ItemId> since;
  std::optional<ItemId> from = batch.range.first;
  while (from && *from <= batch.range.last) {
    HARMONICA_ASSIGN_OR_RETURN(const std::vector<ItemId> some,
                               transaction.find_lacking(asked_with, {*from, batch.range.last}, kTogether));
    for (const ItemId& item : some) {
      if (batch.find(item) == nullptr) since.push_back(item);
    }
    from = some.size() < kTogether ? std::nullopt : next(some.back());
  }
  return since;
}

Result<Knowledge> learned_through_filter(MetadataTransaction& transaction, const Knowledge& knowledge,
                                         const ChangeBatch& batch, const std::vector<ItemId>& gone,
                                         const VectorsByItem& exceptions) {
  if (!knowledge.can_merge(batch.made_with, batch.range, 2 * exceptions.size())) {
    return Status(
        StatusCode::kLimitExceeded,
        "what the peer knows differs from item to item so much that it cannot be kept together with what is known "
        "here; sync with other peers first");
  }
  const bool replaces = reach_of(batch) == SourceReach::kEverything;
  std::vector<ItemId> firsts;
  add_steps(firsts, knowledge);
  add_steps(firsts, batch.made_with);
  firsts.push_back(batch.range.first);
  if (const std::optional<ItemId> behind = next(batch.range.last)) firsts.push_back(*behind);
  sort_once(firsts);
  KnowledgeBuilder builder;
  VectorUnions unions;
  for (std::size_t index = 0; index < firsts.size(); ++index) {
    const ItemId& first = firsts[index];
    const ClockVector& own = knowledge.at(first);
    const ClockVector& sent = batch.made_with.at(first);
    if (!batch.range.contains(first) || own.contains(sent)) {
      builder.add(first, own);
      continue;
    }
    if (sent.contains(own)) {
      builder.add(first, sent);
      continue;
    }
    const ClockVector& of_unheld = replaces ? sent : own;
    const ItemId last = index + 1 < firsts.size() ? previous(firsts[index + 1]) : last_item_id();
    std::optional<ItemId> gap = first;  // up to the next item held
    HARMONICA_RETURN_IF_ERROR(transaction.scan({first, last}, [&](const StoredItem& stored) -> Result<Visit> {
      const ItemId& item = stored.item.id;
      if (contains(gone, item)) return Visit::kContinue;
      if (gap && *gap < item) builder.add(*gap, of_unheld);
      builder.add(item, unions.of(own, sent));
      gap = item == last ? std::nullopt : next(item);
      return Visit::kContinue;
    }));
    if (gap) builder.add(*gap, of_unheld);
  }
  HARMONICA_ASSIGN_OR_RETURN(const Knowledge learned, builder.finish());
  return with_vectors(learned, exceptions);
}

Status change_filter(ReplicaContext& context, const std::optional<Filter>& filter) {
  HARMONICA_ASSIGN_OR_RETURN(std::optional<ItemFilter> bound, bind_filter(filter, context.schema()));
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context.metadata.begin(TransactionMode::kWrite));
  HARMONICA_ASSIGN_OR_RETURN(ReplicaState state, transaction->state());
  if (state.filter == filter) return {};
  HARMONICA_ASSIGN_OR_RETURN(Knowledge knowledge, transaction->knowledge());
  HARMONICA_ASSIGN_OR_RETURN(knowledge, known_of_held_only(*transaction, knowledge));
  HARMONICA_RETURN_IF_ERROR(transaction->set_knowledge(knowledge));
  if (!state.has_had_filter) HARMONICA_RETURN_IF_ERROR(give_up_own_forgotten(*transaction, state));
  state.filter = filter;
  state.has_had_filter = true;
  state.wanted_whole.clear();
  std::swap(context.filter, bound);
  Status changed = index_again(context, *transaction);
  if (changed.ok()) changed = commit(context, *transaction, state);
  if (!changed.ok()) std::swap(context.filter, bound);
  return changed;
}

Status heed_lost_versions(ReplicaContext& context, const Version& kept) {
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context.metadata.begin(TransactionMode::kWrite));
  HARMONICA_ASSIGN_OR_RETURN(ReplicaState state, transaction->state());
  if (!state.has_had_filter) return {};
  HARMONICA_ASSIGN_OR_RETURN(const Knowledge knowledge, transaction->knowledge());
  const auto is_beyond = [&](const ClockVector& vector) { return vector.at(kept.replica) > kept.tick; };
  VectorsByItem ghosts;
  HARMONICA_RETURN_IF_ERROR(
      transaction->scan_ghosts(ItemIdRange::all(), [&](const ItemId& item, const ClockVector& versions) -> Result<Visit> {
        if (is_beyond(versions)) ghosts.emplace_back(item, versions);
        return Visit::kContinue;
      }));
  const auto vectors = knowledge.vectors();
  if (ghosts.empty() && std::none_of(vectors.begin(), vectors.end(), is_beyond)) return {};
  for (auto& [item, versions] : ghosts) {
    versions.cap(kept);
    HARMONICA_RETURN_IF_ERROR(transaction->put_ghost(item, versions));
  }
  HARMONICA_ASSIGN_OR_RETURN(const Knowledge of_held, known_of_held_only(*transaction, knowledge));
  HARMONICA_RETURN_IF_ERROR(transaction->set_knowledge(of_held));
  return commit(context, *transaction, state);
}

Result<std::optional<Filter>> filter_to_ask_with(const ReplicaContext& context, MetadataTransaction& transaction,
                                                 const ReplicaState& state) {
  if (!state.filter || !has_told_nobody(state) || context.store.write_unit() != WriteUnit::kWholeStore) return state.filter;
  HARMONICA_ASSIGN_OR_RETURN(const ItemCounts counts, transaction.counts());
  return counts.alive == 0 ? state.filter : std::optional<Filter>();
}

}  // namespace harmonica::kernel
