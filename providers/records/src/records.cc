#include "harmonica/providers/records.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "harmonica/platform/file_system.h"
#include "harmonica/providers/metadata.h"

namespace harmonica::providers {
namespace {

constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};
constexpr std::string_view kApplication = "Hrmr";
constexpr std::size_t kApplicationAt = 68;

std::string name_of(const SqliteScope& scope) { return scope.name.empty() ? "one without a name yet" : scope.name; }

// The number of the scope wanted, which may be new.
Result<std::int64_t> choose(const std::string& path, const std::vector<SqliteScope>& scopes, const ScopeName& wanted) {
  const std::int64_t unused = scopes.empty() ? 1 : scopes.back().number + 1;
  if (wanted.empty()) {
    if (scopes.size() == 1) return scopes.front().number;
    if (scopes.empty()) return unused;
    std::string names;
    for (const SqliteScope& scope : scopes) names += (names.empty() ? "" : ", ") + name_of(scope);
    return Status(StatusCode::kInvalidArgument,
                  "records " + path + ": holds several scopes (" + names + "); say which, as in " + path + "#SCOPE");
  }
  const auto found = std::ranges::find(scopes, wanted, &SqliteScope::name);
  return found == scopes.end() ? unused : found->number;
}

Status name_scope(MetadataStore& records, const ScopeName& name) {
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, records.begin(TransactionMode::kWrite));
  HARMONICA_ASSIGN_OR_RETURN(ReplicaState state, transaction->state());
  if (state.scope == name) return {};
  if (!state.scope.empty()) {
    return {StatusCode::kUnavailable,
            "records: another program has made the scope '" + state.scope + "' in that file meanwhile; try again"};
  }
  state.scope = name;
  HARMONICA_RETURN_IF_ERROR(transaction->set_state(state));
  return transaction->commit();
}

}  // namespace

Result<std::unique_ptr<MetadataStore>> open_records(const std::string& path, const RecordsOptions& options) {
  const SqliteMetadataOptions sqlite{.busy_timeout_ms = options.busy_timeout_ms};
  if (!options.scope.empty() && !is_valid_scope_name(options.scope)) {
    return Status(StatusCode::kInvalidArgument, "records " + path + ": '" + options.scope + "' is not a scope name");
  }
  auto scopes = list_sqlite_scopes(path, sqlite);
  if (scopes.status().code() == StatusCode::kNotFound) scopes = std::vector<SqliteScope>();
  if (!scopes.ok()) return scopes.status();
  HARMONICA_ASSIGN_OR_RETURN(const std::int64_t number, choose(path, *scopes, options.scope));
  HARMONICA_ASSIGN_OR_RETURN(std::unique_ptr<MetadataStore> records, open_sqlite_scope(path, number, sqlite));
  if (!options.scope.empty()) HARMONICA_RETURN_IF_ERROR(name_scope(*records, options.scope));
  return records;
}

Result<std::vector<ScopeName>> list_records(const std::string& path) {
  HARMONICA_ASSIGN_OR_RETURN(std::vector<SqliteScope> scopes, list_sqlite_scopes(path));
  std::vector<ScopeName> names;
  names.reserve(scopes.size());
  for (SqliteScope& scope : scopes) names.push_back(std::move(scope.name));
  return names;
}

bool is_records(ByteView head) {
  return head.size() >= kApplicationAt + kApplication.size() && as_text(head).starts_with(kSqliteMagic) &&
         as_text(head).substr(kApplicationAt, kApplication.size()) == kApplication;
}

Status copy_records(const std::string& from, const std::string& to) { return copy_sqlite_metadata(from, to); }

}  // namespace harmonica::providers
