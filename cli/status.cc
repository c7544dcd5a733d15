// harmonica status: what a replica is and holds.
#include <cstdio>
#include <utility>

#include "commands.h"
#include "output.h"

namespace harmonica::cli {
namespace {

// Why a former id was given up.
std::string reason(const std::vector<Device>& devices, const ReplicaId& former) {
  for (const Device& device : devices) {
    if (device.replica == former && device.is_retired) return "it was retired and came back";
  }
  for (const Device& device : devices) {
    if (device.former == former && device.is_copy) return "it was found to be in use on two devices";
  }
  return "its metadata was restored from a backup, or its clock had been ahead";
}

void print_text(const OpenStore& store, const ReplicaStatus& status, const std::vector<Device>& devices, const Look& look) {
  const DetectionReport& detected = look.detected;
  std::printf("store      %s\n", store.path.c_str());
  std::printf("replica    %s\n", status.replica.to_text().c_str());
  for (const ReplicaId& former : status.former_replicas) {
    std::printf("           was %s until %s\n", former.to_text().c_str(), reason(devices, former).c_str());
  }
  std::printf("scope      %s\n", status.scope.empty() ? "none yet: sync it with another store" : status.scope.c_str());
  if (status.filter) {
    std::printf("filter     %s; %llu held until a store without a filter has them\n",
                display_text(status.filter->to_text()).c_str(), static_cast<unsigned long long>(status.outside));
  }
  std::printf("items      %llu, %llu of them shown; %llu deleted\n", static_cast<unsigned long long>(status.counts.alive),
              static_cast<unsigned long long>(status.counts.shown),
              static_cast<unsigned long long>(status.counts.deleted - status.erased));
  if (status.erased > 0) std::printf("erased     %llu for good\n", static_cast<unsigned long long>(status.erased));
  std::printf("changes    %llu created, %llu updated, %llu deleted since it was last looked at\n",
              static_cast<unsigned long long>(detected.created), static_cast<unsigned long long>(detected.updated),
              static_cast<unsigned long long>(detected.deleted));
  if (!look.guard.empty()) {
    std::printf("guard      stops the next sync: %s (%s)\n", look.guard.c_str(), kConfirmAdvice);
  }
  std::printf("waiting    %llu parked, %llu not yet written, %llu conflicts to decide\n",
              static_cast<unsigned long long>(status.parked), static_cast<unsigned long long>(status.unwritten),
              static_cast<unsigned long long>(status.conflicts_deferred));
  if (status.held > 0) {
    std::printf("held       %llu of types that this store does not know: kept and passed on\n",
                static_cast<unsigned long long>(status.held));
  }
  std::printf("conflicts  %llu decided\n", static_cast<unsigned long long>(status.conflicts_decided));
  std::printf("knowledge  %s\n", status.knowledge.to_text().c_str());
  for (const std::string& skipped : detected.skipped) std::printf("left alone %s\n", display_text(skipped).c_str());
  for (const std::string& mended : detected.mended) {
    std::printf("damaged    %s; the next write mends it\n", display_text(mended).c_str());
  }
}

void print_json(const OpenStore& store, const ReplicaStatus& status, const std::vector<Device>& devices, const Look& look) {
  const DetectionReport& detected = look.detected;
  rapidjson::StringBuffer document;
  JsonWriter json(document);
  json.StartObject();
  member(json, "store", store.path);
  member(json, "replica", status.replica.to_text());
  key(json, "former_replicas");
  json.StartArray();
  for (const ReplicaId& former : status.former_replicas) string(json, former.to_text());
  json.EndArray();
  key(json, "former_reasons");
  json.StartArray();
  for (const ReplicaId& former : status.former_replicas) string(json, reason(devices, former));
  json.EndArray();
  member(json, "scope", status.scope);
  member(json, "filter", status.filter ? status.filter->to_text() : "");
  member(json, "outside", status.outside);
  member(json, "alive", status.counts.alive);
  member(json, "shown", status.counts.shown);
  member(json, "deleted", status.counts.deleted - status.erased);
  member(json, "erased", status.erased);
  member(json, "parked", status.parked);
  member(json, "unwritten", status.unwritten);
  member(json, "held", status.held);
  member(json, "conflicts_decided", status.conflicts_decided);
  member(json, "conflicts_deferred", status.conflicts_deferred);
  member(json, "detected_created", detected.created);
  member(json, "detected_updated", detected.updated);
  member(json, "detected_deleted", detected.deleted);
  member(json, "left_alone", detected.skipped);
  member(json, "damaged", detected.mended);
  member(json, "guard", look.guard);
  member(json, "knowledge", status.knowledge.to_text());
  json.EndObject();
  print(document);
}

}  // namespace

int run_status(const StoreOptions& options) {
  Result<std::unique_ptr<Environment>> environment = make_environment(options.common);
  if (!environment.ok()) return fail(options.common, environment.status());
  Result<OpenStore> store = open_store(options.store, options.common, **environment);
  if (!store.ok()) return fail(options.common, store.status());
  const Result<Look> look = look_at(*store);
  if (!look.ok()) return fail(options.common, look.status());
  const Result<ReplicaStatus> status = store->replica->status();
  if (!status.ok()) return fail(options.common, status.status().within(store->name));
  const Result<std::vector<Device>> devices = store->replica->devices();
  if (!devices.ok()) return fail(options.common, devices.status().within(store->name));
  if (options.common.json) {
    print_json(*store, *status, *devices, *look);
  } else {
    print_text(*store, *status, *devices, *look);
  }
  return waits(*status) || !look->guard.empty() ? kExitWaiting : kExitDone;
}

}  // namespace harmonica::cli
