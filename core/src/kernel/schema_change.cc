#include "kernel/schema_change.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "kernel/schema_memory.h"
#include "kernel/view_index.h"
#include "kernel/views.h"
#include "kernel/write_plan.h"

namespace harmonica::kernel {
namespace {

// Items whose views are made together.
constexpr std::size_t kChangedAtOnce = 8'192;

// One change of the schema, in one transaction.
class SchemaChange {
 public:
  SchemaChange(ReplicaContext& context, MetadataTransaction& transaction, const Schema& former)
      : context_(context), transaction_(transaction), former_(former) {}

  Status run() {
    HARMONICA_ASSIGN_OR_RETURN(const auto marked, transaction_.find_index({IndexKind::kNewlyKnown, {}, {}}));
    for (const IndexPosition& position : marked) marked_.emplace(position.item, position.key);
    HARMONICA_RETURN_IF_ERROR(for_each_part([&](std::vector<StoredItem> items) { return clear_views(std::move(items)); }));
    return for_each_part([&](std::vector<StoredItem> items) { return make_views(std::move(items)); });
  }

 private:
  template <typename Visit_>
  Status for_each_part(const Visit_& visit) {
    std::optional<ItemId> first = kFirstItemId;
    while (first) {
      std::vector<StoredItem> items;
      HARMONICA_RETURN_IF_ERROR(transaction_.scan({*first, last_item_id()}, [&](const StoredItem& stored) -> Result<Visit> {
        items.push_back(stored);
        return items.size() < kChangedAtOnce ? Visit::kContinue : Visit::kStop;
      }));
      first = items.size() < kChangedAtOnce ? std::nullopt : next(items.back().item.id);
      HARMONICA_RETURN_IF_ERROR(visit(std::move(items)));
    }
    return {};
  }

  // As if nothing were living: then every view is made as that of a new item.
  Status clear_views(std::vector<StoredItem> items) {
    for (StoredItem& stored : items) {
      stored.view = {};
      std::vector<IndexEntry> entries;
      if (stored.shown) {
        entries.push_back({IndexKind::kStoreKey, Bytes(stored.shown->key.begin(), stored.shown->key.end())});
        forget_unknown_values(stored);
      }
      HARMONICA_RETURN_IF_ERROR(transaction_.put(stored, entries));
    }
    return {};
  }

  // The store shows them no more, and may have something else in their place when it does again.
  void forget_unknown_values(StoredItem& stored) const {
    const ItemType* type = context_.schema().find_type(stored.item.type);
    if (type == nullptr) return;
    std::erase_if(stored.shown->values, [&](const UnitValue& value) { return type->find_unit(value.unit) == nullptr; });
  }

  Status make_views(std::vector<StoredItem> items) {
    std::vector<ViewInput> inputs;
    inputs.reserve(items.size());
    for (StoredItem& stored : items) inputs.push_back({std::nullopt, std::move(stored)});
    HARMONICA_ASSIGN_OR_RETURN(const std::vector<StoredItem> made,
                               update_views(context_.schema(), transaction_, std::move(inputs)));
    for (const StoredItem& stored : made) HARMONICA_RETURN_IF_ERROR(put(stored));
    return {};
  }

  Status put(const StoredItem& stored) {
    const bool is_known = context_.schema().find_type(stored.item.type) != nullptr;
    const bool is_written = !is_known || desired_shown(context_, stored, StoreKey()) == stored.shown;
    std::vector<IndexEntry> entries =
        entries_of(context_, stored, is_written ? WrittenState::kWritten : WrittenState::kUnwritten);
    if (const std::optional<Bytes> mark = mark_of(stored)) entries.push_back({IndexKind::kNewlyKnown, *mark});
    return transaction_.put(stored, entries);
  }

  // Of what the store may show something that was not looked at under the former schema.
  std::optional<Bytes> mark_of(const StoredItem& stored) const {
    if (!stored.shown) return std::nullopt;
    const ItemType* now = context_.schema().find_type(stored.item.type);
    const ItemType* before = former_.find_type(stored.item.type);
    if (now != nullptr && before == nullptr) return newly_known_type_key();
    if (const auto marked = marked_.find(stored.item.id); marked != marked_.end()) return marked->second;
    const bool any_unit = now != nullptr && std::any_of(now->units.begin(), now->units.end(), [&](const Unit& unit) {
                            return before->find_unit(unit.id) == nullptr;
                          });
    return any_unit ? std::optional(Bytes()) : std::nullopt;
  }

  ReplicaContext& context_;
  MetadataTransaction& transaction_;
  const Schema& former_;
  std::map<ItemId, Bytes> marked_;  // since an earlier change, and not looked at yet
};

}  // namespace

Status open_schema(ReplicaContext& context) {
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context.metadata.begin(TransactionMode::kWrite));
  HARMONICA_ASSIGN_OR_RETURN(ReplicaState state, transaction->state());
  HARMONICA_ASSIGN_OR_RETURN(SchemaMemory memory, transaction->schemas());
  if (!context.has_store()) {
    context.storeless->take_up(std::move(memory.own));
    context.schema_fingerprint = state.schema_fingerprint;
    context.schemas_met = std::move(memory.compatible);
    return {};
  }
  context.schema_fingerprint = context.schema().fingerprint();
  if (memory.own == context.schema()) {
    context.schemas_met = std::move(memory.compatible);
    return {};
  }
  const bool is_new = state.schema_fingerprint == 0 && memory.own.is_empty();
  if (!is_new && memory.own.is_empty() && state.schema_fingerprint != context.schema_fingerprint) {
    return {StatusCode::kUnsupported, "the metadata belongs to a store with another schema (fingerprints " +
                                          std::to_string(state.schema_fingerprint) + " and " +
                                          std::to_string(context.schema_fingerprint) +
                                          "), and were made by an app that did "
                                          "not keep it; open them with that app in its newest version first"};
  }
  if (!is_new && state.schema_fingerprint != context.schema_fingerprint) {
    HARMONICA_RETURN_IF_ERROR(check_compatible(context.schema(), memory.own)
                                  .within("the schema of this app (here) and the one that the store was last opened with "
                                          "(there)"));
    HARMONICA_RETURN_IF_ERROR(SchemaChange(context, *transaction, memory.own).run());
    HARMONICA_RETURN_IF_ERROR(transaction->set_anchor({}));
    context.anchor.clear();
  } else {
    context.schemas_met = memory.compatible;
  }
  state.schema_fingerprint = context.schema_fingerprint;
  HARMONICA_RETURN_IF_ERROR(transaction->set_schemas({context.schema(), context.schemas_met}));
  return commit(context, *transaction, state);
}

}  // namespace harmonica::kernel
