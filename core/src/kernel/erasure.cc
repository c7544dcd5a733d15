#include "kernel/erasure.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "kernel/id_hash.h"
#include "kernel/view_index.h"
#include "kernel/views.h"

namespace harmonica::kernel {
namespace {

// Rule R14: what is not younger than what was forgotten here is made anew, so that it is the greatest that anybody knows.
ExistenceRegister arriving(const ClassifierInput& input, const std::function<Version()>& mint, std::uint64_t& minted) {
  const ExistenceRegister& sent = input.change.existence;
  const bool is_younger = sent.version.tick > input.forgotten.greatest_tick();
  if (is_younger || input.made_with.contains(input.forgotten)) return sent;
  ++minted;
  return {mint(), Existence::kErased};
}

// Rule R8, with the one outcome that there is.
ExistenceRegister met(const ClassifierInput& input, const std::function<Version()>& mint, std::uint64_t& minted) {
  const ExistenceRegister& held = input.local->existence;
  const ExistenceRegister& sent = input.change.existence;
  const bool sent_is_greater = sent.version > held.version;
  if (sent.value == Existence::kErased && (sent_is_greater || input.made_with.contains(held.version))) return sent;
  if (held.value == Existence::kErased && !sent_is_greater) return held;
  ++minted;
  return {mint(), Existence::kErased};
}

using ChildrenByParent = std::unordered_map<ItemId, std::vector<ItemId>, IdHash>;

// Where items would be shown by what their parents' units say (rule R41).
Result<ChildrenByParent> children_without_views(const Schema& schema, MetadataTransaction& transaction) {
  std::unordered_set<ItemId, IdHash> living;
  std::vector<std::pair<ItemId, std::vector<ItemId>>> listed;
  HARMONICA_RETURN_IF_ERROR(transaction.scan(ItemIdRange::all(), [&](const StoredItem& stored) -> Result<Visit> {
    if (!is_living(schema, stored.item)) return Visit::kContinue;
    living.insert(stored.item.id);
    const auto ancestors = counted_ancestors(*schema.find_type(stored.item.type), stored.item);
    if (!ancestors.empty()) listed.emplace_back(stored.item.id, std::vector<ItemId>(ancestors.begin(), ancestors.end()));
    return Visit::kContinue;
  }));
  ChildrenByParent children;
  for (const auto& [item, ancestors] : listed) {
    const auto parent = std::find_if(ancestors.begin(), ancestors.end(), [&](const ItemId& ancestor) {
      return living.contains(ancestor) || schema.is_root(ancestor);
    });
    if (parent != ancestors.end()) children[*parent].push_back(item);
  }
  return children;
}

Result<std::vector<ItemId>> shown_children(MetadataTransaction& transaction, const ItemId& parent) {
  IndexQuery query;
  query.kind = IndexKind::kChild;
  query.prefix = child_index_key(parent, {});
  HARMONICA_ASSIGN_OR_RETURN(const auto positions, transaction.find_index(query));
  std::vector<ItemId> children;
  children.reserve(positions.size());
  for (const IndexPosition& position : positions) children.push_back(position.item);
  return children;
}

}  // namespace

Classification meet_erasure(const ClassifierInput& input, const std::function<Version()>& mint) {
  Classification result;
  const ExistenceRegister& sent = input.change.existence;
  if (input.local != nullptr && input.local->existence.version == sent.version &&
      input.local->existence.value != sent.value) {
    result.outcome = Outcome::kRefused;
    result.refusal = {StatusCode::kCorruption, "the item's existence has two contents under the version " +
                                                   sent.version.to_text() +
                                                   ": that replica was copied together with its metadata, or the peer is "
                                                   "damaged"};
    return result;
  }
  if (input.known.contains(sent.version)) return result;
  result.item.id = input.change.item;
  result.item.type = input.change.type;
  result.item.existence = input.local == nullptr ? arriving(input, mint, result.minted) : met(input, mint, result.minted);
  const bool is_changed = input.local == nullptr || result.item.existence != input.local->existence;
  result.outcome = is_changed ? Outcome::kApplied : Outcome::kUnchanged;
  return result;
}

StoredItem erased_item(const StoredItem& before, const Version& version) {
  StoredItem erased;
  erased.item.id = before.item.id;
  erased.item.type = before.item.type;
  erased.item.existence = {version, Existence::kErased};
  erased.view = before.view;
  erased.shown = before.shown;
  return erased;
}

Result<std::vector<ItemId>> items_to_erase(const ReplicaContext& context, MetadataTransaction& transaction,
                                           const ItemId& item) {
  ChildrenByParent without_views;
  if (!context.has_store()) {
    HARMONICA_ASSIGN_OR_RETURN(without_views, children_without_views(context.schema(), transaction));
  }
  std::vector<ItemId> items = {item};
  std::unordered_set<ItemId, IdHash> seen = {item};
  for (std::size_t next = 0; next < items.size(); ++next) {
    std::vector<ItemId> children;
    if (context.has_store()) {
      HARMONICA_ASSIGN_OR_RETURN(children, shown_children(transaction, items[next]));
    } else {
      children = without_views[items[next]];
    }
    for (const ItemId& child : children) {
      if (seen.insert(child).second) items.push_back(child);
    }
  }
  return items;
}

}  // namespace harmonica::kernel
