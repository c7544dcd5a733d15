// Records: the items of any scope, or of many, in one SQLite file; what a hub keeps.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harmonica/extension/metadata_store.h"
#include "harmonica/ids.h"
#include "harmonica/status.h"

namespace harmonica::providers {

struct RecordsOptions {
  ScopeName scope;  // empty: the only one in the file, or a new one, which joins that of its first peer
  // How long a write waits for another process that writes, before it is unavailable.
  std::int64_t busy_timeout_ms = 10'000;
};

// Opens, or makes, the records of a scope in the file at `path`, for `Replica::open` without a store. A scope that is named
// and not there yet is made. Others may read and write the same file meanwhile, this scope and others: readers see what was
// committed when they began, writers wait for their turn. Large values stand in it once, whoever has them.
//
// invalid_argument: several scopes and none named; names them. not_found: no such folder; corruption: not a file of
// records, or damaged; unsupported: made by a newer build; permission_denied, io: as the system says. Names the path.
Result<std::unique_ptr<MetadataStore>> open_records(const std::string& path, const RecordsOptions& options = {});

// The names of the scopes in the file; empty: one that belongs to none yet. not_found: no such file; else as above.
Result<std::vector<ScopeName>> list_records(const std::string& path);

// Whether a file that begins so holds records. Needs its first 72 bytes.
bool is_records(ByteView head);

// Copies what was last committed in the file at `from` to `to`, where nothing may stand.
Status copy_records(const std::string& from, const std::string& to);

}  // namespace harmonica::providers
