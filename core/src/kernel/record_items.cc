#include "kernel/record_items.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "kernel/adoption.h"
#include "kernel/value_faults.h"

namespace harmonica::kernel {
namespace {

// Units of the hidden type. Every living record has all of them, from one replica that met the conflict; a dropped one has
// nulls.
constexpr UnitId kAbout = 1;  // all but the values, in the order of `Place`
constexpr UnitId kKept = 2;   // the values, as they are
constexpr UnitId kLost = 3;

enum Place : std::size_t {
  kItem,
  kType,
  kUnit,
  kKeptVersion,
  kKeptExistence,
  kLostVersion,
  kLostExistence,
  kRule,
  kDecidedBy,
  kWhen,
  kPlaces,
};

constexpr std::uint8_t kDropped = 0;
constexpr std::uint8_t kLiving = 1;
constexpr std::size_t kTickBytes = sizeof(Tick);

template <typename Tag>
Value id_value(const Id<Tag>& id) {
  return Value::bytes(Bytes(id.bytes.begin(), id.bytes.end()));
}

void append_number(Bytes& out, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<std::uint8_t>(number >> shift));
}

std::uint64_t number_in(std::span<const std::uint8_t> bytes) {
  std::uint64_t number = 0;
  for (const std::uint8_t byte : bytes) number = number << 8 | byte;
  return number;
}

Value version_value(const Version& version) {
  Bytes bytes(version.replica.bytes.begin(), version.replica.bytes.end());
  append_number(bytes, version.tick);
  return Value::bytes(std::move(bytes));
}

Value existence_value(Existence existence) { return Value::integer(static_cast<std::int64_t>(existence)); }

// Reads what another replica has written: whatever is not as it should be is noted, and answered with nothing.
class About {
 public:
  explicit About(const Value::List& list) : list_(list), sound_(list.size() >= kPlaces) {}

  bool sound() const { return sound_; }

  template <typename Id>
  Id id(Place place) {
    const Bytes* bytes = sound_ ? list_[place].if_bytes() : nullptr;
    const std::optional<Id> id = bytes == nullptr ? std::nullopt : Id::from_bytes(*bytes);
    sound_ = sound_ && id.has_value();
    return id.value_or(Id());
  }

  Version version(Place place) {
    const Bytes* bytes = sound_ ? list_[place].if_bytes() : nullptr;
    sound_ = bytes != nullptr && bytes->size() == ReplicaId::kSize + kTickBytes;
    if (!sound_) return {};
    const std::span<const std::uint8_t> all(*bytes);
    return {*ReplicaId::from_bytes(all.first(ReplicaId::kSize)), number_in(all.last(kTickBytes))};
  }

  std::int64_t integer(Place place, std::int64_t greatest) {
    const std::int64_t* number = sound_ ? list_[place].if_integer() : nullptr;
    sound_ = number != nullptr && *number >= 0 && *number <= greatest;
    return sound_ ? *number : 0;
  }

  Existence existence(Place place) {
    return static_cast<Existence>(integer(place, static_cast<std::int64_t>(Existence::kDeleted)));
  }

  std::string text(Place place) {
    const std::string* text = sound_ ? list_[place].if_text() : nullptr;
    sound_ = text != nullptr;
    return sound_ ? *text : std::string();
  }

