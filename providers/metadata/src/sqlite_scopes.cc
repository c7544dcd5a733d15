#include <utility>

#include "encoding.h"
#include "harmonica/platform/file_system.h"
#include "harmonica/providers/metadata.h"
#include "sqlite_metadata_store.h"

namespace harmonica::providers {

Result<std::vector<SqliteScope>> list_sqlite_scopes(const std::string& path, const SqliteMetadataOptions& options) {
  if (!platform::exists(path)) return Status(StatusCode::kNotFound, "records " + path + ": no such file");
  HARMONICA_ASSIGN_OR_RETURN(const auto connection, Connection::open(path, {options.busy_timeout_ms, Durability::kFull,
                                                                            DatabaseKind::kRecords, 0}));
  HARMONICA_RETURN_IF_ERROR(connection->prepare_format());
  Statement query(*connection, Query::kFactOfEachScope);
  query.bind(as_bytes(kStateFact));
  std::vector<SqliteScope> scopes;
  while (true) {
    HARMONICA_ASSIGN_OR_RETURN(const Statement::Step step, query.step());
    if (step == Statement::Step::kDone) return scopes;
    std::optional<ReplicaState> state = decode_state(query.blob(1));
    if (!state) return connection->corruption("the state of scope " + std::to_string(query.integer(0)) + " is damaged");
    scopes.push_back({query.integer(0), std::move(state->scope)});
  }
}

Result<std::unique_ptr<MetadataStore>> open_sqlite_scope(const std::string& path, std::int64_t number,
                                                         const SqliteMetadataOptions& options) {
  if (path.empty() || number < 1) return Status(StatusCode::kInvalidArgument, "records: no path, or no scope");
  auto resolved = platform::canonical_path(path);
  return SqliteMetadataStore::open(resolved.ok() ? *std::move(resolved) : path,
                                   {options.busy_timeout_ms, Durability::kFull, DatabaseKind::kRecords, number}, {});
}

}  // namespace harmonica::providers
