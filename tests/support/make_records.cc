#include "support/make_records.h"

#include <algorithm>
#include <utility>

#include "harmonica/platform/crypto.h"
#include "harmonica/providers/records.h"

namespace harmonica::testing {
namespace {

constexpr std::size_t kItemsAtOnce = 50'000;
constexpr std::int64_t kMadeMs = 1'700'000'000'000;

Schema note_schema() {
  Schema schema;
  schema.default_scope = "notes";
  ItemType note{.id = 1, .name = "note"};
  note.units = {
      {.id = 1, .name = "title"}, {.id = 2, .name = "text"}, {.id = 3, .name = "stars", .kind = ValueKind::kInteger}};
  note.natural_key = {1};
  schema.types = {std::move(note)};
  return schema;
}

StoredItem note(std::size_t number, const ReplicaId& maker, bool is_edited) {
  const std::string title = "note " + std::to_string(number);
  const Tick tick = first_tick_of(kMadeMs) + number + 1;
  const Version made{maker, tick};
  StoredItem stored;
  const auto hash = platform::sha256(as_bytes(title));
  stored.item.id = *ItemId::from_bytes(ByteView(hash).first(ItemId::kSize));
  stored.item.type = 1;
  stored.item.existence = {made, Existence::kCreated};
  stored.item.units = {{1, {made, Value::text(title)}},
                       {2, {made, Value::text("what stands in " + title + " and is of some length")}},
                       {3, {made, Value::integer(static_cast<std::int64_t>(number % 6))}}};
  if (is_edited) {
    stored.item.at(2) = {{maker, first_tick_of(kMadeMs + 1'000'000)}, Value::text("edited since"), Origin::kWritten};
  }
  return stored;
}

}  // namespace

Status make_records(const std::string& path, const RecordsWanted& wanted) {
  HARMONICA_ASSIGN_OR_RETURN(const auto records, providers::open_records(path, {.scope = "notes"}));
  ReplicaId maker;
  maker.bytes.fill(0x4d);
  Knowledge knowledge;
  for (std::size_t first = 0; first < wanted.items; first += kItemsAtOnce) {
    HARMONICA_ASSIGN_OR_RETURN(const auto transaction, records->begin(TransactionMode::kWrite));
    HARMONICA_ASSIGN_OR_RETURN(ReplicaState state, transaction->state());
    platform::random_bytes(state.replica.bytes);
    state.schema_fingerprint = note_schema().fingerprint();
    Tick last = 0;
    for (std::size_t number = first; number < wanted.items && number < first + kItemsAtOnce; ++number) {
      const StoredItem stored = note(number, maker, wanted.edited == number);
      for (const UnitRegister& unit : stored.item.units) last = std::max(last, unit.content.version.tick);
      HARMONICA_RETURN_IF_ERROR(transaction->put(stored, {}));
    }
    knowledge.merge(Knowledge(ClockVector({{maker, last}})), ItemIdRange::all());
    state.last_tick = std::max(state.last_tick, last);
    HARMONICA_RETURN_IF_ERROR(transaction->set_state(state));
    HARMONICA_RETURN_IF_ERROR(transaction->set_schemas({note_schema(), {}}));
    HARMONICA_RETURN_IF_ERROR(transaction->set_knowledge(knowledge));
    HARMONICA_RETURN_IF_ERROR(transaction->commit());
  }
  return {};
}

}  // namespace harmonica::testing
