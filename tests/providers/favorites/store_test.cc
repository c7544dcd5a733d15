#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "chromium_fixture.h"
#include "favorites_anchor.h"
#include "harmonica/conformance/enumerated_items.h"
#include "harmonica/providers/favorites.h"
#include "support/temporary_directory.h"

namespace harmonica::providers {
namespace {

using conformance::EnumeratedItems;
using harmonica::testing::read_text;
using harmonica::testing::TemporaryDirectory;
using harmonica::testing::write_text;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kFolderKey = "33333333-3333-4333-8333-333333333333";
constexpr const char* kInnerKey = "11111111-1111-4111-8111-111111111111";
constexpr const char* kWideKey = "22222222-2222-4222-8222-222222222222";
constexpr const char* kEmptyKey = "44444444-4444-4444-8444-444444444444";
constexpr const char* kNewKey = "aaaaaaaa-aaaa-8aaa-8aaa-aaaaaaaaaaa1";

class Sink final : public EnumeratedItems {
 public:
  void skipped(const StoreKey& key, std::string what) override {
    skipped_keys.push_back(key);
    EnumeratedItems::skipped(key, std::move(what));
  }
  void mended(std::string what) override { mended_lines.push_back(std::move(what)); }
  std::vector<StoreKey> skipped_keys;
  std::vector<std::string> mended_lines;
};

class FavoritesStoreTest : public ::testing::Test {
 protected:
  FavoritesStoreTest() { write_text(path(), std::string(kChromiumFixture)); }

  std::string path() const { return directory_ / "Bookmarks"; }

  std::unique_ptr<ItemStore> open() const {
    auto store = open_favorites(path(), {});
    EXPECT_TRUE(store.ok()) << store.status().to_text();
    return std::move(store).value();
  }

  // Lets the file look as if nobody had touched it for a long time.
  void age() const {
    const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
    std::filesystem::last_write_time(path(), long_ago);
  }

  Enumeration look(const Bytes& anchor = {}) {
    seen_ = Sink();
    auto enumeration = open()->enumerate(anchor, seen_, seen_);
    EXPECT_TRUE(enumeration.ok()) << enumeration.status().to_text();
    return std::move(enumeration).value();
  }

  StoreItem seen(const StoreKey& key) const {
    for (const StoreItem& item : seen_.items) {
      if (item.key == key) return item;
    }
    ADD_FAILURE() << "not seen: " << key;
    return {};
  }

  static StoreItem retitled(StoreItem item, const std::string& title) {
    item.values[0].value = Value::text(title);
    return item;
  }

  static StoreItem new_bookmark(const std::string& url = "https://new.example/") {
    return {kNewKey, kBookmarkType, "other", {{kTitleUnit, Value::text("new")}, {kUrlUnit, Value::text(url)}}, {}, {}};
  }

  Written apply(const std::vector<StoreWrite>& writes, const Bytes& anchor) {
    auto written = open()->apply(writes, anchor);
    EXPECT_TRUE(written.ok()) << written.status().to_text();
    return written.ok() ? std::move(written).value() : Written{};
  }

