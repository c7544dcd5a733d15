#include "harmonica/ids.h"

#include <gtest/gtest.h>

#include "support/shorthand.h"

namespace harmonica {
namespace {

using shorthand::item;

TEST(Ids, AreOrderedByTheirBytesAsUnsignedNumbers) {
  // Each differs from the next one in a single byte, on both sides of the eight-byte halves and of the sign bit.
  std::vector<ItemId> rising;
  for (const std::size_t place : {15u, 8u, 7u, 0u}) {
    for (const int byte : {0x01, 0x7f, 0x80, 0xff}) {
      ItemId id;
      id.bytes[place] = static_cast<std::uint8_t>(byte);
      rising.push_back(id);
    }
  }
  for (std::size_t i = 0; i < rising.size(); ++i) {
    for (std::size_t j = 0; j < rising.size(); ++j) {
      EXPECT_EQ(rising[i] <=> rising[j], i <=> j) << i << ' ' << j;
      EXPECT_EQ(rising[i] == rising[j], i == j) << i << ' ' << j;
    }
  }
}

TEST(Ids, ReadBackWhatTheyPrint) {
  const std::string text = "00112233445566778899aabbccddeeff";
  const auto id = ItemId::parse(text);
  ASSERT_TRUE(id.has_value());
  EXPECT_EQ(id->to_text(), text);
  EXPECT_EQ(ItemId::parse("00112233445566778899AABBCCDDEEFF"), id);
}

TEST(Ids, ReadNothingButThirtyTwoDigits) {
  EXPECT_FALSE(ItemId::parse(""));
  EXPECT_FALSE(ItemId::parse("00112233445566778899aabbccddeef"));
  EXPECT_FALSE(ItemId::parse("00112233445566778899aabbccddeeff0"));
  EXPECT_FALSE(ItemId::parse("00112233445566778899aabbccddeefg"));
  EXPECT_FALSE(ItemId::parse("0x112233445566778899aabbccddeeff"));
  EXPECT_FALSE(ItemId::parse("0-112233445566778899aabbccddeeff"));
}

TEST(Ids, AreMadeOfExactlySixteenBytes) {
  EXPECT_EQ(ItemId::from_bytes(Bytes(16, 0xff)), last_item_id());
  EXPECT_FALSE(ItemId::from_bytes(Bytes(15, 0xff)));
  EXPECT_FALSE(ItemId::from_bytes(Bytes(17, 0xff)));
}

TEST(Ids, TheNextOneFollowsImmediatelyAndTheLastHasNone) {
  EXPECT_EQ(next(kFirstItemId), item(1));
  EXPECT_EQ(next(item(0xff)), item(0x100));
  EXPECT_EQ(next(item(~std::uint64_t{0}))->to_text(), "00000000000000010000000000000000");
  EXPECT_FALSE(next(last_item_id()));
}

TEST(Ids, ARangeHoldsBothItsEnds) {
  const ItemIdRange range{item(3), item(5)};
  EXPECT_FALSE(range.contains(item(2)));
  EXPECT_TRUE(range.contains(item(3)));
  EXPECT_TRUE(range.contains(item(5)));
  EXPECT_FALSE(range.contains(item(6)));
  EXPECT_TRUE(ItemIdRange::all().contains(kFirstItemId));
  EXPECT_TRUE(ItemIdRange::all().contains(last_item_id()));
}

TEST(Ids, ShapedOnesAreUuidsOfVersion8AndKeepAllOtherBits) {
  EXPECT_EQ(shaped_item_id(Bytes(16, 0x00)).to_text(), "00000000000080008000000000000000");
  EXPECT_EQ(shaped_item_id(Bytes(16, 0xff)).to_text(), "ffffffffffff8fffbfffffffffffffff");
  EXPECT_EQ(shaped_item_id(Bytes(32, 0xff)), shaped_item_id(Bytes(16, 0xff)));
}

TEST(Ids, ShapedOnesAreRecognised) {
  EXPECT_TRUE(is_shaped_item_id(shaped_item_id(Bytes(16, 0xff))));
  EXPECT_FALSE(is_shaped_item_id(ItemId{}));
  EXPECT_FALSE(is_shaped_item_id(*ItemId::parse("00000000000040008000000000000000")));
  EXPECT_FALSE(is_shaped_item_id(*ItemId::parse("0000000000008000c000000000000000")));
}

TEST(ScopeNames, AreOneTo64OfTheAllowedCharacters) {
  EXPECT_TRUE(is_valid_scope_name("a"));
  EXPECT_TRUE(is_valid_scope_name("team-1_notes.v2"));
  EXPECT_TRUE(is_valid_scope_name(std::string(64, 'z')));
  EXPECT_FALSE(is_valid_scope_name(""));
  EXPECT_FALSE(is_valid_scope_name(std::string(65, 'z')));
  for (const char* bad : {"A", "a b", "a/b", "\xc3\xa4"}) EXPECT_FALSE(is_valid_scope_name(bad)) << bad;
  EXPECT_FALSE(is_valid_scope_name(std::string_view("a\0", 2)));
}

}  // namespace
}  // namespace harmonica
