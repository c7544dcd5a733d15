#include "harmonica/knowledge.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "harmonica/assert.h"
#include "harmonica/limits.h"

namespace harmonica {
namespace {

using Step = Knowledge::Step;

// The index of the step that `item` belongs to. The first step stands at the first id, so there always is one. Written
// without unpredictable branches.
std::size_t step_index(std::span<const Step> steps, const ItemId& item) {
  HARMONICA_ASSERT(!steps.empty());
  const Step* candidate = steps.data();
  for (std::size_t count = steps.size(); count > 1;) {
    const std::size_t half = count / 2;
    candidate = candidate[half].first <= item ? candidate + half : candidate;
    count -= half;
  }
  return static_cast<std::size_t>(candidate - steps.data());
}

// Calls visit(first, vector in a, vector in b) for each interval of `range` in which neither function steps, in order.
// Stops and returns false as soon as a call does.
template <typename Visit>
bool for_each_interval(std::span<const Step> a, std::span<const Step> b, const ItemIdRange& range, Visit visit) {
  std::size_t i = step_index(a, range.first);
  std::size_t j = step_index(b, range.first);
  ItemId first = range.first;
  while (true) {
    if (!visit(first, a[i].vector, b[j].vector)) return false;
    const bool a_steps = i + 1 < a.size();
    const bool b_steps = j + 1 < b.size();
    if (!a_steps && !b_steps) return true;
    first = !b_steps || (a_steps && a[i + 1].first < b[j + 1].first) ? a[i + 1].first : b[j + 1].first;
    if (range.last < first) return true;
    if (a_steps && a[i + 1].first == first) ++i;
    if (b_steps && b[j + 1].first == first) ++j;
  }
}

// What was computed for pairs of vectors: each pair is looked at once, however many intervals it stands in.
template <typename T>
class PairMemo {
 public:
  template <typename Compute>
  T get(std::uint32_t a, std::uint32_t b, Compute compute) {
    const auto [place, is_new] = known_.try_emplace(std::uint64_t{a} << 32 | b);
    if (is_new) place->second = compute();
    return place->second;
  }

 private:
  std::unordered_map<std::uint64_t, T> known_;
};

// Differs for almost all vectors that differ, and takes one pass; vectors with equal fingerprints are compared in full.
std::uint64_t fingerprint(const ClockVector& vector) {
  std::uint64_t sum = vector.entries().size();
  for (const auto& entry : vector.entries()) {
    sum = (sum ^ entry.replica.low() ^ entry.tick) * 0x9e3779b97f4a7c15;
    sum ^= sum >> 32;
  }
  return sum;
}

bool entries_less(const ClockVector& a, const ClockVector& b) {
  return std::lexicographical_compare(a.entries().begin(), a.entries().end(), b.entries().begin(), b.entries().end(),
                                      [](const ClockVector::Entry& x, const ClockVector::Entry& y) {
                                        if (x.replica != y.replica) return x.replica < y.replica;
                                        return x.tick < y.tick;
                                      });
}

// For each vector the index of one equal to it, the same for all that are equal.
std::vector<std::uint32_t> equal_vectors(std::span<const ClockVector> vectors) {
  std::vector<std::uint64_t> fingerprints;
  fingerprints.reserve(vectors.size());
  for (const ClockVector& vector : vectors) fingerprints.push_back(fingerprint(vector));
  std::vector<std::uint32_t> order(vectors.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (fingerprints[a] != fingerprints[b]) return fingerprints[a] < fingerprints[b];
    return entries_less(vectors[a], vectors[b]);
  });
  std::vector<std::uint32_t> equal(vectors.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool repeats =
        i > 0 && fingerprints[order[i]] == fingerprints[order[i - 1]] && vectors[order[i]] == vectors[order[i - 1]];
    equal[order[i]] = repeats ? equal[order[i - 1]] : order[i];
  }
  return equal;
}

Status invalid_steps(std::string message) {
  return Status(StatusCode::kInvalidArgument, std::move(message)).within("knowledge");
}

Status too_large(std::string message) { return Status(StatusCode::kLimitExceeded, std::move(message)).within("knowledge"); }

Status check(std::span<const ClockVector> vectors, std::span<const Step> steps) {
  if (steps.size() > limits::kKnowledgeStepsMax) return too_large(std::to_string(steps.size()) + " steps are too many");
  if (vectors.size() > limits::kKnowledgeStepsMax)
    return too_large(std::to_string(vectors.size()) + " vectors are too many");
  for (const ClockVector& vector : vectors) {
    const std::size_t replicas = vector.entries().size();
    if (replicas > limits::kReplicasMax) return too_large(std::to_string(replicas) + " replicas in a vector are too many");
  }
  if (steps.empty()) return invalid_steps("it has no step");
  if (steps.front().first != kFirstItemId)
    return invalid_steps("the first step stands at " + steps.front().first.to_text() + ", not at the first id");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].vector >= vectors.size())
      return invalid_steps("step " + steps[i].first.to_text() + ": no vector " + std::to_string(steps[i].vector));
    if (i > 0 && steps[i].first <= steps[i - 1].first)
      return invalid_steps("step " + steps[i].first.to_text() + ": ids do not rise");
  }
  return {};
}

}  // namespace

