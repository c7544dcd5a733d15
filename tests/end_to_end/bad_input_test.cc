// Stores that are damaged, missing or refused by the system: one clear line, the right exit code, and no store half
// written.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "end_to_end/favorites_files.h"
#include "end_to_end/program.h"

namespace harmonica::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kWaiting = 3;
constexpr int kGuard = 4;

// What is one line and begins as all errors do.
void expect_one_line(const std::string& err) {
  EXPECT_THAT(err, StartsWith("harmonica: "));
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
}

// A is a good store; B is the one that something happens to.
struct TwoStores {
  static constexpr std::string_view kMine = "toolbar(a b) other(c)";
  static constexpr std::string_view kTheirs = "toolbar(a d)";

  TwoStores() {
    program.write("A", chromium_file(parse_tree(kMine)));
    program.write("B", chromium_file(parse_tree(kTheirs)));
    mine = program.read("A");
  }

  void sync() {
    ASSERT_EQ(program.run({"sync", "A", "B"}).exit_code, kDone);
    mine = program.read("A");
  }

  // And nothing has happened to A.
  void expect_failed(const Outcome& outcome, const std::string& reason) const {
    EXPECT_EQ(outcome.exit_code, kFailed) << outcome.out;
    expect_one_line(outcome.err);
    EXPECT_THAT(outcome.err, HasSubstr(reason));
    EXPECT_EQ(program.read("A"), mine);
  }

  Program program;
  std::string mine;  // what A holds
};

class BadInput : public ::testing::Test, public TwoStores {};

// B holds `text`, at first contact and after a sync: it is refused by its name, and both stay as they were.
void expect_refused(const std::string& text, const std::string& reason) {
  for (const bool is_known : {false, true}) {
    SCOPED_TRACE(is_known ? "after a sync" : "at first contact");
    TwoStores stores;
    if (is_known) stores.sync();
    stores.program.write("B", text);
    const Outcome outcome = stores.program.run({"sync", "A", "B"});
    stores.expect_failed(outcome, reason);
    EXPECT_THAT(outcome.err, HasSubstr(stores.program.path("B")));
    EXPECT_EQ(stores.program.read("B"), text);
  }
}

std::string good_text() { return chromium_file(parse_tree("toolbar(a b F(c d) e) other(f)")); }

TEST_F(BadInput, TruncatedFile) {
  for (const std::size_t part : {10U, 50U, 90U, 99U}) {
    const std::string whole = good_text();
    expect_refused(whole.substr(0, whole.size() * part / 100), "is damaged at byte");
  }
}

TEST_F(BadInput, TruncatedHtmlFile) {
  const std::string whole = html_file(parse_tree("toolbar(a b F(c d) e) other(f)"));
  expect_refused(whole.substr(0, whole.size() / 2), "is cut off");
}

TEST_F(BadInput, EmptyFile) { expect_refused("", "is empty"); }

TEST_F(BadInput, HalfWrittenFile) {
  std::string text = good_text();
  std::fill(text.begin() + static_cast<std::ptrdiff_t>(text.size() / 2), text.end(), '\0');
  expect_refused(text, "is damaged at byte");
  expect_refused(std::string(4096, '\0'), "nothing but blanks");
}

TEST_F(BadInput, NoJson) {
  expect_refused("Dear diary,\n", "is no favorites file");
  expect_refused("{ \"roots\": yes }", "is damaged at byte");
  expect_refused("[]", "is no favorites file");
}

TEST_F(BadInput, OtherJson) { expect_refused("{ \"name\": 1 }", "has no bookmark roots"); }

TEST_F(BadInput, FoldersNested200LevelsDeep) {
  Tree tree;
  std::vector<Entry>* entries = &tree.roots["toolbar"];
  for (int level = 0; level < 200; ++level) {
    Entry folder;
    folder.title = "folder";
    folder.is_folder = true;
    entries->push_back(folder);
    entries = &entries->back().children;
  }
  expect_refused(chromium_file(tree), "folders inside each other");
}

