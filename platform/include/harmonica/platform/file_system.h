// Files, as the providers need them: read whole, replace atomically, never half. Errors name the path.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "harmonica/bytes.h"
#include "harmonica/status.h"

namespace harmonica::platform {

// What tells that a file may have changed. Equal stamps of a file that is not racy mean equal content.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;  // since 1970-01-01 UTC
  std::int64_t changed_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// not_found, permission_denied, io; unsupported if `path` is not a regular file (says what it is).
Result<FileStamp> stamp_file(const std::string& path);

// A file's content and the stamp it had both before and after it was read. limit_exceeded if it is larger than `bytes_max`;
// unavailable if it keeps changing while it is read.
struct FileContent {
  Bytes bytes;
  FileStamp stamp;
};
Result<FileContent> read_file(const std::string& path, std::uint64_t bytes_max);

// The SHA-256 of a file's content, without holding it in memory; otherwise as read_file.
struct FileHash {
  std::array<std::uint8_t, 32> sha256{};
  FileStamp stamp;
};
Result<FileHash> hash_file(const std::string& path, std::uint64_t bytes_max);

// The first bytes of a file, at most `bytes_max`. The errors of stamp_file.
Result<Bytes> read_head(const std::string& path, std::size_t bytes_max);

// Writes beside the target, syncs, renames over it and syncs the folder: at any moment either the old or the new content
// stands there. Keeps the permissions (and, as far as allowed, the owner) of a file that is replaced; follows a symbolic
// link to the file it names. A failure leaves the old file as it was and nothing beside it. `last_look` runs when the new
// content is durable, just before it takes its place; its error is passed on and leaves the old file there.
Status replace_file(const std::string& path, ByteView content, const std::function<Status()>& last_look = nullptr);

// Copies `from` to `to`, which must not exist, durably.
Status copy_file(const std::string& from, const std::string& to);

// Removes a file or a symbolic link, durably. One that is not there is no error; a directory is (unsupported).
Status remove_file(const std::string& path);

bool exists(const std::string& path);
Status create_directories(const std::string& path);
// Absolute, with symbolic links resolved as far as the path exists.
Result<std::string> canonical_path(const std::string& path);

}  // namespace harmonica::platform