  const TemporaryDirectory directory_;
  Sink seen_;
};

TEST(FavoritesSchema, IsValidAndItsRootsAreTheSameForEver) {
  EXPECT_TRUE(favorites_schema().validate().ok());
  std::vector<std::string> roots;
  for (const Root& root : favorites_schema().roots) roots.push_back(root.name + " " + root.id.to_text());
  EXPECT_THAT(roots, ElementsAre("toolbar 0bc5d13f2cba8d74951f3f233fe6c908", "menu e9c4aafe0c4e8e558121b39c1ac7dc6b",
                                 "other 82b081ec3dd3829c8475ab6c344590dd", "mobile 4cf2e3510e85832bbb37df045d8f8d0f"));
}

TEST_F(FavoritesStoreTest, EnumeratesParentsBeforeChildrenAndSiblingsInTheirOrder) {
  look();
  std::vector<std::string> lines;
  for (const StoreItem& item : seen_.items) lines.push_back(item.parent + " > " + *item.values[0].value.if_text());
  EXPECT_THAT(lines, ElementsAre("toolbar > Folder", std::string(kFolderKey) + " > Inner <b> \"quoted\"",
                                 std::string(kFolderKey) + " > Größe 日本 😀", "toolbar > Empty", "other > Other one"));
}

TEST_F(FavoritesStoreTest, AFileThatWasNotTouchedIsUnchanged) {
  const Bytes anchor = look().anchor;
  EXPECT_EQ(look(anchor).kind, EnumerationKind::kUnchanged);
  EXPECT_THAT(seen_.items, IsEmpty());
}

TEST_F(FavoritesStoreTest, AFileThatWasTouchedButHoldsTheSameIsUnchanged) {
  const Bytes anchor = look().anchor;
  age();
  EXPECT_EQ(look(anchor).kind, EnumerationKind::kUnchanged);
  std::filesystem::rename(path(), path() + ".old");
  write_text(path(), std::string(kChromiumFixture));
  EXPECT_EQ(look(anchor).kind, EnumerationKind::kUnchanged);
}

TEST_F(FavoritesStoreTest, AChangeThatLeavesTheStampIsFoundWhenTheStampWasYoung) {
  const Enumeration first = look();
  auto anchor = FavoritesAnchor::decode(first.anchor);
  ASSERT_TRUE(anchor && anchor->racy);
  write_text(path(), replaced(kChromiumFixture, "Other one", "Other 1ne"));
  anchor->stamp = *platform::stamp_file(path());
  EXPECT_EQ(look(anchor->encode()).kind, EnumerationKind::kEverything);
}

TEST_F(FavoritesStoreTest, AChangedFileIsEnumeratedWhole) {
  const Bytes anchor = look().anchor;
  write_text(path(), replaced(kChromiumFixture, "Other one", "Other two"));
  EXPECT_EQ(look(anchor).kind, EnumerationKind::kEverything);
  EXPECT_EQ(seen_.items.size(), 5U);
}

TEST_F(FavoritesStoreTest, WhatIsSkippedOrMendedIsToldEachTime) {
  write_text(path(), chromium_file(chromium_bookmark("5", '1', "bad", "nowhere")));
  Bytes anchor;
  for (const EnumerationKind kind :
       {EnumerationKind::kEverything, EnumerationKind::kUnchanged, EnumerationKind::kUnchanged}) {
    const Enumeration enumeration = look(anchor);
    EXPECT_EQ(enumeration.kind, kind);
    EXPECT_THAT(seen_.skipped_lines, ElementsAre(HasSubstr("\"bad\"")));
    EXPECT_THAT(seen_.mended_lines, ElementsAre("the checksum was missing"));
    anchor = enumeration.anchor;
  }
}

TEST_F(FavoritesStoreTest, WhatIsSkippedKeepsItsKeyWhenItIsToldAgain) {
  write_text(path(), chromium_file(chromium_bookmark("5", '1', "bad", "nowhere")));
  const Bytes anchor = look().anchor;
  const auto keys = seen_.skipped_keys;
  EXPECT_THAT(keys, ElementsAre("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa1"));
  look(anchor);
  EXPECT_EQ(seen_.skipped_keys, keys);
}

TEST_F(FavoritesStoreTest, VeryManySkippedEntriesAreToldByReadingTheFileAgain) {
  std::string entries = chromium_bookmark("5", '1', "bad", "nowhere");
  for (int i = 0; i < 2'000; ++i) entries += ", 7";
  write_text(path(), chromium_file(entries));
  const Bytes anchor = look().anchor;
  EXPECT_LT(anchor.size(), 1'000U);
  EXPECT_EQ(look(anchor).kind, EnumerationKind::kEverything);
  EXPECT_EQ(seen_.skipped_lines.size(), 2'001U);
}

TEST_F(FavoritesStoreTest, AfterAWriteWhatWasMendedIsNotToldAndWhatIsSkippedStillIs) {
  write_text(path(), chromium_file(chromium_bookmark("5", '1', "bad", "nowhere")));
  const Written written = apply({{WriteKind::kPut, new_bookmark(), "", std::nullopt}}, look().anchor);
  look(written.anchor);
  EXPECT_THAT(seen_.skipped_lines, ElementsAre(HasSubstr("\"bad\"")));
  EXPECT_THAT(seen_.mended_lines, IsEmpty());
}

TEST_F(FavoritesStoreTest, AFileThatHasRestedIsUnchangedByItsStampAlone) {
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  const auto anchor = FavoritesAnchor::decode(look().anchor);
  ASSERT_TRUE(anchor);
  EXPECT_FALSE(anchor->racy);
  FavoritesAnchor unread = *anchor;
  unread.hash.fill(0);
  EXPECT_EQ(look(unread.encode()).kind, EnumerationKind::kUnchanged);
}

TEST_F(FavoritesStoreTest, WritesEditsInsertsMovesAndRemovals) {
  const Bytes anchor = look().anchor;
  StoreItem moved = seen(kWideKey);
  moved.parent = "mobile";
  const Written written = apply({{WriteKind::kPut, retitled(seen(kFolderKey), "Renamed"), "", seen(kFolderKey)},
                                 {WriteKind::kPut, new_bookmark(), "55555555-5555-4555-8555-555555555555", std::nullopt},
                                 {WriteKind::kPut, moved, "", seen(kWideKey)},
                                 {WriteKind::kRemove, seen(kEmptyKey), "", seen(kEmptyKey)}},
                                anchor);
  for (const WriteOutcome& outcome : written.outcomes) EXPECT_EQ(outcome.state, WriteState::kWritten);
  EXPECT_EQ(look(written.anchor).kind, EnumerationKind::kUnchanged);
  look();
  std::vector<std::string> lines;
  for (const StoreItem& item : seen_.items) lines.push_back(item.parent + " > " + *item.values[0].value.if_text());
  EXPECT_THAT(lines, ElementsAre("toolbar > Renamed", std::string(kFolderKey) + " > Inner <b> \"quoted\"",
                                 "other > Other one", "other > new", "mobile > Größe 日本 😀"));
  EXPECT_THAT(seen_.mended_lines, IsEmpty());
  const std::string text = read_text(path());
  EXPECT_THAT(text, HasSubstr("\"future_key\": \"kept\""));
  EXPECT_THAT(text, HasSubstr("\"vendor\": {"));
  EXPECT_THAT(text, HasSubstr("\"id\": \"9\""));
}

TEST_F(FavoritesStoreTest, NothingToChangeIsNoWrite) {
  const Bytes anchor = look().anchor;
  const auto stamp = platform::stamp_file(path());
  const Written written = apply({{WriteKind::kPut, seen(kFolderKey), "", seen(kFolderKey)}}, anchor);
  EXPECT_EQ(written.outcomes[0].state, WriteState::kWritten);
  EXPECT_EQ(*platform::stamp_file(path()), *stamp);
  EXPECT_THAT(directory_.names(), ElementsAre("Bookmarks"));
}

TEST_F(FavoritesStoreTest, AFileThatChangedSinceIsNeverOverwritten) {
  const Bytes anchor = look().anchor;
  const std::string theirs = replaced(kChromiumFixture, "Other one", "Other two");
  write_text(path(), theirs);
  const Written written = apply({{WriteKind::kPut, retitled(seen(kFolderKey), "Renamed"), "", seen(kFolderKey)},
                                 {WriteKind::kPut, new_bookmark(), "", std::nullopt}},
                                anchor);
  for (const WriteOutcome& outcome : written.outcomes) EXPECT_EQ(outcome.state, WriteState::kChanged);
  EXPECT_EQ(read_text(path()), theirs);
}

TEST_F(FavoritesStoreTest, OneUnexpectedItemStopsTheWholeWrite) {
  const Bytes anchor = look().anchor;
  const Written written = apply({{WriteKind::kPut, new_bookmark(), "", std::nullopt},
                                 {WriteKind::kPut, retitled(seen(kInnerKey), "x"), "", retitled(seen(kInnerKey), "y")}},
                                anchor);
  for (const WriteOutcome& outcome : written.outcomes) EXPECT_EQ(outcome.state, WriteState::kChanged);
  EXPECT_EQ(read_text(path()), kChromiumFixture);
}

TEST_F(FavoritesStoreTest, AnEntryThatCannotBeHeldFailsAloneAndItsFollowersTakeItsPlace) {
  const Bytes anchor = look().anchor;
  StoreItem follower = new_bookmark();
  follower.key = "aaaaaaaa-aaaa-8aaa-8aaa-aaaaaaaaaaa2";
  const Written written = apply({{WriteKind::kPut, new_bookmark("not an address"), "", std::nullopt},
                                 {WriteKind::kPut, follower, kNewKey, std::nullopt}},
                                anchor);
  EXPECT_EQ(written.outcomes[0].state, WriteState::kFailed);
  EXPECT_THAT(written.outcomes[0].status.message(), HasSubstr("address"));
  EXPECT_EQ(written.outcomes[1].state, WriteState::kWritten);
  look();
  EXPECT_EQ(seen_.items[4].key, follower.key);
}

TEST_F(FavoritesStoreTest, ASkippedEntryIsNotWrittenOver) {
  write_text(path(), chromium_file(chromium_bookmark("5", '1', "bad", "nowhere")));
  const Bytes anchor = look().anchor;
  StoreItem item = new_bookmark();
  item.key = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa1";
  EXPECT_EQ(apply({{WriteKind::kPut, item, "", item}}, anchor).outcomes[0].state, WriteState::kFailed);
}

TEST_F(FavoritesStoreTest, ReplayingWritesChangesNothing) {
  const Bytes anchor = look().anchor;
  const std::vector<StoreWrite> writes = {{WriteKind::kPut, retitled(seen(kFolderKey), "Renamed"), "", seen(kFolderKey)},
                                          {WriteKind::kPut, new_bookmark(), "", std::nullopt},
                                          {WriteKind::kRemove, seen(kEmptyKey), "", seen(kEmptyKey)}};
  apply(writes, anchor);
  const std::string once = read_text(path());
  const Written again = apply(writes, look().anchor);
  for (const WriteOutcome& outcome : again.outcomes) EXPECT_EQ(outcome.state, WriteState::kWritten);
  EXPECT_EQ(read_text(path()), once);
}

TEST_F(FavoritesStoreTest, AnItemThatWasWrittenIsRecognisedByItsIdWithoutMetadata) {
  apply({{WriteKind::kPut, new_bookmark(), "", std::nullopt}}, look().anchor);
  look();
  EXPECT_EQ(seen(kNewKey).identity, ItemId::parse("aaaaaaaaaaaa8aaa8aaaaaaaaaaaaaa1"));
  EXPECT_EQ(seen(kInnerKey).identity, std::nullopt);
}

TEST_F(FavoritesStoreTest, TheUsersFileIsKeptOnceBeforeTheFirstWrite) {
  const Written written = apply({{WriteKind::kPut, new_bookmark(), "", std::nullopt}}, look().anchor);
  look();
  apply({{WriteKind::kRemove, seen(kNewKey), "", seen(kNewKey)}}, written.anchor);
  EXPECT_THAT(directory_.names(), ElementsAre(".harmonica-backup.Bookmarks", "Bookmarks"));
  EXPECT_EQ(read_text(directory_ / ".harmonica-backup.Bookmarks"), kChromiumFixture);
}

TEST_F(FavoritesStoreTest, CopiesOfFilesWithOneNameDoNotMeetInTheBackupDirectory) {
  std::filesystem::create_directory(directory_ / "second");
  write_text(directory_ / "second/Bookmarks", std::string(kChromiumFixture));
  const FavoritesOptions options{directory_ / "backups"};
  for (const std::string& file : {path(), directory_ / "second/Bookmarks"}) {
    const auto store = open_favorites(file, options);
    ASSERT_TRUE(store.ok());
    Sink sink;
    const auto enumeration = (*store)->enumerate({}, sink, sink);
    const std::vector<StoreWrite> writes = {{WriteKind::kPut, new_bookmark(), "", std::nullopt}};
    ASSERT_TRUE((*store)->apply(writes, enumeration->anchor).ok());
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_ / "backups"), {}), 2);
}

TEST_F(FavoritesStoreTest, AFullDiskLeavesTheFileAsItWas) {
  const Written first = apply({{WriteKind::kPut, new_bookmark(), "", std::nullopt}}, look().anchor);
  const std::string before = read_text(path());
  StoreItem second = new_bookmark();
  second.key = "aaaaaaaa-aaaa-8aaa-8aaa-aaaaaaaaaaa2";
  const std::vector<StoreWrite> writes = {{WriteKind::kPut, second, "", std::nullopt}};
  // A limit on the size of files fails a write in the middle, as a full disk does.
  struct rlimit unlimited;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &unlimited), 0);
  struct rlimit small = unlimited;
  small.rlim_cur = 1000;
  auto* const handler = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto written = open()->apply(writes, first.anchor);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &unlimited), 0);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(written.status().code(), StatusCode::kIo) << written.status().to_text();
  EXPECT_EQ(read_text(path()), before);
  EXPECT_THAT(directory_.names(), ElementsAre(".harmonica-backup.Bookmarks", "Bookmarks"));
}

