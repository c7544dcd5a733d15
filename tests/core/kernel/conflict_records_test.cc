// How long records of decided conflicts are kept.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/kernel/test_environment.h"
#include "harmonica/providers/memory.h"
#include "harmonica/replica.h"
#include "harmonica/session.h"

namespace harmonica::kernel {
namespace {

constexpr TypeId kNote = 1;
constexpr UnitId kName = 1;
constexpr UnitId kText = 2;

Schema schema() {
  Schema result;
  result.default_scope = "test";
  result.types = {{kNote,
                   "note",
                   DeletionRule::kEditWins,
                   {{kName, "name", ValueKind::kText}, {kText, "text", ValueKind::kText}},
                   {kName}}};
  return result;
}

struct Device {
  Device(std::uint8_t number, const ReplicaOptions& options) : environment(number) {
    auto opened = Replica::open(store, metadata, environment, options);
    EXPECT_TRUE(opened.ok()) << opened.status().to_text();
    replica = std::move(*opened);
  }

  void write(const std::string& name, const std::string& text) {
    StoreKey key = name;
    for (const StoreKey& held : store.children("")) {
      if (*store.find(held)->values.front().value.if_text() == name) key = held;
    }
    EXPECT_EQ(store.put({key, kNote, "", {{kName, Value::text(name)}, {kText, Value::text(text)}}, {}, {}}), Status());
  }

  // The values that lost, oldest first.
  std::vector<std::string> lost() {
    std::vector<std::string> values;
    const Result<std::vector<ConflictRecord>> records = replica->conflicts();
    EXPECT_TRUE(records.ok()) << records.status().to_text();
    if (!records.ok()) return values;
    for (const ConflictRecord& record : *records) values.push_back(*record.lost.value.if_text());
    return values;
  }

  providers::MemoryItemStore store{schema(), WriteUnit::kEachItem};
  providers::MemoryMetadataStore metadata;
  TestEnvironment environment;
  std::unique_ptr<Replica> replica;
};

void sync(Device& first, Device& second) {
  const auto report = synchronize(first.replica->provider(), second.replica->provider(), {});
  EXPECT_TRUE(report.ok()) << report.status().to_text();
}

// Both devices write apart; the second one's text is the later one.
void make_conflict(Device& first, Device& second, const std::string& name, const std::string& lost) {
  for (Device* device : {&first, &second}) device->write(name, "base");
  sync(first, second);
  first.write(name, lost);
  EXPECT_TRUE(first.replica->detect().ok());
  first.environment.now_ms += 10;
  second.environment.now_ms = first.environment.now_ms;
  second.write(name, "kept");
  sync(first, second);
}

using Texts = std::vector<std::string>;

TEST(ConflictRecords, TheOldestGoWhenThereAreTooMany) {
  Device first(1, {.conflict_records_max = 2});
  Device second(2, {});
  for (const std::string name : {"a", "b", "c"}) make_conflict(first, second, name, "lost " + name);
  EXPECT_EQ(first.lost(), (Texts{"lost b", "lost c"}));
}

TEST(ConflictRecords, ThoseThatAreTooOldGoInTheNextSession) {
  Device first(1, {.conflict_record_age_ms_max = 60'000});
  Device second(2, {});
  make_conflict(first, second, "a", "lost a");
  first.environment.now_ms += 40'000;
  second.environment.now_ms += 40'000;
  make_conflict(first, second, "b", "lost b");
  EXPECT_EQ(first.lost(), (Texts{"lost a", "lost b"}));
  first.environment.now_ms += 40'000;
  sync(first, second);
  EXPECT_EQ(first.lost(), (Texts{"lost b"}));
}

TEST(ConflictRecords, WhatWaitsForAPersonStays) {
  Device first(1, {.conflict_records_max = 0, .conflict_record_age_ms_max = 0});
  Device second(2, {});
  for (Device* device : {&first, &second}) device->write("a", "base");
  sync(first, second);
  first.write("a", "one");
  second.write("a", "other");
  SyncSession session(second.replica->provider(), first.replica->provider(), {.on_conflict = OnConflict::kManual});
  EXPECT_EQ(session.run(), Status());
  first.environment.now_ms += 1'000'000;
  SyncSession again(second.replica->provider(), first.replica->provider(), {.on_conflict = OnConflict::kManual});
  EXPECT_EQ(again.run(), Status());
  EXPECT_EQ(first.replica->conflicts()->size(), 1u);
}

}  // namespace
}  // namespace harmonica::kernel
