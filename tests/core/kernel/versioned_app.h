// An app of which there are three versions, each with more in its schema, over stores in memory.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/kernel/test_environment.h"
#include "harmonica/providers/memory.h"
#include "harmonica/replica.h"
#include "harmonica/session.h"

namespace harmonica::kernel {

inline constexpr TypeId kVersionedNote = 1;
inline constexpr TypeId kVersionedTag = 2;
inline constexpr UnitId kVersionedTitle = 1;
inline constexpr UnitId kVersionedBody = 2;
inline constexpr UnitId kVersionedStars = 3;   // since version 2; `max`
inline constexpr UnitId kVersionedColour = 4;  // since version 3

// Notes with a title and a body; version 2 adds stars to them, and tags; version 3 gives both a colour.
inline Schema app_schema(int version) {
  Schema schema;
  schema.default_scope = "test";
  ItemType note{.id = kVersionedNote, .name = "note"};
  note.units = {{.id = kVersionedTitle, .name = "title"}, {.id = kVersionedBody, .name = "body"}};
  note.natural_key = {kVersionedTitle};
  if (version >= 2) {
    note.units.push_back({.id = kVersionedStars, .name = "stars", .kind = ValueKind::kInteger, .rule = ConflictRule::kMax});
  }
  if (version >= 3) note.units.push_back({.id = kVersionedColour, .name = "colour"});
  schema.types.push_back(std::move(note));
  if (version < 2) return schema;
  ItemType tag{.id = kVersionedTag, .name = "tag", .deletion = DeletionRule::kDeleteWins};
  tag.units = {{.id = kVersionedTitle, .name = "title"}};
  if (version >= 3) tag.units.push_back({.id = kVersionedColour, .name = "colour"});
  tag.natural_key = {kVersionedTitle};
  schema.types.push_back(std::move(tag));
  return schema;
}

class VersionedApp {
 public:
  VersionedApp(std::uint8_t number, int version) : environment(number) { EXPECT_EQ(open(version), Status()); }

  // Installs that version. Of what the version before had in its store, this one keeps what it knows, or all of it.
  enum class Leaves { kWhatItKnows, kEverything };
  Status open(int version, Leaves leaves = Leaves::kEverything) { return open(app_schema(version), leaves); }
  Status open(const Schema& schema, Leaves leaves = Leaves::kEverything) {
    replica.reset();
    if (store != nullptr) keep_files(leaves == Leaves::kWhatItKnows ? schema : Schema());
    store = std::make_unique<providers::MemoryItemStore>(schema, WriteUnit::kEachItem);
    std::vector<StoreItem> waiting;
    for (StoreItem& item : std::exchange(files_, {})) {
      const ItemType* type = schema.find_type(item.type);
      StoreItem known = item;
      if (type != nullptr)
        std::erase_if(known.values, [&](const UnitValue& value) { return !type->find_unit(value.unit); });
      if (type == nullptr || known.values.size() < item.values.size()) waiting.push_back(item);
      if (type == nullptr) continue;
      EXPECT_EQ(store->put(known), Status());
    }
    files_ = std::move(waiting);
    auto opened = Replica::open(*store, metadata, environment, {.guard = Guard::kConfirmed});
    if (!opened.ok()) return opened.status();
    replica = std::move(*opened);
    return {};
  }

  StoreKey key_of(TypeId type, const std::string& title) const {
    for (const StoreKey& key : store->children("")) {
      const StoreItem& item = *store->find(key);
      if (item.type == type && *item.values.front().value.if_text() == title) return key;
    }
    return title;
  }
  void put(TypeId type, const std::string& title, std::vector<UnitValue> values = {}) {
    const StoreKey key = key_of(type, title);
    values.insert(values.begin(), {kVersionedTitle, Value::text(title)});
    if (const StoreItem* held = store->find(key)) {
      for (const UnitValue& value : held->values) {
        const bool given =
            std::any_of(values.begin(), values.end(), [&](const UnitValue& v) { return v.unit == value.unit; });
        if (!given) values.push_back(value);
      }
    }
    std::sort(values.begin(), values.end(), [](const UnitValue& a, const UnitValue& b) { return a.unit < b.unit; });
    EXPECT_EQ(store->put({key, type, "", values, {}, {}}), Status());
    environment.now_ms += 1000;
  }
  void note(const std::string& title, std::vector<UnitValue> values = {}) { put(kVersionedNote, title, std::move(values)); }
  void tag(const std::string& title) { put(kVersionedTag, title); }
  void remove(TypeId type, const std::string& title) { EXPECT_EQ(store->remove(key_of(type, title)), Status()); }

  // Null if the item or the unit is not in the store.
  Value shown(TypeId type, const std::string& title, UnitId unit) const {
    const StoreItem* item = store->find(key_of(type, title));
    if (item == nullptr) return {};
    for (const UnitValue& value : item->values) {
      if (value.unit == unit) return value.value;
    }
    return {};
  }
  bool shows(TypeId type, const std::string& title) const { return store->find(key_of(type, title)) != nullptr; }

  std::uint64_t held() const { return replica->status().value().held; }
  std::uint64_t alive() const { return replica->status().value().counts.alive; }
  std::vector<ConflictRecord> conflicts() const { return replica->conflicts().value(); }

  TestEnvironment environment;
  providers::MemoryMetadataStore metadata;
  std::unique_ptr<providers::MemoryItemStore> store;
  std::unique_ptr<Replica> replica;

 private:
  // What stands in the app's files, which a version that does not know some of it reads around.
  void keep_files(const Schema& known_only) {
    for (const StoreKey& key : store->children("")) {
      StoreItem item = *store->find(key);
      std::erase_if(files_, [&](const StoreItem& file) {
        if (file.key != key) return false;
        for (const UnitValue& value : file.values) {
          const bool is_there = std::any_of(item.values.begin(), item.values.end(),
                                            [&](const UnitValue& one) { return one.unit == value.unit; });
          if (!is_there) item.values.push_back(value);
        }
        return true;
      });
      files_.push_back(std::move(item));
    }
    if (known_only.types.empty()) return;
    std::erase_if(files_, [&](StoreItem& item) {
      const ItemType* type = known_only.find_type(item.type);
      if (type != nullptr) std::erase_if(item.values, [&](const UnitValue& v) { return !type->find_unit(v.unit); });
      return type == nullptr;
    });
  }

  std::vector<StoreItem> files_;
};

inline SessionReport carry(Replica& from, Replica& to) {
  SyncSession session(from.provider(), to.provider(), {});
  const Status status = session.run();
  EXPECT_TRUE(status.ok()) << status.to_text();
  return session.report();
}
inline SessionReport carry(VersionedApp& from, VersionedApp& to) { return carry(*from.replica, *to.replica); }

}  // namespace harmonica::kernel
