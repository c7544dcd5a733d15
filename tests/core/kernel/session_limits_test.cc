// Sessions that stop because enough was spent, and those that go on from there.
#include <gtest/gtest.h>

#include <string>

#include "core/kernel/note_device.h"
#include "harmonica/extension/provider.h"

namespace harmonica::kernel {
namespace {

constexpr std::uint64_t kNotes = 20;

void write_notes(NoteDevice& device) {
  for (std::uint64_t note = 0; note < kNotes; ++note) device.write("note" + std::to_string(note), "text");
}

// In batches of one change each.
SessionReport carry(NoteDevice& source, NoteDevice& destination, std::uint64_t changes_max) {
  SessionOptions options;
  options.batch_bytes_max = 1;
  options.should_stop = [&](const SessionReport& report) { return report.received >= changes_max; };
  SyncSession session(source.replica->provider(), destination.replica->provider(), options);
  EXPECT_EQ(session.run(), Status());
  return session.report();
}

TEST(SessionLimits, WhatCameBeforeTheStopStaysAndIsNotSentAgain) {
  NoteDevice source(1, {});
  NoteDevice destination(2, {});
  write_notes(source);
  std::uint64_t received = 0;
  int sessions = 0;
  for (bool stopped = true; stopped; ++sessions) {
    const SessionReport report = carry(source, destination, 6);
    EXPECT_LE(report.received, 6u);
    EXPECT_GT(report.bytes_estimate, report.received * 50);
    received += report.received;
    stopped = report.stopped;
    EXPECT_EQ(destination.store.size(), received);
  }
  EXPECT_EQ(sessions, 4);
  EXPECT_EQ(received, kNotes);
  EXPECT_EQ(carry(source, destination, 6).received, 0u);
}

TEST(SessionLimits, SessionThatEndsByItselfWasNotStopped) {
  NoteDevice source(1, {});
  NoteDevice destination(2, {});
  write_notes(source);
  EXPECT_FALSE(carry(source, destination, kNotes).stopped);
}

TEST(SessionLimits, StoreThatIsWrittenWholeIsStoppedOnlyOnceItHasMetAPeer) {
  NoteDevice source(1, {});
  NoteDevice destination(2, {}, WriteUnit::kWholeStore);
  write_notes(source);
  const SessionReport first = carry(source, destination, 6);
  EXPECT_FALSE(first.stopped);
  EXPECT_EQ(first.received, kNotes);
  for (std::uint64_t note = 0; note < kNotes; ++note) source.write("later" + std::to_string(note), "text");
  const SessionReport second = carry(source, destination, 6);
  EXPECT_TRUE(second.stopped);
  EXPECT_EQ(second.created, 6u);
  EXPECT_EQ(destination.store.size(), kNotes + 6);
  const SessionReport rest = carry(source, destination, kNotes);
  EXPECT_EQ(rest.received, kNotes - 6);
  EXPECT_EQ(destination.store.size(), 2 * kNotes);
}

}  // namespace
}  // namespace harmonica::kernel
