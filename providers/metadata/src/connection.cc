#include "connection.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "harmonica/providers/metadata.h"

namespace harmonica::providers {
namespace {

// In every table the scope comes first; of metadata that stand beside a store there is only one, of number 0.
constexpr const char* kTables =
    "CREATE TABLE facts(scope INTEGER NOT NULL, name BLOB NOT NULL, body BLOB NOT NULL, PRIMARY KEY(scope, name))"
    " WITHOUT ROWID;"
    "CREATE TABLE replicas(number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE);"
    "CREATE TABLE items(place INTEGER PRIMARY KEY, scope INTEGER NOT NULL, id BLOB NOT NULL, body BLOB NOT NULL,"
    " UNIQUE(scope, id));"
    "CREATE TABLE versions(scope INTEGER NOT NULL, replica INTEGER NOT NULL, tick INTEGER NOT NULL, item BLOB NOT NULL,"
    " PRIMARY KEY(scope, replica, tick, item)) WITHOUT ROWID;"
    "CREATE TABLE entries(scope INTEGER NOT NULL, kind INTEGER NOT NULL, key BLOB NOT NULL, item BLOB NOT NULL,"
    " PRIMARY KEY(scope, kind, key, item)) WITHOUT ROWID;"
    "CREATE TABLE conflicts(scope INTEGER NOT NULL, id BLOB NOT NULL, when_ms INTEGER NOT NULL, body BLOB NOT NULL,"
    " PRIMARY KEY(scope, id)) WITHOUT ROWID;"
    "CREATE INDEX conflicts_by_time ON conflicts(scope, when_ms, id);"
    "CREATE TABLE contents(hash BLOB PRIMARY KEY NOT NULL, uses INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE content_bodies(place INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, body BLOB NOT NULL);";

// Format 1 had no scopes and no contents apart.
constexpr const char* kUpgradeFrom1 =
    "ALTER TABLE facts RENAME TO facts_1;"
    "ALTER TABLE replicas RENAME TO replicas_1;"
    "ALTER TABLE items RENAME TO items_1;"
    "ALTER TABLE versions RENAME TO versions_1;"
    "ALTER TABLE entries RENAME TO entries_1;"
    "ALTER TABLE conflicts RENAME TO conflicts_1;"
    "DROP INDEX conflicts_by_time;";
constexpr const char* kFillFrom1 =
    "INSERT INTO facts SELECT 0, name, body FROM facts_1;"
    "INSERT INTO replicas SELECT number, id FROM replicas_1;"
    "INSERT INTO items SELECT place, 0, id, body FROM items_1 ORDER BY place;"
    "INSERT INTO versions SELECT 0, replica, tick, item FROM versions_1 ORDER BY replica, tick, item;"
    "INSERT INTO entries SELECT 0, kind, key, item FROM entries_1 ORDER BY kind, key, item;"
    "INSERT INTO conflicts SELECT 0, id, when_ms, body FROM conflicts_1 ORDER BY id;"
    "DROP TABLE facts_1; DROP TABLE replicas_1; DROP TABLE items_1; DROP TABLE versions_1; DROP TABLE entries_1;"
    "DROP TABLE conflicts_1;";

std::int64_t application_id(DatabaseKind kind) {
  return kind == DatabaseKind::kMetadata ? kMetadataApplicationId : kRecordsApplicationId;
}

// What small transactions need again and again: the inner pages of the tables.
constexpr int kIdleCacheBytesMax = 4 << 20;

// After an error the transaction is over, so nothing need be kept for undoing a part of the rows: hence FAIL.
std::string insert_many(std::string_view table) {
  std::string sql = "INSERT OR FAIL INTO " + std::string(table) + " VALUES({s}, ?, ?, ?)";
  for (std::size_t i = 1; i < kRowsAtOnce; ++i) sql += ", ({s}, ?, ?, ?)";
  return sql;
}

// "{s}" stands for the number of the scope.
std::string template_of(Query query) {
  switch (query) {
    case Query::kBeginRead:
      return "BEGIN";
    case Query::kBeginWrite:
      return "BEGIN IMMEDIATE";
    case Query::kCommit:
      return "COMMIT";
    case Query::kFormat:
      return "PRAGMA user_version";
    case Query::kRollback:
      return "ROLLBACK";
    case Query::kGetFact:
      return "SELECT body FROM facts WHERE scope = {s} AND name = ?";
    case Query::kSetFact:
      return "INSERT INTO facts VALUES({s}, ?, ?) ON CONFLICT(scope, name) DO UPDATE SET body = excluded.body";
    case Query::kFactsBetween:
      return "SELECT body FROM facts WHERE scope = {s} AND name >= ? AND name < ? ORDER BY name";
    case Query::kFactOfEachScope:
      return "SELECT scope, body FROM facts WHERE name = ? ORDER BY scope";
    case Query::kRemoveFact:
      return "DELETE FROM facts WHERE scope = {s} AND name = ?";
    case Query::kScanFacts:
      return "SELECT name, body FROM facts WHERE scope = {s} AND name >= ? AND name <= ? ORDER BY name";
    case Query::kFindItem:
      return "SELECT body FROM items WHERE scope = {s} AND id = ?";
    case Query::kFirstItemFrom:
      return "SELECT id, place FROM items WHERE scope = {s} AND id >= ? ORDER BY id LIMIT 1";
    case Query::kFindHeldRow:
      return "SELECT body FROM items WHERE place = ?";
    case Query::kInsertItem:
      return "INSERT INTO items(scope, id, body) VALUES({s}, ?, ?)";
    case Query::kUpdateItem:
      return "UPDATE items SET body = ?2 WHERE place = ?1";
    case Query::kDeleteItem:
      return "DELETE FROM items WHERE place = ?";
    case Query::kScanItems:
      return "SELECT id, body FROM items WHERE scope = {s} AND id >= ? AND id <= ? ORDER BY id";
    case Query::kInsertVersion:
      return "INSERT INTO versions VALUES({s}, ?, ?, ?)";
    case Query::kInsertVersions:
      return insert_many("versions");
    case Query::kDeleteVersion:
      return "DELETE FROM versions WHERE scope = {s} AND replica = ? AND tick = ? AND item = ?";
    case Query::kVersionsBeyond:
      return "SELECT item FROM versions WHERE scope = {s} AND replica = ? AND tick > ? LIMIT ?";
    case Query::kInsertEntry:
      return "INSERT INTO entries VALUES({s}, ?, ?, ?)";
    case Query::kInsertEntries:
      return insert_many("entries");
    case Query::kDeleteEntry:
      return "DELETE FROM entries WHERE scope = {s} AND kind = ? AND key = ? AND item = ?";
    case Query::kEntriesAscending:
      return "SELECT key, item FROM entries WHERE (scope, kind, key, item) > ({s}, ?, ?, ?)"
             " AND (scope, kind, key, item) < ({s}, ?, ?, ?) ORDER BY scope, kind, key, item LIMIT ?";
    case Query::kEntriesDescending:
      return "SELECT key, item FROM entries WHERE (scope, kind, key, item) > ({s}, ?, ?, ?)"
             " AND (scope, kind, key, item) < ({s}, ?, ?, ?) ORDER BY scope DESC, kind DESC, key DESC, item DESC LIMIT ?";
    case Query::kReplicasFrom:
      return "SELECT number, id FROM replicas WHERE number >= ? ORDER BY number";
    case Query::kInsertReplica:
      return "INSERT INTO replicas VALUES(?, ?)";
    case Query::kPutConflict:
      return "INSERT OR REPLACE INTO conflicts VALUES({s}, ?, ?, ?)";
    case Query::kFindConflict:
      return "SELECT body FROM conflicts WHERE scope = {s} AND id = ?";
    case Query::kDeleteConflict:
      return "DELETE FROM conflicts WHERE scope = {s} AND id = ?";
    case Query::kScanConflicts:
      return "SELECT body FROM conflicts WHERE scope = {s} ORDER BY when_ms, id";
    case Query::kFindContent:
      return "SELECT body FROM content_bodies WHERE hash = ?";
    case Query::kAddContent:
      return "INSERT OR IGNORE INTO content_bodies(hash, body) VALUES(?, ?)";
    case Query::kDropContent:
      return "DELETE FROM content_bodies WHERE hash = ?1 AND NOT EXISTS(SELECT 1 FROM contents WHERE contents.hash = ?1)";
    case Query::kUseContent:
      return "INSERT INTO contents VALUES(?, 1) ON CONFLICT(hash) DO UPDATE SET uses = uses + 1";
    case Query::kUseContentLess:
      return "UPDATE contents SET uses = uses - 1 WHERE hash = ?";
    case Query::kForgetUnusedContent:
      return "DELETE FROM contents WHERE hash = ? AND uses <= 0";
    case Query::kEnd:
      break;
  }
  return "";
}

std::string sql_of(Query query, std::int64_t scope) {
  const std::string number = std::to_string(scope);
  std::string sql = template_of(query);
  for (std::size_t place = sql.find("{s}"); place != std::string::npos; place = sql.find("{s}", place)) {
    sql.replace(place, 3, number);
  }
  return sql;
}

StatusCode code_of(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return StatusCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
    // What is asked is fixed, so these mean that tables or rows are not as this program made them.
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_SCHEMA:
    case SQLITE_RANGE:
      return StatusCode::kCorruption;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
      return StatusCode::kPermissionDenied;
    case SQLITE_TOOBIG:
      return StatusCode::kLimitExceeded;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_NOLFS:
      return StatusCode::kIo;
    default:
      return StatusCode::kInternal;
  }
}

// SQLite only says that it cannot open the file.
Status cannot_open(const std::string& name, const std::string& path, int system_error) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path target(path);
  if (fs::is_directory(target, ignored)) {
    return Status(StatusCode::kIo, name + ": is a directory, a file is needed");
  }
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::exists(folder, ignored) && !ignored) {
    return Status(StatusCode::kNotFound, name + ": there is no folder " + folder.string());
  }
  const std::error_code reason(system_error, std::generic_category());
  if (reason == std::errc::no_such_file_or_directory) {
    // SQLite could not make it, and then tried to read it: the first reason is lost.
    return Status(StatusCode::kPermissionDenied, name + ": cannot make a file in " + folder.string());
  }
  const bool denied = reason == std::errc::permission_denied || reason == std::errc::operation_not_permitted ||
                      reason == std::errc::read_only_file_system;
  return Status(denied ? StatusCode::kPermissionDenied : StatusCode::kIo, name + ": cannot open: " + reason.message());
}

}  // namespace