TEST_F(BadInput, JsonNestedAMillionLevelsDeep) { expect_refused("{ \"roots\": " + std::string(1'000'000, '['), "B: "); }

TEST_F(BadInput, FileOf100Megabytes) {
  sync();
  std::filesystem::resize_file(program.path("B"), 100 * 1024 * 1024);
  expect_failed(program.run({"sync", "A", "B"}), "has 104857600 bytes, more than the");
}

TEST_F(BadInput, FilesThatABrowserShowsAsEmpty) {
  const auto replaced = [](const std::string& part, const std::string& by) {
    std::string text = good_text();
    return text.replace(text.find(part), part.size(), by);
  };
  expect_refused(replaced("\"version\": 1", "\"version\": 2"), "has the version 2, not 1");
  expect_refused(replaced("\"synced\"", "\"sunk\""), "has no whole root \"synced\"");
}

TEST_F(BadInput, MissingStore) {
  std::filesystem::remove(program.path("B"));
  expect_failed(program.run({"sync", "A", "B"}), "no such file");
}

TEST_F(BadInput, StoreThatIsMissingAfterASyncDeletesNothing) {
  sync();
  std::filesystem::remove(program.path("B"));
  expect_failed(program.run({"sync", "A", "B"}), "no such file");
  EXPECT_FALSE(std::filesystem::exists(program.path("B")));
}

TEST_F(BadInput, AllEntriesGoneStopsTheGuardUntilItIsConfirmed) {
  for (const std::string& empty : {chromium_file({}), html_file({})}) {
    TwoStores fresh;
    fresh.sync();
    fresh.program.write("B", empty);
    const Outcome stopped = fresh.program.run({"sync", "A", "B"});
    EXPECT_EQ(stopped.exit_code, kGuard);
    expect_one_line(stopped.err);
    EXPECT_THAT(stopped.err, HasSubstr("--confirm"));
    EXPECT_EQ(fresh.program.read("A"), fresh.mine);
    EXPECT_EQ(fresh.program.read("B"), empty);

    EXPECT_EQ(fresh.program.run({"sync", "--confirm", "A", "B"}).exit_code, kDone);
    EXPECT_EQ(to_text(read_chromium_file(fresh.program.read("A"))), "");
  }
}

TEST_F(BadInput, WhatOnlyReadsIsNotStoppedByTheGuard) {
  sync();
  const std::string before = program.run({"show", "B"}).out;
  program.write("B", chromium_file({}));
  const Outcome status = program.run({"status", "B"});
  EXPECT_EQ(status.exit_code, kWaiting) << status.err;
  EXPECT_THAT(status.out, HasSubstr("guard      stops the next sync: 4 of 4 items are gone"));
  EXPECT_THAT(status.out, HasSubstr("harmonica sync --confirm"));
  EXPECT_THAT(program.run({"status", "--json", "B"}).out, HasSubstr("\"guard\":\"4 of 4 items are gone"));
  const Outcome shown = program.run({"show", "B"});
  EXPECT_EQ(shown.exit_code, kDone) << shown.err;
  EXPECT_THAT(shown.out, StartsWith("as it was last synced: 4 of 4 items are gone"));
  EXPECT_THAT(shown.out, EndsWith(before));
  EXPECT_EQ(program.run({"sync", "A", "B"}).exit_code, kGuard);
}

TEST_F(BadInput, MostEntriesGoneStopsTheGuard) {
  Tree tree;
  for (int i = 0; i < 50; ++i) {
    const std::string name = "b" + std::to_string(i);
    tree.roots["other"].push_back(parse_tree("other(" + name + ")").roots["other"].front());
  }
  program.write("B", chromium_file(tree));
  sync();
  tree = read_chromium_file(program.read("B"));
  tree.roots["other"].resize(10);
  program.write("B", chromium_file(tree));
  const Outcome stopped = program.run({"sync", "A", "B"});
  EXPECT_EQ(stopped.exit_code, kGuard);
  expect_one_line(stopped.err);
  EXPECT_EQ(program.read("A"), mine);
}

