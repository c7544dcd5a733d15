// What the kernel asks of knowledge most often, beside a hash table look-up that tells how fast the machine is.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "harmonica/knowledge.h"

namespace harmonica {
namespace {

constexpr std::size_t kReplicas = 10;
constexpr std::size_t kQueries = 4096;
constexpr Tick kTick = 1'000'000;

// SplitMix64: the same numbers on every machine.
std::uint64_t mixed(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

// The same for the same number, and spread like random ones.
template <typename AnyId>
AnyId spread_id(std::uint64_t number) {
  AnyId id;
  for (std::size_t i = 0; i < AnyId::kSize; ++i) {
    id.bytes[i] = static_cast<std::uint8_t>(mixed(number * 2 + i / 8) >> (i % 8 * 8));
  }
  return id;
}

ReplicaId replica(std::uint64_t number) { return spread_id<ReplicaId>(1'000'000 + number); }

ClockVector vector_at(Tick tick) {
  std::vector<ClockVector::Entry> entries;
  for (std::size_t i = 0; i < kReplicas; ++i) entries.push_back({replica(i), tick});
  return ClockVector(std::move(entries));
}

// Items that each know a little less than all others do, as failed writes leave them; `distinct` vectors among them.
Knowledge with_exceptions(std::size_t exceptions, std::size_t distinct) {
  Knowledge knowledge(vector_at(kTick));
  for (std::size_t i = 0; i < exceptions; ++i) {
    const ItemId item = spread_id<ItemId>(i);
    knowledge.assign({item, item}, vector_at(kTick - 1 - i % distinct));
  }
  return knowledge;
}

struct Query {
  ItemId item;
  Version version;
};

// In turn for an item among the first `known` and for one that is not.
std::vector<Query> random_queries(std::int64_t known) {
  std::vector<Query> queries;
  for (std::size_t i = 0; i < kQueries; ++i) {
    const bool is_known = i % 2 == 0 && known > 0;
    const std::uint64_t number = is_known ? mixed(i) % static_cast<std::uint64_t>(known) : 5'000'000 + i;
    queries.push_back({spread_id<ItemId>(number), {replica(mixed(i) % kReplicas), kTick}});
  }
  return queries;
}

struct IdHash {
  std::size_t operator()(const ItemId& id) const { return id.high() ^ id.low(); }
};

void calibration_unordered_map_find(benchmark::State& state) {
  std::unordered_map<ItemId, Tick, IdHash> map;
  for (std::int64_t i = 0; i < state.range(0); ++i) map[spread_id<ItemId>(static_cast<std::uint64_t>(i))] = kTick;
  const auto queries = random_queries(state.range(0));
  std::size_t next_query = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(map.find(queries[next_query].item) != map.end());
    next_query = (next_query + 1) % kQueries;
  }
}
BENCHMARK(calibration_unordered_map_find)->Arg(10)->Arg(1'000);

// Arguments: exceptions, distinct vectors among them.
void knowledge_contains(benchmark::State& state) {
  const auto knowledge =
      with_exceptions(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
  const auto queries = random_queries(state.range(0));
  std::size_t next_query = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(knowledge.contains(queries[next_query].item, queries[next_query].version));
    next_query = (next_query + 1) % kQueries;
  }
  state.counters["steps"] = static_cast<double>(knowledge.steps().size());
}
BENCHMARK(knowledge_contains)->Args({0, 1})->Args({1'000, 1})->Args({1'000, 1'000});

// The same, asked in the order of item ids, as enumeration does.
void knowledge_contains_in_order(benchmark::State& state) {
  const auto knowledge = with_exceptions(static_cast<std::size_t>(state.range(0)), 1'000);
  auto queries = random_queries(state.range(0));
  std::sort(queries.begin(), queries.end(), [](const Query& a, const Query& b) { return a.item < b.item; });
  std::size_t next_query = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(knowledge.contains(queries[next_query].item, queries[next_query].version));
    next_query = (next_query + 1) % kQueries;
  }
}
BENCHMARK(knowledge_contains_in_order)->Arg(1'000);

// Learning a batch: a range of a fiftieth of all ids, in which the source knows one tick more. Arguments: exceptions,
// distinct vectors.
void knowledge_merge_batch(benchmark::State& state) {
  const auto held = with_exceptions(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
  ItemIdRange range{{}, last_item_id()};
  range.first.bytes[0] = 100;
  range.last.bytes[0] = 104;
  const Knowledge learned = Knowledge(vector_at(kTick + 1)).project(range);
  for (auto _ : state) {
    state.PauseTiming();
    Knowledge merged = held;
    state.ResumeTiming();
    merged.merge(learned, range);
    benchmark::DoNotOptimize(merged.steps().data());
    state.PauseTiming();
    merged = Knowledge();
    state.ResumeTiming();
  }
}
BENCHMARK(knowledge_merge_batch)->Args({0, 1})->Args({500, 1})->Args({500, 500});

// One item written on its own into a knowledge of about 1,000 steps.
void knowledge_merge_at(benchmark::State& state) {
  auto held = with_exceptions(500, static_cast<std::size_t>(state.range(0)));
  const ItemId item = spread_id<ItemId>(7'000'000);
  Tick tick = kTick;
  for (auto _ : state) held.merge_at(item, vector_at(++tick));
}
BENCHMARK(knowledge_merge_at)->Arg(1)->Arg(500);

// A replica's own new tick. Arguments: exceptions, all with vectors of their own.
void knowledge_raise_everywhere(benchmark::State& state) {
  const auto exceptions = static_cast<std::size_t>(state.range(0));
  auto held = with_exceptions(exceptions, exceptions + 1);
  Tick tick = 2 * kTick;
  const ReplicaId self = replica(99);
  for (auto _ : state) held.raise_everywhere({self, ++tick});
}
BENCHMARK(knowledge_raise_everywhere)->Arg(0)->Arg(1'000);

// Learning everything from a peer of the same scope. Arguments: exceptions on either side, at different items.
void knowledge_merge_everything(benchmark::State& state) {
  const auto exceptions = static_cast<std::size_t>(state.range(0));
  const Knowledge mine = with_exceptions(exceptions, exceptions + 1);
  Knowledge theirs(vector_at(kTick + 1));
  for (std::size_t i = 0; i < exceptions; ++i) {
    const ItemId item = spread_id<ItemId>(9'000'000 + i);
    theirs.assign({item, item}, vector_at(kTick - 1 - i));
  }
  for (auto _ : state) {
    Knowledge merged = mine;
    merged.merge(theirs);
    benchmark::DoNotOptimize(merged.steps().data());
  }
}
BENCHMARK(knowledge_merge_everything)->Arg(0)->Arg(1'000);

}  // namespace
}  // namespace harmonica
