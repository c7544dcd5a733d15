#include <gmock/gmock.h>

#include "chromium_fixture.h"
#include "chromium_json.h"
#include "chromium_url.h"
#include "favorites_document.h"
#include "favorites_text.h"

namespace harmonica::providers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::unique_ptr<FavoritesDocument> read(std::string_view content) {
  auto document = chromium_bookmarks_codec().read(as_bytes(content));
  EXPECT_TRUE(document.ok()) << document.status().to_text();
  return document.ok() ? std::move(document).value() : nullptr;
}

Status status_of(std::string_view content) { return chromium_bookmarks_codec().read(as_bytes(content)).status(); }

const Favorite& first_of(const FavoritesDocument& document) { return *document.tree().roots[0].children.at(0); }

TEST(ChromiumReader, GivesTheTreeOfTheFile) {
  const auto document = read(kChromiumFixture);
  EXPECT_EQ(to_text(document->tree()),
            "toolbar\n"
            "  + Folder\n"
            "    Inner <b> \"quoted\" <https://inner.example/?a=1&b=2>\n"
            "    Größe 日本 😀 <https://wide.example/>\n"
            "  + Empty\n"
            "other\n"
            "  Other one <https://other.example/>\n");
  EXPECT_THAT(document->tree().skipped, IsEmpty());
  EXPECT_THAT(document->tree().mended, IsEmpty());
}

TEST(ChromiumReader, TakesKeysAndDatesFromTheFile) {
  const auto document = read(kChromiumFixture);
  const Favorite& folder = first_of(*document);
  EXPECT_EQ(folder.key, "33333333-3333-4333-8333-333333333333");
  EXPECT_EQ(folder.added_us, 13'300'000'000'000'000 - 11'644'473'600'000'000);
  EXPECT_EQ(folder.changed_us, *folder.added_us + 2);
  EXPECT_EQ(folder.children[0]->added_us, *folder.added_us + 1);
}

TEST(ChromiumReader, AcceptsAFileWithAByteOrderMark) {
  EXPECT_EQ(to_text(read("\xEF\xBB\xBF" + std::string(kChromiumFixture))->tree()), to_text(read(kChromiumFixture)->tree()));
}

TEST(ChromiumReader, TellsOfAChecksumThatIsWrongOrMissing) {
  const auto wrong = read(replaced(kChromiumFixture, kFixtureMd5, "00000000000000000000000000000000"));
  EXPECT_THAT(wrong->tree().mended, ElementsAre("the checksum was wrong"));
  const auto missing = read(chromium_file(""));
  EXPECT_THAT(missing->tree().mended, ElementsAre("the checksum was missing"));
}

TEST(ChromiumReader, ADateThatIsMissingZeroOrDamagedIsNoDate) {
  for (const char* date : {R"("date_added":"0",)", R"("date_added":"soon",)", R"("date_added":7,)", ""}) {
    const auto document =
        read(chromium_file(replaced(chromium_bookmark("5", '1', "t"), R"("date_added":"13300000000000000",)", date)));
    EXPECT_EQ(first_of(*document).added_us, std::nullopt) << date;
  }
}

TEST(ChromiumReader, UpperCaseGuidsAreTakenAsLowerCase) {
  const auto document = read(chromium_file(replaced(chromium_bookmark("5", '1', "t"), "aaaaaaaa-aaaa", "AAAAAAAA-AAAA")));
  EXPECT_EQ(first_of(*document).key, "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa1");
  EXPECT_THAT(document->tree().mended, ElementsAre("the checksum was missing"));
}

TEST(ChromiumReader, OnlyTheSecondOfTwoEqualGuidsGetsANewOne) {
  const std::string file =
      chromium_file(chromium_bookmark("5", '1', "first") + "," + chromium_bookmark("6", '1', "second"));
  const auto document = read(file);
  const auto& entries = document->tree().roots[0].children;
  EXPECT_EQ(entries[0]->key, "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa1");
  EXPECT_NE(entries[1]->key, entries[0]->key);
  EXPECT_THAT(document->tree().mended[0], HasSubstr("\"second\""));
  // Reading the file again, unwritten, gives the same key.
  EXPECT_EQ(read(file)->tree().roots[0].children[1]->key, entries[1]->key);
}

