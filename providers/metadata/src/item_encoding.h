// The row of an item. Its head comes first, then its index entries, then the rest; what is asked of many items is read
// without what follows it.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
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

struct ItemHead {
  bool alive = false;
  bool shown = false;
  std::vector<NumberedVersion> versions;  // of all registers; sorted, none twice
};

// An index entry; whoever holds the key must outlive it.
struct EntryView {
  IndexKind kind = IndexKind::kStoreKey;
  ByteView key;

  friend std::strong_ordering operator<=>(const EntryView& a, const EntryView& b) {
    if (const auto order = a.kind <=> b.kind; order != 0) return order;
    return as_text(a.key) <=> as_text(b.key);
  }
  friend bool operator==(const EntryView& a, const EntryView& b) { return (a <=> b) == 0; }
};

// Values of units that take more than this stand apart, once for all rows that have them.
inline constexpr std::size_t kContentBytesMin = 4'096;

// The SHA-256 of an encoded value.
using ContentHash = std::array<std::uint8_t, 32>;

// What the other tables have of an item.
struct ItemIndex {
  ItemHead head;
  std::vector<EntryView> entries;     // sorted, none twice
  std::vector<ContentHash> contents;  // of values that stand apart, in the order of their units
};

// `version_places`: where in the head the version of the existence stands, then that of each unit. Of the units whose
// values weigh more than kContentBytesMin only the hashes in `index.contents` are written.
Bytes encode_item(const StoredItem& item, const ItemIndex& index, std::span<const std::size_t> version_places);

// The value that stands apart under a hash; nothing: it is not there, or damaged.
using ReadContent = std::function<std::optional<Value>(const ContentHash&)>;

// Nothing if the row is damaged. The entries are views of it.
std::optional<ItemIndex> decode_index(ByteView row);

// The versions in a head, behind its flags: `visit` is called with one after the other while it returns true.
template <typename Visit>
void decode_versions(Decoder& decoder, const Visit& visit) {
  for (std::size_t left = decoder.count(kVersionBytesMin); left > 0 && decoder.intact(); --left) {
    const auto replica = static_cast<ReplicaNumber>(decoder.number(kReplicaNumberMax));
    const Tick tick = decoder.fixed64();
    if (!visit(NumberedVersion{replica, tick})) return;
  }
}

// Whether any version in a row fulfils the condition; nothing if it is damaged.
template <typename Condition>
std::optional<bool> any_version(ByteView row, const Condition& condition) {
  Decoder decoder(row);
  decoder.byte();
  bool any = false;
  decode_versions(decoder, [&](const NumberedVersion& version) {
    any = condition(version);
    return !any;
  });
  if (!decoder.intact()) return std::nullopt;
  return any;
}

// Reads rows one after the other, in the same memory.
class ItemDecoder {
 public:
  // The item stands here until the next one is decoded, and may be moved away. Null: the row is damaged.
  StoredItem* decode(const ItemId& id, ByteView row, std::span<const ReplicaId> replicas, const ReadContent& read_content);

 private:
  bool decode_row(const ItemId& id, ByteView row, std::span<const ReplicaId> replicas, const ReadContent& read_content);

  StoredItem item_;
  std::vector<Version> versions_;
};

// Keys of an item's entries that hold what stands elsewhere in the row too, and need not stand there again.
struct RowKeys {
  std::optional<ByteView> store_key;
  std::optional<ByteView> child_key;  // a parent's id, and mostly the position behind it

  bool names_parent(const ItemId& parent) const { return parent_of_child_key() == parent; }
  bool names_position(ByteView position) const {
    return child_key.has_value() && child_key->size() >= ItemId::kSize &&
           std::ranges::equal(child_key->subspan(ItemId::kSize), position);
  }
  std::optional<ItemId> parent_of_child_key() const {
    if (!child_key.has_value() || child_key->size() < ItemId::kSize) return std::nullopt;
    return ItemId::from_bytes(child_key->first(ItemId::kSize));
  }

  static RowKeys of(std::span<const EntryView> entries) {
    RowKeys keys;
    for (const EntryView& entry : entries) keys.add(entry);
    return keys;
  }

  // Of several entries of a kind the first counts.
  void add(const EntryView& entry) {
    if (entry.kind == IndexKind::kStoreKey && !store_key.has_value()) store_key = entry.key;
    if (entry.kind == IndexKind::kChild && !child_key.has_value()) child_key = entry.key;
  }
};

// What of something shown is told by the rest of the row already: its item's registers and view, and its keys. For what
// stands alone it is one of nothing.
struct RowContext {
  const Item* item = nullptr;
  const ItemView* view = nullptr;
  RowKeys keys;
};

void encode_shown(Encoder& encoder, const ShownItem& shown, const RowContext& context);
ShownItem decode_shown(Decoder& decoder, const RowContext& context);

}  // namespace harmonica::providers
