#include "encoding.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "harmonica/limits.h"

namespace harmonica::providers {
namespace {

constexpr std::uint8_t kAliveFlag = 1;
constexpr std::uint8_t kShownFlag = 2;
constexpr std::uint8_t kHeadFlags = kAliveFlag | kShownFlag;

constexpr std::uint8_t kVisibleFlag = 1;
constexpr std::uint8_t kParkedFlag = 2;
constexpr std::uint8_t kEvictedFlag = 4;
constexpr std::uint8_t kParentFlag = 8;
constexpr std::uint8_t kSkippedFlag = 16;
constexpr std::uint8_t kSuffixFlag = 32;
constexpr std::uint8_t kViewFlags = 63;

// In place of the kind of a value: what is shown is what the register holds, as nearly always.
constexpr std::uint8_t kSameAsRegister = 0x80;

constexpr std::uint64_t kUnitIdMax = UINT16_MAX;

template <typename IdType>
void encode_id(Encoder& encoder, const IdType& id) {
  encoder.raw(id.view());
}

void encode_value(Encoder& encoder, const Value& value) {
  encoder.byte(static_cast<std::uint8_t>(value.kind()));
  switch (value.kind()) {
    case ValueKind::kNull:
      break;
    case ValueKind::kBoolean:
      encoder.byte(*value.if_boolean() ? 1 : 0);
      break;
    case ValueKind::kInteger:
      encoder.signed_number(*value.if_integer());
      break;
    case ValueKind::kReal:
      encoder.fixed64(std::bit_cast<std::uint64_t>(*value.if_real()));
      break;
    case ValueKind::kText:
      encoder.string(*value.if_text());
      break;
    case ValueKind::kBytes:
      encoder.string(*value.if_bytes());
      break;
    case ValueKind::kIds:
      encoder.number(value.if_ids()->size());
      for (const ItemId& id : *value.if_ids()) encode_id(encoder, id);
      break;
    case ValueKind::kList:
      encoder.number(value.if_list()->size());
      for (const Value& member : *value.if_list()) encode_value(encoder, member);
      break;
  }
}

std::vector<ItemId> decode_ids(Decoder& decoder) {
  std::vector<ItemId> ids;
  std::size_t left = decoder.count(ItemId::kSize);
  ids.reserve(left);
  for (; left > 0; --left) ids.push_back(decoder.id<ItemId>());
  return ids;
}

// Anything but a list, which holds no lists.
Value decode_member(Decoder& decoder, std::uint8_t kind) {
  switch (static_cast<ValueKind>(kind)) {
    case ValueKind::kNull:
      return Value();
    case ValueKind::kBoolean:
      return Value::boolean(decoder.number(1) != 0);
    case ValueKind::kInteger:
      return Value::integer(decoder.signed_number());
    case ValueKind::kReal:
      return Value::real(std::bit_cast<double>(decoder.fixed64()));
    case ValueKind::kText:
      return Value::text(decoder.text());
    case ValueKind::kBytes:
      return Value::bytes(decoder.bytes());
    case ValueKind::kIds:
      return Value::ids(decode_ids(decoder));
    case ValueKind::kList:
      break;
  }
  decoder.refuse();
  return Value();
}

Value decode_value(Decoder& decoder, std::uint8_t kind) {
  if (kind != static_cast<std::uint8_t>(ValueKind::kList)) return decode_member(decoder, kind);
  Value::List list;
  for (std::size_t left = decoder.count(1); left > 0 && decoder.intact(); --left) {
    list.push_back(decode_member(decoder, decoder.byte()));
  }
  return Value::list(std::move(list));
}

Value decode_value(Decoder& decoder) { return decode_value(decoder, decoder.byte()); }

// Unit ids that rise, so that none stands twice.
class UnitOrder {
 public:
  UnitId next(Decoder& decoder) {
    const std::uint64_t unit = decoder.number(kUnitIdMax);
    decoder.require(first_ || unit > last_);
    first_ = false;
    last_ = unit;
    return static_cast<UnitId>(unit);
  }

