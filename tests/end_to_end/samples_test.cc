// Files of real browsers and services, where their folder stands beside this one's.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "end_to_end/favorites_files.h"
#include "end_to_end/program.h"

namespace harmonica::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::filesystem::path> samples() {
  std::vector<std::filesystem::path> paths;
  std::error_code missing;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(HARMONICA_SAMPLES, missing)) {
    const std::string extension = entry.path().extension().string();
    const bool is_favorites = extension == ".html" || extension == ".htm" || entry.path().filename() == "Bookmarks" ||
                              (extension == ".json" && entry.path().filename() != "tree.json");
    if (entry.is_regular_file() && is_favorites) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// What a browser would show as empty, or is no favorites file.
const std::set<std::string> kRefused = {"chromium_model_without_mobile.json", "dump.json", "shaarli_empty.htm",
                                        "wallabag_firefox_backup.json"};

TEST(Samples, AreSyncedOrRefusedByName) {
  for (const std::filesystem::path& sample : samples()) {
    SCOPED_TRACE(sample);
    const Program program;
    const std::string original = read_text(sample);
    program.write("sample", original);
    const std::string mine = chromium_file(parse_tree("toolbar(mine)"));
    program.write("Bookmarks", mine);
    const Outcome synced = program.run({"sync", "sample", "Bookmarks"});
    if (kRefused.contains(sample.filename())) {
      EXPECT_EQ(synced.exit_code, 1) << synced.out;
      EXPECT_THAT(synced.err, StartsWith("harmonica: "));
      EXPECT_THAT(synced.err, HasSubstr("sample"));
      EXPECT_EQ(program.read("sample"), original);
      EXPECT_EQ(program.read("Bookmarks"), mine);
      continue;
    }
    EXPECT_EQ(synced.exit_code, 0) << synced.out << synced.err;
    const Outcome verified = program.run({"verify", "sample", "Bookmarks"});
    EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
    EXPECT_EQ(read_chromium_file(program.read("Bookmarks")).damage, "");
    const std::string sample_after = program.read("sample");
    const std::string mine_after = program.read("Bookmarks");
    const Outcome again = program.run({"sync", "sample", "Bookmarks"});
    EXPECT_THAT(again.out, HasSubstr("nothing to do"));
    EXPECT_EQ(program.read("sample"), sample_after);
    EXPECT_EQ(program.read("Bookmarks"), mine_after);
  }
}

TEST(Samples, AllTogetherBecomeOne) {
  const Program program;
  program.write("Bookmarks", chromium_file(parse_tree("toolbar(mine)")));
  std::vector<std::string> stores = {"Bookmarks"};
  for (const std::filesystem::path& sample : samples()) {
    if (kRefused.contains(sample.filename())) continue;
    stores.push_back(std::to_string(stores.size()) + sample.filename().string());
    program.write(stores.back(), read_text(sample));
  }
  stores.emplace_back("mine.html");
  program.write("mine.html", html_file({}));
  std::vector<std::string> arguments = {"sync"};
  arguments.insert(arguments.end(), stores.begin(), stores.end());
  const Outcome synced = program.run(arguments);
  EXPECT_EQ(synced.exit_code, 0) << synced.out << synced.err;
  for (const std::string& store : stores) {
    if (store == stores.front()) continue;
    const Outcome verified = program.run({"verify", stores.front(), store});
    EXPECT_EQ(verified.exit_code, 0) << store << "\n" << verified.out.substr(0, 1000) << verified.err;
  }
  const Outcome again = program.run(arguments);
  EXPECT_THAT(again.out, HasSubstr("nothing to do"));
}

}  // namespace
}  // namespace harmonica::testing
