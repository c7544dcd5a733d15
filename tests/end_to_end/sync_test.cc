// What a person sees of a sync: exit codes, and what is in the files afterwards.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "end_to_end/favorites_files.h"
#include "end_to_end/program.h"
#include "harmonica/bytes.h"

namespace harmonica::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kWaiting = 3;

// Of all sessions in the output of `sync --json`.
std::uint64_t changes_in(const std::string& json) {
  rapidjson::Document document;
  if (document.Parse(json.data(), json.size()).HasParseError()) return 999'999;
  std::uint64_t changes = 0;
  for (const rapidjson::Value& session : document["sessions"].GetArray()) {
    for (const char* const what : {"created", "updated", "deleted", "conflicts", "deferred", "failed"}) {
      changes += session[what].GetUint64();
    }
  }
  return changes;
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  return at == std::string::npos ? "no " + part : text.replace(at, part.size(), by);
}

// The digest that the system's own program gives.
std::string md5sum(const Program& program, const std::string& bytes) {
  program.write("digested", bytes);
  const std::string command = "md5sum < '" + program.path("digested") + "' > '" + program.path("digest") + "'";
  if (std::system(command.c_str()) != 0) return "md5sum failed";
  return program.read("digest").substr(0, 32);
}

void expect_equal(const Program& program, const std::string& first, const std::string& second) {
  const Outcome verified = program.run({"verify", first, second});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
}

void expect_nothing_left_to_do(const Program& program, const std::vector<std::string>& stores) {
  std::vector<std::string> before;
  for (const std::string& store : stores) before.push_back(program.read(store));
  std::vector<std::string> arguments = {"sync", "--json"};
  arguments.insert(arguments.end(), stores.begin(), stores.end());
  const Outcome again = program.run(arguments);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(changes_in(again.out), 0U) << again.out;
  for (std::size_t i = 0; i < stores.size(); ++i) EXPECT_EQ(program.read(stores[i]), before[i]) << stores[i];
}

class Sync : public ::testing::Test {
 protected:
  // A title is edited in A and then in B, and the two sync.
  void meet_in_a_conflict() {
    program_.write("A", chromium_file(parse_tree("toolbar(a b)")));
    program_.write("B", chromium_file({}));
    ASSERT_EQ(program_.run({"sync", "A", "B"}).exit_code, 0);
    for (const std::string store : {"A", "B"}) {
      Tree tree = read_chromium_file(program_.read(store));
      tree.roots["toolbar"].front().title = "title of " + store;
      program_.write(store, chromium_file(tree));
      // Finds the edit at once, so that B's is the newer one.
      ASSERT_EQ(program_.run({"status", store}).exit_code, 0);
    }
    ASSERT_EQ(program_.run({"sync", "A", "B"}).exit_code, 0);
  }

  Program program_;
};

TEST_F(Sync, VerifySaysWhatTheComparisonTookAndRepairsNothingThatOnlyWaits) {
  program_.write("A", chromium_file(parse_tree("toolbar(a b)")));
  program_.write("B", chromium_file({}));
  ASSERT_EQ(program_.run({"sync", "A", "B"}).exit_code, 0);
  const Outcome equal = program_.run({"verify", "--json", "A", "B"});
  EXPECT_EQ(equal.exit_code, 0) << equal.err;
  EXPECT_NE(equal.out.find("\"exchanges\":3"), std::string::npos) << equal.out;
  EXPECT_NE(equal.out.find("\"bytes\":"), std::string::npos) << equal.out;
  program_.write("A", chromium_file(parse_tree("toolbar(a b c)")));
  const Outcome repaired = program_.run({"verify", "--json", "--repair", "A", "B"});
  EXPECT_EQ(repaired.exit_code, 1) << repaired.err;
  EXPECT_NE(repaired.out.find("\"difference_count\":1"), std::string::npos) << repaired.out;
  EXPECT_NE(repaired.out.find("\"asked_again_first\":0,\"asked_again_second\":0,\"left_to_sync\":1"), std::string::npos)
      << repaired.out;
}

