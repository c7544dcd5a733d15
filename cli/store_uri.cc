#include "store_uri.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "harmonica/platform/crypto.h"
#include "harmonica/platform/file_system.h"
#include "harmonica/platform/system_environment.h"
#include "harmonica/providers/favorites.h"
#include "harmonica/providers/metadata.h"
#include "harmonica/providers/records.h"
#include "trial_directory.h"

namespace harmonica::cli {
namespace {

constexpr std::string_view kFavoritesScheme = "favorites:";
constexpr std::string_view kRecordsScheme = "records:";

// Schemes of stores that this program will know; a path never begins with one.
constexpr std::array<std::string_view, 6> kOtherSchemes = {"files:", "tables:", "postgres:", "http:", "https:", "unix:"};

enum class Kind { kFavorites, kRecords };

// What a name says.
struct Named {
  Kind kind = Kind::kFavorites;
  std::string path;
  ScopeName scope;  // records only; empty: not said
};

// What a file begins with, as much as tells records from others; empty if it cannot be read.
Bytes head_of(const std::string& path) {
  constexpr std::size_t kHeadBytes = 100;
  const auto head = platform::read_head(path, kHeadBytes);
  return head.ok() ? *head : Bytes();
}

Named records_named(const std::string& path) {
  // Behind the last of them, unless such a file stands there.
  const std::size_t mark = path.rfind('#');
  if (mark == std::string::npos || platform::exists(path)) return {Kind::kRecords, path, {}};
  return {Kind::kRecords, path.substr(0, mark), path.substr(mark + 1)};
}

Result<Named> parse(const std::string& name) {
  if (name.starts_with(kFavoritesScheme)) return Named{Kind::kFavorites, name.substr(kFavoritesScheme.size()), {}};
  if (name.starts_with(kRecordsScheme)) return records_named(name.substr(kRecordsScheme.size()));
  for (const std::string_view scheme : kOtherSchemes) {
    if (name.starts_with(scheme)) {
      return Status(StatusCode::kUnsupported, name + ": this build has no stores of the kind '" + std::string(scheme) +
                                                  "'; it knows favorites:PATH and records:PATH");
    }
  }
  const Named records = records_named(name);
  if (providers::is_records(head_of(records.path))) return records;
  return Named{Kind::kFavorites, name, {}};
}

Result<std::string> state_directory(const CommonOptions& options) {
  if (!options.state_directory.empty()) return options.state_directory;
  return platform::default_state_directory();
}

// One metadata database for each store, named by the store's absolute path.
std::string metadata_name(const std::string& path) {
  const auto hash = platform::sha256(as_bytes(path));
  return to_hex(ByteView(hash).first(16)) + ".db";
}

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kNotice:
      return "notice";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "error";
}

// Writes lines of at least one level to a file, to stderr or to both.
class Log {
 public:
  explicit Log(const CommonOptions& options) : to_stderr_(!options.log_level.empty()) {
    for (const LogLevel level : {LogLevel::kDebug, LogLevel::kNotice, LogLevel::kWarning, LogLevel::kError}) {
      if (options.log_level == level_name(level)) least_ = level;
    }
    if (!options.log_file.empty()) file_.open(options.log_file, std::ios::app);
  }

  bool is_open(const CommonOptions& options) const { return options.log_file.empty() || file_.is_open(); }

  void write(LogLevel level, std::string_view line) {
    if (level < least_) return;
    if (file_.is_open()) file_ << level_name(level) << ": " << line << std::endl;
    if (to_stderr_) {
      std::fprintf(stderr, "%.*s: %.*s\n", static_cast<int>(level_name(level).size()), level_name(level).data(),
                   static_cast<int>(line.size()), line.data());
    }
  }

 private:
  LogLevel least_ = LogLevel::kNotice;
  bool to_stderr_;
  std::ofstream file_;
};

// Where a store, what is known of it, and the copy from before the first write stand.
struct Places {
  std::string store;
  std::string metadata;
  std::string originals;
};

Result<Places> places_of(const std::string& path, const CommonOptions& options) {
  HARMONICA_ASSIGN_OR_RETURN(const std::string directory, state_directory(options));
  Places places{path, directory + "/replicas/" + metadata_name(path), directory + "/originals"};
  if (options.trial_directory.empty()) {
    HARMONICA_RETURN_IF_ERROR(platform::create_directories(directory + "/replicas"));
    HARMONICA_RETURN_IF_ERROR(platform::create_directories(places.originals));
    return places;
  }
  places.originals = options.trial_directory + "/originals";
  HARMONICA_ASSIGN_OR_RETURN(const std::string database, platform::canonical_path(places.metadata));
  HARMONICA_ASSIGN_OR_RETURN(places.metadata, place_in_trial(options.trial_directory, database));
  HARMONICA_ASSIGN_OR_RETURN(places.store, place_in_trial(options.trial_directory, path));
  if (platform::exists(places.store)) return places;  // named twice
  if (platform::exists(database)) HARMONICA_RETURN_IF_ERROR(providers::copy_sqlite_metadata(database, places.metadata));
  HARMONICA_RETURN_IF_ERROR(platform::copy_file(path, places.store));
  return places;
}

// The copy of a directory of files, which need not exist.
Result<std::string> copy_directory_for_trial(const std::string& trial_directory, const std::string& directory) {
  const std::string copy = trial_directory + "/" + std::filesystem::path(directory).filename().string();
  std::error_code error;
  if (!std::filesystem::exists(directory, error)) return copy;
  std::filesystem::create_directory(copy, error);
  for (std::filesystem::directory_iterator file(directory, error); !error && file != std::filesystem::directory_iterator();
       file.increment(error)) {
    const std::filesystem::path target = std::filesystem::path(copy) / file->path().filename();
    std::filesystem::copy_file(file->path(), target, std::filesystem::copy_options::overwrite_existing, error);
    // What another sync is about to replace may go meanwhile.
    if (error == std::errc::no_such_file_or_directory) error.clear();
  }
  if (error) return Status(StatusCode::kIo, directory + ": cannot be copied for a dry run: " + error.message());
  return copy;
}

}  // namespace

