#include "kernel/sibling_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <tuple>

#include "support/shorthand.h"

namespace harmonica::kernel {
namespace {

using shorthand::item;

const std::pair<Bytes, Bytes> kNoBounds;

Bytes key(std::uint8_t digit) { return {digit}; }

Sibling shown(std::uint64_t number, Bytes position) { return {item(number), std::move(position), {}, false}; }

Sibling fresh(std::uint64_t number) { return shown(number, {}); }

// Where a lost write was to put it; empty `position`: it comes from elsewhere.
Sibling pending(std::uint64_t number, Bytes position, std::vector<Bytes> positions) {
  return {item(number), std::move(position), std::move(positions), false};
}

Sibling in_transit(std::uint64_t number, Bytes position) { return {item(number), std::move(position), {}, true}; }

// "1:0a 2:new 3:1e": each item with the position that it keeps or was to have, in hexadecimal.
std::string text_of(const std::vector<Sibling>& siblings, const SiblingOrder& order) {
  std::string text;
  for (std::size_t place = 0; place < siblings.size(); ++place) {
    const SiblingPosition& given = order.positions[place];
    if (!text.empty()) text += ' ';
    text += std::to_string(siblings[place].item.bytes.back()) + ':' + (given.is_new ? "new" : to_hex(given.position));
  }
  return text;
}

std::string ordered(const std::vector<Sibling>& siblings) { return text_of(siblings, order_siblings(siblings, kNoBounds)); }

// Whether the view shows these in the order of the store.
bool rises(const std::vector<Sibling>& siblings, const SiblingOrder& order, const std::vector<std::size_t>& places) {
  std::pair<Bytes, ItemId> last;
  for (const std::size_t place : places) {
    std::pair<Bytes, ItemId> here{order.positions[place].position, siblings[place].item};
    if (here.first.empty() || here <= last) return false;
    last = std::move(here);
  }
  return true;
}

bool rises(const std::vector<Sibling>& siblings, const SiblingOrder& order) {
  std::vector<std::size_t> places(siblings.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  return rises(siblings, order, places);
}

std::size_t new_positions(const SiblingOrder& order) {
  return static_cast<std::size_t>(
      std::count_if(order.positions.begin(), order.positions.end(), [](const SiblingPosition& one) { return one.is_new; }));
}

TEST(SiblingOrder, NoChildrenNeedNoPositions) {
  const SiblingOrder order = order_siblings({}, kNoBounds);
  EXPECT_TRUE(order.positions.empty());
  EXPECT_FALSE(order.pending_seen);
}

TEST(SiblingOrder, SettledSiblingsKeepAllTheirPositions) {
  const std::vector<Sibling> siblings = {shown(3, key(10)), shown(1, key(20)), shown(2, key(30))};
  EXPECT_EQ(ordered(siblings), "3:0a 1:14 2:1e");
  EXPECT_FALSE(order_siblings(siblings, kNoBounds).pending_seen);
}

TEST(SiblingOrder, NewOneStandsBetweenItsNeighbours) {
  const std::vector<Sibling> siblings = {shown(1, key(10)), fresh(2), shown(3, key(30))};
  const SiblingOrder order = order_siblings(siblings, kNoBounds);
  EXPECT_EQ(text_of(siblings, order), "1:0a 2:new 3:1e");
  EXPECT_LT(key(10), order.positions[1].position);
  EXPECT_LT(order.positions[1].position, key(30));
}

TEST(SiblingOrder, NewOnesAtBothEndsStandOutsideTheOthers) {
  const std::vector<Sibling> siblings = {fresh(1), shown(2, key(10)), shown(3, key(20)), fresh(4), fresh(5)};
  const SiblingOrder order = order_siblings(siblings, kNoBounds);
  EXPECT_EQ(text_of(siblings, order), "1:new 2:0a 3:14 4:new 5:new");
  EXPECT_TRUE(rises(siblings, order));
}

TEST(SiblingOrder, OneMovedToTheEndAloneGetsANewPosition) {
  const std::vector<Sibling> siblings = {shown(2, key(20)), shown(3, key(30)), shown(4, key(40)), shown(1, key(10))};
  const SiblingOrder order = order_siblings(siblings, kNoBounds);
  EXPECT_EQ(text_of(siblings, order), "2:14 3:1e 4:28 1:new");
  EXPECT_LT(key(40), order.positions[3].position);
}

TEST(SiblingOrder, OneMovedToTheFrontAloneGetsANewPosition) {
  const std::vector<Sibling> siblings = {shown(4, key(40)), shown(1, key(10)), shown(2, key(20)), shown(3, key(30))};
  const SiblingOrder order = order_siblings(siblings, kNoBounds);
  EXPECT_EQ(text_of(siblings, order), "4:new 1:0a 2:14 3:1e");
  EXPECT_LT(order.positions[0].position, key(10));
}

TEST(SiblingOrder, LongestRisingSequenceStays) {
  // Two blocks changed places; the longer one stays.
  const std::vector<Sibling> siblings = {shown(4, key(40)), shown(5, key(50)), shown(1, key(10)), shown(2, key(20)),
                                         shown(3, key(30))};
  const SiblingOrder order = order_siblings(siblings, kNoBounds);
  EXPECT_EQ(text_of(siblings, order), "4:new 5:new 1:0a 2:14 3:1e");
  EXPECT_TRUE(rises(siblings, order));
}

TEST(SiblingOrder, EqualPositionsAreOrderedByItem) {
  EXPECT_EQ(ordered({shown(1, key(10)), shown(2, key(10))}), "1:0a 2:0a");
  const std::vector<Sibling> swapped = {shown(2, key(10)), shown(1, key(10))};
  const SiblingOrder order = order_siblings(swapped, kNoBounds);
  EXPECT_EQ(new_positions(order), 1u);
  EXPECT_TRUE(rises(swapped, order));
}

TEST(SiblingOrder, WithoutRoomBetweenTwoAllAreSpreadAnew) {
  for (const Bytes& upper : {key(10), Bytes{10, 0}}) {
    const std::vector<Sibling> siblings = {shown(1, key(10)), fresh(2), shown(3, upper), shown(4, key(20))};
    const SiblingOrder order = order_siblings(siblings, kNoBounds);
    EXPECT_EQ(text_of(siblings, order), "1:new 2:new 3:new 4:new");
    EXPECT_TRUE(rises(siblings, order));
  }
}

TEST(SiblingOrder, NewOnesStandBetweenTheBounds) {
  const std::pair<Bytes, Bytes> bounds = {Bytes{5, 0, 0, 1}, Bytes{5, 0, 0, 2}};
  std::vector<Sibling> siblings;
  for (std::uint64_t number = 1; number <= 200; ++number) siblings.push_back(fresh(number));
  SiblingOrder order = order_siblings(siblings, bounds);
  EXPECT_TRUE(rises(siblings, order));
  EXPECT_LT(bounds.first, order.positions.front().position);
  EXPECT_LT(order.positions.back().position, bounds.second);

  siblings = {fresh(1), shown(2, {5, 0, 0, 1, 7}), fresh(3)};
  order = order_siblings(siblings, bounds);
  EXPECT_EQ(text_of(siblings, order), "1:new 2:0500000107 3:new");
  EXPECT_TRUE(rises(siblings, order));
  EXPECT_LT(bounds.first, order.positions.front().position);
  EXPECT_LT(order.positions.back().position, bounds.second);
}

TEST(SiblingOrder, OrderThatFollowsFromPendingPositionsIsOurs) {
  const std::vector<Sibling> siblings = {pending(3, key(30), {key(5)}), shown(1, key(10)), shown(2, key(20))};
  const SiblingOrder order = order_siblings(siblings, kNoBounds);
  EXPECT_EQ(text_of(siblings, order), "3:05 1:0a 2:14");
  EXPECT_TRUE(order.pending_seen);
}

TEST(SiblingOrder, WriteThatPutOnlySomeInPlaceIsOurs) {
  // 1 was to go behind 3, and 4 before 2: only the latter has happened.
  const std::vector<Sibling> siblings = {pending(1, key(10), {key(35)}), pending(4, key(40), {key(15)}), shown(2, key(20)),
                                         shown(3, key(30))};
  const SiblingOrder order = order_siblings(siblings, kNoBounds);
  EXPECT_EQ(text_of(siblings, order), "1:0a 4:0f 2:14 3:1e");
  EXPECT_TRUE(order.pending_seen);
}

TEST(SiblingOrder, WriteThatChangedNothingLeavesAllAsShown) {
  const std::vector<Sibling> siblings = {shown(1, key(10)), shown(2, key(20)), pending(3, key(30), {key(5)})};
  const SiblingOrder order = order_siblings(siblings, kNoBounds);
  EXPECT_EQ(text_of(siblings, order), "1:0a 2:14 3:1e");
  EXPECT_FALSE(order.pending_seen);
}

TEST(SiblingOrder, OneThatALostWriteBroughtHereStandsWhereItWasPut) {
  const std::vector<Sibling> siblings = {shown(1, key(10)), pending(2, {}, {key(15)}), shown(3, key(20))};
  const SiblingOrder order = order_siblings(siblings, kNoBounds);
  EXPECT_EQ(text_of(siblings, order), "1:0a 2:0f 3:14");
  EXPECT_TRUE(order.pending_seen);
}

TEST(SiblingOrder, NewOneInAPendingOrderAloneGetsANewPosition) {
  const std::vector<Sibling> siblings = {pending(3, key(30), {key(5)}), fresh(4), shown(1, key(10)), shown(2, key(20))};
  const SiblingOrder order = order_siblings(siblings, kNoBounds);
  EXPECT_EQ(text_of(siblings, order), "3:05 4:new 1:0a 2:14");
  EXPECT_TRUE(rises(siblings, order));
  EXPECT_TRUE(order.pending_seen);
}

TEST(SiblingOrder, PendingOrderThatAUserDisturbedGivesNewPositionsOnlyToWhatTheUserMoved) {
  // A lost write took 4 to the front, then the user took 1 to the end.
  const std::vector<Sibling> siblings = {pending(4, key(40), {key(5)}), shown(2, key(20)), shown(3, key(30)),
                                         shown(1, key(10))};
  const SiblingOrder order = order_siblings(siblings, kNoBounds);
  EXPECT_EQ(text_of(siblings, order), "4:05 2:14 3:1e 1:new");
  EXPECT_TRUE(rises(siblings, order));
  EXPECT_TRUE(order.pending_seen);
}

TEST(SiblingOrder, OneInTransitIsPassedOver) {
  // 1 was to leave, and 2 to stand where it stood.
  const std::vector<Sibling> siblings = {pending(2, key(20), {key(10)}), in_transit(1, key(10)), shown(3, key(30))};
  const SiblingOrder order = order_siblings(siblings, kNoBounds);
  EXPECT_EQ(text_of(siblings, order), "2:0a 1:0a 3:1e");
  EXPECT_TRUE(order.pending_seen);
  EXPECT_TRUE(order.passed_over);
}

TEST(SiblingOrder, OneInTransitCountsWhereAUserMovedAnother) {
  const std::vector<Sibling> siblings = {in_transit(2, key(20)), shown(3, key(30)), shown(4, key(40)), shown(1, key(10))};
  EXPECT_EQ(ordered(siblings), "2:14 3:1e 4:28 1:new");
}

TEST(SiblingOrder, OneInTransitThatStandsInItsPlaceKeepsNewOnesBehindIt) {
  const std::vector<Sibling> siblings = {in_transit(1, key(10)), fresh(2), shown(3, key(30))};
  EXPECT_EQ(ordered(siblings), "1:0a 2:new 3:1e");
  EXPECT_TRUE(rises(siblings, order_siblings(siblings, kNoBounds), {0, 1, 2}));
}

TEST(SiblingOrder, OneInTransitThatWasNotHereGetsAPosition) {
  EXPECT_EQ(ordered({shown(1, key(10)), in_transit(2, {}), shown(3, key(30))}), "1:0a 2:new 3:1e");
}

// The write was to move 2 behind 4 and could not; 5, which was to follow it there, stands behind it where it is.
TEST(SiblingOrder, WhatFollowsAsItWasToIsPassedOver) {
  const std::vector<Sibling> siblings = {shown(1, key(10)), pending(2, key(20), {key(45)}), pending(5, key(50), {key(50)}),
                                         shown(3, key(30)), shown(4, key(40))};
  const SiblingOrder order = order_siblings(siblings, kNoBounds);
  EXPECT_EQ(text_of(siblings, order), "1:0a 2:14 5:32 3:1e 4:28");
  EXPECT_TRUE(order.passed_over);
}

// 4 came behind 1 as it was to, past 2, which was to go before 1 and could not.
TEST(SiblingOrder, WhatCamePastOneThatCouldNotBeMovedIsPassedOver) {
  const std::vector<Sibling> siblings = {shown(1, key(10)), pending(4, {}, {key(40)}),
                                         pending(2, key(20), {key(5), key(20)})};
  const SiblingOrder order = order_siblings(siblings, kNoBounds);
  EXPECT_EQ(text_of(siblings, order), "1:0a 4:28 2:14");
  EXPECT_TRUE(order.passed_over);
}

TEST(SiblingOrder, WhatAUserPutBehindAnotherIsNotPassedOver) {
  const std::vector<Sibling> siblings = {shown(1, key(10)), pending(5, key(50), {key(50)}), shown(3, key(30)),
                                         shown(4, key(40))};
  EXPECT_EQ(ordered(siblings), "1:0a 5:new 3:1e 4:28");
}

TEST(SiblingOrder, PendingPositionsCountInWhicheverOrderTheyAreTold) {
  const std::vector<Bytes> told = {key(5), key(25), key(35)};
  std::vector<Bytes> turned = told;
  std::reverse(turned.begin(), turned.end());
  const auto with = [](std::vector<Bytes> positions) {
    return std::vector{shown(1, key(10)), shown(2, key(20)), pending(3, key(40), std::move(positions)), shown(4, key(30))};
  };
  const SiblingOrder order = order_siblings(with(told), kNoBounds);
  EXPECT_EQ(order.positions, order_siblings(with(turned), kNoBounds).positions);
  EXPECT_EQ(order.positions, order_siblings(with(told), kNoBounds).positions);
  EXPECT_EQ(text_of(with(told), order), "1:0a 2:14 3:19 4:1e");
}

// How many of these can stay at most, each at one of its positions: tried out child by child.
std::size_t staying_max(const std::vector<Sibling>& siblings, const std::vector<std::size_t>& places) {
  std::vector<std::tuple<Bytes, ItemId, std::size_t>> ends;  // of rising sequences, with their lengths
  std::size_t longest = 0;
  for (const std::size_t place : places) {
    const Sibling& sibling = siblings[place];
    std::vector<Bytes> own = sibling.pending;
    if (!sibling.position.empty()) own.push_back(sibling.position);
    const std::size_t before = ends.size();
    for (const Bytes& position : own) {
      std::size_t length = 1;
      for (std::size_t index = 0; index < before; ++index) {
        const auto& [end, owner, ending] = ends[index];
        if (std::tie(end, owner) < std::tie(position, sibling.item)) length = std::max(length, ending + 1);
      }
      ends.emplace_back(position, sibling.item, length);
      longest = std::max(longest, length);
    }
  }
  return longest;
}

bool all_stay(const std::vector<Sibling>& siblings, const std::vector<std::size_t>& places) {
  const auto holders = std::count_if(places.begin(), places.end(), [&](std::size_t place) {
    return !siblings[place].position.empty() || !siblings[place].pending.empty();
  });
  return staying_max(siblings, places) == static_cast<std::size_t>(holders);
}

bool leaves(const Sibling& sibling) { return sibling.in_transit && !sibling.position.empty(); }

// Whether the write may have put the child at `place` behind the one that it stands behind: that was to be before it, and
// nobody whom the write has not touched was to be between them.
bool follows_as_planned(const std::vector<Sibling>& siblings, std::size_t place) {
  const Sibling& upper = siblings[place];
  const Sibling* lower = nullptr;
  for (std::size_t before = 0; before < place; ++before) {
    const Sibling& sibling = siblings[before];
    if (!leaves(sibling) && (!sibling.position.empty() || !sibling.pending.empty())) lower = &sibling;
  }
  if (leaves(upper)) return false;
  const auto place_of = [](const Bytes& position, const Sibling& of) { return std::pair(position, of.item); };
  for (const Bytes& position : upper.pending) {
    const auto high = place_of(position, upper);
    std::vector<std::pair<Bytes, ItemId>> lows = {{}};
    if (lower != nullptr) {
      lows.clear();
      for (const Bytes& pending : lower->pending) lows.push_back(place_of(pending, *lower));
      if (lows.empty()) lows.push_back(place_of(lower->position, *lower));
    }
    for (const auto& low : lows) {
      const auto is_between = [&](const Sibling& other) {
        if (!other.pending.empty() || other.position.empty() || other.in_transit) return false;
        const auto at = place_of(other.position, other);
        return low < at && at < high;
      };
      if (low < high && std::none_of(siblings.begin(), siblings.end(), is_between)) return true;
    }
  }
  return false;
}

// The places that count: all; or, if only so everything can stay, those without what is in transit, or without what the
// write has put where it stands as well.
std::vector<std::size_t> places_that_count(const std::vector<Sibling>& siblings) {
  std::vector<std::size_t> all;
  std::vector<std::size_t> remaining;
  std::vector<std::size_t> unexplained;
  for (std::size_t place = 0; place < siblings.size(); ++place) {
    all.push_back(place);
    if (leaves(siblings[place])) continue;
    remaining.push_back(place);
    if (!follows_as_planned(siblings, place)) unexplained.push_back(place);
  }
  if (all_stay(siblings, all)) return all;
  if (all_stay(siblings, remaining)) return remaining;
  return all_stay(siblings, unexplained) ? unexplained : all;
}

TEST(SiblingOrder, AnyOrderRisesAndMovesAsFewAsPossible) {
  std::mt19937 random(7);
  for (int round = 0; round < 2'000; ++round) {
    // Wide apart, so that there is room between any two; now and then equal.
    const auto position = [&] { return Bytes{static_cast<std::uint8_t>(10 * (1 + random() % 20)), 128}; };
    std::vector<Sibling> siblings;
    bool any_equal = false;
    std::vector<Bytes> used;
    const std::size_t count = 1 + random() % 8;
    for (std::uint64_t number = 1; number <= count; ++number) {
      Sibling sibling = fresh(number);
      if (random() % 5 != 0) sibling.position = position();
      if (round % 2 == 0) {
        for (auto left = random() % 3; left > 0; --left) sibling.pending.push_back(position());
        sibling.in_transit = random() % 8 == 0;
      }
      used.insert(used.end(), sibling.pending.begin(), sibling.pending.end());
      if (!sibling.position.empty()) used.push_back(sibling.position);
      siblings.push_back(std::move(sibling));
    }
    std::sort(used.begin(), used.end());
    any_equal = std::adjacent_find(used.begin(), used.end()) != used.end();
    std::shuffle(siblings.begin(), siblings.end(), random);

    const SiblingOrder order = order_siblings(siblings, kNoBounds);
    const std::vector<std::size_t> places = places_that_count(siblings);
    const std::size_t counted = places.size();
    ASSERT_TRUE(rises(siblings, order, places)) << "round " << round << ": " << text_of(siblings, order);
    const std::size_t fewest = counted - staying_max(siblings, places);
    // Between two equal positions there is no room, and then all move.
    if (any_equal && new_positions(order) == counted) continue;
    ASSERT_EQ(new_positions(order), fewest) << "round " << round << ": " << text_of(siblings, order);
  }
}

}  // namespace
}  // namespace harmonica::kernel
