// Replicas that meet for the first time, with ids that their stores carry or do not.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/kernel/test_environment.h"
#include "harmonica/extension/provider.h"
#include "harmonica/providers/memory.h"
#include "harmonica/replica.h"
#include "harmonica/session.h"

namespace harmonica::kernel {
namespace {

constexpr TypeId kNote = 1;
constexpr TypeId kFolder = 2;
constexpr UnitId kParentUnit = 1;
constexpr UnitId kPosition = 2;
constexpr UnitId kTitle = 3;

Schema schema() {
  const Unit parent{kParentUnit, "parent", ValueKind::kIds, UnitRole::kParent};
  const Unit position{kPosition, "position", ValueKind::kBytes, UnitRole::kPosition};
  const Unit title{kTitle, "title", ValueKind::kText};
  Schema result;
  result.default_scope = "test";
  result.types = {{kNote, "note", DeletionRule::kEditWins, {parent, position, title}, {kTitle}},
                  {kFolder, "folder", DeletionRule::kEditWins, {parent, position, title}, {kTitle}}};
  return result;
}

struct Device {
  explicit Device(std::uint8_t number) : seed(number) { forget(); }

  // What is known of the store is lost; ids that stand in it are recognised.
  void forget() {
    for (const StoreKey& key : keys()) {
      StoreItem item = *store.find(key);
      item.identity = ItemId::parse(key);
      EXPECT_EQ(store.put(item), Status());
    }
    replica.reset();
    metadata = std::make_unique<providers::MemoryMetadataStore>();
    seed = static_cast<std::uint8_t>(seed + 10);  // replica ids follow from it
    environment = std::make_unique<TestEnvironment>(seed);
    auto opened = Replica::open(store, *metadata, *environment, {});
    EXPECT_TRUE(opened.ok()) << opened.status().to_text();
    replica = std::move(*opened);
  }

  void put(const StoreKey& key, TypeId type, const std::string& title, const StoreKey& parent = "",
           std::optional<ItemId> identity = {}) {
    EXPECT_EQ(store.put({key, type, parent, {{kTitle, Value::text(title)}}, {}, identity}), Status());
  }

  std::vector<StoreKey> keys() const {
    std::vector<StoreKey> keys = store.children("");
    for (std::size_t next = 0; next < keys.size(); ++next) {
      const std::vector<StoreKey> children = store.children(keys[next]);
      keys.insert(keys.end(), children.begin(), children.end());
    }
    return keys;
  }

  bool is_new() { return replica->status()->scope.empty(); }

  std::string titles(const StoreKey& parent = "") const {
    std::string text;
    for (const StoreKey& key : store.children(parent)) {
      const StoreItem& item = *store.find(key);
      text += (text.empty() ? "" : " ") + *item.values.front().value.if_text();
      if (item.type == kFolder) text += "(" + titles(key) + ")";
    }
    return text;
  }

  // Moves made a cycle, and an item has left it.
  bool has_cycle() {
    bool found = false;
    EXPECT_EQ(replica->scan([&](const StoredItem& stored) -> Result<Visit> {
      found = found || stored.view.evicted;
      return Visit::kContinue;
    }),
              Status());
    return found;
  }

  std::set<ItemId> living_ids() {
    std::set<ItemId> ids;
    EXPECT_EQ(replica->scan([&](const StoredItem& stored) -> Result<Visit> {
      if (stored.item.alive()) ids.insert(stored.item.id);
      return Visit::kContinue;
    }),
              Status());
    return ids;
  }

