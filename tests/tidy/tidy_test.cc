// Runs the checks over the project itself, and each over a small tree that breaks its rule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "tidy/house_check.h"
#include "tidy/include_check.h"
#include "tidy/source_tree.h"

namespace harmonica::tidy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const SourceTree& project() {
  static const SourceTree tree = read_source_tree(HARMONICA_SOURCE_DIR);
  return tree;
}

std::string joined(const std::vector<std::string>& findings) {
  std::string text;
  for (const std::string& finding : findings) text += finding + "\n";
  return text;
}

IncludeTable project_table() { return parse_include_table(project().at("tests/tidy/include_table.txt")); }

TEST(Project, IsReadWhole) {
  EXPECT_TRUE(project().contains("core/include/harmonica/harmonica.h"));
  EXPECT_TRUE(project().contains("README.md"));
}
TEST(Project, IncludesFollowTheTable) { EXPECT_EQ(joined(check_includes(project(), project_table())), ""); }
TEST(Project, NamesSaySomething) { EXPECT_EQ(joined(check_names(project())), ""); }
TEST(Project, NothingIsLeftForLater) { EXPECT_EQ(joined(check_leftovers(project())), ""); }
TEST(Project, ComponentsHaveOneShape) { EXPECT_EQ(joined(check_components(project())), ""); }
TEST(Project, LinksLeadSomewhere) { EXPECT_EQ(joined(check_links(project())), ""); }
TEST(Project, SnippetsStandInTheirSources) { EXPECT_EQ(joined(check_snippets(project())), ""); }
TEST(Project, TestsHaveTimeLimits) { EXPECT_EQ(joined(check_time_limits(project())), ""); }
TEST(Project, GlossaryHoldsEveryPublicType) { EXPECT_EQ(joined(check_glossary(project())), ""); }
TEST(Project, LargeFilesAreListed) {
  for (const std::string& file : list_large_files(project())) std::cout << "large: " << file << "\n";
}

SourceTree small_tree(const std::string& path, const std::string& content) {
  return {{"core/include/harmonica/item.h", ""},
          {"core/src/kernel/views.h", ""},
          {"core/src/wire/message.proto", ""},
          {"providers/files/include/harmonica/providers/files.h", ""},
          {"providers/metadata/include/harmonica/providers/metadata.h", ""},
          {path, content}};
}

std::vector<std::string> include_findings(const std::string& path, const std::string& content) {
  return check_includes(small_tree(path, content), project_table());
}

TEST(IncludeCheck, ModelMayNotSeeTheKernel) {
  EXPECT_THAT(include_findings("core/src/model/item.cc", "\n#include \"kernel/views.h\"\n"),
              ElementsAre("core/src/model/item.cc:2: core/src/model may not include core/src/kernel/views.h"));
}

TEST(IncludeCheck, KernelMayNotSeeTheWire) {
  EXPECT_THAT(include_findings("core/src/kernel/a.cc", "#include \"wire/message.pb.h\""),
              ElementsAre(HasSubstr("message.proto")));
  EXPECT_THAT(include_findings("core/src/wire/a.cc", "#include \"message.pb.h\"\n#include <google/protobuf/arena.h>"),
              IsEmpty());
}

TEST(IncludeCheck, CoreStaysPure) {
  EXPECT_THAT(include_findings("core/src/kernel/a.cc", "#include <vector>\n#include <thread>\n#include <unistd.h>"),
              ElementsAre(HasSubstr("a.cc:2:"), HasSubstr("a.cc:3:")));
  EXPECT_THAT(include_findings("core/include/harmonica/a.h", "#include <google/protobuf/arena.h>"),
              ElementsAre(HasSubstr("a.h:1:")));
}

TEST(IncludeCheck, ProvidersSeeTheMetadataHeaderButNotEachOther) {
  EXPECT_THAT(
      include_findings("providers/tables/src/a.cc", "#include \"harmonica/providers/metadata.h\"\n#include <sqlite3.h>"),
      IsEmpty());
  EXPECT_THAT(include_findings("providers/tables/src/a.cc", "#include \"harmonica/providers/files.h\""),
              ElementsAre(HasSubstr("may not include providers/files/include")));
  EXPECT_THAT(include_findings("providers/files/src/a.cc", "#include \"../../../core/src/kernel/views.h\""),
              ElementsAre(HasSubstr("may not include core/src/kernel/views.h")));
}

TEST(IncludeCheck, AppsSeePublicHeadersOnly) {
  EXPECT_THAT(include_findings("cli/main.cc", "#include \"harmonica/item.h\"\n#include \"harmonica/providers/files.h\""),
              IsEmpty());
  EXPECT_THAT(include_findings("cli/main.cc", "#include \"../core/src/kernel/views.h\""),
              ElementsAre(HasSubstr("cli may not")));
}

TEST(IncludeCheck, UnknownHeadersAndFoldersAreNamed) {
  EXPECT_THAT(include_findings("cli/main.cc", "#include \"nowhere.h\""),
              ElementsAre("cli/main.cc:1: no file \"nowhere.h\""));
  EXPECT_THAT(include_findings("attic/main.cc", ""), ElementsAre(HasSubstr("attic/main.cc: no line")));
}

