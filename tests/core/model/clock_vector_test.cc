#include "harmonica/clock_vector.h"

#include <gtest/gtest.h>

#include "harmonica/limits.h"
#include "support/shorthand.h"

namespace harmonica {
namespace {

using shorthand::replica;
using shorthand::vector;
using shorthand::version;

TEST(ClockVector, IsCanonicalHoweverItWasMade) {
  const ClockVector made({{replica('B'), 3}, {replica('C'), 0}, {replica('A'), 2}, {replica('A'), 5}, {replica('A'), 0}});
  EXPECT_EQ(made, vector("{A:5,B:3}"));
  ASSERT_EQ(made.entries().size(), 2u);
  EXPECT_EQ(made.entries()[0].replica, replica('A'));
}

TEST(ClockVector, KnowsEachComponentAndCountsAbsentOnesAsZero) {
  // Every size, so that the search meets every way to halve.
  std::vector<ClockVector::Entry> entries;
  for (char letter = 'B'; letter <= 'Y'; letter = static_cast<char>(letter + 2)) {
    entries.push_back({replica(letter), static_cast<Tick>(letter)});
    const ClockVector made(entries);
    EXPECT_EQ(made.at(replica('A')), 0u);
    for (const auto& entry : entries) {
      EXPECT_EQ(made.at(entry.replica), entry.tick);
      EXPECT_EQ(made.at(replica(static_cast<char>(entry.tick + 1))), 0u);
    }
  }
  EXPECT_EQ(ClockVector().at(replica('A')), 0u);
}

TEST(ClockVector, ContainsAnotherIfNoComponentIsLess) {
  EXPECT_TRUE(vector("{A:5,B:3}").contains(vector("{A:5}")));
  EXPECT_TRUE(vector("{A:5,B:3}").contains(vector("{B:2}")));
  EXPECT_TRUE(vector("{}").contains(vector("{}")));
  EXPECT_FALSE(vector("{A:5,B:3}").contains(vector("{A:5,B:4}")));
  EXPECT_FALSE(vector("{A:5,C:3}").contains(vector("{B:1}")));
  EXPECT_FALSE(vector("{A:5,B:3}").contains(vector("{C:1}")));
}

TEST(ClockVector, RaisingNeverLowersAndInsertsInOrder) {
  ClockVector raised = vector("{B:3}");
  raised.raise(version("B2"));
  EXPECT_EQ(raised, vector("{B:3}"));
  raised.raise(version("C1"));
  raised.raise(version("A7"));
  raised.raise(version("B4"));
  EXPECT_EQ(raised, vector("{A:7,B:4,C:1}"));
  raised.raise(version("D0"));
  EXPECT_EQ(raised, vector("{A:7,B:4,C:1}"));
}

TEST(ClockVector, MergeKeepsTheLargerTickOfEachReplica) {
  ClockVector merged = vector("{A:5,B:1,D:2}");
  merged.merge(vector("{A:2,B:4,C:9,E:1}"));
  EXPECT_EQ(merged, vector("{A:5,B:4,C:9,D:2,E:1}"));
}

TEST(ClockVector, GreatestTickIsZeroWhenEmpty) {
  EXPECT_EQ(vector("{}").greatest_tick(), 0u);
  EXPECT_EQ(vector("{A:5,B:9,C:1}").greatest_tick(), 9u);
}

TEST(ClockVector, ReadsBackWhatItPrints) {
  for (const char* text : {"{}", "{A:5}", "{A:5,B:18446744073709551615}"}) {
    EXPECT_EQ(ClockVector::parse(vector(text).to_text()), vector(text)) << text;
  }
  EXPECT_EQ(vector("{}").to_text(), "{}");
}

TEST(ClockVector, ReadsNothingThatIsNotOne) {
  for (const std::string text : {"", "{", "}", "{A}", "{A:}", "{A:1", "{A:1,}", "{,A:1}", "{A:1};", "{A:-1}", "{:1}"}) {
    EXPECT_FALSE(ClockVector::parse(shorthand::spelled_out(text))) << text;
  }
}

TEST(ClockVector, ReadsNoMoreReplicasThanTheLimit) {
  const std::string entry = replica('A').to_text() + ":1,";
  std::string text = "{";
  for (std::size_t i = 0; i < limits::kReplicasMax; ++i) text += entry;
  const std::string at_limit = text.substr(0, text.size() - 1) + "}";
  EXPECT_TRUE(ClockVector::parse(at_limit));
  EXPECT_FALSE(ClockVector::parse(text + replica('A').to_text() + ":1}"));
}

}  // namespace
}  // namespace harmonica
