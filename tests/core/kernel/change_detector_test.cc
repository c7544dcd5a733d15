// Detection as an app meets it: a replica over a store in memory that can also tell what changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "core/kernel/test_environment.h"
#include "harmonica/extension/provider.h"
#include "harmonica/limits.h"
#include "harmonica/providers/memory.h"
#include "harmonica/replica.h"
#include "harmonica/session.h"
#include "simulation/forwarding.h"

namespace harmonica::kernel {
namespace {

using simulation::ForwardingMetadata;
using simulation::ForwardingStore;
using simulation::ForwardingTransaction;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr TypeId kFolder = 1;
constexpr TypeId kNote = 2;
constexpr UnitId kParentUnit = 1;
constexpr UnitId kTitle = 2;
constexpr UnitId kMarks = 3;

Schema schema(DeletionRule deletion) {
  const Unit parent{kParentUnit, "parent", ValueKind::kIds, UnitRole::kParent};
  const Unit title{kTitle, "title", ValueKind::kText};
  const Unit marks{kMarks, "marks", ValueKind::kList};
  Schema result;
  result.default_scope = "test";
  result.types = {
      {kFolder, "folder", deletion, {parent, title}, {kTitle}},
      {kNote, "note", deletion, {parent, title, marks}, {kTitle}},
  };
  return result;
}

StoreItem note(const StoreKey& key, const std::string& title, const StoreKey& parent = "") {
  return {key, kNote, parent, {{kTitle, Value::text(title)}, {kMarks, Value::list({})}}, {}, {}};
}

StoreItem folder(const StoreKey& key, const std::string& title, const StoreKey& parent = "") {
  return {key, kFolder, parent, {{kTitle, Value::text(title)}}, {}, {}};
}

// Counts scans over items, and notes which items are looked up. Can lose what it is to commit, as a power cut does.
class WatchedMetadata : public ForwardingMetadata {
 public:
  using ForwardingMetadata::ForwardingMetadata;

  std::size_t scans = 0;
  std::set<ItemId> looked_up;
  bool loses_commits = false;

  Result<std::unique_ptr<MetadataTransaction>> begin(TransactionMode mode) override {
    HARMONICA_ASSIGN_OR_RETURN(auto inner, inner_.begin(mode));
    return std::unique_ptr<MetadataTransaction>(std::make_unique<Transaction>(std::move(inner), *this));
  }

 private:
  class Transaction : public ForwardingTransaction {
   public:
    Transaction(std::unique_ptr<MetadataTransaction> inner, WatchedMetadata& watched)
        : ForwardingTransaction(std::move(inner)), watched_(watched) {}

    Result<std::optional<StoredItem>> find(const ItemId& item) override {
      watched_.looked_up.insert(item);
      return inner_->find(item);
    }
    Status scan(const ItemIdRange& range, const std::function<Result<Visit>(const StoredItem&)>& visit) override {
      ++watched_.scans;
      return inner_->scan(range, visit);
    }
    Status commit() override {
      if (watched_.loses_commits) return {StatusCode::kIo, "no power"};
      return inner_->commit();
    }

   private:
    WatchedMetadata& watched_;
  };
};

using Contents = std::map<StoreKey, StoreItem>;

// Collects what a store enumerates, in its order.
class ContentSink : public EnumerationSink {
 public:
  Status item(StoreItem item) override {
    items.push_back(std::move(item));
    return {};
  }
  Status removed(const StoreKey& /*key*/) override { return {StatusCode::kInternal, "not told"}; }
  void skipped(const StoreKey& /*key*/, std::string /*what*/) override {}

  std::vector<StoreItem> items;
};

// Tells what changed since an anchor that it remembers, as a store that captures changes does.
class TellingStore : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  EnumerationKind kind = EnumerationKind::kChanges;
  std::vector<StoreItem> offered_too;  // behind everything else
  std::function<void()> after_apply = [] {};
  std::set<StoreKey> refused;  // what cannot be written

