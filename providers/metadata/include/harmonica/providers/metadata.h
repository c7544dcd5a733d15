// Metadata on SQLite: one database file per replica, or one for replicas of many scopes that have no other store.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harmonica/extension/metadata_store.h"
#include "harmonica/status.h"

namespace harmonica::providers {

// The format that this build writes; older ones are upgraded in one transaction when opened.
inline constexpr int kMetadataFormatVersion = 2;

struct SqliteMetadataOptions {
  // How long a transaction waits for another process that writes, before it is unavailable.
  std::int64_t busy_timeout_ms = 10'000;
};

// Opens, or makes, the database at `path` (":memory:": one that lives as long as the object). WAL, one transaction per
// batch, synchronous=FULL: what was committed survives a power cut. What is prepared stands in a file of its own, named
// `path` with "-prepared" behind it. unsupported: made by a newer build (names both formats), or on a file system without
// shared memory; corruption: not such a database, or damaged; not_found: no such folder; io (also for a directory),
// permission_denied: as the system says. Names the path. Transactions give the same errors for what is found damaged only
// later. Thread-compatible.
Result<std::unique_ptr<MetadataStore>> open_sqlite_metadata(const std::string& path,
                                                            const SqliteMetadataOptions& options = {});

// Copies what was last committed in the database at `from`, with what is prepared, to `to`, where nothing may stand. A
// writer is not held up and changes nothing in the copy. not_found: there is none; else the errors of open_sqlite_metadata.
Status copy_sqlite_metadata(const std::string& from, const std::string& to);

// Removes a database of one scope, with what is prepared: nothing is known of the store any more. Nobody may have it open.
// not_found: there is none.
Status remove_sqlite_metadata(const std::string& path);

// One scope of a database that holds many.
struct SqliteScope {
  std::int64_t number = 0;
  ScopeName name;  // empty: it belongs to none yet
  friend bool operator==(const SqliteScope&, const SqliteScope&) = default;
};

// The scopes of a database of records, in the order in which they came. Makes nothing. not_found: there is no such file;
// else the errors of open_sqlite_metadata.
Result<std::vector<SqliteScope>> list_sqlite_scopes(const std::string& path, const SqliteMetadataOptions& options = {});

// Opens, or makes, a database of records at `path`, and in it the metadata of the scope with that number, which may be new.
// Scopes share nothing but large values; only one process or transaction writes at a time, whatever the scope, and any
// number read. Errors as of open_sqlite_metadata.
Result<std::unique_ptr<MetadataStore>> open_sqlite_scope(const std::string& path, std::int64_t number,
                                                         const SqliteMetadataOptions& options = {});

}  // namespace harmonica::providers
