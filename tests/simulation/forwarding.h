// Decorators that change nothing: what faults, observers and broken variants derive from.
#pragma once

#include <memory>
#include <utility>

#include "harmonica/extension/environment.h"
#include "harmonica/extension/item_store.h"
#include "harmonica/extension/metadata_store.h"
#include "harmonica/extension/provider.h"

namespace harmonica::simulation {

class ForwardingTransaction : public MetadataTransaction {
 public:
  explicit ForwardingTransaction(std::unique_ptr<MetadataTransaction> inner) : inner_(std::move(inner)) {}

  Result<ReplicaState> state() override { return inner_->state(); }
  Status set_state(const ReplicaState& state) override { return inner_->set_state(state); }
  Result<Bytes> anchor() override { return inner_->anchor(); }
  Status set_anchor(const Bytes& anchor) override { return inner_->set_anchor(anchor); }
  Result<Knowledge> knowledge() override { return inner_->knowledge(); }
  Status set_knowledge(const Knowledge& knowledge) override { return inner_->set_knowledge(knowledge); }
  Result<Knowledge> forgotten() override { return inner_->forgotten(); }
  Status set_forgotten(const Knowledge& forgotten) override { return inner_->set_forgotten(forgotten); }
  Result<SchemaMemory> schemas() override { return inner_->schemas(); }
  Status set_schemas(const SchemaMemory& schemas) override { return inner_->set_schemas(schemas); }
  Result<std::vector<LineageMark>> lineage() override { return inner_->lineage(); }
  Result<ReplicaTable> replicas() override { return inner_->replicas(); }
  Status set_replicas(const ReplicaTable& replicas) override { return inner_->set_replicas(replicas); }
  Status set_lineage(std::span<const LineageMark> lineage) override { return inner_->set_lineage(lineage); }
  Result<std::vector<Peer>> peers() override { return inner_->peers(); }
  Result<std::optional<Peer>> find_peer(const ReplicaId& replica) override { return inner_->find_peer(replica); }
  Status put_peer(const Peer& peer) override { return inner_->put_peer(peer); }
  Result<std::optional<StoredItem>> find(const ItemId& item) override { return inner_->find(item); }
  Status put(const StoredItem& item, std::span<const IndexEntry> entries) override { return inner_->put(item, entries); }
  Status remove(const ItemId& item) override { return inner_->remove(item); }
  Status scan(const ItemIdRange& range, const std::function<Result<Visit>(const StoredItem&)>& visit) override {
    return inner_->scan(range, visit);
  }
  Result<std::vector<IndexPosition>> find_index(const IndexQuery& query) override { return inner_->find_index(query); }
  Result<ItemCounts> counts() override { return inner_->counts(); }
  Result<std::vector<ItemId>> find_lacking(const Knowledge& knowledge, const ItemIdRange& range,
                                           std::size_t count_max) override {
    return inner_->find_lacking(knowledge, range, count_max);
  }
  Result<ClockVector> find_ghost(const ItemId& item) override { return inner_->find_ghost(item); }
  Status put_ghost(const ItemId& item, const ClockVector& versions) override { return inner_->put_ghost(item, versions); }
  Status scan_ghosts(const ItemIdRange& range,
                     const std::function<Result<Visit>(const ItemId&, const ClockVector&)>& visit) override {
    return inner_->scan_ghosts(range, visit);
  }
  Status put_conflict(const ConflictRecord& record) override { return inner_->put_conflict(record); }
  Result<std::optional<ConflictRecord>> find_conflict(const ConflictId& id) override { return inner_->find_conflict(id); }
  Status remove_conflict(const ConflictId& id) override { return inner_->remove_conflict(id); }
  Status scan_conflicts(const std::function<Result<Visit>(const ConflictRecord&)>& visit) override {
    return inner_->scan_conflicts(visit);
  }
  Status commit() override { return inner_->commit(); }

 protected:
  std::unique_ptr<MetadataTransaction> inner_;
};

class ForwardingMetadata : public MetadataStore {
 public:
  explicit ForwardingMetadata(MetadataStore& inner) : inner_(inner) {}