TEST_F(Sync, ThreeStoresBecomeOne) {
  program_.write("A", chromium_file(parse_tree("toolbar(News(a b) c) other(d)")));
  program_.write("B", chromium_file(parse_tree("toolbar(c News(b e)) mobile(f)")));
  program_.write("C.html", html_file(parse_tree("menu(g Deep(Deeper(h))) toolbar(c)")));
  const Outcome synced = program_.run({"sync", "A", "B", "C.html"});
  EXPECT_EQ(synced.exit_code, 0) << synced.err;
  EXPECT_EQ(synced.err, "");

  const Tree tree = read_chromium_file(program_.read("A"));
  EXPECT_EQ(to_text(tree, Siblings::kAsSet),
            to_text(parse_tree("toolbar(News(a b e) c) menu(g Deep(Deeper(h))) other(d) mobile(f)"), Siblings::kAsSet));
  EXPECT_EQ(to_text(read_chromium_file(program_.read("B"))), to_text(tree));
  EXPECT_EQ(to_text(read_html_file(program_.read("C.html"))), to_text(tree));
  expect_equal(program_, "A", "B");
  expect_equal(program_, "A", "C.html");
  expect_nothing_left_to_do(program_, {"A", "B", "C.html"});
}

TEST_F(Sync, EditsMovesAndDeletionsReachTheOtherStores) {
  Tree tree = parse_tree("toolbar(A(a b) c d)");
  program_.write("A", chromium_file(tree));
  program_.write("B.html", html_file({}));
  ASSERT_EQ(program_.run({"sync", "A", "B.html"}).exit_code, 0);

  tree = read_chromium_file(program_.read("A"));
  std::vector<Entry>& bar = tree.roots["toolbar"];
  bar[1].title = "see";
  bar.front().children.push_back(bar.back());
  bar.pop_back();
  bar.front().children.erase(bar.front().children.begin());
  program_.write("A", chromium_file(tree));
  EXPECT_EQ(program_.run({"sync", "A", "B.html"}).exit_code, 0);
  EXPECT_EQ(to_text(read_html_file(program_.read("B.html"))), to_text(parse_tree("toolbar(A(b d) see<c>)")));
  expect_equal(program_, "A", "B.html");
}

TEST_F(Sync, ALimitedSyncStopsAndTheNextOneGoesOn) {
  program_.write("A", chromium_file(parse_tree("toolbar(a)")));
  program_.write("B.html", html_file({}));
  ASSERT_EQ(program_.run({"sync", "A", "B.html"}).exit_code, 0);
  Tree tree = read_chromium_file(program_.read("A"));
  for (int number = 0; number < 60; ++number) {
    Entry entry;
    entry.title = "n" + std::to_string(number);
    entry.url = "https://" + entry.title + ".example/";
    tree.roots["toolbar"].push_back(entry);
  }
  program_.write("A", chromium_file(tree));
  int stopped = 0;
  std::size_t before = 1;
  while (stopped < 30) {
    const Outcome limited = program_.run({"sync", "A", "B.html", "--limit-bytes", "3000"});
    const std::size_t size = size_of(read_html_file(program_.read("B.html")));
    EXPECT_GE(size, before);
    before = size;
    if (limited.exit_code == 0) break;
    ASSERT_EQ(limited.exit_code, kWaiting) << limited.err;
    EXPECT_THAT(limited.out, HasSubstr("stopped at the limit: sync again to go on"));
    ++stopped;
  }
  EXPECT_GE(stopped, 3);
  EXPECT_LT(stopped, 30);
  EXPECT_EQ(before, 61U);
  expect_equal(program_, "A", "B.html");
  expect_nothing_left_to_do(program_, {"A", "B.html"});
}

std::uint64_t sum_of(const std::string& json, const std::string& to, const char* what) {
  rapidjson::Document document;
  if (document.Parse(json.data(), json.size()).HasParseError()) return 999'999;
  std::uint64_t sum = 0;
  for (const rapidjson::Value& session : document["sessions"].GetArray()) {
    if (to == session["to"].GetString()) sum += session[what].GetUint64();
  }
  return sum;
}

