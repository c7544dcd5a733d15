// What is about to be shown, in a file beside the database: durable while a transaction on the database is open.
#pragma once

#include <string>

#include "harmonica/extension/metadata_store.h"

namespace harmonica::providers {

Status write_prepared_file(const std::string& path, const PreparedWrite& write);

// One that is missing or damaged reads as an empty one: then what stands in the store counts as a user's edit, which costs
// a version and loses nothing.
Result<PreparedWrite> read_prepared_file(const std::string& path);

}  // namespace harmonica::providers
