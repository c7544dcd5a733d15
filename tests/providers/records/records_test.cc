// One file, many scopes, many who use it.
#include "harmonica/providers/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>

#include "core/kernel/versioned_app.h"
#include "harmonica/extension/remote.h"
#include "harmonica/providers/metadata.h"
#include "harmonica/transports/local.h"
#include "providers/metadata/temporary_folder.h"

namespace harmonica::kernel {
namespace {

using providers::list_records;
using providers::open_records;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

std::int64_t number_in(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr), SQLITE_OK);
  const std::int64_t number = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return number;
}

void run_in(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
}

struct Hub {
  Hub(const std::string& path, const ScopeName& scope, std::uint8_t number = 9) : environment(number) {
    auto opened = open_records(path, {.scope = scope});
    EXPECT_TRUE(opened.ok()) << opened.status().to_text();
    records = *std::move(opened);
    auto replica_opened = Replica::open(*records, environment, {});
    EXPECT_TRUE(replica_opened.ok()) << replica_opened.status().to_text();
    replica = *std::move(replica_opened);
  }

  TestEnvironment environment;
  std::unique_ptr<MetadataStore> records;
  std::unique_ptr<Replica> replica;
};

std::uint64_t alive(Hub& hub) { return hub.replica->status().value().counts.alive; }

TEST(Records, KeepsScopesApartInOneFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("hub.db");
  VersionedApp mine(1, 2);
  VersionedApp theirs(2, 2);
  {
    Hub first(path, "");
    mine.note("a", {{kVersionedStars, Value::integer(3)}});
    mine.tag("blue");
    carry(*mine.replica, *first.replica);
    EXPECT_EQ(first.replica->status().value().scope, "test");
    Hub second(path, "other");
    EXPECT_EQ(alive(second), 0u);
    // It is one scope that has that name.
    SyncSession session(mine.replica->provider(), second.replica->provider(), {});
    EXPECT_EQ(session.run().code(), StatusCode::kScopeMismatch);
  }
  EXPECT_THAT(*list_records(path), ElementsAre("test", "other"));
  Hub again(path, "test");
  EXPECT_EQ(alive(again), 2u);
  carry(*again.replica, *theirs.replica);
  EXPECT_EQ(theirs.shown(kVersionedNote, "a", kVersionedStars), Value::integer(3));
  EXPECT_TRUE(theirs.shows(kVersionedTag, "blue"));
}

TEST(Records, WhichScopeHasToBeSaidWhereThereAreSeveral) {
  const TemporaryFolder folder;
  const std::string path = folder.file("hub.db");
  ASSERT_TRUE(open_records(path, {.scope = "a"}).ok());
  EXPECT_TRUE(open_records(path).ok());
  ASSERT_TRUE(open_records(path, {.scope = "b"}).ok());
  const Status refused = open_records(path).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("holds several scopes (a, b); say which, as in " + path + "#SCOPE"));
  EXPECT_EQ(open_records(path, {.scope = "no name"}).status().code(), StatusCode::kInvalidArgument);
}

