// Messages drawn from a seed: valid ones, with everything in them that a message may have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "harmonica/limits.h"
#include "wire/codec.h"

namespace harmonica::wire {

class RandomMessages {
 public:
  explicit RandomMessages(std::uint64_t seed) : numbers_(seed) {
    for (int i = 0; i < 6; ++i) replicas_.push_back(id<ReplicaId>());
  }

  std::uint64_t below(std::uint64_t bound) { return numbers_() % bound; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }

  template <typename IdType>
  IdType id() {
    IdType id;
    for (auto& byte : id.bytes) byte = static_cast<std::uint8_t>(below(256));
    return id;
  }

  ReplicaId replica() { return replicas_[below(replicas_.size())]; }
  Tick tick() {
    return one_in(8) ? numbers_() | 1 : (Tick{1'700'000'000'000} + below(1'000'000)) << kTickCounterBits | below(4);
  }
  Version version() { return {replica(), tick()}; }

  ClockVector vector() {
    std::vector<ClockVector::Entry> entries;
    for (const ReplicaId& replica : replicas_) {
      if (!one_in(3)) entries.push_back({replica, tick()});
    }
    return ClockVector(std::move(entries));
  }

  Knowledge knowledge(const ItemIdRange& range) {
    Knowledge knowledge(vector());
    for (std::uint64_t count = below(5); count > 0; --count) {
      const ItemId first = id<ItemId>();
      const ItemId last = one_in(2) ? first : std::max(first, id<ItemId>());
      knowledge.assign({first, last}, vector());
    }
    return knowledge.project(range);
  }

  Value single_value() {
    switch (below(7)) {
      case 0:
        return {};
      case 1:
        return Value::boolean(one_in(2));
      case 2:
        return Value::integer(static_cast<std::int64_t>(numbers_()));
      case 3:
        return Value::real(static_cast<double>(below(1000)) / 8 - 50);
      case 4:
        return Value::text(std::string(below(20), 'x') + "\xc3\xa9");
      case 5:
        return Value::bytes(Bytes(below(20), 0xff));
      default:
        return Value::ids(Value::Ids(below(4), id<ItemId>()));
    }
  }

  Value value() {
    if (!one_in(6)) return single_value();
    Value::List list(below(4));
    for (Value& member : list) member = single_value();
    return Value::list(std::move(list));
  }

  std::vector<std::uint64_t> marks() {
    std::vector<std::uint64_t> marks(below(limits::kMarksShownMax + 1));
    for (std::uint64_t& mark : marks) mark = numbers_();
    return marks;
  }

  ReplicaDescription description() {
    return {replica(), one_in(3) ? "" : "notes.2", numbers_(), static_cast<std::int64_t>(numbers_()), marks(), marks()};
  }

  ItemChange change(const ItemId& item) {
    ItemChange change;
    change.item = item;
    change.type = static_cast<TypeId>(1 + below(0xffff));
    change.existence = {version(), static_cast<Existence>(below(4))};
    change.whole = one_in(2) || change.existence.value == Existence::kErased;
    if (change.existence.value == Existence::kErased) return change;
    UnitId unit = 0;
    for (std::uint64_t count = below(5); count > 0; --count) {
      unit = static_cast<UnitId>(unit + 1 + below(1000));
      const Version unit_version = one_in(2) ? change.existence.version : version();
      change.units.push_back({unit, {unit_version, value(), static_cast<Origin>(below(2))}});
    }
    return change;
  }

  ChangeRequest change_request() {
    ChangeRequest request;
    request.destination = description();
    request.number = numbers_();
    request.knowledge = knowledge(ItemIdRange::all());
    request.wanted_whole = item_ids(below(4));
    request.batch_bytes_max = numbers_();
    request.filter = filter();
    return request;
  }

