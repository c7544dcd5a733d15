// Favorites, from file to file: first sync, no change, one change; then the stores alone. Beside a durable copy of the
// file.
//
//   bench_favorites [BOOKMARKS [sessions|stores]]
//
// Each step runs in a process of its own, so that its time includes opening the stores and its peak memory is its own.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <unordered_map>
#include <vector>

#include "harmonica/harmonica.h"
#include "harmonica/platform/file_system.h"
#include "harmonica/platform/system_environment.h"
#include "harmonica/providers/favorites.h"
#include "harmonica/providers/metadata.h"
#include "support/make_bookmarks.h"

namespace {

using namespace harmonica;

struct Figures {
  double milliseconds = 0;
  double processor_milliseconds = 0;
  double peak_mebibytes = 0;
};

void stop_on_error(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "bench_favorites: %s\n", status.to_text().c_str());
  std::exit(1);
}

double processor_milliseconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto milliseconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
}

Figures calibration;  // a durable copy of the file

// Runs `prepare`, and `work` on what it made, in a child process, and measures the work; the peak counts what was prepared.
template <typename Prepare, typename Work>
Figures measure(const Prepare& prepare, const Work& work) {
  int times[2];
  if (pipe(times) != 0) std::exit(1);
  const pid_t child = fork();
  if (child == 0) {
    const auto prepared = prepare();
    Figures figures;
    const double used_before = processor_milliseconds();
    const auto start = std::chrono::steady_clock::now();
    stop_on_error(work(prepared));
    figures.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    figures.processor_milliseconds = processor_milliseconds() - used_before;
    const bool sent = ::write(times[1], &figures, sizeof(figures)) == sizeof(figures);
    std::_Exit(sent ? 0 : 1);
  }
  Figures figures;
  close(times[1]);
  const bool received = ::read(times[0], &figures, sizeof(figures)) == sizeof(figures);
  close(times[0]);
  int exit_status = 0;
  rusage usage{};
  wait4(child, &exit_status, 0, &usage);
  if (exit_status != 0 || !received) std::exit(1);
  figures.peak_mebibytes = static_cast<double>(usage.ru_maxrss) / 1024.0;
  return figures;
}

template <typename Work>
Figures measure(const Work& work) {
  return measure([] { return 0; }, [&](int) { return work(); });
}

void print(const char* what, const Figures& figures, const char* bar) {
  std::printf("%-32s %8.1f ms %8.1f ms of processor %6.1f MiB %6.1f copies", what, figures.milliseconds,
              figures.processor_milliseconds, figures.peak_mebibytes, figures.milliseconds / calibration.milliseconds);
  std::printf(*bar == '\0' ? "\n" : "  bar %s\n", bar);
}

Status sync(const std::string& folder) {
  const auto environment = platform::make_system_environment({.reservations_directory = folder + "/reservations"});
  std::unique_ptr<ItemStore> stores[2];
  std::unique_ptr<MetadataStore> metadata[2];
  std::unique_ptr<Replica> replicas[2];
  for (int side = 0; side < 2; ++side) {
    const std::string name = folder + "/" + std::to_string(side);
    HARMONICA_ASSIGN_OR_RETURN(stores[side], providers::open_favorites(name + ".json", {}));
    HARMONICA_ASSIGN_OR_RETURN(metadata[side], providers::open_sqlite_metadata(name + ".db"));
    HARMONICA_ASSIGN_OR_RETURN(replicas[side], Replica::open(*stores[side], *metadata[side], *environment, {}));
  }
  return synchronize(replicas[0]->provider(), replicas[1]->provider(), {}).status();
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& content) { std::ofstream(path, std::ios::binary) << content; }

// Changes the title of one bookmark in the file.
Status edit_one(const std::string& path, int number) {
  std::string content = read(path);
  const std::size_t name = content.find("\"name\": \"", content.size() / 2);
  content.insert(name + 9, "edited " + std::to_string(number) + " ");
  write(path, content);
  return {};
}

