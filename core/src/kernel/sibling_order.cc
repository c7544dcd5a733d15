#include "kernel/sibling_order.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "kernel/position.h"

namespace harmonica::kernel {
namespace {

// Equal positions are ordered by item, as the view orders them.
bool stands_before(const Bytes& a, const ItemId& item_a, const Bytes& b, const ItemId& item_b) {
  return std::tie(a, item_a) < std::tie(b, item_b);
}

bool is_settled(const std::vector<Sibling>& siblings) {
  for (std::size_t place = 0; place < siblings.size(); ++place) {
    const Sibling& sibling = siblings[place];
    if (sibling.position.empty() || sibling.in_transit || !sibling.pending.empty()) return false;
    if (place == 0) continue;
    const Sibling& before = siblings[place - 1];
    if (!stands_before(before.position, before.item, sibling.position, sibling.item)) return false;
  }
  return true;
}

bool is_leaving(const Sibling& sibling) { return sibling.in_transit && !sibling.position.empty(); }

// The positions from which the order follows if a write that was lost, or accepted in part, has put some children in place
// already. Nothing if there is no such write, or the order is another one.
std::optional<std::vector<Bytes>> order_of_ours(const std::vector<Sibling>& siblings) {
  std::vector<Bytes> ours;
  ours.reserve(siblings.size());
  bool any_pending = false;
  std::pair<Bytes, ItemId> last;
  for (const Sibling& sibling : siblings) {
    ours.push_back(sibling.position);
    if (is_leaving(sibling)) {
      any_pending = true;
      continue;
    }
    any_pending = any_pending || !sibling.pending.empty();
    std::vector<Bytes> candidates = sibling.pending;
    if (!sibling.position.empty()) candidates.push_back(sibling.position);
    if (candidates.empty()) continue;
    std::sort(candidates.begin(), candidates.end());
    const auto chosen = std::find_if(candidates.begin(), candidates.end(), [&](const Bytes& candidate) {
      return stands_before(last.first, last.second, candidate, sibling.item);
    });
    if (chosen == candidates.end()) return std::nullopt;
    ours.back() = *chosen;
    last = {*chosen, sibling.item};
  }
  if (!any_pending) return std::nullopt;
  return ours;
}

// A child that gets a position, and the one it has; empty: none.
struct Placed {
  std::size_t place;
  Bytes position;
};

class Ordering {
 public:
  Ordering(const std::vector<Sibling>& siblings, const std::pair<Bytes, Bytes>& bounds, std::vector<Placed> placed)
      : siblings_(siblings), bounds_(bounds), placed_(std::move(placed)) {}

  // Into `positions`, by place.
  void give(std::vector<SiblingPosition>& positions) const {
    const std::vector<std::size_t> staying = in_order();
    std::size_t next_staying = 0;
    Bytes lower = bounds_.first;
    for (std::size_t index = 0; index < placed_.size();) {
      if (next_staying < staying.size() && staying[next_staying] == index) {
        lower = placed_[index].position;
        positions[placed_[index].place] = {lower, false};
        ++next_staying;
        ++index;
        continue;
      }
      const std::size_t run_end = next_staying < staying.size() ? staying[next_staying] : placed_.size();
      const Bytes& upper = next_staying < staying.size() ? placed_[run_end].position : bounds_.second;
      std::vector<Bytes> fresh = positions_between(lower, upper, items(index, run_end));
      const bool fits = lower < fresh.front() && (upper.empty() || fresh.back() < upper);
      if (!fits) {
        give_run(0, positions_between({}, {}, items(0, placed_.size())), positions);
        return;
      }
      lower = fresh.back();
      give_run(index, std::move(fresh), positions);
      index = run_end;
    }
  }

 private:
  std::vector<ItemId> items(std::size_t first, std::size_t end) const {
    std::vector<ItemId> ids;
    for (std::size_t index = first; index < end; ++index) ids.push_back(siblings_[placed_[index].place].item);
    return ids;
  }

  void give_run(std::size_t first, std::vector<Bytes> fresh, std::vector<SiblingPosition>& positions) const {
    for (std::size_t member = 0; member < fresh.size(); ++member) {
      positions[placed_[first + member].place] = {std::move(fresh[member]), true};
    }
  }

  // Which children can keep their positions: a longest sequence in which they rise.
  std::vector<std::size_t> in_order() const {
    std::vector<std::size_t> holders;
    for (std::size_t index = 0; index < placed_.size(); ++index) {
      if (!placed_[index].position.empty()) holders.push_back(index);
    }
    const auto before = [&](std::size_t a, std::size_t b) {
      return stands_before(placed_[a].position, siblings_[placed_[a].place].item, placed_[b].position,
                           siblings_[placed_[b].place].item);
    };
    if (std::is_sorted(holders.begin(), holders.end(), before)) return holders;
    std::vector<std::size_t> sorted = holders;
    std::sort(sorted.begin(), sorted.end(), before);
    std::vector<Bytes> ranks(placed_.size());
    for (std::size_t rank = 0; rank < sorted.size(); ++rank) {
      for (int shift = 24; shift >= 0; shift -= 8) ranks[sorted[rank]].push_back(static_cast<std::uint8_t>(rank >> shift));
    }
    std::vector<Bytes> sequence;
    for (const std::size_t index : holders) sequence.push_back(ranks[index]);
    std::vector<std::size_t> staying;
    for (const std::size_t index : longest_increasing(sequence)) staying.push_back(holders[index]);
    return staying;
  }

  const std::vector<Sibling>& siblings_;
  const std::pair<Bytes, Bytes>& bounds_;
  const std::vector<Placed> placed_;
};

}  // namespace

SiblingOrder order_siblings(std::vector<Sibling> siblings, const std::pair<Bytes, Bytes>& bounds) {
  SiblingOrder order;
  if (is_settled(siblings)) {
    for (Sibling& sibling : siblings) order.positions.push_back({std::move(sibling.position), false});
    return order;
  }
  std::optional<std::vector<Bytes>> ours = order_of_ours(siblings);
  std::vector<Placed> placed;
  for (std::size_t place = 0; place < siblings.size(); ++place) {
    order.positions.push_back({siblings[place].position, false});
    if (!ours) {
      placed.push_back({place, siblings[place].position});
    } else if (!is_leaving(siblings[place])) {
      if ((*ours)[place] != siblings[place].position) order.pending_seen = true;
      placed.push_back({place, std::move((*ours)[place])});
    }
  }
  Ordering(siblings, bounds, std::move(placed)).give(order.positions);
  return order;
}

}  // namespace harmonica::kernel