// The first store holds what matches. What leaves its filter goes there and nowhere else; a wider one brings what is newly
// visible and nothing else.
TEST_F(Sync, AFilteredStoreHoldsWhatMatches) {
  program_.write("laptop", chromium_file(parse_tree("toolbar(apple banana Food(apricot bread) cherry) other(avocado)")));
  program_.write("phone", chromium_file({}));
  const auto titles = [&] { return to_text(read_chromium_file(program_.read("phone")), Siblings::kAsSet); };
  const Outcome first =
      program_.run({"sync", "--json", "--filter", "title like :first", "--param", "first=a%", "phone", "laptop"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(sum_of(first.out, "phone", "received"), 3u) << first.out;
  // Without the folder that it stands in, an entry is shown where that folder is.
  EXPECT_EQ(titles(), to_text(parse_tree("toolbar(apple apricot) other(avocado)"), Siblings::kAsSet));
  EXPECT_EQ(program_.run({"verify", "phone", "laptop"}).exit_code, 0);
  const Outcome status = program_.run({"status", "phone"});
  EXPECT_THAT(status.out, HasSubstr("filter     title like :first (first = \"a%\")"));

  // That it is shown elsewhere is no move, and nothing is to be done.
  expect_nothing_left_to_do(program_, {"phone", "laptop"});

  Tree edited = read_chromium_file(program_.read("phone"));
  edited.roots["toolbar"].front().title = "plum";
  program_.write("phone", chromium_file(edited));
  const Outcome left = program_.run({"sync", "--json", "phone", "laptop"});
  EXPECT_EQ(left.exit_code, 0) << left.err;
  EXPECT_EQ(sum_of(left.out, "phone", "moved_out"), 1u) << left.out;
  EXPECT_EQ(sum_of(left.out, "laptop", "deleted"), 0u) << left.out;
  EXPECT_EQ(titles(), to_text(parse_tree("toolbar(apricot) other(avocado)"), Siblings::kAsSet));
  EXPECT_THAT(to_text(read_chromium_file(program_.read("laptop")), Siblings::kAsSet), HasSubstr("plum"));

  const Outcome wider =
      program_.run({"sync", "--json", "--filter", "title like :first or type = 'folder' or title = 'cherry'", "--param",
                    "first=a%", "phone", "laptop"});
  EXPECT_EQ(wider.exit_code, 0) << wider.err;
  EXPECT_EQ(sum_of(wider.out, "phone", "received"), 2u) << wider.out;
  EXPECT_EQ(titles(), to_text(parse_tree("toolbar(Food(apricot) cherry) other(avocado)"), Siblings::kAsSet));

  EXPECT_EQ(program_.run({"sync", "--filter", "", "phone", "laptop"}).exit_code, 0);
  expect_equal(program_, "phone", "laptop");
  EXPECT_EQ(to_text(read_chromium_file(program_.read("phone")), Siblings::kInOrder),
            to_text(read_chromium_file(program_.read("laptop")), Siblings::kInOrder));
  expect_nothing_left_to_do(program_, {"phone", "laptop"});
}

TEST_F(Sync, AFilterThatMeansNothingIsBadUsage) {
  program_.write("A", chromium_file(parse_tree("toolbar(a b)")));
  program_.write("B", chromium_file({}));
  const Outcome broken = program_.run({"sync", "--filter", "title >=", "A", "B"});
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_EQ(broken.err, "harmonica: filter, column 9: expected a field, a value or a parameter, found the end\n");
  EXPECT_THAT(program_.run({"sync", "--filter", "stars > 3", "A", "B"}).err,
              HasSubstr("column 1: no item has a field 'stars'"));
  EXPECT_EQ(program_.run({"sync", "--param", "n=3", "A", "B"}).exit_code, 2);
  EXPECT_EQ(read_chromium_file(program_.read("B")).roots.count("toolbar"), 0u);
}

TEST_F(Sync, ACopyOfTheFileIsKeptBeforeTheFirstWrite) {
  const std::string original = chromium_file(parse_tree("toolbar(a)"));
  program_.write("A", original);
  program_.write("B", chromium_file(parse_tree("toolbar(b)")));
  ASSERT_EQ(program_.run({"sync", "A", "B"}).exit_code, 0);
  std::size_t copies = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(program_.state())) {
    copies += entry.is_regular_file() && entry.path().filename().string().starts_with("A.") &&
              read_text(entry.path()) == original;
  }
  EXPECT_EQ(copies, 1U);
}

TEST_F(Sync, AConflictIsListedAndItsLoserRestored) {
  meet_in_a_conflict();
  EXPECT_EQ(read_chromium_file(program_.read("A")).roots["toolbar"].front().title, "title of B");

  for (const std::string store : {"A", "B"}) {
    EXPECT_THAT(program_.run({"conflicts", "list", store}).out, HasSubstr("kept \"title of B\", lost \"title of A\""))
        << store;
  }
  const std::string id = program_.run({"conflicts", "list", "A"}).out.substr(0, 12);
  EXPECT_EQ(program_.run({"conflicts", "restore", "A", id}).exit_code, 0);
  ASSERT_EQ(program_.run({"sync", "A", "B"}).exit_code, 0);
  EXPECT_EQ(read_chromium_file(program_.read("A")).roots["toolbar"].front().title, "title of A");
  EXPECT_EQ(read_chromium_file(program_.read("B")).roots["toolbar"].front().title, "title of A");
}

TEST_F(Sync, ADroppedConflictIsForgotten) {
  meet_in_a_conflict();
  const std::string id = program_.run({"conflicts", "list", "A"}).out.substr(0, 12);
  const std::string before = program_.read("A");
  const Outcome dropped = program_.run({"conflicts", "drop", "A", id});
  EXPECT_EQ(dropped.exit_code, 0) << dropped.err;
  EXPECT_THAT(dropped.out, HasSubstr("forgotten: title stays \"title of "));
  EXPECT_EQ(program_.run({"conflicts", "list", "A"}).out, "no conflicts\n");
  EXPECT_EQ(program_.run({"conflicts", "drop", "A", id}).exit_code, 1);
  EXPECT_EQ(program_.read("A"), before);
  expect_nothing_left_to_do(program_, {"A", "B"});
  EXPECT_EQ(program_.run({"conflicts", "list", "B"}).out, "no conflicts\n");
}

class WaitingConflict : public Sync {
 protected:
  // A and B have one entry, with a title each, and C.html is empty.
  WaitingConflict() {
    program_.write("A", chromium_file(parse_tree("toolbar(a b)")));
    program_.write("B", chromium_file({}));
    program_.write("C.html", html_file({}));
    EXPECT_EQ(program_.run({"sync", "A", "B"}).exit_code, 0);
    for (const std::string store : {"A", "B"}) {
      Tree tree = read_chromium_file(program_.read(store));
      tree.roots["toolbar"].front().title = "title of " + store;
      program_.write(store, chromium_file(tree));
    }
    EXPECT_EQ(program_.run({"sync", "--on-conflict", "manual", "A", "B"}).exit_code, kWaiting);
  }
};

TEST_F(WaitingConflict, IsToldAgainByALaterSync) {
  const Outcome synced = program_.run({"sync", "A", "C.html"});
  EXPECT_EQ(synced.exit_code, kWaiting);
  EXPECT_THAT(synced.out, HasSubstr("waiting: A: conflicts that wait for a decision: 1; see harmonica conflicts list A\n"));
  EXPECT_EQ(program_.run({"status", "A"}).exit_code, kWaiting);
}

TEST_F(WaitingConflict, CannotBeDropped) {
  const std::string id = program_.run({"conflicts", "list", "A"}).out.substr(0, 12);
  const Outcome dropped = program_.run({"conflicts", "drop", "A", id});
  EXPECT_EQ(dropped.exit_code, 1);
  EXPECT_THAT(dropped.err, HasSubstr("still waits for a decision"));
  EXPECT_EQ(program_.run({"status", "A"}).exit_code, kWaiting);
}

TEST_F(WaitingConflict, EndsOnBothSidesWhenOneDecides) {
  const Outcome synced = program_.run({"sync", "A", "B"});
  EXPECT_EQ(synced.exit_code, 0) << synced.out;
  EXPECT_EQ(program_.run({"status", "A"}).exit_code, 0);
  EXPECT_EQ(program_.run({"status", "B"}).exit_code, 0);
  expect_nothing_left_to_do(program_, {"A", "B"});
}

// Every file below a folder, by its path.
std::map<std::string, std::string> files_in(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    files[entry.path()] = entry.is_regular_file() ? read_text(entry.path()) : "";
  }
  return files;
}

