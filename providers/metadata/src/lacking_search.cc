#include "lacking_search.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "sortable_tick.h"

namespace harmonica::providers {
namespace {

constexpr std::size_t kFirstProbeRows = 64;
constexpr std::size_t kProbeGrowth = 4;
// Beyond this an answer of the index takes too much memory (16 bytes a row), and only walking goes on.
constexpr std::size_t kProbeRowsMax = std::size_t{1} << 18;

// One distinct vector of the knowledge, by the numbers of replicas, and what was found out about it.
struct Bound {
  bool empty = false;
  std::vector<Tick> ticks;  // by replica number, less one
  std::size_t items_walked = 0;
  std::size_t next_probe_rows = kFirstProbeRows;  // also how many items are walked before that probe
  // All items with a version beyond it, wherever they stand; sorted. Nothing: too many so far.
  std::optional<std::vector<ItemId>> beyond;
};

class LackingSearch {
 public:
  LackingSearch(Connection& connection, const Knowledge& knowledge, std::size_t count_max)
      : connection_(connection), knowledge_(knowledge), count_max_(count_max) {}

  Result<std::vector<ItemId>> run(const ItemIdRange& range) {
    const auto steps = knowledge_.steps();
    auto step = std::prev(std::upper_bound(steps.begin(), steps.end(), range.first,
                                           [](const ItemId& id, const Knowledge::Step& s) { return id < s.first; }));
    for (; step != steps.end() && step->first <= range.last && !full(); ++step) {
      const auto following = std::next(step);
      const ItemId end = following == steps.end() ? last_item_id() : id_before(following->first);
      const ItemIdRange segment{std::max(step->first, range.first), std::min(end, range.last)};
      HARMONICA_RETURN_IF_ERROR(search(segment, bound_of(step->vector)));
    }
    return std::move(found_);
  }

 private:
  bool full() const { return found_.size() >= count_max_; }

  // `id` is not the first one.
  static ItemId id_before(ItemId id) {
    for (std::size_t i = ItemId::kSize; i-- > 0;) {
      if (id.bytes[i]-- != 0) break;
    }
    return id;
  }

  Bound& bound_of(std::uint32_t vector) {
    const auto [place, added] = bounds_.try_emplace(vector);
    Bound& bound = place->second;
    if (added) {
      const ClockVector& clocks = knowledge_.vectors()[vector];
      bound.empty = clocks.empty();
      bound.ticks.reserve(connection_.replicas().size());
      for (const ReplicaId& replica : connection_.replicas()) bound.ticks.push_back(clocks.at(replica));
    }
    return bound;
  }

  static bool probe_is_due(const Bound& bound) {
    return !bound.beyond.has_value() && bound.next_probe_rows <= kProbeRowsMax &&
           bound.items_walked >= bound.next_probe_rows - kFirstProbeRows;
  }

  Status search(const ItemIdRange& segment, Bound& bound) {
    // Where nothing is known every item is wanted, and one item is found at once.
    const bool walk_only = bound.empty || segment.first == segment.last;
    ItemId first = segment.first;
    std::optional<Statement> walk;
    while (!full()) {
      if (!walk_only && probe_is_due(bound)) HARMONICA_RETURN_IF_ERROR(probe(bound));
      if (!walk_only && bound.beyond.has_value()) {
        take_beyond({first, segment.last}, *bound.beyond);
        return {};
      }
      if (!walk.has_value()) {
        walk.emplace(connection_, Query::kScanItems);
        walk->bind(first.view()).bind(segment.last.view());
      }
      HARMONICA_ASSIGN_OR_RETURN(const Statement::Step next_step, walk->step());
      if (next_step == Statement::Step::kDone) return {};
      ++bound.items_walked;
      const auto id = ItemId::from_bytes(walk->blob(0));
      if (!id.has_value()) return connection_.corruption("the table of items is damaged");
      HARMONICA_RETURN_IF_ERROR(test(*id, walk->blob(1), bound));
      const std::optional<ItemId> following = next(*id);
      if (!following.has_value() || *id >= segment.last) return {};
      first = *following;
    }
    return {};
  }

  Status test(const ItemId& id, ByteView head, const Bound& bound) {
    const std::optional<bool> lacking = any_version(head, [&](const NumberedVersion& version) {
      return version.tick > (version.replica - std::size_t{1} < bound.ticks.size() ? bound.ticks[version.replica - 1] : 0);
    });
    if (!lacking.has_value()) return connection_.corruption("item " + id.to_text() + " is damaged");
    if (*lacking) found_.push_back(id);
    return {};
  }

  Status probe(Bound& bound) {
    const std::size_t rows_max = std::exchange(bound.next_probe_rows, bound.next_probe_rows * kProbeGrowth);
    std::vector<ItemId> beyond;
    std::size_t rows = 0;
    for (std::size_t i = 0; i < bound.ticks.size(); ++i) {
      Statement query(connection_, Query::kVersionsBeyond);
      query.bind(static_cast<std::int64_t>(i + 1))
          .bind(sortable(bound.ticks[i]))
          .bind(static_cast<std::int64_t>(rows_max - rows + 1));
      while (true) {
        HARMONICA_ASSIGN_OR_RETURN(const Statement::Step step, query.step());
        if (step == Statement::Step::kDone) break;
        if (++rows > rows_max) return {};
        const auto id = ItemId::from_bytes(query.blob(0));
        if (!id.has_value()) return connection_.corruption("the table of versions is damaged");
        beyond.push_back(*id);
      }
    }
    std::sort(beyond.begin(), beyond.end());
    beyond.erase(std::unique(beyond.begin(), beyond.end()), beyond.end());
    bound.beyond = std::move(beyond);
    return {};
  }

  void take_beyond(const ItemIdRange& range, const std::vector<ItemId>& beyond) {
    auto id = std::lower_bound(beyond.begin(), beyond.end(), range.first);
    for (; id != beyond.end() && *id <= range.last && !full(); ++id) found_.push_back(*id);
  }

  Connection& connection_;
  const Knowledge& knowledge_;
  const std::size_t count_max_;
  std::map<std::uint32_t, Bound> bounds_;
  std::vector<ItemId> found_;
};

}  // namespace

Result<std::vector<ItemId>> search_lacking(Connection& connection, const Knowledge& knowledge, const ItemIdRange& range,
                                           std::size_t count_max) {
  return LackingSearch(connection, knowledge, count_max).run(range);
}

}  // namespace harmonica::providers
