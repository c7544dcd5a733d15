// Writes that fail while the replica stays open, as where the disk is full.
#include <gtest/gtest.h>

#include <utility>

#include "core/kernel/note_device.h"
#include "simulation/forwarding.h"

namespace harmonica::kernel {
namespace {

Status no_space() { return Status(StatusCode::kIo, "no space left"); }

// Reservations that can be made to fail.
class FullEnvironment final : public TestEnvironment {
 public:
  using TestEnvironment::TestEnvironment;
  bool full = false;

  Status set_reserved_tick(const ReplicaId& replica, Tick tick) override {
    return full ? no_space() : TestEnvironment::set_reserved_tick(replica, tick);
  }
};

// Commits that can be made to fail.
class FullMetadata final : public simulation::ForwardingMetadata {
 public:
  using ForwardingMetadata::ForwardingMetadata;
  bool full = false;

  Result<std::unique_ptr<MetadataTransaction>> begin(TransactionMode mode) override {
    HARMONICA_ASSIGN_OR_RETURN(std::unique_ptr<MetadataTransaction> inner, inner_.begin(mode));
    return std::unique_ptr<MetadataTransaction>(std::make_unique<Transaction>(std::move(inner), full));
  }

 private:
  class Transaction final : public simulation::ForwardingTransaction {
   public:
    Transaction(std::unique_ptr<MetadataTransaction> inner, const bool& full)
        : ForwardingTransaction(std::move(inner)), full_(full) {}
    Status commit() override { return full_ ? no_space() : inner_->commit(); }

   private:
    const bool& full_;
  };
};

class FailingWrites : public testing::Test {
 protected:
  FailingWrites() { open(); }

  void open(const ReplicaOptions& options = {.guard = Guard::kConfirmed}) {
    replica.reset();
    auto opened = Replica::open(store, full_metadata, environment, options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    replica = std::move(*opened);
  }
  void write(const std::string& name, const std::string& text) {
    ASSERT_EQ(store.put({name, kNote, "", {{kName, Value::text(name)}, {kText, Value::text(text)}}, {}, {}}), Status());
  }
  Status give() { return SyncSession(replica->provider(), peer.replica->provider(), {}).run(); }
  Status take() { return SyncSession(peer.replica->provider(), replica->provider(), {}).run(); }
  ReplicaId id() { return replica->status()->replica; }

  providers::MemoryItemStore store{note_schema(), WriteUnit::kEachItem};
  providers::MemoryMetadataStore metadata;
  FullMetadata full_metadata{metadata};
  FullEnvironment environment{10};
  std::unique_ptr<Replica> replica;
  NoteDevice peer{20, {.guard = Guard::kConfirmed}};
};

// The commit went through, the reservation outside did not (rule R30).
TEST_F(FailingWrites, ATickThatCouldNotBeReservedIsReservedBeforeItLeaves) {
  write("a", "first");
  ASSERT_EQ(give(), Status());
  const std::optional<Tick> before = *environment.reserved_tick(id());

  write("a", "second");
  environment.full = true;
  EXPECT_EQ(give().code(), StatusCode::kIo);
  EXPECT_EQ(give().code(), StatusCode::kIo);
  EXPECT_EQ(peer.text("a"), "first");
  EXPECT_EQ(*environment.reserved_tick(id()), before);

  environment.full = false;
  ASSERT_EQ(give(), Status());
  EXPECT_EQ(peer.text("a"), "second");
  EXPECT_GT(*environment.reserved_tick(id()), before);
}

// The mark that the peer was shown is still the one that the replica has.
TEST_F(FailingWrites, ACommitThatFailsMakesNoCopyOfTheReplica) {
  write("a", "first");
  ASSERT_EQ(give(), Status());
  ASSERT_EQ(take(), Status());
  const ReplicaId before = id();

  write("a", "second");
  full_metadata.full = true;
  EXPECT_EQ(give().code(), StatusCode::kIo);
  full_metadata.full = false;
  ASSERT_EQ(give(), Status());
  ASSERT_EQ(take(), Status());
  EXPECT_EQ(id(), before);
  EXPECT_EQ(peer.text("a"), "second");
}

// What a drop that was not committed would have left is still too much.
TEST_F(FailingWrites, RecordsThatWereNotDroppedAreDroppedWithTheNextBatch) {
  for (const std::string name : {"a", "b", "c"}) {
    write(name, "base");
    ASSERT_EQ(give(), Status());
    write(name, "lost");
    ASSERT_TRUE(replica->detect().ok());
    peer.environment.now_ms = environment.now_ms += 10;
    peer.write(name, "kept");
    ASSERT_EQ(take(), Status());
  }
  ASSERT_EQ(replica->conflicts()->size(), 3u);

  open({.guard = Guard::kConfirmed, .conflict_records_max = 2});
  peer.write("d", "new");
  full_metadata.full = true;
  EXPECT_EQ(take().code(), StatusCode::kIo);
  full_metadata.full = false;
  ASSERT_EQ(take(), Status());
  EXPECT_EQ(replica->conflicts()->size(), 2u);
}

// It has told its items since, and would take itself for one that nobody has heard of (docs/adr/0011).
TEST_F(FailingWrites, ABackupFromBeforeTheFirstMeetingIsKnownAsOne) {
  write("a", "first");
  ASSERT_TRUE(replica->detect().ok());
  const providers::MemoryItemStore store_backup = store;
  const providers::MemoryMetadataStore metadata_backup = metadata;
  const ReplicaId before = id();
  ASSERT_EQ(give(), Status());

  replica.reset();
  store = store_backup;
  metadata = metadata_backup;
  open();
  EXPECT_NE(id(), before);
  ASSERT_EQ(give(), Status());
  EXPECT_EQ(peer.text("a"), "first");
  EXPECT_EQ(peer.store.size(), 1u);
}

}  // namespace
}  // namespace harmonica::kernel
