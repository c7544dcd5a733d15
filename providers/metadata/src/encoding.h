// The bytes in the columns of the database. Local to one database: versions of items name replicas by the numbers that its
// table `replicas` gives them. Whatever reads treats the bytes as hostile.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "byte_coding.h"
#include "harmonica/bytes.h"
#include "harmonica/extension/metadata_store.h"

namespace harmonica::providers {

// A replica's row in the table `replicas`; counts from 1.
using ReplicaNumber = std::uint32_t;

inline constexpr std::uint64_t kReplicaNumberMax = UINT32_MAX;
inline constexpr std::size_t kVersionBytesMin = 9;

struct NumberedVersion {
  ReplicaNumber replica = 0;
  Tick tick = 0;
  friend auto operator<=>(const NumberedVersion&, const NumberedVersion&) = default;
};

// What is asked of an item often, kept in a column before the others so that it is read without them.
struct ItemHead {
  bool alive = false;
  bool shown = false;
  std::vector<NumberedVersion> versions;  // of all registers; sorted, none twice
};

Bytes encode_head(const ItemHead& head);
std::optional<ItemHead> decode_head(ByteView bytes);

// Whether any version of an encoded head fulfils the condition; nothing if the head is damaged.
template <typename Condition>
std::optional<bool> any_version(ByteView head, const Condition& condition) {
  Decoder decoder(head);
  decoder.byte();
  bool any = false;
  for (std::size_t left = decoder.count(kVersionBytesMin); left > 0 && !any; --left) {
    const auto replica = static_cast<ReplicaNumber>(decoder.number(kReplicaNumberMax));
    const Tick tick = decoder.fixed64();
    any = condition(NumberedVersion{replica, tick});
  }
  if (!decoder.intact()) return std::nullopt;
  return any;
}

// Everything but the id and the versions. `version_places`: where in the head the version of the existence stands, then
// that of each unit.
Bytes encode_body(const StoredItem& item, std::span<const std::size_t> version_places);
std::optional<StoredItem> decode_body(const ItemId& id, const ItemHead& head, std::span<const ReplicaId> replicas,
                                      ByteView bytes);

// Sorted, none twice.
Bytes encode_entries(std::span<const IndexEntry> entries);
std::optional<std::vector<IndexEntry>> decode_entries(ByteView bytes);

Bytes encode_knowledge(const Knowledge& knowledge);
std::optional<Knowledge> decode_knowledge(ByteView bytes);

Bytes encode_state(const ReplicaState& state);
std::optional<ReplicaState> decode_state(ByteView bytes);

Bytes encode_counts(const ItemCounts& counts);
std::optional<ItemCounts> decode_counts(ByteView bytes);

Bytes encode_conflict(const ConflictRecord& record);
std::optional<ConflictRecord> decode_conflict(ByteView bytes);

Bytes encode_prepared_items(std::span<const PreparedItem> items);
std::optional<std::vector<PreparedItem>> decode_prepared_items(ByteView bytes);

}  // namespace harmonica::providers
