// A provider that records its calls and answers what the test put in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harmonica/extension/provider.h"

namespace harmonica {

class ScriptedProvider : public Provider {
 public:
  // What to answer. Each session as a destination gets the next request number.
  ChangeRequest request;
  ReplicaDescription description;
  std::vector<ChangeBatch> batches;  // found by the first id of their ranges
  BatchReport batch_report;
  std::vector<RangeAnswer> answers;
  BatchReport answers_report;
  BatchReport end_report;
  Schema own_schema;
  std::map<std::string, Status> errors;  // by method; stay until they are removed

  // What was asked.
  std::vector<std::string> calls;
  ApplyOptions last_options;
  ChangeRequest last_request;
  std::vector<ChangeBatch> processed;
  std::vector<RangeQuestion> asked_questions;
  std::vector<RangeAnswer> processed_answers;
  std::vector<Schema> met_schemas;
  ReplicaTable own_replicas;
  std::vector<ReplicaTable> met_replicas;

  Result<ChangeRequest> begin_destination(const ApplyOptions& options) override {
    calls.push_back("begin_destination");
    last_options = options;
    ++request.number;
    if (const auto error = errors.find("begin_destination"); error != errors.end()) return error->second;
    return request;
  }

  Result<ReplicaDescription> begin_source(const ChangeRequest& asked) override {
    calls.push_back("begin_source");
    last_request = asked;
    if (const auto error = errors.find("begin_source"); error != errors.end()) return error->second;
    return description;
  }

  Result<ChangeBatch> get_change_batch(const ItemId& first) override {
    calls.push_back("get_change_batch");
    if (const auto error = errors.find("get_change_batch"); error != errors.end()) return error->second;
    for (const ChangeBatch& batch : batches) {
      if (batch.range.first == first) return batch;
    }
    return Status(StatusCode::kNotFound, "no batch begins at " + first.to_text());
  }

  Result<BatchReport> process_change_batch(const ChangeBatch& batch) override {
    calls.push_back("process_change_batch");
    processed.push_back(batch);
    if (const auto error = errors.find("process_change_batch"); error != errors.end()) return error->second;
    return batch_report;
  }

  Result<ComparedReplica> begin_comparison(const ChangeRequest& asked) override {
    calls.push_back("begin_comparison");
    last_request = asked;
    if (const auto error = errors.find("begin_comparison"); error != errors.end()) return error->second;
    return ComparedReplica{description, request.knowledge};
  }

  Result<std::vector<RangeAnswer>> answer_questions(std::span<const RangeQuestion> questions) override {
    calls.push_back("answer_questions");
    asked_questions.assign(questions.begin(), questions.end());
    if (const auto error = errors.find("answer_questions"); error != errors.end()) return error->second;
    return answers;
  }

  Result<BatchReport> process_answers(std::span<const RangeAnswer> given) override {
    calls.push_back("process_answers");
    processed_answers.assign(given.begin(), given.end());
    if (const auto error = errors.find("process_answers"); error != errors.end()) return error->second;
    return answers_report;
  }

  Result<Schema> schema() override {
    calls.push_back("schema");
    if (const auto error = errors.find("schema"); error != errors.end()) return error->second;
    return own_schema;
  }

  Result<std::optional<ReplicaTable>> replicas() override {
    if (own_replicas.rows().empty()) return std::optional<ReplicaTable>();
    return std::optional<ReplicaTable>(own_replicas);
  }

  Result<ReplicaTable> meet_replicas(const ReplicaTable& peer) override {
    calls.push_back("meet_replicas");
    met_replicas.push_back(peer);
    if (const auto error = errors.find("meet_replicas"); error != errors.end()) return error->second;
    return own_replicas;
  }

  Result<Schema> meet_schema(const Schema& peer) override {
    calls.push_back("meet_schema");
    met_schemas.push_back(peer);
    if (const auto error = errors.find("meet_schema"); error != errors.end()) return error->second;
    return own_schema;
  }

  Result<BatchReport> end() override {
    calls.push_back("end");
    if (const auto error = errors.find("end"); error != errors.end()) return error->second;
    return end_report;
  }
};

}  // namespace harmonica
