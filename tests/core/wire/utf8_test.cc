#include "wire/utf8.h"

#include <gtest/gtest.h>

namespace harmonica::wire {
namespace {

TEST(Utf8, AcceptsTheFirstAndLastCharacterOfEachLength) {
  for (const std::string_view text :
       {"", "\x01\x7f", "\xc2\x80\xdf\xbf", "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf",
        "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(valid_utf8_length(text), text.size());
  }
}

TEST(Utf8, StopsAtWhatIsNoCharacter) {
  for (const std::string_view tail :
       {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe2\x82", "\xe2\x28\xa1", "\xf0\x9f\x98"}) {
    EXPECT_EQ(valid_utf8_length("ab" + std::string(tail)), 2u);
  }
}

TEST(Utf8, RepairsEachWrongByteAndKeepsTheRest) {
  EXPECT_EQ(repaired_utf8("a\xff\xfe"
                          "b\xc3\xa9"),
            "a\xef\xbf\xbd\xef\xbf\xbd"
            "b\xc3\xa9");
}

}  // namespace
}  // namespace harmonica::wire
