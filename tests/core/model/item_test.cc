#include "harmonica/item.h"

#include <gtest/gtest.h>

#include "support/shorthand.h"

namespace harmonica {
namespace {

using shorthand::item;
using shorthand::version;

TEST(Item, MakesMissingRegistersInOrder) {
  Item made;
  made.at(5).value = Value::integer(5);
  made.at(2).value = Value::integer(2);
  made.at(5).version = version("A1");
  ASSERT_EQ(made.units.size(), 2u);
  EXPECT_EQ(made.units[0].unit, 2);
  EXPECT_EQ(made.units[1].unit, 5);
  EXPECT_EQ(made.units[1].content.value, Value::integer(5));
  EXPECT_EQ(made.units[1].content.version, version("A1"));
}

TEST(Item, FindsOnlyTheRegistersItHas) {
  Item made;
  made.at(2).value = Value::integer(2);
  made.at(5).value = Value::integer(5);
  ASSERT_NE(made.find(2), nullptr);
  EXPECT_EQ(made.find(2)->value, Value::integer(2));
  EXPECT_EQ(made.find(1), nullptr);
  EXPECT_EQ(made.find(3), nullptr);
  EXPECT_EQ(std::as_const(made).find(6), nullptr);
  EXPECT_EQ(made.value_of(5), Value::integer(5));
  EXPECT_EQ(made.value_of(3), Value());
}

TEST(Item, IsAliveUnlessDeleted) {
  Item made;
  EXPECT_TRUE(made.alive());
  made.existence.value = Existence::kRestored;
  EXPECT_TRUE(made.alive());
  made.existence.value = Existence::kDeleted;
  EXPECT_FALSE(made.alive());
}

TEST(Item, PrintsItsRegistersAndMarksWhatARuleMade) {
  Item made{item(1), 3, {version("A1"), Existence::kRestored}, {}};
  made.at(2) = Register{version("B2"), Value::text("x"), Origin::kWritten};
  made.at(4) = Register{version("A3"), Value(), Origin::kMadeByRule};
  EXPECT_EQ(made.to_text(), item(1).to_text() + " 3 restored@" + version("A1").to_text() + " 2=\"x\"@" +
                                version("B2").to_text() + " 4=null@" + version("A3").to_text() + "*");
}

}  // namespace
}  // namespace harmonica
