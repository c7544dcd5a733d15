// harmonica conflicts: what lost, to what, and how to have it back.
#include <cstdio>
#include <utility>

#include "commands.h"
#include "output.h"

namespace harmonica::cli {
namespace {

std::string side(const ConflictRecord& record, const ConflictSide& side) {
  if (record.unit == kExistenceUnit) return is_alive(side.existence) ? "kept alive" : "deleted";
  if (!is_alive(side.existence)) return "deleted";
  return "\"" + display(side.value) + "\"";
}

std::string_view state_name(ConflictState state) { return state == ConflictState::kDecided ? "decided" : "waits"; }

class ConflictList {
 public:
  ConflictList(OpenStore& store, std::vector<ConflictRecord> records) : store_(store), records_(std::move(records)) {}

  Result<std::string> label(const ConflictRecord& record) const {
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<ReplicaItem> item, store_.replica->find(record.item));
    return item ? label_of(schema(), item->item) : record.item.to_text();
  }

  // The record whose id begins with `prefix`.
  Result<ConflictRecord> find(const std::string& prefix) const {
    const ConflictRecord* found = nullptr;
    for (const ConflictRecord& record : records_) {
      if (!record.id.to_text().starts_with(prefix)) continue;
      if (found != nullptr) {
        return Status(StatusCode::kInvalidArgument, "conflict '" + prefix + "': several begin so; give more of the id");
      }
      found = &record;
    }
    if (found == nullptr || prefix.empty()) {
      return Status(StatusCode::kNotFound, "conflict '" + prefix + "': not listed for " + store_.name);
    }
    return *found;
  }

  Status print_text() const {
    for (const ConflictRecord& record : records_) {
      HARMONICA_ASSIGN_OR_RETURN(const std::string name, label(record));
      std::printf("%s  %s  %s: kept %s, lost %s%s\n", record.id.to_text().substr(0, 12).c_str(), name.c_str(),
                  unit_name(schema(), record.type, record.unit).c_str(), side(record, record.kept).c_str(),
                  side(record, record.lost).c_str(), record.state == ConflictState::kDeferred ? "  (waits for you)" : "");
    }
    if (records_.empty()) {
      std::printf("no conflicts\n");
    } else {
      std::printf("have the lost one back: harmonica conflicts restore %s ID\n", store_.name.c_str());
    }
    return {};
  }

  Status print_record(const ConflictRecord& record) const {
    HARMONICA_ASSIGN_OR_RETURN(const std::string name, label(record));
    std::printf("conflict  %s\n", record.id.to_text().c_str());
    std::printf("item      %s (%s %s)\n", name.c_str(), type_name(schema(), record.type).c_str(),
                record.item.to_text().c_str());
    std::printf("unit      %s\n", unit_name(schema(), record.type, record.unit).c_str());
    std::printf("kept      %s  at %s, version %s\n", side(record, record.kept).c_str(), time(record.kept).c_str(),
                record.kept.version.to_text().c_str());
    std::printf("lost      %s  at %s, version %s\n", side(record, record.lost).c_str(), time(record.lost).c_str(),
                record.lost.version.to_text().c_str());
    std::printf("rule      %s, %s, on %s by replica %s\n", record.rule.c_str(),
                std::string(state_name(record.state)).c_str(), display_time(record.when_ms).c_str(),
                record.decided_by.to_text().c_str());
    return {};
  }

  Status print_json(const std::vector<ConflictRecord>& records) const {
    rapidjson::StringBuffer document;
    JsonWriter json(document);
    json.StartObject();
    key(json, "conflicts");
    json.StartArray();
    for (const ConflictRecord& record : records) {
      HARMONICA_ASSIGN_OR_RETURN(const std::string name, label(record));
      json.StartObject();
      member(json, "id", record.id.to_text());
      member(json, "item", record.item.to_text());
      member(json, "label", name);
      member(json, "type", type_name(schema(), record.type));
      member(json, "unit", unit_name(schema(), record.type, record.unit));
      member(json, "kept", side(record, record.kept));
      member(json, "kept_version", record.kept.version.to_text());
      member(json, "lost", side(record, record.lost));
      member(json, "lost_version", record.lost.version.to_text());
      member(json, "rule", record.rule);
      member(json, "state", state_name(record.state));
      key(json, "when_ms");
      json.Int64(record.when_ms);
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
    print(document);
    return {};
  }

  const std::vector<ConflictRecord>& records() const { return records_; }

 private:
  const Schema& schema() const { return store_.replica->schema(); }
  static std::string time(const ConflictSide& of) { return display_time(milliseconds_of(of.version.tick)); }

  OpenStore& store_;
  std::vector<ConflictRecord> records_;
};

Status act(const ConflictsOptions& options, OpenStore& store) {
  HARMONICA_ASSIGN_OR_RETURN(std::vector<ConflictRecord> records, store.replica->conflicts());
  const ConflictList list(store, std::move(records));
  if (options.action == ConflictsAction::kList) {
    return options.common.json ? list.print_json(list.records()) : list.print_text();
  }
  HARMONICA_ASSIGN_OR_RETURN(const ConflictRecord record, list.find(options.id));
  switch (options.action) {
    case ConflictsAction::kList:
    case ConflictsAction::kShow:
      return options.common.json ? list.print_json({record}) : list.print_record(record);
    case ConflictsAction::kRestore:
      HARMONICA_RETURN_IF_ERROR(record.state == ConflictState::kDecided
                                    ? store.replica->restore(record.id)
                                    : store.replica->decide(record.id, Decision::kTakeRemote));
      break;
    case ConflictsAction::kKeep:
      HARMONICA_RETURN_IF_ERROR(store.replica->decide(record.id, Decision::kKeepLocal));
      break;
    case ConflictsAction::kDrop:
      HARMONICA_RETURN_IF_ERROR(store.replica->drop(record.id));
      break;
  }
  if (options.common.json) return list.print_json({record});
  if (options.action == ConflictsAction::kDrop) {
    std::printf("forgotten: %s stays %s\n", unit_name(store.replica->schema(), record.type, record.unit).c_str(),
                side(record, record.kept).c_str());
    return {};
  }
  const ConflictSide& wanted = options.action == ConflictsAction::kKeep ? record.kept : record.lost;
  std::printf("%s is now %s; the next sync carries it on\n",
              unit_name(store.replica->schema(), record.type, record.unit).c_str(), side(record, wanted).c_str());
  return {};
}

}  // namespace

int run_conflicts(const ConflictsOptions& options) {
  Result<std::unique_ptr<Environment>> environment = make_environment(options.common);
  if (!environment.ok()) return fail(options.common, environment.status());
  Result<OpenStore> store = open_store(options.store, options.common, **environment);
  if (!store.ok()) return fail(options.common, store.status());
  const Status status = act(options, *store);
  return status.ok() ? kExitDone : fail(options.common, status.within(store->name));
}

}  // namespace harmonica::cli
