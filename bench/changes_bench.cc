// Kernel and wire alone, in memory, on one thread: a replica takes in changes of one field each, from the bytes of its
// source to the commit. Beside it: looking a key up in a hash table.
//
//   bench_changes [ITEMS]
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "harmonica/extension/provider.h"
#include "harmonica/extension/remote.h"
#include "harmonica/harmonica.h"
#include "harmonica/platform/crypto.h"
#include "harmonica/providers/memory.h"

namespace {

using namespace harmonica;

constexpr std::size_t kValueBytes = 20;
constexpr std::int64_t kNowMs = 1'700'000'000'000;
constexpr int kRuns = 7;

// The time stands still, so that a session is the same each time.
class StillEnvironment : public Environment {
 public:
  explicit StillEnvironment(std::uint8_t seed) : seed_(seed) {}
  std::int64_t wall_clock_ms() override { return kNowMs; }
  void randomize(std::span<std::uint8_t> bytes) override { std::fill(bytes.begin(), bytes.end(), seed_); }
  Sha256 sha256(ByteView bytes) override { return platform::sha256(bytes); }
  void log(LogLevel, std::string_view) override {}
  Result<std::optional<Tick>> reserved_tick(const ReplicaId&) override { return reserved_; }
  Status set_reserved_tick(const ReplicaId&, Tick tick) override {
    reserved_ = tick;
    return {};
  }

 private:
  std::uint8_t seed_;
  std::optional<Tick> reserved_;
};

void stop_on_error(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "bench_changes: %s\n", status.to_text().c_str());
  std::exit(1);
}

