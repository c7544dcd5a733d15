// The commands, one file each. Each returns the process's exit code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store_uri.h"

namespace harmonica::cli {

enum class Direction { kBoth, kToFirst, kFromFirst };

struct SyncOptions {
  CommonOptions common;
  std::vector<std::string> stores;
  Direction direction = Direction::kBoth;
  OnConflict on_conflict = OnConflict::kAsInSchema;
  bool dry_run = false;
  std::uint64_t bytes_max = 0;          // of changes in the whole run, about; 0: no limit
  std::uint64_t seconds_max = 0;        // 0: no limit
  std::optional<std::string> filter;    // that the first store gets; empty: none any more; nothing: the one that it has
  std::vector<std::string> parameters;  // NAME=VALUE
};

struct StoreOptions {
  CommonOptions common;
  std::string store;
};

enum class Repair { kNo, kYes };

struct VerifyOptions {
  CommonOptions common;
  std::string first;
  std::string second;
  Repair repair = Repair::kNo;
};

enum class ConflictsAction { kList, kShow, kRestore, kKeep, kDrop };

struct ConflictsOptions {
  CommonOptions common;
  ConflictsAction action = ConflictsAction::kList;
  std::string store;
  std::string id;  // or the beginning of one
};

enum class DevicesAction { kList, kRetire };

struct DevicesOptions {
  CommonOptions common;
  DevicesAction action = DevicesAction::kList;
  std::string store;
  std::string id;  // or the beginning of one
};

struct ForgetOptions {
  CommonOptions common;
  std::string store;
  std::string item;  // a path as shown, or an id, or the beginning of one
};

int run_sync(const SyncOptions& options);
int run_show(const StoreOptions& options);
// What is shown of records, which have no tree of their own.
int show_records(const StoreOptions& options, OpenStore& store);
int run_status(const StoreOptions& options);
int run_verify(const VerifyOptions& options);
int run_conflicts(const ConflictsOptions& options);
int run_devices(const DevicesOptions& options);
int run_forget(const ForgetOptions& options);
int run_unlink(const StoreOptions& options);

}  // namespace harmonica::cli
