// Random cases for the laws of knowledge, and how a failing one is made small.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "laws/naive_knowledge.h"

namespace harmonica::laws {

// One step in building a knowledge.
struct Edit {
  enum class Kind { kAssign, kMerge, kRaise };
  Kind kind = Kind::kAssign;
  ProbeRange range;
  NaiveVector vector;  // kRaise: each component, everywhere
};

using Recipe = std::vector<Edit>;

// What a law is tried on: three knowledges, a range, a version.
struct Case {
  std::array<Recipe, 3> recipes;
  ProbeRange range;
  char replica = 'A';
  Tick tick = 1;
};

inline NaiveKnowledge naive(const Recipe& recipe) {
  NaiveKnowledge built;
  for (const Edit& edit : recipe) {
    if (edit.kind == Edit::Kind::kAssign) built.assign(edit.range, edit.vector);
    if (edit.kind == Edit::Kind::kMerge) built.merge(edit.range, edit.vector);
    if (edit.kind != Edit::Kind::kRaise) continue;
    for (const auto& [replica, tick] : edit.vector) built.raise_everywhere(replica, tick);
  }
  return built;
}

inline Knowledge real(const Recipe& recipe) {
  Knowledge built;
  for (const Edit& edit : recipe) {
    if (edit.kind == Edit::Kind::kAssign) built.assign(edit.range.ids(), real(edit.vector));
    if (edit.kind == Edit::Kind::kMerge) built.merge(Knowledge(real(edit.vector)), edit.range.ids());
    if (edit.kind != Edit::Kind::kRaise) continue;
    for (const auto& [replica, tick] : edit.vector) built.raise_everywhere({shorthand::replica(replica), tick});
  }
  return built;
}

inline std::string to_text(const Case& tried) {
  const auto range_text = [](const ProbeRange& range) {
    return " [" + std::to_string(range.first) + ".." + std::to_string(range.last) + "]";
  };
  std::string text;
  for (std::size_t i = 0; i < tried.recipes.size(); ++i) {
    text += std::string("  ") + "abc"[i] + ":";
    for (const Edit& edit : tried.recipes[i]) {
      if (edit.kind == Edit::Kind::kRaise) text += " raise " + to_text(edit.vector) + ";";
      if (edit.kind == Edit::Kind::kAssign) text += " assign" + range_text(edit.range) + " " + to_text(edit.vector) + ";";
      if (edit.kind == Edit::Kind::kMerge) text += " merge" + range_text(edit.range) + " " + to_text(edit.vector) + ";";
    }
    text += '\n';
  }
  return text + "  range:" + range_text(tried.range) + "  version: " + tried.replica + std::to_string(tried.tick) + '\n';
}

// Small numbers throughout, so that vectors often become equal and ranges often touch.
class CaseMaker {
 public:
  explicit CaseMaker(std::uint64_t seed) : random_(seed) {}

  Case make() {
    Case made;
    for (Recipe& recipe : made.recipes) {
      recipe.resize(below(7));
      for (Edit& edit : recipe) edit = this->edit();
    }
    made.range = range();
    made.replica = replica();
    made.tick = below(5);
    return made;
  }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
  char replica() { return static_cast<char>('A' + below(3)); }

  ProbeRange range() {
    const std::size_t one = below(kProbes);
    const std::size_t other = below(3) == 0 ? below(kProbes) : one;
    ProbeRange made{std::min(one, other), std::max(one, other)};
    if (made.last == kGap) ++made.last;
    return made;
  }

  Edit edit() {
    Edit made;
    const std::size_t dice = below(8);
    made.kind = dice == 0 ? Edit::Kind::kRaise : dice < 4 ? Edit::Kind::kMerge : Edit::Kind::kAssign;
    made.range = range();
    for (std::size_t i = below(3); i > 0; --i) raise(made.vector, replica(), 1 + below(3));
    return made;
  }

  std::mt19937_64 random_;
};

// Every case that is one simplification away.
inline std::vector<Case> simpler(const Case& tried) {
  std::vector<Case> all;
  for (std::size_t r = 0; r < tried.recipes.size(); ++r) {
    for (std::size_t e = 0; e < tried.recipes[r].size(); ++e) {
      all.push_back(tried);
      all.back().recipes[r].erase(all.back().recipes[r].begin() + static_cast<std::ptrdiff_t>(e));
      for (const auto& [replica, tick] : tried.recipes[r][e].vector) {
        all.push_back(tried);
        all.back().recipes[r][e].vector.erase(replica);
        if (tick == 1) continue;
        all.push_back(tried);
        all.back().recipes[r][e].vector[replica] = tick - 1;
      }
      const ProbeRange& range = tried.recipes[r][e].range;
      const std::size_t narrowest = range.first == kGap ? kGap + 1 : range.first;
      if (range.last == narrowest) continue;
      all.push_back(tried);
      all.back().recipes[r][e].range.last = narrowest;
    }
  }
  return all;
}

// What is wrong with a case; empty: nothing.
using Law = std::function<std::string(const Case&)>;

inline Case shrunk(Case failing, const Law& law) {
  while (true) {
    const std::vector<Case> candidates = simpler(failing);
    const auto smaller =
        std::find_if(candidates.begin(), candidates.end(), [&](const Case& one) { return !law(one).empty(); });
    if (smaller == candidates.end()) return failing;
    failing = *smaller;
  }
}

// Tries a law on random cases, from seed 0 on; HARMONICA_SEED names the only seed to try.
inline void expect_law(const Law& law) {
  constexpr std::uint64_t kSeeds = 2'000;
  const char* const only = std::getenv("HARMONICA_SEED");
  const std::uint64_t first = only != nullptr ? std::strtoull(only, nullptr, 10) : 0;
  for (std::uint64_t seed = first; seed < (only != nullptr ? first + 1 : kSeeds); ++seed) {
    const Case tried = CaseMaker(seed).make();
    if (law(tried).empty()) continue;
    const Case small = shrunk(tried, law);
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    FAIL() << law(small) << "\nsmallest case:\n"
           << to_text(small) << "again: HARMONICA_SEED=" << seed << " tests_laws --gtest_filter=" << test->test_suite_name()
           << '.' << test->name();
  }
}

}  // namespace harmonica::laws
