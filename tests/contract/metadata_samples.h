// Items, knowledge and records that the tests of metadata stores put in.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "harmonica/extension/metadata_store.h"

namespace harmonica::testing {

// Ids whose order is that of their numbers.
inline ItemId item_id(std::uint32_t number) {
  ItemId id;
  for (int i = 0; i < 4; ++i) id.bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
  return id;
}

inline ReplicaId replica_id(std::uint8_t number) {
  ReplicaId id;
  id.bytes.fill(number);
  return id;
}

inline ConflictId conflict_id(std::uint8_t number) {
  ConflictId id;
  id.bytes.fill(number);
  return id;
}

// A living item whose existence and one unit have these versions, and which is not shown.
inline StoredItem plain_item(std::uint32_t number, const Version& existence, const Version& unit) {
  StoredItem stored;
  stored.item.id = item_id(number);
  stored.item.type = 1;
  stored.item.existence = {existence, Existence::kCreated};
  stored.item.units = {{1, {unit, Value::text("item " + std::to_string(number)), Origin::kWritten}}};
  return stored;
}

// Every kind of value, every field set, versions at the ends of what there can be.
inline StoredItem rich_item(std::uint32_t number) {
  const Version first{replica_id(1), 1};
  const Version greatest{replica_id(2), std::numeric_limits<Tick>::max()};
  StoredItem stored;
  stored.item.id = item_id(number);
  stored.item.type = 65535;
  stored.item.existence = {first, Existence::kRestored};
  stored.item.units = {
      {1, {first, Value(), Origin::kWritten}},
      {2, {greatest, Value::boolean(true), Origin::kMadeByRule}},
      {3, {first, Value::integer(std::numeric_limits<std::int64_t>::min()), Origin::kWritten}},
      {4, {first, Value::real(-0.5), Origin::kWritten}},
      {5, {{replica_id(9), 7}, Value::text("text"), Origin::kWritten}},
      {6, {first, Value::bytes({0, 255}), Origin::kWritten}},
      {7, {first, Value::ids({item_id(1), item_id(2)}), Origin::kWritten}},
      {65535, {first, Value::list({Value(), Value::text(""), Value::integer(3)}), Origin::kWritten}},
  };
  stored.view = {true, true, true, item_id(77), 65535, 255};
  // One value as in its register, one unlike it, one without a register.
  stored.shown = ShownItem{"key", item_id(78), {1, 2}, {{5, Value::text("text")}, {6, Value()}, {9, Value::text("x")}}};
  return stored;
}

inline StoredItem item_with_bases(std::uint32_t number) {
  const Version first{replica_id(1), 1};
  StoredItem stored = plain_item(number, first, first);
  stored.merge_bases = {{5, {first, Value::text("tex"), Origin::kWritten}},
                        {5, {{replica_id(8), 7}, Value::text("te"), Origin::kMadeByRule}},
                        {65535, {{replica_id(2), std::numeric_limits<Tick>::max()}, Value(), Origin::kWritten}}};
  return stored;
}

inline ConflictRecord conflict_record(std::uint8_t number, std::int64_t when_ms) {
  ConflictRecord record;
  record.id = conflict_id(number);
  record.item = item_id(number);
  record.type = 2;
  record.unit = 5;
  record.kept = {{replica_id(1), 10}, Value::text("kept"), Existence::kCreated};
  record.lost = {{replica_id(2), 9}, Value::text("lost"), Existence::kDeleted};
  record.rule = "latest";
  record.decided_by = replica_id(3);
  record.when_ms = when_ms;
  return record;
}

inline ConflictRecord deferred_record(std::uint8_t number, std::int64_t when_ms) {
  ConflictRecord record = conflict_record(number, when_ms);
  record.state = ConflictState::kDeferred;
  record.rule = "manual";
  ItemChange change;
  change.item = record.item;
  change.type = record.type;
  change.existence = {{replica_id(2), 3}, Existence::kRestored};
  change.units = {{5, {{replica_id(2), 9}, Value::text("lost"), Origin::kMadeByRule}}};
  change.whole = true;
  record.deferred = change;
  record.deferred_made_with = ClockVector({{replica_id(1), 4}, {replica_id(2), 9}});
  return record;
}

}  // namespace harmonica::testing
