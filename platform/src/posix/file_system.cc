#include "harmonica/platform/file_system.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "harmonica/platform/crypto.h"

namespace harmonica::platform {
namespace {

constexpr std::size_t kChunkBytes = 1024 * 1024;
constexpr std::size_t kHashedChunkBytes = 128 * 1024;  // stays in the processor's cache
constexpr int kReadAttemptsMax = 4;
constexpr int kSymbolicLinksMax = 40;
constexpr std::size_t kNameBytesMax = 255;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  int get() const { return number_; }
  bool valid() const { return number_ >= 0; }

 private:
  int number_;
};

std::string describe(int error) { return std::generic_category().message(error); }

Status error_at(const std::string& path, int error, std::string_view doing) {
  StatusCode code = StatusCode::kIo;
  if (error == ENOENT || error == ENOTDIR) code = StatusCode::kNotFound;
  if (error == EACCES || error == EPERM || error == EROFS) code = StatusCode::kPermissionDenied;
  if (error == ENOENT) return Status(code, path + ": no such file");
  return Status(code, path + ": cannot " + std::string(doing) + ": " + describe(error));
}

std::int64_t nanoseconds(const timespec& time) {
  // Times outside of what 64 bits hold only have to differ when the time does.
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
                                   static_cast<std::uint64_t>(time.tv_nsec));
}

FileStamp stamp_of(const struct stat& info) {
  return {static_cast<std::uint64_t>(info.st_dev), static_cast<std::uint64_t>(info.st_ino),
          static_cast<std::uint64_t>(info.st_size), nanoseconds(info.st_mtim), nanoseconds(info.st_ctim)};
}

Status require_regular(const std::string& path, const struct stat& info) {
  if (S_ISREG(info.st_mode)) return {};
  const char* kind = "something else";
  if (S_ISDIR(info.st_mode)) kind = "a directory";
  if (S_ISFIFO(info.st_mode)) kind = "a pipe";
  if (S_ISSOCK(info.st_mode)) kind = "a socket";
  if (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode)) kind = "a device";
  return Status(StatusCode::kUnsupported, path + ": is " + kind + ", a file is needed");
}

// Reads to the end. limit_exceeded beyond `bytes_max`.
Result<Bytes> read_all(const std::string& path, const Descriptor& file, std::uint64_t size, std::uint64_t bytes_max) {
  Bytes bytes;
  // One more than the size, so that the end is seen without growing.
  bytes.resize(static_cast<std::size_t>(std::min(size, bytes_max)) + 1);
  std::size_t filled = 0;
  while (true) {
    if (filled == bytes.size()) bytes.resize(bytes.size() + kChunkBytes);
    const ssize_t count = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return error_at(path, errno, "read");
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
    if (filled > bytes_max)
      return Status(StatusCode::kLimitExceeded, path + ": is larger than " + std::to_string(bytes_max) + " bytes");
  }
  bytes.resize(filled);
  return bytes;
}

