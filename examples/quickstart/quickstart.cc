// Two devices keep one list of notes: each writes into its own copy, then one synchronization makes both equal.
#include <filesystem>
#include <iostream>

#include "harmonica/harmonica.h"
#include "harmonica/platform/system_environment.h"
#include "harmonica/providers/memory.h"

namespace {

using namespace harmonica;

constexpr TypeId kNote = 1;
constexpr UnitId kText = 1;

// What is kept in sync: notes, each with one text. Two that say the same were the same note all along.
Schema notes_schema() {
  const Unit text{.id = kText, .name = "text"};
  const ItemType note{.id = kNote, .name = "note", .units = {text}, .natural_key = {kText}};
  return {.default_scope = "notes", .types = {note}};
}

// The app's own data, and beside it what Harmonica knows of it.
struct Device {
  providers::MemoryItemStore store{notes_schema(), WriteUnit::kEachItem};
  std::unique_ptr<MetadataStore> metadata = providers::make_memory_metadata();
  std::unique_ptr<Replica> replica;

  Status write(const StoreKey& key, const std::string& text) {
    return store.put({.key = key, .type = kNote, .values = {{kText, Value::text(text)}}});
  }
};

Status run(const std::string& state_directory) {
  const auto environment = platform::make_system_environment({.reservations_directory = state_directory});
  Device phone;
  Device laptop;
  for (Device* device : {&phone, &laptop}) {
    HARMONICA_ASSIGN_OR_RETURN(device->replica, Replica::open(device->store, *device->metadata, *environment, {}));
  }

  HARMONICA_RETURN_IF_ERROR(phone.write("1", "buy milk"));
  HARMONICA_RETURN_IF_ERROR(laptop.write("1", "call Ada"));
  HARMONICA_RETURN_IF_ERROR(synchronize(phone.replica->provider(), laptop.replica->provider(), {}).status());

  std::cout << "phone\n" << phone.store.to_text() << "laptop\n" << laptop.store.to_text();
  return {};
}

}  // namespace

int main() {
  const std::filesystem::path state_directory = std::filesystem::temp_directory_path() / "harmonica-quickstart";
  const Status status = run(state_directory.string());
  std::filesystem::remove_all(state_directory);
  if (status.ok()) return 0;
  std::cerr << status.to_text() << "\n";
  return 1;
}