  Result<Enumeration> enumerate(const Bytes& anchor, const ShownItems& shown, EnumerationSink& sink) override {
    ContentSink all;
    HARMONICA_ASSIGN_OR_RETURN(Enumeration now, inner_.enumerate({}, shown, all));
    const Contents& current = remember(now.anchor, all.items);
    const auto known = remembered_.find(anchor);
    if (kind == EnumerationKind::kEverything || known == remembered_.end()) {
      for (const StoreItem& item : all.items) HARMONICA_RETURN_IF_ERROR(sink.item(item));
      for (const StoreItem& item : offered_too) HARMONICA_RETURN_IF_ERROR(sink.item(item));
      return now;
    }
    for (const auto& [key, item] : known->second) {
      if (!current.contains(key)) HARMONICA_RETURN_IF_ERROR(sink.removed(key));
    }
    for (const StoreItem& item : all.items) {
      const auto before = known->second.find(item.key);
      if (before == known->second.end() || before->second != item) HARMONICA_RETURN_IF_ERROR(sink.item(item));
    }
    for (const StoreItem& item : offered_too) HARMONICA_RETURN_IF_ERROR(sink.item(item));
    now.kind = EnumerationKind::kChanges;
    return now;
  }

  Result<Written> apply(std::span<const StoreWrite> writes, const Bytes& anchor) override {
    std::vector<StoreWrite> possible;
    for (const StoreWrite& write : writes) {
      if (!refused.contains(write.item.key)) possible.push_back(write);
    }
    HARMONICA_ASSIGN_OR_RETURN(Written written, inner_.apply(possible, anchor));
    for (std::size_t index = 0; index < writes.size(); ++index) {
      if (!refused.contains(writes[index].item.key)) continue;
      written.outcomes.insert(written.outcomes.begin() + static_cast<std::ptrdiff_t>(index),
                              {WriteState::kFailed, Status(StatusCode::kIo, "refused")});
    }
    after_apply();
    return written;
  }

 private:
  const Contents& remember(const Bytes& anchor, const std::vector<StoreItem>& items) {
    Contents& contents = remembered_[anchor];
    contents.clear();
    for (const StoreItem& item : items) contents.emplace(item.key, item);
    return contents;
  }

  std::map<Bytes, Contents> remembered_;
};

struct Device {
  explicit Device(std::uint8_t seed = 1, EnumerationKind kind = EnumerationKind::kChanges,
                  DeletionRule deletion = DeletionRule::kEditWins)
      : environment(seed), memory(schema(deletion), WriteUnit::kEachItem) {
    store.kind = kind;
    open(Guard::kOn);
  }

  void open(Guard guard) {
    Result<std::unique_ptr<Replica>> opened = Replica::open(store, metadata, environment, {guard});
    EXPECT_TRUE(opened.ok()) << opened.status().to_text();
    replica = std::move(*opened);
  }

  // The power goes as soon as something has been written into the store, and comes back.
  void loses_power_in(const std::function<Status()>& session) {
    store.after_apply = [this] { metadata.loses_commits = true; };
    EXPECT_EQ(session().code(), StatusCode::kIo);
    store.after_apply = [] {};
    metadata.loses_commits = false;
    open(Guard::kOn);
  }

  // The key under which the store shows what has this title.
  StoreKey key_of(const std::string& title) {
    providers::MemoryItemStore& shown = memory;
    for (const StoreKey& key : shown.children("")) {
      if (*shown.find(key)->values.front().value.if_text() == title) return key;
    }
    ADD_FAILURE() << "nothing is shown as " << title;
    return {};
  }

  DetectionReport detect() {
    const Result<DetectionReport> report = replica->detect();
    EXPECT_TRUE(report.ok()) << report.status().to_text();
    return report.ok() ? *report : DetectionReport();
  }

  void put(const StoreItem& item) { EXPECT_EQ(memory.put(item), Status()); }
  void remove(const StoreKey& key) { EXPECT_EQ(memory.remove(key), Status()); }

  // What is held, by store key; items that are not shown by their id.
  std::map<std::string, StoredItem> held() {
    std::map<std::string, StoredItem> items;
    EXPECT_EQ(replica->scan([&](const StoredItem& stored) -> Result<Visit> {
      items.emplace(stored.shown ? stored.shown->key : stored.item.id.to_text(), stored);
      return Visit::kContinue;
    }),
              Status());
    return items;
  }

  std::string title(const StoreKey& key) { return *held().at(key).item.value_of(kTitle).if_text(); }

  // Titles of all that is alive.
  std::set<std::string> titles() {
    std::set<std::string> all;
    for (const auto& [key, stored] : held()) {
      if (stored.item.alive()) all.insert(*stored.item.value_of(kTitle).if_text());
    }
    return all;
  }

