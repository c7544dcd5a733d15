#include "wire/retired_ticks.h"

#include <utility>

namespace harmonica::wire {
namespace {

using Entries = std::vector<ClockVector::Entry>;

// Calls `visit` with the tick of each replica that is in one of the two, by replica; 0: it is not in that one.
template <typename First, typename Second, typename Visitor>
void visit_both(const First& first, const Second& second, const Visitor& visit) {
  auto left = first.begin();
  auto right = second.begin();
  while (left != first.end() || right != second.end()) {
    const bool in_left = left != first.end() && (right == second.end() || left->replica <= right->replica);
    const bool in_right = right != second.end() && (left == first.end() || right->replica <= left->replica);
    visit(in_left ? left->replica : right->replica, in_left ? &*left : nullptr, in_right ? &*right : nullptr);
    if (in_left) ++left;
    if (in_right) ++right;
  }
}

}  // namespace

RetiredTicks retired_ticks_of(const ReplicaTable& table) {
  Entries entries;
  for (const ReplicaRow& row : table.rows()) {
    if (row.retired && row.last != 0) entries.push_back({row.replica, row.last});
  }
  if (entries.empty()) return {};
  return {table.digest(), ClockVector(std::move(entries))};
}

Entries without_retired(const ClockVector& vector, const RetiredTicks& retired) {
  Entries others;
  visit_both(vector.entries(), retired.ticks.entries(),
             [&](const ReplicaId& replica, const ClockVector::Entry* own, const ClockVector::Entry* last) {
               const Tick tick = own == nullptr ? 0 : own->tick;
               if (last == nullptr || tick != last->tick) others.push_back({replica, tick});
             });
  return others;
}

ClockVector with_retired(const Entries& entries, const RetiredTicks& retired) {
  Entries all;
  all.reserve(entries.size() + retired.ticks.entries().size());
  visit_both(entries, retired.ticks.entries(),
             [&](const ReplicaId& replica, const ClockVector::Entry* own, const ClockVector::Entry* last) {
               const Tick tick = own == nullptr ? last->tick : own->tick;
               if (tick != 0) all.push_back({replica, tick});
             });
  return ClockVector(std::move(all));
}

}  // namespace harmonica::wire
