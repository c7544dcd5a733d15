#include "kernel/schema_memory.h"

#include <algorithm>
#include <string>
#include <utility>

#include "harmonica/extension/provider.h"
#include "harmonica/limits.h"

namespace harmonica {

Status introduce_schemas(Provider& source, Provider& destination) {
  HARMONICA_ASSIGN_OR_RETURN(const Schema of_source, source.schema());
  HARMONICA_ASSIGN_OR_RETURN(const Schema of_destination, destination.meet_schema(of_source));
  return source.meet_schema(of_destination).status();
}

namespace kernel {

std::uint64_t told_fingerprint(const Schema& schema) { return schema.is_empty() ? 0 : schema.fingerprint(); }

Status check_fingerprint(const ReplicaContext& context, std::uint64_t own, std::uint64_t other) {
  if (own == 0 && other == 0) {
    return {
        StatusCode::kUnsupported,
        "neither this replica nor the peer has a store of its own or has met a replica that does, so nobody knows what is "
        "to be synced; sync one of them with such a store first"};
  }
  const std::vector<std::uint64_t>& met = context.schemas_met;
  if (own == other || (own != 0 && other != 0 && std::find(met.begin(), met.end(), other) != met.end())) return {};
  return {StatusCode::kUnsupported, "the peer's schema is not ours (fingerprints " + std::to_string(other) + " and " +
                                        std::to_string(own) + "), and the two have not been introduced to each other"};
}

Result<Schema> meet_schema(ReplicaContext& context, const Schema& peer) {
  Schema own = context.schema();
  if (peer.is_empty() || peer == own) return own;
  HARMONICA_RETURN_IF_ERROR(peer.validate());
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context.metadata.begin(TransactionMode::kWrite));
  HARMONICA_ASSIGN_OR_RETURN(ReplicaState state, transaction->state());
  HARMONICA_RETURN_IF_ERROR(refresh_schemas(context, *transaction, state));
  own = context.schema();
  HARMONICA_ASSIGN_OR_RETURN(SchemaMemory memory, transaction->schemas());
  HARMONICA_ASSIGN_OR_RETURN(Schema joined, joined_schema(own, peer));
  memory.own = context.has_store() ? std::move(own) : std::move(joined);
  const std::uint64_t fingerprint = peer.fingerprint();
  std::erase(memory.compatible, fingerprint);
  if (fingerprint != memory.own.fingerprint()) memory.compatible.push_back(fingerprint);
  if (memory.compatible.size() > limits::kSchemasMetMax) memory.compatible.erase(memory.compatible.begin());
  state.schema_fingerprint = memory.own.fingerprint();
  HARMONICA_RETURN_IF_ERROR(transaction->set_schemas(memory));
  HARMONICA_RETURN_IF_ERROR(commit(context, *transaction, state));
  if (!context.has_store()) context.storeless->take_up(memory.own);
  context.schema_fingerprint = state.schema_fingerprint;
  context.schemas_met = std::move(memory.compatible);
  return std::move(memory.own);
}

Status refresh_schemas(ReplicaContext& context, MetadataTransaction& transaction, const ReplicaState& state) {
  if (state.schema_fingerprint == context.schema_fingerprint) return {};
  if (context.has_store()) {
    return {StatusCode::kUnavailable,
            "another program has opened what is known of this store with another schema meanwhile; open the store again"};
  }
  HARMONICA_ASSIGN_OR_RETURN(SchemaMemory memory, transaction.schemas());
  context.storeless->take_up(std::move(memory.own));
  context.schemas_met = std::move(memory.compatible);
  context.schema_fingerprint = state.schema_fingerprint;
  return {};
}

}  // namespace kernel
}  // namespace harmonica
