// The metadata that a device keeps, in memory or in a file: what a backup holds, a restore brings back and a wipe takes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "harmonica/extension/metadata_store.h"
#include "harmonica/providers/memory.h"

namespace harmonica::simulation {

enum class MetadataKind { kMemory, kSqlite };

// A folder of its own, removed with the object; in memory where the system has such a place.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  // A path where nothing stands.
  std::string next_path() { return path_ / std::to_string(++files_); }

 private:
  std::filesystem::path path_;
  int files_ = 0;
};

// What a metadata store held once.
struct MetadataBackup {
  providers::MemoryMetadataStore memory;
  std::string path;  // of a copy in SQLite; empty: it was in memory
};

// A metadata store that can be exchanged as a whole while no transaction is open.
class KeptMetadata final : public MetadataStore {
 public:
  // `backups`: whether what is in SQLite can be backed up; it stands in a file then.
  enum class Backups : std::uint8_t { kNo, kYes };
  KeptMetadata(MetadataKind kind, Backups backups);

  Result<std::unique_ptr<MetadataTransaction>> begin(TransactionMode mode) override { return inner_->begin(mode); }
  Status prepare(const PreparedWrite& write) override { return inner_->prepare(write); }
  Result<PreparedWrite> prepared(std::uint64_t write_number) override { return inner_->prepared(write_number); }
  Status wipe_removed() override { return inner_->wipe_removed(); }

  bool can_be_backed_up() const { return kind_ == MetadataKind::kMemory || folder_ != nullptr; }
  MetadataBackup make_backup();
  void restore(const MetadataBackup& backup);
  // Up to which that replica has used ticks, going by what is kept; 0: it is another one's.
  Tick reserved_tick(const ReplicaId& replica);
  // Nothing is known any more.
  void wipe();

 private:
  void open(const std::string& path);

  MetadataKind kind_;
  std::unique_ptr<ScratchFolder> folder_;  // null: nothing stands in files
  std::string path_;
  std::unique_ptr<MetadataStore> inner_;
};

}  // namespace harmonica::simulation