  std::uint8_t seed;
  std::unique_ptr<TestEnvironment> environment;
  providers::MemoryItemStore store{schema(), WriteUnit::kWholeStore};
  std::unique_ptr<providers::MemoryMetadataStore> metadata;
  std::unique_ptr<Replica> replica;
};

SessionReport bring(Device& from, Device& to) {
  SyncSession session(from.replica->provider(), to.replica->provider(), {});
  EXPECT_EQ(session.run(), Status());
  return session.report();
}

// The one that is new takes first.
void sync(Device& first, Device& second) {
  const bool second_takes = second.is_new() && !first.is_new();
  Device& taker = second_takes ? second : first;
  Device& giver = second_takes ? first : second;
  bring(giver, taker);
  bring(taker, giver);
}

void expect_equal(Device& first, Device& second) {
  const Result<Comparison> comparison = compare(*first.replica, *second.replica, 10);
  ASSERT_TRUE(comparison.ok()) << comparison.status().to_text();
  EXPECT_TRUE(comparison->equal) << (comparison->differences.empty() ? "" : comparison->differences.front().what);
  EXPECT_EQ(first.titles(), second.titles());
}

ItemId id(std::uint8_t number) {
  ItemId result;
  result.bytes.fill(number);
  return result;
}

TEST(FirstContact, WhatTheOtherStoreCarriesAnotherIdOfIsNotDoubled) {
  for (const bool carrier_first : {false, true}) {
    Device plain(1);
    Device carrier(2);
    plain.put("f", kFolder, "folder");
    plain.put("n", kNote, "note", "f");
    carrier.put(id(7).to_text(), kFolder, "folder", "", id(7));
    carrier.put(id(8).to_text(), kNote, "note", id(7).to_text(), id(8));
    Device& first = carrier_first ? carrier : plain;
    Device& second = carrier_first ? plain : carrier;
    sync(first, second);
    EXPECT_EQ(plain.titles(), "folder(note)");
    expect_equal(first, second);
    EXPECT_EQ(plain.living_ids().size(), 2U);
  }
}

TEST(FirstContact, AnIdThatIsGivenAwayLeavesItsFormerOwnerAnother) {
  Device giver(1);
  giver.put("k", kNote, "x");
  EXPECT_TRUE(giver.replica->detect().ok());
  const ItemId natural = *giver.living_ids().begin();
  // The source has that id for something else, and calls ours otherwise.
  Device source(2);
  source.put(natural.to_text(), kNote, "y", "", natural);
  Device ours(3);
  ours.put("1", kNote, "y");
  ours.put("2", kNote, "x");
  sync(ours, source);
  EXPECT_EQ(ours.living_ids().size(), 2U);
  EXPECT_EQ(ours.living_ids().count(natural), 1U);
  EXPECT_EQ(*ours.replica->find(natural).value()->item.value_of(kTitle).if_text(), "y");
  EXPECT_EQ(ours.titles(), "y x");
  expect_equal(ours, source);
}

TEST(FirstContact, WhoHasToldItsIdsKeepsThem) {
  Device first(1);
  Device second(2);
  Device third(3);
  first.put("k", kNote, "x");
  second.put("k", kNote, "other");
  sync(first, second);
  const std::set<ItemId> before = first.living_ids();
  third.put(id(7).to_text(), kNote, "x", "", id(7));
  bring(third, first);
  // It had told others: what it calls x keeps its id, and the other x is another.
  for (const ItemId& known : before) EXPECT_EQ(first.living_ids().count(known), 1U);
  EXPECT_EQ(first.living_ids().size(), 3U);
}

// Trees of a few titles, so that twins are common; each store carries ids of some entries, and the ids are old: they say
// nothing about what the entries are now.
class RandomTree {
 public:
  explicit RandomTree(std::uint64_t seed) : random_(seed) {
    for (std::size_t entry = 0; entry < 12; ++entry) {
      const std::size_t parent = below(entry + 1);
      const bool at_top = parent == entry || !entries_[parent].is_folder;
      entries_.push_back({at_top ? kTop : parent, below(3) == 0, std::string(1, static_cast<char>('a' + below(3)))});
    }
  }

  void fill(Device& device) {
    std::map<std::size_t, StoreKey> keys = {{kTop, ""}};
    for (std::size_t entry = 0; entry < entries_.size(); ++entry) {
      const auto& [parent, is_folder, title] = entries_[entry];
      const bool carries = below(2) == 0;
      const ItemId carried = id(static_cast<std::uint8_t>(100 + entry));
      keys[entry] = carries ? carried.to_text() : "k" + std::to_string(entry);
      device.put(keys[entry], is_folder ? kFolder : kNote, title, keys[parent],
                 carries ? std::optional(carried) : std::nullopt);
    }
  }

