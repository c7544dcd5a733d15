#include "harmonica/providers/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <random>

#include "providers/metadata/sample_database.h"
#include "providers/metadata/temporary_folder.h"

namespace harmonica {
namespace {

using providers::kMetadataFormatVersion;
using providers::open_sqlite_metadata;
using testing::DatabaseContent;
using ::testing::HasSubstr;
using testing::item_id;
using testing::plain_item;
using testing::read_all;
using testing::replica_id;
using testing::sample_content;
using testing::TemporaryFolder;
using testing::write_sample;

std::unique_ptr<MetadataStore> open(const std::string& path) {
  auto store = open_sqlite_metadata(path);
  EXPECT_TRUE(store.ok()) << store.status().to_text();
  return *std::move(store);
}

// Another program's hand in the file.
void run_sql(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message << " in " << sql;
  sqlite3_free(message);
  sqlite3_close(database);
}

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::string write_sample_file(const TemporaryFolder& folder, const std::string& name) {
  const std::string path = folder.file(name);
  const auto store = open(path);
  const Status status = write_sample(*store);
  EXPECT_TRUE(status.ok()) << status.to_text();
  return path;
}

// Everything that can be read, or the first error; opening counts.
Result<DatabaseContent> open_and_read(const std::string& path) {
  HARMONICA_ASSIGN_OR_RETURN(const auto store, open_sqlite_metadata(path));
  return read_all(*store);
}

TEST(SqliteMetadata, WhatWasCommittedIsThereAfterReopening) {
  const TemporaryFolder folder;
  const std::string path = write_sample_file(folder, "metadata.db");
  const auto content = open_and_read(path);
  ASSERT_TRUE(content.ok()) << content.status().to_text();
  EXPECT_TRUE(*content == sample_content());
}

TEST(SqliteMetadata, ADatabaseOfEachFormatIsReadWhole) {
  for (int format = 1; format <= kMetadataFormatVersion; ++format) {
    const TemporaryFolder folder;
    const std::string name = "format_" + std::to_string(format) + ".db";
    std::filesystem::copy_file(HARMONICA_METADATA_TEST_DATA "/" + name, folder.file(name));
    for (const char* const time : {"first", "again"}) {
      const auto content = open_and_read(folder.file(name));
      ASSERT_TRUE(content.ok()) << name << ", " << time << ": " << content.status().to_text();
      EXPECT_TRUE(*content == sample_content()) << name << ", " << time;
    }
  }
}

// What goes wrong on the way leaves the file as it was.
TEST(SqliteMetadata, AnUpgradeIsOneTransaction) {
  const TemporaryFolder folder;
  const std::string path = folder.file("format_1.db");
  std::filesystem::copy_file(HARMONICA_METADATA_TEST_DATA "/format_1.db", path);
  // A table in the way of the last thing that is made.
  run_sql(path, "CREATE TABLE content_bodies(a)");
  EXPECT_EQ(open_sqlite_metadata(path).status().code(), StatusCode::kCorruption);
  run_sql(path, "DROP TABLE content_bodies");
  const auto content = open_and_read(path);
  ASSERT_TRUE(content.ok()) << content.status().to_text();
  EXPECT_TRUE(*content == sample_content());
}

TEST(SqliteMetadata, TwoStoresOnOneFileSeeEachOthersCommits) {
  const TemporaryFolder folder;
  const auto first = open(folder.file("metadata.db"));
  const auto second = open(folder.file("metadata.db"));
  ASSERT_TRUE(write_sample(*first).ok());
  EXPECT_TRUE(*read_all(*second) == sample_content());
  // The second adds a replica that the first has not read yet.
  const StoredItem item = plain_item(50, {replica_id(20), 1}, {replica_id(21), 1});
  {
    const auto transaction = *second->begin(TransactionMode::kWrite);
    ASSERT_TRUE(transaction->put(item, {}).ok());
    ASSERT_TRUE(transaction->commit().ok());
  }
  EXPECT_EQ(*(*first->begin(TransactionMode::kRead))->find(item_id(50)), item);
}

TEST(SqliteMetadata, AWriterThatWaitsTooLongIsUnavailable) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metadata.db");
  const auto first = open(path);
  const auto second = open_sqlite_metadata(path, {.busy_timeout_ms = 20});
  ASSERT_TRUE(second.ok());
  auto writing = *first->begin(TransactionMode::kWrite);
  const Status refused = (*second)->begin(TransactionMode::kWrite).status();
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable);
  EXPECT_THAT(refused.message(), HasSubstr(path));
  EXPECT_TRUE((*second)->begin(TransactionMode::kRead).ok());
  writing.reset();
  EXPECT_TRUE((*second)->begin(TransactionMode::kWrite).ok());
}

