#include "item_encoding.h"

#include <algorithm>
#include <utility>

#include "harmonica/limits.h"
#include "value_encoding.h"

namespace harmonica::providers {
namespace {

constexpr std::uint8_t kAliveFlag = 1;
constexpr std::uint8_t kShownFlag = 2;
constexpr std::uint8_t kBasesFlag = 4;
constexpr std::uint8_t kContentsFlag = 8;
constexpr std::uint8_t kHeadFlags = kAliveFlag | kShownFlag | kBasesFlag | kContentsFlag;

constexpr std::uint8_t kVisibleFlag = 1;
constexpr std::uint8_t kParkedFlag = 2;
constexpr std::uint8_t kEvictedFlag = 4;
constexpr std::uint8_t kParentFlag = 8;
constexpr std::uint8_t kSkippedFlag = 16;
constexpr std::uint8_t kSuffixFlag = 32;
constexpr std::uint8_t kParentOfChildKeyFlag = 64;
constexpr std::uint8_t kViewFlags = 127;

constexpr std::uint8_t kKnownKeyFlag = 1;
constexpr std::uint8_t kKnownParentFlag = 2;
constexpr std::uint8_t kKnownPositionFlag = 4;
constexpr std::uint8_t kShownFlags = 7;

constexpr std::size_t kBaseBytesMin = 27;

// In place of the kind of a value: what is shown is what the register holds, as nearly always.
constexpr std::uint8_t kSameAsRegister = 0x80;
// The value stands apart, under the next hash of the row.
constexpr std::uint8_t kStandsApart = 0x81;

void encode_view(Encoder& encoder, const ItemView& view, const RowKeys& keys) {
  const bool parent_known = keys.names_parent(view.parent);
  std::uint8_t flags = 0;
  if (view.visible) flags |= kVisibleFlag;
  if (view.parked) flags |= kParkedFlag;
  if (view.evicted) flags |= kEvictedFlag;
  if (parent_known) flags |= kParentOfChildKeyFlag;
  if (!parent_known && !view.parent.is_zero()) flags |= kParentFlag;
  if (view.ancestors_skipped != 0) flags |= kSkippedFlag;
  if (view.name_suffix != 0) flags |= kSuffixFlag;
  encoder.byte(flags);
  if ((flags & kParentFlag) != 0) encode_id(encoder, view.parent);
  if (view.ancestors_skipped != 0) encoder.number(view.ancestors_skipped);
  if (view.name_suffix != 0) encoder.byte(view.name_suffix);
}

ItemView decode_view(Decoder& decoder, const RowKeys& keys) {
  const auto flags = static_cast<std::uint8_t>(decoder.number(kViewFlags));
  ItemView view;
  view.visible = (flags & kVisibleFlag) != 0;
  view.parked = (flags & kParkedFlag) != 0;
  view.evicted = (flags & kEvictedFlag) != 0;
  if ((flags & kParentFlag) != 0) view.parent = decoder.id<ItemId>();
  if ((flags & kParentOfChildKeyFlag) != 0) {
    const std::optional<ItemId> parent = keys.parent_of_child_key();
    decoder.require(parent.has_value() && (flags & kParentFlag) == 0);
    view.parent = parent.value_or(ItemId());
  }
  if ((flags & kSkippedFlag) != 0) view.ancestors_skipped = static_cast<std::uint16_t>(decoder.number(UINT16_MAX));
  if ((flags & kSuffixFlag) != 0) view.name_suffix = decoder.byte();
  return view;
}

// Their versions are nobody's to search for, so they stand here and not in the head.
void encode_bases(Encoder& encoder, const std::vector<UnitRegister>& bases) {
  encoder.number(bases.size());
  for (const UnitRegister& base : bases) {
    encoder.number(base.unit);
    encode_id(encoder, base.content.version.replica);
    encoder.fixed64(base.content.version.tick);
    encoder.byte(static_cast<std::uint8_t>(base.content.origin));
    encode_value(encoder, base.content.value);
  }
}

void decode_bases(Decoder& decoder, std::vector<UnitRegister>& bases) {
  for (std::size_t left = decoder.count(kBaseBytesMin); left > 0 && decoder.intact(); --left) {
    UnitRegister& base = bases.emplace_back();
    base.unit = static_cast<UnitId>(decoder.number(UINT16_MAX));
    base.content.version.replica = decoder.id<ReplicaId>();
    base.content.version.tick = decoder.fixed64();
    base.content.origin = decoder.enumerator(Origin::kMadeByRule);
    base.content.value = decode_value(decoder);
  }
}

}  // namespace

void encode_shown(Encoder& encoder, const ShownItem& shown, const RowContext& context) {
  const bool key_known =
      context.keys.store_key.has_value() && std::ranges::equal(*context.keys.store_key, as_bytes(shown.key));
  const bool parent_known = context.view != nullptr && context.view->parent == shown.parent;
  const bool position_known = context.keys.names_position(shown.position);
  encoder.byte(static_cast<std::uint8_t>((key_known ? kKnownKeyFlag : 0) | (parent_known ? kKnownParentFlag : 0) |
                                         (position_known ? kKnownPositionFlag : 0)));
  if (!key_known) encoder.string(shown.key);
  if (!parent_known) encode_id(encoder, shown.parent);
  if (!position_known) encoder.string(shown.position);
  encoder.number(shown.values.size());
  for (const UnitValue& value : shown.values) {
    encoder.number(value.unit);
    const Register* content = context.item == nullptr ? nullptr : context.item->find(value.unit);
    if (content != nullptr && content->value == value.value) {
      encoder.byte(kSameAsRegister);
    } else {
      encode_value(encoder, value.value);
    }
  }
}

ShownItem decode_shown(Decoder& decoder, const RowContext& context) {
  const std::uint64_t flags = decoder.number(kShownFlags);
  ShownItem shown;
  if ((flags & kKnownKeyFlag) == 0) {
    shown.key = decoder.text();
  } else if (context.keys.store_key.has_value()) {
    shown.key = as_text(*context.keys.store_key);
  } else {
    decoder.refuse();
  }
  if ((flags & kKnownParentFlag) == 0) {
    shown.parent = decoder.id<ItemId>();
  } else if (context.view != nullptr) {
    shown.parent = context.view->parent;
  } else {
    decoder.refuse();
  }
  if ((flags & kKnownPositionFlag) == 0) {
    shown.position = decoder.bytes();
  } else if (context.keys.parent_of_child_key().has_value()) {
    shown.position.assign(context.keys.child_key->begin() + ItemId::kSize, context.keys.child_key->end());
  } else {
    decoder.refuse();
  }
  UnitOrder order;
  std::size_t left = decoder.count(2);
  shown.values.reserve(std::min(left, limits::kUnitsMax));
  for (; left > 0 && decoder.intact(); --left) {
    UnitValue& value = shown.values.emplace_back();
    value.unit = order.next(decoder);
    const std::uint8_t kind = decoder.byte();
    if (kind == kSameAsRegister) {
      const Register* content = context.item == nullptr ? nullptr : context.item->find(value.unit);
      decoder.require(content != nullptr);
      if (content != nullptr) value.value = content->value;
    } else {
      value.value = decode_value(decoder, kind);
    }
  }
  return shown;
}

Bytes encode_item(const StoredItem& stored, const ItemIndex& index, std::span<const std::size_t> version_places) {
  const Item& item = stored.item;
  Encoder encoder(512);
  encoder.byte(static_cast<std::uint8_t>((index.head.alive ? kAliveFlag : 0) | (index.head.shown ? kShownFlag : 0) |
                                         (stored.merge_bases.empty() ? 0 : kBasesFlag) |
                                         (index.contents.empty() ? 0 : kContentsFlag)));
  encoder.number(index.head.versions.size());
  for (const NumberedVersion& version : index.head.versions) {
    encoder.number(version.replica);
    encoder.fixed64(version.tick);
  }
  encoder.number(index.entries.size());
  for (const EntryView& entry : index.entries) {
    encoder.byte(static_cast<std::uint8_t>(entry.kind));
    encoder.string(entry.key);
  }
  if (!index.contents.empty()) {
    encoder.number(index.contents.size());
    for (const ContentHash& hash : index.contents) encoder.raw(hash);
  }
  encoder.number(item.type);
  encoder.byte(static_cast<std::uint8_t>(item.existence.value));
  encoder.number(version_places[0]);
  encoder.number(item.units.size());
  for (std::size_t i = 0; i < item.units.size(); ++i) {
    const UnitRegister& unit = item.units[i];
    encoder.number(unit.unit);
    encoder.number(version_places[i + 1] << 1 | static_cast<std::size_t>(unit.content.origin));
    if (unit.content.value.weight() > kContentBytesMin) {
      encoder.byte(kStandsApart);
    } else {
      encode_value(encoder, unit.content.value);
    }
  }
  const RowKeys keys = RowKeys::of(index.entries);
  encode_view(encoder, stored.view, keys);
  if (stored.shown.has_value()) encode_shown(encoder, *stored.shown, {&item, &stored.view, keys});
  if (!stored.merge_bases.empty()) encode_bases(encoder, stored.merge_bases);
  Bytes row = encoder.take();
  // It may stay in memory for a while.
  row.shrink_to_fit();
  return row;
}

namespace {

void decode_contents(Decoder& decoder, std::vector<ContentHash>& contents) {
  constexpr std::size_t kHashBytes = sizeof(ContentHash);
  for (std::size_t left = decoder.count(kHashBytes); left > 0 && decoder.intact(); --left) {
    const ByteView bytes = decoder.raw(kHashBytes);
    if (decoder.intact()) std::ranges::copy(bytes, contents.emplace_back().begin());
  }
}

}  // namespace

std::optional<ItemIndex> decode_index(ByteView row) {
  Decoder decoder(row);
  ItemIndex index;
  const std::uint64_t flags = decoder.number(kHeadFlags);
  index.head.alive = (flags & kAliveFlag) != 0;
  index.head.shown = (flags & kShownFlag) != 0;
  std::vector<NumberedVersion>& versions = index.head.versions;
  decode_versions(decoder, [&](const NumberedVersion& version) {
    decoder.require(versions.empty() || versions.back() < version);
    versions.push_back(version);
    return true;
  });
  std::size_t entries_left = decoder.count(2);
  index.entries.reserve(std::min(entries_left, limits::kUnitsMax));
  for (; entries_left > 0 && decoder.intact(); --entries_left) {
    const auto kind = static_cast<IndexKind>(decoder.byte());
    index.entries.push_back({kind, decoder.string()});
    const std::size_t count = index.entries.size();
    decoder.require(count == 1 || index.entries[count - 2] < index.entries[count - 1]);
  }
  if ((flags & kContentsFlag) != 0) decode_contents(decoder, index.contents);
  if (!decoder.intact()) return std::nullopt;
  return index;
}

StoredItem* ItemDecoder::decode(const ItemId& id, ByteView row, std::span<const ReplicaId> replicas,
                                const ReadContent& read_content) {
  return decode_row(id, row, replicas, read_content) ? &item_ : nullptr;
}

bool ItemDecoder::decode_row(const ItemId& id, ByteView row, std::span<const ReplicaId> replicas,
                             const ReadContent& read_content) {
  Decoder decoder(row);
  const std::uint64_t flags = decoder.number(kHeadFlags);
  versions_.clear();
  decode_versions(decoder, [&](const NumberedVersion& version) {
    const bool is_known = version.replica >= 1 && version.replica <= replicas.size();
    decoder.require(is_known);
    if (is_known) versions_.push_back({replicas[version.replica - 1], version.tick});
    return is_known;
  });
  RowKeys keys;
  for (std::size_t left = decoder.count(2); left > 0 && decoder.intact(); --left) {
    const auto kind = static_cast<IndexKind>(decoder.byte());
    keys.add({kind, decoder.string()});
  }
  std::vector<ContentHash> contents;
  if ((flags & kContentsFlag) != 0) decode_contents(decoder, contents);
  auto next_content = contents.begin();
  const auto value_apart = [&]() -> Value {
    std::optional<Value> value;
    if (next_content != contents.end()) value = read_content(*next_content++);
    decoder.require(value.has_value());
    return value ? *std::move(value) : Value();
  };
  const auto version_at = [&](std::uint64_t place) {
    decoder.require(place < versions_.size());
    return place < versions_.size() ? versions_[place] : Version{};
  };

  Item& item = item_.item;
  item.id = id;
  item.type = static_cast<TypeId>(decoder.number(UINT16_MAX));
  item.existence.value = decoder.enumerator(Existence::kErased);
  item.existence.version = version_at(decoder.number());
  item.units.clear();
  std::size_t units_left = decoder.count(3);
  item.units.reserve(std::min(units_left, limits::kUnitsMax));
  UnitOrder order;
  for (; units_left > 0 && decoder.intact(); --units_left) {
    UnitRegister& unit = item.units.emplace_back();
    unit.unit = order.next(decoder);
    const std::uint64_t place_and_origin = decoder.number();
    unit.content.version = version_at(place_and_origin >> 1);
    unit.content.origin = (place_and_origin & 1) != 0 ? Origin::kMadeByRule : Origin::kWritten;
    const std::uint8_t kind = decoder.byte();
    unit.content.value = kind == kStandsApart ? value_apart() : decode_value(decoder, kind);
  }
  decoder.require(next_content == contents.end());
  item_.view = decode_view(decoder, keys);
  item_.shown.reset();
  if ((flags & kShownFlag) != 0) item_.shown = decode_shown(decoder, {&item, &item_.view, keys});
  item_.merge_bases.clear();
  if ((flags & kBasesFlag) != 0) decode_bases(decoder, item_.merge_bases);
  // The head is what counts go by.
  decoder.require(item.alive() == ((flags & kAliveFlag) != 0));
  return decoder.complete();
}

}  // namespace harmonica::providers