// The items of a store, or only how many.
class Sink : public EnumerationSink {
 public:
  enum class Keep { kNothing, kItems };
  explicit Sink(Keep keep) : keep_(keep) {}

  Status item(StoreItem item) override {
    ++count;
    if (keep_ == Keep::kItems) items.push_back(std::move(item));
    return {};
  }
  Status removed(const StoreKey&) override { return {}; }
  void skipped(const StoreKey&, std::string) override {}

  std::size_t count = 0;
  std::vector<StoreItem> items;

 private:
  Keep keep_;
};

// Of a store that was never shown, or that shows these.
class Shown : public ShownItems {
 public:
  explicit Shown(const std::vector<StoreItem>& items) : items_(items) {}
  Status for_each(const std::function<void(const StoreItem&)>& visit) const override {
    for (const StoreItem& item : items_) visit(item);
    return {};
  }

 private:
  const std::vector<StoreItem>& items_;
};

// Leaves the anchor in a file beside.
Status enumerate(const std::string& path, std::size_t expected) {
  HARMONICA_ASSIGN_OR_RETURN(const std::unique_ptr<ItemStore> store, providers::open_favorites(path, {}));
  Sink sink(Sink::Keep::kNothing);
  HARMONICA_ASSIGN_OR_RETURN(const Enumeration enumeration, store->enumerate({}, Shown({}), sink));
  write(path + ".anchor", std::string(as_text(enumeration.anchor)));
  return sink.count >= expected ? Status() : Status(StatusCode::kInternal, path + ": too few items");
}

Bytes anchor_of(const std::string& path) {
  const std::string anchor = read(path + ".anchor");
  return {anchor.begin(), anchor.end()};
}

Status enumerate_again(const std::string& path) {
  HARMONICA_ASSIGN_OR_RETURN(const std::unique_ptr<ItemStore> store, providers::open_favorites(path, {}));
  Sink sink(Sink::Keep::kNothing);
  HARMONICA_ASSIGN_OR_RETURN(const Enumeration enumeration, store->enumerate(anchor_of(path), Shown({}), sink));
  return enumeration.kind == EnumerationKind::kUnchanged ? Status() : Status(StatusCode::kInternal, path + ": has changed");
}

// The steps below prepare in `prepare` what the kernel would hold, and measure what follows.
struct Prepared {
  std::vector<StoreItem> items;
  std::vector<StoreWrite> writes;
};

Prepared items_of(const std::string& path) {
  const auto store = providers::open_favorites(path, {});
  stop_on_error(store.status());
  Sink sink(Sink::Keep::kItems);
  stop_on_error((*store)->enumerate({}, Shown({}), sink).status());
  return {std::move(sink.items), {}};
}

Prepared one_edit(const std::string& path) {
  Prepared prepared = items_of(path);
  const std::size_t middle = prepared.items.size() / 2;
  StoreWrite edit{WriteKind::kPut, prepared.items[middle], {}, prepared.items[middle]};
  for (std::size_t i = middle; i-- > 0;) {
    if (prepared.items[i].parent != edit.item.parent) continue;
    edit.previous = prepared.items[i].key;
    break;
  }
  edit.item.values[0].value = Value::text("an edited title");
  prepared.items.clear();
  prepared.writes.push_back(std::move(edit));
  return prepared;
}

Prepared creations(const std::string& path) {
  Prepared prepared = items_of(path);
  std::unordered_map<StoreKey, StoreKey> last;
  for (StoreItem& item : prepared.items) {
    StoreKey& previous = last[item.parent];
    StoreKey key = item.key;
    prepared.writes.push_back({WriteKind::kPut, std::move(item), std::move(previous), std::nullopt});
    previous = std::move(key);
  }
  prepared.items.clear();
  return prepared;
}