TEST(NameCheck, FindsNamesThatSayNothing) {
  const std::string word = std::string("Man") + "ager";
  EXPECT_THAT(check_names({{"core/util/a.h", ""}}), ElementsAre(HasSubstr("core/util:")));
  EXPECT_THAT(check_names({{"core/string_helpers.h", ""}}), ElementsAre(HasSubstr("string_helpers.h")));
  EXPECT_THAT(check_names({{"core/a.h", "class Sync" + word + " {"}}), ElementsAre(HasSubstr("core/a.h:1: the type")));
  EXPECT_THAT(check_names({{"core/a.h", "struct Implication {\nclass Utilization;"}}), IsEmpty());
}

TEST(LeftoverCheck, FindsWhatWasLeftForLater) {
  const std::string later = std::string("// TO") + "DO later\n";
  EXPECT_THAT(check_leftovers({{"core/a.cc", "\n" + later}}), ElementsAre(HasSubstr("core/a.cc:2:")));
  EXPECT_THAT(check_leftovers({{"tests/a.cc", std::string("GTEST") + "_SKIP();"}}), ElementsAre(HasSubstr("does not run")));
}

TEST(LeftoverCheck, FindsPathsOfOneMachineAndNetworkAddresses) {
  EXPECT_THAT(check_leftovers({{"docs/a.md", std::string("see /wo") + "rk/notes"}}),
              ElementsAre(HasSubstr("docs/a.md:1:")));
  EXPECT_THAT(check_leftovers({{"docs/a.md", std::string("net/wo") + "rk/notes"}}), IsEmpty());
  EXPECT_THAT(check_leftovers({{"tools/a.sh", std::string("curl https:/") + "/example.com"}}),
              ElementsAre(HasSubstr("address")));
}

TEST(ComponentCheck, NamesWhatAComponentLacks) {
  const auto findings = check_components({{"core/README.md", ""},
                                          {"core/CMakeLists.txt", ""},
                                          {"core/include/a.h", ""},
                                          {"platform/README.md", ""},
                                          {"platform/CMakeLists.txt", ""},
                                          {"platform/include/a.h", ""},
                                          {"providers/files/src/a.cc", ""},
                                          {"providers/files/CMakeLists.txt", ""}});
  EXPECT_THAT(findings, ElementsAre("providers/files/README.md: missing", "providers/files/include: missing"));
}

TEST(LinkCheck, FindsLinksThatLeadNowhere) {
  const SourceTree tree{
      {"README.md", "[a](docs/a.md) [b](docs/b.md)\n[c](docs/a.md#two-words) [d](docs/a.md#three) [e](docs)\n"},
      {"docs/a.md", "# Two words\n`[x](code.md)`\n```\n[y](code.md)\n```\n[up](../README.md)"}};
  EXPECT_THAT(check_links(tree),
              ElementsAre(HasSubstr("README.md:1: the link to docs/b.md"), HasSubstr("no heading for #three")));
}

TEST(SnippetCheck, FindsCodeThatItsSourceDoesNotHold) {
  const SourceTree tree{{"a.cc", "int a() {\n  return 1;\n}\nint b();\nint c();\n"},
                        {"good.md", "```cpp a.cc\nreturn 1;\n}\n...\nint c();\n```\n"},
                        {"bad.md", "\n```cpp a.cc\nreturn 1;\nint c();\n```\n"},
                        {"lost.md", "```cpp b.cc\n```\n"}};
  EXPECT_THAT(check_snippets(tree), ElementsAre("bad.md:3: does not stand in a.cc", "lost.md:2: no file b.cc"));
}

TEST(TimeLimitCheck, FindsTestsWithoutOne) {
  EXPECT_THAT(check_time_limits({{"CMakeLists.txt", "\nadd_test(\n  NAME a\n  COMMAND b)\n"}}),
              ElementsAre("CMakeLists.txt:2: the test a has no TIMEOUT"));
  EXPECT_THAT(
      check_time_limits({{"CMakeLists.txt", "add_test(NAME a COMMAND b)\nset_tests_properties(a PROPERTIES TIMEOUT 9)"}}),
      IsEmpty());
  EXPECT_THAT(check_time_limits({{"CMakeLists.txt", "gtest_discover_tests(a)"}}),
              ElementsAre(HasSubstr("CMakeLists.txt:1:")));
}

TEST(GlossaryCheck, FindsPublicTypesThatItLacks) {
  EXPECT_THAT(check_glossary({{"core/include/a.h", "class A {\nstruct B {\nclass C;\n  struct D {\nusing E = int;"},
                              {"docs/glossary.md", "`A`"}}),
              ElementsAre("core/include/a.h:2: B is not in the glossary", "core/include/a.h:5: E is not in the glossary"));
}

TEST(LargeFiles, AreThoseBeyondTheSizeThatAnIdeaNeeds) {
  EXPECT_THAT(list_large_files({{"core/include/a.h", std::string(251, '\n')}, {"core/src/a.cc", std::string(600, '\n')}}),
              ElementsAre("core/include/a.h: 251 lines"));
}

}  // namespace
}  // namespace harmonica::tidy
