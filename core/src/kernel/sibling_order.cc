#include "kernel/sibling_order.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
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

bool has_candidates(const Sibling& sibling) { return !sibling.position.empty() || !sibling.pending.empty(); }

// A child and a position that it has, or that a write was to give it.
struct Candidate {
  std::size_t place;
  Bytes position;
};

// Each child's candidates from the last to the first, so that no rising sequence takes two of them.
std::vector<Candidate> candidates_of(const std::vector<Sibling>& siblings, const std::vector<std::size_t>& placed) {
  std::vector<Candidate> candidates;
  for (const std::size_t place : placed) {
    const Sibling& sibling = siblings[place];
    std::vector<Bytes> own = sibling.pending;
    if (!sibling.position.empty()) own.push_back(sibling.position);
    std::sort(own.begin(), own.end(), std::greater<>());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    for (Bytes& position : own) candidates.push_back({place, std::move(position)});
  }
  return candidates;
}

// Which of the children at `placed` can stay, and where: a longest sequence of candidates that rise. If a write that was
// lost, or accepted in part, has put some children in place already and no user has moved any, those are all children that
// have candidates.
std::vector<Candidate> staying_children(const std::vector<Sibling>& siblings, const std::vector<std::size_t>& placed) {
  std::vector<Candidate> candidates = candidates_of(siblings, placed);
  const auto before = [&](const Candidate& a, const Candidate& b) {
    return stands_before(a.position, siblings[a.place].item, b.position, siblings[b.place].item);
  };
  if (std::is_sorted(candidates.begin(), candidates.end(), before)) return candidates;
  std::vector<std::size_t> sorted(candidates.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::sort(sorted.begin(), sorted.end(),
            [&](std::size_t a, std::size_t b) { return before(candidates[a], candidates[b]); });
  std::vector<Bytes> ranks(candidates.size());
  for (std::size_t rank = 0; rank < sorted.size(); ++rank) {
    for (int shift = 24; shift >= 0; shift -= 8) ranks[sorted[rank]].push_back(static_cast<std::uint8_t>(rank >> shift));
  }
  std::vector<Candidate> staying;
  for (const std::size_t index : longest_increasing(ranks)) staying.push_back(std::move(candidates[index]));
  return staying;
}

// Which children with a pending position stand behind one that they were to follow, with nobody who was to stay between the
// two. The write has put them there, perhaps past others that it could not move out of the way.
class PlannedOrder {
 public:
  explicit PlannedOrder(const std::vector<Sibling>& siblings) : siblings_(siblings) {
    for (const Sibling& sibling : siblings) {
      if (sibling.pending.empty() && !sibling.position.empty() && !sibling.in_transit) {
        staying_.push_back({sibling.position, sibling.item});
      }
    }
    std::sort(staying_.begin(), staying_.end());
  }

  std::vector<bool> followers() const {
    std::vector<bool> followers(siblings_.size(), false);
    const Sibling* before = nullptr;
    for (std::size_t place = 0; place < siblings_.size(); ++place) {
      const Sibling& sibling = siblings_[place];
      if (!has_candidates(sibling) || is_leaving(sibling)) continue;
      followers[place] = std::any_of(sibling.pending.begin(), sibling.pending.end(), [&](const Bytes& position) {
        return may_follow(before, {position, sibling.item});
      });
      before = &sibling;
    }
    return followers;
  }

 private:
  using Place = std::pair<Bytes, ItemId>;

  // `before` null: as the first.
  bool may_follow(const Sibling* before, const Place& place) const {
    if (before == nullptr) return staying_.empty() || place < staying_.front();
    const auto may_be_behind = [&](const Bytes& position) {
      const Place lower{position, before->item};
      const auto between = std::upper_bound(staying_.begin(), staying_.end(), lower);
      return lower < place && (between == staying_.end() || place < *between);
    };
    if (before->pending.empty()) return may_be_behind(before->position);
    return std::any_of(before->pending.begin(), before->pending.end(), may_be_behind);
  }

  const std::vector<Sibling>& siblings_;
  std::vector<Place> staying_;  // where the write has not touched anybody, rising
};

// The children that get a position now, and those that stay between them.
class Ordering {
 public:
  // `placed`: the places of those that count.
  Ordering(const std::vector<Sibling>& siblings, const std::pair<Bytes, Bytes>& bounds, std::vector<std::size_t> placed,
           std::vector<Candidate> staying)
      : siblings_(siblings), bounds_(bounds), staying_(std::move(staying)), placed_(std::move(placed)) {}

  // Into `positions`, by place.
  void give(std::vector<SiblingPosition>& positions) const {
    Bytes lower = bounds_.first;
    std::size_t index = 0;
    for (std::size_t next_staying = 0; next_staying <= staying_.size(); ++next_staying) {
      const bool at_end = next_staying == staying_.size();
      const Bytes& upper = at_end ? bounds_.second : staying_[next_staying].position;
      std::size_t run_end = index;
      while (run_end < placed_.size() && (at_end || placed_[run_end] != staying_[next_staying].place)) ++run_end;
      if (index < run_end) {
        std::vector<Bytes> fresh = positions_between(lower, upper, items(index, run_end));
        const bool fits = lower < fresh.front() && (upper.empty() || fresh.back() < upper);
        if (!fits) {
          give_run(0, positions_between({}, {}, items(0, placed_.size())), positions);
          return;
        }
        give_run(index, std::move(fresh), positions);
      }
      if (at_end) return;
      lower = upper;
      positions[placed_[run_end]] = {upper, false};
      index = run_end + 1;
    }
  }

 private:
  std::vector<ItemId> items(std::size_t first, std::size_t end) const {
    std::vector<ItemId> ids;
    for (std::size_t index = first; index < end; ++index) ids.push_back(siblings_[placed_[index]].item);
    return ids;
  }

  void give_run(std::size_t first, std::vector<Bytes> fresh, std::vector<SiblingPosition>& positions) const {
    for (std::size_t member = 0; member < fresh.size(); ++member) {
      positions[placed_[first + member]] = {std::move(fresh[member]), true};
    }
  }

  const std::vector<Sibling>& siblings_;
  const std::pair<Bytes, Bytes>& bounds_;
  const std::vector<Candidate> staying_;
  const std::vector<std::size_t> placed_;
};

}  // namespace

