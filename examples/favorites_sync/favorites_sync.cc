// Favorites of several browsers become one: what an app developer copies from. Uses the SDK's public headers only.
//
//   favorites_sync [--through-channel] STATE_DIRECTORY FILE FILE...
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "harmonica/extension/remote.h"
#include "harmonica/harmonica.h"
#include "harmonica/platform/file_system.h"
#include "harmonica/platform/system_environment.h"
#include "harmonica/providers/favorites.h"
#include "harmonica/providers/metadata.h"
#include "harmonica/transports/local.h"

namespace {

using namespace harmonica;

// How a session reaches the other store: by a direct call, or as bytes through a channel, as over a network.
enum class Way { kDirect, kChannel };

// A browser's file, and beside it what Harmonica knows of it. Destroyed in the opposite order.
struct Device {
  std::string path;
  std::unique_ptr<ItemStore> store;
  std::unique_ptr<MetadataStore> metadata;
  std::unique_ptr<Replica> replica;
};

Result<Device> open_device(const std::string& path, const std::string& state_directory, std::size_t number,
                           Environment& environment) {
  Device device;
  device.path = path;
  HARMONICA_ASSIGN_OR_RETURN(device.store, providers::open_favorites(path, {}));
  const std::string metadata_path = state_directory + "/device" + std::to_string(number) + ".db";
  HARMONICA_ASSIGN_OR_RETURN(device.metadata, providers::open_sqlite_metadata(metadata_path));
  HARMONICA_ASSIGN_OR_RETURN(device.replica, Replica::open(*device.store, *device.metadata, environment, {}));
  return device;
}

Result<SynchronizeReport> sync_pair(Device& first, Device& second, Way way) {
  Provider& near = first.replica->provider();
  Provider& far = second.replica->provider();
  if (way == Way::kDirect) return synchronize(near, far, {});
  // In a real app the endpoint answers on the other machine, and the channel is the network between the two.
  const std::unique_ptr<RequestHandler> endpoint = make_provider_endpoint(far);
  transports::LocalChannel channel(*endpoint);
  const std::unique_ptr<Provider> remote = make_remote_provider(channel, {});
  return synchronize(near, *remote, {});
}

void print(const Device& device, const SessionReport& report) {
  std::printf("%s: %llu new, %llu changed, %llu deleted, %llu conflicts decided\n", device.path.c_str(),
              static_cast<unsigned long long>(report.created), static_cast<unsigned long long>(report.updated),
              static_cast<unsigned long long>(report.deleted), static_cast<unsigned long long>(report.conflicts));
}

Status run(Way way, const std::string& state_directory, const std::vector<std::string>& paths) {
  HARMONICA_RETURN_IF_ERROR(platform::create_directories(state_directory));
  const auto environment = platform::make_system_environment({.reservations_directory = state_directory + "/reservations"});
  std::vector<Device> devices;
  for (const std::string& path : paths) {
    HARMONICA_ASSIGN_OR_RETURN(Device device, open_device(path, state_directory, devices.size(), *environment));
    devices.push_back(std::move(device));
  }
  // The first device passes on what it learned: two rounds bring everything everywhere.
  for (int round = 0; round < 2; ++round) {
    for (std::size_t other = 1; other < devices.size(); ++other) {
      HARMONICA_ASSIGN_OR_RETURN(const SynchronizeReport report, sync_pair(devices[0], devices[other], way));
      if (!report.to_first.quiet()) print(devices[0], report.to_first);
      if (!report.to_second.quiet()) print(devices[other], report.to_second);
    }
  }
  for (Device& device : devices) {
    HARMONICA_ASSIGN_OR_RETURN(const std::vector<ConflictRecord> conflicts, device.replica->conflicts());
    for (const ConflictRecord& conflict : conflicts) {
      std::printf("%s: kept %s, lost %s\n", device.path.c_str(), conflict.kept.value.to_text().c_str(),
                  conflict.lost.value.to_text().c_str());
    }
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  Way way = Way::kDirect;
  if (!arguments.empty() && arguments.front() == "--through-channel") {
    way = Way::kChannel;
    arguments.erase(arguments.begin());
  }
  if (arguments.size() < 3) {
    std::fprintf(stderr, "usage: favorites_sync [--through-channel] STATE_DIRECTORY FILE FILE...\n");
    return 2;
  }
  const Status status = run(way, arguments.front(), {arguments.begin() + 1, arguments.end()});
  if (status.ok()) return 0;
  std::fprintf(stderr, "favorites_sync: %s\n", status.message().c_str());
  return 1;
}