class DryRun : public Sync {
 protected:
  DryRun() {
    program_.write("A", chromium_file(parse_tree("toolbar(News(a b) c)")));
    program_.write("B.html", html_file(parse_tree("toolbar(c d)")));
  }

  // A dry run and then the run itself: the one writes nothing at all, and says what the other one does.
  void expect_told_beforehand(const std::vector<std::string>& options, int exit_code) {
    std::vector<std::string> arguments = {"sync", "--json", "A", "B.html"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const std::string stores = std::filesystem::path(program_.path("A")).parent_path();
    const auto before = std::pair(files_in(stores), files_in(program_.state()));
    const TemporaryDirectory temporary;
    ASSERT_EQ(::setenv("TMPDIR", temporary.path().c_str(), 1), 0);
    arguments.emplace_back("--dry-run");
    const Outcome dry = program_.run(arguments);
    ASSERT_EQ(::unsetenv("TMPDIR"), 0);
    EXPECT_EQ(dry.exit_code, exit_code) << dry.err;
    EXPECT_EQ(std::pair(files_in(stores), files_in(program_.state())), before);
    EXPECT_EQ(files_in(temporary.path()).size(), 0U);
    arguments.pop_back();
    const Outcome done = program_.run(arguments);
    EXPECT_EQ(done.exit_code, exit_code) << done.err;
    EXPECT_EQ(exit_code == 0 ? replaced(dry.out, "\"dry_run\":true", "\"dry_run\":false") : dry.out, done.out);
    EXPECT_EQ(dry.err, done.err);
  }
};

TEST_F(DryRun, SaysWhatASyncDoesAndWritesNothing) {
  expect_told_beforehand({}, 0);
  Tree tree = read_chromium_file(program_.read("A"));
  tree.roots["toolbar"].front().title = "edited";
  tree.roots["toolbar"].pop_back();
  program_.write("A", chromium_file(tree));
  expect_told_beforehand({}, 0);
  EXPECT_THAT(program_.run({"sync", "--dry-run", "A", "B.html"}).out,
              HasSubstr("nothing was written: this was a dry run\n"));
}

TEST_F(DryRun, IsStoppedAndFailsAsTheSyncWouldBe) {
  ASSERT_EQ(program_.run({"sync", "A", "B.html"}).exit_code, 0);
  program_.write("A", chromium_file({}));
  expect_told_beforehand({}, 4);
  expect_told_beforehand({"--confirm"}, 0);
  program_.write("A", "{ \"roots\": ");
  expect_told_beforehand({}, 1);
  EXPECT_EQ(program_.run({"sync", "--dry-run", "A", "A"}).exit_code, 2);
  EXPECT_EQ(program_.run({"sync", "--dry-run", "A", "none"}).exit_code, 1);
}

// What the program knows of the stores is lost, after entries were edited that one store carries ids of and another does
// not.
class LostMetadata : public Sync {
 protected:
  LostMetadata() {
    program_.write("A", chromium_file(parse_tree("toolbar(News(a b b) c d) other(e F(f))")));
    program_.write("B", chromium_file(parse_tree("toolbar(x News(y))")));
    program_.write("C.html", html_file({}));
    EXPECT_EQ(program_.run({"sync", "A", "B", "C.html"}).exit_code, 0);
    Tree tree = read_chromium_file(program_.read("A"));
    std::vector<Entry>& bar = tree.roots["toolbar"];
    std::reverse(bar.begin(), bar.end());
    for (Entry& entry : bar) {
      entry.title += " edited";
      if (!entry.is_folder) continue;
      for (Entry& child : entry.children) child.title += " edited";
      tree.roots["other"].push_back(entry.children.back());
      entry.children.pop_back();
    }
    program_.write("A", chromium_file(tree));
    EXPECT_EQ(program_.run({"sync", "A", "B", "C.html"}).exit_code, 0);
  }

