// Joins an item store with its metadata into the provider that sessions talk to.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "harmonica/extension/provider.h"
#include "kernel/change_classifier.h"
#include "kernel/change_detector.h"
#include "kernel/range_sums.h"
#include "kernel/received_batch.h"
#include "kernel/replica_context.h"

namespace harmonica::kernel {

// One replica's side of sessions, one after the other. The context must outlive it. Thread-compatible.
class StoreProvider : public Provider {
 public:
  StoreProvider(ReplicaContext& context, ChangeDetector& detector);
  ~StoreProvider() override;

  Result<std::optional<ReplicaDescription>> describe() override;
  Result<ChangeRequest> begin_destination(const ApplyOptions& options) override;
  Result<ReplicaDescription> begin_source(const ChangeRequest& request) override;
  Result<ChangeBatch> get_change_batch(const ItemId& first) override;
  Result<BatchReport> process_change_batch(const ChangeBatch& batch) override;
  bool can_stop() const override;
  Result<ComparedReplica> begin_comparison(const ChangeRequest& request) override;
  Result<std::vector<RangeAnswer>> answer_questions(std::span<const RangeQuestion> questions) override;
  Result<BatchReport> process_answers(std::span<const RangeAnswer> answers) override;
  Result<Schema> schema() override;
  Result<Schema> meet_schema(const Schema& peer) override;
  Result<ReplicaTable> meet_replicas(const ReplicaTable& peer) override;
  Result<std::optional<ReplicaTable>> replicas() override;
  Result<BatchReport> end() override;

  // A request as of `begin_destination`, which begins no session.
  Result<ChangeRequest> next_request(const ApplyOptions& options);

  // Ends whatever session there is; what it has not applied is offered again.
  void abandon() { forget_session(); }

 private:
  Result<ReplicaDescription> describe_to(std::vector<std::uint64_t> marks_of_peer);
  Status part_from_copy(const ChangeRequest& request, const ReplicaDescription& own);
  Status meet_peer(const ReplicaDescription& peer, const Knowledge& knowledge);
  Status check_request(const ChangeRequest& request, const ReplicaDescription& own) const;
  Status check_batch(const ChangeBatch& batch);
  Result<ReplicaDescription> open_snapshot(const ChangeRequest& request);
  Result<BatchReport> begin_recovery(const ChangeBatch& batch);
  Result<BatchReport> continue_recovery();
  Result<BatchReport> take(const ChangeBatch& batch, std::optional<std::vector<ItemId>> absent);
  Status join_scope(const ScopeName& scope);
  void forget_session();
  Resolution resolution() const;

  ReplicaContext& context_;
  ChangeDetector& detector_;
  std::uint64_t request_number_ = 0;
  std::optional<ReplicaDescription> peer_;    // of this session, once met
  std::optional<ReplicaDescription> own_;     // as it is told in this session as a source
  std::vector<std::uint64_t> marks_of_peer_;  // by which it was known before

  // As a destination.
  std::optional<ChangeRequest> own_request_;
  ApplyOptions options_;
  // A batch that waits until it is known what the source does not hold, compared with one snapshot of what is held here.
  struct Recovery;
  std::unique_ptr<Recovery> recovery_;
  std::optional<ItemId> expected_;       // where the next batch starts; nothing after the last one
  std::deque<ChangeBatch> kept_;         // of a store that is written whole, until the end
  std::vector<ReceivedBatch> received_;  // those
  bool applied_ = false;                 // a batch of a store that is written item by item

  // As a source: one snapshot for the session.
  std::optional<ChangeRequest> request_;
  std::unique_ptr<MetadataTransaction> snapshot_;
  std::optional<ItemFilter> request_filter_;
  std::optional<ItemFilter> own_filter_;
  std::optional<RangeSums> sums_;
};

}  // namespace harmonica::kernel