Status write_all(const std::string& path, const Descriptor& file, ByteView content) {
  while (!content.empty()) {
    const ssize_t count = ::write(file.get(), content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return error_at(path, errno, "write");
    content = content.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

Status sync_folder_of(const std::string& path) {
  const std::string folder = folder_of(path);
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.valid()) return error_at(folder, errno, "open");
  // Some file systems cannot sync a folder, and have nothing to sync there.
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL && errno != ENOTSUP) return error_at(folder, errno, "sync");
  return {};
}

// The file that `path` names in the end, which need not exist.
Result<std::string> follow_links(std::string path) {
  for (int link = 0; link < kSymbolicLinksMax; ++link) {
    char target[PATH_MAX];
    const ssize_t length = ::readlink(path.c_str(), target, sizeof(target));
    if (length < 0 && (errno == EINVAL || errno == ENOENT)) return path;
    if (length < 0) return error_at(path, errno, "read the link");
    const std::string_view text(target, static_cast<std::size_t>(length));
    path = text.starts_with('/') ? std::string(text) : folder_of(path) + "/" + std::string(text);
  }
  return Status(StatusCode::kIo, path + ": too many symbolic links");
}

// A new file that will stand at another path. Until `rename_over` or `rename_new` it is removed again.
class NewFile {
 public:
  // Locked against other writers of the same target, and with no more permissions than `mode`.
  static Result<NewFile> create(const std::string& target, mode_t mode) {
    std::string name = ".harmonica-new." + name_of(target);
    if (name.size() > kNameBytesMax)
      name = ".harmonica-new." + to_hex(ByteView(sha256(as_bytes(name_of(target)))).first(16));
    const std::string path = folder_of(target) + "/" + name;
    while (true) {
      Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode));
      if (!file.valid()) return error_at(path, errno, "create");
      if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
          return Status(StatusCode::kUnavailable, target + ": another process is writing it, try again");
        if (errno != EOPNOTSUPP && errno != ENOLCK) return error_at(path, errno, "lock");
      }
      struct stat held;
      struct stat named;
      if (::fstat(file.get(), &held) != 0) return error_at(path, errno, "inspect");
      HARMONICA_RETURN_IF_ERROR(require_regular(path, held));
      // Its last writer may have renamed it away between our open and our lock.
      if (::lstat(path.c_str(), &named) != 0 || named.st_ino != held.st_ino || named.st_dev != held.st_dev) continue;
      // What a killed writer left behind may be open to others: begin anew.
      if (held.st_size != 0 || (held.st_mode & 0777 & ~mode) != 0) {
        if (::unlink(path.c_str()) != 0) return error_at(path, errno, "remove");
        continue;
      }
      return NewFile(path, std::move(file));
    }
  }

  ~NewFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  NewFile(NewFile&& other) noexcept : path_(std::exchange(other.path_, {})), file_(std::move(other.file_)) {}
  NewFile& operator=(NewFile&&) = delete;

  const Descriptor& file() const { return file_; }
  const std::string& path() const { return path_; }

  // The permissions of `original`, and its owner as far as that is allowed.
  Status take_permissions(const struct stat& original) {
    struct stat own;
    if (::fstat(file_.get(), &own) != 0) return error_at(path_, errno, "inspect");
    mode_t mode = original.st_mode & 07777;
    if (own.st_uid != original.st_uid || own.st_gid != original.st_gid) {
      if (::fchown(file_.get(), original.st_uid, original.st_gid) != 0 &&
          ::fchown(file_.get(), static_cast<uid_t>(-1), original.st_gid) != 0) {
        // Another group must not gain what the old group had.
        mode &= ~static_cast<mode_t>(07070);
      }
    }
    if (::fchmod(file_.get(), mode) != 0) return error_at(path_, errno, "set the permissions of");
    return {};
  }

  Status sync() {
    if (::fsync(file_.get()) != 0) return error_at(path_, errno, "sync");
    return {};
  }

  Status rename_over(const std::string& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0) return error_at(target, errno, "replace");
    path_.clear();
    return sync_folder_of(target);
  }

  Status rename_new(const std::string& target) {
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) {
      path_.clear();
      return sync_folder_of(target);
    }
    if (errno == EEXIST || exists(target)) return Status(StatusCode::kInvalidArgument, target + ": exists already");
    if (errno != EINVAL && errno != ENOSYS) return error_at(target, errno, "create");
    return rename_over(target);
  }

 private:
  NewFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  Descriptor file_;
};

// Runs `read` on the open file and its size until the file had one stamp before and after, and the size that was read.
template <typename Read>
Result<FileStamp> read_at_rest(const std::string& path, std::uint64_t bytes_max, const Read& read) {
  for (int attempt = 0; attempt < kReadAttemptsMax; ++attempt) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file.valid()) return error_at(path, errno, "open");
    struct stat before;
    struct stat after;
    if (::fstat(file.get(), &before) != 0) return error_at(path, errno, "inspect");
    HARMONICA_RETURN_IF_ERROR(require_regular(path, before));
    const auto size = static_cast<std::uint64_t>(before.st_size);
    if (size > bytes_max) {
      return Status(StatusCode::kLimitExceeded, path + ": has " + std::to_string(size) + " bytes, more than the " +
                                                    std::to_string(bytes_max) + " that are read");
    }
    HARMONICA_ASSIGN_OR_RETURN(const std::uint64_t size_read, read(file, size));
    if (::fstat(file.get(), &after) != 0) return error_at(path, errno, "inspect");
    const FileStamp stamp = stamp_of(before);
    if (stamp == stamp_of(after) && size_read == stamp.size) return stamp;
  }
  return Status(StatusCode::kUnavailable, path + ": keeps changing while it is read, try again");
}

// Into `hasher`; returns how many bytes there were.
Result<std::uint64_t> read_chunks(const std::string& path, const Descriptor& file, std::uint64_t bytes_max,
                                  Sha256Hasher& hasher) {
  Bytes chunk(kHashedChunkBytes);
  std::uint64_t size = 0;
  while (size <= bytes_max) {
    const ssize_t count = ::read(file.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return error_at(path, errno, "read");
    if (count == 0) break;
    hasher.update(ByteView(chunk).first(static_cast<std::size_t>(count)));
    size += static_cast<std::uint64_t>(count);
  }
  return size;
}

}  // namespace