  void forget() const { std::filesystem::remove_all(program_.state()); }
  std::string shown(const std::string& store) const {
    const std::string text = program_.read(store);
    return to_text(text.starts_with("{") ? read_chromium_file(text) : read_html_file(text));
  }
};

TEST_F(LostMetadata, NothingIsDoubledWhoeverMeetsWhomFirst) {
  std::vector<std::string> stores = {"A", "B", "C.html"};
  const std::string before = shown("A");
  do {
    SCOPED_TRACE(stores[0] + " " + stores[1] + " " + stores[2]);
    forget();
    const Outcome synced = program_.run({"sync", stores[0], stores[1], stores[2]});
    EXPECT_EQ(synced.exit_code, 0) << synced.err;
    for (const std::string& store : stores) EXPECT_EQ(shown(store), before) << store;
    expect_equal(program_, "A", "B");
    expect_equal(program_, "A", "C.html");
    expect_nothing_left_to_do(program_, stores);
  } while (std::next_permutation(stores.begin(), stores.end()));
}

TEST_F(LostMetadata, WhatWasEditedSinceIsStillNotDoubled) {
  forget();
  Tree tree = read_chromium_file(program_.read("B"));
  tree.roots["toolbar"].pop_back();
  program_.write("B", chromium_file(tree));
  const std::string before = shown("A");
  EXPECT_EQ(program_.run({"sync", "B", "A"}).exit_code, 0);
  EXPECT_EQ(shown("A"), before);
  EXPECT_EQ(shown("B"), before);
}

TEST_F(LostMetadata, AnIdWhoseContentAnotherEntryHasNowIsNobodyElses) {
  Tree tree = read_chromium_file(program_.read("B"));
  Entry& folder = *std::ranges::find_if(tree.roots["other"], [](const Entry& entry) { return entry.is_folder; });
  const Entry original = folder.children.front();
  folder.children.front().title = "another";
  Entry again = original;
  again.id = 0;
  again.key = "6f3ff1a2-7f5b-4a51-9a6c-0d2cd8b9e111";
  folder.children.push_back(again);
  program_.write("B", chromium_file(tree));
  EXPECT_EQ(program_.run({"sync", "A", "B", "C.html"}).exit_code, 0);
  const std::string before = shown("A");
  for (const std::string first : {"A", "B", "C.html"}) {
    for (const std::string second : {"A", "B", "C.html"}) {
      if (first == second) continue;
      SCOPED_TRACE(first + " " + second);
      forget();
      EXPECT_EQ(program_.run({"sync", first, second}).exit_code, 0);
      EXPECT_EQ(shown(first), before);
      EXPECT_EQ(shown(second), before);
    }
  }
}

TEST_F(LostMetadata, AnUnchangedCopyThatJoinsChangesNothing) {
  for (const std::string store : {"A", "B", "C.html"}) {
    const std::string before = program_.read(store);
    for (const std::string& copy : {"1" + store, "2" + store}) {
      program_.write(copy, before);
      const bool copy_first = copy.front() == '2';
      const Outcome synced = program_.run({"sync", copy_first ? copy : store, copy_first ? store : copy});
      EXPECT_EQ(synced.exit_code, 0) << synced.err;
      EXPECT_EQ(program_.read(store), before);
      EXPECT_EQ(program_.read(copy), before);
      expect_equal(program_, store, copy);
    }
  }
}

TEST_F(LostMetadata, ACopyThatJoinsWithAnEntryOfItsOwnKeepsTheOrder) {
  Tree tree = read_chromium_file(program_.read("A"));
  Entry entry = parse_tree("toolbar(new)").roots["toolbar"].front();
  std::vector<Entry>& bar = tree.roots["toolbar"];
  bar.insert(bar.begin() + 1, entry);
  program_.write("D", chromium_file(tree));
  const std::string expected = shown("D");
  EXPECT_EQ(program_.run({"sync", "A", "D"}).exit_code, 0);
  EXPECT_EQ(shown("A"), expected);
  EXPECT_EQ(shown("D"), expected);
}

// A file of Chromium as a whole: only what had to change is different afterwards.

constexpr const char* kRichFile = R"({
   "checksum": "f6d0d3d6f0e4a3c0d4d0a0c9f0f0f0f0",
   "roots": {
      "bookmark_bar": {
         "children": [ {
            "date_added": "13300000000000000",
            "date_last_used": "13300000500000000",
            "guid": "6f3ff1a2-7f5b-4a51-9a6c-0d2cd8b9e111",
            "id": "17",
            "meta_info": {
               "power_bookmark_meta": "kept",
               "x": "1"
            },
            "name": "Grüße & more \u003C3",
            "some_new_key": [ 1, 2.50, {
               "deep": null
            } ],
            "type": "url",
            "url": "https://one.example/?q=%C3%BC"
         }, {
            "children": [ {
               "date_added": "13300000000000001",
               "date_last_used": "0",
               "guid": "6f3ff1a2-7f5b-4a51-9a6c-0d2cd8b9e222",
               "id": "19",
               "name": "日本 🎵",
               "type": "url",
               "url": "https://two.example/"
            } ],
            "date_added": "13300000000000002",
            "date_last_used": "0",
            "date_modified": "13300000000000003",
            "guid": "6f3ff1a2-7f5b-4a51-9a6c-0d2cd8b9e333",
            "id": "18",
            "name": "Folder",
            "type": "folder"
         } ],
         "date_added": "13300000000000000",
         "date_last_used": "0",
         "date_modified": "13300000000000000",
         "guid": "0bc5d13f-2cba-5d74-951f-3f233fe6c908",
         "id": "1",
         "name": "Lesezeichenleiste",
         "type": "folder"
      },
      "other": {
         "children": [  ],
         "date_added": "13300000000000000",
         "date_last_used": "0",
         "date_modified": "0",
         "guid": "82b081ec-3dd3-529c-8475-ab6c344590dd",
         "id": "2",
         "name": "Weitere",
         "type": "folder"
      },
      "synced": {
         "children": [  ],
         "date_added": "13300000000000000",
         "date_last_used": "0",
         "date_modified": "0",
         "guid": "4cf2e351-0e85-532b-bb37-df045d8f8d0f",
         "id": "3",
         "name": "Mobil",
         "type": "folder"
      }
   },
   "sync_metadata": "CgQIARAB",
   "version": 1
}
)";

