// What the accepted vectors of protocol version 1 say.
#pragma once

#include <map>
#include <string>

#include "support/shorthand.h"
#include "wire/codec.h"

namespace harmonica::wire {

inline ReplicaDescription golden_description(char letter) {
  return {shorthand::replica(letter), "notes", 0x1122334455667788, 1'700'000'000'000, {}, {}};
}

inline ReplicaDescription golden_marked(char letter) {
  ReplicaDescription description = golden_description(letter);
  description.marks = {0x0102030405060708, 1};
  description.marks_of_peer = {0x1112131415161718};
  return description;
}

inline ChangeRequest golden_change_request() {
  ChangeRequest request;
  request.destination = golden_description('D');
  request.number = 3;
  request.knowledge = shorthand::knowledge("{A:111464448000000001,D:7}|i7:{A:2}|i9..i12:{}|i20:{A:2}");
  request.wanted_whole = {shorthand::item(7), shorthand::item(300)};
  request.batch_bytes_max = 1024 * 1024;
  return request;
}

// Every kind of value, existence and origin.
inline ChangeBatch golden_batch() {
  const auto unit = [](UnitId number, std::string_view version, Value value, Origin origin = Origin::kWritten) {
    return UnitRegister{number, {shorthand::version(version), std::move(value), origin}};
  };
  ItemChange created;
  created.item = shorthand::item(1);
  created.type = 1;
  created.existence = {shorthand::version("A111464448000000001"), Existence::kCreated};
  created.whole = true;
  created.units = {
      unit(1, "A111464448000000001", Value()),
      unit(2, "A111464448000000001", Value::boolean(true)),
      unit(3, "A111464448000000002", Value::integer(-5)),
      unit(4, "B9", Value::real(0.5)),
      unit(5, "B9", Value::text("h\xc3\xa9"), Origin::kMadeByRule),
      unit(6, "B9", Value::bytes({0x00, 0xff})),
      unit(7, "B9", Value::ids({shorthand::item(4), shorthand::item(5)})),
      unit(65535, "B9", Value::list({Value(), Value::boolean(false), Value::text("")})),
  };
  ItemChange restored;
  restored.item = shorthand::item(2);
  restored.type = 65535;
  restored.existence = {shorthand::version("B9"), Existence::kRestored};
  ItemChange deleted;
  deleted.item = shorthand::item(3);
  deleted.type = 2;
  deleted.existence = {shorthand::version("A18446744073709551615"), Existence::kDeleted};

  ChangeBatch batch;
  batch.source = golden_description('A');
  batch.destination = shorthand::replica('D');
  batch.request_number = 3;
  batch.range = shorthand::range("i1..i9");
  batch.changes = {created, restored, deleted};
  batch.made_with = Knowledge(shorthand::vector("{A:5,B:9}")).project(batch.range);
  batch.forgotten = Knowledge(shorthand::vector("{B:2}")).project(shorthand::range("i3..i4"));
  batch.changes_left_estimate = 12;
  return batch;
}

// Of an erased item nothing is sent but that it is.
inline ChangeBatch golden_erasing_batch() {
  ItemChange erased;
  erased.item = shorthand::item(3);
  erased.type = 2;
  erased.existence = {shorthand::version("B9"), Existence::kErased};
  erased.whole = true;
  ChangeBatch batch = golden_batch();
  batch.changes = {erased};
  return batch;
}

inline ChangeBatch golden_empty_batch() {
  ChangeBatch batch;
  batch.source = golden_description('A');
  batch.destination = shorthand::replica('D');
  batch.request_number = 3;
  batch.range = ItemIdRange::all();
  batch.last = true;
  batch.made_with = Knowledge(shorthand::vector("{A:5,B:9}"));
  return batch;
}

inline BatchReport golden_report() {
  return {1, 2, 3, 4, 5, 6, 7, 300, {{shorthand::item(8), Status(StatusCode::kIo, "item 8: disk full")}}, {}};
}

inline Fingerprint golden_fingerprint(std::uint8_t number) {
  Fingerprint fingerprint{};
  fingerprint.back() = number;
  return fingerprint;
}

inline std::vector<RangeQuestion> golden_questions() {
  return {{{kFirstItemId, shorthand::item(4)}, golden_fingerprint(1)},
          {shorthand::range("i5..i5"), golden_fingerprint(0)},
          {{shorthand::item(9), last_item_id()}, golden_fingerprint(255)}};
}

inline std::vector<RangeAnswer> golden_answers() {
  return {{RangeAnswerKind::kParts, {shorthand::item(2)}, {golden_fingerprint(2), golden_fingerprint(3)}},
          {RangeAnswerKind::kEqual, {}, {}},
          {RangeAnswerKind::kItems, {}, {}},
          {RangeAnswerKind::kItems,
           {shorthand::item(10), shorthand::item(11)},
           {golden_fingerprint(4), golden_fingerprint(5)}}};
}

inline BeginComparison golden_begin_comparison() {
  BeginComparison comparison;
  comparison.request.destination = golden_description('D');
  comparison.request.number = 3;
  return comparison;
}

inline Filter golden_filter() {
  return *Filter::parse("count >= :least or label in (:a, :b)",
                        {{"a", Value::text("x")}, {"b", Value()}, {"least", Value::integer(3)}});
}

inline ChangeRequest golden_filtered_request() {
  ChangeRequest request = golden_change_request();
  request.filter = golden_filter();
  return request;
}

inline ChangeBatch golden_filtered_batch() {
  ChangeBatch batch = golden_empty_batch();
  batch.filter = golden_filter();
  batch.source_filter = *Filter::parse("starred", {});
  batch.moved_out = {shorthand::item(4), shorthand::item(300)};
  return batch;
}

inline ComparedReplica golden_filtered_comparison() {
  return {golden_description('A'), Knowledge(shorthand::vector("{A:5,B:9}")), golden_filter()};
}

inline BatchReport golden_report_of_moves() {
  BatchReport report;
  report.moved_out = 300;
  return report;
}

inline BatchReport golden_waiting_report() {
  BatchReport report;
  report.questions = golden_questions();
  return report;
}

inline ReplicaTable golden_replicas() {
  ReplicaRow named;
  named.replica = shorthand::replica('A');
  named.name = "h\xc3\xa9";
  named.named_ms = 5;
  ReplicaRow renewed;
  renewed.replica = shorthand::replica('B');
  renewed.former = shorthand::replica('D');
  renewed.kept = 9;
  renewed.copied = true;
  ReplicaRow gone;
  gone.replica = shorthand::replica('C');
  gone.retired = true;
  gone.last = 7;
  return *ReplicaTable::from_rows({named, renewed, gone});
}

// Knows of the retired one of golden_replicas() what all do, and of another item nothing.
inline ChangeRequest golden_request_of_retired() {
  ChangeRequest request;
  request.destination = golden_description('D');
  request.number = 3;
  request.knowledge = shorthand::knowledge("{C:7,D:5}|i7:{C:7}|i8:{C:6,D:5}|i9:{D:5}");
  return request;
}

inline Schema golden_schema() {
  Schema schema;
  schema.default_scope = "notes";
  ItemType note{.id = 1, .name = "note", .deletion = DeletionRule::kLatest, .rule = ConflictRule::kManual};
  note.units = {
      {.id = 1, .name = "h\xc3\xa9", .kind = ValueKind::kText, .rule = ConflictRule::kPriority, .priority_unit = 300},
      {.id = 2, .name = "order", .kind = ValueKind::kBytes, .role = UnitRole::kPosition},
      {.id = 300, .name = "rank", .kind = ValueKind::kInteger, .recording = ConflictRecording::kSilent}};
  note.natural_key = {300, 1};
  schema.types = {note, {.id = 65535, .name = "tag"}};
  schema.roots = {{shorthand::item(1), "bar"}};
  return schema;
}

inline std::map<std::string, Request> golden_requests() {
  const SessionId far_source{shorthand::replica('D'), 3};
  const SessionId far_destination{{}, 300};
  return {
      {"begin source", {{far_source, 0}, golden_change_request()}},
      {"get batch at the first id", {{far_source, 1}, GetBatch{kFirstItemId}}},
      {"get batch at another id", {{far_source, 300}, GetBatch{shorthand::item(10)}}},
      {"begin destination", {{far_destination, 0}, ApplyOptions{OnConflict::kManual, 5000}}},
      {"begin destination, destination wins", {{far_destination, 0}, ApplyOptions{OnConflict::kDestinationWins, 0}}},
      {"meet replicas", {{}, golden_replicas()}},
      {"begin destination of a source that is near",
       {{far_destination, 0}, ApplyOptions{OnConflict::kAsInSchema, 0, golden_marked('A')}}},
      {"begin destination without a number", {{}, ApplyOptions{}}},
      {"process batch", {{far_destination, 1}, golden_batch()}},
      {"process batch that erases", {{far_destination, 1}, golden_erasing_batch()}},
      {"end", {{far_destination, 2}, End{}}},
      {"answer questions", {{far_source, 1}, golden_questions()}},
      {"process answers", {{far_destination, 2}, golden_answers()}},
      {"begin comparison", {{far_source, 0}, golden_begin_comparison()}},
      {"begin source with a filter", {{far_source, 0}, golden_filtered_request()}},
      {"process batch with a filter", {{far_destination, 1}, golden_filtered_batch()}},
      {"begin source, retired left out", {{far_source, 0}, golden_request_of_retired(), golden_replicas().digest()}},
      {"begin destination, retired may be left out",
       {{far_destination, 0}, ApplyOptions{OnConflict::kManual, 5000}, golden_replicas().digest()}},
      {"get schema", {{}, GetSchema{}}},
      {"meet schema", {{}, golden_schema()}},
      {"meet schema of one who has none", {{}, Schema{}}},
  };
}

inline std::map<std::string, Response> golden_responses() {
  const SessionId far_source{shorthand::replica('D'), 3};
  const SessionId far_destination{{}, 300};
  return {
      {"error", {{far_source, 0}, 1, Status(StatusCode::kScopeMismatch, "scope notes: the peer keeps tasks")}},
      {"error without its request", {{}, 1, Status(StatusCode::kCorruption, "request: cut short or not a message")}},
      {"offer", {{}, 301, Offer{}}},
      {"source begun, nothing to send",
       {{far_source, 0}, 1, SourceBegun{golden_description('A'), {golden_empty_batch(), BatchReport{}}}}},
      {"batch sent", {{far_source, 1}, 1, BatchSent{golden_batch(), {}}}},
      {"destination begun", {{far_destination, 0}, 301, golden_change_request()}},
      {"report", {{far_destination, 1}, 301, golden_report()}},
      {"report with questions", {{far_destination, 1}, 301, golden_waiting_report()}},
      {"answers", {{far_source, 1}, 1, golden_answers()}},
      {"comparison begun with a filter", {{far_source, 0}, 1, golden_filtered_comparison()}},
      {"report of what moved out", {{far_destination, 1}, 301, golden_report_of_moves()}},
      {"destination begun, retired left out",
       {{far_destination, 0}, 301, golden_request_of_retired(), golden_replicas().digest()}},
      {"other replicas", {{far_source, 0}, 1, OtherReplicas{}}},
      {"schema", {{}, 1, golden_schema()}},
      {"replicas", {{}, 1, golden_replicas()}},
      {"comparison begun",
       {{far_source, 0}, 1, ComparedReplica{golden_description('A'), Knowledge(shorthand::vector("{A:5,B:9}"))}}},
  };
}

}  // namespace harmonica::wire