Result<FileStamp> stamp_file(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return error_at(path, errno, "inspect");
  HARMONICA_RETURN_IF_ERROR(require_regular(path, info));
  return stamp_of(info);
}

Result<FileContent> read_file(const std::string& path, std::uint64_t bytes_max) {
  FileContent content;
  HARMONICA_ASSIGN_OR_RETURN(content.stamp, read_at_rest(path, bytes_max, [&](const Descriptor& file, std::uint64_t size) {
                               Result<Bytes> bytes = read_all(path, file, size, bytes_max);
                               if (!bytes.ok()) return Result<std::uint64_t>(bytes.status());
                               content.bytes = *std::move(bytes);
                               return Result<std::uint64_t>(content.bytes.size());
                             }));
  return content;
}

Result<FileHash> hash_file(const std::string& path, std::uint64_t bytes_max) {
  FileHash hash;
  HARMONICA_ASSIGN_OR_RETURN(hash.stamp, read_at_rest(path, bytes_max, [&](const Descriptor& file, std::uint64_t) {
                               Sha256Hasher hasher;
                               Result<std::uint64_t> size = read_chunks(path, file, bytes_max, hasher);
                               hash.sha256 = hasher.finish();
                               return size;
                             }));
  return hash;
}

Result<Bytes> read_head(const std::string& path, std::size_t bytes_max) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) return error_at(path, errno, "open");
  struct stat info;
  if (::fstat(file.get(), &info) != 0) return error_at(path, errno, "inspect");
  HARMONICA_RETURN_IF_ERROR(require_regular(path, info));
  Bytes bytes(bytes_max);
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t count = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return error_at(path, errno, "read");
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  bytes.resize(filled);
  return bytes;
}

Status replace_file(const std::string& path, ByteView content, const std::function<Status()>& last_look) {
  HARMONICA_ASSIGN_OR_RETURN(const std::string target, follow_links(path));
  struct stat original;
  const bool replaces = ::stat(target.c_str(), &original) == 0;
  if (!replaces && errno != ENOENT) return error_at(target, errno, "inspect");
  if (replaces) {
    HARMONICA_RETURN_IF_ERROR(require_regular(target, original));
    // Renaming over a file needs no right to write it, but its owner took that right away for a reason.
    if (::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0) return error_at(target, errno, "write");
  }
  // Nobody may read it before it has the permissions of the file that it replaces.
  HARMONICA_ASSIGN_OR_RETURN(NewFile file, NewFile::create(target, replaces ? 0600 : 0666));
  HARMONICA_RETURN_IF_ERROR(write_all(target, file.file(), content));
  if (replaces) HARMONICA_RETURN_IF_ERROR(file.take_permissions(original));
  HARMONICA_RETURN_IF_ERROR(file.sync());
  if (last_look) HARMONICA_RETURN_IF_ERROR(last_look());
  return file.rename_over(target);
}

Status copy_file(const std::string& from, const std::string& to) {
  if (exists(to)) return Status(StatusCode::kInvalidArgument, to + ": exists already");
  const Descriptor source(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!source.valid()) return error_at(from, errno, "open");
  struct stat original;
  if (::fstat(source.get(), &original) != 0) return error_at(from, errno, "inspect");
  HARMONICA_RETURN_IF_ERROR(require_regular(from, original));
  HARMONICA_ASSIGN_OR_RETURN(NewFile file, NewFile::create(to, 0600));
  Bytes chunk(kChunkBytes);
  while (true) {
    const ssize_t count = ::read(source.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return error_at(from, errno, "read");
    if (count == 0) break;
    HARMONICA_RETURN_IF_ERROR(write_all(to, file.file(), ByteView(chunk).first(static_cast<std::size_t>(count))));
  }
  HARMONICA_RETURN_IF_ERROR(file.take_permissions(original));
  HARMONICA_RETURN_IF_ERROR(file.sync());
  return file.rename_new(to);
}

Status remove_file(const std::string& path) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return {};
    return error_at(path, errno, "inspect");
  }
  if (S_ISDIR(info.st_mode)) return require_regular(path, info);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return error_at(path, errno, "remove");
  return sync_folder_of(path);
}

bool exists(const std::string& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0;
}

Status create_directories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return error_at(path, error.value(), "create the directory");
  return {};
}

Result<std::string> canonical_path(const std::string& path) {
  std::error_code error;
  std::filesystem::path result = std::filesystem::absolute(path, error);
  if (!error) result = std::filesystem::weakly_canonical(result, error);
  if (error) return error_at(path, error.value(), "resolve");
  return result.string();
}

}  // namespace harmonica::platform