TEST_F(Sync, UntouchedEntriesOfAChromiumFileStayAsTheyWere) {
  program_.write("A", kRichFile);
  program_.write("B", chromium_file(parse_tree("other(new)")));
  ASSERT_EQ(program_.run({"sync", "A", "B"}).exit_code, 0);
  const std::string after = program_.read("A");

  const std::string before = kRichFile;
  const std::size_t bar_begin = before.find("\"bookmark_bar\"");
  const std::size_t bar_end = before.find("\"other\"");
  EXPECT_THAT(after, HasSubstr(before.substr(bar_begin, bar_end - bar_begin)));
  EXPECT_THAT(after, HasSubstr("\"sync_metadata\": \"CgQIARAB\""));
  EXPECT_THAT(after, HasSubstr("\"name\": \"Weitere\""));

  const Tree tree = read_chromium_file(after);
  EXPECT_EQ(tree.damage, "");
  ASSERT_EQ(tree.roots.at("other").size(), 1U);
  EXPECT_EQ(tree.roots.at("other").front().title, "new");
  EXPECT_EQ(tree.roots.at("toolbar").front().id, 17);
  EXPECT_EQ(tree.roots.at("toolbar").front().key, "6f3ff1a2-7f5b-4a51-9a6c-0d2cd8b9e111");
}

