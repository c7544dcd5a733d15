// The metadata store on SQLite, and its transactions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connection.h"
#include "content_table.h"
#include "harmonica/extension/metadata_store.h"
#include "pending_items.h"

namespace harmonica::providers {

// A folder of its own that goes with the object.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make();
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Names of facts.
inline constexpr std::string_view kStateFact = "state";
inline constexpr std::string_view kUnwipedFact = "unwiped";  // something was erased, and its bytes may be there still

class SqliteMetadataStore : public MetadataStore {
 public:
  // `folder`: where the database stands, if it is to vanish with the store.
  static Result<std::unique_ptr<MetadataStore>> open(std::string path, const ConnectionOptions& options,
                                                     std::optional<TemporaryFolder> folder);
  ~SqliteMetadataStore() override;

  Result<std::unique_ptr<MetadataTransaction>> begin(TransactionMode mode) override;
  Status prepare(const PreparedWrite& write) override;
  Result<PreparedWrite> prepared(std::uint64_t write_number) override;
  Status wipe_removed() override;

 private:
  friend class SqliteTransaction;

  SqliteMetadataStore(std::string path, const ConnectionOptions& options, std::optional<TemporaryFolder> folder)
      : folder_(std::move(folder)), path_(std::move(path)), options_(options) {}

  const std::optional<TemporaryFolder> folder_;
  const std::string path_;
  const ConnectionOptions options_;
  Result<std::unique_ptr<Connection>> take_connection();
  Status wipe_if_left_undone();
  Status drop_settled_prepared();

  std::vector<std::unique_ptr<Connection>> idle_;  // a transaction has a connection to itself: that is its snapshot
  int open_transactions_ = 0;
  bool writing_ = false;
};

class SqliteTransaction : public MetadataTransaction {
 public:
  static Result<std::unique_ptr<MetadataTransaction>> begin(SqliteMetadataStore& store,
                                                            std::unique_ptr<Connection> connection, TransactionMode mode);
  ~SqliteTransaction() override;
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;

  Result<ReplicaState> state() override;
  Status set_state(const ReplicaState& state) override;
  Result<Bytes> anchor() override;
  Status set_anchor(const Bytes& anchor) override;
  Result<Knowledge> knowledge() override;
  Status set_knowledge(const Knowledge& knowledge) override;
  Result<Knowledge> forgotten() override;
  Status set_forgotten(const Knowledge& forgotten) override;
  Result<SchemaMemory> schemas() override;
  Status set_schemas(const SchemaMemory& schemas) override;
  Result<std::vector<LineageMark>> lineage() override;
  Status set_lineage(std::span<const LineageMark> lineage) override;
  Result<ReplicaTable> replicas() override;
  Status set_replicas(const ReplicaTable& replicas) override;
  Result<std::vector<Peer>> peers() override;
  Result<std::optional<Peer>> find_peer(const ReplicaId& replica) override;
  Status put_peer(const Peer& peer) override;
  Result<std::optional<StoredItem>> find(const ItemId& item) override;
  Status put(const StoredItem& item, std::span<const IndexEntry> entries) override;
  Status remove(const ItemId& item) override;
  Status scan(const ItemIdRange& range, const std::function<Result<Visit>(const StoredItem&)>& visit) override;
  Result<std::vector<IndexPosition>> find_index(const IndexQuery& query) override;
  Result<ItemCounts> counts() override;
  Result<std::vector<ItemId>> find_lacking(const Knowledge& knowledge, const ItemIdRange& range,
                                           std::size_t count_max) override;
  Result<ClockVector> find_ghost(const ItemId& item) override;
  Status put_ghost(const ItemId& item, const ClockVector& versions) override;
  Status scan_ghosts(const ItemIdRange& range,
                     const std::function<Result<Visit>(const ItemId&, const ClockVector&)>& visit) override;
  Status put_conflict(const ConflictRecord& record) override;
  Result<std::optional<ConflictRecord>> find_conflict(const ConflictId& id) override;
  Status remove_conflict(const ConflictId& id) override;
  Status scan_conflicts(const std::function<Result<Visit>(const ConflictRecord&)>& visit) override;
  Status commit() override;

 private:
  SqliteTransaction(SqliteMetadataStore& store, std::unique_ptr<Connection> connection, TransactionMode mode)
      : store_(store), connection_(std::move(connection)), mode_(mode), contents_(*connection_) {}

  Status check_writable() const;
  Result<Bytes> fact(std::string_view name);
  Status set_fact(std::string_view name, const Bytes& body);
  template <typename T>
  Result<T> decoded_fact(std::string_view name, std::optional<T> (*decode)(ByteView));

  Status damaged(const ItemId& item) const;
  ReadContent read_content();
  Result<Bytes> row_of(const StoredItem& stored, std::span<const IndexEntry> entries);
  // What is pending is written before a read that it concerns: of many items, or of the tables beside them.
  Status write_items();
  Status write_items_and_index();
  Status load_counts();

  SqliteMetadataStore& store_;
  std::unique_ptr<Connection> connection_;
  const TransactionMode mode_;
  std::size_t replicas_before_ = 0;
  ContentTable contents_;
  PendingItems pending_items_;
  PendingIndex pending_index_;
  std::optional<ItemCounts> counts_;  // without the pending items
  bool counts_changed_ = false;
  bool committed_ = false;
};

}  // namespace harmonica::providers
