// How many bytes knowledge takes on the wire, beside a published layout of the same thing, as tables with tabs in between:
//
//   bench_sizes replicas       undisturbed, by the number of replicas
//   bench_sizes exceptions     of 10 replicas, by the number of items that were left out
//   bench_sizes disturbance    in a mesh where items fail, by the chance that one does
//
// The layout beside it is that of MS-FSVCA: 77 + 16 for each replica + for each distinct vector 8 and 12 an entry, the
// empty one included + 28 for each range.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "harmonica/extension/remote.h"
#include "harmonica/harmonica.h"

namespace {

using namespace harmonica;

constexpr Tick kToday = Tick{1'700'000'000'000} << 16;
// So that an id is not found by counting: as hashes are.
constexpr std::uint64_t kScatter = 0x9e3779b97f4a7c15;

ReplicaId replica(std::size_t number) {
  ReplicaId id;
  std::uint64_t spread = (number + 1) * kScatter;
  for (std::uint8_t& byte : id.bytes) {
    byte = static_cast<std::uint8_t>(spread >> 56);
    spread = spread * kScatter + number + 1;
  }
  return id;
}

// Ids rise with their numbers.
ItemId item(std::size_t number) {
  ItemId id;
  const std::uint64_t place = (static_cast<std::uint64_t>(number) + 1) << 40;
  for (std::size_t index = 0; index < 8; ++index) id.bytes[index] = static_cast<std::uint8_t>(place >> (56 - 8 * index));
  id.bytes[15] = static_cast<std::uint8_t>(number | 1);
  return id;
}

// Takes the size of what is sent, and sends nothing.
class Scales : public Channel {
 public:
  std::size_t bytes = 0;
  Result<Bytes> exchange(ByteView request) override {
    bytes = request.size();
    return Status(StatusCode::kUnavailable, "weighed");
  }
};

std::size_t request_bytes(const Knowledge& knowledge) {
  Scales scales;
  const std::unique_ptr<Provider> remote = make_remote_provider(scales, {});
  ChangeRequest request;
  request.destination.replica = replica(0);
  request.number = 1;
  request.knowledge = knowledge;
  static_cast<void>(remote->begin_source(request));
  return scales.bytes;
}

// Without what a request has besides: its replica and an empty knowledge.
std::size_t our_bytes(const Knowledge& knowledge) { return request_bytes(knowledge) - request_bytes(Knowledge()) + 2; }

std::size_t layout_bytes(const Knowledge& knowledge, std::size_t replicas) {
  std::size_t bytes = 77 + 16 * replicas + 8;
  for (const ClockVector& vector : knowledge.vectors()) {
    if (!vector.empty()) bytes += 8 + 12 * vector.entries().size();
  }
  return bytes + 28 * knowledge.steps().size();
}

ClockVector vector_of(std::size_t replicas, Tick first_tick) {
  std::vector<ClockVector::Entry> entries;
  for (std::size_t number = 0; number < replicas; ++number) entries.push_back({replica(number), first_tick + number});
  return ClockVector(std::move(entries));
}

void by_replicas() {
  std::printf("replicas\tHarmonica\tMS-FSVCA\n");
  for (const std::size_t count : {2, 5, 10, 20, 50, 100, 200, 500, 1000}) {
    const Knowledge knowledge(vector_of(count, kToday));
    std::printf("%zu\t%zu\t%zu\n", count, our_bytes(knowledge), layout_bytes(knowledge, count));
  }
}

void by_exceptions() {
  std::printf("exceptions\tHarmonica, one vector\tMS-FSVCA, one vector\tHarmonica, all differ\tMS-FSVCA, all differ\n");
  for (const std::size_t count : {1, 3, 10, 30, 100, 300, 1000, 3000}) {
    Knowledge shared(vector_of(10, kToday));
    Knowledge distinct = shared;
    for (std::size_t number = 0; number < count; ++number) {
      const ItemId left_out = item(2 * number);
      shared.assign({left_out, left_out}, vector_of(10, kToday - 1000));
      distinct.assign({left_out, left_out}, vector_of(10, kToday - 1000 - 20 * number));
    }
    std::printf("%zu\t%zu\t%zu\t%zu\t%zu\n", count, our_bytes(shared), layout_bytes(shared, 10), our_bytes(distinct),
                layout_bytes(distinct, 10));
  }
}

// Replicas that edit and pull, one item being one register. (The question is that of Malkhi & Terry, 2005.)
struct Mesh {
  Mesh(std::size_t item_count, std::size_t replica_count, double failing_chance)
      : items(item_count), failing(failing_chance), random(7), known(replica_count), held(replica_count) {
    for (auto& versions : held) versions.resize(items);
    for (std::size_t number = 0; number < replica_count; ++number) ticks.push_back(kToday);
  }

