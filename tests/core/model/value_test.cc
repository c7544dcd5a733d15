#include "harmonica/value.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "support/shorthand.h"

namespace harmonica {
namespace {

using shorthand::item;

TEST(Value, EqualityIsByKindAndContent) {
  const std::vector<Value> different = {Value(),
                                        Value::boolean(false),
                                        Value::boolean(true),
                                        Value::integer(0),
                                        Value::real(0),
                                        Value::real(-0.0),
                                        Value::text(""),
                                        Value::text("0"),
                                        Value::bytes({}),
                                        Value::bytes({0x30}),
                                        Value::ids({}),
                                        Value::ids({item(1), item(2)}),
                                        Value::ids({item(2), item(1)}),
                                        Value::list({}),
                                        Value::list({Value()}),
                                        Value::list({Value::real(0)}),
                                        Value::list({Value::real(-0.0)})};
  for (std::size_t i = 0; i < different.size(); ++i) {
    for (std::size_t j = 0; j < different.size(); ++j) {
      EXPECT_EQ(different[i] == different[j], i == j) << different[i].to_text() << ' ' << different[j].to_text();
    }
  }
}

TEST(Value, CopiesShareWhatTheyHold) {
  const Value text = Value::text(std::string(1'000, 'a'));
  const Value copy = text;
  EXPECT_EQ(copy.if_text(), text.if_text());
  EXPECT_EQ(copy, text);
  EXPECT_EQ(Value::text(std::string(1'000, 'a')), text);
}

TEST(Value, EveryNaNIsTheSameOne) {
  const double strange = std::bit_cast<double>(std::uint64_t{0xfff8'0000'0000'0001});
  ASSERT_TRUE(std::isnan(strange));
  EXPECT_EQ(Value::real(strange), Value::real(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(std::bit_cast<std::uint64_t>(*Value::real(strange).if_real()), 0x7ff8'0000'0000'0000);
}

TEST(Value, IsReadAsItsOwnKindOnly) {
  const Value value = Value::integer(12);
  EXPECT_EQ(value.kind(), ValueKind::kInteger);
  ASSERT_NE(value.if_integer(), nullptr);
  EXPECT_EQ(*value.if_integer(), 12);
  EXPECT_EQ(value.if_real(), nullptr);
  EXPECT_EQ(value.if_text(), nullptr);
  EXPECT_TRUE(Value().is_null());
}

TEST(Value, PrintsEachKindUnmistakably) {
  EXPECT_EQ(Value().to_text(), "null");
  EXPECT_EQ(Value::boolean(true).to_text(), "true");
  EXPECT_EQ(Value::integer(-12).to_text(), "-12");
  EXPECT_EQ(Value::real(0.5).to_text(), "0.5");
  EXPECT_EQ(Value::real(-0.0).to_text(), "-0.0");
  EXPECT_EQ(Value::real(12).to_text(), "12.0");
  EXPECT_EQ(Value::real(std::numeric_limits<double>::infinity()).to_text(), "inf");
  EXPECT_EQ(Value::text("a\"\\\n\x01\xc3\xa4").to_text(), "\"a\\\"\\\\\\n\\x01\xc3\xa4\"");
  EXPECT_EQ(Value::bytes({0x00, 0xff}).to_text(), "x'00ff'");
  EXPECT_EQ(Value::ids({item(1), item(2)}).to_text(),
            "<00000000000000000000000000000001 00000000000000000000000000000002>");
  EXPECT_EQ(Value::list({Value::integer(1), Value::text("b")}).to_text(), "[1, \"b\"]");
}

TEST(Value, WeighsWhatItHoldsBesideItself) {
  EXPECT_EQ(Value::integer(1).weight(), 0u);
  EXPECT_EQ(Value::text("abc").weight(), 3u);
  EXPECT_EQ(Value::bytes({1, 2}).weight(), 2u);
  EXPECT_EQ(Value::ids({item(1), item(2)}).weight(), 32u);
  EXPECT_EQ(Value::list({Value(), Value::text("abc")}).weight(), 2 * sizeof(Value) + 3);
}

}  // namespace
}  // namespace harmonica
