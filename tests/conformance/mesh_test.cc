// The mesh is quiet about a good store, and finds what each broken one does.
#include "harmonica/conformance/mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/memory_subject.h"
#include "harmonica/transports/local.h"

namespace harmonica::conformance {
namespace {

using ::testing::HasSubstr;

template <typename Subject>
MeshReport run(std::uint64_t seed) {
  return run_mesh([] { return std::make_unique<Subject>(); }, {.seed = seed, .replica_options = {}, .connect = {}});
}

template <typename Subject>
class Mesh : public ::testing::Test {};
using MemoryStores = ::testing::Types<EachItemSubject, WholeStoreSubject>;
TYPED_TEST_SUITE(Mesh, MemoryStores);

TYPED_TEST(Mesh, GoodStoresBecomeEqualWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const MeshReport report = run<TypeParam>(seed);
    ASSERT_TRUE(report.findings.empty()) << report.to_text();
    EXPECT_GT(report.edits, 20u);
    EXPECT_GT(report.sessions, 3u);
    EXPECT_GT(report.failures, 5u);
  }
}

// Seeds that once found a value lost: it had lost a conflict whose record went with a crash, and the user edited the
// winner.
TYPED_TEST(Mesh, SeedsThatFailedOnceFindNothing) {
  for (const std::uint64_t seed : {187u, 394u, 517u, 1220u, 1235u, 2524u}) {
    const MeshReport report = run_mesh([] { return std::make_unique<TypeParam>(); },
                                       {.seed = seed, .replicas = 2 + seed % 4, .replica_options = {}, .connect = {}});
    EXPECT_TRUE(report.findings.empty()) << report.to_text();
  }
}

TYPED_TEST(Mesh, TheSameSeedIsTheSameRun) { EXPECT_EQ(run<TypeParam>(7).to_text(), run<TypeParam>(7).to_text()); }

TEST(Mesh, RunsOverATransportOfTheAuthors) {
  std::size_t channels = 0;
  const auto connect = [&](RequestHandler& handler) -> std::unique_ptr<Channel> {
    ++channels;
    return std::make_unique<transports::LocalChannel>(handler);
  };
  const MeshReport report =
      run_mesh([] { return std::make_unique<EachItemSubject>(); }, {.seed = 3, .replica_options = {}, .connect = connect});
  EXPECT_TRUE(report.findings.empty()) << report.to_text();
  EXPECT_GT(channels, report.sessions);
}

// What can be wrong with a store.
enum class Fault {
  kForgetsWrites,     // says written, and has not
  kOverwritesEdits,   // does not look at what it is expected to hold
  kKeepsAnOldAnchor,  // does not see edits
  kOrderIsLost,
  kLosesAtReopening,
  kTruncates,  // and does not say so in as_held
};

template <Fault kFault>
class FaultyStore : public ItemStore {
 public:
  explicit FaultyStore(ItemStore& inner) : inner_(inner) {}
  const Schema& schema() const override { return inner_.schema(); }
  WriteUnit write_unit() const override { return inner_.write_unit(); }
  StoreKey key_for(const ItemId& item) const override { return inner_.key_for(item); }

  Result<Enumeration> enumerate(const Bytes& anchor, const ShownItems& shown, EnumerationSink& sink) override {
    if (kFault == Fault::kKeepsAnOldAnchor && !anchor.empty()) return Enumeration{EnumerationKind::kUnchanged, anchor};
    return inner_.enumerate(anchor, shown, sink);
  }
  Result<Written> apply(std::span<const StoreWrite> writes, const Bytes& anchor) override {
    std::vector<StoreWrite> changed(writes.begin(), writes.end());
    for (StoreWrite& write : changed) {
      if (kFault == Fault::kOrderIsLost) write.previous.clear();
      if (kFault == Fault::kOverwritesEdits && write.kind == WriteKind::kPut) write.expected = held(write.item.key);
      if (kFault == Fault::kTruncates) {
        for (UnitValue& value : write.item.values) value.value = Value::text(value.value.if_text()->substr(0, 7));
      }
    }
    if (kFault == Fault::kForgetsWrites && ++applied_ % 7 == 0) {
      return Written{std::vector<WriteOutcome>(writes.size()), anchor};
    }
    return inner_.apply(changed, anchor);
  }

 private:
  std::optional<StoreItem> held(const StoreKey& key) {
    const StoreItem* item = static_cast<providers::MemoryItemStore&>(inner_).find(key);
    return item == nullptr ? std::nullopt : std::optional<StoreItem>(*item);
  }
  ItemStore& inner_;
  int applied_ = 0;
};

template <Fault kFault>
class FaultySubject : public EachItemSubject {
 public:
  ItemStore& store() override { return faulty_; }
  void reopen() override {
    EachItemSubject::reopen();
    const std::vector<StoreKey> top = memory.children("");
    if (kFault == Fault::kLosesAtReopening && !top.empty()) HARMONICA_ASSERT(memory.remove(top.back()).ok());
  }

 private:
  FaultyStore<kFault> faulty_{memory};
};

// What is found in the first run of a few that finds something.
template <Fault kFault>
std::string found() {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const MeshReport report = run<FaultySubject<kFault>>(seed);
    if (!report.findings.empty()) return report.to_text();
  }
  return "nothing found";
}

TEST(BrokenStores, AWriteThatWasNotDoneIsFound) {
  EXPECT_THAT(found<Fault::kForgetsWrites>(), HasSubstr("which was written"));
}
TEST(BrokenStores, AnEditThatWasOverwrittenIsFound) { EXPECT_THAT(found<Fault::kOverwritesEdits>(), HasSubstr("lost: ")); }
TEST(BrokenStores, AnEditThatIsNotSeenIsFound) {
  EXPECT_THAT(found<Fault::kKeepsAnOldAnchor>(), HasSubstr("nobody's edit"));
}
TEST(BrokenStores, AnOrderThatIsNotKeptIsFound) { EXPECT_THAT(found<Fault::kOrderIsLost>(), HasSubstr(" after ")); }
TEST(BrokenStores, WhatIsNotDurableIsFound) { EXPECT_THAT(found<Fault::kLosesAtReopening>(), HasSubstr("lost: ")); }
TEST(BrokenStores, AValueThatIsCutOffSilentlyIsFound) { EXPECT_THAT(found<Fault::kTruncates>(), HasSubstr("lost: ")); }

}  // namespace
}  // namespace harmonica::conformance