  ChangeBatch batch() {
    ChangeBatch batch;
    batch.source = description();
    batch.destination = replica();
    batch.request_number = numbers_();
    const std::vector<ItemId> items = item_ids(1 + below(6));
    batch.range = {one_in(2) ? kFirstItemId : items.front(), one_in(2) ? last_item_id() : items.back()};
    batch.last = batch.range.last == last_item_id();
    for (const ItemId& item : items) batch.changes.push_back(change(item));
    batch.made_with = knowledge(batch.range);
    batch.forgotten = one_in(2) ? Knowledge() : knowledge(batch.range);
    batch.changes_left_estimate = below(100);
    batch.filter = filter();
    batch.source_filter = filter();
    if (one_in(3)) batch.moved_out = {items.begin() + 1, items.end()};
    return batch;
  }

  std::optional<Filter> filter() {
    switch (below(4)) {
      case 0:
        return *Filter::parse("a = 1 and not b like 'x%' or \"c d\" is null", {});
      case 1:
        return *Filter::parse("a >= :n and b in (:m, :n)", {{"n", Value::integer(5)}, {"m", Value()}});
      default:
        return std::nullopt;
    }
  }

  BatchReport report() {
    BatchReport report{below(9), below(9), below(9), below(9), below(9), below(9), below(9), numbers_(), {}, {}};
    for (const ItemId& item : item_ids(below(3))) report.failures.push_back({item, error()});
    if (one_in(3)) report.questions = questions();
    report.moved_out = below(9);
    return report;
  }

  Status error() { return {static_cast<StatusCode>(1 + below(14)), one_in(4) ? "" : "item a/b: \xe2\x82\xac"}; }

  Fingerprint fingerprint() {
    Fingerprint fingerprint{};
    for (auto& byte : fingerprint) byte = static_cast<std::uint8_t>(below(256));
    return fingerprint;
  }

  std::vector<RangeQuestion> questions() {
    std::vector<RangeQuestion> questions;
    const std::vector<ItemId> ends = item_ids(2 * (1 + below(4)));
    for (std::size_t index = 0; index < ends.size(); index += 2) {
      questions.push_back({{ends[index], one_in(3) ? ends[index] : ends[index + 1]}, fingerprint()});
    }
    return questions;
  }

  std::vector<RangeAnswer> answers() {
    std::vector<RangeAnswer> answers(1 + below(4));
    for (RangeAnswer& answer : answers) {
      answer.kind = static_cast<RangeAnswerKind>(below(3));
      if (answer.kind == RangeAnswerKind::kEqual) continue;
      const std::size_t parts = answer.kind == RangeAnswerKind::kParts ? 1 : 0;
      answer.ids = item_ids(parts + below(4));
      answer.fingerprints.resize(answer.ids.size() + parts);
      for (Fingerprint& one : answer.fingerprints) one = fingerprint();
    }
    return answers;
  }

  BeginComparison begin_comparison() {
    BeginComparison comparison;
    comparison.request.destination = description();
    comparison.request.number = numbers_();
    return comparison;
  }

  Schema schema() {
    Schema schema;
    if (one_in(5)) return schema;
    schema.default_scope = "scope" + std::to_string(below(3));
    for (TypeId number = 1; number <= below(4); ++number) {
      ItemType type{.id = number, .name = "type" + std::to_string(number)};
      type.deletion = static_cast<DeletionRule>(below(3));
      type.units = {{.id = 1, .name = "text", .kind = ValueKind::kText},
                    {.id = 2, .name = "order", .kind = ValueKind::kBytes, .role = UnitRole::kPosition},
                    {.id = 7, .name = "rank", .kind = ValueKind::kInteger, .rule = ConflictRule::kMax}};
      type.units[0].priority_unit = 7;
      if (one_in(2)) type.units[0].rule = ConflictRule::kPriority;
      if (one_in(2)) type.units[2].recording = ConflictRecording::kSilent;
      if (one_in(2)) type.natural_key = {1};
      schema.types.push_back(std::move(type));
    }
    for (std::uint64_t number = below(3); number > 0; --number) {
      schema.roots.push_back({id<ItemId>(), "root" + std::to_string(number)});
    }
    return schema;
  }

