#include "wire/message_reader.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "harmonica.pb.h"
#include "harmonica/limits.h"
#include "wire/message_values.h"

namespace harmonica::wire {
namespace {

// Every step lies within `range`, or its vector is empty.
bool is_empty_outside(const Knowledge& knowledge, const ItemIdRange& range) {
  const auto steps = knowledge.steps();
  const std::optional<ItemId> behind = next(range.last);
  for (std::size_t index = 0; index < steps.size(); ++index) {
    if (knowledge.vectors()[steps[index].vector].empty()) continue;
    if (steps[index].first < range.first) return false;
    const bool is_last = index + 1 == steps.size();
    if (is_last ? behind.has_value() : behind && steps[index + 1].first > *behind) return false;
  }
  return true;
}

}  // namespace

Result<ReplicaId> MessageReader::replica(std::uint32_t index) const {
  if (index >= replicas_.size()) {
    return corrupt("replica index " + std::to_string(index) + " in a table of " + std::to_string(replicas_.size()));
  }
  return replicas_[index];
}

Result<ReplicaDescription> MessageReader::description(const v1::ReplicaDescription& from) const {
  ReplicaDescription description;
  HARMONICA_ASSIGN_OR_RETURN(description.replica, replica(from.replica()));
  if (!from.scope().empty() && !is_valid_scope_name(from.scope())) return corrupt("scope is not a valid name");
  description.scope = from.scope();
  description.schema_fingerprint = from.schema_fingerprint();
  description.wall_clock_ms = from.wall_clock_ms();
  for (const auto* marks : {&from.marks(), &from.marks_of_peer()}) {
    const auto count = static_cast<std::size_t>(marks->size());
    if (count > limits::kMarksShownMax) return too_many(count, "marks", limits::kMarksShownMax);
  }
  description.replicas_digest = from.replicas_digest();
  description.marks.assign(from.marks().begin(), from.marks().end());
  description.marks_of_peer.assign(from.marks_of_peer().begin(), from.marks_of_peer().end());
  return description;
}

Result<ReplicaTable> MessageReader::replica_table(const v1::ReplicaTable& from) const {
  const auto count = static_cast<std::size_t>(from.rows_size());
  if (count > limits::kReplicasMax) return too_many(count, "replicas", limits::kReplicasMax);
  std::vector<ReplicaRow> rows;
  rows.reserve(count);
  for (const v1::ReplicaRow& message : from.rows()) {
    ReplicaRow row;
    HARMONICA_ASSIGN_OR_RETURN(row.replica, replica(message.replica()));
    if (!rows.empty() && row.replica <= rows.back().replica) return corrupt("rows out of order");
    HARMONICA_ASSIGN_OR_RETURN(row.name, to_text(message.name()));
    row.named_ms = message.named_ms();
    if (message.has_former()) {
      HARMONICA_ASSIGN_OR_RETURN(row.former, replica(message.former().replica()));
      row.kept = message.former().kept();
      row.copied = message.former().copied();
    }
    row.retired = message.retired();
    row.last = message.last();
    rows.push_back(std::move(row));
  }
  return ReplicaTable::from_rows(std::move(rows));
}

Result<ApplyOptions> MessageReader::apply_options(const v1::ApplyOptions& from) const {
  HARMONICA_ASSIGN_OR_RETURN(const OnConflict on_conflict, to_enum(kOnConflicts, from.on_conflict(), "conflict option"));
  ApplyOptions options{on_conflict, from.batch_bytes_max(), std::nullopt};
  if (from.has_source()) {
    HARMONICA_ASSIGN_OR_RETURN(options.source, description(from.source()));
  }
  return options;
}

Result<Knowledge> MessageReader::knowledge(const v1::Knowledge& from) const {
  if (from.steps_size() == 0) return corrupt("no step");
  const auto step_count = static_cast<std::size_t>(from.steps_size());
  if (step_count > limits::kKnowledgeStepsMax) return too_many(step_count, "steps", limits::kKnowledgeStepsMax);
  if (from.vector_sizes_size() > from.steps_size()) return corrupt("more vectors than steps");
  HARMONICA_ASSIGN_OR_RETURN(std::vector<ClockVector> vectors, clock_vectors(from));
  HARMONICA_ASSIGN_OR_RETURN(std::vector<Knowledge::Step> steps, this->steps(from));
  const std::size_t vector_count = vectors.size();
  HARMONICA_ASSIGN_OR_RETURN(Knowledge knowledge, Knowledge::from_steps(std::move(vectors), std::move(steps)));
  // Order and use of the vectors were tested above; what is left is that no two are equal.
  if (knowledge.vectors().size() != vector_count || knowledge.steps().size() != step_count) {
    return corrupt("two equal vectors");
  }
  return knowledge;
}

Result<ChangeRequest> MessageReader::change_request(const v1::ChangeRequest& from) const {
  ChangeRequest request;
  auto destination = description(from.destination());
  if (!destination.ok()) return destination.status().within("destination");
  request.destination = *std::move(destination);
  request.number = from.number();
  auto knowledge = this->knowledge(from.knowledge());
  if (!knowledge.ok()) return knowledge.status().within("knowledge");
  request.knowledge = *std::move(knowledge);
  auto wanted = wanted_whole(from.wanted_whole());
  if (!wanted.ok()) return wanted.status().within("wanted whole");
  request.wanted_whole = *std::move(wanted);
  request.batch_bytes_max = from.batch_bytes_max();
  HARMONICA_ASSIGN_OR_RETURN(request.filter, to_filter_if(from.filter(), from.has_filter(), "filter"));
  return request;
}

Result<ChangeBatch> MessageReader::change_batch(const v1::ChangeBatch& from) const {
  ChangeBatch batch;
  auto source = description(from.source());
  if (!source.ok()) return source.status().within("source");
  batch.source = *std::move(source);
  auto destination = replica(from.destination());
  if (!destination.ok()) return destination.status().within("destination");
  batch.destination = *destination;
  batch.request_number = from.request_number();
  auto covered = range(from);
  if (!covered.ok()) return covered.status().within("range");
  batch.range = *covered;
  batch.last = batch.range.last == last_item_id();
  HARMONICA_ASSIGN_OR_RETURN(batch.changes, changes(from, batch.range));
  auto made_with = knowledge_within(from.made_with(), batch.range);
  if (!made_with.ok()) return made_with.status().within("made-with knowledge");
  batch.made_with = *std::move(made_with);
  auto forgotten = knowledge_within(from.forgotten(), batch.range);
  if (!forgotten.ok()) return forgotten.status().within("forgotten knowledge");
  batch.forgotten = *std::move(forgotten);
  batch.changes_left_estimate = from.changes_left_estimate();
  HARMONICA_ASSIGN_OR_RETURN(batch.filter, to_filter_if(from.filter(), from.has_filter(), "filter"));
  HARMONICA_ASSIGN_OR_RETURN(batch.source_filter,
                             to_filter_if(from.source_filter(), from.has_source_filter(), "source filter"));
  auto moved_out = this->moved_out(from.moved_out(), batch.range);
  if (!moved_out.ok()) return moved_out.status().within("moved out");
  batch.moved_out = *std::move(moved_out);
  return batch;
}

Result<ComparedReplica> MessageReader::compared_replica(const v1::ComparedReplica& from) const {
  ComparedReplica compared;
  HARMONICA_ASSIGN_OR_RETURN(compared.replica, description(from.replica()));
  auto knowledge = this->knowledge(from.knowledge());
  if (!knowledge.ok()) return knowledge.status().within("knowledge");
  compared.knowledge = *std::move(knowledge);
  HARMONICA_ASSIGN_OR_RETURN(compared.filter, to_filter_if(from.filter(), from.has_filter(), "filter"));
  return compared;
}

Result<BatchSent> MessageReader::batch_sent(const v1::BatchSent& from) const {
  BatchSent sent;
  auto batch = change_batch(from.batch());
  if (!batch.ok()) return batch.status().within("batch");
  sent.batch = *std::move(batch);
  if (from.has_ended()) {
    HARMONICA_ASSIGN_OR_RETURN(sent.ended, to_report(from.ended()));
  }
  return sent;
}

Result<Version> MessageReader::version_of(const ClockVector::Entry& entry) {
  if (entry.tick == 0) return corrupt("version without a tick");
  return Version{entry.replica, entry.tick};
}

Result<Version> MessageReader::version(std::uint32_t replica_index, Tick tick) const {
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaId id, replica(replica_index));
  return version_of({id, tick});
}

