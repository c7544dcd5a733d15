// Metadata on SQLite, beside a calibration: the same bytes as plain rows of SQLite. Compare within one run only.
#include <benchmark/benchmark.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "harmonica/providers/metadata.h"

namespace harmonica {
namespace {

constexpr std::uint32_t kItems = 50'000;
constexpr std::uint32_t kManyItems = 1'000'000;
constexpr Tick kFirstTick = Tick{1'700'000'000'000} << kTickCounterBits;

void check(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.to_text().c_str());
  std::abort();
}

template <typename T>
T checked(Result<T> result) {
  check(result.status());
  return *std::move(result);
}

class Folder {
 public:
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "harmonica-bench-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

ReplicaId replica(std::uint8_t number) {
  ReplicaId id;
  id.bytes.fill(number);
  return id;
}

// Ids are hashes in life, so they come in no order.
ItemId random_id(std::mt19937_64& random) {
  ItemId id;
  for (std::uint8_t& byte : id.bytes) byte = static_cast<std::uint8_t>(random());
  return shaped_item_id(id.view());
}

// A bookmark: title, url, parent, position; two versions; shown as its registers say.
StoredItem bookmark(std::mt19937_64& random, std::uint32_t number) {
  const Version created{replica(1), kFirstTick + number};
  const Version edited{replica(static_cast<std::uint8_t>(2 + number % 8)), kFirstTick + (Tick{1} << 30) + number};
  const ItemId parent = shaped_item_id(Bytes(16, static_cast<std::uint8_t>(number / 100)));
  StoredItem stored;
  stored.item.id = random_id(random);
  stored.item.type = 1;
  stored.item.existence = {created, Existence::kCreated};
  const Value title = Value::text("A title of some forty letters, number " + std::to_string(number));
  const Value url = Value::text("https://www.example.org/articles/2023/11/" + std::to_string(number) + "/index.html");
  const Bytes position = {static_cast<std::uint8_t>(number >> 16),
                          static_cast<std::uint8_t>(number >> 8),
                          static_cast<std::uint8_t>(number),
                          0x80,
                          1,
                          2,
                          3,
                          4};
  stored.item.units = {{1, {edited, title, Origin::kWritten}},
                       {2, {created, url, Origin::kWritten}},
                       {3, {created, Value::ids({parent}), Origin::kWritten}},
                       {4, {created, Value::bytes(position), Origin::kWritten}}};
  stored.view.visible = true;
  stored.view.parent = parent;
  stored.shown = ShownItem{stored.item.id.to_text(), parent, position, {{1, title}, {2, url}}};
  return stored;
}

std::vector<IndexEntry> entries_of(const StoredItem& stored) {
  const ShownItem& shown = *stored.shown;
  Bytes child(shown.parent.bytes.begin(), shown.parent.bytes.end());
  child.insert(child.end(), shown.position.begin(), shown.position.end());
  const ByteView id = stored.item.id.view();
  return {{IndexKind::kStoreKey, Bytes(shown.key.begin(), shown.key.end())},
          {IndexKind::kChild, child},
          {IndexKind::kUniqueKey, Bytes(id.begin(), id.end())}};
}

const std::vector<StoredItem>& bookmarks() {
  static const std::vector<StoredItem> items = [] {
    std::mt19937_64 random(1);
    std::vector<StoredItem> made;
    for (std::uint32_t number = 0; number < kItems; ++number) made.push_back(bookmark(random, number));
    return made;
  }();
  return items;
}

void put_bookmarks(MetadataStore& store) {
  const auto transaction = checked(store.begin(TransactionMode::kWrite));
  for (const StoredItem& item : bookmarks()) check(transaction->put(item, entries_of(item)));
  check(transaction->commit());
}

void MetadataInsert50000(benchmark::State& state) {
  bookmarks();
  for (auto _ : state) {
    state.PauseTiming();
    const Folder folder;
    const auto store = checked(providers::open_sqlite_metadata(folder.file("metadata.db")));
    state.ResumeTiming();
    put_bookmarks(*store);
  }
}
BENCHMARK(MetadataInsert50000)->Unit(benchmark::kMillisecond)->Iterations(3)->UseRealTime();

void Calibration50000PlainRows(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    const Folder folder;
    sqlite3* database = nullptr;
    sqlite3_open(folder.file("plain.db").c_str(), &database);
    sqlite3_exec(database,
                 "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                 "CREATE TABLE items(id BLOB PRIMARY KEY, body BLOB) WITHOUT ROWID; BEGIN",
                 nullptr, nullptr, nullptr);
    sqlite3_stmt* insert = nullptr;
    sqlite3_prepare_v2(database, "INSERT INTO items VALUES(?, ?)", -1, &insert, nullptr);
    const std::string body(350, 'x');
    state.ResumeTiming();
    for (const StoredItem& item : bookmarks()) {
      sqlite3_bind_blob(insert, 1, item.item.id.bytes.data(), 16, SQLITE_STATIC);
      sqlite3_bind_blob(insert, 2, body.data(), static_cast<int>(body.size()), SQLITE_STATIC);
      if (sqlite3_step(insert) != SQLITE_DONE) std::abort();
      sqlite3_reset(insert);
    }
    sqlite3_exec(database, "COMMIT", nullptr, nullptr, nullptr);
    state.PauseTiming();
    sqlite3_finalize(insert);
    sqlite3_close(database);
    state.ResumeTiming();
  }
}
BENCHMARK(Calibration50000PlainRows)->Unit(benchmark::kMillisecond)->Iterations(3)->UseRealTime();

MetadataStore& store_of_50000() {
  static const Folder folder;
  static const std::unique_ptr<MetadataStore> store = [] {
    auto made = checked(providers::open_sqlite_metadata(folder.file("metadata.db")));
    put_bookmarks(*made);
    return made;
  }();
  return *store;
}

void MetadataScan50000(benchmark::State& state) {
  const auto transaction = checked(store_of_50000().begin(TransactionMode::kRead));
  for (auto _ : state) {
    std::size_t count = 0;
    check(transaction->scan(ItemIdRange::all(), [&](const StoredItem& item) -> Result<Visit> {
      count += item.item.units.size();
      return Visit::kContinue;
    }));
    if (count != 4 * kItems) std::abort();
  }
}
BENCHMARK(MetadataScan50000)->Unit(benchmark::kMillisecond)->UseRealTime();

void MetadataFind(benchmark::State& state) {
  const auto transaction = checked(store_of_50000().begin(TransactionMode::kRead));
  std::size_t next = 0;
  for (auto _ : state) {
    next = (next + 7919) % kItems;
    benchmark::DoNotOptimize(checked(transaction->find(bookmarks()[next].item.id)));
  }
}
BENCHMARK(MetadataFind)->Unit(benchmark::kMicrosecond)->UseRealTime();

void MetadataUpdateOneAndCommit(benchmark::State& state) {
  MetadataStore& store = store_of_50000();
  std::uint32_t number = 0;
  for (auto _ : state) {
    StoredItem item = bookmarks()[++number % kItems];
    item.item.units[0].content.version = {replica(1), kFirstTick + (Tick{1} << 31) + number};
    const auto transaction = checked(store.begin(TransactionMode::kWrite));
    check(transaction->put(item, entries_of(item)));
    check(transaction->commit());
  }
}
BENCHMARK(MetadataUpdateOneAndCommit)->Unit(benchmark::kMicrosecond)->UseRealTime();

// All versions in all vectors of `known`, that is, everything but what comes later.
ClockVector known_vector(Tick tick) {
  std::vector<ClockVector::Entry> entries;
  for (std::uint8_t number = 1; number <= 10; ++number) entries.push_back({replica(number), tick});
  return ClockVector(std::move(entries));
}

// A million items, put in transactions of 50,000, and how long each of those took.
struct ManyItems {
  const Folder folder;
  std::unique_ptr<MetadataStore> store = checked(providers::open_sqlite_metadata(folder.file("many.db")));
  std::vector<double> seconds;

