// Knowledge as a table of items, too simple to be wrong: what the laws compare the real one with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harmonica/knowledge.h"
#include "support/shorthand.h"

namespace harmonica::laws {

using NaiveVector = std::map<char, Tick>;  // no zero ticks

inline void raise(NaiveVector& vector, char replica, Tick tick) {
  if (tick == 0) return;
  vector[replica] = std::max(vector[replica], tick);
}

inline std::string to_text(const NaiveVector& vector) {
  std::string text;
  for (const auto& [replica, tick] : vector) {
    text += (text.empty() ? "" : ",") + std::string(1, replica) + ":" + std::to_string(tick);
  }
  return "{" + text + "}";
}

inline ClockVector real(const NaiveVector& vector) { return shorthand::vector(to_text(vector)); }

// The items that cases are made of, by index: some at the front, some at the back. All others behave as `kGap` does.
inline constexpr std::size_t kGap = 7;
inline constexpr std::size_t kProbes = 11;

inline ItemId probe(std::size_t index) {
  if (index <= kGap) return shorthand::item(index);
  ItemId id = last_item_id();
  id.bytes.back() = static_cast<std::uint8_t>(id.bytes.back() - (kProbes - 1 - index));
  return id;
}

// Indices of a closed range of probes. It does not end in the gap, where no probe would see the step behind it.
struct ProbeRange {
  std::size_t first = 0;
  std::size_t last = kProbes - 1;
  bool contains(std::size_t index) const { return first <= index && index <= last; }
  ItemIdRange ids() const { return {probe(first), probe(last)}; }
};

class NaiveKnowledge {
 public:
  NaiveKnowledge() : table_(kProbes) {}

  const NaiveVector& at(std::size_t index) const { return table_[index]; }

  void assign(const ProbeRange& range, const NaiveVector& vector) {
    for (std::size_t i = range.first; i <= range.last; ++i) table_[i] = vector;
  }
  void merge(const ProbeRange& range, const NaiveVector& vector) {
    for (std::size_t i = range.first; i <= range.last; ++i) {
      for (const auto& [replica, tick] : vector) raise(table_[i], replica, tick);
    }
  }
  void raise_everywhere(char replica, Tick tick) {
    for (NaiveVector& vector : table_) raise(vector, replica, tick);
  }

  bool contains(std::size_t index, char replica, Tick tick) const {
    const auto place = table_[index].find(replica);
    return tick <= (place == table_[index].end() ? 0 : place->second);
  }

  // The members that the canonical form must have: a step wherever the table changes, vectors in order of first use.
  std::pair<std::vector<ClockVector>, std::vector<Knowledge::Step>> canonical() const {
    std::vector<NaiveVector> vectors;
    std::vector<Knowledge::Step> steps;
    for (std::size_t i = 0; i < kProbes; ++i) {
      if (i > 0 && table_[i] == table_[i - 1]) continue;
      const auto place = std::find(vectors.begin(), vectors.end(), table_[i]);
      steps.push_back({probe(i), static_cast<std::uint32_t>(place - vectors.begin())});
      if (place == vectors.end()) vectors.push_back(table_[i]);
    }
    std::vector<ClockVector> reals;
    for (const NaiveVector& vector : vectors) reals.push_back(real(vector));
    return {std::move(reals), std::move(steps)};
  }

  friend bool operator==(const NaiveKnowledge&, const NaiveKnowledge&) = default;

 private:
  std::vector<NaiveVector> table_;
};

}  // namespace harmonica::laws
