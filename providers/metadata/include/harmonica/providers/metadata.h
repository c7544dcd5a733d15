// Metadata on SQLite: one database file per replica.
#pragma once

#include <memory>
#include <string>

#include "harmonica/extension/metadata_store.h"
#include "harmonica/status.h"

namespace harmonica::providers {

// The format that this build writes; older ones are upgraded in one transaction when opened.
inline constexpr int kMetadataFormatVersion = 1;

// Opens, or makes, the database at `path` (":memory:": one that lives as long as the object). WAL, one transaction per
// batch, synchronous=FULL: what was committed survives a power cut. unsupported: made by a newer build (names both formats);
// corruption: not such a database; io, permission_denied: as the system says. Names the path. Thread-compatible.
Result<std::unique_ptr<MetadataStore>> open_sqlite_metadata(const std::string& path);

}  // namespace harmonica::providers