TEST_F(FavoritesStoreTest, ACopyThatCannotBeKeptStopsTheWrite) {
  const Bytes anchor = look().anchor;
  write_text(directory_ / "blocked", "");
  const auto store = open_favorites(path(), {directory_ / "blocked/copies"});
  const std::vector<StoreWrite> writes = {{WriteKind::kPut, new_bookmark(), "", std::nullopt}};
  EXPECT_FALSE((*store)->apply(writes, anchor).ok());
  EXPECT_EQ(read_text(path()), kChromiumFixture);
}

TEST_F(FavoritesStoreTest, AMissingFileIsAnErrorAndNotAnEmptyOne) {
  const Bytes anchor = look().anchor;
  const auto store = open();
  std::filesystem::remove(path());
  for (const Bytes& since : {Bytes(), anchor}) {
    Sink sink;
    EXPECT_EQ(store->enumerate(since, sink, sink).status().code(), StatusCode::kNotFound);
  }
  EXPECT_EQ(open_favorites(path(), {}).status().code(), StatusCode::kNotFound);
  EXPECT_THAT(open_favorites(path(), {}).status().message(), HasSubstr(path()));
}

TEST_F(FavoritesStoreTest, DamageIsAnErrorThatNamesTheFile) {
  const Bytes anchor = look().anchor;
  const auto store = open();
  write_text(path(), std::string(kChromiumFixture.substr(0, 700)));
  Sink sink;
  const auto enumeration = store->enumerate(anchor, sink, sink);
  EXPECT_EQ(enumeration.status().code(), StatusCode::kCorruption);
  EXPECT_THAT(enumeration.status().message(), HasSubstr(path()));
}

