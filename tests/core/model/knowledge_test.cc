#include "harmonica/knowledge.h"

#include <gtest/gtest.h>

#include "harmonica/limits.h"
#include "support/shorthand.h"

namespace harmonica {
namespace {

using shorthand::item;
using shorthand::knowledge;
using shorthand::range;
using shorthand::vector;
using shorthand::version;
using Step = Knowledge::Step;

Knowledge merged(Knowledge a, const Knowledge& b) {
  a.merge(b);
  return a;
}

// The numbered ones are worked examples of the algebra in docs/knowledge.md.

TEST(Knowledge, W01ContainsWhatTheItemsOwnVectorContains) {
  const Knowledge held = knowledge("{A:5,B:3}|i7:{A:2,B:3}");
  EXPECT_TRUE(held.contains(item(1), version("A5")));
  EXPECT_FALSE(held.contains(item(1), version("A6")));
  EXPECT_FALSE(held.contains(item(7), version("A3")));
  EXPECT_TRUE(held.contains(item(7), version("A2")));
  EXPECT_FALSE(held.contains(item(1), version("C1")));
}

TEST(Knowledge, W02UnionKeepsTheLargerTick) {
  EXPECT_EQ(merged(knowledge("{A:5,B:1}"), knowledge("{A:2,B:4}")), knowledge("{A:5,B:4}"));
}

TEST(Knowledge, W03UnionOfExceptionsIsTakenItemByItem) {
  EXPECT_EQ(merged(knowledge("{A:5}|i7:{A:2}"), knowledge("{A:3}|i7:{A:3}")), knowledge("{A:5}|i7:{A:3}"));
}

TEST(Knowledge, W04HealingLeavesNoException) {
  const Knowledge healed = merged(knowledge("{A:5}|i7:{A:2}"), knowledge("{A:5}"));
  EXPECT_EQ(healed, knowledge("{A:5}"));
  EXPECT_EQ(healed.steps().size(), 1u);
  EXPECT_EQ(healed.vectors().size(), 1u);
  EXPECT_EQ(merged(knowledge("{A:5}|i7:{A:2}"), knowledge("{A:4}")), knowledge("{A:5}|i7:{A:4}"));
}

TEST(Knowledge, W05ProjectKnowsNothingOutside) {
  const Knowledge projected = knowledge("{A:5,B:3}").project(range("i7"));
  EXPECT_TRUE(projected.contains(item(7), version("A5")));
  EXPECT_FALSE(projected.contains(item(1), version("A1")));
  EXPECT_FALSE(projected.contains(item(8), version("A1")));
}

TEST(Knowledge, W06ExcludeKnowsNothingInside) {
  const Knowledge held = knowledge("{A:5}");
  const Knowledge excluded = held.exclude(range("i7"));
  EXPECT_FALSE(excluded.contains(item(7), version("A1")));
  EXPECT_TRUE(excluded.contains(item(1), version("A5")));
  EXPECT_TRUE(excluded.contains(item(8), version("A5")));
  EXPECT_EQ(merged(held.project(range("i7")), excluded), held);
}

TEST(Knowledge, W07ContainmentFailsAtASingleItem) {
  const Knowledge held = knowledge("{A:5}|i7:{A:2}");
  EXPECT_TRUE(held.contains(knowledge("{A:2}")));
  EXPECT_FALSE(held.contains(knowledge("{A:3}")));
  EXPECT_TRUE(held.contains(knowledge("{A:3}"), range("i0..i6")));
  EXPECT_FALSE(held.contains(knowledge("{A:3}"), range("i0..i7")));
  EXPECT_TRUE(held.contains(knowledge("{A:3}"), ItemIdRange{item(8), last_item_id()}));
}

TEST(Knowledge, W08EqualFunctionsAreEqualMemberByMember) {
  Knowledge in_parts = knowledge("{}");
  in_parts.assign({kFirstItemId, item(9)}, vector("{A:5}"));
  in_parts.assign({item(10), last_item_id()}, vector("{A:5}"));
  EXPECT_EQ(in_parts, knowledge("{A:5}"));
  Knowledge at_once = knowledge("{}");
  at_once.assign(ItemIdRange::all(), vector("{A:5}"));
  EXPECT_EQ(at_once, knowledge("{A:5}"));
}

TEST(Knowledge, W08bAnExceptionIsNeverCoveredByOtherItems) {
  const Knowledge held = knowledge("{A:5}|i7:{A:2}");
  EXPECT_NE(held, knowledge("{A:5}"));
  EXPECT_FALSE(merged(held, knowledge("{A:2}")).contains(item(7), version("A5")));
}

TEST(Knowledge, UnionOfTwoHarmlessOnesMayBeTooLargeToKeep) {
  // One vector of many replicas here, many vectors of one replica there: the union would hold their product.
  std::vector<ClockVector::Entry> entries;
  for (std::uint32_t number = 0; number < limits::kReplicasMax; ++number) {
    ReplicaId replica;
    replica.bytes = {1, static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)};
    entries.push_back({replica, 1});
  }
  const Knowledge wide(ClockVector(std::move(entries)));
  std::vector<ClockVector> vectors;
  std::vector<Step> steps;
  const std::uint32_t count = limits::kKnowledgeEntriesMax / limits::kReplicasMax + 1;
  for (std::uint32_t number = 0; number < count; ++number) {
    vectors.push_back(vector("{A:" + std::to_string(number + 1) + "}"));
    steps.push_back({number == 0 ? kFirstItemId : item(number), number});
  }
  const Knowledge long_one = *Knowledge::from_steps(std::move(vectors), std::move(steps));
  EXPECT_FALSE(wide.can_merge(long_one, ItemIdRange::all()));
  EXPECT_FALSE(long_one.can_merge(wide, ItemIdRange::all()));
  EXPECT_TRUE(wide.can_merge(long_one, range("i1..i2")));
  EXPECT_TRUE(wide.can_merge(wide, ItemIdRange::all()));
  EXPECT_TRUE(long_one.can_merge(long_one, ItemIdRange::all()));
}

TEST(Knowledge, WorkedExampleOfItsPage) {
  const auto stepped = [](std::vector<ClockVector> vectors, std::vector<Step> steps) {
    return Knowledge::from_steps(std::move(vectors), std::move(steps)).value();
  };
  const Knowledge source = knowledge("{A:5}");
  Knowledge held;
  held.merge(source.project(range("i0..i2")));
  EXPECT_EQ(held, stepped({vector("{A:5}"), vector("{}")}, {{item(0), 0}, {item(3), 1}}));
  held.raise_everywhere(version("B1"));
  EXPECT_EQ(held, stepped({vector("{A:5,B:1}"), vector("{B:1}")}, {{item(0), 0}, {item(3), 1}}));
  held.merge(source.exclude(range("i4")));
  EXPECT_EQ(held, stepped({vector("{A:5,B:1}"), vector("{B:1}")}, {{item(0), 0}, {item(4), 1}, {item(5), 0}}));
  held.merge(source);
  EXPECT_EQ(held, knowledge("{A:5,B:1}"));
}

TEST(Knowledge, EdgesOfTheIdsAreItemsLikeAllOthers) {
  Knowledge held = knowledge("{A:5}");
  held.merge_at(kFirstItemId, vector("{B:1}"));
  held.merge_at(last_item_id(), vector("{C:1}"));
  EXPECT_EQ(held.at(kFirstItemId), vector("{A:5,B:1}"));
  EXPECT_EQ(held.at(item(1)), vector("{A:5}"));
  EXPECT_EQ(held.at(last_item_id()), vector("{A:5,C:1}"));
  EXPECT_EQ(held.steps().size(), 3u);
  EXPECT_EQ(held.project({last_item_id(), last_item_id()}).steps().size(), 2u);
  EXPECT_EQ(held.exclude(ItemIdRange::all()), Knowledge());
}

TEST(Knowledge, NeighbouringItemsWithOneVectorShareOneStep) {
  Knowledge held = knowledge("{A:5}");
  for (const std::uint64_t number : {3u, 5u, 4u, 6u}) held.assign({item(number), item(number)}, vector("{A:2}"));
  EXPECT_EQ(held.steps().size(), 3u);
  EXPECT_EQ(held.vectors().size(), 2u);
}

TEST(Knowledge, VectorsAreStoredOnceInOrderOfFirstUse) {
  const Knowledge held = knowledge("{A:1}|i3:{A:3}|i5:{A:2}|i7:{A:3}|i9:{A:9}|i9:{A:1}");
  ASSERT_EQ(held.vectors().size(), 3u);
  EXPECT_EQ(held.vectors()[0], vector("{A:1}"));
  EXPECT_EQ(held.vectors()[1], vector("{A:3}"));
  EXPECT_EQ(held.vectors()[2], vector("{A:2}"));
  EXPECT_EQ(held.steps().size(), 7u);
}

TEST(Knowledge, RaisingJoinsStepsThatDifferedOnlyThere) {
  Knowledge held = knowledge("{A:5,B:1}|i7:{A:2,B:1}");
  held.raise_everywhere(version("A3"));
  EXPECT_EQ(held, knowledge("{A:5,B:1}|i7:{A:3,B:1}"));
  held.raise_everywhere(version("A6"));
  EXPECT_EQ(held, knowledge("{A:6,B:1}"));
}

TEST(Knowledge, MergingWithinARangeLeavesTheRestAlone) {
  Knowledge held = knowledge("{A:5}|i7:{A:2}");
  held.merge(knowledge("{A:3,B:1}"), range("i6..i7"));
  EXPECT_EQ(held, knowledge("{A:5}|i6:{A:5,B:1}|i7:{A:3,B:1}"));
}

TEST(Knowledge, MergingWithItselfChangesNothing) {
  Knowledge held = knowledge("{A:5}|i7:{A:2}");
  held.merge(held);
  EXPECT_EQ(held, knowledge("{A:5}|i7:{A:2}"));
  held.assign(range("i3"), held.at(item(7)));
  EXPECT_EQ(held, knowledge("{A:5}|i3:{A:2}|i7:{A:2}"));
}

TEST(Knowledge, IsEmptyOnlyIfItContainsNothingAnywhere) {
  EXPECT_TRUE(Knowledge().empty());
  EXPECT_FALSE(knowledge("{}|i7:{A:1}").empty());
  EXPECT_EQ(Knowledge().greatest_tick(), 0u);
  EXPECT_EQ(knowledge("{A:2}|i7:{B:9}").greatest_tick(), 9u);
}

TEST(Knowledge, PrintsItsSteps) {
  const std::string a = shorthand::replica('A').to_text();
  EXPECT_EQ(Knowledge().to_text(), "{}");
  EXPECT_EQ(knowledge("{A:5}|i7:{}").to_text(),
            "{" + a + ":5}|" + item(7).to_text() + ":{}|" + item(8).to_text() + ":{" + a + ":5}");
}

TEST(Knowledge, ReadsAnyDescriptionIntoCanonicalForm) {
  const std::string repeated = "{}|" + item(7).to_text() + ":{}|" + item(8).to_text() + ":{}";
  EXPECT_EQ(Knowledge::parse(repeated), Knowledge());
}

TEST(Knowledge, ReadsNothingThatIsNotOne) {
  const std::string first = kFirstItemId.to_text();
  const std::string six = item(6).to_text();
  const std::string seven = item(7).to_text();
  const std::vector<std::string> wrong = {"",
                                          "{}|",
                                          "{}|" + seven,
                                          "{}|" + seven + ":",
                                          "|" + seven + ":{}",
                                          seven + ":{}",
                                          "{}|7:{}",
                                          "{}|" + first + ":{}",
                                          "{}|" + seven + ":{}|" + seven + ":{}",
                                          "{}|" + seven + ":{}|" + six + ":{}"};
  for (const std::string& text : wrong) EXPECT_FALSE(Knowledge::parse(text)) << text;
}

TEST(KnowledgeFromSteps, IsCanonicalWhateverItIsMadeOf) {
  const auto made =
      Knowledge::from_steps({vector("{Z:1}"), vector("{A:2}"), vector("{A:5}"), vector("{A:5}"), vector("{A:2}")},
                            {{item(0), 2}, {item(3), 3}, {item(7), 4}, {item(8), 2}, {item(9), 1}, {item(10), 3}});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(*made, knowledge("{A:5}|i7:{A:2}|i9:{A:2}"));
  EXPECT_EQ(made->vectors().size(), 2u);
}

TEST(KnowledgeFromSteps, RefusesWhatIsNoStepFunction) {
  const auto code = [](std::vector<Step> steps) {
    return Knowledge::from_steps({vector("{A:5}"), vector("{A:2}")}, std::move(steps)).status().code();
  };
  EXPECT_EQ(code({{item(0), 0}, {item(7), 1}}), StatusCode::kOk);
  EXPECT_EQ(code({}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{item(1), 0}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{item(0), 2}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{item(0), 0}, {item(7), 0xffff'ffff}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{item(0), 0}, {item(7), 1}, {item(7), 0}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{item(0), 0}, {item(7), 1}, {item(6), 0}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(Knowledge::from_steps({}, {{item(0), 0}}).status().code(), StatusCode::kInvalidArgument);
}

TEST(KnowledgeFromSteps, RefusesMoreThanTheLimits) {
  std::vector<Step> steps(limits::kKnowledgeStepsMax + 1);
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i] = {item(i), static_cast<std::uint32_t>(i % 2)};
  EXPECT_EQ(Knowledge::from_steps({vector("{A:5}"), vector("{A:2}")}, steps).status().code(), StatusCode::kLimitExceeded);
  steps.pop_back();
  EXPECT_TRUE(Knowledge::from_steps({vector("{A:5}"), vector("{A:2}")}, steps).ok());

  std::vector<ClockVector::Entry> entries(limits::kReplicasMax + 1);
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = {*ReplicaId::from_bytes(item(i).view()), 1};
  EXPECT_EQ(Knowledge::from_steps({ClockVector(entries)}, {{item(0), 0}}).status().code(), StatusCode::kLimitExceeded);
}

}  // namespace
}  // namespace harmonica