TEST(SqliteMetadata, AMemoryDatabaseLeavesNothingBehind) {
  // Of this process: other tests run beside it. 32 digits of hexadecimal: no test makes such a name.
  const auto folder_in_use = [] {
    std::filesystem::path found;
    for (const auto& link : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code ignored;
      const std::filesystem::path folder = std::filesystem::read_symlink(link, ignored).parent_path();
      const std::string name = folder.filename();
      if (name.starts_with("harmonica-") && name.size() == 42) found = folder;
    }
    return found;
  };
  EXPECT_EQ(folder_in_use(), "");
  auto store = open(":memory:");
  ASSERT_TRUE(write_sample(*store).ok());
  const std::filesystem::path folder = folder_in_use();
  EXPECT_TRUE(std::filesystem::exists(folder));
  store.reset();
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(SqliteMetadata, ANewerFormatIsRefusedByName) {
  const TemporaryFolder folder;
  const std::string path = write_sample_file(folder, "metadata.db");
  const auto store = open(path);
  run_sql(path, "PRAGMA user_version = 7");
  const std::string current = std::to_string(kMetadataFormatVersion);
  for (const Status& status : {open_sqlite_metadata(path).status(), store->begin(TransactionMode::kWrite).status()}) {
    EXPECT_EQ(status.code(), StatusCode::kUnsupported);
    EXPECT_THAT(status.message(), HasSubstr(path + ": its format is 7, this build knows up to " + current));
  }
}

TEST(SqliteMetadata, WhatIsNoSuchDatabaseIsCorruptionAndStaysAsItWas) {
  const TemporaryFolder folder;
  const std::string text = folder.file("text");
  write_bytes(text, std::string(5000, 'x'));
  const std::string other = folder.file("other.db");
  run_sql(other, "CREATE TABLE notes(body)");
  const std::string stamped = folder.file("stamped.db");
  run_sql(stamped, "PRAGMA application_id = 12345");
  const std::string hollow = write_sample_file(folder, "hollow.db");
  run_sql(hollow, "DROP TABLE items");
  const std::string impossible = write_sample_file(folder, "impossible.db");
  run_sql(impossible, "PRAGMA user_version = -1");
  for (const std::string& path : {text, other, stamped}) {
    const std::string before = read_bytes(path);
    const Status status = open_sqlite_metadata(path).status();
    EXPECT_EQ(status.code(), StatusCode::kCorruption) << path;
    EXPECT_THAT(status.message(), HasSubstr(path));
    EXPECT_TRUE(read_bytes(path) == before);
  }
  EXPECT_EQ(open_and_read(hollow).status().code(), StatusCode::kCorruption);
  EXPECT_EQ(open_and_read(impossible).status().code(), StatusCode::kCorruption);
}

TEST(SqliteMetadata, PathsThatCannotBeOpenedHaveNamedErrors) {
  const TemporaryFolder folder;
  const Status directory = open_sqlite_metadata(folder.path()).status();
  EXPECT_EQ(directory.code(), StatusCode::kIo);
  EXPECT_THAT(directory.message(), HasSubstr(folder.path().string() + ": is a directory"));
  const std::string path = folder.file("missing/metadata.db");
  const Status missing = open_sqlite_metadata(path).status();
  EXPECT_EQ(missing.code(), StatusCode::kNotFound);
  EXPECT_THAT(missing.message(), HasSubstr(path));
  EXPECT_EQ(open_sqlite_metadata("").status().code(), StatusCode::kInvalidArgument);
}

// In a process without the rights of an administrator.
StatusCode code_for_nobody(const std::string& path) {
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(255);
    _exit(static_cast<int>(open_and_read(path).status().code()));
  }
  int state = 0;
  waitpid(child, &state, 0);
  return static_cast<StatusCode>(WEXITSTATUS(state));
}

