#include "kernel/text_merge.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

#include "harmonica/limits.h"

namespace harmonica::kernel {
namespace {

struct Merge {
  const char* name;
  const char* base;
  const char* one;
  const char* other;
  const char* merged;  // null: they are in conflict
};

class TextMerge : public testing::TestWithParam<Merge> {};

TEST_P(TextMerge, IsTheSameWhicheverSideIsWhich) {
  const Merge& given = GetParam();
  const std::optional<std::string> expected =
      given.merged == nullptr ? std::nullopt : std::optional<std::string>(given.merged);
  EXPECT_EQ(merge_texts(given.base, given.one, given.other), expected);
  EXPECT_EQ(merge_texts(given.base, given.other, given.one), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, TextMerge,
    testing::Values(Merge{"ChangesApart", "one two three", "1 two three", "one two 3", "1 two 3"},
                    Merge{"InsertionsAtBothEnds", "one two three", "one two three four", "zero one two three",
                          "zero one two three four"},
                    Merge{"DeletionsApart", "one two three", "two three", "one two", "two"},
                    Merge{"SameWordTwoWays", "one two three", "1 two three", "uno two three", nullptr},
                    Merge{"DeletedAndChanged", "one two three", "one three", "one 2 three", nullptr},
                    Merge{"SameChangeTwice", "one two three", "one 2 three", "one 2 three 4", "one 2 three 4"},
                    Merge{"AllNew", "", "all new", "", "all new"}, Merge{"NewOnBothSides", "", "new", "also new", nullptr},
                    Merge{"AllGone", "gone", "", "gone", ""}, Merge{"Nothing", "same", "same", "same", "same"},
                    Merge{"LettersBeyondAscii", "h\xc3\xa9llo world", "h\xc3\xa8llo world", "h\xc3\xa9llo moon",
                          "h\xc3\xa8llo moon"},
                    Merge{"Lines", "a\n\nb\n\nc\n", "a\n\nb\n\nc\n\nd\n", "A\n\nb\n\nc\n", "A\n\nb\n\nc\n\nd\n"}),
    [](const auto& merge) { return std::string(merge.param.name); });

// Both sides change other words of a text: every change is in the merged one.
TEST(TextMerges, KeepsTheChangesOfBothSides) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    constexpr int kWords = 40;
    std::string base, one, other, both;
    for (int at = 0; at < kWords; ++at) {
      const std::string word = "w" + std::to_string(random() % 5) + " ";
      const std::string fresh = random() % 4 == 0 ? "" : "fresh" + std::to_string(at) + " ";
      const unsigned changes = at % 3 == 1 ? random() % 4 : 0;  // a word that stays stands between any two
      base += word;
      one += changes == 1 ? fresh : word;
      other += changes == 2 ? fresh : word;
      both += changes == 1 || changes == 2 ? fresh : word;
    }
    const std::optional<std::string> merged = merge_texts(base, one, other);
    // Words that occur often may be matched otherwise, and then touch; but nothing is ever merged wrongly in silence.
    if (!merged) continue;
    EXPECT_EQ(merge_texts(base, other, one), merged);
    if (one == base) {
      EXPECT_EQ(*merged, other);
    }
    for (int at = 0; at < kWords; ++at) {
      const std::string fresh = "fresh" + std::to_string(at) + " ";
      EXPECT_EQ(merged->find(fresh) != std::string::npos, both.find(fresh) != std::string::npos) << fresh;
    }
  }
}

TEST(TextMerges, TextsThatAreTooLongOrTooDifferentAreNotMerged) {
  const std::string longest(limits::kTextMergeBytesMax, ' ');
  EXPECT_EQ(merge_texts(longest, longest, longest), longest);
  EXPECT_EQ(merge_texts(longest, longest, longest + " "), std::nullopt);
  std::string numbers, others;
  for (std::size_t at = 0; at < limits::kTextMergeStepsMax; ++at) {
    numbers += std::to_string(at) + " ";
    others += "x" + std::to_string(at) + " ";
  }
  EXPECT_EQ(merge_texts(numbers, numbers, numbers + "x"), numbers + "x");
  EXPECT_EQ(merge_texts(numbers, others, numbers), std::nullopt);
}

}  // namespace
}  // namespace harmonica::kernel
