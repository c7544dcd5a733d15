// Favorites, from file to file: first sync, no change, one change; beside a copy of the same bytes and one SQLite commit.
//
//   bench_favorites [BOOKMARKS]
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
  double peak_mebibytes = 0;
};

void stop_on_error(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "bench_favorites: %s\n", status.to_text().c_str());
  std::exit(1);
}

// Runs `work` in a child process and measures it.
Figures measure(const std::function<Status()>& work) {
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    stop_on_error(work());
    std::_Exit(0);
  }
  int exit_status = 0;
  rusage usage{};
  wait4(child, &exit_status, 0, &usage);
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  if (exit_status != 0) std::exit(1);
  return {elapsed.count(), static_cast<double>(usage.ru_maxrss) / 1024.0};
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

void print(const char* what, const Figures& figures, const Figures& calibration, const char* bar) {
  std::printf("%-34s %9.1f ms  %7.1f MiB  %7.1f copies  bar %s\n", what, figures.milliseconds, figures.peak_mebibytes,
              figures.milliseconds / calibration.milliseconds, bar);
}

// Changes the title of one bookmark in the file.
void edit_one(const std::string& path, int number) {
  std::string content = read(path);
  const std::size_t name = content.find("\"name\": \"", content.size() / 2);
  content.insert(name + 9, "edited " + std::to_string(number) + " ");
  write(path, content);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t bookmarks = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 50'000;
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("harmonica-bench-" + std::to_string(getpid()))).string();
  std::filesystem::create_directories(folder);
  write(folder + "/0.json", testing::make_bookmarks(bookmarks, 1));
  write(folder + "/1.json", testing::make_bookmarks(0, 1));
  const std::string content = read(folder + "/0.json");
  const Figures copy = measure([&] { return platform::replace_file(folder + "/copy", as_bytes(content)); });
  std::printf("%zu bookmarks, a file of %.1f MiB; one durable copy of it: %.1f ms\n", bookmarks,
              static_cast<double>(content.size()) / 1048576.0, copy.milliseconds);
  print("first sync into an empty file", measure([&] { return sync(folder); }), copy, "2000 ms");
  for (int run = 0; run < 3; ++run) print("no change", measure([&] { return sync(folder); }), copy, "50 ms");
  for (int run = 0; run < 3; ++run) {
    edit_one(folder + "/0.json", run);
    print("one change", measure([&] { return sync(folder); }), copy, "300 ms");
  }
  std::filesystem::remove_all(folder);
  return 0;
}