  ItemCounts counts() { return replica->status()->counts; }

  TestEnvironment environment;
  providers::MemoryItemStore memory;
  TellingStore store{memory};
  providers::MemoryMetadataStore kept;
  WatchedMetadata metadata{kept};
  std::unique_ptr<Replica> replica;
};

std::string numbered(const std::string& name, int number) { return name + std::to_string(number); }

void fill(Device& device, int count) {
  for (int index = 0; index < count; ++index) device.put(note(numbered("k", index), numbered("title ", index)));
  EXPECT_EQ(device.detect().created, static_cast<std::uint64_t>(count));
  device.metadata.scans = 0;
  device.metadata.looked_up.clear();
}

TEST(ChangeDetector, ChangeThatTheStoreTellsLooksUpThatItemAlone) {
  Device device;
  fill(device, 200);
  const ItemId edited = device.held().at("k7").item.id;
  device.metadata.scans = 0;
  device.put(note("k7", "edited"));
  const DetectionReport report = device.detect();
  EXPECT_EQ(device.metadata.scans, 0u);
  EXPECT_THAT(device.metadata.looked_up, ElementsAre(edited));
  EXPECT_EQ(report.enumerated, 1u);
  EXPECT_EQ(report.updated, 1u);
  EXPECT_EQ(report.created + report.deleted, 0u);
  EXPECT_EQ(device.title("k7"), "edited");
  EXPECT_EQ(device.counts(), (ItemCounts{200, 0, 200}));
}

TEST(ChangeDetector, NewItemThatTheStoreTellsScansNothing) {
  Device device;
  fill(device, 200);
  device.put(note("new", "new"));
  EXPECT_EQ(device.detect().created, 1u);
  EXPECT_EQ(device.metadata.scans, 0u);
  EXPECT_THAT(device.metadata.looked_up, ElementsAre(device.held().at("new").item.id));
}

TEST(ChangeDetector, RemovedKeyDeletesThatItemAlone) {
  Device device;
  fill(device, 200);
  const ItemId gone = device.held().at("k7").item.id;
  device.metadata.scans = 0;
  device.remove("k7");
  const DetectionReport report = device.detect();
  EXPECT_EQ(device.metadata.scans, 0u);
  EXPECT_THAT(device.metadata.looked_up, ElementsAre(gone));
  EXPECT_EQ(report.deleted, 1u);
  EXPECT_EQ(report.created + report.updated, 0u);
  EXPECT_EQ(device.counts(), (ItemCounts{199, 1, 199}));
  EXPECT_FALSE(device.held().at(gone.to_text()).item.alive());
}

TEST(ChangeDetector, WhatWasToldOnceIsNotFoundAgain) {
  Device device;
  fill(device, 3);
  device.put(note("k0", "edited"));
  device.remove("k1");
  device.detect();
  const Knowledge knowledge = device.replica->status()->knowledge;
  const DetectionReport again = device.detect();
  EXPECT_EQ(again.enumerated + again.created + again.updated + again.deleted, 0u);
  EXPECT_EQ(device.replica->status()->knowledge, knowledge);
}

class EitherWay : public testing::TestWithParam<EnumerationKind> {};

INSTANTIATE_TEST_SUITE_P(ChangeDetector, EitherWay,
                         testing::Values(EnumerationKind::kChanges, EnumerationKind::kEverything),
                         [](const testing::TestParamInfo<EnumerationKind>& one) {
                           return one.param == EnumerationKind::kChanges ? "ChangesTold" : "EverythingEnumerated";
                         });

TEST_P(EitherWay, ItemOfAnotherTypeUnderAKnownKeyReplacesIt) {
  Device device(1, GetParam());
  fill(device, 3);
  const ItemId before = device.held().at("k1").item.id;
  device.put(folder("k1", "title 1"));
  device.put(note("below", "below", "k1"));
  const DetectionReport report = device.detect();
  EXPECT_EQ(report.created, 2u);
  EXPECT_EQ(report.deleted, 1u);
  EXPECT_EQ(report.updated, 0u);
  const auto held = device.held();
  EXPECT_FALSE(held.at(before.to_text()).item.alive());
  EXPECT_NE(held.at("k1").item.id, before);
  EXPECT_EQ(held.at("k1").item.type, kFolder);
  EXPECT_EQ(held.at("below").view.parent, held.at("k1").item.id);
}

TEST_P(EitherWay, KeyOfferedTwiceIsAnInternalError) {
  Device device(1, GetParam());
  fill(device, 3);
  const auto before = device.held();
  device.put(note("k1", "edited"));
  device.store.offered_too = {note("k1", "edited otherwise")};
  const Result<DetectionReport> report = device.replica->detect();
  EXPECT_EQ(report.status().code(), StatusCode::kInternal);
  EXPECT_THAT(report.status().message(), HasSubstr("'k1'"));
  EXPECT_EQ(device.held(), before);
}

TEST_P(EitherWay, NewKeyOfferedTwiceIsAnInternalError) {
  Device device(1, GetParam());
  fill(device, 3);
  device.put(note("new", "a"));
  device.store.offered_too = {note("new", "b")};
  EXPECT_EQ(device.replica->detect().status().code(), StatusCode::kInternal);
}

// What cannot be synced.

struct Fault {
  std::string name;
  UnitValue value;
  std::string why;
};

std::vector<Fault> faults() {
  return {
      {"NotUtf8", {kTitle, Value::text("caf\xe9")}, "UTF-8"},
      {"TooLarge", {kTitle, Value::text(std::string(limits::kValueBytesMax + 1, 'x'))}, "larger than"},
      {"ListInAList", {kMarks, Value::list({Value::list({Value::integer(1)})})}, "list in a list"},
      {"NotUtf8InAList", {kMarks, Value::list({Value::text("\xff")})}, "UTF-8"},
  };
}

StoreItem faulty(StoreItem item, const Fault& fault) {
  for (UnitValue& value : item.values) {
    if (value.unit == fault.value.unit) value.value = fault.value.value;
  }
  return item;
}

class LeftOut : public testing::TestWithParam<std::tuple<EnumerationKind, std::size_t>> {
 protected:
  EnumerationKind kind() const { return std::get<0>(GetParam()); }
  Fault fault() const { return faults()[std::get<1>(GetParam())]; }
};

INSTANTIATE_TEST_SUITE_P(ChangeDetector, LeftOut,
                         testing::Combine(testing::Values(EnumerationKind::kChanges, EnumerationKind::kEverything),
                                          testing::Range<std::size_t>(0, 4)),
                         [](const testing::TestParamInfo<std::tuple<EnumerationKind, std::size_t>>& one) {
                           const bool told = std::get<0>(one.param) == EnumerationKind::kChanges;
                           return faults()[std::get<1>(one.param)].name + (told ? "ChangesTold" : "EverythingEnumerated");
                         });

TEST_P(LeftOut, NewItemThatCannotBeSyncedIsLeftOutAlone) {
  Device device(1, kind());
  fill(device, 2);
  device.put(faulty(note("bad", "bad"), fault()));
  device.put(note("good", "good"));
  device.put(note("k1", "edited"));
  const DetectionReport report = device.detect();
  EXPECT_THAT(report.skipped, ElementsAre(testing::AllOf(HasSubstr("'bad'"), HasSubstr(fault().why))));
  EXPECT_EQ(report.created, 1u);
  EXPECT_EQ(report.updated, 1u);

  Device peer(2);
  const Result<SynchronizeReport> synced =
      synchronize(device.replica->provider(), peer.replica->provider(), SessionOptions());
  ASSERT_TRUE(synced.ok()) << synced.status().to_text();
  EXPECT_THAT(peer.titles(), UnorderedElementsAre("title 0", "edited", "good"));

  device.put(note("bad", "mended"));
  EXPECT_EQ(device.detect().created, 1u);
  EXPECT_EQ(device.title("bad"), "mended");
}

TEST_P(LeftOut, KnownItemThatCannotBeSyncedStaysAsItIs) {
  Device device(1, kind());
  fill(device, 3);
  const StoredItem before = device.held().at("k1");
  device.put(faulty(note("k1", "title 1"), fault()));
  device.put(note("k2", "edited"));
  const DetectionReport report = device.detect();
  EXPECT_THAT(report.skipped, ElementsAre(testing::AllOf(HasSubstr("'k1'"), HasSubstr(fault().why))));
  EXPECT_EQ(report.deleted, 0u);
  EXPECT_EQ(report.updated, 1u);
  EXPECT_EQ(device.held().at("k1"), before);
  EXPECT_EQ(device.title("k2"), "edited");

  device.put(note("k1", "mended"));
  EXPECT_EQ(device.detect().updated, 1u);
  EXPECT_EQ(device.held().at("k1").item.id, before.item.id);
  EXPECT_EQ(device.title("k1"), "mended");
}

TEST_P(LeftOut, NewFolderThatCannotBeSyncedTakesItsNewChildrenWithIt) {
  if (fault().value.unit != kTitle) return;  // folders have no marks
  Device device(1, kind());
  fill(device, 1);
  device.put(faulty(folder("bad", "bad"), fault()));
  device.put(folder("inner", "inner", "bad"));
  device.put(note("child", "child", "inner"));
  device.put(note("good", "good"));
  const DetectionReport report = device.detect();
  EXPECT_THAT(report.skipped, ElementsAre(HasSubstr("'bad'"), HasSubstr("'inner'"), HasSubstr("'child'")));
  EXPECT_THAT(device.titles(), UnorderedElementsAre("title 0", "good"));
}

TEST(ChangeDetector, ChildrenSyncOnceTheirFolderIsMended) {
  Device device(1, EnumerationKind::kEverything);
  device.put(folder("bad", "\xff"));
  device.put(note("child", "child", "bad"));
  EXPECT_EQ(device.detect().created, 0u);
  device.put(folder("bad", "mended"));
  const DetectionReport report = device.detect();
  EXPECT_THAT(report.skipped, IsEmpty());
  EXPECT_EQ(report.created, 2u);
  EXPECT_EQ(device.held().at("child").view.parent, device.held().at("bad").item.id);
}

TEST_P(EitherWay, KnownItemMovedIntoAFolderThatIsLeftOutStaysAsItIs) {
  Device device(1, GetParam());
  device.put(folder("home", "home"));
  device.put(note("k", "in it", "home"));
  device.detect();
  const StoredItem before = device.held().at("k");
  device.put(folder("bad", "\xff"));
  device.put(note("k", "in it", "bad"));
  device.put(note("good", "good"));
  const DetectionReport report = device.detect();
  EXPECT_THAT(report.skipped, ElementsAre(HasSubstr("'bad'"), HasSubstr("'k'")));
  EXPECT_EQ(report.created, 1u);
  EXPECT_EQ(report.deleted, 0u);
  EXPECT_EQ(device.held().at("k"), before);
}

TEST(ChangeDetector, ValueOfExactlyTheLimitSyncs) {
  Device device;
  device.put(note("k", std::string(limits::kValueBytesMax, 'x')));
  const DetectionReport report = device.detect();
  EXPECT_THAT(report.skipped, IsEmpty());
  EXPECT_EQ(report.created, 1u);
}

TEST(ChangeDetector, KeyThatIsNoTextIsNamedInHexadecimal) {
  Device device;
  device.put(note("\xff\x01", "\xff"));
  EXPECT_THAT(device.detect().skipped, ElementsAre(HasSubstr("'ff01'")));
}

// The guard.

TEST(ChangeDetector, GuardCountsAgainstAllShownItemsWhereChangesAreTold) {
  Device device;
  fill(device, 100);
  for (int index = 0; index < 50; ++index) device.remove(numbered("k", index));
  EXPECT_EQ(device.detect().deleted, 50u);
  EXPECT_EQ(device.counts(), (ItemCounts{50, 50, 50}));
}

TEST_P(EitherWay, GuardStopsWhereMoreThanHalfIsGoneAndRecordsNothing) {
  Device device(1, GetParam());
  fill(device, 100);
  const auto before = device.held();
  for (int index = 0; index < 51; ++index) device.remove(numbered("k", index));
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Result<DetectionReport> report = device.replica->detect();
    EXPECT_EQ(report.status().code(), StatusCode::kGuard);
    EXPECT_THAT(report.status().message(), HasSubstr("51 of 100"));
    EXPECT_EQ(device.held(), before);
  }
  device.open(Guard::kConfirmed);
  EXPECT_EQ(device.detect().deleted, 51u);
}

