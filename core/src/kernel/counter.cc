#include "kernel/counter.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace harmonica::kernel {
namespace {

// What one replica has done; neither ever falls.
struct Steps {
  std::int64_t added = 0;
  std::int64_t subtracted = 0;
};

using Counter = std::map<ReplicaId, Steps>;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// For numbers of 0 or more; stays at the greatest one.
std::int64_t sum(std::int64_t a, std::int64_t b) { return a > kMost - b ? kMost : a + b; }

// What is no counter counts as an empty one.
Counter read(const Value& value) {
  Counter counter;
  const Value::List* list = value.if_list();
  if (list == nullptr || list->size() % 3 != 0) return counter;
  for (std::size_t at = 0; at < list->size(); at += 3) {
    const Bytes* replica = (*list)[at].if_bytes();
    const std::int64_t* added = (*list)[at + 1].if_integer();
    const std::int64_t* subtracted = (*list)[at + 2].if_integer();
    if (replica == nullptr || added == nullptr || subtracted == nullptr) return {};
    const std::optional<ReplicaId> id = ReplicaId::from_bytes(*replica);
    if (!id || *added < 0 || *subtracted < 0) return {};
    Steps& steps = counter[*id];
    steps = {std::max(steps.added, *added), std::max(steps.subtracted, *subtracted)};
  }
  return counter;
}

Value write(const Counter& counter) {
  Value::List list;
  list.reserve(counter.size() * 3);
  for (const auto& [replica, steps] : counter) {
    list.push_back(Value::bytes(Bytes(replica.bytes.begin(), replica.bytes.end())));
    list.push_back(Value::integer(steps.added));
    list.push_back(Value::integer(steps.subtracted));
  }
  return Value::list(std::move(list));
}

void add(Steps& steps, std::int64_t difference) {
  if (difference >= 0) {
    steps.added = sum(steps.added, difference);
  } else {
    steps.subtracted = sum(steps.subtracted, difference == std::numeric_limits<std::int64_t>::min() ? kMost : -difference);
  }
}

}  // namespace

Value counter_shown(const Value& counter) {
  std::int64_t added = 0;
  std::int64_t subtracted = 0;
  for (const auto& [replica, steps] : read(counter)) {
    added = sum(added, steps.added);
    subtracted = sum(subtracted, steps.subtracted);
  }
  return Value::integer(added - subtracted);
}

Value new_counter(std::int64_t number) {
  Counter counter;
  add(counter[ReplicaId()], number);
  return write(counter);
}

Value counted(const Value& counter, const ReplicaId& replica, std::int64_t from, std::int64_t to) {
  Counter after = read(counter);
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(to, from, &difference)) difference = to < from ? -kMost : kMost;
  add(after[replica], difference);
  return write(after);
}

Value merge_counters(const Value& a, const Value& b) {
  Counter merged = read(a);
  for (const auto& [replica, steps] : read(b)) {
    Steps& own = merged[replica];
    own = {std::max(own.added, steps.added), std::max(own.subtracted, steps.subtracted)};
  }
  return write(merged);
}

}  // namespace harmonica::kernel