TEST_F(BadInput, DirectoryWhereAFileIsExpected) {
  sync();
  std::filesystem::remove(program.path("B"));
  std::filesystem::create_directory(program.path("B"));
  expect_failed(program.run({"sync", "A", "B"}), "is a directory");
}

TEST_F(BadInput, FileThatMustNotBeRead) {
  std::filesystem::permissions(program.path("B"), std::filesystem::perms::none);
  expect_failed(program.run({"sync", "A", "B"}, Handicap::kNotRoot), program.path("B"));
}

TEST_F(BadInput, FileThatMustNotBeWritten) {
  const std::string folder = program.path("locked");
  std::filesystem::create_directory(folder);
  const std::string theirs = program.read("B");
  program.write("locked/B", theirs);
  std::filesystem::permissions(folder, static_cast<std::filesystem::perms>(0555));
  // A may be written, and is written whole or not at all.
  const Outcome outcome = program.run({"sync", "--direction", "from-first", "A", "locked/B"}, Handicap::kNotRoot);
  expect_failed(outcome, folder);
  EXPECT_EQ(program.read("locked/B"), theirs);
}

// A file system of its own with this many bytes, and what a sync on it does.
TEST_F(BadInput, FullDisk) {
  const std::string disk = program.path("disk");
  std::filesystem::create_directory(disk);
  const bool mounts = ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                      ::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=16k") == 0;
  const std::string theirs = chromium_file(parse_tree(kTheirs));
  program.write("disk/B", theirs);
  if (mounts) program.write("disk/filler", std::string(4096, 'x') + std::string(8192 - theirs.size() % 4096, 'x'));
  const Outcome outcome =
      program.run({"sync", "--direction", "from-first", "A", "disk/B"}, mounts ? Handicap::kNone : Handicap::kSmallFiles);
  expect_failed(outcome, "disk/B");
  EXPECT_EQ(program.read("disk/B"), theirs);
  if (!mounts) return;
  EXPECT_EQ(std::filesystem::exists(disk + "/filler"), true);
  std::filesystem::remove(disk + "/filler");
  // With room again the sync goes on.
  EXPECT_EQ(program.run({"sync", "A", "disk/B"}).exit_code, kDone);
  EXPECT_EQ(program.run({"verify", "A", "disk/B"}).exit_code, kDone);
  ::umount(disk.c_str());
}

TEST_F(BadInput, FullDiskWhereTheStateIs) {
  const std::string theirs = program.read("B");
  const Outcome outcome = program.run({"sync", "A", "B"}, Handicap::kSmallFiles);
  EXPECT_EQ(outcome.exit_code, kFailed);
  expect_one_line(outcome.err);
  EXPECT_EQ(program.read("A"), mine);
  EXPECT_EQ(program.read("B"), theirs);
  EXPECT_EQ(program.run({"sync", "A", "B"}).exit_code, kDone);
}

// What is read all the same.

TEST_F(BadInput, WrongOrMissingChecksumIsMendedByTheNextWrite) {
  const std::string good = program.read("B");
  const std::size_t at = good.find("\"checksum\"");
  const std::size_t end = good.find(',', at);
  for (const std::string checksum : {"\"checksum\": \"00000000000000000000000000000000\", ", "\"checksum\": \"\", ", ""}) {
    TwoStores fresh;
    std::string text = good;
    text.replace(at, end + 2 - at, checksum);
    fresh.program.write("B", text);
    const Outcome outcome = fresh.program.run({"sync", "--log-level", "warning", "A", "B"});
    EXPECT_EQ(outcome.exit_code, kDone) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("warning: B: "));
    EXPECT_THAT(outcome.err, HasSubstr("checksum"));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("damaged: B: "));
    const Tree tree = read_chromium_file(fresh.program.read("B"));
    EXPECT_EQ(tree.damage, "");
    EXPECT_EQ(to_text(tree), to_text(read_chromium_file(fresh.program.read("A"))));
  }
}

