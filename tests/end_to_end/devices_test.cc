// Who is in a scope, who has left it, and how a store leaves it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include "end_to_end/favorites_files.h"
#include "end_to_end/program.h"

namespace harmonica::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Devices : public ::testing::Test {
 protected:
  Devices() {
    program_.write("A", chromium_file(parse_tree("toolbar(a b)")));
    program_.write("B", chromium_file(parse_tree("toolbar(a c)")));
    EXPECT_EQ(program_.run({"sync", "A", "B"}).exit_code, 0);
  }

  // Of the device of that index in the list of a store; 0 is the store itself.
  std::string member(const std::string& store, rapidjson::SizeType index, const char* name) {
    const Outcome listed = program_.run({"devices", "list", store, "--json"});
    EXPECT_EQ(listed.exit_code, 0) << listed.err;
    rapidjson::Document document;
    document.Parse(listed.out.data(), listed.out.size());
    const rapidjson::Value& value = document["devices"][index][name];
    return value.IsString() ? value.GetString() : value.IsTrue() ? "true" : "false";
  }

  Program program_;
};

TEST_F(Devices, AreListedByName) {
  const Outcome listed = program_.run({"devices", "list", "A"});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("/A  this one, last change "));
  EXPECT_THAT(listed.out, HasSubstr("/B  last met "));
  EXPECT_EQ(member("A", 0, "self"), "true");
  EXPECT_EQ(member("A", 1, "id"), member("B", 0, "id"));
}

TEST_F(Devices, ThatAreRetiredAndComeBackAreNewOnes) {
  const std::string former = member("B", 0, "id");
  const Outcome retired = program_.run({"devices", "retire", "A", former.substr(0, 10)});
  EXPECT_EQ(retired.exit_code, 0) << retired.err;
  EXPECT_THAT(retired.out, HasSubstr("/B  retired"));
  Tree tree = read_chromium_file(program_.read("B"));
  tree.roots["toolbar"].front().title = "edited on B";
  program_.write("B", chromium_file(tree));
  EXPECT_EQ(program_.run({"sync", "A", "B"}).exit_code, 0);
  EXPECT_NE(member("B", 0, "id"), former);
  EXPECT_THAT(program_.read("A"), HasSubstr("edited on B"));
  EXPECT_THAT(program_.run({"status", "B"}).out, HasSubstr("was " + former + " until it was retired and came back"));
  EXPECT_EQ(program_.run({"verify", "A", "B"}).exit_code, 0);
}

TEST_F(Devices, RetiringRefusesItselfStrangersAndHalfAnswers) {
  const Outcome self = program_.run({"devices", "retire", "A", member("A", 0, "id")});
  EXPECT_EQ(self.exit_code, 1);
  EXPECT_THAT(self.err, HasSubstr("is this one: retire it from another device"));
  const Outcome stranger = program_.run({"devices", "retire", "A", std::string(32, 'z')});
  EXPECT_EQ(stranger.exit_code, 1);
  EXPECT_THAT(stranger.err, HasSubstr("not listed for A"));
  const Outcome empty = program_.run({"devices", "retire", "A", ""});
  EXPECT_NE(empty.exit_code, 0);
}

TEST_F(Devices, AStoreThatLeavesKeepsItsDataAndMayJoinAgain) {
  const std::string before = program_.read("B");
  const Outcome unlinked = program_.run({"unlink", "B"});
  EXPECT_EQ(unlinked.exit_code, 0) << unlinked.err;
  EXPECT_EQ(program_.read("B"), before);
  EXPECT_THAT(program_.run({"status", "B"}).out, HasSubstr("scope      none yet"));
  EXPECT_EQ(program_.run({"sync", "A", "B"}).exit_code, 0);
  EXPECT_EQ(program_.read("B"), before);
  EXPECT_EQ(program_.run({"verify", "A", "B"}).exit_code, 0);
}

TEST_F(Devices, WhatIsInNoScopeCannotLeaveIt) {
  program_.write("C", chromium_file(parse_tree("toolbar(a)")));
  const Outcome outcome = program_.run({"unlink", "C"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("is in no scope"));
  const Outcome records = program_.run({"unlink", "records:R"});
  EXPECT_EQ(records.exit_code, 1);
  EXPECT_THAT(records.err, HasSubstr("remove the file"));
}

}  // namespace
}  // namespace harmonica::testing