TEST(ChromiumReader, AGuidThatIsMissingBadOrARootsIsReplacedTheSameWayEachTime) {
  for (const char* guid :
       {"", R"("guid":"not one",)", R"("guid":12,)", R"("guid":"82b081ec-3dd3-529c-8475-ab6c344590dd",)"}) {
    const std::string file = chromium_file(
        replaced(chromium_bookmark("5", '1', "t"), R"("guid":"aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa1",)", guid) + "," +
        replaced(chromium_bookmark("6", '1', "t"), R"("guid":"aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa1",)", guid));
    const auto document = read(file);
    const auto& entries = document->tree().roots[0].children;
    EXPECT_EQ(entries[0]->key.size(), 36U) << guid;
    EXPECT_NE(entries[0]->key, entries[1]->key) << guid;
    EXPECT_EQ(chromium_bookmarks_codec().identity_of(entries[0]->key), std::nullopt) << guid;
    EXPECT_EQ(read(file)->tree().roots[0].children[1]->key, entries[1]->key) << guid;
  }
}

TEST(ChromiumReader, RecognisesItemIdsThatItWroteAsGuids) {
  ItemId source;
  source.bytes.fill(0x5C);
  const ItemId id = shaped_item_id(source.view());
  const StoreKey key = chromium_bookmarks_codec().key_for(id);
  EXPECT_EQ(chromium_bookmarks_codec().identity_of(key), id);
  EXPECT_EQ(chromium_bookmarks_codec().identity_of("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa1"), std::nullopt);
  EXPECT_EQ(chromium_bookmarks_codec().identity_of("toolbar"), std::nullopt);
}