  ManyItems() {
    std::mt19937_64 random(2);
    for (std::uint32_t number = 0; number < kManyItems;) {
      std::vector<StoredItem> items;
      for (std::uint32_t i = 0; i < kItems; ++i) items.push_back(bookmark(random, number++));
      const auto start = std::chrono::steady_clock::now();
      const auto transaction = checked(store->begin(TransactionMode::kWrite));
      for (const StoredItem& item : items) check(transaction->put(item, entries_of(item)));
      check(transaction->commit());
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
  }
};

const ManyItems& many_items() {
  static const ManyItems items;
  return items;
}

MetadataStore& store_of_1000000() { return *many_items().store; }

void MetadataInsert1000000By50000(benchmark::State& state) {
  const std::vector<double>& seconds = many_items().seconds;
  for (auto _ : state) state.SetIterationTime(std::accumulate(seconds.begin(), seconds.end(), 0.0));
  state.counters["first_ms"] = seconds.front() * 1000;
  state.counters["last_ms"] = seconds.back() * 1000;
  state.counters["slowest_ms"] = *std::max_element(seconds.begin(), seconds.end()) * 1000;
}
BENCHMARK(MetadataInsert1000000By50000)->Unit(benchmark::kMillisecond)->Iterations(1)->UseManualTime();

// The knowledge of someone who lacks the last `lacking` edits.
Knowledge all_but(std::uint32_t lacking) {
  return Knowledge(known_vector(kFirstTick + (Tick{1} << 30) + kManyItems - 1 - lacking));
}

void FindLackingOneOf1000000(benchmark::State& state) {
  const auto transaction = checked(store_of_1000000().begin(TransactionMode::kRead));
  const Knowledge knowledge = all_but(1);
  for (auto _ : state) {
    if (checked(transaction->find_lacking(knowledge, ItemIdRange::all(), 1000)).size() != 1) std::abort();
  }
}
BENCHMARK(FindLackingOneOf1000000)->Unit(benchmark::kMicrosecond)->UseRealTime();

void FindLackingOneOf1000000Of1001Steps(benchmark::State& state) {
  const auto transaction = checked(store_of_1000000().begin(TransactionMode::kRead));
  Knowledge knowledge = all_but(1);
  std::mt19937_64 random(3);
  for (int i = 0; i < 500; ++i) {
    const ItemId id = random_id(random);
    knowledge.assign({id, id}, known_vector(kFirstTick));
  }
  for (auto _ : state) benchmark::DoNotOptimize(checked(transaction->find_lacking(knowledge, ItemIdRange::all(), 1000)));
}
BENCHMARK(FindLackingOneOf1000000Of1001Steps)->Unit(benchmark::kMicrosecond)->UseRealTime();

// As a source does that sends a batch after the other: all answers together, in batches of 1,000.
void find_all_lacking(benchmark::State& state, const Knowledge& knowledge, std::size_t expected) {
  const auto transaction = checked(store_of_1000000().begin(TransactionMode::kRead));
  for (auto _ : state) {
    std::size_t found = 0;
    std::optional<ItemId> first = kFirstItemId;
    while (first.has_value()) {
      const auto ids = checked(transaction->find_lacking(knowledge, {*first, last_item_id()}, 1000));
      found += ids.size();
      first = ids.size() < 1000 ? std::nullopt : next(ids.back());
    }
    if (found != expected) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(expected));
}

void FindLackingAllByNewcomer(benchmark::State& state) { find_all_lacking(state, Knowledge(), kManyItems); }
BENCHMARK(FindLackingAllByNewcomer)->Unit(benchmark::kMillisecond)->UseRealTime();

void FindLackingAllByOneWithItemsOfItsOwn(benchmark::State& state) {
  find_all_lacking(state, Knowledge(ClockVector({{replica(11), 5}})), kManyItems);
}
BENCHMARK(FindLackingAllByOneWithItemsOfItsOwn)->Unit(benchmark::kMillisecond)->UseRealTime();

void FindLackingSome(benchmark::State& state) {
  const auto lacking = static_cast<std::uint32_t>(state.range(0));
  find_all_lacking(state, all_but(lacking), lacking);
}
BENCHMARK(FindLackingSome)->Arg(1000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace harmonica