Statement::Statement(Connection& connection, Query query) : connection_(connection), query_(query) {
  std::vector<sqlite3_stmt*>& idle = connection_.idle_[static_cast<std::size_t>(query)];
  if (!idle.empty()) {
    statement_ = idle.back();
    idle.pop_back();
    return;
  }
  const std::string sql = sql_of(query, connection_.options_.scope);
  error_ = sqlite3_prepare_v3(connection_.database_, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
}

Statement::~Statement() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  connection_.idle_[static_cast<std::size_t>(query_)].push_back(statement_);
}

Statement& Statement::bind(std::int64_t value) {
  if (error_ == SQLITE_OK) error_ = sqlite3_bind_int64(statement_, ++bound_, value);
  return *this;
}

Statement& Statement::bind(ByteView value) {
  // A null pointer would bind NULL, which is not the empty blob.
  const void* data = value.empty() ? static_cast<const void*>("") : value.data();
  if (error_ == SQLITE_OK) error_ = sqlite3_bind_blob64(statement_, ++bound_, data, value.size(), SQLITE_STATIC);
  return *this;
}

Result<Statement::Step> Statement::step() {
  if (error_ != SQLITE_OK) return connection_.error(error_);
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return Step::kRow;
  if (code == SQLITE_DONE) return Step::kDone;
  return connection_.error(code);
}