TEST_P(EitherWay, GuardLetsAFewGoWhateverTheirShare) {
  Device device(1, GetParam());
  fill(device, static_cast<int>(limits::kGuardDeletionsMin) + 1);
  for (std::size_t index = 0; index < limits::kGuardDeletionsMin; ++index)
    device.remove(numbered("k", static_cast<int>(index)));
  EXPECT_EQ(device.detect().deleted, limits::kGuardDeletionsMin);
}

TEST_P(EitherWay, GuardDoesNotCountWhatIsLeftOut) {
  Device device(1, GetParam());
  fill(device, 30);
  for (int index = 0; index < 29; ++index) device.put(note(numbered("k", index), "\xff"));
  const DetectionReport report = device.detect();
  EXPECT_EQ(report.skipped.size(), 29u);
  EXPECT_EQ(device.counts(), (ItemCounts{30, 0, 30}));
}

TEST(ChangeDetector, ChildOfALeftOutFolderIsLeftOutWhenItIsToldLater) {
  Device device;
  fill(device, 1);
  device.put(folder("bad", "\xff"));
  device.detect();
  device.put(note("child", "child", "bad"));
  device.put(note("good", "good"));
  device.detect();
  EXPECT_THAT(device.titles(), UnorderedElementsAre("title 0", "good"));
}