TEST_F(FavoritesStoreTest, OpeningRefusesWhatIsNoFavoritesFileByName) {
  const std::vector<std::pair<std::string, StatusCode>> files = {
      {"", StatusCode::kCorruption},
      {" \n\n", StatusCode::kCorruption},
      {std::string(100, '\0'), StatusCode::kCorruption},
      {"hello", StatusCode::kUnsupported},
      {"<html><body>nothing</body></html>", StatusCode::kUnsupported},
      {std::string("SQLite format 3\0", 16), StatusCode::kUnsupported},
      {"v10\x01\x02", StatusCode::kUnsupported},
      {"mozLz40", StatusCode::kUnsupported},
      {std::string(100'000, '['), StatusCode::kUnsupported}};
  for (const auto& [content, code] : files) {
    write_text(path(), content);
    const auto store = open_favorites(path(), {});
    EXPECT_EQ(store.status().code(), code) << content.substr(0, 10);
    EXPECT_THAT(store.status().message(), HasSubstr(path()));
    EXPECT_EQ(store.status().message().find('\n'), std::string::npos);
  }
  EXPECT_EQ(open_favorites(directory_.path(), {}).status().code(), StatusCode::kUnsupported);
}

TEST_F(FavoritesStoreTest, RefusesAFileThatIsTooLarge) {
  ASSERT_EQ(::truncate(path().c_str(), 100'000'000), 0);
  EXPECT_EQ(open_favorites(path(), {}).status().code(), StatusCode::kLimitExceeded);
}

TEST_F(FavoritesStoreTest, AnEncryptedFileAloneIsNamed) {
  std::filesystem::rename(path(), directory_ / "EncryptedBookmarks2");
  EXPECT_THAT(open_favorites(path(), {}).status().message(), HasSubstr("EncryptedBookmarks2"));
}

TEST_F(FavoritesStoreTest, KeepsThePermissionsOfTheFile) {
  ASSERT_EQ(::chmod(path().c_str(), 0600), 0);
  apply({{WriteKind::kPut, new_bookmark(), "", std::nullopt}}, look().anchor);
  struct stat info;
  ASSERT_EQ(::stat(path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600U);
}

TEST(FavoritesAnchor, ReadsBackWhatItWroteAndRefusesAnythingShorter) {
  FavoritesAnchor anchor;
  anchor.format = FavoritesFormat::kNetscapeHtml;
  anchor.stamp = {1, 2, 3, -4, 5};
  anchor.racy = true;
  anchor.digest.roots = {1, 2, 3};
  anchor.digest.entries = {{{1, 2, 3}, 4}, {{5, 6, 7}, std::uint64_t{8} << 60}};
  anchor.keys = {"a", std::string(300, 'k')};
  anchor.skipped = {{"", "one"}, {"key", std::string(1000, 's')}};
  anchor.mended = {"two"};
  const Bytes bytes = anchor.encode();
  const auto decoded = FavoritesAnchor::decode(bytes);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->stamp, anchor.stamp);
  EXPECT_EQ(decoded->digest, anchor.digest);
  EXPECT_EQ(decoded->keys, anchor.keys);
  EXPECT_EQ(decoded->mended, anchor.mended);
  ASSERT_EQ(decoded->skipped.size(), 2U);
  EXPECT_EQ(decoded->skipped[1].key, "key");
  EXPECT_EQ(decoded->skipped[1].what, anchor.skipped[1].what);
  EXPECT_TRUE(decoded->racy);
  for (const std::size_t missing : {1U, 250U, 400U, 700U, 1300U}) {
    EXPECT_FALSE(FavoritesAnchor::decode(ByteView(bytes).first(bytes.size() - missing)).has_value()) << missing;
  }
}

}  // namespace
}  // namespace harmonica::providers