TEST(SqliteMetadata, WithoutPermissionItSaysSo) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const std::string path = write_sample_file(folder, "metadata.db");
  fs::permissions(folder.path(), fs::perms::owner_exec | fs::perms::owner_read | fs::perms::others_exec);
  fs::permissions(path, fs::perms::owner_read | fs::perms::others_read);
  EXPECT_EQ(code_for_nobody(path), StatusCode::kPermissionDenied);
  fs::permissions(path, fs::perms::none);
  EXPECT_EQ(code_for_nobody(path), StatusCode::kPermissionDenied);
  EXPECT_EQ(code_for_nobody(folder.file("new.db")), StatusCode::kPermissionDenied);
  fs::permissions(folder.path(), fs::perms::owner_all);
}

TEST(SqliteMetadata, ATruncatedDatabaseIsCorruption) {
  const TemporaryFolder folder;
  const std::string whole = read_bytes(write_sample_file(folder, "whole.db"));
  const std::string path = folder.file("truncated.db");
  for (std::size_t size = 1; size < whole.size(); size += size < 200 ? 33 : 997) {
    write_bytes(path, whole.substr(0, size));
    const auto content = open_and_read(path);
    EXPECT_EQ(content.status().code(), StatusCode::kCorruption) << size << ": " << content.status().to_text();
  }
}

TEST(SqliteMetadata, DamagedPagesGiveErrorsAndNothingWorse) {
  const TemporaryFolder folder;
  const std::string whole = read_bytes(write_sample_file(folder, "whole.db"));
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    const std::string path = folder.file("damaged.db");
    std::string damaged = whole;
    for (int flips = 1 + round % 8; flips > 0; --flips) {
      damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
    }
    write_bytes(path, damaged);
    const auto content = open_and_read(path);
    if (!content.ok()) ++refused;
    for (const char* suffix : {"-wal", "-shm", "-journal"}) std::filesystem::remove(path + suffix);
  }
  EXPECT_GT(refused, 0);
}

