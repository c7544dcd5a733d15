#include "kernel/counter.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace harmonica::kernel {
namespace {

// What one replica has done; neither ever falls.
struct Steps {
  std::int64_t added = 0;
  std::int64_t subtracted = 0;
};

struct Counter {
  Version created;
  std::int64_t first = 0;
  std::map<ReplicaId, Steps> steps;
};

constexpr std::size_t kHead = 3;
constexpr std::size_t kStepMembers = 3;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// For numbers of 0 or more; stays at the greatest one.
std::int64_t sum(std::int64_t a, std::int64_t b) { return a > kMost - b ? kMost : a + b; }

std::optional<ReplicaId> replica_of(const Value& value) {
  const Bytes* bytes = value.if_bytes();
  return bytes == nullptr || bytes->size() != ReplicaId::kSize ? std::nullopt : ReplicaId::from_bytes(*bytes);
}

std::optional<Counter> read(const Value& value) {
  const Value::List* list = value.if_list();
  if (list == nullptr || list->size() < kHead || (list->size() - kHead) % kStepMembers != 0) return std::nullopt;
  Counter counter;
  const std::optional<ReplicaId> creator = replica_of((*list)[0]);
  const std::int64_t* tick = (*list)[1].if_integer();
  const std::int64_t* first = (*list)[2].if_integer();
  if (!creator || tick == nullptr || first == nullptr) return std::nullopt;
  counter.created = {*creator, static_cast<Tick>(*tick)};
  counter.first = *first;
  for (std::size_t at = kHead; at < list->size(); at += kStepMembers) {
    const std::optional<ReplicaId> replica = replica_of((*list)[at]);
    const std::int64_t* added = (*list)[at + 1].if_integer();
    const std::int64_t* subtracted = (*list)[at + 2].if_integer();
    if (!replica || added == nullptr || subtracted == nullptr || *added < 0 || *subtracted < 0) return std::nullopt;
    Steps& steps = counter.steps[*replica];
    steps = {std::max(steps.added, *added), std::max(steps.subtracted, *subtracted)};
  }
  return counter;
}

Value replica_value(const ReplicaId& replica) { return Value::bytes(Bytes(replica.bytes.begin(), replica.bytes.end())); }

Value write(const Counter& counter) {
  Value::List list = {replica_value(counter.created.replica),
                      Value::integer(static_cast<std::int64_t>(counter.created.tick)), Value::integer(counter.first)};
  list.reserve(kHead + counter.steps.size() * kStepMembers);
  for (const auto& [replica, steps] : counter.steps) {
    list.push_back(replica_value(replica));
    list.push_back(Value::integer(steps.added));
    list.push_back(Value::integer(steps.subtracted));
  }
  return Value::list(std::move(list));
}

// Which of two that were created apart stands: the first; of one version with two numbers, the lesser.
auto rank(const Counter& counter) { return std::pair(counter.created, counter.first); }

void add(Steps& steps, std::int64_t difference) {
  if (difference >= 0) {
    steps.added = sum(steps.added, difference);
  } else {
    steps.subtracted = sum(steps.subtracted, difference == std::numeric_limits<std::int64_t>::min() ? kMost : -difference);
  }
}

}  // namespace

Value counter_shown(const Value& value) {
  const std::optional<Counter> counter = read(value);
  if (!counter) return {};
  Steps all;
  add(all, counter->first);
  for (const auto& [replica, steps] : counter->steps) {
    all.added = sum(all.added, steps.added);
    all.subtracted = sum(all.subtracted, steps.subtracted);
  }
  return Value::integer(all.added - all.subtracted);
}

Value new_counter(const Version& created, std::int64_t number) { return write({created, number, {}}); }

Value counted(const Value& counter, const Version& version, std::int64_t from, std::int64_t to) {
  std::optional<Counter> after = read(counter);
  if (!after) return new_counter(version, to);
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(to, from, &difference)) difference = to < from ? -kMost : kMost;
  add(after->steps[version.replica], difference);
  return write(*after);
}

Value merge_counters(const Value& a, const Value& b) {
  std::optional<Counter> one = read(a);
  const std::optional<Counter> other = read(b);
  if (!one || !other) return one ? write(*one) : other ? write(*other) : Value();
  if (rank(*one) != rank(*other)) return write(rank(*one) < rank(*other) ? *one : *other);
  for (const auto& [replica, steps] : other->steps) {
    Steps& own = one->steps[replica];
    own = {std::max(own.added, steps.added), std::max(own.subtracted, steps.subtracted)};
  }
  return write(*one);
}

bool is_same_counter(const Value& a, const Value& b) {
  const std::optional<Counter> one = read(a);
  const std::optional<Counter> other = read(b);
  return !one || !other || rank(*one) == rank(*other);
}

}  // namespace harmonica::kernel
