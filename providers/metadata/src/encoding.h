// Facts, conflict records and prepared items as bytes. Whatever reads treats the bytes as hostile.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "harmonica/bytes.h"
#include "harmonica/extension/metadata_store.h"

namespace harmonica::providers {

Bytes encode_knowledge(const Knowledge& knowledge);
std::optional<Knowledge> decode_knowledge(ByteView bytes);

Bytes encode_state(const ReplicaState& state);
std::optional<ReplicaState> decode_state(ByteView bytes);

Bytes encode_schemas(const SchemaMemory& schemas);
std::optional<SchemaMemory> decode_schemas(ByteView bytes);
Bytes encode_lineage(std::span<const LineageMark> lineage);
std::optional<std::vector<LineageMark>> decode_lineage(ByteView bytes);

Bytes encode_replicas(const ReplicaTable& replicas);
std::optional<ReplicaTable> decode_replicas(ByteView bytes);

Bytes encode_peer(const Peer& peer);
std::optional<Peer> decode_peer(ByteView bytes);
// What a replica has or had of filters.
struct FilterFact {
  std::optional<Filter> filter;
  bool has_had_filter = false;
};
Bytes encode_filter(const FilterFact& fact);
std::optional<FilterFact> decode_filter(ByteView bytes);

Bytes encode_vector(const ClockVector& vector);
std::optional<ClockVector> decode_vector(ByteView bytes);

Bytes encode_counts(const ItemCounts& counts);
std::optional<ItemCounts> decode_counts(ByteView bytes);

Bytes encode_conflict(const ConflictRecord& record);
std::optional<ConflictRecord> decode_conflict(ByteView bytes);

Bytes encode_prepared_items(std::span<const PreparedItem> items);
std::optional<std::vector<PreparedItem>> decode_prepared_items(ByteView bytes);

}  // namespace harmonica::providers
