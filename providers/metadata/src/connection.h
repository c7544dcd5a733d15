// One connection to the database, its prepared statements, and what it remembers of the table `replicas`.
#pragma once

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harmonica/bytes.h"
#include "harmonica/status.h"
#include "item_encoding.h"

namespace harmonica::providers {

enum class Query : std::uint8_t {
  kBeginRead,
  kBeginWrite,
  kCommit,
  kFormat,
  kRollback,
  kGetFact,
  kSetFact,
  kFactsBetween,
  kFactOfEachScope,
  kRemoveFact,
  kScanFacts,
  kFindItem,
  kFirstItemFrom,
  kFindHeldRow,
  kInsertItem,
  kUpdateItem,
  kDeleteItem,
  kScanItems,
  kInsertVersion,
  kInsertVersions,
  kDeleteVersion,
  kVersionsBeyond,
  kInsertEntry,
  kInsertEntries,
  kDeleteEntry,
  kEntriesAscending,
  kEntriesDescending,
  kReplicasFrom,
  kInsertReplica,
  kPutConflict,
  kFindConflict,
  kDeleteConflict,
  kScanConflicts,
  kFindContent,
  kAddContent,
  kDropContent,
  kUseContent,
  kUseContentLess,
  kForgetUnusedContent,
  kEnd,
};

// How many rows kInsertVersions and kInsertEntries take: neighbours in one statement cost half of what they do in one each.
inline constexpr std::size_t kRowsAtOnce = 16;

class Connection;

// A query in use: parameters are bound in their order, then it is stepped. What is bound must live until then. Several may
// be in use for one query at a time. Whatever went wrong before, a table that is missing too (corruption), is told by the
// step.
class Statement {
 public:
  Statement(Connection& connection, Query query);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(std::int64_t value);
  Statement& bind(ByteView value);

  enum class Step : std::uint8_t { kRow, kDone };
  Result<Step> step();
  // Steps to the end, past any rows; then it may be bound anew.
  Status run();
  // Leaves the rows that are left; then it may be bound anew.
  void reset();

  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  // Valid until the next step.
  ByteView blob(int column) const;

 private:
  Connection& connection_;
  const Query query_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
  int error_ = SQLITE_OK;
};

enum class Durability : std::uint8_t {
  kFull,  // commits survive a power cut
  kNone,  // the database does not outlive its process
};

enum class DatabaseKind : std::uint8_t {
  kMetadata,  // of one store, beside it
  kRecords,   // many scopes, and no store but this
};
// As it stands in front of messages.
inline std::string_view to_text(DatabaseKind kind) { return kind == DatabaseKind::kMetadata ? "metadata" : "records"; }

// What marks a file as ours: "Hrmm", "Hrmr".
inline constexpr std::int64_t kMetadataApplicationId = 0x48726d6d;
inline constexpr std::int64_t kRecordsApplicationId = 0x48726d72;

struct ConnectionOptions {
  std::int64_t busy_timeout_ms = 0;
  Durability durability = Durability::kFull;
  DatabaseKind kind = DatabaseKind::kMetadata;
  std::int64_t scope = 0;  // the number that stands in its rows
};

class Connection {
 public:
  // Opens the file, or makes an empty one; says nothing about what is in it.
  static Result<std::unique_ptr<Connection>> open(const std::string& path, const ConnectionOptions& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Brings the file into the current format, or says why it cannot.
  Status prepare_format();
  // Whether the file still has this build's format: a newer program may have upgraded it meanwhile.
  Status check_format();

  // A snapshot of all that is in it, as a database of its own.
  Status copy_to(const std::string& path);

  // Runs a query without parameters.
  Status run(Query query) { return Statement(*this, query).run(); }
  Status run_text(const char* sql);
  // The first column of the first row as text; empty if there is none.
  Result<std::string> first_value(const char* sql);

  bool in_transaction() const { return sqlite3_get_autocommit(database_) == 0; }

  // Writes the database anew, without what is not in it any more, and cuts the log in front of it to nothing. SQLite's
  // secure_delete is not enough: what moves from page to page when these split leaves copies. Whether it was done: not
  // while another connection is in a transaction.
  Result<bool> write_anew();

  // Between transactions: a cache that a large one has filled is freed. The pages are in the system's cache still.
  void rest();

  // Replicas by number, less one. Rows are never changed or deleted, so what was once read stays true.
  std::span<const ReplicaId> replicas() const { return replicas_; }
  Status read_new_replicas();
  Result<ReplicaNumber> number_of(const ReplicaId& replica);
  // After a rollback: forgets the ones added since.
  void forget_replicas_from(std::size_t count);

  Status error(int code) const;
  Status failure(StatusCode code, std::string_view what) const;
  Status corruption(std::string_view what) const { return failure(StatusCode::kCorruption, what); }

 private:
  friend class Statement;

  Connection(std::string path, const ConnectionOptions& options, sqlite3* database)
      : path_(std::move(path)), options_(options), database_(database) {}
  Status make_tables();
  Status upgrade(std::int64_t from);
  Status stamp();
  // That of the file; unsupported: newer than this build's.
  Result<std::int64_t> format();
  Status check_size();

  const std::string path_;
  const ConnectionOptions options_;
  sqlite3* database_;
  std::array<std::vector<sqlite3_stmt*>, static_cast<std::size_t>(Query::kEnd)> idle_;
  std::vector<ReplicaId> replicas_;
  std::map<ReplicaId, ReplicaNumber> replica_numbers_;
};

}  // namespace harmonica::providers