  ReplicaTable replicas() {
    std::map<ReplicaId, ReplicaRow> rows;
    for (std::uint64_t count = below(5); count > 0; --count) {
      ReplicaRow row;
      row.replica = replica();
      row.name = one_in(2) ? "h\xc3\xa9" : "";
      row.named_ms = static_cast<std::int64_t>(numbers_());
      if (one_in(2)) {
        row.former = id<ReplicaId>();
        row.kept = numbers_();
        row.copied = one_in(2);
      }
      row.retired = one_in(2);
      row.last = numbers_();
      rows[row.replica] = row;
    }
    std::vector<ReplicaRow> sorted;
    for (const auto& [replica, row] : rows) sorted.push_back(row);
    return *ReplicaTable::from_rows(std::move(sorted));
  }

  BatchSent sent() {
    BatchSent sent{batch(), {}};
    if (sent.batch.last) sent.ended = report();
    return sent;
  }

  Heading heading() { return {{one_in(2) ? ReplicaId{} : replica(), below(300)}, below(300)}; }

  Request request() {
    switch (below(11)) {
      case 0:
        return {heading(), change_request()};
      case 1:
        return {heading(), GetBatch{one_in(2) ? kFirstItemId : id<ItemId>()}};
      case 2:
        return {heading(), ApplyOptions{static_cast<OnConflict>(below(5)), numbers_(),
                                        one_in(2) ? std::optional(description()) : std::nullopt}};
      case 3:
        return {heading(), batch()};
      case 4:
        return {heading(), questions()};
      case 5:
        return {heading(), answers()};
      case 6:
        return {heading(), begin_comparison()};
      case 7:
        return {heading(), GetSchema{}};
      case 8:
        return {heading(), schema()};
      case 9:
        return {heading(), replicas()};
      default:
        return {heading(), End{}};
    }
  }

  Response response() {
    switch (below(10)) {
      case 0:
        return {heading(), below(300), error()};
      case 1:
        return {heading(), below(300), Offer{}};
      case 2:
        return {heading(), below(300), SourceBegun{description(), sent()}};
      case 3:
        return {heading(), below(300), sent()};
      case 4:
        return {heading(), below(300), change_request()};
      case 5:
        return {heading(), below(300), answers()};
      case 6:
        return {heading(), below(300), ComparedReplica{description(), knowledge(ItemIdRange::all()), filter()}};
      case 7:
        return {heading(), below(300), schema()};
      case 8:
        return {heading(), below(300), replicas()};
      default:
        return {heading(), below(300), report()};
    }
  }

 private:
  std::vector<ItemId> item_ids(std::uint64_t count) {
    std::set<ItemId> ids;
    while (ids.size() < count) ids.insert(id<ItemId>());
    return {ids.begin(), ids.end()};
  }

  std::mt19937_64 numbers_;
  std::vector<ReplicaId> replicas_;
};

// The bytes of a request with any body. What `retired` says counts if the request names its digest.
inline Bytes encode(const Request& request, const RetiredTicks& known = {}) {
  struct Encoder {
    const Heading& heading;
    const RetiredTicks& retired;
    Bytes operator()(const ChangeRequest& body) const { return encode_begin_source(heading, body, retired); }
    Bytes operator()(const GetBatch& body) const { return encode_get_batch(heading, body.first); }
    Bytes operator()(const ApplyOptions& body) const { return encode_begin_destination(heading, body, retired); }
    Bytes operator()(const ChangeBatch& body) const { return encode_process_batch(heading, body, retired); }
    Bytes operator()(const End&) const { return encode_end(heading); }
    Bytes operator()(const std::vector<RangeQuestion>& body) const { return encode_answer_questions(heading, body); }
    Bytes operator()(const std::vector<RangeAnswer>& body) const { return encode_process_answers(heading, body); }
    Bytes operator()(const BeginComparison& body) const { return encode_begin_comparison(heading, body.request, retired); }
    Bytes operator()(const GetSchema&) const { return encode_get_schema(heading); }
    Bytes operator()(const Schema& body) const { return encode_meet_schema(heading, body); }
    Bytes operator()(const ReplicaTable& body) const { return encode_meet_replicas(heading, body); }
    Bytes operator()(const OtherReplicas&) const { return {}; }  // what could not be read
  };
  return std::visit(Encoder{request.heading, request.replicas_digest == 0 ? RetiredTicks() : known}, request.body);
}

}  // namespace harmonica::wire
