// harmonica devices: who is in a scope, and who has left it.
#include <cstdio>
#include <ctime>
#include <optional>
#include <utility>

#include "commands.h"
#include "output.h"

namespace harmonica::cli {
namespace {

std::string time_text(std::int64_t unix_ms) {
  const auto seconds = static_cast<std::time_t>(unix_ms / 1000);
  std::tm parts{};
  char text[32] = "";
  if (gmtime_r(&seconds, &parts) != nullptr) std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

std::string what_became_of(const Device& device) {
  if (device.is_self) return "this one";
  if (!device.successor.is_zero()) return "is now " + device.successor.to_text().substr(0, 12);
  if (device.is_retired) return "retired";
  if (device.last_session_ms) return "last met " + time_text(*device.last_session_ms);
  return "never met";
}

void print_text(const std::vector<Device>& devices) {
  for (const Device& device : devices) {
    const std::string change =
        device.last_change == 0 ? "no changes" : "last change " + time_text(milliseconds_of(device.last_change));
    std::printf("%s  %s  %s, %s\n", device.replica.to_text().substr(0, 12).c_str(),
                device.name.empty() ? "(no name)" : display_text(device.name).c_str(), what_became_of(device).c_str(),
                change.c_str());
  }
}

void print_json(const std::vector<Device>& devices) {
  rapidjson::StringBuffer document;
  JsonWriter json(document);
  json.StartObject();
  key(json, "devices");
  json.StartArray();
  for (const Device& device : devices) {
    json.StartObject();
    member(json, "id", device.replica.to_text());
    member(json, "name", device.name);
    key(json, "self");
    json.Bool(device.is_self);
    key(json, "retired");
    json.Bool(device.is_retired);
    key(json, "copy");
    json.Bool(device.is_copy);
    member(json, "former", device.former.is_zero() ? std::string() : device.former.to_text());
    member(json, "successor", device.successor.is_zero() ? std::string() : device.successor.to_text());
    key(json, "last_change_ms");
    json.Int64(device.last_change == 0 ? 0 : milliseconds_of(device.last_change));
    key(json, "last_session_ms");
    json.Int64(device.last_session_ms.value_or(0));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  print(document);
}

// The device whose id begins with `prefix`.
Result<Device> find(const std::vector<Device>& devices, const std::string& prefix, const std::string& store) {
  const Device* found = nullptr;
  for (const Device& device : devices) {
    if (!device.replica.to_text().starts_with(prefix)) continue;
    if (found != nullptr) {
      return Status(StatusCode::kInvalidArgument, "device '" + prefix + "': several begin so; give more of the id");
    }
    found = &device;
  }
  if (found == nullptr || prefix.empty()) {
    return Status(StatusCode::kNotFound, "device '" + prefix + "': not listed for " + store);
  }
  return *found;
}

Result<std::vector<Device>> listed(OpenStore& store, const DevicesOptions& options) {
  HARMONICA_ASSIGN_OR_RETURN(std::vector<Device> devices, store.replica->devices());
  if (options.action == DevicesAction::kList) return devices;
  HARMONICA_ASSIGN_OR_RETURN(const Device device, find(devices, options.id, store.name));
  HARMONICA_RETURN_IF_ERROR(store.replica->retire(device.replica));
  return store.replica->devices();
}

}  // namespace

int run_devices(const DevicesOptions& options) {
  Result<std::unique_ptr<Environment>> environment = make_environment(options.common);
  if (!environment.ok()) return fail(options.common, environment.status());
  Result<OpenStore> store = open_store(options.store, options.common, **environment);
  if (!store.ok()) return fail(options.common, store.status());
  const Result<std::vector<Device>> devices = listed(*store, options);
  if (!devices.ok()) return fail(options.common, devices.status());
  if (options.common.json) {
    print_json(*devices);
  } else {
    print_text(*devices);
  }
  return kExitDone;
}

}  // namespace harmonica::cli
