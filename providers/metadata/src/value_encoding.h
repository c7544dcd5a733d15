// Values, ids and units as bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "byte_coding.h"
#include "harmonica/ids.h"
#include "harmonica/schema.h"
#include "harmonica/value.h"

namespace harmonica::providers {

inline constexpr std::uint64_t kUnitIdMax = UINT16_MAX;

template <typename IdType>
void encode_id(Encoder& encoder, const IdType& id) {
  encoder.raw(id.view());
}

// A byte for the kind, then the content.
void encode_value(Encoder& encoder, const Value& value);
Value decode_value(Decoder& decoder);
// What follows the kind.
Value decode_value(Decoder& decoder, std::uint8_t kind);

std::vector<ItemId> decode_ids(Decoder& decoder);

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

}  // namespace harmonica::providers