TEST(Records, LargeValuesStandOnceInTheFileAndGoWithTheLastThatHasThem) {
  const TemporaryFolder folder;
  const std::string path = folder.file("hub.db");
  const Value large = Value::text(std::string(100'000, 'x'));
  Hub hub(path, "");
  VersionedApp app(1, 1);
  for (const std::string title : {"a", "b", "c"}) app.note(title, {{kVersionedBody, large}});
  carry(*app.replica, *hub.replica);
  EXPECT_EQ(number_in(path, "SELECT count(*) FROM content_bodies"), 1);
  EXPECT_EQ(number_in(path, "SELECT uses FROM contents"), 3);
  app.note("a", {{kVersionedBody, Value::text("small")}});
  app.note("b", {{kVersionedBody, Value::text(std::string(100'000, 'y'))}});
  carry(*app.replica, *hub.replica);
  EXPECT_EQ(number_in(path, "SELECT count(*) FROM content_bodies"), 2);
  app.note("b", {{kVersionedBody, Value::text("small")}});
  app.note("c", {{kVersionedBody, Value::text("small")}});
  carry(*app.replica, *hub.replica);
  EXPECT_EQ(number_in(path, "SELECT count(*) FROM content_bodies"), 0);
  EXPECT_EQ(number_in(path, "SELECT count(*) FROM contents"), 0);
}

TEST(Records, DamagedLargeValuesAreFoundByTheirHash) {
  const TemporaryFolder folder;
  const std::string path = folder.file("hub.db");
  VersionedApp app(1, 1);
  app.note("a", {{kVersionedBody, Value::text(std::string(100'000, 'x'))}});
  {
    Hub hub(path, "");
    carry(*app.replica, *hub.replica);
  }
  run_in(path, "UPDATE content_bodies SET body = zeroblob(100)");
  Hub hub(path, "");
  VersionedApp other(2, 1);
  SyncSession session(hub.replica->provider(), other.replica->provider(), {});
  EXPECT_EQ(session.run().code(), StatusCode::kCorruption);
}

// No view, no index but that of deletions, nothing shown.
TEST(Records, KeepsNoMoreThanItNeeds) {
  const TemporaryFolder folder;
  const std::string path = folder.file("hub.db");
  Hub hub(path, "");
  VersionedApp app(1, 2);
  app.note("a");
  app.tag("blue");
  carry(*app.replica, *hub.replica);
  EXPECT_EQ(number_in(path, "SELECT count(*) FROM entries"), 0);
  app.remove(kVersionedTag, "blue");
  carry(*app.replica, *hub.replica);
  EXPECT_EQ(number_in(path, "SELECT count(*) FROM entries"), 1);
}

// Two processes, as far as the file can tell.
TEST(Records, OneWritesWhileOthersRead) {
  const TemporaryFolder folder;
  const std::string path = folder.file("hub.db");
  Hub writer(path, "");
  VersionedApp app(1, 2);
  app.note("a");
  carry(*app.replica, *writer.replica);
  Hub reader(path, "");
  VersionedApp other(2, 2);
  SyncSession reading(reader.replica->provider(), other.replica->provider(), {});
  ASSERT_TRUE(reading.step().ok());
  app.note("b");
  app.environment.now_ms += 1000;
  EXPECT_EQ(carry(*app.replica, *writer.replica).created, 1u);
  ASSERT_EQ(reading.run(), Status());
  // As it was when it began.
  EXPECT_EQ(reading.report().created, 1u);
  EXPECT_EQ(carry(*reader.replica, *other.replica).created, 1u);
}

TEST(Records, OfTwoThatWriteOneWaitsAndThenGivesUp) {
  const TemporaryFolder folder;
  const std::string path = folder.file("hub.db");
  Hub hub(path, "");
  const auto held = hub.records->begin(TransactionMode::kWrite);
  ASSERT_TRUE(held.ok());
  const auto other = open_records(path, {.scope = "", .busy_timeout_ms = 20});
  // A scope that nobody has written yet is made by whoever comes first.
  ASSERT_TRUE(other.ok()) << other.status().to_text();
  EXPECT_EQ((*other)->begin(TransactionMode::kWrite).status().code(), StatusCode::kUnavailable);
}

// What the other process has learned counts: schemas, ticks, knowledge.
TEST(Records, TwoProcessesAreOneReplica) {
  const TemporaryFolder folder;
  const std::string path = folder.file("hub.db");
  Hub first(path, "");
  VersionedApp app(1, 2);
  VersionedApp old(3, 1);
  app.note("a", {{kVersionedStars, Value::integer(1)}});
  carry(*app.replica, *first.replica);
  Hub second(path, "");
  EXPECT_EQ(second.replica->schema(), first.replica->schema());
  VersionedApp newest(2, 3);
  newest.note("a", {{kVersionedStars, Value::integer(5)}, {kVersionedColour, Value::text("red")}});
  carry(*newest.replica, *second.replica);
  carry(*first.replica, *app.replica);
  EXPECT_EQ(first.replica->schema().fingerprint(), app_schema(3).fingerprint());
  EXPECT_EQ(app.shown(kVersionedNote, "a", kVersionedStars), Value::integer(5));
  carry(*app.replica, *second.replica);
  carry(*first.replica, *old.replica);
  EXPECT_TRUE(old.shows(kVersionedNote, "a"));
}

TEST(Records, WhatIsNoFileOfRecordsIsRefusedByName) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& name, StatusCode code, const std::string& reason) {
    const Status status = open_records(folder.file(name)).status();
    EXPECT_EQ(status.code(), code) << status.to_text();
    EXPECT_THAT(status.message(), HasSubstr("records " + folder.file(name)));
    EXPECT_THAT(status.message(), HasSubstr(reason));
  };
  refused("missing/hub.db", StatusCode::kNotFound, "there is no folder");
  run_in(folder.file("other.db"), "CREATE TABLE t(a); PRAGMA application_id = 5");
  refused("other.db", StatusCode::kCorruption, "a database of another program");
  ASSERT_TRUE(providers::open_sqlite_metadata(folder.file("metadata.db")).ok());
  refused("metadata.db", StatusCode::kCorruption, "what is known of a store, and no records");
  ASSERT_TRUE(open_records(folder.file("newer.db"), {.scope = "a"}).ok());
  run_in(folder.file("newer.db"), "PRAGMA user_version = 9");
  refused("newer.db", StatusCode::kUnsupported, "its format is 9");
  std::ofstream(folder.file("text")) << std::string(5000, 'x');
  refused("text", StatusCode::kCorruption, "not a database");
  std::filesystem::create_directory(folder.file("folder"));
  refused("folder", StatusCode::kIo, "is a directory");
  EXPECT_EQ(list_records(folder.file("nowhere.db")).status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(folder.file("nowhere.db")));
  ASSERT_TRUE(open_records(folder.file("records.db"), {.scope = "a"}).ok());
  EXPECT_THAT(providers::open_sqlite_metadata(folder.file("records.db")).status().message(),
              HasSubstr("holds records, and not what is known of a store"));
}

TEST(Records, AreKnownByTheirFirstBytes) {
  const TemporaryFolder folder;
  ASSERT_TRUE(open_records(folder.file("a.db"), {.scope = "a"}).ok());
  ASSERT_TRUE(providers::open_sqlite_metadata(folder.file("b.db")).ok());
  const auto head = [&](const std::string& name) {
    std::ifstream file(folder.file(name), std::ios::binary);
    std::string bytes(100, '\0');
    file.read(bytes.data(), 100);
    return bytes;
  };
  EXPECT_TRUE(providers::is_records(as_bytes(head("a.db"))));
  EXPECT_FALSE(providers::is_records(as_bytes(head("b.db"))));
  EXPECT_FALSE(providers::is_records(as_bytes(head("a.db").substr(0, 71))));
}

TEST(Records, SessionsOverAChannelAreAsThoseNear) {
  const TemporaryFolder folder;
  Hub hub(folder.file("hub.db"), "");
  VersionedApp app(1, 2);
  for (int number = 0; number < 50; ++number) app.note("note " + std::to_string(number));
  const auto endpoint = make_provider_endpoint(hub.replica->provider());
  transports::LocalChannel channel(*endpoint);
  const auto far = make_remote_provider(channel, {});
  SyncSession there(app.replica->provider(), *far, {.batch_bytes_max = 500});
  ASSERT_EQ(there.run(), Status());
  EXPECT_EQ(alive(hub), 50u);
  VersionedApp other(2, 1);
  SyncSession back(*far, other.replica->provider(), {.batch_bytes_max = 500});
  ASSERT_EQ(back.run(), Status());
  EXPECT_EQ(other.store->size(), 50u);
}

}  // namespace
}  // namespace harmonica::kernel