TEST_F(Sync, ChecksumIsTheOneThatChromiumComputes) {
  program_.write("A", kRichFile);
  program_.write("B", chromium_file(parse_tree("other(new)")));
  ASSERT_EQ(program_.run({"sync", "A", "B"}).exit_code, 0);
  const std::string after = program_.read("A");
  EXPECT_THAT(after, HasSubstr("\"checksum\": \"" + md5sum(program_, chromium_checksum_input(after)) + "\""));
  EXPECT_THAT(after, ::testing::Not(HasSubstr("checksum_sha256")));
}

TEST_F(Sync, AChangedTitleLeavesTheRestOfTheFile) {
  program_.write("A", kRichFile);
  program_.write("B", chromium_file({}));
  ASSERT_EQ(program_.run({"sync", "A", "B"}).exit_code, 0);
  EXPECT_EQ(program_.read("A"), kRichFile);
  program_.write("B", replaced(program_.read("B"), "\"name\": \"Folder\"", "\"name\": \"Changed\""));
  ASSERT_EQ(program_.run({"sync", "A", "B"}).exit_code, 0);

  std::string expected = replaced(kRichFile, "\"name\": \"Folder\"", "\"name\": \"Changed\"");
  expected = replaced(expected, "f6d0d3d6f0e4a3c0d4d0a0c9f0f0f0f0", chromium_checksum(expected));
  EXPECT_EQ(program_.read("A"), expected);
}

}  // namespace
}  // namespace harmonica::testing
