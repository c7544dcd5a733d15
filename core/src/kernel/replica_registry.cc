#include "kernel/replica_registry.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "harmonica/extension/provider.h"
#include "harmonica/limits.h"
#include "harmonica/utf8.h"
#include "kernel/filtering.h"
#include "kernel/identity.h"

namespace harmonica {

Status introduce_replicas(Provider& source, Provider& destination) {
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaTable of_source, source.meet_replicas(ReplicaTable()));
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaTable of_both, destination.meet_replicas(of_source));
  return source.meet_replicas(of_both).status();
}

Status share_replicas(Provider& source, Provider& destination) {
  if (source.is_far() == destination.is_far()) return {};
  Provider& near = source.is_far() ? destination : source;
  Provider& far = source.is_far() ? source : destination;
  HARMONICA_ASSIGN_OR_RETURN(const std::optional<ReplicaTable> table, near.replicas());
  if (table) far.share_replicas(*table);
  return {};
}

namespace kernel {
namespace {

// The tick after which this replica's changes may be those of a copy, which has just been heard of; nothing if there is
// none.
std::optional<Tick> forked_at(const ReplicaTable& before, const ReplicaTable& after, const ReplicaId& self) {
  std::optional<Tick> fork;
  for (const ReplicaRow& row : after.rows()) {
    if (row.former != self || !row.copied) continue;
    const ReplicaRow* known = before.find(row.replica);
    if (known != nullptr && known->former == self && known->copied) continue;
    fork = std::min(fork.value_or(row.kept), row.kept);
  }
  return fork;
}

}  // namespace

Status announce(MetadataTransaction& transaction, const ReplicaRow& row) {
  HARMONICA_ASSIGN_OR_RETURN(ReplicaTable table, transaction.replicas());
  HARMONICA_ASSIGN_OR_RETURN(const bool changed, table.merge(row));
  return changed ? transaction.set_replicas(table) : Status();
}

Status name_device(ReplicaContext& context, const std::string& name) {
  if (name.empty()) return {};
  if (valid_utf8_length(name) != name.size()) {
    return {StatusCode::kInvalidArgument, "the name of this device is not UTF-8"};
  }
  HARMONICA_ASSIGN_OR_RETURN(auto transaction, context.metadata.begin(TransactionMode::kRead));
  HARMONICA_ASSIGN_OR_RETURN(ReplicaTable table, transaction->replicas());
  const ReplicaRow* own = table.find(context.replica);
  if (own != nullptr && own->name == name) return {};
  ReplicaRow row;
  row.replica = context.replica;
  row.name = name;
  row.named_ms = std::max(context.environment.wall_clock_ms(), own == nullptr ? 0 : own->named_ms + 1);
  transaction.reset();
  HARMONICA_ASSIGN_OR_RETURN(transaction, context.metadata.begin(TransactionMode::kWrite));
  HARMONICA_RETURN_IF_ERROR(announce(*transaction, row));
  return transaction->commit();
}

Result<ReplicaTable> meet_replicas(ReplicaContext& context, const ReplicaTable& peer) {
  ReplicaTable before;
  ReplicaTable after;
  {
    HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context.metadata.begin(TransactionMode::kRead));
    HARMONICA_ASSIGN_OR_RETURN(before, transaction->replicas());
    after = before;
    HARMONICA_ASSIGN_OR_RETURN(const bool changed, after.merge(peer));
    if (!changed) return after;
  }
  for (const ReplicaRow& row : after.rows()) {
    const ReplicaRow* known = before.find(row.replica);
    if (row.former.is_zero() || (known != nullptr && known->former == row.former)) continue;
    HARMONICA_RETURN_IF_ERROR(heed_lost_versions(context, {row.former, row.kept}));
  }
  // First what follows from the table: then it is found again if the power fails before the table is kept.
  if (const std::optional<Tick> fork = forked_at(before, after, context.replica)) {
    // Under the old id either may have gone further than the other.
    HARMONICA_RETURN_IF_ERROR(become_another(context, {*fork, "was copied: another copy of it was found out", false}));
  } else if (const ReplicaRow* own = after.find(context.replica); own != nullptr && own->retired) {
    HARMONICA_RETURN_IF_ERROR(become_another(context, {own->last, "has been retired", false}));
  }
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context.metadata.begin(TransactionMode::kWrite));
  HARMONICA_ASSIGN_OR_RETURN(ReplicaTable table, transaction->replicas());
  HARMONICA_ASSIGN_OR_RETURN(const bool changed, table.merge(after));
  if (!changed) return table;
  HARMONICA_RETURN_IF_ERROR(transaction->set_replicas(table));
  HARMONICA_RETURN_IF_ERROR(transaction->commit());
  return table;
}

Status retire(ReplicaContext& context, const ReplicaId& replica) {
  if (replica == context.replica) {
    return {StatusCode::kInvalidArgument, "replica " + replica.to_text() + " is this one: retire it from another device"};
  }
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context.metadata.begin(TransactionMode::kWrite));
  HARMONICA_ASSIGN_OR_RETURN(const Knowledge knowledge, transaction->knowledge());
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaTable table, transaction->replicas());
  HARMONICA_ASSIGN_OR_RETURN(const std::optional<Peer> met, transaction->find_peer(replica));
  ReplicaRow row;
  row.replica = replica;
  row.retired = true;
  row.last = knowledge.greatest_tick(replica);
  const bool was_somebody = std::any_of(table.rows().begin(), table.rows().end(),
                                        [&](const ReplicaRow& other) { return other.former == replica; });
  if (row.last == 0 && table.find(replica) == nullptr && !was_somebody && !met) {
    return {StatusCode::kNotFound, "replica " + replica.to_text() + ": nobody has heard of it here"};
  }
  HARMONICA_RETURN_IF_ERROR(announce(*transaction, row));
  return transaction->commit();
}

Result<std::vector<Device>> devices(ReplicaContext& context) {
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context.metadata.begin(TransactionMode::kRead));
  HARMONICA_ASSIGN_OR_RETURN(const Knowledge knowledge, transaction->knowledge());
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaTable table, transaction->replicas());
  HARMONICA_ASSIGN_OR_RETURN(const std::vector<Peer> peers, transaction->peers());
  std::map<ReplicaId, Device> found;
  const auto at = [&](const ReplicaId& replica) -> Device& {
    Device& device = found[replica];
    device.replica = replica;
    return device;
  };
  at(context.replica).is_self = true;
  for (const ClockVector& vector : knowledge.vectors()) {
    for (const ClockVector::Entry& entry : vector.entries()) {
      Device& device = at(entry.replica);
      device.last_change = std::max(device.last_change, entry.tick);
    }
  }
  for (const ReplicaRow& row : table.rows()) {
    Device& device = at(row.replica);
    device.name = row.name;
    device.former = row.former;
    device.is_retired = row.retired;
    device.is_copy = row.copied;
    if (!row.former.is_zero()) at(row.former).successor = row.replica;
  }
  for (const Peer& peer : peers) at(peer.replica).last_session_ms = peer.last_session_ms;
  std::vector<Device> devices;
  devices.reserve(found.size());
  devices.push_back(found.at(context.replica));
  for (auto& [replica, device] : found) {
    if (!device.is_self) devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace kernel
}  // namespace harmonica
