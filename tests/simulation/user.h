// What people do to the stores of simulated devices.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "simulation/device.h"

namespace harmonica::simulation {

// Edits stores at random, as a person who sees only what the store shows. One user works on all devices of a run.
class User {
 public:
  explicit User(SharedWorld& world) : world_(world) {}

  // The same small tree for every device: data that they share before they ever met.
  void fill(Device& device, std::uint64_t seed);

  // One edit: create, change, delete, move, reorder, rename (now and then to a name that is taken elsewhere), or create
  // again what was deleted.
  void edit(Device& device);

 private:
  struct Natural {
    TypeId type = 0;
    StoreKey parent;
    std::vector<UnitValue> values;
  };

  void create(Device& device);
  void create_again(Device& device);
  void change(Device& device);
  void remove(Device& device);
  void move(Device& device);
  void reorder(Device& device);

  // A root or a folder; types without a parent have the empty one.
  StoreKey pick_parent(Device& device, TypeId type);
  StoreKey pick_item(Device& device);
  StoreKey pick_previous(Device& device, const StoreKey& parent, const StoreKey& itself);
  std::string fresh_text(Device& device);
  bool name_is_free(Device& device, const StoreKey& parent, const std::string& name, const StoreKey& itself);
  bool code_is_free(Device& device, const std::string& code, const StoreKey& itself);
  void put(Device& device, StoreItem item, const StoreKey& previous);

  SharedWorld& world_;
  std::uint64_t texts_ = 0;
  std::uint64_t keys_ = 0;
  std::vector<Natural> removed_;
};

}  // namespace harmonica::simulation