TEST_F(BadInput, OnlyTheSecondEntryOfOneIdOrGuidGetsANewOne) {
  Tree tree = parse_tree("toolbar(one two three)");
  std::vector<Entry>& bar = tree.roots["toolbar"];
  for (std::size_t i = 0; i < bar.size(); ++i) {
    bar[i].id = 20 + static_cast<std::int64_t>(i);
    bar[i].key = chromium_key(bar[i].title);
  }
  bar[1].id = bar[0].id;
  bar[2].key = bar[0].key;
  program.write("B", chromium_file(tree));
  EXPECT_EQ(program.run({"sync", "A", "B"}).exit_code, kDone);

  const Tree after = read_chromium_file(program.read("B"));
  EXPECT_EQ(after.damage, "");
  std::map<std::string, Entry> entries;
  for (const Entry& entry : after.roots.at("toolbar")) entries[entry.title] = entry;
  EXPECT_EQ(entries["one"].id, 20);
  EXPECT_EQ(entries["one"].key, chromium_key("one"));
  EXPECT_NE(entries["two"].id, 20);
  EXPECT_EQ(entries["two"].key, chromium_key("two"));
  EXPECT_EQ(entries["three"].id, 22);
  EXPECT_NE(entries["three"].key, chromium_key("one"));
  EXPECT_EQ(to_text(after), to_text(read_chromium_file(program.read("A"))));
}

TEST_F(BadInput, OneBadEntryIsNamedAndTheRestSyncs) {
  program.write("B", chromium_file(parse_tree("toolbar(good damaged<:> fine)")));
  const Outcome outcome = program.run({"sync", "A", "B"});
  EXPECT_EQ(outcome.exit_code, kDone) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("left alone: B: entry \"damaged\""));
  const std::multiset<std::string> titles = titles_of(read_chromium_file(program.read("A")));
  EXPECT_EQ(titles.count("good") + titles.count("fine"), 2U);
  EXPECT_EQ(titles.count("damaged"), 0U);
  EXPECT_EQ(titles_of(read_chromium_file(program.read("B"))).count("damaged"), 1U);
}

TEST_F(BadInput, AnEntryThatTurnsBadIsNotTakenForRemoved) {
  sync();
  std::string text = program.read("B");
  const std::string url = "https://d.example/";
  program.write("B", text.replace(text.find(url), url.size(), ":"));
  const Outcome outcome = program.run({"sync", "A", "B"});
  EXPECT_EQ(outcome.exit_code, kDone) << outcome.err;
  EXPECT_EQ(program.read("A"), mine);
}

TEST_F(BadInput, WhatIsWrongIsNamedInWords) {
  EXPECT_THAT(program.run({"frobnicate"}).err, HasSubstr("there is no command 'frobnicate'"));
  EXPECT_THAT(program.run({"conflicts", "frobnicate", "A"}).err, HasSubstr("there is no command 'frobnicate'"));
  EXPECT_THAT(program.run({"sync", "A", "B", "--direction", "sideways"}).err,
              HasSubstr("--direction: sideways not in {both,to-first,from-first}"));
  const std::string help = program.run({"sync", "--help"}).out;
  EXPECT_THAT(help, HasSubstr("STORE..."));
  EXPECT_THAT(help, HasSubstr("--direction WORD:{both,to-first,from-first}"));
  EXPECT_THAT(help, HasSubstr("--on-conflict WORD:{schema,manual,latest,source-wins,destination-wins}"));
}

TEST_F(BadInput, DamagedMetadataIsThatOfAStore) {
  sync();
  for (const auto& entry : std::filesystem::directory_iterator(program.state() + "/harmonica/replicas")) {
    std::filesystem::resize_file(entry.path(), 1000);
  }
  expect_failed(program.run({"sync", "A", "B"}), "harmonica: A: what is known of it: ");
}

