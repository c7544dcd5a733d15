// One replica of a mesh with its store on trial.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "harmonica/providers/memory.h"
#include "mesh_user.h"
#include "misfortune.h"

namespace harmonica::conformance {

class MeshDevice {
 public:
  MeshDevice(std::unique_ptr<StoreSubject> subject, Weather& weather, Typed& typed, const ReplicaOptions& options);

  // Opens the replica, or opens it anew with all that is durable. Not_ok: it cannot be opened.
  Status open();
  Status restart();

  Replica& replica() { return *replica_; }
  StoreSubject& subject() { return *subject_; }
  MeshUser& user() { return user_; }

  // Every item of the store with the ids for the keys, a line each, in the order of ids; and, into `findings`, what the
  // store holds otherwise than the replica shows it.
  Result<std::map<ItemId, std::string>> standing(std::vector<std::string>& findings);

 private:
  Weather& weather_;
  std::unique_ptr<StoreSubject> subject_;
  MeshUser user_;
  MeshEnvironment environment_;
  providers::MemoryMetadataStore own_metadata_;
  ReplicaOptions options_;
  std::optional<UnreliableStore> store_;
  std::unique_ptr<Replica> replica_;
};

}  // namespace harmonica::conformance