Result<std::unique_ptr<Environment>> make_environment(const CommonOptions& options) {
  // Reservations stay where they are whatever --state says: a restored state directory must not bring its own.
  HARMONICA_ASSIGN_OR_RETURN(std::string reservations, platform::default_state_directory());
  reservations += "/reservations";
  if (!options.trial_directory.empty()) {
    HARMONICA_ASSIGN_OR_RETURN(reservations, copy_directory_for_trial(options.trial_directory, reservations));
  }
  auto log = std::make_shared<Log>(options);
  if (!log->is_open(options)) {
    return Status(StatusCode::kIo, options.log_file + ": cannot be opened for the log; give another --log-file");
  }
  return platform::make_system_environment(
      {.reservations_directory = reservations,
       .log = [log](LogLevel level, std::string_view line) { log->write(level, line); }});
}

namespace {

Status open_favorites(OpenStore& open, const CommonOptions& options) {
  const Result<Places> found = places_of(open.path, options);
  if (!found.ok()) return found.status().within(open.name);
  const Places& places = *found;
  HARMONICA_ASSIGN_OR_RETURN(open.store, providers::open_favorites(places.store, {.backup_directory = places.originals}));
  auto metadata = providers::open_sqlite_metadata(places.metadata);
  if (!metadata.ok()) return metadata.status().within(open.name + ": what is known of it");
  open.metadata = std::move(metadata).value();
  return {};
}

Status open_records(OpenStore& open, const ScopeName& scope, const CommonOptions& options) {
  std::string path = open.path;
  if (!options.trial_directory.empty()) {
    HARMONICA_ASSIGN_OR_RETURN(path, place_in_trial(options.trial_directory, open.path));
    if (platform::exists(open.path) && !platform::exists(path)) {
      HARMONICA_RETURN_IF_ERROR(providers::copy_records(open.path, path));
    }
  }
  HARMONICA_ASSIGN_OR_RETURN(open.metadata, providers::open_records(path, {.scope = scope}));
  return {};
}

// By which people know the replica: the machine and the file.
std::string name_of(const std::string& path) {
  std::string name = platform::host_name() + "/" + std::filesystem::path(path).filename().string();
  if (valid_utf8_length(name) != name.size() || name.size() > limits::kDeviceNameBytesMax) return {};
  return name;
}

}  // namespace

Result<OpenStore> open_store(const std::string& name, const CommonOptions& options, Environment& environment) {
  OpenStore open;
  open.name = name;
  HARMONICA_ASSIGN_OR_RETURN(const Named named, parse(name));
  if (named.path.empty()) return Status(StatusCode::kInvalidArgument, name + ": names no file");
  HARMONICA_ASSIGN_OR_RETURN(open.path, platform::canonical_path(named.path));
  const bool is_records = named.kind == Kind::kRecords;
  HARMONICA_RETURN_IF_ERROR(is_records ? open_records(open, named.scope, options) : open_favorites(open, options));
  const ReplicaOptions replica_options{.guard = options.confirm ? Guard::kConfirmed : Guard::kOn,
                                       .device_name = name_of(open.path)};
  Result<std::unique_ptr<Replica>> replica = is_records
                                                 ? Replica::open(*open.metadata, environment, replica_options)
                                                 : Replica::open(*open.store, *open.metadata, environment, replica_options);
  if (!replica.ok()) return replica.status().within(name);
  open.replica = *std::move(replica);
  return open;
}

Status unlink_store(const std::string& name, const CommonOptions& options) {
  HARMONICA_ASSIGN_OR_RETURN(const Named named, parse(name));
  if (named.kind == Kind::kRecords) {
    return {StatusCode::kInvalidArgument,
            name + ": records are nothing but what their scope keeps; to leave it, remove the file"};
  }
  HARMONICA_ASSIGN_OR_RETURN(const std::string path, platform::canonical_path(named.path));
  const Result<Places> places = places_of(path, options);
  if (!places.ok()) return places.status().within(name);
  if (!platform::exists(places->metadata)) {
    return {StatusCode::kNotFound, name + ": is in no scope, so there is nothing to leave"};
  }
  return providers::remove_sqlite_metadata(places->metadata).within(name);
}

bool is_same_file(const OpenStore& first, const OpenStore& second) {
  std::error_code missing;
  return first.path == second.path || std::filesystem::equivalent(first.path, second.path, missing);
}

Result<Look> look_at(OpenStore& store) {
  const Result<DetectionReport> detected = store.replica->detect();
  if (detected.ok()) return Look{*detected, {}};
  if (detected.status().code() != StatusCode::kGuard) return detected.status().within(store.name);
  return Look{{}, detected.status().message()};
}

}  // namespace harmonica::cli