  void edit(std::size_t editor) {
    const std::size_t edited = random() % items;
    const Version version{replica(editor), ++ticks[editor]};
    held[editor][edited] = version;
    known[editor].raise_everywhere(version);
  }

  // Each item that comes fails by chance; of it nothing is learned, nor of what lies between two that failed if nothing
  // came in there.
  void pull(std::size_t destination, std::size_t source) {
    std::vector<ItemIdRange> left_out;
    bool came_in = true;
    for (std::size_t number = 0; number < items; ++number) {
      const Version& offered = held[source][number];
      if (offered.is_none() || known[destination].contains(item(number), offered)) continue;
      if (std::uniform_real_distribution<>(0, 1)(random) < failing) {
        if (came_in) left_out.push_back({item(number), item(number)});
        left_out.back().last = item(number);
        came_in = false;
      } else {
        // The later one stays.
        if (held[destination][number] < offered) held[destination][number] = offered;
        came_in = true;
      }
    }
    known[destination].merge(left_out.empty() ? known[source] : known[source].exclude(left_out));
  }

  void round() {
    for (std::size_t one = 0; one < known.size(); ++one) {
      for (int edits = 0; edits < 3; ++edits) edit(one);
      pull(one, (one + 1 + random() % (known.size() - 1)) % known.size());
    }
  }

  std::size_t items;
  double failing;
  std::mt19937_64 random;
  std::vector<Knowledge> known;
  std::vector<std::vector<Version>> held;
  std::vector<Tick> ticks;
};

void by_disturbance() {
  std::printf("items\treplicas\tchance\tsteps\tHarmonica\tMS-FSVCA\tvector for each item\n");
  const auto measure = [](std::size_t items, std::size_t replicas, double failing) {
    constexpr int kRounds = 60;
    Mesh mesh(items, replicas, failing);
    double steps = 0;
    double ours = 0;
    double layout = 0;
    double samples = 0;
    for (int round = 0; round < kRounds; ++round) {
      mesh.round();
      if (round < kRounds / 2) continue;
      for (const Knowledge& knowledge : mesh.known) {
        steps += static_cast<double>(knowledge.steps().size());
        ours += static_cast<double>(our_bytes(knowledge));
        layout += static_cast<double>(layout_bytes(knowledge, replicas));
        ++samples;
      }
    }
    std::printf("%zu\t%zu\t%g\t%.1f\t%.0f\t%.0f\t%zu\n", items, replicas, failing, steps / samples, ours / samples,
                layout / samples, items * (8 + 12 * replicas));
    std::fflush(stdout);
  };
  for (const double failing : {0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5}) measure(1000, 10, failing);
  for (const double failing : {0.0, 0.01, 0.03, 0.1, 0.3}) measure(100, 10, failing);
  for (const double failing : {0.0, 0.01, 0.05, 0.1}) measure(100, 50, failing);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 2 ? argv[1] : "";
  const std::map<std::string, std::function<void()>> tables = {
      {"replicas", by_replicas}, {"exceptions", by_exceptions}, {"disturbance", by_disturbance}};
  const auto table = tables.find(what);
  if (table == tables.end()) {
    std::fprintf(stderr, "bench_sizes replicas|exceptions|disturbance\n");
    return 2;
  }
  table->second();
  return 0;
}