TEST(ChromiumReader, EntriesThatABrowserLeavesOutAreSkippedByNameAndTheirSiblingsStay) {
  const std::string good = chromium_bookmark("9", '9', "good");
  const std::vector<std::pair<std::string, std::string>> bad = {
      {chromium_bookmark("5", '1', "t", "no scheme"), "its address \"no scheme\" is not valid"},
      {replaced(chromium_bookmark("5", '1', "t"), R"("type":"url")", R"("type":"separator")"), "neither url nor folder"},
      {replaced(chromium_bookmark("5", '1', "t"), R"("type":"url",)", ""), "no type"},
      {replaced(chromium_bookmark("5", '1', "t"), R"("type":"url")", R"("type":"folder")"), "no list of children"},
      {replaced(chromium_bookmark("5", '1', "t"), R"(,"url":"https://a.example/")", ""), "no address"}};
  for (const auto& [entry, reason] : bad) {
    const auto document = read(chromium_file(entry + "," + good));
    EXPECT_EQ(to_text(document->tree()), "toolbar\n  ~\n  good <https://a.example/>\n");
    ASSERT_EQ(document->tree().skipped.size(), 1U) << entry;
    EXPECT_EQ(document->tree().skipped[0].key, "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa1");
    EXPECT_THAT(document->tree().skipped[0].what, ::testing::AllOf(HasSubstr("\"t\""), HasSubstr(reason)));
  }
  EXPECT_EQ(to_text(read(chromium_file("7, [1], null," + good))->tree()),
            "toolbar\n  ~\n  ~\n  ~\n  good <https://a.example/>\n");
}

TEST(ChromiumReader, EntriesBelowASkippedFolderAreNamedWithTheirKeys) {
  const auto document = read(chromium_file(R"({"children":[)" + chromium_bookmark("5", '1', "inside") +
                                           R"(],"guid":"aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa2","id":"6","name":"f"})"));
  std::vector<std::string> keys;
  for (const SkippedFavorite& skipped : document->tree().skipped) keys.push_back(skipped.key);
  EXPECT_THAT(keys, ::testing::UnorderedElementsAre("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa1",
                                                    "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa2"));
}

TEST(ChromiumReader, LineEndsAndTabsInTitlesBecomeBlanksAsInTheBrowser) {
  EXPECT_EQ(first_of(*read(chromium_file(chromium_bookmark("5", '1', "a\\tb\\nc\\u2028d")))).title, "a b c d");
}

TEST(ChromiumReader, DamagedTextIsReplacedAndTheRestStays) {
  const auto bytes = read(chromium_file(chromium_bookmark("5", '1', "a\xFFz")));
  EXPECT_EQ(first_of(*bytes).title, "a\uFFFDz");
  const auto surrogate = read(chromium_file(chromium_bookmark("5", '1', "a\\uD83Dz\\uD83D\\uDE00")));
  EXPECT_EQ(first_of(*surrogate).title, "a\uFFFDz😀");
  EXPECT_THAT(surrogate->tree().mended, ::testing::Contains("half a surrogate pair was replaced"));
  const auto second_half = read(chromium_file(chromium_bookmark("5", '1', "a\\uDE00z\\uD83D\\uDE00")));
  EXPECT_EQ(first_of(*second_half).title, "a\uFFFDz😀");
  EXPECT_THAT(second_half->tree().mended, ::testing::Contains("half a surrogate pair was replaced"));
}

TEST(ChromiumReader, TheMenuFolderIsTheRootMenu) {
  const auto document = read(chromium_file(
      R"({"children":[)" + chromium_bookmark("5", '1', "in the menu") +
      R"(],"guid":"e9c4aafe-0c4e-5e55-8121-b39c1ac7dc6b","id":"6","name":"Bookmarks menu","type":"folder"})"));
  EXPECT_EQ(to_text(document->tree()), "toolbar\n  ~\nmenu\n  in the menu <https://a.example/>\n");
}

TEST(ChromiumReader, RefusesDamagedFilesAndSaysWhere) {
  const std::string whole(kChromiumFixture);
  for (const std::string& file : {whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 3), whole + "x",
                                  whole + std::string(10, '\0'), std::string("{"), std::string("{\"roots\": }")}) {
    const Status status = status_of(file);
    EXPECT_EQ(status.code(), StatusCode::kCorruption) << file.substr(0, 20);
    EXPECT_THAT(status.message(), HasSubstr("damaged at byte"));
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
  }
}

TEST(ChromiumReader, RefusesWhatABrowserWouldShowAsEmpty) {
  const std::string small = chromium_file("");
  const std::vector<std::pair<std::string, std::string>> refused = {
      {replaced(small, "\"version\":1", "\"version\":2"), "version 2"},
      {replaced(small, ",\"version\":1", ""), "version (none)"},
      {replaced(small, "\"synced\"", "\"mobile\""), "no whole root \"synced\""},
      {replaced(small, "\"children\":[],\"id\":\"2\",", ""), "no whole root \"other\""},
      {replaced(small, "\"roots\"", "\"trees\""), "no bookmark roots"},
      {replaced(small, "{\"roots\"", "{\"checksum\":5,\"roots\""), "checksum"},
      {R"({"guid":"root________","typeCode":2,"children":[]})", "Firefox backup"},
      {"{}", "no bookmark roots"},
      {"[]", "not a Chromium Bookmarks file"}};
  for (const auto& [file, reason] : refused) {
    EXPECT_EQ(status_of(file).code(), StatusCode::kUnsupported) << file;
    EXPECT_THAT(status_of(file).message(), HasSubstr(reason)) << file;
  }
}

std::string nested_folders(std::size_t levels) {
  std::string json = chromium_bookmark("9999", '1', "deep");
  for (std::size_t i = 0; i < levels; ++i) {
    json = R"({"children":[)" + json + R"(],"id":")" + std::to_string(10 + i) + R"(","name":"f","type":"folder"})";
  }
  return chromium_file(json);
}

// Checked against Chromium's own limit: 200 objects and lists inside each other.
TEST(ChromiumReader, ReadsFoldersAsDeepAsChromiumAndRefusesDeeperOnes) {
  const auto document = read(nested_folders(97));
  ASSERT_NE(document, nullptr);
  EXPECT_EQ(document->tree().mended.size(), 98U);  // the folders have no guids, and there is no checksum
  EXPECT_TRUE(document->write().ok());
  for (const std::size_t levels : {98U, 200U, 5000U}) {
    EXPECT_EQ(status_of(nested_folders(levels)).code(), StatusCode::kUnsupported) << levels;
    EXPECT_THAT(status_of(nested_folders(levels)).message(), HasSubstr("folders inside each other"));
  }
  EXPECT_EQ(status_of("{\"a\":" + std::string(1'000'000, '[')).code(), StatusCode::kUnsupported);
}

TEST(ChromiumUrl, TakesTheAddressesThatChromiumTakes) {
  for (const char* url :
       {"https://a.example/", "HTTPS://UPPER:443", "http:a.example", "http://user:secret@a.example:8080/x?y#z",
        "http://[::1]:80/", "javascript:void(0)", "about:blank", "data:,x", "file:///a b", "place:sort=8",
        "chrome://settings", "https://日本.example/", "mailto:a@b.example", " https://a.example/ "}) {
    EXPECT_TRUE(chromium_loads_url(url)) << url;
  }
  for (const char* url : {"", "a.example/x", "http://", "https:///", "http://a b/", "http://a.example:99999/",
                          "http://[::1/", "http://a%zz/", "1http://a/", ":x", "chrome://", "http://a<b/"}) {
    EXPECT_FALSE(chromium_loads_url(url)) << url;
  }
}

}  // namespace
}  // namespace harmonica::providers