  Result<std::unique_ptr<MetadataTransaction>> begin(TransactionMode mode) override { return inner_.begin(mode); }
  Status prepare(const PreparedWrite& write) override { return inner_.prepare(write); }
  Result<PreparedWrite> prepared(std::uint64_t write_number) override { return inner_.prepared(write_number); }
  Status wipe_removed() override { return inner_.wipe_removed(); }

 protected:
  MetadataStore& inner_;
};

class ForwardingStore : public ItemStore {
 public:
  explicit ForwardingStore(ItemStore& inner) : inner_(inner) {}

  const Schema& schema() const override { return inner_.schema(); }
  WriteUnit write_unit() const override { return inner_.write_unit(); }
  Result<Enumeration> enumerate(const Bytes& anchor, const ShownItems& shown, EnumerationSink& sink) override {
    return inner_.enumerate(anchor, shown, sink);
  }
  StoreKey key_for(const ItemId& item) const override { return inner_.key_for(item); }
  StoreItem as_held(StoreItem item) const override { return inner_.as_held(std::move(item)); }
  Value natural_form(TypeId type, UnitId unit, const Value& value) const override {
    return inner_.natural_form(type, unit, value);
  }
  Result<Written> apply(std::span<const StoreWrite> writes, const Bytes& anchor) override {
    return inner_.apply(writes, anchor);
  }
  MetadataStore* metadata() override { return inner_.metadata(); }

 protected:
  ItemStore& inner_;
};

class ForwardingProvider : public Provider {
 public:
  explicit ForwardingProvider(Provider& inner) : inner_(inner) {}

  Result<std::optional<ReplicaDescription>> describe() override { return inner_.describe(); }
  Result<ChangeRequest> begin_destination(const ApplyOptions& options) override {
    return inner_.begin_destination(options);
  }
  Result<ReplicaDescription> begin_source(const ChangeRequest& request) override { return inner_.begin_source(request); }
  Result<ChangeBatch> get_change_batch(const ItemId& first) override { return inner_.get_change_batch(first); }
  void prefetch_change_batch(const ItemId& first) override { inner_.prefetch_change_batch(first); }
  bool can_stop() const override { return inner_.can_stop(); }
  Result<BatchReport> process_change_batch(const ChangeBatch& batch) override { return inner_.process_change_batch(batch); }
  Result<ComparedReplica> begin_comparison(const ChangeRequest& request) override {
    return inner_.begin_comparison(request);
  }
  Result<std::vector<RangeAnswer>> answer_questions(std::span<const RangeQuestion> questions) override {
    return inner_.answer_questions(questions);
  }
  Result<BatchReport> process_answers(std::span<const RangeAnswer> answers) override {
    return inner_.process_answers(answers);
  }
  Result<Schema> schema() override { return inner_.schema(); }
  Result<ReplicaTable> meet_replicas(const ReplicaTable& peer) override { return inner_.meet_replicas(peer); }
  bool is_far() const override { return inner_.is_far(); }
  Result<std::optional<ReplicaTable>> replicas() override { return inner_.replicas(); }
  void share_replicas(const ReplicaTable& near) override { inner_.share_replicas(near); }
  Result<Schema> meet_schema(const Schema& peer) override { return inner_.meet_schema(peer); }
  Result<BatchReport> end() override { return inner_.end(); }

 protected:
  Provider& inner_;
};

class ForwardingEnvironment : public Environment {
 public:
  explicit ForwardingEnvironment(Environment& inner) : inner_(inner) {}

  std::int64_t wall_clock_ms() override { return inner_.wall_clock_ms(); }
  void randomize(std::span<std::uint8_t> bytes) override { inner_.randomize(bytes); }
  Sha256 sha256(ByteView bytes) override { return inner_.sha256(bytes); }
  void log(LogLevel level, std::string_view line) override { inner_.log(level, line); }
  Result<std::optional<Tick>> reserved_tick(const ReplicaId& replica) override { return inner_.reserved_tick(replica); }
  Status set_reserved_tick(const ReplicaId& replica, Tick tick) override { return inner_.set_reserved_tick(replica, tick); }

 protected:
  Environment& inner_;
};

}  // namespace harmonica::simulation
