// The laws of docs/knowledge.md, each on random cases. `a`, `b` and `c` are the three knowledges of a case.
#include <gtest/gtest.h>

#include "laws/knowledge_case.h"

namespace harmonica::laws {
namespace {

Knowledge a_of(const Case& tried) { return real(tried.recipes[0]); }
Knowledge b_of(const Case& tried) { return real(tried.recipes[1]); }
Knowledge c_of(const Case& tried) { return real(tried.recipes[2]); }

Knowledge united(Knowledge a, const Knowledge& b) {
  a.merge(b);
  return a;
}

std::string difference(const Knowledge& left, const Knowledge& right) {
  return left == right ? std::string() : "left  " + left.to_text() + "\nright " + right.to_text();
}

// The function as a table is right, and so are the members that stand for it.
std::string difference(const Knowledge& real, const NaiveKnowledge& expected) {
  const auto [vectors, steps] = expected.canonical();
  const bool same = std::equal(vectors.begin(), vectors.end(), real.vectors().begin(), real.vectors().end()) &&
                    std::equal(steps.begin(), steps.end(), real.steps().begin(), real.steps().end());
  if (same) return "";
  std::string text = "real     " + real.to_text() + "\nexpected";
  for (std::size_t i = 0; i < kProbes; ++i) text += ' ' + to_text(expected.at(i));
  return text;
}

// The naive union, difference and so on: built item by item from the tables.
template <typename Choose>
NaiveKnowledge table(Choose choose) {
  NaiveKnowledge built;
  for (std::size_t i = 0; i < kProbes; ++i) built.assign({i, i}, choose(i));
  return built;
}

NaiveVector united(NaiveVector a, const NaiveVector& b) {
  for (const auto& [replica, tick] : b) raise(a, replica, tick);
  return a;
}

bool contains(const NaiveVector& a, const NaiveVector& b) { return united(a, b) == a; }

TEST(KnowledgeLaws, L1EqualFunctionsAreEqualMembersHoweverTheyWereBuilt) {
  expect_law([](const Case& tried) { return difference(a_of(tried), naive(tried.recipes[0])); });
}

TEST(KnowledgeLaws, L2AnyDescriptionOfAFunctionMakesTheSameMembers) {
  // As wasteful as a description can be: a step and a vector of its own for every item, and one vector too many.
  expect_law([](const Case& tried) {
    const NaiveKnowledge expected = naive(tried.recipes[0]);
    std::vector<ClockVector> vectors;
    std::vector<Knowledge::Step> steps;
    vectors.push_back(real(NaiveVector{{'Z', 1}}));
    for (std::size_t i = 0; i < kProbes; ++i) {
      steps.push_back({probe(i), static_cast<std::uint32_t>(vectors.size())});
      vectors.push_back(real(expected.at(i)));
    }
    return difference(Knowledge::from_steps(vectors, steps).value(), expected);
  });
}

TEST(KnowledgeLaws, L3ItContainsAVersionIffTheItemsOwnVectorDoes) {
  expect_law([](const Case& tried) -> std::string {
    const Knowledge a = a_of(tried);
    const NaiveKnowledge expected = naive(tried.recipes[0]);
    for (std::size_t i = 0; i < kProbes; ++i) {
      const bool contained = a.contains(probe(i), {shorthand::replica(tried.replica), tried.tick});
      if (contained != expected.contains(i, tried.replica, tried.tick)) return "wrong at item " + std::to_string(i);
    }
    return "";
  });
}

TEST(KnowledgeLaws, L4UnionIsTheMaximumAtEachItem) {
  expect_law([](const Case& tried) {
    const NaiveKnowledge a = naive(tried.recipes[0]);
    const NaiveKnowledge b = naive(tried.recipes[1]);
    return difference(united(a_of(tried), b_of(tried)), table([&](std::size_t i) { return united(a.at(i), b.at(i)); }));
  });
}

TEST(KnowledgeLaws, L5UnionIsCommutative) {
  expect_law(
      [](const Case& tried) { return difference(united(a_of(tried), b_of(tried)), united(b_of(tried), a_of(tried))); });
}

TEST(KnowledgeLaws, L6UnionIsAssociative) {
  expect_law([](const Case& tried) {
    const Knowledge left = united(united(a_of(tried), b_of(tried)), c_of(tried));
    const Knowledge right = united(a_of(tried), united(b_of(tried), c_of(tried)));
    return difference(left, right);
  });
}

TEST(KnowledgeLaws, L7UnionIsIdempotent) {
  expect_law([](const Case& tried) {
    const Knowledge sum = united(a_of(tried), b_of(tried));
    return difference(united(sum, sum), sum) + difference(united(sum, b_of(tried)), sum);
  });
}

TEST(KnowledgeLaws, L8ContainmentHoldsIffItHoldsAtEveryItemOfTheRange) {
  expect_law([](const Case& tried) -> std::string {
    const NaiveKnowledge a = naive(tried.recipes[0]);
    const NaiveKnowledge b = naive(tried.recipes[1]);
    bool everywhere = true;
    bool in_range = true;
    for (std::size_t i = 0; i < kProbes; ++i) {
      const bool here = contains(a.at(i), b.at(i));
      everywhere = everywhere && here;
      in_range = in_range && (here || !tried.range.contains(i));
    }
    if (a_of(tried).contains(b_of(tried)) != everywhere) return "wrong everywhere";
    if (a_of(tried).contains(b_of(tried), tried.range.ids()) != in_range) return "wrong in the range";
    return "";
  });
}

TEST(KnowledgeLaws, L9ContainmentHoldsIffTheUnionAddsNothing) {
  expect_law([](const Case& tried) -> std::string {
    const Knowledge sum = united(a_of(tried), b_of(tried));
    if (!sum.contains(a_of(tried)) || !sum.contains(b_of(tried))) return "the union lacks something";
    return a_of(tried).contains(b_of(tried)) == (sum == a_of(tried)) ? "" : "containment and union disagree";
  });
}

TEST(KnowledgeLaws, L10ProjectAndExcludeSplitWithoutLoss) {
  expect_law([](const Case& tried) {
    const Knowledge inside = a_of(tried).project(tried.range.ids());
    const Knowledge outside = a_of(tried).exclude(tried.range.ids());
    const NaiveKnowledge a = naive(tried.recipes[0]);
    const auto kept = [&](bool in_range) {
      return table([&, in_range](std::size_t i) { return tried.range.contains(i) == in_range ? a.at(i) : NaiveVector(); });
    };
    return difference(inside, kept(true)) + difference(outside, kept(false)) +
           difference(united(inside, outside), a_of(tried));
  });
}

TEST(KnowledgeLaws, L10SeveralRangesAreExcludedAsOneAfterTheOther) {
  expect_law([](const Case& tried) {
    // Every second of the items in the range: some of them touch, some do not.
    std::vector<ItemIdRange> ranges;
    Knowledge one_by_one = a_of(tried);
    for (std::size_t index = 0; index < kProbes; ++index) {
      if (!tried.range.contains(index) || (index / 2 + tried.tick) % 2 == 0) continue;
      ranges.push_back({probe(index), probe(index)});
      one_by_one = one_by_one.exclude(ranges.back());
    }
    return difference(a_of(tried).exclude(ranges), one_by_one);
  });
}

TEST(KnowledgeLaws, L11UnionWithinARangeIsUnionWithTheProjection) {
  expect_law([](const Case& tried) {
    Knowledge within = a_of(tried);
    within.merge(b_of(tried), tried.range.ids());
    return difference(within, united(a_of(tried), b_of(tried).project(tried.range.ids())));
  });
}

TEST(KnowledgeLaws, L12RaisingEverywhereIsUnionWithThatVersionAlone) {
  expect_law([](const Case& tried) {
    Knowledge raised = a_of(tried);
    raised.raise_everywhere({shorthand::replica(tried.replica), tried.tick});
    NaiveKnowledge expected = naive(tried.recipes[0]);
    expected.raise_everywhere(tried.replica, tried.tick);
    const Knowledge one(ClockVector({{shorthand::replica(tried.replica), tried.tick}}));
    return difference(raised, expected) + difference(raised, united(a_of(tried), one));
  });
}

TEST(KnowledgeLaws, L13WhatIsAssignedHoldsInTheRangeAndNothingElseChanges) {
  expect_law([](const Case& tried) {
    Knowledge assigned = a_of(tried);
    assigned.assign(tried.range.ids(), b_of(tried).at(probe(0)));
    const NaiveKnowledge a = naive(tried.recipes[0]);
    const NaiveKnowledge b = naive(tried.recipes[1]);
    return difference(assigned, table([&](std::size_t i) { return tried.range.contains(i) ? b.at(0) : a.at(i); }));
  });
}

TEST(KnowledgeLaws, L14TextReadsBackAsTheSameMembers) {
  expect_law([](const Case& tried) -> std::string {
    const auto read = Knowledge::parse(a_of(tried).to_text());
    return read ? difference(*read, a_of(tried)) : "not read: " + a_of(tried).to_text();
  });
}

TEST(KnowledgeLaws, L15CappingLowersThatComponentAtEachItemAndNothingElse) {
  expect_law([](const Case& tried) {
    Knowledge capped = a_of(tried);
    capped.cap({shorthand::replica(tried.replica), tried.tick});
    const NaiveKnowledge a = naive(tried.recipes[0]);
    return difference(capped, table([&](std::size_t i) {
                        NaiveVector vector = a.at(i);
                        const auto component = vector.find(tried.replica);
                        if (component != vector.end()) component->second = std::min(component->second, tried.tick);
                        if (component != vector.end() && component->second == 0) vector.erase(component);
                        return vector;
                      }));
  });
}

// That the laws above are tried on cases that could break them.
TEST(KnowledgeCases, AreVariedAndShrink) {
  std::size_t stepped = 0;
  std::size_t shared = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Knowledge a = a_of(CaseMaker(seed).make());
    stepped += a.steps().size() > 3 ? 1 : 0;
    shared += a.steps().size() > a.vectors().size() ? 1 : 0;
  }
  EXPECT_GT(stepped, 60u);
  EXPECT_GT(shared, 60u);

  const Law wrong = [](const Case& tried) {
    return a_of(tried).greatest_tick() > 1 ? std::string("too high") : std::string();
  };
  std::uint64_t seed = 0;
  while (wrong(CaseMaker(seed).make()).empty()) ++seed;
  const Case small = shrunk(CaseMaker(seed).make(), wrong);
  ASSERT_EQ(small.recipes[0].size(), 1u);
  EXPECT_EQ(small.recipes[0][0].vector.size(), 1u);
  EXPECT_TRUE(small.recipes[1].empty());
  EXPECT_TRUE(small.recipes[2].empty());
}

}  // namespace
}  // namespace harmonica::laws
