// harmonica forget: what is erased is gone everywhere, and stays gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <filesystem>

#include "end_to_end/favorites_files.h"
#include "end_to_end/program.h"

namespace harmonica::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Erasing : public ::testing::Test {
 protected:
  Erasing() {
    write("A", "toolbar(News(zebrafinch b) c)");
    write("B", "toolbar(News(zebrafinch b) c)");
    expect_done({"sync", "A", "B"});
  }

  void write(const std::string& store, std::string_view tree) { program_.write(store, chromium_file(parse_tree(tree))); }
  std::string tree(const std::string& store) { return to_text(read_chromium_file(program_.read(store))); }
  Outcome expect_done(const std::vector<std::string>& arguments) {
    const Outcome outcome = program_.run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    return outcome;
  }

  // Files below the program's own folder, and the stores named, in which the text stands; not the copies that were kept of
  // users' files.
  std::vector<std::string> files_with(const std::string& text, const std::vector<std::string>& stores) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(program_.state())) {
      if (!entry.is_regular_file() || entry.path().string().find("originals") != std::string::npos) continue;
      if (read_text(entry.path().string()).find(text) != std::string::npos) files.push_back(entry.path().string());
    }
    for (const std::string& store : stores) {
      if (program_.read(store).find(text) != std::string::npos) files.push_back(store);
    }
    return files;
  }

  std::string id_of(const std::string& store, const std::string& title) {
    rapidjson::Document document;
    document.Parse(expect_done({"show", store, "--json"}).out.c_str());
    for (const rapidjson::Value& item : document["items"].GetArray()) {
      if (item["title"].GetString() == title) return item["id"].GetString();
    }
    ADD_FAILURE() << title << " is not shown in " << store;
    return {};
  }

  Program program_;
};

TEST_F(Erasing, LeavesNothingInAnyFileHereOrAtThePeer) {
  EXPECT_THAT(files_with("zebrafinch", {"A", "B"}), ::testing::SizeIs(4));
  const Outcome erased = expect_done({"forget", "A", "toolbar/News/zebrafinch"});
  EXPECT_THAT(erased.out, HasSubstr("erased  zebrafinch (bookmark "));
  EXPECT_EQ(tree("A"), to_text(parse_tree("toolbar(News(b) c)")));
  EXPECT_THAT(files_with("zebrafinch", {"A", "B"}), ::testing::SizeIs(2));
  expect_done({"sync", "A", "B"});
  EXPECT_EQ(tree("B"), to_text(parse_tree("toolbar(News(b) c)")));
  EXPECT_THAT(files_with("zebrafinch", {"A", "B"}), ::testing::IsEmpty());
  EXPECT_THAT(expect_done({"status", "B"}).out, HasSubstr("erased     1 for good"));
  EXPECT_THAT(expect_done({"verify", "A", "B"}).out, HasSubstr("equal"));
}

TEST_F(Erasing, TakesWhatIsBelowAFolderAndTravelsOverAHub) {
  expect_done({"sync", "A", "records:hub.db"});
  const Outcome erased = expect_done({"forget", "A", "toolbar/News", "--json"});
  rapidjson::Document document;
  document.Parse(erased.out.c_str());
  ASSERT_FALSE(document.HasParseError()) << erased.out;
  ASSERT_EQ(document["erased"].Size(), 3u);
  EXPECT_STREQ(document["erased"][0]["label"].GetString(), "News");
  EXPECT_STREQ(document["erased"][0]["type"].GetString(), "folder");
  EXPECT_EQ(document["standing"].GetUint(), 0u);
  expect_done({"sync", "A", "records:hub.db"});
  expect_done({"sync", "records:hub.db", "B"});
  EXPECT_EQ(tree("B"), to_text(parse_tree("toolbar(c)")));
  EXPECT_THAT(files_with("zebrafinch", {"A", "B", "hub.db"}), ::testing::IsEmpty());
}

TEST_F(Erasing, IsNotUndoneByAnEditElsewhereAndAConflictOfItLeavesNoRecord) {
  Tree edited = read_chromium_file(program_.read("B"));
  edited.roots["toolbar"].front().children.front().title = "zebrafinch, edited";
  program_.write("B", chromium_file(edited));
  expect_done({"forget", "A", id_of("A", "zebrafinch").substr(0, 12)});
  expect_done({"sync", "B", "A"});
  EXPECT_EQ(tree("A"), to_text(parse_tree("toolbar(News(b) c)")));
  EXPECT_EQ(tree("B"), tree("A"));
  EXPECT_THAT(expect_done({"conflicts", "list", "B"}).out, HasSubstr("no conflicts"));
  EXPECT_THAT(files_with("zebrafinch", {"A", "B"}), ::testing::IsEmpty());
}

TEST_F(Erasing, TheSameThingMadeAnewStays) {
  expect_done({"forget", "A", "toolbar/News/zebrafinch"});
  write("A", "toolbar(News(zebrafinch b) c)");
  expect_done({"sync", "A", "B"});
  EXPECT_EQ(tree("A"), to_text(parse_tree("toolbar(News(zebrafinch b) c)")));
  EXPECT_EQ(tree("B"), tree("A"));
}

TEST_F(Erasing, RefusesWhatItDoesNotFindAndWhatMeansSeveral) {
  const Outcome missing = program_.run({"forget", "A", "toolbar/News/none"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("no item is shown under that path, and no id begins so"));
  const Outcome empty = program_.run({"forget", "A", ""});
  EXPECT_EQ(empty.exit_code, 1);
  write("A", "toolbar(News(zebrafinch b) c other\"c\"<elsewhere>)");
  const Outcome several = program_.run({"forget", "A", "toolbar/c", "--json"});
  EXPECT_EQ(several.exit_code, 1);
  EXPECT_THAT(several.err, HasSubstr("means 2 items; give the id of one: "));
  EXPECT_THAT(several.out, HasSubstr("\"error\""));
  EXPECT_THAT(tree("A"), HasSubstr("zebrafinch"));
  expect_done({"forget", "A", "toolbar/News/b"});
  const Outcome again = program_.run({"forget", "A", "toolbar/News/b"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(tree("A"), Not(HasSubstr(" b")));
}

}  // namespace
}  // namespace harmonica::testing