Knowledge::Knowledge() : Knowledge(ClockVector()) {}

Knowledge::Knowledge(ClockVector everywhere) : steps_{Step{kFirstItemId, 0}} { vectors_.push_back(std::move(everywhere)); }

Result<Knowledge> Knowledge::from_steps(std::vector<ClockVector> vectors, std::vector<Step> steps) {
  HARMONICA_RETURN_IF_ERROR(check(vectors, steps));
  Knowledge knowledge;
  knowledge.vectors_ = std::move(vectors);
  knowledge.steps_ = std::move(steps);
  knowledge.make_canonical(0);
  return knowledge;
}

const ClockVector& Knowledge::at(const ItemId& item) const { return vectors_[steps_[step_index(steps_, item)].vector]; }

bool Knowledge::contains(const Knowledge& other) const { return contains(other, ItemIdRange::all()); }

bool Knowledge::contains(const Knowledge& other, const ItemIdRange& range) const {
  PairMemo<bool> memo;
  return for_each_interval(steps_, other.steps_, range, [&](const ItemId&, std::uint32_t mine, std::uint32_t theirs) {
    return memo.get(mine, theirs, [&] { return vectors_[mine].contains(other.vectors_[theirs]); });
  });
}

void Knowledge::merge(const Knowledge& other) { merge(other, ItemIdRange::all()); }

void Knowledge::merge(const Knowledge& other, const ItemIdRange& range) {
  const std::size_t held = vectors_.size();
  PairMemo<std::uint32_t> memo;
  std::vector<Step> inside;
  for_each_interval(steps_, other.steps_, range, [&](const ItemId& first, std::uint32_t mine, std::uint32_t theirs) {
    const auto join = [&] {
      if (vectors_[mine].contains(other.vectors_[theirs])) return mine;
      ClockVector sum = vectors_[mine];
      sum.merge(other.vectors_[theirs]);
      return add_vector(std::move(sum));
    };
    inside.push_back(Step{first, memo.get(mine, theirs, join)});
    return true;
  });
  replace_steps(range, inside);
  make_canonical(held);
}

bool Knowledge::can_merge(const Knowledge& other, const ItemIdRange& range, std::size_t more) const {
  // Those outside of the range stay; one stands behind it.
  std::size_t steps = more + 1;
  for (const Step& step : steps_) steps += range.contains(step.first) ? 0 : 1;
  std::size_t entries = 0;
  for (const ClockVector& vector : vectors_) entries += vector.entries().size();
  PairMemo<bool> counted;
  return for_each_interval(steps_, other.steps_, range, [&](const ItemId&, std::uint32_t mine, std::uint32_t theirs) {
    counted.get(mine, theirs, [&] {
      if (!vectors_[mine].contains(other.vectors_[theirs])) {
        entries += vectors_[mine].entries().size() + other.vectors_[theirs].entries().size();
      }
      return true;
    });
    return ++steps <= limits::kKnowledgeStepsMax && entries <= limits::kKnowledgeEntriesMax;
  });
}

void Knowledge::merge_at(const ItemId& item, const ClockVector& vector) {
  merge(Knowledge(vector), ItemIdRange{item, item});
}

void Knowledge::assign(const ItemIdRange& range, const ClockVector& vector) {
  const std::size_t held = vectors_.size();
  const Step inside{range.first, add_vector(vector)};
  replace_steps(range, std::span(&inside, 1));
  make_canonical(held);
}

void Knowledge::raise_everywhere(const Version& version) {
  const Tick before = vectors_.front().at(version.replica);
  bool same_before = true;
  for (ClockVector& vector : vectors_) {
    same_before = same_before && vector.at(version.replica) == before;
    vector.raise(version);
  }
  // Vectors that differed elsewhere still do; those that differed in this component alone may be equal now.
  if (!same_before) make_canonical(0);
}

void Knowledge::cap(const Version& version) {
  for (ClockVector& vector : vectors_) vector.cap(version);
  make_canonical(0);
}

Knowledge Knowledge::project(const ItemIdRange& range) const {
  Knowledge inside;
  inside.merge(*this, range);
  return inside;
}

Knowledge Knowledge::exclude(const ItemIdRange& range) const {
  Knowledge outside = *this;
  outside.assign(range, ClockVector());
  return outside;
}

