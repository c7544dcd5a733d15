// Turns messages that refer to one table of replicas into the model.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "wire/codec.h"

namespace harmonica::v1 {
class ApplyOptions;
class BatchSent;
class ChangeBatch;
class ChangeRequest;
class ComparedReplica;
class ItemChange;
class Knowledge;
class ReplicaDescription;
class ReplicaTable;
class UnitRegister;
}  // namespace harmonica::v1

namespace harmonica::wire {

// Of one message. Errors as of decode_request.
class MessageReader {
 public:
  // `retired`: what vectors may leave out; null: nothing.
  MessageReader(std::vector<ReplicaId> replicas, const RetiredTicks* retired)
      : replicas_(std::move(replicas)), retired_(retired) {}

  Result<ReplicaId> replica(std::uint32_t index) const;
  Result<ReplicaDescription> description(const v1::ReplicaDescription& from) const;
  Result<ReplicaTable> replica_table(const v1::ReplicaTable& from) const;
  Result<ApplyOptions> apply_options(const v1::ApplyOptions& from) const;
  Result<Knowledge> knowledge(const v1::Knowledge& from) const;
  Result<ChangeRequest> change_request(const v1::ChangeRequest& from) const;
  Result<ChangeBatch> change_batch(const v1::ChangeBatch& from) const;
  Result<ComparedReplica> compared_replica(const v1::ComparedReplica& from) const;
  Result<BatchSent> batch_sent(const v1::BatchSent& from) const;

 private:
  static Result<Version> version_of(const ClockVector::Entry& entry);

  Result<Version> version(std::uint32_t replica_index, Tick tick) const;
  Result<std::vector<ClockVector>> clock_vectors(const v1::Knowledge& from) const;

  // A vector that leaves out what is known of retired replicas, in its one form.
  Result<ClockVector> joined_with_retired(const std::vector<ClockVector::Entry>& entries) const;

  // The steps; their ids rise, neighbours differ, vectors appear in order and all are used.
  static Result<std::vector<Knowledge::Step>> steps(const v1::Knowledge& from);

  Result<Knowledge> knowledge_within(const v1::Knowledge& from, const ItemIdRange& range) const;

  static Result<std::vector<ItemId>> wanted_whole(const std::string& bytes);

  static Result<std::vector<ItemId>> moved_out(const std::string& bytes, const ItemIdRange& range);

  static Result<ItemIdRange> range(const v1::ChangeBatch& from);

  Result<std::vector<ItemChange>> changes(const v1::ChangeBatch& from, const ItemIdRange& range) const;
  Result<ItemChange> item_change(const v1::ItemChange& from) const;
  Result<UnitRegister> unit_register(const v1::UnitRegister& from, Tick existence_tick) const;

  std::vector<ReplicaId> replicas_;
  const RetiredTicks* retired_;
};

}  // namespace harmonica::wire
