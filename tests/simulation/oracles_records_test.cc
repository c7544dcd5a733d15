// Conflict records travel (docs/adr/0021): what every replica lists, and what goes everywhere.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/kernel/note_device.h"
#include "harmonica/providers/metadata.h"
#include "simulation/device.h"

namespace harmonica::simulation {
namespace {

using kernel::kName;
using kernel::kNote;
using kernel::kText;
using Texts = std::vector<std::string>;

// A replica of notes; without a store it is a hub.
class Holder {
 public:
  explicit Holder(std::uint8_t number, const ReplicaOptions& options = {}, MetadataKind kind = MetadataKind::kMemory)
      : store_(std::make_unique<providers::MemoryItemStore>(kernel::note_schema(), WriteUnit::kEachItem)),
        environment(number),
        options_(options) {
    if (kind == MetadataKind::kSqlite) {
      Result<std::unique_ptr<MetadataStore>> opened = providers::open_sqlite_metadata(":memory:");
      EXPECT_TRUE(opened.ok()) << opened.status().to_text();
      metadata = *std::move(opened);
    } else {
      metadata = std::make_unique<providers::MemoryMetadataStore>();
    }
    open();
  }
  static std::unique_ptr<Holder> hub(std::uint8_t number) {
    auto hub = std::make_unique<Holder>(number);
    hub->store_.reset();
    hub->metadata = std::make_unique<providers::MemoryMetadataStore>();
    hub->open();
    return hub;
  }

  void open() {
    replica.reset();
    auto opened = store_ == nullptr ? Replica::open(*metadata, environment, options_)
                                    : Replica::open(*store_, *metadata, environment, options_);
    EXPECT_TRUE(opened.ok()) << opened.status().to_text();
    replica = std::move(*opened);
  }

  void write(const std::string& name, const std::string& text) {
    const StoreKey key = key_of(name);
    EXPECT_EQ(store_->put(
                  {key.empty() ? name : key, kNote, "", {{kName, Value::text(name)}, {kText, Value::text(text)}}, {}, {}}),
              Status());
    EXPECT_TRUE(replica->detect().ok());
  }
  void remove(const std::string& name) {
    EXPECT_TRUE(store_->remove(key_of(name)).ok());
    EXPECT_TRUE(replica->detect().ok());
  }
  std::string text(const std::string& name) {
    const StoreItem* item = store_->find(key_of(name));
    return item == nullptr ? "" : *item->values.back().value.if_text();
  }

  std::vector<ConflictRecord> records() {
    Result<std::vector<ConflictRecord>> records = replica->conflicts();
    EXPECT_TRUE(records.ok()) << records.status().to_text();
    return records.ok() ? *std::move(records) : std::vector<ConflictRecord>();
  }
  // What lost, oldest first.
  Texts lost() {
    Texts texts;
    for (const ConflictRecord& record : records()) texts.push_back(*record.lost.value.if_text());
    return texts;
  }
  ConflictId only_record() {
    const std::vector<ConflictRecord> all = records();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? ConflictId() : all.front().id;
  }
  // Every value that is held of conflict records, dropped ones too.
  Texts values_of_records() {
    Texts texts;
    const auto transaction = metadata->begin(TransactionMode::kRead);
    const Status scanned = (*transaction)->scan(ItemIdRange::all(), [&](const StoredItem& stored) -> Result<Visit> {
      if (stored.item.type != kConflictRecordType) return Visit::kContinue;
      for (const UnitRegister& unit : stored.item.units) {
        if (!unit.content.value.is_null()) texts.push_back(unit.content.value.to_text());
      }
      return Visit::kContinue;
    });
    EXPECT_EQ(scanned, Status());
    return texts;
  }

  std::unique_ptr<MetadataStore> metadata;

 private:
  StoreKey key_of(const std::string& name) const {
    for (const StoreKey& held : store_->children("")) {
      if (*store_->find(held)->values.front().value.if_text() == name) return held;
    }
    return {};
  }

  std::unique_ptr<providers::MemoryItemStore> store_;

 public:
  kernel::TestEnvironment environment;
  std::unique_ptr<Replica> replica;