Knowledge Knowledge::exclude(std::span<const ItemIdRange> ranges) const {
  Knowledge outside = *this;
  const std::size_t held = outside.vectors_.size();
  const std::uint32_t nothing = outside.add_vector(ClockVector());
  std::vector<Step> steps;
  auto step = steps_.begin();
  for (const ItemIdRange& range : ranges) {
    for (; step != steps_.end() && step->first < range.first; ++step) steps.push_back(*step);
    if (!steps.empty() && steps.back().first == range.first) steps.pop_back();
    steps.push_back({range.first, nothing});
    while (step != steps_.end() && step->first <= range.last) ++step;
    const std::optional<ItemId> behind = next(range.last);
    const bool begins_behind = !behind || (step != steps_.end() && step->first == *behind);
    if (!begins_behind) steps.push_back({*behind, std::prev(step)->vector});
  }
  steps.insert(steps.end(), step, steps_.end());
  outside.steps_ = std::move(steps);
  outside.make_canonical(held);
  return outside;
}

bool Knowledge::empty() const { return vectors_.size() == 1 && vectors_.front().empty(); }

Tick Knowledge::greatest_tick() const {
  Tick greatest = 0;
  for (const ClockVector& vector : vectors_) greatest = std::max(greatest, vector.greatest_tick());
  return greatest;
}

Tick Knowledge::greatest_tick(const ReplicaId& replica) const {
  Tick greatest = 0;
  for (const ClockVector& vector : vectors_) greatest = std::max(greatest, vector.at(replica));
  return greatest;
}

std::string Knowledge::to_text() const {
  std::string text;
  for (const Step& step : steps_) {
    if (!text.empty()) text.append("|").append(step.first.to_text()) += ':';
    text += vectors_[step.vector].to_text();
  }
  return text;
}

std::optional<Knowledge> Knowledge::parse(std::string_view text) {
  std::vector<ClockVector> vectors;
  std::vector<Step> steps;
  while (true) {
    const std::size_t bar = text.find('|');
    std::string_view part = text.substr(0, bar);
    Step step{kFirstItemId, static_cast<std::uint32_t>(steps.size())};
    if (!steps.empty()) {
      const std::size_t colon = part.find(':');
      const auto first = ItemId::parse(part.substr(0, colon));
      if (!first || colon == std::string_view::npos) return std::nullopt;
      step.first = *first;
      part.remove_prefix(colon + 1);
    }
    auto vector = ClockVector::parse(part);
    if (!vector || steps.size() == limits::kKnowledgeStepsMax) return std::nullopt;
    vectors.push_back(*std::move(vector));
    steps.push_back(step);
    if (bar == std::string_view::npos) break;
    text.remove_prefix(bar + 1);
  }
  auto knowledge = from_steps(std::move(vectors), std::move(steps));
  if (!knowledge.ok()) return std::nullopt;
  return *std::move(knowledge);
}

std::uint32_t Knowledge::add_vector(ClockVector vector) {
  vectors_.push_back(std::move(vector));
  return static_cast<std::uint32_t>(vectors_.size() - 1);
}

void Knowledge::replace_steps(const ItemIdRange& range, std::span<const Step> inside) {
  const std::size_t first_index = step_index(steps_, range.first);
  const std::size_t last_index = step_index(steps_, range.last);
  const bool keeps_front = steps_[first_index].first < range.first;
  std::vector<Step> steps;
  steps.reserve(steps_.size() + inside.size() + 1);
  steps.insert(steps.end(), steps_.begin(),
               steps_.begin() + static_cast<std::ptrdiff_t>(first_index + (keeps_front ? 1 : 0)));
  steps.insert(steps.end(), inside.begin(), inside.end());
  if (const auto behind = next(range.last)) {
    const bool steps_behind = last_index + 1 < steps_.size() && steps_[last_index + 1].first == *behind;
    if (!steps_behind) steps.push_back(Step{*behind, steps_[last_index].vector});
    steps.insert(steps.end(), steps_.begin() + static_cast<std::ptrdiff_t>(last_index + 1), steps_.end());
  }
  steps_ = std::move(steps);
}

void Knowledge::make_canonical(std::size_t distinct) {
  constexpr std::uint32_t kUnused = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> equal;
  if (distinct < vectors_.size()) equal = equal_vectors(vectors_);
  std::vector<std::uint32_t> number(vectors_.size(), kUnused);
  std::vector<ClockVector> used;
  std::size_t kept = 0;
  for (const Step step : steps_) {
    const std::uint32_t old = equal.empty() ? step.vector : equal[step.vector];
    if (number[old] == kUnused) {
      number[old] = static_cast<std::uint32_t>(used.size());
      used.push_back(std::move(vectors_[old]));
    }
    if (kept > 0 && steps_[kept - 1].vector == number[old]) continue;
    steps_[kept++] = Step{step.first, number[old]};
  }
  steps_.resize(kept);
  vectors_ = std::move(used);
}

}  // namespace harmonica