// Of the processor: there is one thread and no I/O, and others may be at work on the machine.
double seconds(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

Schema row_schema(UnitId units) {
  Schema schema;
  schema.default_scope = "rows";
  ItemType row{.id = 1, .name = "row"};
  for (UnitId unit = 1; unit <= units; ++unit) row.units.push_back({.id = unit, .name = "column " + std::to_string(unit)});
  schema.types = {row};
  return schema;
}

ItemId item_id(std::size_t number) {
  const auto hash = platform::sha256(as_bytes(std::to_string(number)));
  return *ItemId::from_bytes(ByteView(hash).first(ItemId::kSize));
}

std::string value_text(std::size_t number) {
  std::string text = std::to_string(number * 2'654'435'761u);
  text.resize(kValueBytes, 'x');
  return text;
}

struct Rows {
  std::size_t items = 0;
  UnitId units = 1;
};

// All items as one writer made them; in a second state one unit of each was changed since.
void fill(MetadataStore& metadata, const Rows& rows, std::uint8_t own, Tick changes_after) {
  const auto transaction = metadata.begin(TransactionMode::kWrite).value();
  ReplicaId writer;
  writer.bytes.fill(0x57);
  ReplicaState state;
  state.replica.bytes.fill(own);
  state.scope = "rows";
  state.schema_fingerprint = row_schema(rows.units).fingerprint();
  Tick last = first_tick_of(kNowMs - 1'000'000);
  for (std::size_t number = 0; number < rows.items; ++number) {
    const Version made{writer, ++last};
    StoredItem stored;
    stored.item.id = item_id(number);
    stored.item.type = 1;
    stored.item.existence = {made, Existence::kCreated};
    for (UnitId unit = 1; unit <= rows.units; ++unit) {
      stored.item.units.push_back({unit, {made, Value::text(value_text(number + unit)), Origin::kWritten}});
    }
    if (changes_after > 0) {
      const UnitId unit = static_cast<UnitId>(1 + number % rows.units);
      stored.item.at(unit) = {{writer, changes_after + number}, Value::text(value_text(number + 77)), Origin::kWritten};
    }
    stop_on_error(transaction->put(stored, {}));
  }
  if (changes_after > 0) last = changes_after + rows.items;
  state.last_tick = last;
  stop_on_error(transaction->set_state(state));
  stop_on_error(transaction->set_schemas({row_schema(rows.units), {}}));
  stop_on_error(transaction->set_knowledge(Knowledge(ClockVector({{writer, last}}))));
  stop_on_error(transaction->commit());
}

// Keeps what passes, or plays it again.
class Tape : public Channel {
 public:
  explicit Tape(RequestHandler& handler) : handler_(handler) {}
  Result<Bytes> exchange(ByteView request) override {
    if (next_ < responses_.size()) return responses_[next_++];
    Bytes response;
    spent += seconds([&] { response = handler_.handle(request); });
    responses_.push_back(response);
    ++next_;
    return response;
  }
  void rewind() { next_ = 0; }
  std::size_t bytes() const {
    std::size_t bytes = 0;
    for (const Bytes& response : responses_) bytes += response.size();
    return bytes;
  }
  std::size_t batches() const { return responses_.size(); }
  double spent = 0;

 private:
  RequestHandler& handler_;
  std::vector<Bytes> responses_;
  std::size_t next_ = 0;
};

// One session; how long it took.
double carry(Tape& tape, const providers::MemoryMetadataStore& before, std::size_t items) {
  providers::MemoryMetadataStore metadata = before;
  {
    // A copy shares everything until it is changed.
    const auto transaction = metadata.begin(TransactionMode::kWrite).value();
    stop_on_error(transaction->set_anchor({1}));
    stop_on_error(transaction->commit());
  }
  StillEnvironment environment(2);
  std::unique_ptr<Replica> replica = Replica::open(metadata, environment, {}).value();
  const std::unique_ptr<Provider> far = make_remote_provider(tape, {});
  std::uint64_t updated = 0;
  const double spent = seconds([&] {
    SyncSession session(*far, replica->provider(), {});
    stop_on_error(session.run());
    updated = session.report().updated;
  });
  if (updated != items) {
    std::fprintf(stderr, "bench_changes: %llu of %zu changes were applied\n", static_cast<unsigned long long>(updated),
                 items);
    std::exit(1);
  }
  return spent;
}

double look_up_nanoseconds(std::size_t items) {
  std::unordered_map<std::string, std::size_t> table;
  std::vector<std::string> keys;
  for (std::size_t number = 0; number < items; ++number) keys.push_back(item_id(number).to_text());
  for (const std::string& key : keys) table.emplace(key, table.size());
  std::size_t sum = 0;
  std::vector<double> runs;
  for (int run = 0; run < kRuns; ++run) {
    runs.push_back(seconds([&] {
      for (const std::string& key : keys) sum += table.find(key)->second;
    }));
  }
  if (sum == 0) std::exit(1);
  return *std::min_element(runs.begin(), runs.end()) / static_cast<double>(items) * 1e9;
}

void measure(const Rows& rows, double look_up) {
  providers::MemoryMetadataStore source_metadata;
  providers::MemoryMetadataStore destination_metadata;
  fill(source_metadata, rows, 1, first_tick_of(kNowMs - 500'000));
  fill(destination_metadata, rows, 2, 0);
  StillEnvironment environment(1);
  const std::unique_ptr<Replica> source = Replica::open(source_metadata, environment, {}).value();
  const std::unique_ptr<RequestHandler> endpoint = make_provider_endpoint(source->provider());
  Tape tape(*endpoint);
  carry(tape, destination_metadata, rows.items);
  std::vector<double> runs;
  for (int run = 0; run < kRuns; ++run) {
    tape.rewind();
    runs.push_back(carry(tape, destination_metadata, rows.items));
  }
  const double each = *std::min_element(runs.begin(), runs.end()) / static_cast<double>(rows.items) * 1e9;
  std::printf("items of %u fields, %zu messages\n", unsigned{rows.units}, tape.batches());
  std::printf("  applied, from bytes to commit  %9.0f changes/s  %6.0f ns  %6.1f look-ups   bar 500,000\n", 1e9 / each,
              each, each / look_up);
  std::printf("  sent, from metadata to bytes   %9.0f changes/s\n", static_cast<double>(rows.items) / tape.spent);
  const double on_the_wire = static_cast<double>(tape.bytes()) / static_cast<double>(rows.items);
  std::printf("  on the wire                    %9.1f bytes a change, %.1f of them metadata   bar 60\n", on_the_wire,
              on_the_wire - static_cast<double>(kValueBytes));
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t items = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100'000;
  const double look_up = look_up_nanoseconds(items);
  std::printf("%zu changes of one field of %zu bytes; a look-up in a hash table: %.0f ns\n", items, kValueBytes, look_up);
  for (const UnitId units : {UnitId{1}, UnitId{5}}) measure({items, units}, look_up);
  return 0;
}
