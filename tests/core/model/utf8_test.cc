#include "harmonica/utf8.h"

#include <gtest/gtest.h>

namespace harmonica {
namespace {

TEST(Utf8, AcceptsTheFirstAndLastCharacterOfEachLength) {
  for (const std::string_view text :
       {"", "\x01\x7f", "\xc2\x80\xdf\xbf", "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf",
        "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_valid_utf8(text));
    EXPECT_EQ(valid_utf8_length(text), text.size());
  }
}

TEST(Utf8, StopsAtWhatIsNoCharacter) {
  for (const std::string_view tail :
       {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe2\x82", "\xe2\x28\xa1", "\xf0\x9f\x98"}) {
    EXPECT_EQ(valid_utf8_length("ab" + std::string(tail)), 2u);
    EXPECT_FALSE(is_valid_utf8("ab" + std::string(tail)));
  }
}

TEST(Utf8, FindsDamageWhereverItStandsInALongText) {
  for (std::size_t at = 0; at < 40; ++at) {
    std::string text(40, 'x');
    text[at] = '\x80';
    EXPECT_EQ(valid_utf8_length(text), at);
    text.replace(at, 1, "\xc3\xa9");
    EXPECT_TRUE(is_valid_utf8(text));
  }
}

TEST(Utf8, ANullCharacterIsACharacter) { EXPECT_TRUE(is_valid_utf8(std::string_view("a\0b", 3))); }

TEST(Utf8, RepairsEachDamagedPartAndKeepsTheRest) {
  const std::string replaced = "\xef\xbf\xbd";
  EXPECT_EQ(repaired_utf8("caf\xc3\xa9"), "caf\xc3\xa9");
  EXPECT_EQ(repaired_utf8("a\xff\xfe"
                          "b\xc3\xa9"),
            "a" + replaced + replaced + "b\xc3\xa9");
  // The start of a character is one part; a surrogate has none and is three.
  EXPECT_EQ(repaired_utf8("\xf0\x9f\x98|"), replaced + "|");
  EXPECT_EQ(repaired_utf8("\xed\xa0\x80"), replaced + replaced + replaced);
  EXPECT_EQ(repaired_utf8("a\xe2\x82"), "a" + replaced);
}

}  // namespace
}  // namespace harmonica
