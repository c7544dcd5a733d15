#include "kernel/position.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "harmonica/limits.h"

namespace harmonica::kernel {
namespace {

ItemId item(std::uint32_t number) {
  ItemId id;
  // Spread over the range of ids, as hashes are; odd multiplier: never two alike.
  std::uint32_t scrambled = number * 2654435761U;
  for (std::size_t i = 0; i < 4; ++i) id.bytes[i] = static_cast<std::uint8_t>(scrambled >> (24 - 8 * i));
  return id;
}

std::vector<ItemId> items(std::uint32_t first, std::uint32_t count) {
  std::vector<ItemId> result;
  for (std::uint32_t i = 0; i < count; ++i) result.push_back(item(first + i));
  return result;
}

Bytes one_between(const Bytes& lower, const Bytes& upper, const ItemId& id) {
  return positions_between(lower, upper, std::vector{id}).front();
}

bool strictly_between(const Bytes& lower, const std::vector<Bytes>& keys, const Bytes& upper) {
  const bool ascending = std::adjacent_find(keys.begin(), keys.end(), std::greater_equal<>()) == keys.end();
  return ascending && lower < keys.front() && (upper.empty() || keys.back() < upper);
}

TEST(Position, KeysLieBetweenTheirNeighboursInOrder) {
  std::mt19937 random(1);
  std::vector<Bytes> keys;
  for (std::uint32_t step = 0; step < 5'000; ++step) {
    const std::size_t place = random() % (keys.size() + 1);
    const Bytes lower = place == 0 ? Bytes{} : keys[place - 1];
    const Bytes upper = place == keys.size() ? Bytes{} : keys[place];
    const std::vector<Bytes> made = positions_between(lower, upper, items(step * 8, 1 + random() % 8));
    ASSERT_TRUE(strictly_between(lower, made, upper)) << "step " << step;
    keys.insert(keys.begin() + static_cast<std::ptrdiff_t>(place), made.begin(), made.end());
  }
  EXPECT_LE(std::max_element(keys.begin(), keys.end(), [](auto& a, auto& b) { return a.size() < b.size(); })->size(), 64U);
}

TEST(Position, EveryKeyEndsInItsItem) {
  const std::vector<ItemId> ids = items(0, 300);
  const std::vector<Bytes> keys = positions_between({}, {}, ids);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_TRUE(std::equal(ids[i].bytes.rbegin(), ids[i].bytes.rend(), keys[i].rbegin()));
  }
}

TEST(Position, TwoDevicesInsertingAtOneSpotMakeDifferentKeysWithRoomBetween) {
  const std::vector<Bytes> ends = positions_between({}, {}, items(0, 2));
  Bytes left = one_between(ends[0], ends[1], item(10));
  Bytes right = one_between(ends[0], ends[1], item(11));
  ASSERT_NE(left, right);
  if (right < left) std::swap(left, right);
  const std::vector<Bytes> middle = positions_between(left, right, items(20, 100));
  EXPECT_TRUE(strictly_between(left, middle, right));
}

TEST(Position, AFolderFilledAtOnceGetsShortEvenKeys) {
  const std::vector<Bytes> keys = positions_between({}, {}, items(0, 10'000));
  EXPECT_TRUE(strictly_between({}, keys, {}));
  const auto digits = [](const Bytes& key) { return key[0] * 256 + key[1]; };
  for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(keys[i].size(), 2 + ItemId::kSize);
  for (std::size_t i = 1; i < keys.size(); ++i) {
    const int step = digits(keys[i]) - digits(keys[i - 1]);
    ASSERT_TRUE(step == 6 || step == 7) << step;
  }
}

TEST(Position, AppendingOneByOneKeepsKeysShort) {
  Bytes last;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    const Bytes key = one_between(last, {}, item(i));
    ASSERT_LT(last, key);
    last = key;
  }
  EXPECT_LE(last.size(), 5 + ItemId::kSize);
}

TEST(Position, PrependingOneByOneKeepsKeysShort) {
  Bytes first = one_between({}, {}, item(0));
  for (std::uint32_t i = 1; i < 100'000; ++i) {
    const Bytes key = one_between({}, first, item(i));
    ASSERT_LT(key, first);
    first = key;
  }
  EXPECT_LE(first.size(), 5 + ItemId::kSize);
}

TEST(Position, HalvingOneGapCostsAByteForEightKeys) {
  const std::vector<Bytes> ends = positions_between({}, {}, items(0, 2));
  Bytes upper = ends[1];
  for (std::uint32_t i = 0; i < 2'000; ++i) {
    const Bytes key = one_between(ends[0], upper, item(100 + i));
    ASSERT_TRUE(ends[0] < key && key < upper);
    upper = key;
  }
  EXPECT_LE(upper.size(), 2'000 / 8 + 2 * ItemId::kSize);
}

TEST(Position, IsDeterministic) {
  const Bytes lower{1, 2, 3};
  EXPECT_EQ(positions_between(lower, {}, items(0, 5)), positions_between(lower, {}, items(0, 5)));
}

TEST(Position, SmallFixedCases) {
  const ItemId a = item(0);  // sixteen zeros
  const auto with_item = [&](Bytes digits) {
    digits.insert(digits.end(), a.bytes.begin(), a.bytes.end());
    return digits;
  };
  EXPECT_EQ(one_between({}, {}, a), with_item({0x80}));
  EXPECT_EQ(one_between({0x10}, {0x20}, a), with_item({0x18}));
  EXPECT_EQ(one_between({0x10}, {0x11}, a), with_item({0x10, 0x80}));
  EXPECT_EQ(one_between({0x10, 0xff}, {0x11}, a), with_item({0x10, 0xff, 0x80}));
  EXPECT_EQ(one_between({0xff, 0xff}, {}, a), with_item({0xff, 0xff, 0x00, 0x01, 0x00}));
  EXPECT_EQ(one_between({}, {0x00, 0x01}, a), with_item({0x00, 0x00, 0xff, 0xff, 0x00}));
}

// Whatever stands in the registers of hostile neighbours: keys for all, ascending, of bounded length, and between the
// neighbours wherever anything that ends in an item is.
TEST(Position, HostileNeighboursGetBoundedKeys) {
  const Bytes zeros(600, 0x00);
  const Bytes ones(600, 0xff);
  const Bytes half(100, 0x7f);
  const std::vector<Bytes> bounds{{},     {0x00}, {0x00, 0x00}, {0xff}, {0xff, 0xff},
                                  {0x7f}, zeros,  ones,         half,   Bytes(5'000, 0x42)};
  const std::vector<ItemId> ids = items(1, 1'000);
  for (const Bytes& lower : bounds) {
    for (const Bytes& upper : bounds) {
      const std::vector<Bytes> keys = positions_between(lower, upper, ids);
      ASSERT_EQ(keys.size(), ids.size());
      ASSERT_TRUE(strictly_between({}, keys, {}));
      for (const Bytes& key : keys) ASSERT_LE(key.size(), limits::kPositionBytesMax);
    }
  }
  const auto fits = [&](const Bytes& lower, const Bytes& upper) {
    return strictly_between(lower, positions_between(lower, upper, ids), upper);
  };
  EXPECT_TRUE(fits({0x00, 0x00}, {0xff}));
  EXPECT_TRUE(fits({0xff, 0xff}, {}));
  EXPECT_TRUE(fits({}, half));
  EXPECT_TRUE(fits({0x00}, ones));
  EXPECT_TRUE(fits(zeros, {0x00, 0x01}));
  EXPECT_FALSE(fits(ones, {})) << "only keys above the limit lie there";
}

TEST(Position, NeighboursInTheWrongOrderGetKeysRightBehindTheLower) {
  const Bytes same{0x42, 0x17};
  for (const Bytes& upper : {same, Bytes{0x42}, Bytes{0x01}, Bytes{0x42, 0x17, 0x00}}) {
    for (const Bytes& key : positions_between(same, upper, items(1, 20))) {
      EXPECT_TRUE(std::equal(same.begin(), same.end(), key.begin())) << "others stay on their side";
      EXPECT_LT(same, key);
    }
  }
}

TEST(Position, NoItemsNoKeys) { EXPECT_TRUE(positions_between({}, {}, {}).empty()); }

std::size_t longest_by_trying(const std::vector<Bytes>& keys) {
  std::vector<std::size_t> lengths(keys.size(), 1);
  std::size_t longest = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (keys[j] < keys[i]) lengths[i] = std::max(lengths[i], lengths[j] + 1);
    }
    longest = std::max(longest, lengths[i]);
  }
  return longest;
}

TEST(LongestIncreasing, IsIncreasingAndAsLongAsPossible) {
  std::mt19937 random(7);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<Bytes> keys(random() % 12);
    for (Bytes& key : keys) key = {static_cast<std::uint8_t>(random() % 8)};
    const std::vector<std::size_t> kept = longest_increasing(keys);
    ASSERT_EQ(kept.size(), longest_by_trying(keys));
    for (std::size_t i = 1; i < kept.size(); ++i) {
      ASSERT_LT(kept[i - 1], kept[i]);
      ASSERT_LT(keys[kept[i - 1]], keys[kept[i]]);
    }
  }
}

TEST(LongestIncreasing, OneMovedSiblingMovesAlone) {
  std::vector<Bytes> keys = positions_between({}, {}, items(0, 1'000));
  std::rotate(keys.begin() + 10, keys.begin() + 500, keys.begin() + 501);
  const std::vector<std::size_t> kept = longest_increasing(keys);
  EXPECT_EQ(kept.size(), 999U);
  EXPECT_FALSE(std::binary_search(kept.begin(), kept.end(), 10U));
}

}  // namespace
}  // namespace harmonica::kernel
