#include <cstdint>
#include <utility>

#include "encoding.h"
#include "harmonica/limits.h"
#include "value_encoding.h"

namespace harmonica::providers {
namespace {

void encode_unit(Encoder& encoder, const Unit& unit) {
  encoder.number(unit.id);
  encoder.string(unit.name);
  encoder.byte(static_cast<std::uint8_t>(unit.kind));
  encoder.byte(static_cast<std::uint8_t>(unit.role));
  encoder.byte(unit.rule ? static_cast<std::uint8_t>(static_cast<std::uint8_t>(*unit.rule) + 1) : 0);
  encoder.byte(static_cast<std::uint8_t>(unit.recording));
  encoder.number(unit.priority_unit);
}

Unit decode_unit(Decoder& decoder) {
  Unit unit;
  unit.id = static_cast<UnitId>(decoder.number(kUnitIdMax));
  unit.name = decoder.text();
  unit.kind = decoder.enumerator(ValueKind::kList);
  unit.role = decoder.enumerator(UnitRole::kReference);
  if (const std::uint64_t rule = decoder.number(static_cast<std::uint64_t>(ConflictRule::kCustom) + 1); rule > 0) {
    unit.rule = static_cast<ConflictRule>(rule - 1);
  }
  unit.recording = decoder.enumerator(ConflictRecording::kSilent);
  unit.priority_unit = static_cast<UnitId>(decoder.number(kUnitIdMax));
  return unit;
}

void encode_type(Encoder& encoder, const ItemType& type) {
  encoder.number(type.id);
  encoder.string(type.name);
  encoder.byte(static_cast<std::uint8_t>(type.deletion));
  encoder.byte(static_cast<std::uint8_t>(type.rule));
  encoder.number(type.units.size());
  for (const Unit& unit : type.units) encode_unit(encoder, unit);
  encoder.number(type.natural_key.size());
  for (const UnitId unit : type.natural_key) encoder.number(unit);
}

ItemType decode_type(Decoder& decoder) {
  ItemType type;
  type.id = static_cast<TypeId>(decoder.number(UINT16_MAX));
  type.name = decoder.text();
  type.deletion = decoder.enumerator(DeletionRule::kLatest);
  type.rule = decoder.enumerator(ConflictRule::kCustom);
  for (std::size_t left = decoder.count(7); left > 0 && decoder.intact(); --left)
    type.units.push_back(decode_unit(decoder));
  for (std::size_t left = decoder.count(1); left > 0 && decoder.intact(); --left) {
    type.natural_key.push_back(static_cast<UnitId>(decoder.number(kUnitIdMax)));
  }
  return type;
}

}  // namespace

Bytes encode_schemas(const SchemaMemory& schemas) {
  Encoder encoder;
  encoder.string(schemas.own.default_scope);
  encoder.number(schemas.own.types.size());
  for (const ItemType& type : schemas.own.types) encode_type(encoder, type);
  encoder.number(schemas.own.roots.size());
  for (const Root& root : schemas.own.roots) {
    encode_id(encoder, root.id);
    encoder.string(root.name);
  }
  encoder.number(schemas.compatible.size());
  for (const std::uint64_t fingerprint : schemas.compatible) encoder.fixed64(fingerprint);
  return encoder.take();
}

std::optional<SchemaMemory> decode_schemas(ByteView bytes) {
  Decoder decoder(bytes);
  SchemaMemory schemas;
  schemas.own.default_scope = decoder.text();
  for (std::size_t left = decoder.count(6); left > 0 && decoder.intact(); --left) {
    schemas.own.types.push_back(decode_type(decoder));
  }
  for (std::size_t left = decoder.count(ItemId::kSize + 1); left > 0 && decoder.intact(); --left) {
    Root root;
    root.id = decoder.id<ItemId>();
    root.name = decoder.text();
    schemas.own.roots.push_back(std::move(root));
  }
  for (std::size_t left = decoder.count(8); left > 0; --left) schemas.compatible.push_back(decoder.fixed64());
  if (!decoder.complete()) return std::nullopt;
  if (!schemas.own.is_empty() && !schemas.own.validate().ok()) return std::nullopt;
  return schemas;
}

}  // namespace harmonica::providers