 private:
  const Value::List& list_;
  bool sound_;
};

// Without the values.
std::optional<ConflictRecord> read_about(const ItemId& item, const Value& value) {
  const Value::List* list = value.if_list();
  if (list == nullptr) return std::nullopt;
  About about(*list);
  ConflictRecord record;
  record.id.bytes = item.bytes;
  record.item = about.id<ItemId>(kItem);
  record.type = static_cast<TypeId>(about.integer(kType, std::numeric_limits<TypeId>::max()));
  record.unit = static_cast<UnitId>(about.integer(kUnit, std::numeric_limits<UnitId>::max()));
  record.kept.version = about.version(kKeptVersion);
  record.kept.existence = about.existence(kKeptExistence);
  record.lost.version = about.version(kLostVersion);
  record.lost.existence = about.existence(kLostExistence);
  record.rule = about.text(kRule);
  record.decided_by = about.id<ReplicaId>(kDecidedBy);
  record.when_ms = about.integer(kWhen, std::numeric_limits<std::int64_t>::max());
  return about.sound() ? std::optional(std::move(record)) : std::nullopt;
}

ItemType make_record_type() {
  ItemType type;
  type.id = kConflictRecordType;
  type.name = "conflict record";
  type.deletion = DeletionRule::kDeleteWins;
  const auto add = [&](UnitId id, const char* name, ValueKind kind) {
    Unit unit;
    unit.id = id;
    unit.name = name;
    unit.kind = kind;
    unit.recording = ConflictRecording::kSilent;
    type.units.push_back(std::move(unit));
  };
  add(kAbout, "about", ValueKind::kList);
  // Of whatever kind the unit in conflict is.
  add(kKept, "kept", ValueKind::kNull);
  add(kLost, "lost", ValueKind::kNull);
  return type;
}

IndexQuery records_that_are(std::uint8_t state) {
  IndexQuery query;
  query.kind = IndexKind::kConflictRecord;
  query.prefix = {state};
  return query;
}

}  // namespace

const ItemType& record_type() {
  static const ItemType type = make_record_type();
  return type;
}

const ItemType* find_type(const Schema& schema, TypeId type) {
  return is_record(type) ? &record_type() : schema.find_type(type);
}

ItemId record_item_id(const ConflictId& conflict) {
  ItemId item;
  item.bytes = conflict.bytes;
  return item;
}

Item item_of(const ConflictRecord& record, const Version& version) {
  Value::List about(kPlaces);
  about[kItem] = id_value(record.item);
  about[kType] = Value::integer(record.type);
  about[kUnit] = Value::integer(record.unit);
  about[kKeptVersion] = version_value(record.kept.version);
  about[kKeptExistence] = existence_value(record.kept.existence);
  about[kLostVersion] = version_value(record.lost.version);
  about[kLostExistence] = existence_value(record.lost.existence);
  about[kRule] = Value::text(record.rule);
  about[kDecidedBy] = id_value(record.decided_by);
  about[kWhen] = Value::integer(record.when_ms);
  Item item;
  item.id = record_item_id(record.id);
  item.type = kConflictRecordType;
  item.existence = {version, Existence::kCreated};
  item.at(kAbout) = {version, Value::list(std::move(about)), Origin::kWritten};
  item.at(kKept) = {version, record.kept.value, Origin::kWritten};
  item.at(kLost) = {version, record.lost.value, Origin::kWritten};
  return item;
}

std::optional<ConflictRecord> record_of(const Item& item) {
  if (!is_record(item.type) || !item.alive()) return std::nullopt;
  std::optional<ConflictRecord> record = read_about(item.id, item.value_of(kAbout));
  if (!record) return std::nullopt;
  record->kept.value = item.value_of(kKept);
  record->lost.value = item.value_of(kLost);
  return record;
}

std::optional<std::string> fault_of_record(Environment& environment, const ItemChange& change) {
  for (const UnitRegister& unit : change.units) {
    const Value& value = unit.content.value;
    if (std::optional<std::string> fault = fault_of(value)) {
      return "unit " + std::to_string(unit.unit) + " of a conflict record " + *fault;
    }
    if (unit.unit != kAbout || value.is_null()) continue;
    const std::optional<ConflictRecord> record = read_about(change.item, value);
    if (!record || conflict_id(environment, *record) != record->id) {
      return "is no conflict record: what it says is not what its id was made from";
    }
  }
  return std::nullopt;
}

Bytes record_index_key(const Item& item) {
  if (!item.alive()) return {kDropped};
  Bytes key{kLiving};
  const std::optional<ConflictRecord> record = read_about(item.id, item.value_of(kAbout));
  append_number(key, record ? static_cast<std::uint64_t>(record->when_ms) : 0);
  return key;
}

IndexQuery living_records() { return records_that_are(kLiving); }

IndexQuery dropped_records() { return records_that_are(kDropped); }

std::int64_t record_time_ms(const IndexPosition& position) {
  if (position.key.size() != 1 + kTickBytes) return 0;
  return static_cast<std::int64_t>(number_in(std::span(position.key).subspan(1)));
}

}  // namespace harmonica::kernel
