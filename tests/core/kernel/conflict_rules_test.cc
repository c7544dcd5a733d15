// What rules make of two values. Texts beside counters are values as Value::to_text() writes them.
#include "kernel/conflict_rules.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kernel/counter.h"
#include "support/shorthand.h"

namespace harmonica::kernel {
namespace {

using shorthand::item;
using shorthand::version;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

RuleOutcome outcome(ConflictRule rule, const Value& lesser, const Value& greater) {
  const Unit unit{1, "unit", greater.kind()};
  const Register first{version("A1"), lesser};
  const Register second{version("B2"), greater};
  return resolve({unit, rule, {first, second}, false, {}, {}, nullptr});
}

std::string text(ConflictRule rule, const Value& lesser, const Value& greater) {
  return outcome(rule, lesser, greater).value.to_text();
}

Value texts(const std::vector<std::string>& members) {
  Value::List list;
  for (const std::string& member : members) list.push_back(Value::text(member));
  return Value::list(std::move(list));
}

TEST(ConflictRules, MaxAndMinAreTotal) {
  const std::vector<Value> rising = {Value(),
                                     Value::boolean(false),
                                     Value::boolean(true),
                                     Value::integer(kLeast),
                                     Value::integer(-1),
                                     Value::integer(7),
                                     Value::real(-std::numeric_limits<double>::infinity()),
                                     Value::real(-0.0),
                                     Value::real(0.0),
                                     Value::real(1e-300),
                                     Value::real(std::numeric_limits<double>::infinity()),
                                     Value::real(std::numeric_limits<double>::quiet_NaN()),
                                     Value::text(""),
                                     Value::text("10"),
                                     Value::text("7"),
                                     Value::text("\xc3\xa9"),
                                     Value::bytes({}),
                                     Value::bytes({0, 1}),
                                     Value::bytes({0x80})};
  for (std::size_t small = 0; small < rising.size(); ++small) {
    for (std::size_t large = small + 1; large < rising.size(); ++large) {
      for (const auto& [a, b] : {std::pair(small, large), std::pair(large, small)}) {
        EXPECT_EQ(outcome(ConflictRule::kMax, rising[a], rising[b]).value, rising[large]) << rising[large].to_text();
        EXPECT_EQ(outcome(ConflictRule::kMin, rising[a], rising[b]).value, rising[small]) << rising[small].to_text();
      }
    }
  }
}

TEST(ConflictRules, UnionHasWhatEitherSideHas) {
  EXPECT_EQ(text(ConflictRule::kUnion, texts({"b", "a"}), texts({"c", "b"})), R"(["a", "b", "c"])");
  EXPECT_EQ(outcome(ConflictRule::kUnion, texts({"b", "a"}), texts({"c"})).loss, Loss::kNone);
  // As it was written where it has all of it already.
  EXPECT_EQ(text(ConflictRule::kUnion, texts({"a"}), texts({"c", "a", "b"})), R"(["c", "a", "b"])");
  EXPECT_EQ(text(ConflictRule::kUnion, texts({"a"}), Value()), R"(["a"])");
  EXPECT_EQ(text(ConflictRule::kUnion, Value(), texts({"a"})), R"(["a"])");
  EXPECT_EQ(outcome(ConflictRule::kUnion, Value::ids({item(2)}), Value::ids({item(1)})).value,
            Value::ids({item(1), item(2)}));
  const RuleOutcome mixed = outcome(ConflictRule::kUnion, texts({"a"}), Value::ids({item(1)}));
  EXPECT_EQ(mixed.value, Value::ids({item(1)}));
  EXPECT_EQ(mixed.loss, Loss::kRecorded);
}

TEST(ConflictRules, NumbersAreAddedAndHalvedWithinTheirRange) {
  const auto whole = [](ConflictRule rule, std::int64_t a, std::int64_t b) {
    return *outcome(rule, Value::integer(a), Value::integer(b)).value.if_integer();
  };
  EXPECT_EQ(whole(ConflictRule::kAdditive, 110, 95), 205);
  EXPECT_EQ(whole(ConflictRule::kAdditive, kMost, 1), kMost);
  EXPECT_EQ(whole(ConflictRule::kAdditive, kLeast, -1), kLeast);
  EXPECT_EQ(whole(ConflictRule::kAverage, 3, 4), 3);
  EXPECT_EQ(whole(ConflictRule::kAverage, -3, -4), -4);
  EXPECT_EQ(whole(ConflictRule::kAverage, kMost, kMost - 2), kMost - 1);
  EXPECT_EQ(whole(ConflictRule::kAverage, kLeast, kMost), -1);
  EXPECT_EQ(text(ConflictRule::kAverage, Value::real(1), Value::real(2)), "1.5");
  EXPECT_EQ(text(ConflictRule::kAdditive, Value(), Value::integer(2)), "2");
  EXPECT_EQ(text(ConflictRule::kAdditive, Value::text("one"), Value::integer(2)), "2");
}

TEST(ConflictRules, OnlyRulesThatLoseNothingLeaveNoRecord) {
  const Value one = Value::integer(1);
  const Value two = Value::integer(2);
  EXPECT_EQ(outcome(ConflictRule::kAdditive, one, two).loss, Loss::kNone);
  for (const ConflictRule rule :
       {ConflictRule::kLatest, ConflictRule::kEarliest, ConflictRule::kMax, ConflictRule::kMin, ConflictRule::kAverage,
        ConflictRule::kPriority, ConflictRule::kSourceWins, ConflictRule::kDestinationWins}) {
    EXPECT_EQ(outcome(rule, one, two).loss, Loss::kRecorded) << to_text(rule);
  }
}

Value start(std::int64_t number) { return new_counter(version("A1"), number); }

TEST(Counter, EveryReplicasStepsCount) {
  const Value at_a = counted(start(5), version("A2"), 5, 8);
  const Value at_b = counted(counted(start(5), version("B2"), 5, 1), version("B3"), 1, 2);
  EXPECT_EQ(counter_shown(at_a), Value::integer(8));
  EXPECT_EQ(counter_shown(at_b), Value::integer(2));
  EXPECT_EQ(counter_shown(merge_counters(at_a, at_b)), Value::integer(5));
  EXPECT_EQ(outcome(ConflictRule::kCounter, at_a, at_b).loss, Loss::kNone);
}

TEST(Counter, OfTwoThatWereCreatedApartTheFirstStands) {
  const Value first = counted(new_counter(version("B3"), -5), version("C9"), -5, -4);
  const Value second = counted(new_counter(version("A7"), 3), version("C9"), 3, 30);
  for (const auto& [a, b] : {std::pair(first, second), std::pair(second, first)}) {
    EXPECT_EQ(merge_counters(a, b), first);
    EXPECT_EQ(outcome(ConflictRule::kCounter, a, b).loss, Loss::kRecorded);
  }
  const Value alike = new_counter(version("A8"), -4);
  EXPECT_EQ(outcome(ConflictRule::kCounter, first, alike).loss, Loss::kNone);
}

TEST(Counter, MergingIsCommutativeAssociativeAndIdempotent) {
  const std::vector<Value> counters = {Value(),
                                       start(1),
                                       counted(start(1), version("A2"), 1, 9),
                                       counted(start(1), version("C2"), 1, -4),
                                       counted(counted(start(1), version("A2"), 1, 9), version("B3"), 9, 2),
                                       new_counter(version("B4"), 7),
                                       counted(new_counter(version("B4"), 7), version("A9"), 7, 8)};
  for (const Value& a : counters) {
    EXPECT_EQ(merge_counters(a, a), a);
    for (const Value& b : counters) {
      EXPECT_EQ(merge_counters(a, b), merge_counters(b, a));
      for (const Value& c : counters) {
        EXPECT_EQ(merge_counters(merge_counters(a, b), c), merge_counters(a, merge_counters(b, c)));
      }
    }
  }
}

TEST(Counter, WhatIsNoCounterIsOneThatNobodyHasCreated) {
  const Value counter = counted(start(3), version("A2"), 3, 4);
  const Value::List half = {Value::bytes({1, 2})};
  Value::List negative = *counter.if_list();
  negative[4] = Value::integer(-1);
  for (const Value& wrong : {Value(), Value::integer(7), Value::list(half), Value::list(negative)}) {
    EXPECT_EQ(counter_shown(wrong), Value()) << wrong.to_text();
    EXPECT_EQ(merge_counters(wrong, counter), counter) << wrong.to_text();
    EXPECT_EQ(counted(wrong, version("A2"), 0, 2), new_counter(version("A2"), 2)) << wrong.to_text();
  }
}

TEST(Counter, StaysWithinItsRange) {
  const Value most = counted(start(kMost), version("A2"), kMost, kMost);
  EXPECT_EQ(counter_shown(most), Value::integer(kMost));
  EXPECT_EQ(counter_shown(counted(most, version("B2"), 0, kMost)), Value::integer(kMost));
  EXPECT_EQ(counter_shown(counted(start(0), version("A2"), kMost, kLeast)), Value::integer(-kMost));
  EXPECT_EQ(counter_shown(start(kLeast)), Value::integer(-kMost));
}

}  // namespace
}  // namespace harmonica::kernel