// Flips bits of every byte of every blob of ours. What is read then is an error or some content, and one that is an error
// is called corruption.
TEST(SqliteMetadata, DamagedRowsAreCorruptionOrOtherRows) {
  const TemporaryFolder folder;
  const std::string path = write_sample_file(folder, "metadata.db");
  const auto store = open(path);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, "PRAGMA synchronous = OFF", nullptr, nullptr, nullptr), SQLITE_OK);
  struct Column {
    std::string table, key, column;
  };
  int refused = 0;
  for (const Column& column : {Column{"items", "id", "body"}, Column{"facts", "name", "body"},
                               Column{"conflicts", "id", "body"}, Column{"replicas", "number", "id"}}) {
    std::vector<std::pair<std::string, std::string>> rows;  // key as a literal, bytes
    sqlite3_stmt* select = nullptr;
    const std::string list = "SELECT quote(" + column.key + "), " + column.column + " FROM " + column.table;
    ASSERT_EQ(sqlite3_prepare_v2(database, list.c_str(), -1, &select, nullptr), SQLITE_OK);
    while (sqlite3_step(select) == SQLITE_ROW) {
      rows.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(select, 0)),
                        std::string(static_cast<const char*>(sqlite3_column_blob(select, 1)),
                                    static_cast<std::size_t>(sqlite3_column_bytes(select, 1))));
    }
    sqlite3_finalize(select);
    ASSERT_FALSE(rows.empty());
    for (const auto& [key, bytes] : rows) {
      sqlite3_stmt* update = nullptr;
      const std::string set = "UPDATE " + column.table + " SET " + column.column + " = ? WHERE " + column.key + " = " + key;
      ASSERT_EQ(sqlite3_prepare_v2(database, set.c_str(), -1, &update, nullptr), SQLITE_OK);
      const auto write = [&](const std::string& value) {
        sqlite3_bind_blob(update, 1, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT);
        ASSERT_EQ(sqlite3_step(update), SQLITE_DONE) << sqlite3_errmsg(database);
        sqlite3_reset(update);
      };
      std::vector<std::string> damaged_values = {"", bytes.substr(0, bytes.size() / 2), bytes + "x"};
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        for (const int mask : {0x01, 0x80, 0xff}) {
          damaged_values.push_back(bytes);
          damaged_values.back()[i] = static_cast<char>(bytes[i] ^ mask);
        }
      }
      for (const std::string& damaged : damaged_values) {
        write(damaged);
        // Opened anew where it matters, for replicas are remembered.
        const auto content = column.table == "replicas" ? open_and_read(path) : read_all(*store);
        if (content.ok()) continue;
        ++refused;
        ASSERT_EQ(content.status().code(), StatusCode::kCorruption) << content.status().to_text();
        // A write into the damaged item fails or replaces it.
        const auto transaction = *store->begin(TransactionMode::kWrite);
        ASSERT_TRUE(transaction->remove(item_id(3)).ok());
        const Status removed = transaction->counts().status();
        EXPECT_TRUE(removed.ok() || removed.code() == StatusCode::kCorruption) << removed.to_text();
      }
      write(bytes);
      sqlite3_finalize(update);
    }
  }
  sqlite3_close(database);
  EXPECT_GT(refused, 100);
  EXPECT_TRUE(*read_all(*store) == sample_content());
}

TEST(SqliteMetadata, AListInAListIsRefused) {
  const auto store = open(":memory:");
  const auto transaction = *store->begin(TransactionMode::kWrite);
  StoredItem item = plain_item(1, {replica_id(1), 1}, {replica_id(1), 1});
  item.item.units[0].content.value = Value::list({Value::list({})});
  EXPECT_EQ(transaction->put(item, {}).code(), StatusCode::kInvalidArgument);
}

TEST(SqliteMetadata, WhatWasPreparedIsThereAfterReopening) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metadata.db");
  const PreparedWrite prepared{4, {{item_id(1), "key", ShownItem{"key", item_id(2), {1}, {{3, Value::text("name")}}}}}};
  {
    const auto store = open(path);
    ASSERT_TRUE(store->prepare(prepared).ok());
  }
  const auto store = open(path);
  EXPECT_EQ(*store->prepared(4), prepared);
}

TEST(SqliteMetadata, ACopyHasWhatWasCommittedAndPrepared) {
  const TemporaryFolder folder;
  const std::string path = write_sample_file(folder, "metadata.db");
  const PreparedWrite prepared{4, {{item_id(1), "key", ShownItem{"key", item_id(2), {1}, {{3, Value::text("name")}}}}}};
  {
    const auto store = open(path);
    ASSERT_TRUE(store->prepare(prepared).ok());
    const auto writer = store->begin(TransactionMode::kWrite);
    ASSERT_TRUE((*writer)->remove(item_id(1)).ok());
    ASSERT_EQ(providers::copy_sqlite_metadata(path, folder.file("copy.db")), Status());
  }
  const auto content = open_and_read(folder.file("copy.db"));
  ASSERT_TRUE(content.ok()) << content.status().to_text();
  EXPECT_TRUE(*content == sample_content());
  EXPECT_EQ(*open(folder.file("copy.db"))->prepared(4), prepared);
  EXPECT_EQ(providers::copy_sqlite_metadata(folder.file("none.db"), folder.file("other.db")).code(), StatusCode::kNotFound);
  EXPECT_FALSE(providers::copy_sqlite_metadata(path, folder.file("copy.db")).ok());
}

