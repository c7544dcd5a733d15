#include <gmock/gmock.h>

#include <filesystem>

#include "chromium_fixture.h"
#include "favorites_document.h"
#include "favorites_text.h"
#include "support/make_bookmarks.h"
#include "support/temporary_directory.h"

namespace harmonica::providers {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::unique_ptr<FavoritesDocument> read(std::string_view content) {
  auto document = chromium_bookmarks_codec().read(as_bytes(content));
  EXPECT_TRUE(document.ok()) << document.status().to_text();
  return document.ok() ? std::move(document).value() : nullptr;
}

std::string written(const FavoritesDocument& document) {
  const auto bytes = document.write();
  EXPECT_TRUE(bytes.ok()) << bytes.status().to_text();
  return bytes.ok() ? std::string(as_text(*bytes)) : std::string();
}

void rename_first(FavoritesDocument& document) { document.tree().roots[0].children[0]->children[0]->title = "Changed"; }

TEST(ChromiumWriter, WritesAnUneditedFileByteForByte) {
  std::vector<std::string> files = {std::string(kChromiumFixture)};
  // A profile that the browser itself wrote, where the samples stand beside the sources.
  const std::string sample = HARMONICA_SOURCE_DIR "/../shared/samples/favorites/real/chromium/Bookmarks";
  if (std::filesystem::exists(sample)) files.push_back(harmonica::testing::read_text(sample));
  for (const std::string& file : files) EXPECT_EQ(written(*read(file)), file);
}

TEST(ChromiumWriter, ComputesTheChecksumsThatTheFileHad) {
  const auto md5 = read(kChromiumFixture);
  rename_first(*md5);
  EXPECT_THAT(written(*md5), HasSubstr("\"checksum\": \"" + std::string(kChangedMd5) + "\""));
  EXPECT_THAT(written(*md5), Not(HasSubstr("checksum_sha256")));

  const std::string sha256_line = "\"checksum_sha256\": \"" + std::string(kFixtureSha256) + "\"";
  const auto sha256 = read(replaced(kChromiumFixture, "\"checksum\": \"" + std::string(kFixtureMd5) + "\"", sha256_line));
  EXPECT_THAT(sha256->tree().mended, ::testing::IsEmpty());
  rename_first(*sha256);
  EXPECT_THAT(written(*sha256), HasSubstr("\"checksum_sha256\": \"" + std::string(kChangedSha256) + "\""));
  EXPECT_THAT(written(*sha256), Not(HasSubstr("\"checksum\"")));

  const auto both = read(replaced(kChromiumFixture, "   \"future_key\"", "   " + sha256_line + ",\n   \"future_key\""));
  EXPECT_THAT(both->tree().mended, ::testing::IsEmpty());
  rename_first(*both);
  EXPECT_THAT(written(*both), HasSubstr(kChangedMd5));
  EXPECT_THAT(written(*both), HasSubstr(kChangedSha256));
}

TEST(ChromiumWriter, MendsAChecksumThatWasWrongOrMissing) {
  EXPECT_EQ(written(*read(replaced(kChromiumFixture, kFixtureMd5, "00000000000000000000000000000000"))), kChromiumFixture);
  EXPECT_EQ(written(*read(replaced(kChromiumFixture, "   \"checksum\": \"" + std::string(kFixtureMd5) + "\",\n", ""))),
            kChromiumFixture);
}

TEST(ChromiumWriter, AnEditChangesOnlyTheLinesOfTheEntryAndTheChecksum) {
  const auto document = read(kChromiumFixture);
  rename_first(*document);
  std::string expected = replaced(kChromiumFixture, kFixtureMd5, kChangedMd5);
  expected = replaced(expected, R"(Inner \u003Cb> \"quoted\")", "Changed");
  EXPECT_EQ(written(*document), expected);
}

TEST(ChromiumWriter, NewEntriesGetIdsAboveTheGreatestEver) {
  const auto document = read(kChromiumFixture);
  auto entry = bookmark("New <one>", "https://new.example/", "aaaaaaaa-aaaa-8aaa-8aaa-aaaaaaaaaaa1");
  entry->added_us = 13'300'000'000'000'007 - 11'644'473'600'000'000;
  document->tree().roots[2].children.push_back(std::move(entry));
  EXPECT_THAT(written(*document), HasSubstr(R"(}, {
            "date_added": "13300000000000007",
            "date_last_used": "0",
            "guid": "aaaaaaaa-aaaa-8aaa-8aaa-aaaaaaaaaaa1",
            "id": "10",
            "name": "New \u003Cone>",
            "type": "url",
            "url": "https://new.example/"
         } ],
         "date_added": "13299999999999999",
         "date_last_used": "0",
         "date_modified": "13300000000000007",)"));
}

