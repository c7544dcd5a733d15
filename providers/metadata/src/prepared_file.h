// What is about to be shown, in a file beside the database: durable while a transaction on the database is open.
#pragma once

#include <cstdint>
#include <string>

#include "harmonica/extension/metadata_store.h"

namespace harmonica::providers {

Status write_prepared_file(const std::string& path, const PreparedWrite& write);

// The write in the file if it has this number, otherwise an empty one; no more than the head of the file is read then.
// corruption: the file is damaged, and not known to hold another number.
Result<PreparedWrite> read_prepared_file(const std::string& path, std::uint64_t write_number);

}  // namespace harmonica::providers
