#include "encoding.h"

#include <algorithm>
#include <map>
#include <utility>

#include "item_encoding.h"
#include "value_encoding.h"

namespace harmonica::providers {
namespace {

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
  change.existence.value = decoder.enumerator(Existence::kErased);
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
  side.existence = decoder.enumerator(Existence::kErased);
  return side;
}

template <typename T>
std::optional<T> if_complete(const Decoder& decoder, T value) {
  if (!decoder.complete()) return std::nullopt;
  return value;
}

}  // namespace

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

Bytes encode_filter(const FilterFact& fact) {
  const std::optional<Filter>& filter = fact.filter;
  Encoder encoder;
  encoder.byte(fact.has_had_filter ? 1 : 0);
  encoder.byte(filter ? 1 : 0);
  if (!filter) return encoder.take();
  encoder.string(filter->text());
  encoder.number(filter->parameters().size());
  for (const FilterParameter& parameter : filter->parameters()) {
    encoder.string(parameter.name);
    encode_value(encoder, parameter.value);
  }
  return encoder.take();
}

std::optional<FilterFact> decode_filter(ByteView bytes) {
  Decoder decoder(bytes);
  FilterFact fact;
  fact.has_had_filter = decoder.number(1) != 0;
  if (decoder.number(1) == 0) return if_complete(decoder, std::move(fact));
  const std::string text = decoder.text();
  std::vector<FilterParameter> parameters;
  for (std::size_t left = decoder.count(2); left > 0 && decoder.intact(); --left) {
    std::string name = decoder.text();
    parameters.push_back({std::move(name), decode_value(decoder)});
  }
  if (!decoder.complete()) return std::nullopt;
  Result<Filter> filter = Filter::parse(text, std::move(parameters));
  if (!filter.ok()) return std::nullopt;
  fact.filter = *std::move(filter);
  return fact;
}

Bytes encode_vector(const ClockVector& vector) {
  Encoder encoder;
  encode_vector(encoder, vector);
  return encoder.take();
}

std::optional<ClockVector> decode_vector(ByteView bytes) {
  Decoder decoder(bytes);
  ClockVector vector = decode_vector(decoder);
  return if_complete(decoder, std::move(vector));
}

Bytes encode_state(const ReplicaState& state) {
  Encoder encoder;
  encode_id(encoder, state.replica);
  encoder.string(state.scope);
  encoder.fixed64(state.schema_fingerprint);
  encoder.fixed64(state.last_tick);
  encoder.fixed64(state.reserved_tick);
  encoder.number(state.write_number);
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
  state.wanted_whole = decode_ids(decoder);
  for (std::size_t left = decoder.count(ReplicaId::kSize); left > 0; --left) {
    state.former_replicas.push_back(decoder.id<ReplicaId>());
  }
  return if_complete(decoder, std::move(state));
}

Bytes encode_lineage(std::span<const LineageMark> lineage) {
  Encoder encoder;
  encoder.number(lineage.size());
  for (const LineageMark& mark : lineage) {
    encoder.fixed64(mark.mark);
    encoder.fixed64(mark.tick_before);
  }
  return encoder.take();
}

std::optional<std::vector<LineageMark>> decode_lineage(ByteView bytes) {
  Decoder decoder(bytes);
  std::vector<LineageMark> lineage;
  for (std::size_t left = decoder.count(16); left > 0; --left) {
    const std::uint64_t mark = decoder.fixed64();
    lineage.push_back({mark, decoder.fixed64()});
  }
  return if_complete(decoder, std::move(lineage));
}

Bytes encode_replicas(const ReplicaTable& replicas) {
  Encoder encoder;
  encoder.number(replicas.rows().size());
  for (const ReplicaRow& row : replicas.rows()) {
    encode_id(encoder, row.replica);
    encoder.string(row.name);
    encoder.signed_number(row.named_ms);
    encode_version(encoder, {row.former, row.kept});
    encoder.byte(row.copied ? 1 : 0);
    encoder.byte(row.retired ? 1 : 0);
    encoder.fixed64(row.last);
  }
  return encoder.take();
}

std::optional<ReplicaTable> decode_replicas(ByteView bytes) {
  Decoder decoder(bytes);
  std::vector<ReplicaRow> rows;
  for (std::size_t left = decoder.count(2 * ReplicaId::kSize + 20); left > 0 && decoder.intact(); --left) {
    ReplicaRow row;
    row.replica = decoder.id<ReplicaId>();
    row.name = decoder.text();
    row.named_ms = decoder.signed_number();
    const Version former = decode_version(decoder);
    row.former = former.replica;
    row.kept = former.tick;
    row.copied = decoder.number(1) != 0;
    row.retired = decoder.number(1) != 0;
    row.last = decoder.fixed64();
    rows.push_back(std::move(row));
  }
  if (!decoder.complete()) return std::nullopt;
  Result<ReplicaTable> table = ReplicaTable::from_rows(std::move(rows));
  return table.ok() ? std::optional(*std::move(table)) : std::nullopt;
}

Bytes encode_peer(const Peer& peer) {
  Encoder encoder;
  encode_id(encoder, peer.replica);
  encoder.number(peer.marks.size());
  for (const std::uint64_t mark : peer.marks) encoder.fixed64(mark);
  encoder.signed_number(peer.last_session_ms);
  encode_vector(encoder, peer.acknowledged);
  return encoder.take();
}

std::optional<Peer> decode_peer(ByteView bytes) {
  Decoder decoder(bytes);
  Peer peer;
  peer.replica = decoder.id<ReplicaId>();
  for (std::size_t left = decoder.count(8); left > 0; --left) peer.marks.push_back(decoder.fixed64());
  peer.last_session_ms = decoder.signed_number();
  // One that was written before acknowledgements were remembered ends here.
  if (!decoder.complete()) peer.acknowledged = decode_vector(decoder);
  return if_complete(decoder, std::move(peer));
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
    if (item.shown.has_value()) encode_shown(encoder, *item.shown, {});
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
    if (decoder.number(1) != 0) item.shown = decode_shown(decoder, {});
    items.push_back(std::move(item));
  }
  return if_complete(decoder, std::move(items));
}

}  // namespace harmonica::providers