  std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_() % count); }
  std::size_t size() const { return entries_.size(); }

 private:
  static constexpr std::size_t kTop = 1000;
  struct Entry {
    std::size_t parent;
    bool is_folder;
    std::string title;
  };

  std::mt19937_64 random_;
  std::vector<Entry> entries_;
};

TEST(FirstContact, EqualStoresStayAsTheyAreWhateverIdsTheyCarry) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    RandomTree tree(seed);
    std::vector<std::unique_ptr<Device>> devices;
    for (std::uint8_t device = 1; device <= 3; ++device) {
      devices.push_back(std::make_unique<Device>(device));
      tree.fill(*devices.back());
    }
    const std::string before = devices.front()->titles();
    // One after the other joins those that have met.
    sync(*devices[1], *devices[0]);
    sync(*devices[2], *devices[tree.below(2)]);
    for (int round = 0; round < 2; ++round) {
      for (std::size_t other = 1; other < devices.size(); ++other) sync(*devices[0], *devices[other]);
    }
    for (const auto& device : devices) {
      ASSERT_EQ(device->titles(), before);
      ASSERT_EQ(device->living_ids(), devices.front()->living_ids());
      ASSERT_EQ(device->living_ids().size(), tree.size());
    }
  }
}

// A user's edit of any kind.
void edit(Device& device, RandomTree& random, std::size_t number) {
  const std::vector<StoreKey> keys = device.keys();
  const std::string title(1, static_cast<char>('a' + random.below(3)));
  if (keys.empty() || random.below(4) == 0) return device.put("n" + std::to_string(number), kNote, title);
  StoreItem item = *device.store.find(keys[random.below(keys.size())]);
  item.identity.reset();
  switch (random.below(4)) {
    case 0:
      if (item.type == kFolder || keys.size() <= 8) return;
      EXPECT_EQ(device.store.remove(item.key), Status());
      return;
    case 1: {
      const StoreItem& folder = *device.store.find(keys[random.below(keys.size())]);
      item.parent = folder.type == kFolder ? folder.key : "";
      // Refused for a folder that would lie below itself.
      static_cast<void>(device.store.put(item, ""));
      return;
    }
    default:
      item.values = {{kTitle, Value::text(title)}};
      EXPECT_EQ(device.store.put(item), Status());
  }
}

TEST(FirstContact, WhateverHappenedLostMetadataDoublesNothing) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    RandomTree random(seed);
    std::vector<std::unique_ptr<Device>> devices;
    for (std::uint8_t device = 1; device <= 3; ++device) devices.push_back(std::make_unique<Device>(device));
    random.fill(*devices[0]);
    for (auto& device : devices) device->forget();
    const auto settle = [&] {
      for (int round = 0; round < 3; ++round) {
        for (std::size_t other = 1; other < devices.size(); ++other) sync(*devices[0], *devices[other]);
      }
    };
    settle();
    for (std::size_t step = 0; step < 12; ++step) {
      edit(*devices[random.below(devices.size())], random, step);
      if (random.below(3) == 0) settle();
    }
    settle();
    const std::string before = devices[0]->titles();
    const std::size_t count = devices[0]->keys().size();
    if (devices[0]->has_cycle()) continue;
    // Some lose what they know; the first may do so too.
    for (const auto& device : devices) {
      if (random.below(2) == 0) device->forget();
    }
    std::stable_partition(devices.begin(), devices.end(), [](const auto& device) { return !device->is_new(); });
    settle();
    for (const auto& device : devices) {
      ASSERT_EQ(device->titles(), before);
      ASSERT_EQ(device->living_ids(), devices[0]->living_ids());
      ASSERT_EQ(device->living_ids().size(), count);
    }
  }
}

}  // namespace
}  // namespace harmonica::kernel
