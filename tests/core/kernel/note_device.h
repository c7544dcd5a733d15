// A replica over a store of notes in memory.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/kernel/test_environment.h"
#include "harmonica/providers/memory.h"
#include "harmonica/replica.h"
#include "harmonica/session.h"

namespace harmonica::kernel {

inline constexpr TypeId kNote = 1;
inline constexpr UnitId kName = 1;
inline constexpr UnitId kText = 2;

inline Schema note_schema() {
  Schema result;
  result.default_scope = "test";
  result.types = {{kNote,
                   "note",
                   DeletionRule::kEditWins,
                   {{kName, "name", ValueKind::kText}, {kText, "text", ValueKind::kText}},
                   {kName}}};
  return result;
}

struct NoteDevice {
  NoteDevice(std::uint8_t number, const ReplicaOptions& options, WriteUnit write_unit = WriteUnit::kEachItem)
      : store(note_schema(), write_unit), environment(number) {
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

  // The text of a note as it stands in the store; empty: there is none.
  std::string text(const std::string& name) const {
    for (const StoreKey& held : store.children("")) {
      const StoreItem& item = *store.find(held);
      if (*item.values.front().value.if_text() == name) return *item.values.back().value.if_text();
    }
    return {};
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

  providers::MemoryItemStore store;
  providers::MemoryMetadataStore metadata;
  TestEnvironment environment;
  std::unique_ptr<Replica> replica;
};

inline void sync(NoteDevice& first, NoteDevice& second) {
  const auto report = synchronize(first.replica->provider(), second.replica->provider(), {});
  EXPECT_TRUE(report.ok()) << report.status().to_text();
}

}  // namespace harmonica::kernel
