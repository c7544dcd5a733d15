// How long records of decided conflicts are kept.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/kernel/note_device.h"

namespace harmonica::kernel {
namespace {

// Both devices write apart; the second one's text is the later one.
void make_conflict(NoteDevice& first, NoteDevice& second, const std::string& name, const std::string& lost) {
  for (NoteDevice* device : {&first, &second}) device->write(name, "base");
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
  NoteDevice first(1, {.conflict_records_max = 2});
  NoteDevice second(2, {});
  for (const std::string name : {"a", "b", "c"}) make_conflict(first, second, name, "lost " + name);
  EXPECT_EQ(first.lost(), (Texts{"lost b", "lost c"}));
}

TEST(ConflictRecords, ThoseThatAreTooOldGo) {
  NoteDevice first(1, {.conflict_record_age_ms_max = 60'000});
  NoteDevice second(2, {});
  make_conflict(first, second, "a", "lost a");
  first.environment.now_ms += 40'000;
  second.environment.now_ms += 40'000;
  make_conflict(first, second, "b", "lost b");
  EXPECT_EQ(first.lost(), (Texts{"lost a", "lost b"}));
  // By what is written, not by a clock.
  first.environment.now_ms += 40'000;
  sync(first, second);
  EXPECT_EQ(first.lost(), (Texts{"lost a", "lost b"}));
  first.write("c", "new");
  sync(first, second);
  EXPECT_EQ(first.lost(), (Texts{"lost b"}));
}

TEST(ConflictRecords, WhatWaitsForAPersonStays) {
  NoteDevice first(1, {.conflict_records_max = 0, .conflict_record_age_ms_max = 0});
  NoteDevice second(2, {});
  for (NoteDevice* device : {&first, &second}) device->write("a", "base");
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
