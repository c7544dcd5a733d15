#include "kernel/adoption.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace harmonica::kernel {
namespace {

// A canonical byte form of what is hashed: every part with its length, so that no two lists of parts look alike.
class HashInput {
 public:
  explicit HashInput(std::string_view purpose) {
    bytes_.reserve(kUsualBytes);
    add(as_bytes(purpose));
  }

  void add(ByteView bytes) {
    add_number(bytes.size());
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }

  void add_number(std::uint64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8) bytes_.push_back(static_cast<std::uint8_t>(number >> shift));
  }

  void add_value(const Value& value) {
    add_number(static_cast<std::uint64_t>(value.kind()));
    if (const bool* boolean = value.if_boolean()) add_number(*boolean ? 1 : 0);
    if (const std::int64_t* integer = value.if_integer()) add_number(static_cast<std::uint64_t>(*integer));
    if (const double* real = value.if_real()) add_number(std::bit_cast<std::uint64_t>(*real));
    if (const std::string* text = value.if_text()) add(as_bytes(*text));
    if (const Bytes* bytes = value.if_bytes()) add(*bytes);
    if (const Value::Ids* ids = value.if_ids()) {
      add_number(ids->size());
      for (const ItemId& id : *ids) add(id.view());
    }
    if (const Value::List* list = value.if_list()) {
      add_number(list->size());
      for (const Value& member : *list) add_value(member);
    }
  }

  Sha256 hash(Environment& environment) const { return environment.sha256(bytes_); }

 private:
  static constexpr std::size_t kUsualBytes = 256;

  Bytes bytes_;
};

ConflictId id_from(const Sha256& hash) { return *ConflictId::from_bytes(ByteView(hash).first(ConflictId::kSize)); }

}  // namespace

ItemId natural_item_id(Environment& environment, const ItemType& type, const ItemId& parent,
                       const std::vector<UnitValue>& values, std::uint32_t running_number) {
  HashInput input("harmonica natural key 1");
  input.add_number(type.id);
  input.add(parent.view());
  for (const UnitId unit : type.natural_key) {
    const auto found =
        std::find_if(values.begin(), values.end(), [&](const UnitValue& value) { return value.unit == unit; });
    input.add_value(found == values.end() ? Value() : found->value);
  }
  input.add_number(running_number);
  return shaped_item_id(input.hash(environment));
}

ItemId second_item_id(Environment& environment, const ItemId& item, TypeId type) {
  HashInput input("harmonica second id 1");
  input.add(item.view());
  input.add_number(type);
  return shaped_item_id(input.hash(environment));
}

ConflictId conflict_id(Environment& environment, const ConflictRecord& conflict) {
  HashInput input("harmonica conflict 1");
  input.add(conflict.item.view());
  input.add_number(conflict.unit);
  for (const Version& version : {conflict.lost.version, conflict.kept.version}) {
    input.add(version.replica.view());
    input.add_number(version.tick);
  }
  return id_from(input.hash(environment));
}

ConflictId deferred_conflict_id(Environment& environment, const ItemId& item) {
  HashInput input("harmonica deferred conflict 1");
  input.add(item.view());
  return id_from(input.hash(environment));
}

}  // namespace harmonica::kernel