// Deeper than Chromium can read: the entry waits, and is called by its title.
TEST_F(BadInput, AnEntryThatCannotBeWrittenIsNamedByItsPath) {
  std::string text = "deep";
  for (int level = 110; level > 0; --level) text = "F" + std::to_string(level) + "(" + text + ")";
  program.write("C.html", html_file(parse_tree("other(" + text + ")")));
  const Outcome outcome = program.run({"sync", "A", "C.html"});
  EXPECT_EQ(outcome.exit_code, kWaiting) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("waiting: A: \".../F108/F109/F110/deep\": "));
  EXPECT_THAT(outcome.out, Not(HasSubstr("item ")));
}

TEST_F(BadInput, WrongUsage) {
  const std::vector<std::vector<std::string>> wrong = {{},
                                                       {"frobnicate"},
                                                       {"sync"},
                                                       {"sync", "A"},
                                                       {"sync", "A", "A"},
                                                       {"sync", "A", "B", "--direction", "sideways"},
                                                       {"sync", "A", "B", "--no-such-option"},
                                                       {"conflicts"},
                                                       {"verify", "A"}};
  for (const std::vector<std::string>& arguments : wrong) {
    const Outcome outcome = program.run(arguments);
    EXPECT_EQ(outcome.exit_code, kUsage) << ::testing::PrintToString(arguments);
    expect_one_line(outcome.err);
  }
}

TEST_F(BadInput, OneFileUnderTwoNamesIsRefused) {
  std::filesystem::create_hard_link(program.path("A"), program.path("hard"));
  std::filesystem::create_symlink(program.path("A"), program.path("soft"));
  for (const std::string name : {"hard", "soft"}) {
    for (const std::string command : {"sync", "verify"}) {
      const Outcome outcome = program.run({command, "A", name});
      EXPECT_EQ(outcome.exit_code, kUsage) << outcome.out;
      expect_one_line(outcome.err);
      EXPECT_THAT(outcome.err, HasSubstr("A and " + name + " are the same file"));
    }
  }
}

// The code in the one JSON document that stands on stdout.
std::string error_code(const Outcome& outcome) {
  expect_one_line(outcome.err);
  rapidjson::Document document;
  if (document.Parse<rapidjson::kParseValidateEncodingFlag>(outcome.out.data(), outcome.out.size()).HasParseError()) {
    return "no JSON: " + outcome.out;
  }
  const std::string message = document["error"]["message"].GetString();
  EXPECT_FALSE(message.empty());
  return document["error"]["code"].GetString();
}

TEST_F(BadInput, ErrorsAreJsonToo) {
  EXPECT_EQ(error_code(program.run({"status", "--json", "none"})), "not_found");
  EXPECT_EQ(error_code(program.run({"sync", "--json", "A", "A"})), "usage");
  EXPECT_EQ(error_code(program.run({"sync", "--json"})), "usage");
  EXPECT_EQ(error_code(program.run({"frobnicate", "--json"})), "usage");
  EXPECT_EQ(error_code(program.run({"conflicts", "show", "--json", "A", "1234"})), "not_found");
  sync();
  program.write("B", chromium_file({}));
  EXPECT_EQ(error_code(program.run({"sync", "--json", "A", "B"})), "guard");
}

TEST_F(BadInput, JsonIsUtf8WhateverThePath) {
  const std::string name = "B\xFF";
  program.write(name, program.read("B"));
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"sync", "--json", "A", name}, {"status", "--json", name}}) {
    const Outcome outcome = program.run(arguments);
    EXPECT_EQ(outcome.exit_code, kDone) << outcome.err;
    rapidjson::Document document;
    EXPECT_FALSE(document.Parse<rapidjson::kParseValidateEncodingFlag>(outcome.out.c_str()).HasParseError()) << outcome.out;
  }
  std::filesystem::remove(program.path(name));
  EXPECT_EQ(error_code(program.run({"status", "--json", name})), "not_found");
}

}  // namespace
}  // namespace harmonica::testing