Result<std::vector<ClockVector>> MessageReader::clock_vectors(const v1::Knowledge& from) const {
  if (from.entry_replicas_size() != from.entry_ticks_size()) return corrupt("vector entries without replica or tick");
  if (from.vector_forms_size() != 0 && from.vector_forms_size() != from.vector_sizes_size()) {
    return corrupt("vectors without a form");
  }
  std::vector<ClockVector> vectors;
  vectors.reserve(static_cast<std::size_t>(from.vector_sizes_size()));
  int entry = 0;
  std::size_t left_out = 0;
  for (int index = 0; index < from.vector_sizes_size(); ++index) {
    const std::uint32_t size = from.vector_sizes(index);
    if (size > static_cast<std::uint32_t>(from.entry_replicas_size() - entry)) return corrupt("vector cut short");
    const int end = entry + static_cast<int>(size);
    std::vector<ClockVector::Entry> entries;
    entries.reserve(size);
    for (const int first = entry; entry < end; ++entry) {
      if (entry > first && from.entry_replicas(entry - 1) >= from.entry_replicas(entry)) {
        return corrupt("vector entries out of order");
      }
      HARMONICA_ASSIGN_OR_RETURN(const ReplicaId id, replica(from.entry_replicas(entry)));
      entries.push_back({id, from.entry_ticks(entry)});
    }
    const std::uint32_t form = from.vector_forms_size() == 0 ? 0 : from.vector_forms(index);
    if (form == 1 && retired_ != nullptr) {
      left_out += retired_->ticks.entries().size();
      if (left_out > limits::kLeftOutEntriesMax) return too_many(left_out, "entries left out", limits::kLeftOutEntriesMax);
      HARMONICA_ASSIGN_OR_RETURN(ClockVector vector, joined_with_retired(entries));
      vectors.push_back(std::move(vector));
      continue;
    }
    if (form != 0) return corrupt("unknown form " + std::to_string(form) + " of a vector");
    for (const ClockVector::Entry& one : entries) HARMONICA_RETURN_IF_ERROR(version_of(one).status());
    vectors.emplace_back(std::move(entries));
  }
  if (entry != from.entry_replicas_size()) return corrupt("vector entries left over");
  return vectors;
}