Status Statement::run() {
  while (true) {
    HARMONICA_ASSIGN_OR_RETURN(const Step next, step());
    if (next == Step::kDone) break;
  }
  reset();
  return {};
}

void Statement::reset() {
  sqlite3_reset(statement_);
  bound_ = 0;
}

ByteView Statement::blob(int column) const {
  const auto* data = static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  if (data == nullptr || size <= 0) return {};
  return {data, static_cast<std::size_t>(size)};
}

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path, const ConnectionOptions& options) {
  const std::string name = std::string(to_text(options.kind)) + " " + path;
  // So that no path is taken for a URI.
  const std::string plain_path = path.starts_with("file:") ? "./" + path : path;
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(plain_path.c_str(), &database,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  if (database == nullptr) return Status(StatusCode::kInternal, name + ": no memory for a connection");
  std::unique_ptr<Connection> connection(new Connection(path, options, database));
  if (code == SQLITE_CANTOPEN) return cannot_open(name, path, sqlite3_system_errno(database));
  if (code != SQLITE_OK) return connection->error(code);
  sqlite3_extended_result_codes(database, 1);
  sqlite3_busy_timeout(database, static_cast<int>(options.busy_timeout_ms));
  // Nothing in a file from elsewhere runs.
  for (const int option : {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_TRUSTED_SCHEMA}) {
    sqlite3_db_config(database, option, 0, nullptr);
  }
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  HARMONICA_RETURN_IF_ERROR(connection->run_text("PRAGMA cell_size_check = ON"));
  // 16 MiB: item ids come in no order, so a large transaction touches pages all over, and with less writes many of them
  // again and again; a reader beside the writer has as much, and both together stay well within the memory of a session.
  HARMONICA_RETURN_IF_ERROR(connection->run_text("PRAGMA cache_size = -16384"));
  HARMONICA_RETURN_IF_ERROR(connection->run_text("PRAGMA journal_size_limit = 16777216"));
  HARMONICA_RETURN_IF_ERROR(connection->run_text(options.durability == Durability::kFull ? "PRAGMA synchronous = FULL"
                                                                                         : "PRAGMA synchronous = OFF"));
  return connection;
}

Connection::~Connection() {
  for (const std::vector<sqlite3_stmt*>& statements : idle_) {
    for (sqlite3_stmt* statement : statements) sqlite3_finalize(statement);
  }
  sqlite3_close(database_);
}

Status Connection::error(int code) const { return failure(code_of(code), sqlite3_errmsg(database_)); }

Status Connection::failure(StatusCode code, std::string_view what) const {
  return Status(code, std::string(to_text(options_.kind)) + " " + path_ + ": " + std::string(what));
}

void Connection::rest() {
  int used = 0;
  int highest = 0;
  sqlite3_db_status(database_, SQLITE_DBSTATUS_CACHE_USED, &used, &highest, 0);
  if (used > kIdleCacheBytesMax) sqlite3_db_release_memory(database_);
}

Status Connection::run_text(const char* sql) {
  const int code = sqlite3_exec(database_, sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status() : error(code);
}

Result<bool> Connection::write_anew() {
  // Whoever reads may be this thread, and would be waited for in vain.
  sqlite3_busy_timeout(database_, 0);
  int code = sqlite3_exec(database_, "VACUUM", nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) {
    code = sqlite3_wal_checkpoint_v2(database_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  }
  sqlite3_busy_timeout(database_, static_cast<int>(options_.busy_timeout_ms));
  if (code_of(code) == StatusCode::kUnavailable) return false;
  if (code != SQLITE_OK) return error(code);
  return true;
}

Status Connection::copy_to(const std::string& path) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(database_, "VACUUM INTO ?", -1, &statement, nullptr);
  if (code == SQLITE_OK) code = sqlite3_bind_text(statement, 1, path.c_str(), -1, SQLITE_STATIC);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  Status status = code == SQLITE_DONE ? Status() : error(code);
  sqlite3_finalize(statement);
  return status;
}

Result<std::string> Connection::first_value(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(database_, sql, -1, &statement, nullptr);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  const unsigned char* text = code == SQLITE_ROW ? sqlite3_column_text(statement, 0) : nullptr;
  std::string value = text == nullptr ? "" : reinterpret_cast<const char*>(text);
  const Status status = code == SQLITE_ROW || code == SQLITE_DONE ? Status() : error(code);
  sqlite3_finalize(statement);
  HARMONICA_RETURN_IF_ERROR(status);
  return value;
}

Status Connection::stamp() {
  const std::string stamp = "PRAGMA application_id = " + std::to_string(application_id(options_.kind)) +
                            "; PRAGMA user_version = " + std::to_string(kMetadataFormatVersion);
  return run_text(stamp.c_str());
}

Status Connection::make_tables() {
  HARMONICA_RETURN_IF_ERROR(run_text(kTables));
  return stamp();
}

Status Connection::upgrade(std::int64_t from) {
  if (from == kMetadataFormatVersion) return {};  // another process was faster
  HARMONICA_RETURN_IF_ERROR(run_text(kUpgradeFrom1));
  HARMONICA_RETURN_IF_ERROR(run_text(kTables));
  HARMONICA_RETURN_IF_ERROR(run_text(kFillFrom1));
  return stamp();
}

Result<std::int64_t> Connection::format() {
  Statement statement(*this, Query::kFormat);
  HARMONICA_RETURN_IF_ERROR(statement.step().status());
  const std::int64_t format = statement.integer(0);
  if (format > kMetadataFormatVersion) {
    return failure(StatusCode::kUnsupported, "its format is " + std::to_string(format) + ", this build knows up to " +
                                                 std::to_string(kMetadataFormatVersion) + "; use a newer one");
  }
  if (format < 1) return corruption("no build has written a format " + std::to_string(format));
  return format;
}

Status Connection::check_format() {
  HARMONICA_ASSIGN_OR_RETURN(const std::int64_t format, this->format());
  if (format == kMetadataFormatVersion) return {};
  return corruption("its format went back to " + std::to_string(format) + " while it was open");
}

// A page that is there in part would read as zeros. While a write-ahead log holds pages, the file may end anywhere.
Status Connection::check_size() {
  HARMONICA_ASSIGN_OR_RETURN(const std::string page_size, first_value("PRAGMA page_size"));
  std::error_code no_log;
  const std::uintmax_t log_bytes = std::filesystem::file_size(path_ + "-wal", no_log);
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(path_, unknown);
  const std::uintmax_t page_bytes = std::strtoull(page_size.c_str(), nullptr, 10);
  if (unknown || page_bytes == 0 || (!no_log && log_bytes > 0) || bytes % page_bytes == 0) return {};
  return corruption("the file ends in the middle of a page, at " + std::to_string(bytes) + " bytes");
}

Status Connection::prepare_format() {
  HARMONICA_RETURN_IF_ERROR(check_size());
  // Looked at before anything is written: it may be someone else's.
  const auto is_new = [&]() -> Result<bool> {
    HARMONICA_ASSIGN_OR_RETURN(const std::string application, first_value("PRAGMA application_id"));
    if (application == std::to_string(application_id(options_.kind))) return false;
    HARMONICA_ASSIGN_OR_RETURN(const std::string tables, first_value("SELECT count(*) FROM sqlite_master"));
    if (application == "0" && tables == "0") return true;
    const bool is_metadata = application == std::to_string(kMetadataApplicationId);
    if (is_metadata) return corruption("holds what is known of a store, and no records");
    const bool is_records = application == std::to_string(kRecordsApplicationId);
    return corruption(is_records ? "holds records, and not what is known of a store" : "a database of another program");
  };
  HARMONICA_ASSIGN_OR_RETURN(const bool empty, is_new());
  if (sqlite3_db_readonly(database_, "main") == 1) {
    return failure(StatusCode::kPermissionDenied, "the file cannot be written");
  }
  if (!empty) HARMONICA_RETURN_IF_ERROR(format().status());
  HARMONICA_ASSIGN_OR_RETURN(const std::string journal, first_value("PRAGMA journal_mode = WAL"));
  if (journal != "wal") {
    return failure(StatusCode::kUnsupported,
                   "its file system has no shared memory for a write-ahead log; move it to another");
  }
  if (!empty) {
    HARMONICA_ASSIGN_OR_RETURN(const std::int64_t format, this->format());
    if (format == kMetadataFormatVersion) return {};
  }

  HARMONICA_RETURN_IF_ERROR(run(Query::kBeginWrite));
  const auto make = [&]() -> Status {
    // Another process may have been faster.
    HARMONICA_ASSIGN_OR_RETURN(const bool still_new, is_new());
    if (still_new) return make_tables();
    HARMONICA_ASSIGN_OR_RETURN(const std::int64_t format, this->format());
    return upgrade(format);
  };
  const Status status = make();
  if (status.ok()) return run(Query::kCommit);
  HARMONICA_RETURN_IF_ERROR(run(Query::kRollback));
  return status;
}

Status Connection::read_new_replicas() {
  Statement statement(*this, Query::kReplicasFrom);
  statement.bind(static_cast<std::int64_t>(replicas_.size() + 1));
  while (true) {
    HARMONICA_ASSIGN_OR_RETURN(const Statement::Step step, statement.step());
    if (step == Statement::Step::kDone) return {};
    const auto id = ReplicaId::from_bytes(statement.blob(1));
    const std::size_t number = replicas_.size() + 1;
    if (!id.has_value() || statement.integer(0) != static_cast<std::int64_t>(number) || number > kReplicaNumberMax ||
        !replica_numbers_.emplace(*id, static_cast<ReplicaNumber>(number)).second) {
      return corruption("the table of replicas is damaged");
    }
    replicas_.push_back(*id);
  }
}

Result<ReplicaNumber> Connection::number_of(const ReplicaId& replica) {
  if (const auto known = replica_numbers_.find(replica); known != replica_numbers_.end()) return known->second;
  const auto number = static_cast<ReplicaNumber>(replicas_.size() + 1);
  HARMONICA_RETURN_IF_ERROR(Statement(*this, Query::kInsertReplica).bind(std::int64_t{number}).bind(replica.view()).run());
  replicas_.push_back(replica);
  replica_numbers_.emplace(replica, number);
  return number;
}

void Connection::forget_replicas_from(std::size_t count) {
  while (replicas_.size() > count) {
    replica_numbers_.erase(replicas_.back());
    replicas_.pop_back();
  }
}

}  // namespace harmonica::providers
