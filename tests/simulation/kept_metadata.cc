#include "simulation/kept_metadata.h"

#include <stdlib.h>

#include "harmonica/assert.h"
#include "harmonica/providers/metadata.h"

namespace harmonica::simulation {
namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
  const fs::path in_memory = "/dev/shm";
  std::string pattern =
      (fs::is_directory(in_memory) ? in_memory : fs::temp_directory_path()) / "harmonica-simulation-XXXXXX";
  HARMONICA_ASSERT(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

KeptMetadata::KeptMetadata(MetadataKind kind, Backups backups) : kind_(kind) {
  if (kind == MetadataKind::kSqlite && backups == Backups::kYes) folder_ = std::make_unique<ScratchFolder>();
  wipe();
}

void KeptMetadata::open(const std::string& path) {
  inner_.reset();
  Result<std::unique_ptr<MetadataStore>> opened = providers::open_sqlite_metadata(path);
  HARMONICA_ASSERT(opened.ok());
  inner_ = *std::move(opened);
  path_ = path;
}

MetadataBackup KeptMetadata::make_backup() {
  HARMONICA_ASSERT(can_be_backed_up());
  MetadataBackup backup;
  if (folder_ == nullptr) {
    backup.memory = *dynamic_cast<const providers::MemoryMetadataStore*>(inner_.get());
    return backup;
  }
  backup.path = folder_->next_path();
  HARMONICA_ASSERT(providers::copy_sqlite_metadata(path_, backup.path).ok());
  return backup;
}

void KeptMetadata::restore(const MetadataBackup& backup) {
  if (backup.path.empty()) {
    HARMONICA_ASSERT(folder_ == nullptr);
    inner_ = std::make_unique<providers::MemoryMetadataStore>(backup.memory);
    return;
  }
  const std::string path = folder_->next_path();
  HARMONICA_ASSERT(providers::copy_sqlite_metadata(backup.path, path).ok());
  open(path);
}

Tick KeptMetadata::reserved_tick(const ReplicaId& replica) {
  const Result<std::unique_ptr<MetadataTransaction>> transaction = begin(TransactionMode::kRead);
  HARMONICA_ASSERT(transaction.ok());
  const Result<ReplicaState> state = (*transaction)->state();
  HARMONICA_ASSERT(state.ok());
  return state->replica == replica ? state->reserved_tick : 0;
}

void KeptMetadata::wipe() {
  if (kind_ == MetadataKind::kMemory) {
    inner_ = std::make_unique<providers::MemoryMetadataStore>();
  } else {
    open(folder_ == nullptr ? ":memory:" : folder_->next_path());
  }
}

}  // namespace harmonica::simulation