SiblingOrder order_siblings(std::vector<Sibling> siblings, const std::pair<Bytes, Bytes>& bounds) {
  SiblingOrder order;
  if (is_settled(siblings)) {
    for (Sibling& sibling : siblings) order.positions.push_back({std::move(sibling.position), false});
    return order;
  }
  for (const Sibling& sibling : siblings) {
    const bool comes = sibling.position.empty() && !sibling.pending.empty();
    order.positions.push_back({comes ? sibling.pending.back() : sibling.position, false});
  }
  std::vector<std::size_t> placed(siblings.size());
  std::iota(placed.begin(), placed.end(), std::size_t{0});
  std::vector<Candidate> staying = staying_children(siblings, placed);
  const auto all_stay = [&](const std::vector<std::size_t>& places, const std::vector<Candidate>& stay) {
    return static_cast<std::size_t>(std::count_if(places.begin(), places.end(), [&](std::size_t place) {
             return has_candidates(siblings[place]);
           })) == stay.size();
  };
  if (!all_stay(placed, staying)) {
    // What is in transit is passed over if the order is that of the write, as far as it got, without it; then also what
    // stands where the write has put it. Else all stand where they stand.
    const auto pass_over = [&](const auto& is_passed_over) {
      std::vector<std::size_t> remaining = placed;
      std::erase_if(remaining, is_passed_over);
      std::vector<Candidate> without = staying_children(siblings, remaining);
      order.passed_over = remaining.size() < placed.size() && all_stay(remaining, without);
      if (order.passed_over) {
        placed = std::move(remaining);
        staying = std::move(without);
      }
      return order.passed_over;
    };
    if (!pass_over([&](std::size_t place) { return is_leaving(siblings[place]); })) {
      const std::vector<bool> follow = PlannedOrder(siblings).followers();
      pass_over([&](std::size_t place) { return is_leaving(siblings[place]) || follow[place]; });
    }
  }
  for (const Candidate& one : staying) {
    if (one.position != siblings[one.place].position) order.pending_seen = true;
  }
  Ordering(siblings, bounds, std::move(placed), std::move(staying)).give(order.positions);
  return order;
}

}  // namespace harmonica::kernel