Result<ClockVector> MessageReader::joined_with_retired(const std::vector<ClockVector::Entry>& entries) const {
  ClockVector vector = with_retired(entries, *retired_);
  if (without_retired(vector, *retired_) != entries) return corrupt("vector repeats the tick of a retired replica");
  if (entries.size() >= vector.entries().size()) return corrupt("vector that is shorter with its retired replicas");
  return vector;
}

Result<std::vector<Knowledge::Step>> MessageReader::steps(const v1::Knowledge& from) {
  HARMONICA_ASSIGN_OR_RETURN(const std::vector<ItemId> firsts, to_ids<ItemId>(from.step_firsts()));
  const auto vector_count = static_cast<std::uint32_t>(from.vector_sizes_size());
  std::vector<Knowledge::Step> steps;
  steps.reserve(static_cast<std::size_t>(from.steps_size()));
  std::uint32_t seen = 0;
  auto id = firsts.begin();
  for (const std::uint32_t code : from.steps()) {
    Knowledge::Step step{kFirstItemId, code / 2};
    if (steps.empty()) {
      if (code % 2 != 0) return corrupt("the first step follows nothing");
    } else {
      const std::optional<ItemId> following = next(steps.back().first);
      if (code % 2 != 0) {
        if (!following) return corrupt("a step behind the last id");
        step.first = *following;
      } else {
        if (id == firsts.end()) return corrupt("step without an id");
        step.first = *id++;
        if (step.first <= steps.back().first) return corrupt("step " + step.first.to_text() + " out of order");
        if (step.first == following) return corrupt("step " + step.first.to_text() + " written out");
      }
      if (step.vector == steps.back().vector) return corrupt("neighbouring steps of one vector");
    }
    if (step.vector >= vector_count)
      return corrupt("vector index " + std::to_string(step.vector) + " in a table of " + std::to_string(vector_count));
    if (step.vector > seen) return corrupt("vectors not in order of use");
    if (step.vector == seen) ++seen;
    steps.push_back(step);
  }
  if (id != firsts.end()) return corrupt("step ids left over");
  if (seen != vector_count) return corrupt("unused vector");
  return steps;
}

Result<Knowledge> MessageReader::knowledge_within(const v1::Knowledge& from, const ItemIdRange& range) const {
  HARMONICA_ASSIGN_OR_RETURN(Knowledge knowledge, this->knowledge(from));
  if (!is_empty_outside(knowledge, range)) return corrupt("not empty outside the range");
  return knowledge;
}

