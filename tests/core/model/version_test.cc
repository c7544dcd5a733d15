#include "harmonica/version.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/shorthand.h"

namespace harmonica {
namespace {

using shorthand::version;

TEST(Version, IsOrderedByTickThenReplica) {
  EXPECT_LT(version("B1"), version("A2"));
  EXPECT_LT(version("A2"), version("B2"));
  EXPECT_EQ(version("A2"), version("A2"));
}

TEST(Version, ReadsBackWhatItPrints) {
  const Version greatest{shorthand::replica('A'), std::numeric_limits<Tick>::max()};
  EXPECT_EQ(greatest.to_text(), "00000000000000000000000000000041@18446744073709551615");
  EXPECT_EQ(Version::parse(greatest.to_text()), greatest);
}

TEST(Version, ReadsNothingThatIsNotOne) {
  const std::string replica(32, '0');
  for (const char* rest : {"", "@", "@-1", "@+1", "@ 1", "@1 ", "@1x", "@18446744073709551616", "@1@1"}) {
    EXPECT_FALSE(Version::parse(replica + rest)) << rest;
  }
  EXPECT_FALSE(Version::parse("@1"));
}

TEST(Tick, StartsItsMillisecondWithCounterZero) {
  EXPECT_EQ(first_tick_of(1), Tick{1} << 16);
  EXPECT_EQ(milliseconds_of(first_tick_of(1'700'000'000'000) + 0xffff), 1'700'000'000'000);
}

TEST(Tick, OfATimeOutOfBoundsIsThatOfTheBound) {
  EXPECT_EQ(first_tick_of(-1), 0u);
  EXPECT_EQ(first_tick_of(std::numeric_limits<std::int64_t>::min()), 0u);
  EXPECT_EQ(first_tick_of((std::int64_t{1} << 48) - 1), 0xffff'ffff'ffff'0000);
  EXPECT_EQ(first_tick_of(std::int64_t{1} << 48), 0xffff'ffff'ffff'0000);
}

}  // namespace
}  // namespace harmonica
