#include "kernel/acknowledgement.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace harmonica::kernel {
namespace {

// Everybody else whose changes may still come.
std::set<ReplicaId> others(const ReplicaState& state, const Knowledge& knowledge, const ReplicaTable& table,
                           const std::vector<Peer>& peers) {
  std::set<ReplicaId> replicas;
  for (const ClockVector& vector : knowledge.vectors()) {
    for (const ClockVector::Entry& entry : vector.entries()) replicas.insert(entry.replica);
  }
  for (const ReplicaRow& row : table.rows()) replicas.insert(row.replica);
  for (const Peer& peer : peers) replicas.insert(peer.replica);
  for (const ReplicaRow& row : table.rows()) {
    if (row.retired) replicas.erase(row.replica);
    replicas.erase(row.former);
  }
  for (const ReplicaId& former : state.former_replicas) replicas.erase(former);
  replicas.erase(state.replica);
  return replicas;
}

}  // namespace

ClockVector known_of_every_item(const Knowledge& knowledge) {
  std::optional<ClockVector> least;
  for (const ClockVector& vector : knowledge.vectors()) least = least ? common(*least, vector) : vector;
  return least.value_or(ClockVector());
}

bool heeds_acknowledgements(const ReplicaContext& context) {
  if (context.options.forget_acknowledged) return true;
  const std::vector<ItemType>& types = context.schema().types;
  return std::any_of(types.begin(), types.end(), [](const ItemType& type) {
    return std::any_of(type.units.begin(), type.units.end(),
                       [&](const Unit& unit) { return type.rule_of(unit) == ConflictRule::kTextMerge; });
  });
}

Result<ClockVector> acknowledged_by_all(ReplicaContext& context, MetadataTransaction& transaction) {
  if (!heeds_acknowledgements(context)) return ClockVector();
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaState state, transaction.state());
  HARMONICA_ASSIGN_OR_RETURN(const Knowledge knowledge, transaction.knowledge());
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaTable table, transaction.replicas());
  HARMONICA_ASSIGN_OR_RETURN(const std::vector<Peer> peers, transaction.peers());
  ClockVector all = known_of_every_item(knowledge);
  for (const ReplicaId& replica : others(state, knowledge, table, peers)) {
    const auto met = std::find_if(peers.begin(), peers.end(), [&](const Peer& peer) { return peer.replica == replica; });
    if (met == peers.end()) return ClockVector();
    all = common(all, met->acknowledged);
  }
  return all;
}

}  // namespace harmonica::kernel
