// The stores that a command line names.
#pragma once

#include <memory>
#include <string>

#include "harmonica/harmonica.h"

namespace harmonica::cli {

// Options that every command takes.
struct CommonOptions {
  std::string state_directory;  // empty: the default
  std::string log_level;        // empty: no log on stderr
  std::string log_file;         // empty: none
  bool json = false;
  bool confirm = false;
  std::string trial_directory;  // of a dry run: work on copies in it; empty: on the stores
};

// A store with its metadata, opened as a replica. Members are destroyed in the opposite order.
struct OpenStore {
  std::string name;                  // as given
  std::string path;                  // absolute
  std::unique_ptr<ItemStore> store;  // null: records, which are metadata alone
  std::unique_ptr<MetadataStore> metadata;
  std::unique_ptr<Replica> replica;
};

// The system's environment, logging as the options say.
Result<std::unique_ptr<Environment>> make_environment(const CommonOptions& options);

// Opens what `name` says: `favorites:PATH`, `records:PATH`, `records:PATH#SCOPE`, or a bare path that is recognised by its
// content. Errors name it.
Result<OpenStore> open_store(const std::string& name, const CommonOptions& options, Environment& environment);

// Forgets what is known of a store: it belongs to no scope any more, and stays as it is. not_found: nothing was known.
// invalid_argument: it has no data of its own.
Status unlink_store(const std::string& name, const CommonOptions& options);

// Whether both are one file: named twice, or by two hard links.
bool is_same_file(const OpenStore& first, const OpenStore& second);

// What a command that only reads finds before it shows a store.
struct Look {
  DetectionReport detected;  // nothing if the guard stops it
  std::string guard;         // why the guard stops the next sync; empty: it does not
};
Result<Look> look_at(OpenStore& store);

}  // namespace harmonica::cli
