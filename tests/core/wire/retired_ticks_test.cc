#include "wire/retired_ticks.h"

#include <gtest/gtest.h>

#include <random>

#include "support/shorthand.h"
#include "wire/codec.h"

namespace harmonica::wire {
namespace {

using shorthand::replica;

ClockVector random_vector(std::mt19937_64& random) {
  std::vector<ClockVector::Entry> entries;
  for (char letter = 'A'; letter <= 'H'; ++letter) {
    if (random() % 3 != 0) entries.push_back({replica(letter), 1 + random() % 3});
  }
  return ClockVector(std::move(entries));
}

TEST(RetiredTicks, AreFilledInAgain) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 10'000; ++round) {
    const RetiredTicks retired{1, random_vector(random)};
    const ClockVector vector = random_vector(random);
    EXPECT_EQ(with_retired(without_retired(vector, retired), retired), vector);
  }
}

TEST(RetiredTicks, AreThoseOfTheRetiredAlone) {
  ReplicaRow here;
  here.replica = replica('A');
  here.last = 9;
  ReplicaRow silent;
  silent.replica = replica('B');
  silent.retired = true;
  ReplicaRow gone;
  gone.replica = replica('C');
  gone.retired = true;
  gone.last = 7;
  const ReplicaTable table = ReplicaTable::from_rows({here, silent, gone}).value();
  EXPECT_EQ(retired_ticks_of(table), (RetiredTicks{table.digest(), shorthand::vector("{C:7}")}));
  EXPECT_EQ(retired_ticks_of(ReplicaTable::from_rows({here, silent}).value()), RetiredTicks());
}

// Whoever left them out would be misread by a peer with another table: such a request is known as one that cannot be read.
TEST(RetiredTicks, OfATableThatIsNotKnownAreNotGuessed) {
  const RetiredTicks retired{5, shorthand::vector("{C:7}")};
  ChangeRequest request;
  request.destination.replica = replica('D');
  request.number = 1;
  request.knowledge = Knowledge(shorthand::vector("{C:7,D:1}"));
  const Bytes bytes = encode_begin_source({{replica('D'), 1}, 0}, request, retired);
  const auto unknown = decode_request(bytes);
  ASSERT_TRUE(unknown.ok()) << unknown.status().to_text();
  EXPECT_TRUE(std::holds_alternative<OtherReplicas>(unknown->body));
  const auto known = decode_request(bytes, [&](std::uint64_t digest) { return digest == 5 ? &retired : nullptr; });
  ASSERT_TRUE(known.ok()) << known.status().to_text();
  EXPECT_EQ(std::get<ChangeRequest>(known->body).knowledge, request.knowledge);
}

// A few bytes on the wire may stand for ten thousand entries.
TEST(RetiredTicks, DoNotLetAMessageGrowWithoutBound) {
  const auto retired_ticks = [](std::size_t count) {
    std::vector<ClockVector::Entry> entries;
    for (std::size_t number = 0; number < count; ++number) {
      ReplicaId id = replica('Z');
      id.bytes[0] = static_cast<std::uint8_t>(number >> 8);
      id.bytes[1] = static_cast<std::uint8_t>(number);
      entries.push_back({id, 5});
    }
    return RetiredTicks{5, ClockVector(std::move(entries))};
  };
  const auto request_of = [&](const RetiredTicks& retired, std::uint32_t vector_count) {
    std::vector<ClockVector> vectors;
    std::vector<Knowledge::Step> steps;
    for (std::uint32_t step = 0; step < vector_count; ++step) {
      vectors.push_back(retired.ticks);
      vectors.back().raise({replica('D'), step + 1});
      steps.push_back({step == 0 ? kFirstItemId : shorthand::item(step), step});
    }
    ChangeRequest request;
    request.destination.replica = replica('D');
    request.knowledge = Knowledge::from_steps(std::move(vectors), std::move(steps)).value();
    return request;
  };
  const RetiredTicks many = retired_ticks(9'000);
  const ChangeRequest request = request_of(many, 113);
  const Bytes bytes = encode_begin_source({{replica('D'), 0}, 0}, request, many);
  const std::size_t two_in_full = 2 * 9'000 * 10;
  EXPECT_GT(bytes.size(), two_in_full);
  EXPECT_LT(bytes.size(), 2 * two_in_full + 9'000 * 16);
  const auto read = decode_request(bytes, [&](std::uint64_t) { return &many; });
  ASSERT_TRUE(read.ok()) << read.status().to_text();
  EXPECT_EQ(std::get<ChangeRequest>(read->body).knowledge, request.knowledge);

  const RetiredTicks few = retired_ticks(100);
  const Bytes small = encode_begin_source({{replica('D'), 0}, 0}, request_of(few, 1'000), few);
  EXPECT_EQ(decode_request(small, [&](std::uint64_t) { return &many; }).status().code(), StatusCode::kLimitExceeded);
}

}  // namespace
}  // namespace harmonica::wire
