// The kernel on SQLite metadata: sessions between two replicas of many items, beside a plain SQLite transaction.
//
//   bench_kernel [ITEMS]
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harmonica/extension/provider.h"
#include "harmonica/extension/remote.h"
#include "harmonica/harmonica.h"
#include "harmonica/platform/system_environment.h"
#include "harmonica/providers/metadata.h"

namespace {

using namespace harmonica;

constexpr TypeId kRow = 1;
constexpr UnitId kText = 1;

StoreItem row(std::size_t number, const std::string& text) {
  StoreItem item;
  item.key = "row " + std::to_string(number);
  item.type = kRow;
  item.values = {{kText, Value::text(text)}};
  return item;
}

// What a store tells at once.
constexpr std::size_t kPart = 20'000;

// A store that tells its own changes, as one with triggers does; what is written into it goes nowhere.
class ChangeFeed : public ItemStore {
 public:
  ChangeFeed() {
    const Unit text{.id = kText, .name = "text"};
    schema_ = {.default_scope = "rows", .types = {{.id = kRow, .name = "row", .units = {text}, .natural_key = {kText}}}};
  }

  // Will be enumerated once.
  void change(StoreItem item) { changed_.push_back(std::move(item)); }
  // Rows to come into being, told in parts.
  void fill(std::size_t rows) { rows_ = rows; }

  const Schema& schema() const override { return schema_; }
  WriteUnit write_unit() const override { return WriteUnit::kEachItem; }
  Result<Enumeration> enumerate(const Bytes&, const ShownItems&, EnumerationSink& sink) override {
    if (changed_.empty() && told_ == rows_) return Enumeration{EnumerationKind::kUnchanged, anchor()};
    for (StoreItem& item : changed_) HARMONICA_RETURN_IF_ERROR(sink.item(std::move(item)));
    changed_.clear();
    for (const std::size_t end = std::min(rows_, told_ + kPart); told_ < end; ++told_) {
      HARMONICA_RETURN_IF_ERROR(sink.item(row(told_, "text of row " + std::to_string(told_))));
    }
    return Enumeration{EnumerationKind::kChanges, anchor(), told_ < rows_};
  }
  StoreKey key_for(const ItemId& item) const override { return item.to_text(); }
  Result<Written> apply(std::span<const StoreWrite> writes, const Bytes&) override {
    return Written{std::vector<WriteOutcome>(writes.size()), {}};
  }

 private:
  Bytes anchor() const {
    const std::string number = std::to_string(told_);
    return {number.begin(), number.end()};
  }

  Schema schema_;
  std::vector<StoreItem> changed_;
  std::size_t rows_ = 0;
  std::size_t told_ = 0;
};

struct Side {
  ChangeFeed store;
  std::unique_ptr<MetadataStore> metadata;
  std::unique_ptr<Replica> replica;
};

// Counts the bytes and round trips of a session as it would go over a network.
class CountingChannel : public Channel {
 public:
  explicit CountingChannel(RequestHandler& handler) : handler_(handler) {}
  Result<Bytes> exchange(ByteView request) override {
    Bytes response = handler_.handle(request);
    ++round_trips;
    sent += request.size();
    received += response.size();
    return response;
  }

  std::size_t round_trips = 0;
  std::size_t sent = 0;
  std::size_t received = 0;

 private:
  RequestHandler& handler_;
};

void stop_on_error(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "bench_kernel: %s\n", status.to_text().c_str());
  std::exit(1);
}

double milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// One durable SQLite transaction of one row, for comparison.
double sqlite_commit(const std::string& path) {
  sqlite3* database = nullptr;
  sqlite3_open(path.c_str(), &database);
  sqlite3_exec(database, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t(a, b)", nullptr, nullptr,
               nullptr);
  std::vector<double> times;
  for (int run = 0; run < 50; ++run) {
    times.push_back(milliseconds(
        [&] { sqlite3_exec(database, "INSERT INTO t VALUES (1, randomblob(200))", nullptr, nullptr, nullptr); }));
  }
  sqlite3_close(database);
  return median(times);
}

double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t items = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1'000'000;
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("harmonica-bench-" + std::to_string(getpid()))).string();
  std::filesystem::create_directories(folder);
  const auto environment = platform::make_system_environment({.reservations_directory = folder + "/reservations"});
  Side devices[2];
  for (int side = 0; side < 2; ++side) {
    Result<std::unique_ptr<MetadataStore>> metadata =
        providers::open_sqlite_metadata(folder + "/" + std::to_string(side) + ".db");
    stop_on_error(metadata.status());
    devices[side].metadata = *std::move(metadata);
    Result<std::unique_ptr<Replica>> replica =
        Replica::open(devices[side].store, *devices[side].metadata, *environment, {});
    stop_on_error(replica.status());
    devices[side].replica = *std::move(replica);
  }
  Provider& source = devices[0].replica->provider();
  Provider& destination = devices[1].replica->provider();
  const auto session = [&] {
    SyncSession carried(source, destination, {});
    stop_on_error(carried.run());
  };

  const double detected = milliseconds([&] {
    devices[0].store.fill(items);
    stop_on_error(devices[0].replica->detect().status());
  });
  const double peak_of_one = peak_mebibytes();
  const double first_sync = milliseconds(session);
  std::vector<double> one_change;
  std::vector<double> no_change;
  for (std::size_t run = 0; run < 21; ++run) {
    devices[0].store.change(row(run * (items / 21), "changed"));
    one_change.push_back(milliseconds(session));
    no_change.push_back(milliseconds(session));
  }
  const std::unique_ptr<RequestHandler> endpoint = make_provider_endpoint(source);
  CountingChannel channel(*endpoint);
  const std::unique_ptr<Provider> remote = make_remote_provider(channel, {});
  SyncSession over_wire(*remote, destination, {});
  stop_on_error(over_wire.run());
  // One difference that no session has settled, looked for from the near side.
  devices[0].store.change(row(items / 2, "different"));
  CountingChannel verifying(*endpoint);
  const std::unique_ptr<Provider> compared = make_remote_provider(verifying, {});
  std::uint64_t differences = 0;
  const double verified = milliseconds([&] {
    const Result<Comparison> comparison = devices[1].replica->compare_with(*compared, 10);
    stop_on_error(comparison.status());
    differences = comparison->difference_count;
  });
  const double commit = sqlite_commit(folder + "/plain.db");

  std::printf("%zu items, SQLite metadata on both sides; one durable SQLite transaction: %.2f ms\n", items, commit);
  std::printf("detect all                     %9.0f ms  %8.0f items/s\n", detected,
              static_cast<double>(items) / detected * 1000);
  std::printf("first sync                     %9.0f ms  %8.0f items/s\n", first_sync,
              static_cast<double>(items) / first_sync * 1000);
  std::printf("one change, detected to commit %9.2f ms  %8.1f commits   bar 5 ms\n", median(one_change),
              median(one_change) / commit);
  std::printf("no change                      %9.2f ms\n", median(no_change));
  std::printf("no change, over the wire       %zu round trip(s), %zu bytes out, %zu in   bar 1, 1024\n",
              channel.round_trips, channel.sent, channel.received);
  std::printf("verify, %llu difference(s)       %9.0f ms  %zu round trips, %zu bytes   bar 4, 8192\n",
              static_cast<unsigned long long>(differences), verified, verifying.round_trips,
              verifying.sent + verifying.received);
  std::printf("peak memory, one device        %9.1f MiB  bar 64\n", peak_of_one);
  std::printf("peak memory, two devices       %9.1f MiB\n", peak_mebibytes());
  std::filesystem::remove_all(folder);
  return 0;
}
