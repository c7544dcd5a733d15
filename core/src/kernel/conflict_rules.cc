#include "kernel/conflict_rules.h"

#include <algorithm>
#include <bit>
#include <compare>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "harmonica/limits.h"
#include "kernel/counter.h"
#include "kernel/text_merge.h"

namespace harmonica::kernel {
namespace {

// The bits of a real as a number that rises with it: a total order, also of what compares equal or not at all.
std::int64_t rising_bits(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value);
  return bits < 0 ? bits ^ std::numeric_limits<std::int64_t>::max() : bits;
}

// Kinds in their order, then content. Total, and equal only for equal values.
std::strong_ordering order(const Value& a, const Value& b) {
  if (const auto kinds = a.kind() <=> b.kind(); kinds != 0) return kinds;
  switch (a.kind()) {
    case ValueKind::kBoolean:
      return *a.if_boolean() <=> *b.if_boolean();
    case ValueKind::kInteger:
      return *a.if_integer() <=> *b.if_integer();
    case ValueKind::kReal:
      return rising_bits(*a.if_real()) <=> rising_bits(*b.if_real());
    case ValueKind::kText:
      return a.if_text()->compare(*b.if_text()) <=> 0;
    case ValueKind::kBytes:
      return *a.if_bytes() <=> *b.if_bytes();
    case ValueKind::kIds:
      return *a.if_ids() <=> *b.if_ids();
    case ValueKind::kList:
      return std::lexicographical_compare_three_way(a.if_list()->begin(), a.if_list()->end(), b.if_list()->begin(),
                                                    b.if_list()->end(), order);
    case ValueKind::kNull:
      break;
  }
  return std::strong_ordering::equal;
}

bool comes_before(const Value& a, const Value& b) { return order(a, b) < 0; }

// The members of both, in order, none twice; nothing if `greater` has all of them already.
template <typename Members, typename Before>
std::optional<Members> united(Members lesser, Members greater, const Before& before) {
  const auto as_set = [&](Members& members) {
    std::sort(members.begin(), members.end(), before);
    members.erase(std::unique(members.begin(), members.end()), members.end());
  };
  as_set(lesser);
  as_set(greater);
  if (std::includes(greater.begin(), greater.end(), lesser.begin(), lesser.end(), before)) return std::nullopt;
  Members all;
  std::set_union(lesser.begin(), lesser.end(), greater.begin(), greater.end(), std::back_inserter(all), before);
  return all;
}

// Null is the empty set. Nothing if the values are no sets of one kind.
std::optional<Value> unite(const Value& lesser, const Value& greater) {
  if (lesser.is_null()) return greater;
  if (greater.is_null()) return lesser;
  if (lesser.if_ids() != nullptr && greater.if_ids() != nullptr) {
    auto all = united(*lesser.if_ids(), *greater.if_ids(), std::less<ItemId>());
    return all ? Value::ids(*std::move(all)) : greater;
  }
  if (lesser.if_list() != nullptr && greater.if_list() != nullptr) {
    auto all = united(*lesser.if_list(), *greater.if_list(), comes_before);
    return all ? Value::list(*std::move(all)) : greater;
  }
  return std::nullopt;
}

// The sum, at the end of the range where it would leave it.
std::int64_t added(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

// Half of the sum, rounded down, without the sum.
std::int64_t halfway(std::int64_t a, std::int64_t b) { return (a >> 1) + (b >> 1) + (a & b & 1); }

// Null counts as if it were not there.
std::optional<Value> combine_numbers(ConflictRule rule, const Value& a, const Value& b) {
  if (a.is_null()) return b;
  if (b.is_null()) return a;
  const bool adds = rule == ConflictRule::kAdditive;
  if (a.if_integer() != nullptr && b.if_integer() != nullptr) {
    return Value::integer(adds ? added(*a.if_integer(), *b.if_integer()) : halfway(*a.if_integer(), *b.if_integer()));
  }
  if (a.if_real() != nullptr && b.if_real() != nullptr) {
    return Value::real(adds ? *a.if_real() + *b.if_real() : *a.if_real() / 2 + *b.if_real() / 2);
  }
  return std::nullopt;
}

std::optional<Value> merge(const Value& lesser, const Value& greater, const Value* base) {
  if (base == nullptr || base->if_text() == nullptr || lesser.if_text() == nullptr || greater.if_text() == nullptr) {
    return std::nullopt;
  }
  std::optional<std::string> text = merge_texts(*base->if_text(), *lesser.if_text(), *greater.if_text());
  if (!text) return std::nullopt;
  return Value::text(*std::move(text));
}

RuleOutcome without_loss(std::optional<Value> value, const Value& latest) {
  const bool fits = value && value->weight() <= limits::kValueBytesMax;
  return fits ? RuleOutcome{*std::move(value), Loss::kNone} : RuleOutcome{latest, Loss::kRecorded};
}

// Of two counters that were created apart one stands; where they show the same it does not matter which.
RuleOutcome merge_counts(const Value& lesser, const Value& greater) {
  RuleOutcome outcome = without_loss(merge_counters(lesser, greater), greater);
  if (!is_same_counter(lesser, greater) && counter_shown(lesser) != counter_shown(greater)) outcome.loss = Loss::kRecorded;
  return outcome;
}

}  // namespace

bool needs_an_end(ConflictRule rule) {
  switch (rule) {
    case ConflictRule::kLatest:
    case ConflictRule::kMax:
    case ConflictRule::kMin:
    case ConflictRule::kUnion:
    case ConflictRule::kCounter:
      return false;
    default:
      return true;
  }
}

RuleOutcome resolve(const RuleInput& input) {
  const Value& lesser = input.sides.lesser.value;
  const Value& greater = input.sides.greater.value;
  const bool both_by_rule =
      input.sides.lesser.origin == Origin::kMadeByRule && input.sides.greater.origin == Origin::kMadeByRule;
  if (both_by_rule && needs_an_end(input.rule)) return {greater};
  switch (input.rule) {
    case ConflictRule::kEarliest:
      return {lesser};
    case ConflictRule::kMax:
      return {comes_before(greater, lesser) ? lesser : greater};
    case ConflictRule::kMin:
      return {comes_before(lesser, greater) ? lesser : greater};
    case ConflictRule::kUnion:
      return without_loss(unite(lesser, greater), greater);
    case ConflictRule::kTextMerge:
      return without_loss(merge(lesser, greater, input.base), greater);
    case ConflictRule::kPriority:
      return {comes_before(input.greater_priority, input.lesser_priority) ? lesser : greater};
    case ConflictRule::kCounter:
      return merge_counts(lesser, greater);
    case ConflictRule::kAdditive:
      return without_loss(combine_numbers(input.rule, lesser, greater), greater);
    case ConflictRule::kAverage: {
      const std::optional<Value> value = combine_numbers(input.rule, lesser, greater);
      return {value.value_or(greater)};
    }
    case ConflictRule::kSourceWins:
      return {input.source_is_greater ? greater : lesser};
    case ConflictRule::kDestinationWins:
      return {input.source_is_greater ? lesser : greater};
    case ConflictRule::kLatest:
    case ConflictRule::kManual:
    case ConflictRule::kCustom:
      break;
  }
  return {greater};
}

}  // namespace harmonica::kernel