 private:
  ReplicaOptions options_;
};

SessionReport carry(Holder& from, Holder& to) {
  SyncSession session(from.replica->provider(), to.replica->provider(), {});
  const Status status = session.run();
  EXPECT_TRUE(status.ok()) << status.to_text();
  return session.report();
}

void sync(Holder& first, Holder& second) {
  carry(first, second);
  carry(second, first);
}

// Until nothing comes any more.
void settle(const std::vector<Holder*>& holders) {
  for (int round = 0; round < 10; ++round) {
    std::uint64_t received = 0;
    for (Holder* from : holders) {
      for (Holder* to : holders) {
        if (from != to) received += carry(*from, *to).received;
      }
    }
    if (received == 0) return;
  }
  ADD_FAILURE() << "no quiescence";
}

// All have the note as "base"; the first writes "lost <name>", then the second "kept". Nobody has met anybody since.
void write_apart(const std::vector<Holder*>& holders, const std::string& name) {
  holders.front()->write(name, "base");
  settle(holders);
  holders[0]->write(name, "lost " + name);
  for (Holder* holder : holders) holder->environment.now_ms += 10;
  holders[1]->write(name, "kept");
}

// As if the session had broken off after a batch that ends behind the only record.
void tell_of_records(Holder& from, Holder& to) {
  const Result<ChangeRequest> request = to.replica->provider().begin_destination({});
  ASSERT_TRUE(request.ok()) << request.status().to_text();
  ASSERT_TRUE(from.replica->provider().begin_source(*request).ok());
  Result<ChangeBatch> batch = from.replica->provider().get_change_batch(kFirstItemId);
  ASSERT_TRUE(batch.ok()) << batch.status().to_text();
  std::erase_if(batch->changes, [](const ItemChange& change) { return change.type != kConflictRecordType; });
  ASSERT_EQ(batch->changes.size(), 1U);
  const ItemId record = batch->changes.front().item;
  batch->range = {kFirstItemId, record};
  batch->made_with = batch->made_with.project({record, record});
  batch->forgotten = batch->forgotten.project({record, record});
  batch->last = false;
  EXPECT_TRUE(to.replica->provider().process_change_batch(*batch).ok());
  EXPECT_TRUE(to.replica->provider().end().ok());
}

class RecordsOn : public testing::TestWithParam<MetadataKind> {};

TEST_P(RecordsOn, AConflictThatIsMetHereIsListedEverywhere) {
  Holder a(1, {}, GetParam());
  Holder b(2, {}, GetParam());
  Holder c(3, {}, GetParam());
  write_apart({&a, &b, &c}, "x");
  const SessionReport met = carry(a, b);
  EXPECT_EQ(met.conflicts, 1U);
  carry(b, c);
  const SessionReport told = carry(c, a);
  EXPECT_EQ(told.conflicts, 0U);
  EXPECT_EQ(told.updated, 1U);
  EXPECT_EQ(told.created, 0U);
  settle({&a, &b, &c});
  ASSERT_EQ(b.lost(), Texts{"lost x"});
  EXPECT_EQ(b.records().front().kept.value, Value::text("kept"));
  EXPECT_EQ(b.records().front().decided_by, b.replica->status()->replica);
  EXPECT_EQ(b.records().front().rule, "latest");
  EXPECT_EQ(a.records(), b.records());
  EXPECT_EQ(c.records(), b.records());
}

TEST_P(RecordsOn, AConflictThatTwoReplicasMetIsOneRecordAndNoConflictOfItsOwn) {
  Holder a(1, {}, GetParam());
  Holder b(2, {}, GetParam());
  Holder c(3, {}, GetParam());
  Holder d(4, {}, GetParam());
  write_apart({&a, &b, &c, &d}, "x");
  carry(a, c);
  c.environment.now_ms += 5'000;
  EXPECT_EQ(carry(b, c).conflicts, 1U);
  carry(b, d);
  EXPECT_EQ(carry(a, d).conflicts, 1U);
  ASSERT_NE(c.records(), d.records());  // met by another, at another time
  EXPECT_EQ(c.only_record(), d.only_record());
  const std::uint64_t conflicts = carry(c, d).conflicts + carry(d, c).conflicts;
  EXPECT_EQ(conflicts, 0U);
  EXPECT_EQ(c.records(), d.records());
  settle({&a, &b, &c, &d});
  for (Holder* holder : {&a, &b, &d}) EXPECT_EQ(holder->records(), c.records());
  EXPECT_EQ(c.lost(), Texts{"lost x"});
}

TEST_P(RecordsOn, ADropTravelsAndLeavesNoValueBehind) {
  Holder a(1, {}, GetParam());
  Holder b(2, {}, GetParam());
  write_apart({&a, &b}, "x");
  settle({&a, &b});
  EXPECT_EQ(a.values_of_records().size(), 3U);
  ASSERT_EQ(a.replica->drop(a.only_record()), Status());
  EXPECT_EQ(a.lost(), Texts());
  EXPECT_EQ(a.values_of_records(), Texts());
  const SessionReport told = carry(a, b);
  EXPECT_EQ(told.received, 1U);
  EXPECT_EQ(told.deleted, 0U);
  EXPECT_EQ(b.lost(), Texts());
  EXPECT_EQ(b.values_of_records(), Texts());
  EXPECT_EQ(carry(b, a).received, 0U);
  EXPECT_EQ(a.text("x"), "kept");
}

TEST_P(RecordsOn, ARecordIsNoItemOfTheUser) {
  Holder a(1, {}, GetParam());
  Holder b(2, {}, GetParam());
  write_apart({&a, &b}, "x");
  settle({&a, &b});
  for (Holder* holder : {&a, &b}) {
    EXPECT_EQ(holder->replica->status()->counts, (ItemCounts{1, 0, 1}));
    EXPECT_EQ(holder->replica->status()->held, 0U);
    EXPECT_EQ(holder->replica->status()->conflicts_decided, 1U);
    std::size_t scanned = 0;
    EXPECT_EQ(holder->replica->scan([&](const StoredItem&) -> Result<Visit> {
      ++scanned;
      return Visit::kContinue;
    }),
              Status());
    EXPECT_EQ(scanned, 1U);
  }
  ASSERT_EQ(a.replica->drop(a.only_record()), Status());
  EXPECT_EQ(a.replica->status()->counts, (ItemCounts{1, 0, 1}));
  EXPECT_EQ(a.replica->status()->conflicts_decided, 0U);
}

TEST_P(RecordsOn, RecordsOutliveARestart) {
  Holder a(1, {}, GetParam());
  Holder b(2, {}, GetParam());
  write_apart({&a, &b}, "x");
  settle({&a, &b});
  const std::vector<ConflictRecord> before = a.records();
  a.open();
  EXPECT_EQ(a.records(), before);
}

INSTANTIATE_TEST_SUITE_P(Metadata, RecordsOn, testing::Values(MetadataKind::kMemory, MetadataKind::kSqlite),
                         [](const auto& kind) { return kind.param == MetadataKind::kMemory ? "Memory" : "Sqlite"; });

TEST(Records, WhatWasDroppedIsNotMadeAgainByWhoHasHeardOfIt) {
  Holder a(1);
  Holder b(2);
  Holder c(3);
  Holder d(4);
  write_apart({&a, &b, &c, &d}, "x");
  carry(a, c);
  carry(b, c);
  ASSERT_EQ(c.replica->drop(c.only_record()), Status());
  // D holds the one side, and hears of the drop before it meets the conflict.
  carry(a, d);
  tell_of_records(c, d);
  EXPECT_EQ(carry(b, d).conflicts, 1U);
  EXPECT_EQ(d.lost(), Texts());
  settle({&a, &b, &c, &d});
  for (Holder* holder : {&a, &b, &c, &d}) EXPECT_EQ(holder->lost(), Texts());
}

TEST(Records, WhatWasDroppedGoesAlsoWhereItWasMetMeanwhile) {
  for (const std::int64_t later_ms : {std::int64_t{-50}, std::int64_t{5'000}}) {
    Holder a(1);
    Holder b(2);
    Holder c(3);
    Holder d(4);
    write_apart({&a, &b, &c, &d}, "x");
    carry(a, c);
    carry(b, c);
    d.environment.now_ms += later_ms;
    carry(a, d);
    carry(b, d);
    ASSERT_EQ(c.replica->drop(c.only_record()), Status());
    EXPECT_EQ(d.lost(), Texts{"lost x"});
    settle({&a, &b, &c, &d});
    for (Holder* holder : {&a, &b, &c, &d}) {
      EXPECT_EQ(holder->lost(), Texts()) << later_ms;
      EXPECT_EQ(holder->values_of_records(), Texts()) << later_ms;
    }
  }
}

TEST(Records, AThirdReplicaRestoresWhatLost) {
  Holder a(1);
  Holder b(2);
  Holder c(3);
  write_apart({&a, &b, &c}, "x");
  settle({&a, &b, &c});
  EXPECT_EQ(c.text("x"), "kept");
  ASSERT_EQ(c.replica->restore(c.only_record()), Status());
  EXPECT_EQ(c.text("x"), "lost x");
  settle({&a, &b, &c});
  for (Holder* holder : {&a, &b, &c}) {
    EXPECT_EQ(holder->text("x"), "lost x");
    EXPECT_EQ(holder->lost(), Texts());
  }
}

TEST(Records, OfADeletedItemStayAndBringItBack) {
  Holder a(1);
  Holder b(2);
  Holder c(3);
  b.write("y", "so that the store is not empty");
  write_apart({&a, &b, &c}, "x");
  settle({&a, &b, &c});
  b.remove("x");
  settle({&a, &b, &c});
  EXPECT_EQ(a.text("x"), "");
  EXPECT_EQ(c.lost(), Texts{"lost x"});
  ASSERT_EQ(c.replica->restore(c.only_record()), Status());
  settle({&a, &b, &c});
  for (Holder* holder : {&a, &b, &c}) EXPECT_EQ(holder->text("x"), "lost x");
}

TEST(Records, TheLeastCountHoldsEverywhereAndEnds) {
  Holder a(1);
  Holder b(2, {.conflict_records_max = 2});
  Holder c(3, {.conflict_records_max = 1'000});
  for (const std::string name : {"p", "q", "r"}) {
    write_apart({&a, &c, &b}, name);
    carry(a, c);
    carry(c, a);
  }
  EXPECT_EQ(c.lost().size(), 3U);
  settle({&a, &b, &c});
  for (Holder* holder : {&a, &b, &c}) EXPECT_EQ(holder->lost(), (Texts{"lost q", "lost r"}));
}

TEST(Records, TheLeastAgeHoldsEverywhereAndEnds) {
  Holder a(1, {.conflict_record_age_ms_max = 60'000});
  Holder b(2);
  write_apart({&a, &b}, "p");
  settle({&a, &b});
  for (Holder* holder : {&a, &b}) holder->environment.now_ms += 100'000;
  settle({&a, &b});
  EXPECT_EQ(a.lost(), Texts{"lost p"});  // by what is written, not by a clock
  write_apart({&a, &b}, "q");
  settle({&a, &b});
  for (Holder* holder : {&a, &b}) EXPECT_EQ(holder->lost(), Texts{"lost q"});
}

TEST(Records, AHubListsAndRelaysThem) {
  Holder a(1);
  Holder b(2);
  const std::unique_ptr<Holder> hub = Holder::hub(9);
  a.write("x", "base");
  for (int round = 0; round < 2; ++round) {
    sync(a, *hub);
    sync(b, *hub);
  }
  a.write("x", "lost x");
  b.environment.now_ms += 10;
  b.write("x", "kept");
  sync(a, *hub);
  sync(b, *hub);
  EXPECT_EQ(hub->lost(), Texts{"lost x"});
  EXPECT_EQ(b.lost(), Texts{"lost x"});
  sync(a, *hub);
  EXPECT_EQ(a.lost(), Texts{"lost x"});
  EXPECT_EQ(hub->replica->status()->counts, (ItemCounts{1, 0, 0}));
  ASSERT_EQ(a.replica->drop(a.only_record()), Status());
  sync(a, *hub);
  sync(b, *hub);
  EXPECT_EQ(b.lost(), Texts());
}

TEST(Records, AReplicaWithAFilterGetsNoneAndHandsOverItsOwn) {
  Holder whole(1);
  Holder narrow(2);
  whole.write("x", "base");
  whole.write("y", "base");
  settle({&whole, &narrow});
  ASSERT_EQ(narrow.replica->set_filter(*Filter::parse("name = 'x' or name is null", {})), Status());
  settle({&whole, &narrow});
  ASSERT_EQ(narrow.text("y"), "");
  // Met by the one with the filter: it keeps the record until the other one has it.
  whole.write("x", "lost x");
  narrow.environment.now_ms = whole.environment.now_ms += 10;
  narrow.write("x", "kept");
  EXPECT_EQ(carry(whole, narrow).conflicts, 1U);
  EXPECT_EQ(narrow.lost(), Texts{"lost x"});
  EXPECT_EQ(narrow.replica->status()->outside, 0U);
  carry(narrow, whole);
  EXPECT_EQ(whole.lost(), Texts{"lost x"});
  const SessionReport handed = carry(whole, narrow);
  EXPECT_EQ(handed.moved_out, 0U);
  EXPECT_EQ(narrow.lost(), Texts());
  EXPECT_EQ(narrow.values_of_records(), Texts());
  EXPECT_EQ(carry(whole, narrow).received + carry(narrow, whole).received, 0U);
  // Without the filter they come back.
  ASSERT_EQ(narrow.replica->set_filter(std::nullopt), Status());
  settle({&whole, &narrow});
  EXPECT_EQ(narrow.records(), whole.records());
  EXPECT_EQ(narrow.lost(), Texts{"lost x"});
}

TEST(Records, ThoseOfEarlierBuildsBecomeItems) {
  Holder a(1);
  a.write("x", "base");
  ConflictRecord record;
  record.id.bytes[0] = 1;
  record.item.bytes[0] = 2;
  record.type = kNote;
  record.unit = kText;
  record.kept = {{a.replica->status()->replica, 1}, Value::text("kept"), Existence::kCreated};
  record.lost = {{a.replica->status()->replica, 2}, Value::text("lost"), Existence::kCreated};
  record.rule = "latest";
  record.when_ms = a.environment.now_ms;
  {
    const auto transaction = a.metadata->begin(TransactionMode::kWrite);
    ASSERT_EQ((*transaction)->put_conflict(record), Status());
    ASSERT_EQ((*transaction)->commit(), Status());
  }
  a.open();
  EXPECT_EQ(a.lost(), Texts{"lost"});
  ASSERT_EQ(a.replica->drop(a.only_record()), Status());
  a.open();
  EXPECT_EQ(a.lost(), Texts());
}

TEST(Records, AChangeThatIsNoRecordIsLeftOut) {
  Holder a(1);
  Holder b(2);
  write_apart({&a, &b}, "x");
  settle({&a, &b});
  Holder c(3);
  const Result<ChangeRequest> request = c.replica->provider().begin_destination({});
  ASSERT_TRUE(request.ok());
  ASSERT_TRUE(a.replica->provider().begin_source(*request).ok());
  Result<ChangeBatch> batch = a.replica->provider().get_change_batch(kFirstItemId);
  ASSERT_TRUE(batch.ok());
  for (ItemChange& change : batch->changes) {
    if (change.type != kConflictRecordType) continue;
    Value::List about = *change.units.front().content.value.if_list();
    about[0] = Value::bytes(Bytes(16, 7));  // another item
    change.units.front().content.value = Value::list(about);
  }
  const Result<BatchReport> report = c.replica->provider().process_change_batch(*batch);
  ASSERT_TRUE(report.ok()) << report.status().to_text();
  ASSERT_EQ(report->failures.size(), 1U);
  EXPECT_EQ(report->failures.front().status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(c.lost(), Texts());
  EXPECT_EQ(c.text("x"), "kept");
}

}  // namespace
}  // namespace harmonica::simulation
