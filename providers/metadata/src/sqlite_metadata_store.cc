#include "sqlite_metadata_store.h"

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "harmonica/platform/crypto.h"
#include "harmonica/platform/file_system.h"
#include "harmonica/providers/metadata.h"
#include "prepared_file.h"

namespace harmonica::providers {

namespace {

std::string prepared_path(const std::string& database, std::int64_t scope) {
  return database + "-prepared" + (scope == 0 ? "" : "-" + std::to_string(scope));
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::make() {
  namespace fs = std::filesystem;
  std::array<std::uint8_t, 16> random;
  platform::random_bytes(random);
  std::error_code error;
  // In memory where the system has such a folder.
  fs::path parent = "/dev/shm";
  if (!fs::is_directory(parent, error)) parent = fs::temp_directory_path(error);
  const fs::path folder = parent / ("harmonica-" + to_hex(random));
  const bool made = !error && fs::create_directory(folder, error);
  if (made) fs::permissions(folder, fs::perms::owner_all, error);
  if (!made || error) {
    return Status(StatusCode::kIo, "metadata :memory:: cannot make the folder " + folder.string() + ": " + error.message());
  }
  return TemporaryFolder(folder.string());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<std::unique_ptr<MetadataStore>> SqliteMetadataStore::open(std::string path, const ConnectionOptions& options,
                                                                 std::optional<TemporaryFolder> folder) {
  HARMONICA_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, Connection::open(path, options));
  HARMONICA_RETURN_IF_ERROR(connection->prepare_format());
  std::unique_ptr<SqliteMetadataStore> store(new SqliteMetadataStore(std::move(path), options, std::move(folder)));
  store->idle_.push_back(std::move(connection));
  HARMONICA_RETURN_IF_ERROR(store->wipe_if_left_undone());
  return std::unique_ptr<MetadataStore>(std::move(store));
}

SqliteMetadataStore::~SqliteMetadataStore() { HARMONICA_ASSERT(open_transactions_ == 0); }

Result<std::unique_ptr<MetadataTransaction>> SqliteMetadataStore::begin(TransactionMode mode) {
  if (mode == TransactionMode::kWrite && writing_) {
    return Status(StatusCode::kUnavailable, "metadata " + path_ + ": another write transaction is open");
  }
  HARMONICA_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, take_connection());
  return SqliteTransaction::begin(*this, std::move(connection), mode);
}

Result<std::unique_ptr<Connection>> SqliteMetadataStore::take_connection() {
  if (idle_.empty()) return Connection::open(path_, options_);
  std::unique_ptr<Connection> connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

Status SqliteMetadataStore::prepare(const PreparedWrite& write) {
  return write_prepared_file(prepared_path(path_, options_.scope), write);
}

Result<PreparedWrite> SqliteMetadataStore::prepared(std::uint64_t write_number) {
  return read_prepared_file(prepared_path(path_, options_.scope), write_number);
}

Status SqliteMetadataStore::wipe_removed() {
  HARMONICA_RETURN_IF_ERROR(drop_settled_prepared());
  HARMONICA_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, take_connection());
  HARMONICA_ASSIGN_OR_RETURN(const bool done, connection->write_anew());
  if (done) HARMONICA_RETURN_IF_ERROR(Statement(*connection, Query::kRemoveFact).bind(as_bytes(kUnwipedFact)).run());
  idle_.push_back(std::move(connection));
  return {};
}

// What was prepared for a write that is committed says nothing any more.
Status SqliteMetadataStore::drop_settled_prepared() {
  const std::string path = prepared_path(path_, options_.scope);
  if (!platform::exists(path)) return {};
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, begin(TransactionMode::kRead));
  HARMONICA_ASSIGN_OR_RETURN(const ReplicaState state, transaction->state());
  HARMONICA_ASSIGN_OR_RETURN(const PreparedWrite write, prepared(state.write_number + 1));
  return write.items.empty() ? write_prepared_file(path, {}) : Status();
}

// The process has ended between an erasure and the wiping, or somebody has read all the time.
Status SqliteMetadataStore::wipe_if_left_undone() {
  bool undone = false;
  {
    Statement query(*idle_.back(), Query::kGetFact);
    const Result<Statement::Step> step = query.bind(as_bytes(kUnwipedFact)).step();
    // Damage is told by the first transaction.
    undone = step.ok() && *step == Statement::Step::kRow;
  }
  return undone ? wipe_removed() : Status();
}

Result<std::unique_ptr<MetadataStore>> open_sqlite_metadata(const std::string& path, const SqliteMetadataOptions& options) {
  if (path.empty()) return Status(StatusCode::kInvalidArgument, "metadata: the path is empty");
  if (path != ":memory:") {
    // Connections are opened later too, when the working folder may be another. What cannot be resolved cannot be opened,
    // and opening says why.
    auto resolved = platform::canonical_path(path);
    return SqliteMetadataStore::open(resolved.ok() ? *std::move(resolved) : path,
                                     {options.busy_timeout_ms, Durability::kFull}, {});
  }
  // Not SQLite's own kind of memory: that has no snapshots beside a writer.
  HARMONICA_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::make());
  std::string file = folder.path() + "/metadata.db";
  return SqliteMetadataStore::open(std::move(file), {options.busy_timeout_ms, Durability::kNone}, std::move(folder));
}

Status copy_sqlite_metadata(const std::string& from, const std::string& to) {
  if (!platform::exists(from)) return {StatusCode::kNotFound, "metadata " + from + ": no such file"};
  HARMONICA_ASSIGN_OR_RETURN(const auto connection,
                             Connection::open(from, {SqliteMetadataOptions().busy_timeout_ms, Durability::kFull}));
  HARMONICA_RETURN_IF_ERROR(connection->copy_to(to));
  if (!platform::exists(prepared_path(from, 0))) return {};
  return platform::copy_file(prepared_path(from, 0), prepared_path(to, 0));
}

Status remove_sqlite_metadata(const std::string& path) {
  if (!platform::exists(path)) return {StatusCode::kNotFound, "metadata " + path + ": no such file"};
  for (const std::string& file : {prepared_path(path, 0), path + "-wal", path + "-shm", path}) {
    HARMONICA_RETURN_IF_ERROR(platform::remove_file(file));
  }
  return {};
}

}  // namespace harmonica::providers