TEST(ChromiumWriter, OnlyAnEntryWithABadIdGetsANewOne) {
  for (const char* id : {"5", "-1", "0", "x", "", "9223372036854775807"}) {
    const auto document =
        read(chromium_file(chromium_bookmark("5", '1', "first") + "," + chromium_bookmark(id, '2', "second")));
    const std::string text = written(*document);
    EXPECT_THAT(text, HasSubstr("\"id\": \"5\",\n            \"name\": \"first\"")) << id;
    EXPECT_THAT(text, HasSubstr("\"id\": \"6\"")) << id;
    EXPECT_THAT(read(text)->tree().mended, ::testing::IsEmpty()) << id;
  }
}

TEST(ChromiumWriter, WhatWasSkippedStaysInTheFileWhereItWas) {
  const std::string separator = R"({"id":"77","odd":[1,{"a":"\u00e9"}],"type":"separator"})";
  const auto document =
      read(chromium_file(chromium_bookmark("5", '1', "a") + "," + separator + "," + chromium_bookmark("6", '2', "b")));
  document->tree().roots[0].children[0]->title = "edited";
  const auto again = read(written(*document));
  EXPECT_EQ(to_text(again->tree()), "toolbar\n  edited <https://a.example/>\n  ~\n  b <https://a.example/>\n");
  EXPECT_THAT(written(*document), HasSubstr(R"("\u00e9")"));
  EXPECT_EQ(written(*again), written(*document));
}

TEST(ChromiumWriter, TheMenuBecomesAFolderInOtherOnlyWhenItHasSomething) {
  const auto document = read(kChromiumFixture);
  EXPECT_THAT(written(*document), Not(HasSubstr("Bookmarks menu")));
  document->tree().roots[1].children.push_back(
      bookmark("Menu one", "https://menu.example/", "aaaaaaaa-aaaa-8aaa-8aaa-aaaaaaaaaaa1"));
  const auto again = read(written(*document));
  EXPECT_THAT(to_text(again->tree()), HasSubstr("menu\n  Menu one <https://menu.example/>\n"
                                                "other\n  Other one <https://other.example/>\n  ~\n"));
  EXPECT_THAT(again->tree().mended, ::testing::IsEmpty());
  EXPECT_EQ(written(*again), written(*document));
}

TEST(ChromiumWriter, WritesLargeTreesByteForByteButForTheMissingChecksum) {
  const std::string file = harmonica::testing::make_bookmarks(3000, 7);
  const auto document = read(file);
  EXPECT_THAT(document->tree().mended, ::testing::ElementsAre("the checksum was missing"));
  std::string text = written(*document);
  text.erase(text.find("   \"checksum\""), text.find("   \"roots\"") - text.find("   \"checksum\""));
  EXPECT_EQ(text, file);
}

TEST(ChromiumWriter, TitlesAreHeldAsChromiumHoldsThem) {
  StoreItem item;
  item.type = kBookmarkType;
  item.values = {{kTitleUnit, Value::text("a\tb\r\nc\xFF")},
                 {kUrlUnit, Value::text("https://EXAMPLE.org")},
                 {kDateAddedUnit, Value::integer(-20'000'000'000'000'000)}};
  const StoreItem held = chromium_bookmarks_codec().as_held(item);
  EXPECT_THAT(held.values, ::testing::ElementsAre(UnitValue{kTitleUnit, Value::text("a b  c\uFFFD")},
                                                  UnitValue{kUrlUnit, Value::text("https://EXAMPLE.org")}));
}

TEST(ChromiumWriter, RefusesEntriesThatChromiumWouldDrop) {
  StoreItem item;
  item.type = kBookmarkType;
  item.values = {{kTitleUnit, Value::text("t")}, {kUrlUnit, Value::text("no address")}};
  EXPECT_EQ(chromium_bookmarks_codec().can_hold(item, 0).code(), StatusCode::kUnsupported);
  item.values[1].value = Value::text("https://a.example/");
  EXPECT_TRUE(chromium_bookmarks_codec().can_hold(item, 96).ok());
  EXPECT_EQ(chromium_bookmarks_codec().can_hold(item, 97).code(), StatusCode::kLimitExceeded);
}

}  // namespace
}  // namespace harmonica::providers
