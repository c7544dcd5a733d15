// The program with files of records: hubs between favorites, several scopes in a file, and what is none.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <filesystem>

#include "end_to_end/favorites_files.h"
#include "end_to_end/program.h"
#include "support/make_records.h"

namespace harmonica::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kDone = 0;
constexpr int kFailed = 1;

void expect_one_line(const std::string& err) {
  EXPECT_THAT(err, StartsWith("harmonica: "));
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
}

rapidjson::Document parsed(const std::string& text) {
  rapidjson::Document document;
  document.Parse(text.c_str());
  EXPECT_FALSE(document.HasParseError()) << text;
  return document;
}

class Records : public ::testing::Test {
 protected:
  void write(const std::string& store, std::string_view tree) { program_.write(store, chromium_file(parse_tree(tree))); }
  std::string tree(const std::string& store) { return to_text(read_chromium_file(program_.read(store))); }
  Outcome expect_done(const std::vector<std::string>& arguments) {
    const Outcome outcome = program_.run(arguments);
    EXPECT_EQ(outcome.exit_code, kDone) << outcome.out << outcome.err;
    return outcome;
  }

  Program program_;
};

TEST_F(Records, AHubCarriesBetweenStoresThatNeverMeet) {
  write("A", "toolbar(News(a b) c)");
  program_.write("B", chromium_file({}));
  expect_done({"sync", "A", "records:hub.db"});
  expect_done({"sync", "records:hub.db", "B"});
  EXPECT_EQ(tree("B"), to_text(parse_tree("toolbar(News(a b) c)")));
  write("B", "toolbar(News(a) c d)");
  expect_done({"sync", "B", "hub.db"});
  expect_done({"sync", "A", "records:hub.db"});
  EXPECT_EQ(tree("A"), to_text(parse_tree("toolbar(News(a) c d)")));
  EXPECT_THAT(expect_done({"verify", "A", "records:hub.db"}).out, HasSubstr("equal for scope favorites"));
  EXPECT_THAT(expect_done({"verify", "A", "B"}).out, HasSubstr("round trips and"));
}

TEST_F(Records, ShowStatusAndConflictsWork) {
  write("A", "toolbar(a b)");
  expect_done({"sync", "A", "records:hub.db"});
  const Outcome shown = expect_done({"show", "--json", "records:hub.db"});
  EXPECT_EQ(parsed(shown.out)["items"].Size(), 2U);
  EXPECT_THAT(expect_done({"show", "hub.db"}).out, HasSubstr("title=a"));
  const rapidjson::Document status = parsed(expect_done({"status", "--json", "hub.db"}).out);
  EXPECT_STREQ(status["scope"].GetString(), "favorites");
  EXPECT_EQ(status["alive"].GetUint64(), 2U);
  EXPECT_EQ(status["shown"].GetUint64(), 0U);
  EXPECT_THAT(expect_done({"conflicts", "list", "hub.db"}).out, HasSubstr("no conflicts"));

  program_.write("B", chromium_file({}));
  expect_done({"sync", "B", "hub.db"});
  for (const std::string store : {"A", "B"}) {
    Tree edited = read_chromium_file(program_.read(store));
    edited.roots["toolbar"].front().title = "title of " + store;
    program_.write(store, chromium_file(edited));
  }
  expect_done({"sync", "A", "hub.db"});
  expect_done({"sync", "--direction", "from-first", "B", "hub.db"});
  const rapidjson::Document conflicts = parsed(expect_done({"conflicts", "list", "--json", "hub.db"}).out);
  ASSERT_EQ(conflicts["conflicts"].Size(), 1U);
  const std::string lost = conflicts["conflicts"][0]["lost"].GetString();
  expect_done({"conflicts", "restore", "hub.db", conflicts["conflicts"][0]["id"].GetString()});
  expect_done({"sync", "A", "hub.db"});
  EXPECT_EQ("\"" + read_chromium_file(program_.read("A")).roots["toolbar"].front().title + "\"", lost);
}

TEST_F(Records, OneFileHoldsManyScopes) {
  write("A", "toolbar(a)");
  expect_done({"sync", "A", "records:hub.db"});
  ASSERT_EQ(make_records(program_.path("notes.db"), {.items = 20, .edited = {}}), Status());
  expect_done({"sync", "records:notes.db", "records:hub.db#notes"});
  const Outcome unsaid = program_.run({"status", "records:hub.db"});
  EXPECT_EQ(unsaid.exit_code, kFailed);
  expect_one_line(unsaid.err);
  EXPECT_THAT(unsaid.err, HasSubstr("holds several scopes (favorites, notes); say which"));
  EXPECT_EQ(parsed(expect_done({"status", "--json", "records:hub.db#notes"}).out)["alive"].GetUint64(), 20U);
  EXPECT_EQ(parsed(expect_done({"status", "--json", "hub.db#favorites"}).out)["alive"].GetUint64(), 1U);
  expect_done({"verify", "records:hub.db#notes", "notes.db"});
  const Outcome mixed = program_.run({"sync", "A", "records:hub.db#notes"});
  EXPECT_EQ(mixed.exit_code, kFailed);
  EXPECT_THAT(mixed.err, HasSubstr("belongs to the scope"));
}