TEST(ChangeDetector, MendedFolderThatWasLeftOutBringsItsChildren) {
  Device device;
  device.put(folder("bad", "\xff"));
  device.put(note("child", "child", "bad"));
  device.detect();
  EXPECT_THAT(device.titles(), IsEmpty());
  device.put(folder("bad", "mended"));
  device.detect();
  EXPECT_THAT(device.titles(), UnorderedElementsAre("mended", "child"));
}

TEST(ChangeDetector, WhatWasInAFolderThatIsLeftAloneIsNotGone) {
  Device device(1, EnumerationKind::kEverything);
  device.put(folder("f", "folder"));
  device.put(folder("g", "inner", "f"));
  device.put(note("c", "child", "g"));
  device.put(note("d", "elsewhere"));
  device.detect();
  device.put(folder("f", "\xff"));
  device.remove("g");
  device.remove("d");
  EXPECT_EQ(device.detect().deleted, 1U);
  EXPECT_THAT(device.titles(), UnorderedElementsAre("folder", "inner", "child"));
}

TEST(ChangeDetector, TwinsWithoutEndAreCountedOn) {
  Device device;
  for (int index = 0; index < 3'000; ++index) device.put(note(numbered("k", index), "same"));
  EXPECT_EQ(device.detect().created, 3'000U);
  device.put(note("one more", "same"));
  EXPECT_EQ(device.detect().created, 1U);
  EXPECT_EQ(device.counts().alive, 3'001U);
}

TEST(ChangeDetector, NothingIsWrittenOverAnItemThatIsLeftAsItIs) {
  for (const EnumerationKind kind : {EnumerationKind::kEverything, EnumerationKind::kChanges}) {
    Device device(1, kind);
    Device peer(2, kind);
    fill(device, 3);
    std::vector<SessionReport::Failure> failures;
    const auto sync = [&] {
      const auto synced = synchronize(device.replica->provider(), peer.replica->provider(), SessionOptions());
      ASSERT_TRUE(synced.ok()) << synced.status().to_text();
      failures = synced->to_first.failures;
    };
    sync();
    EXPECT_THAT(failures, IsEmpty());
    device.put(note("k1", "\xff"));
    StoreKey key;
    for (const auto& [held_key, stored] : peer.held()) {
      if (stored.item.value_of(kTitle) == Value::text("title 1")) key = held_key;
    }
    peer.put(note(key, "by peer"));
    peer.put(note("new", "new at peer"));
    sync();
    EXPECT_EQ(failures.size(), 1U);
    EXPECT_TRUE(device.titles().contains("new at peer"));
    EXPECT_FALSE(device.titles().contains("by peer"));

    device.put(note("k1", "title 1"));
    sync();
    EXPECT_THAT(failures, IsEmpty());
    EXPECT_TRUE(device.titles().contains("by peer"));
  }
}

Status sync(Device& first, Device& second) {
  return synchronize(first.replica->provider(), second.replica->provider(), SessionOptions()).status();
}

// A note moves into a folder that cannot be made again: it stays where it is until there is one, and nothing else waits.
TEST(ChangeDetector, NothingIsMovedIntoAFolderThatCannotBeMade) {
  Device device(1);
  Device deleting(2);
  Device other(3);
  device.put(folder("f", "folder"));
  device.put(note("n", "note"));
  EXPECT_EQ(sync(device, deleting), Status());
  EXPECT_EQ(sync(device, other), Status());
  const StoreKey made_again = device.memory.key_for(device.held().at("f").item.id);
  deleting.remove(deleting.key_of("folder"));
  device.loses_power_in([&] { return sync(device, deleting); });
  device.store.refused = {made_again};
  EXPECT_EQ(sync(device, other), Status());
  EXPECT_EQ(device.memory.size(), 1U);
  other.put(note(other.key_of("note"), "note", other.key_of("folder")));
  other.put(note("o", "other"));
  EXPECT_EQ(sync(device, other), Status());
  EXPECT_EQ(device.memory.find("n")->parent, StoreKey());
  EXPECT_TRUE(device.titles().contains("other"));
  device.store.refused.clear();
  EXPECT_EQ(sync(device, other), Status());
  EXPECT_EQ(device.memory.find("n")->parent, made_again);
}

// What a lost write has brought back into the store and a user has edited there is the item that it was, not a new one.
TEST(ChangeDetector, EditOfWhatALostWriteBroughtBackIsAnEdit) {
  Device device(1);
  Device deleting(2);
  Device other(3);
  fill(device, 3);
  EXPECT_EQ(sync(device, deleting), Status());
  EXPECT_EQ(sync(device, other), Status());
  deleting.remove(deleting.key_of("title 1"));
  device.loses_power_in([&] { return sync(device, deleting); });
  device.loses_power_in([&] { return sync(device, other); });
  StoreItem edited = note(device.key_of("title 1"), "title 1");
  edited.values.back().value = Value::list({Value::text("marked")});
  device.put(edited);
  const DetectionReport report = device.detect();
  EXPECT_EQ(report.created, 0U);
  EXPECT_EQ(report.updated, 1U);
  EXPECT_EQ(device.counts(), (ItemCounts{3, 0, 3}));
  EXPECT_EQ(sync(device, other), Status());
  EXPECT_EQ(other.counts(), (ItemCounts{3, 0, 3}));
  EXPECT_EQ(other.held().at(other.key_of("title 1")).item.value_of(kMarks), Value::list({Value::text("marked")}));
}

// A folder of a lost write cannot go while something that a user has put into it cannot be moved; that stops nothing else.
TEST(ChangeDetector, FolderOfALostWriteStaysWhileSomethingInItCannotBeMoved) {
  Device device(1);
  Device peer(2);
  Device other(3);
  peer.put(folder("f", "folder"));
  device.loses_power_in([&] { return sync(device, peer); });
  device.put(note("n", "in it", device.key_of("folder")));
  device.store.refused = {"n"};
  other.put(note("o", "from elsewhere"));
  EXPECT_EQ(sync(device, other), Status());
  EXPECT_TRUE(device.titles().contains("from elsewhere"));
  EXPECT_NE(device.key_of("folder"), StoreKey());
  device.store.refused.clear();
  EXPECT_EQ(sync(device, other), Status());
  EXPECT_EQ(device.memory.find("n")->parent, StoreKey());
  EXPECT_EQ(device.memory.size(), 2U);
}

// A folder was deleted elsewhere and stays here while something in it cannot go; then a user edits and moves it.
TEST(ChangeDetector, MoveThatMeetsADeletionThatWinsIsRecorded) {
  Device device(1, EnumerationKind::kChanges, DeletionRule::kDeleteWins);
  Device deleting(2, EnumerationKind::kChanges, DeletionRule::kDeleteWins);
  device.put(folder("f", "folder"));
  device.put(folder("g", "elsewhere"));
  device.put(note("n", "note", "f"));
  EXPECT_EQ(sync(device, deleting), Status());
  const StoreKey deleted = deleting.key_of("folder");
  deleting.remove(*deleting.memory.children(deleted).begin());
  deleting.remove(deleted);
  device.store.refused = {"n"};
  EXPECT_EQ(sync(device, deleting), Status());
  EXPECT_FALSE(device.held().at("f").item.alive());
  device.put(folder("f", "edited", "g"));
  device.detect();
  std::set<UnitId> recorded;
  const Result<std::vector<ConflictRecord>> conflicts = device.replica->conflicts();
  ASSERT_TRUE(conflicts.ok()) << conflicts.status().to_text();
  for (const ConflictRecord& conflict : *conflicts) recorded.insert(conflict.unit);
  EXPECT_THAT(recorded, ElementsAre(kParentUnit, kTitle));
}

}  // namespace
}  // namespace harmonica::kernel
