// What people do to the stores of simulated devices.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "simulation/device.h"

namespace harmonica::simulation {

enum class Habit : std::uint8_t { kAnything, kMostlyNotes };

// Edits stores at random, as a person who sees only what the store shows. One user works on all devices of a run.
class User {
 public:
  User(SharedWorld& world, Habit habit) : world_(world), habit_(habit) {}

  // Data that devices share before they meet: the same small tree wherever the seed is the same.
  struct Shared {
    std::uint64_t seed = 0;
    bool carries_ids = false;   // the store recognises its items: they were in sync once, and the metadata is lost
    bool edited_since = false;  // some of them were edited after they got their ids
    bool bookmarks_only = false;
  };
  void fill(Device& device, const Shared& shared);

  // One edit: create, change, delete, move, reorder, rename (now and then to a name that is taken elsewhere), or create
  // again what was deleted.
  void edit(Device& device);

  // What is about to be taken away may be created again.
  void remember(const StoreItem& item);

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
  // Several words, or `text` with some of them changed: what can be merged.
  std::string fresh_words(Device& device, const std::string& text);
  Value::Ids some_accounts(Device& device);
  bool name_is_free(Device& device, const StoreKey& parent, const std::string& name, const StoreKey& itself);
  bool code_is_free(Device& device, const std::string& code, const StoreKey& itself);
  void put(Device& device, StoreItem item, const StoreKey& previous);

  SharedWorld& world_;
  Habit habit_;
  std::uint64_t texts_ = 0;
  std::uint64_t keys_ = 0;
  std::vector<Natural> removed_;
};

}  // namespace harmonica::simulation