Status apply(const std::string& path, const Prepared& prepared) {
  HARMONICA_ASSIGN_OR_RETURN(const std::unique_ptr<ItemStore> store, providers::open_favorites(path, {}));
  HARMONICA_ASSIGN_OR_RETURN(const Written written, store->apply(prepared.writes, anchor_of(path)));
  for (const WriteOutcome& outcome : written.outcomes) {
    if (outcome.state != WriteState::kWritten) return {StatusCode::kInternal, path + ": something was not written"};
  }
  write(path + ".anchor", std::string(as_text(written.anchor)));
  return {};
}

Status enumerate_shown(const std::string& path, const Prepared& prepared) {
  HARMONICA_ASSIGN_OR_RETURN(const std::unique_ptr<ItemStore> store, providers::open_favorites(path, {}));
  Sink sink(Sink::Keep::kNothing);
  return store->enumerate({}, Shown(prepared.items), sink).status();
}

void bench_sessions(const std::string& folder) {
  print("first sync into an empty file", measure([&] { return sync(folder); }), "2000 ms");
  for (int run = 0; run < 3; ++run) print("no change", measure([&] { return sync(folder); }), "50 ms");
  for (int run = 0; run < 3; ++run) {
    static_cast<void>(measure([&] { return edit_one(folder + "/0.json", run); }));
    print("one change", measure([&] { return sync(folder); }), "300 ms");
  }
}

void bench_stores(const std::string& folder, std::size_t bookmarks) {
  const std::string chromium = folder + "/0.json";
  const std::string html = folder + "/2.html";
  const std::string empty = folder + "/3.json";
  write(empty, testing::make_bookmarks(0, 1));
  write(html, "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n</DL><p>\n");
  const auto in_child = [](const std::function<Status()>& work) { static_cast<void>(measure(work)); };
  std::printf("stores alone\n");
  print("Chromium: enumerate", measure([&] { return enumerate(chromium, bookmarks); }), "120 ms");
  print("Chromium: nothing changed", measure([&] { return enumerate_again(chromium); }), "");
  print("Chromium: apply one edit",
        measure([&] { return one_edit(chromium); }, [&](const Prepared& prepared) { return apply(chromium, prepared); }),
        "250 ms");
  in_child([&] { return enumerate(empty, 0); });
  print("Chromium: create all",
        measure([&] { return creations(chromium); }, [&](const Prepared& prepared) { return apply(empty, prepared); }),
        "500 ms");
  in_child([&] { return enumerate(html, 0); });
  print("HTML: create all",
        measure([&] { return creations(chromium); }, [&](const Prepared& prepared) { return apply(html, prepared); }), "");
  print("HTML: enumerate", measure([&] { return enumerate(html, bookmarks); }), "400 ms");
  print("HTML: enumerate what was shown",
        measure([&] { return items_of(html); }, [&](const Prepared& prepared) { return enumerate_shown(html, prepared); }),
        "400 ms");
  print("HTML: nothing changed", measure([&] { return enumerate_again(html); }), "");
  print("HTML: apply one edit",
        measure([&] { return one_edit(html); }, [&](const Prepared& prepared) { return apply(html, prepared); }), "");
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::size_t bookmarks = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 50'000;
  const std::string only = argc > 2 ? argv[2] : "";
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("harmonica-bench-" + std::to_string(getpid()))).string();
  std::filesystem::create_directories(folder);
  // This process stays small, as what it holds counts for its children too.
  const auto make = [&] {
    write(folder + "/0.json", testing::make_bookmarks(bookmarks, 1));
    write(folder + "/1.json", testing::make_bookmarks(0, 1));
    return Status();
  };
  static_cast<void>(measure(make));
  calibration =
      measure([&] { return read(folder + "/0.json"); },
              [&](const std::string& content) { return platform::replace_file(folder + "/copy", as_bytes(content)); });
  std::printf("%zu bookmarks, a file of %.1f MiB; one durable copy of it: %.1f ms\n", bookmarks,
              static_cast<double>(std::filesystem::file_size(folder + "/0.json")) / 1048576.0, calibration.milliseconds);
  if (only != "stores") bench_sessions(folder);
  if (only != "sessions") bench_stores(folder, bookmarks);
  std::filesystem::remove_all(folder);
  return 0;
}