Result<std::vector<ItemId>> MessageReader::wanted_whole(const std::string& bytes) {
  HARMONICA_ASSIGN_OR_RETURN(std::vector<ItemId> ids, to_ids<ItemId>(bytes));
  if (ids.size() > limits::kWantedWholeMax) return too_many(ids.size(), "items", limits::kWantedWholeMax);
  if (!ids.empty() && ids.front().is_zero()) return corrupt("zero item id");
  HARMONICA_RETURN_IF_ERROR(check_rising(ids));
  return ids;
}

Result<std::vector<ItemId>> MessageReader::moved_out(const std::string& bytes, const ItemIdRange& range) {
  HARMONICA_ASSIGN_OR_RETURN(std::vector<ItemId> ids, to_ids<ItemId>(bytes));
  if (ids.size() > limits::kBatchChangesMax) return too_many(ids.size(), "items", limits::kBatchChangesMax);
  if (!ids.empty() && ids.front().is_zero()) return corrupt("zero item id");
  HARMONICA_RETURN_IF_ERROR(check_rising(ids));
  if (!ids.empty() && !(range.contains(ids.front()) && range.contains(ids.back()))) return corrupt("outside the range");
  return ids;
}

Result<ItemIdRange> MessageReader::range(const v1::ChangeBatch& from) {
  HARMONICA_ASSIGN_OR_RETURN(const ItemId first, to_range_end(from.range_first(), kFirstItemId));
  HARMONICA_ASSIGN_OR_RETURN(const ItemId last, to_range_end(from.range_last(), last_item_id()));
  if (first > last) return corrupt("begins at " + first.to_text() + " and ends before it");
  return ItemIdRange{first, last};
}

Result<std::vector<ItemChange>> MessageReader::changes(const v1::ChangeBatch& from, const ItemIdRange& range) const {
  const auto count = static_cast<std::size_t>(from.changes_size());
  if (count > limits::kBatchChangesMax) return too_many(count, "changes", limits::kBatchChangesMax);
  std::vector<ItemChange> changes;
  changes.reserve(count);
  for (const v1::ItemChange& message : from.changes()) {
    auto change = item_change(message);
    if (!change.ok()) return change.status().within("change " + std::to_string(changes.size()));
    if (!changes.empty() && changes.back().item >= change->item) {
      return corrupt("change of item " + change->item.to_text() + " out of order");
    }
    if (!range.contains(change->item)) {
      return corrupt("change of item " + change->item.to_text() + " outside the range");
    }
    changes.push_back(*std::move(change));
  }
  return changes;
}

Result<ItemChange> MessageReader::item_change(const v1::ItemChange& from) const {
  const auto unit_count = static_cast<std::size_t>(from.units_size());
  if (unit_count > limits::kUnitsMax) return too_many(unit_count, "units", limits::kUnitsMax);
  ItemChange change;
  HARMONICA_ASSIGN_OR_RETURN(change.item, to_item_id(from.item()));
  HARMONICA_ASSIGN_OR_RETURN(change.type, to_number(from.type(), "type"));
  HARMONICA_ASSIGN_OR_RETURN(change.existence.value, to_enum(kExistences, from.existence(), "existence"));
  HARMONICA_ASSIGN_OR_RETURN(change.existence.version, version(from.replica(), from.tick()));
  change.whole = from.whole();
  change.units.reserve(unit_count);
  for (const v1::UnitRegister& message : from.units()) {
    auto unit = unit_register(message, from.tick());
    if (!unit.ok()) return unit.status().within("unit " + std::to_string(message.unit()));
    if (!change.units.empty() && change.units.back().unit >= unit->unit) {
      return corrupt("unit " + std::to_string(unit->unit) + " out of order");
    }
    change.units.push_back(*std::move(unit));
  }
  if (change.existence.value == Existence::kErased && !(change.whole && change.units.empty())) {
    return corrupt("item " + change.item.to_text() + " is erased, and comes with units, or not whole");
  }
  return change;
}

Result<UnitRegister> MessageReader::unit_register(const v1::UnitRegister& from, Tick existence_tick) const {
  UnitRegister unit;
  HARMONICA_ASSIGN_OR_RETURN(unit.unit, to_number(from.unit(), "unit"));
  HARMONICA_ASSIGN_OR_RETURN(unit.content.version,
                             version(from.replica(), existence_tick + static_cast<Tick>(from.ticks_after_existence())));
  HARMONICA_ASSIGN_OR_RETURN(unit.content.origin, to_enum(kOrigins, from.origin(), "origin"));
  HARMONICA_ASSIGN_OR_RETURN(unit.content.value, to_value(from.value()));
  return unit;
}

}  // namespace harmonica::wire