TEST(SqliteMetadata, DamageOfWhatWasPreparedIsToldWhileItMayCount) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metadata.db");
  const std::string beside = path + "-prepared";
  const auto store = open(path);
  ASSERT_TRUE(store->prepare({4, {{item_id(1), "key", ShownItem{"key", item_id(2), {1}, {{3, Value::text("x")}}}}}}).ok());
  const std::string whole = read_bytes(beside);
  constexpr std::size_t kHeadBytes = 93;
  ASSERT_GT(whole.size(), kHeadBytes);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] ^= 0x10;
    for (const std::string& damaged : {flipped, whole.substr(0, i)}) {
      write_bytes(beside, damaged);
      const Status status = store->prepared(4).status();
      EXPECT_EQ(status.code(), StatusCode::kCorruption) << i;
      EXPECT_THAT(status.message(), HasSubstr(beside + " is damaged"));
      // A whole head tells that the rest does not matter.
      EXPECT_EQ(store->prepared(5).ok(), i >= kHeadBytes) << i;
    }
  }
  std::filesystem::remove(beside);
  EXPECT_EQ(*store->prepared(4), PreparedWrite{});
}

// Commits one item after another until it is killed, and tells after each commit.
[[noreturn]] void commit_until_killed(const std::string& path, int report) {
  const auto store = open_sqlite_metadata(path);
  if (!store.ok()) _exit(1);
  while (true) {
    const auto transaction = (*store)->begin(TransactionMode::kWrite);
    if (!transaction.ok()) _exit(1);
    auto state = (*transaction)->state();
    if (!state.ok()) _exit(1);
    const Tick tick = ++state->last_tick;
    const auto number = static_cast<std::uint32_t>(tick);
    const IndexEntry entry{IndexKind::kStoreKey, Bytes(100, static_cast<std::uint8_t>(tick))};
    const bool done =
        (*transaction)->set_state(*state).ok() &&
        (*transaction)->put(plain_item(number, {replica_id(1), tick}, {replica_id(1), tick}), {&entry, 1}).ok() &&
        (*transaction)->commit().ok();
    if (!done || write(report, &number, sizeof(number)) != sizeof(number)) _exit(1);
  }
}

TEST(SqliteMetadata, AfterAKillThereIsAPrefixOfTheTransactions) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metadata.db");
  std::mt19937 random(1);
  std::uint32_t committed = 0;
  for (int kill_number = 0; kill_number < 20; ++kill_number) {
    int report[2];
    ASSERT_EQ(pipe(report), 0);
    const pid_t child = fork();
    if (child == 0) commit_until_killed(path, report[1]);
    close(report[1]);
    // At least one commit, so that the kills are spread over its work and not over its start.
    std::uint32_t number = 0;
    ASSERT_EQ(read(report[0], &number, sizeof(number)), static_cast<ssize_t>(sizeof(number)));
    usleep(static_cast<useconds_t>(random() % 15000));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    waitpid(child, nullptr, 0);
    do {
      committed = number;
    } while (read(report[0], &number, sizeof(number)) == sizeof(number));
    close(report[0]);

    const auto content = open_and_read(path);
    ASSERT_TRUE(content.ok()) << content.status().to_text();
    const Tick last = content->state.last_tick;
    EXPECT_GE(last, committed);
    EXPECT_LE(last, committed + 1);
    ASSERT_EQ(content->items.size(), last);
    for (Tick tick = 1; tick <= last; ++tick) {
      EXPECT_EQ(content->items[tick - 1],
                plain_item(static_cast<std::uint32_t>(tick), {replica_id(1), tick}, {replica_id(1), tick}));
    }
    EXPECT_EQ(content->counts, (ItemCounts{last, 0, 0}));
    EXPECT_EQ(content->store_keys.size(), last);
  }
}

}  // namespace
}  // namespace harmonica
