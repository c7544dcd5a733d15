#include "value_encoding.h"

#include <bit>
#include <string>
#include <utility>

namespace harmonica::providers {
namespace {

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

}  // namespace

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

Value decode_value(Decoder& decoder, std::uint8_t kind) {
  if (kind != static_cast<std::uint8_t>(ValueKind::kList)) return decode_member(decoder, kind);
  Value::List list;
  for (std::size_t left = decoder.count(1); left > 0 && decoder.intact(); --left) {
    list.push_back(decode_member(decoder, decoder.byte()));
  }
  return Value::list(std::move(list));
}

Value decode_value(Decoder& decoder) { return decode_value(decoder, decoder.byte()); }

}  // namespace harmonica::providers