 private:
  bool first_ = true;
  std::uint64_t last_ = 0;
};

// `item`: whose registers are taken for granted; nothing: everything stands there in full.
void encode_shown(Encoder& encoder, const ShownItem& shown, const Item* item) {
  encoder.string(shown.key);
  encode_id(encoder, shown.parent);
  encoder.string(shown.position);
  encoder.number(shown.values.size());
  for (const UnitValue& value : shown.values) {
    encoder.number(value.unit);
    const Register* content = item == nullptr ? nullptr : item->find(value.unit);
    if (content != nullptr && content->value == value.value) {
      encoder.byte(kSameAsRegister);
    } else {
      encode_value(encoder, value.value);
    }
  }
}

ShownItem decode_shown(Decoder& decoder, const Item* item) {
  ShownItem shown;
  shown.key = decoder.text();
  shown.parent = decoder.id<ItemId>();
  shown.position = decoder.bytes();
  UnitOrder order;
  for (std::size_t left = decoder.count(2); left > 0 && decoder.intact(); --left) {
    UnitValue value;
    value.unit = order.next(decoder);
    const std::uint8_t kind = decoder.byte();
    if (kind == kSameAsRegister) {
      const Register* content = item == nullptr ? nullptr : item->find(value.unit);
      decoder.require(content != nullptr);
      if (content != nullptr) value.value = content->value;
    } else {
      value.value = decode_value(decoder, kind);
    }
    shown.values.push_back(std::move(value));
  }
  return shown;
}

void encode_view(Encoder& encoder, const ItemView& view) {
  std::uint8_t flags = 0;
  if (view.visible) flags |= kVisibleFlag;
  if (view.parked) flags |= kParkedFlag;
  if (view.evicted) flags |= kEvictedFlag;
  if (!view.parent.is_zero()) flags |= kParentFlag;
  if (view.ancestors_skipped != 0) flags |= kSkippedFlag;
  if (view.name_suffix != 0) flags |= kSuffixFlag;
  encoder.byte(flags);
  if (!view.parent.is_zero()) encode_id(encoder, view.parent);
  if (view.ancestors_skipped != 0) encoder.number(view.ancestors_skipped);
  if (view.name_suffix != 0) encoder.byte(view.name_suffix);
}

ItemView decode_view(Decoder& decoder) {
  const auto flags = static_cast<std::uint8_t>(decoder.number(kViewFlags));
  ItemView view;
  view.visible = (flags & kVisibleFlag) != 0;
  view.parked = (flags & kParkedFlag) != 0;
  view.evicted = (flags & kEvictedFlag) != 0;
  if ((flags & kParentFlag) != 0) view.parent = decoder.id<ItemId>();
  if ((flags & kSkippedFlag) != 0) view.ancestors_skipped = static_cast<std::uint16_t>(decoder.number(UINT16_MAX));
  if ((flags & kSuffixFlag) != 0) view.name_suffix = decoder.byte();
  return view;
}

// Versions outside of items name replicas in full.
void encode_version(Encoder& encoder, const Version& version) {
  encode_id(encoder, version.replica);
  encoder.fixed64(version.tick);
}

Version decode_version(Decoder& decoder) {
  const auto replica = decoder.id<ReplicaId>();
  return {replica, decoder.fixed64()};
}

void encode_vector(Encoder& encoder, const ClockVector& vector) {
  encoder.number(vector.entries().size());
  for (const ClockVector::Entry& entry : vector.entries()) encode_version(encoder, {entry.replica, entry.tick});
}

ClockVector decode_vector(Decoder& decoder) {
  std::vector<ClockVector::Entry> entries;
  for (std::size_t left = decoder.count(ReplicaId::kSize + 8); left > 0; --left) {
    const Version version = decode_version(decoder);
    entries.push_back({version.replica, version.tick});
  }
  return ClockVector(std::move(entries));
}

void encode_change(Encoder& encoder, const ItemChange& change) {
  encode_id(encoder, change.item);
  encoder.number(change.type);
  encode_version(encoder, change.existence.version);
  encoder.byte(static_cast<std::uint8_t>(change.existence.value));
  encoder.number(change.units.size());
  for (const UnitRegister& unit : change.units) {
    encoder.number(unit.unit);
    encode_version(encoder, unit.content.version);
    encoder.byte(static_cast<std::uint8_t>(unit.content.origin));
    encode_value(encoder, unit.content.value);
  }
  encoder.byte(change.whole ? 1 : 0);
}

ItemChange decode_change(Decoder& decoder) {
  ItemChange change;
  change.item = decoder.id<ItemId>();
  change.type = static_cast<TypeId>(decoder.number(UINT16_MAX));
  change.existence.version = decode_version(decoder);
  change.existence.value = decoder.enumerator(Existence::kDeleted);
  UnitOrder order;
  for (std::size_t left = decoder.count(ReplicaId::kSize + 11); left > 0 && decoder.intact(); --left) {
    UnitRegister unit;
    unit.unit = order.next(decoder);
    unit.content.version = decode_version(decoder);
    unit.content.origin = decoder.enumerator(Origin::kMadeByRule);
    unit.content.value = decode_value(decoder);
    change.units.push_back(std::move(unit));
  }
  change.whole = decoder.number(1) != 0;
  return change;
}

void encode_side(Encoder& encoder, const ConflictSide& side) {
  encode_version(encoder, side.version);
  encode_value(encoder, side.value);
  encoder.byte(static_cast<std::uint8_t>(side.existence));
}

ConflictSide decode_side(Decoder& decoder) {
  ConflictSide side;
  side.version = decode_version(decoder);
  side.value = decode_value(decoder);
  side.existence = decoder.enumerator(Existence::kDeleted);
  return side;
}

template <typename T>
std::optional<T> if_complete(const Decoder& decoder, T value) {
  if (!decoder.complete()) return std::nullopt;
  return value;
}

}  // namespace

Bytes encode_head(const ItemHead& head) {
  Encoder encoder;
  encoder.byte(static_cast<std::uint8_t>((head.alive ? kAliveFlag : 0) | (head.shown ? kShownFlag : 0)));
  encoder.number(head.versions.size());
  for (const NumberedVersion& version : head.versions) {
    encoder.number(version.replica);
    encoder.fixed64(version.tick);
  }
  return encoder.take();
}

std::optional<ItemHead> decode_head(ByteView bytes) {
  Decoder decoder(bytes);
  ItemHead head;
  const std::uint64_t flags = decoder.number(kHeadFlags);
  head.alive = (flags & kAliveFlag) != 0;
  head.shown = (flags & kShownFlag) != 0;
  std::size_t left = decoder.count(kVersionBytesMin);
  head.versions.reserve(std::min(left, limits::kUnitsMax));
  for (; left > 0; --left) {
    const auto replica = static_cast<ReplicaNumber>(decoder.number(kReplicaNumberMax));
    head.versions.push_back({replica, decoder.fixed64()});
    const std::size_t count = head.versions.size();
    decoder.require(count == 1 || head.versions[count - 2] < head.versions[count - 1]);
  }
  return if_complete(decoder, std::move(head));
}

Bytes encode_body(const StoredItem& stored, std::span<const std::size_t> version_places) {
  const Item& item = stored.item;
  Encoder encoder;
  encoder.number(item.type);
  encoder.byte(static_cast<std::uint8_t>(item.existence.value));
  encoder.number(version_places[0]);
  encoder.number(item.units.size());
  for (std::size_t i = 0; i < item.units.size(); ++i) {
    const UnitRegister& unit = item.units[i];
    encoder.number(unit.unit);
    encoder.number(version_places[i + 1] << 1 | static_cast<std::size_t>(unit.content.origin));
    encode_value(encoder, unit.content.value);
  }
  encode_view(encoder, stored.view);
  encoder.byte(stored.shown.has_value() ? 1 : 0);
  if (stored.shown.has_value()) encode_shown(encoder, *stored.shown, &item);
  return encoder.take();
}

std::optional<StoredItem> decode_body(const ItemId& id, const ItemHead& head, std::span<const ReplicaId> replicas,
                                      ByteView bytes) {
  Decoder decoder(bytes);
  const auto version_at = [&](std::uint64_t place) {
    const bool known = place < head.versions.size() && head.versions[place].replica - std::uint64_t{1} < replicas.size();
    decoder.require(known);
    if (!known) return Version{};
    const NumberedVersion& version = head.versions[place];
    return Version{replicas[version.replica - 1], version.tick};
  };

  StoredItem stored;
  stored.item.id = id;
  stored.item.type = static_cast<TypeId>(decoder.number(UINT16_MAX));
  stored.item.existence.value = decoder.enumerator(Existence::kDeleted);
  stored.item.existence.version = version_at(decoder.number());
  std::size_t units_left = decoder.count(3);
  stored.item.units.reserve(std::min(units_left, limits::kUnitsMax));
  UnitOrder order;
  for (; units_left > 0 && decoder.intact(); --units_left) {
    UnitRegister& unit = stored.item.units.emplace_back();
    unit.unit = order.next(decoder);
    const std::uint64_t place_and_origin = decoder.number();
    unit.content.version = version_at(place_and_origin >> 1);
    unit.content.origin = (place_and_origin & 1) != 0 ? Origin::kMadeByRule : Origin::kWritten;
    unit.content.value = decode_value(decoder);
  }
  stored.view = decode_view(decoder);
  if (decoder.number(1) != 0) stored.shown = decode_shown(decoder, &stored.item);
  // The head is what counts go by.
  decoder.require(head.alive == stored.item.alive() && head.shown == stored.shown.has_value());
  return if_complete(decoder, std::move(stored));
}

Bytes encode_entries(std::span<const IndexEntry> entries) {
  Encoder encoder;
  encoder.number(entries.size());
  for (const IndexEntry& entry : entries) {
    encoder.byte(static_cast<std::uint8_t>(entry.kind));
    encoder.string(entry.key);
  }
  return encoder.take();
}

std::optional<std::vector<IndexEntry>> decode_entries(ByteView bytes) {
  Decoder decoder(bytes);
  std::vector<IndexEntry> entries;
  for (std::size_t left = decoder.count(2); left > 0 && decoder.intact(); --left) {
    const auto kind = static_cast<IndexKind>(decoder.byte());
    entries.push_back({kind, decoder.bytes()});
  }
  return if_complete(decoder, std::move(entries));
}

Bytes encode_knowledge(const Knowledge& knowledge) {
  std::map<ReplicaId, std::size_t> places;
  for (const ClockVector& vector : knowledge.vectors()) {
    for (const ClockVector::Entry& entry : vector.entries()) places.emplace(entry.replica, 0);
  }
  Encoder encoder;
  encoder.number(places.size());
  std::size_t next_place = 0;
  for (auto& [replica, place] : places) {
    place = next_place++;
    encode_id(encoder, replica);
  }
  encoder.number(knowledge.vectors().size());
  for (const ClockVector& vector : knowledge.vectors()) {
    encoder.number(vector.entries().size());
    for (const ClockVector::Entry& entry : vector.entries()) {
      encoder.number(places.at(entry.replica));
      encoder.fixed64(entry.tick);
    }
  }
  encoder.number(knowledge.steps().size());
  for (const Knowledge::Step& step : knowledge.steps()) {
    encode_id(encoder, step.first);
    encoder.number(step.vector);
  }
  return encoder.take();
}

std::optional<Knowledge> decode_knowledge(ByteView bytes) {
  Decoder decoder(bytes);
  std::vector<ReplicaId> replicas;
  for (std::size_t left = decoder.count(ReplicaId::kSize); left > 0; --left) replicas.push_back(decoder.id<ReplicaId>());
  std::vector<ClockVector> vectors;
  for (std::size_t left = decoder.count(1); left > 0 && decoder.intact(); --left) {
    std::vector<ClockVector::Entry> entries;
    for (std::size_t entries_left = decoder.count(kVersionBytesMin); entries_left > 0; --entries_left) {
      const std::uint64_t place = decoder.number();
      decoder.require(place < replicas.size());
      if (!decoder.intact()) return std::nullopt;
      entries.push_back({replicas[place], decoder.fixed64()});
    }
    vectors.emplace_back(std::move(entries));
  }
  std::vector<Knowledge::Step> steps;
  for (std::size_t left = decoder.count(ItemId::kSize + 1); left > 0; --left) {
    const auto first = decoder.id<ItemId>();
    steps.push_back({first, static_cast<std::uint32_t>(decoder.number(UINT32_MAX))});
  }
  if (!decoder.complete()) return std::nullopt;
  auto knowledge = Knowledge::from_steps(std::move(vectors), std::move(steps));
  if (!knowledge.ok()) return std::nullopt;
  return *std::move(knowledge);
}

Bytes encode_state(const ReplicaState& state) {
  Encoder encoder;
  encode_id(encoder, state.replica);
  encoder.string(state.scope);
  encoder.fixed64(state.schema_fingerprint);
  encoder.fixed64(state.last_tick);
  encoder.fixed64(state.reserved_tick);
  encoder.number(state.write_number);
  encoder.string(state.anchor);
  encoder.number(state.wanted_whole.size());
  for (const ItemId& item : state.wanted_whole) encode_id(encoder, item);
  encoder.number(state.former_replicas.size());
  for (const ReplicaId& replica : state.former_replicas) encode_id(encoder, replica);
  return encoder.take();
}

std::optional<ReplicaState> decode_state(ByteView bytes) {
  Decoder decoder(bytes);
  ReplicaState state;
  state.replica = decoder.id<ReplicaId>();
  state.scope = decoder.text();
  state.schema_fingerprint = decoder.fixed64();
  state.last_tick = decoder.fixed64();
  state.reserved_tick = decoder.fixed64();
  state.write_number = decoder.number();
  state.anchor = decoder.bytes();
  state.wanted_whole = decode_ids(decoder);
  for (std::size_t left = decoder.count(ReplicaId::kSize); left > 0; --left) {
    state.former_replicas.push_back(decoder.id<ReplicaId>());
  }
  return if_complete(decoder, std::move(state));
}

Bytes encode_counts(const ItemCounts& counts) {
  Encoder encoder;
  encoder.number(counts.alive);
  encoder.number(counts.deleted);
  encoder.number(counts.shown);
  return encoder.take();
}

std::optional<ItemCounts> decode_counts(ByteView bytes) {
  Decoder decoder(bytes);
  ItemCounts counts;
  counts.alive = decoder.number();
  counts.deleted = decoder.number();
  counts.shown = decoder.number();
  return if_complete(decoder, counts);
}

Bytes encode_conflict(const ConflictRecord& record) {
  Encoder encoder;
  encode_id(encoder, record.id);
  encode_id(encoder, record.item);
  encoder.number(record.type);
  encoder.number(record.unit);
  encode_side(encoder, record.kept);
  encode_side(encoder, record.lost);
  encoder.byte(static_cast<std::uint8_t>(record.state));
  encoder.string(record.rule);
  encode_id(encoder, record.decided_by);
  encoder.signed_number(record.when_ms);
  encoder.byte(record.deferred.has_value() ? 1 : 0);
  if (record.deferred.has_value()) encode_change(encoder, *record.deferred);
  encode_vector(encoder, record.deferred_made_with);
  return encoder.take();
}

std::optional<ConflictRecord> decode_conflict(ByteView bytes) {
  Decoder decoder(bytes);
  ConflictRecord record;
  record.id = decoder.id<ConflictId>();
  record.item = decoder.id<ItemId>();
  record.type = static_cast<TypeId>(decoder.number(UINT16_MAX));
  record.unit = static_cast<UnitId>(decoder.number(kUnitIdMax));
  record.kept = decode_side(decoder);
  record.lost = decode_side(decoder);
  record.state = decoder.enumerator(ConflictState::kDeferred);
  record.rule = decoder.text();
  record.decided_by = decoder.id<ReplicaId>();
  record.when_ms = decoder.signed_number();
  if (decoder.number(1) != 0) record.deferred = decode_change(decoder);
  record.deferred_made_with = decode_vector(decoder);
  return if_complete(decoder, std::move(record));
}

Bytes encode_prepared_items(std::span<const PreparedItem> items) {
  Encoder encoder;
  encoder.number(items.size());
  for (const PreparedItem& item : items) {
    encode_id(encoder, item.item);
    encoder.string(item.key);
    encoder.byte(item.shown.has_value() ? 1 : 0);
    if (item.shown.has_value()) encode_shown(encoder, *item.shown, nullptr);
  }
  return encoder.take();
}

std::optional<std::vector<PreparedItem>> decode_prepared_items(ByteView bytes) {
  Decoder decoder(bytes);
  std::vector<PreparedItem> items;
  for (std::size_t left = decoder.count(ItemId::kSize + 2); left > 0 && decoder.intact(); --left) {
    PreparedItem item;
    item.item = decoder.id<ItemId>();
    item.key = decoder.text();
    if (decoder.number(1) != 0) item.shown = decode_shown(decoder, nullptr);
    items.push_back(std::move(item));
  }
  return if_complete(decoder, std::move(items));
}

}  // namespace harmonica::providers