TEST_F(Records, ADryRunWritesNothing) {
  write("A", "toolbar(a b)");
  const Outcome planned = expect_done({"sync", "--dry-run", "--json", "A", "records:hub.db"});
  EXPECT_FALSE(std::filesystem::exists(program_.path("hub.db")));
  const Outcome done = expect_done({"sync", "--json", "A", "records:hub.db"});
  EXPECT_EQ(parsed(planned.out)["sessions"].Size(), parsed(done.out)["sessions"].Size());
  EXPECT_EQ(parsed(planned.out)["sessions"][1]["created"].GetUint64(),
            parsed(done.out)["sessions"][1]["created"].GetUint64());
  write("A", "toolbar(a b c)");
  const std::string before = program_.read("hub.db");
  expect_done({"sync", "--dry-run", "A", "records:hub.db"});
  EXPECT_EQ(program_.read("hub.db"), before);
}

TEST_F(Records, TwoEmptyHubsSayWhatIsMissing) {
  const Outcome outcome = program_.run({"sync", "records:a.db", "records:b.db"});
  EXPECT_EQ(outcome.exit_code, kFailed);
  expect_one_line(outcome.err);
  EXPECT_THAT(outcome.err, HasSubstr("sync one of them with such a store first"));
}

// Whatever is wrong with the file: one line that names it, and everything is as it was.
TEST_F(Records, WhatIsNoFileOfRecordsIsRefusedAndLosesNothing) {
  write("A", "toolbar(a b)");
  expect_done({"sync", "A", "records:hub.db"});
  const std::string mine = program_.read("A");
  const std::string good = program_.read("hub.db");
  const auto refused = [&](const std::string& name, const std::string& reason, Handicap handicap = Handicap::kNone) {
    SCOPED_TRACE(name);
    const bool is_there = std::filesystem::is_regular_file(program_.path(name));
    const std::string before = is_there ? program_.read(name) : "";
    const Outcome outcome = program_.run({"sync", "A", "records:" + name}, handicap);
    EXPECT_EQ(outcome.exit_code, kFailed) << outcome.out;
    expect_one_line(outcome.err);
    EXPECT_THAT(outcome.err, HasSubstr(name));
    EXPECT_THAT(outcome.err, HasSubstr(reason));
    EXPECT_EQ(program_.read("A"), mine);
    EXPECT_EQ(is_there ? program_.read(name) : "", before);
  };
  program_.write("cut.db", good.substr(0, good.size() / 2 + 100));
  refused("cut.db", "malformed");
  std::string torn = good;
  std::fill(torn.begin() + 4096, torn.end(), 'x');
  program_.write("torn.db", torn);
  refused("torn.db", "malformed");
  program_.write("text", "what is this? " + std::string(1000, '.'));
  refused("text", "not a database");
  std::string other = good;
  other.replace(68, 4, "none");
  program_.write("other.db", other);
  refused("other.db", "a database of another program");
  std::string newer = good;
  newer[63] = 77;
  program_.write("newer.db", newer);
  refused("newer.db", "its format is 77, this build knows up to 2; use a newer one");
  refused("nowhere/hub.db", "there is no folder");
  std::filesystem::create_directory(program_.path("folder"));
  refused("folder", "is a directory");
}

TEST_F(Records, AFileThatCannotBeWrittenIsRefused) {
  write("A", "toolbar(a b)");
  expect_done({"sync", "A", "records:hub.db"});
  const std::string before = program_.read("hub.db");
  std::filesystem::permissions(program_.path("hub.db"), std::filesystem::perms::owner_read |
                                                            std::filesystem::perms::group_read |
                                                            std::filesystem::perms::others_read);
  const Outcome outcome = program_.run({"status", "records:hub.db"}, Handicap::kNotRoot);
  EXPECT_EQ(outcome.exit_code, kFailed) << outcome.out;
  expect_one_line(outcome.err);
  EXPECT_THAT(outcome.err, HasSubstr("hub.db"));
  EXPECT_EQ(program_.read("hub.db"), before);
}

// At any size: the test of a million items is a benchmark (docs/benchmarks.md).
TEST_F(Records, VerifyFindsOneDifferenceInFewRoundTripsAndBytes) {
  ASSERT_EQ(make_records(program_.path("a.db"), {.items = 30'000, .edited = {}}), Status());
  ASSERT_EQ(make_records(program_.path("b.db"), {.items = 30'000, .edited = 12'345}), Status());
  const Outcome verified = program_.run({"verify", "--json", "records:a.db", "records:b.db"});
  EXPECT_EQ(verified.exit_code, kFailed) << verified.err;
  const rapidjson::Document result = parsed(verified.out);
  EXPECT_EQ(result["difference_count"].GetUint64(), 1U);
  EXPECT_LE(result["exchanges"].GetUint64(), 4U);
  EXPECT_LE(result["bytes"].GetUint64(), 8192U);
  EXPECT_THAT(program_.run({"verify", "records:a.db", "records:b.db"}).out, HasSubstr("round trips and"));
}

}  // namespace
}  // namespace harmonica::testing
