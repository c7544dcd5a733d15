#include "end_to_end/favorites_case.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

#include "harmonica/extension/provider.h"
#include "harmonica/extension/remote.h"
#include "harmonica/platform/crypto.h"
#include "harmonica/providers/favorites.h"
#include "harmonica/providers/metadata.h"
#include "harmonica/transports/local.h"
#include "support/temporary_directory.h"

namespace harmonica::testing {
namespace {

// Twice what is needed to bring everything everywhere.
constexpr int kRoundsMax = 6;
constexpr std::int64_t kStart_ms = 1'780'000'000'000;
constexpr std::int64_t kBetweenEdits_ms = 10'000;

void expect_ok(const Status& status) { ASSERT_TRUE(status.ok()) << status.message(); }

std::string_view name_of(FileFormat format) { return format == FileFormat::kChromium ? "Chromium" : "HTML"; }

// Nothing here is about power cuts, and a file system in memory spares the waiting for the disk.
const bool kInMemory = std::filesystem::is_directory("/dev/shm") && ::setenv("TMPDIR", "/dev/shm", 0) == 0;

void for_each(std::vector<Entry>& entries, const std::function<void(Entry&)>& visit) {
  for (Entry& entry : entries) {
    visit(entry);
    for_each(entry.children, visit);
  }
}

void for_each(Tree& tree, const std::function<void(Entry&)>& visit) {
  for (auto& [root, entries] : tree.roots) for_each(entries, visit);
}

}  // namespace

// A clock that goes on when it is told to, and numbers that are the same in every run.
class FavoritesCase::Clockwork : public Environment {
 public:
  void advance() { now_ms_ += kBetweenEdits_ms; }

  std::int64_t wall_clock_ms() override { return now_ms_; }
  void randomize(std::span<std::uint8_t> bytes) override {
    const auto numbers = platform::sha256(as_bytes("seed " + std::to_string(++randomized_)));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = numbers[i % numbers.size()];
  }
  Sha256 sha256(ByteView bytes) override { return platform::sha256(bytes); }
  void log(LogLevel, std::string_view) override {}
  Result<std::optional<Tick>> reserved_tick(const ReplicaId& replica) override {
    const auto found = reserved_.find(replica);
    return found == reserved_.end() ? std::nullopt : std::optional(found->second);
  }
  Status set_reserved_tick(const ReplicaId& replica, Tick tick) override {
    reserved_[replica] = tick;
    return {};
  }

 private:
  std::int64_t now_ms_ = kStart_ms;
  int randomized_ = 0;
  std::map<ReplicaId, Tick> reserved_;
};

// One device: its file, what its user knows of the file, and the replica on it.
class FavoritesCase::Device {
 public:
  Device(std::string_view name, FileFormat format, Clockwork& clockwork)
      : name_(name), format_(format), clockwork_(clockwork) {}

  bool exists() const { return replica_ != nullptr; }
  std::string file() const { return read_text(path()); }
  Tree tree() const { return format_ == FileFormat::kChromium ? read_chromium_file(file()) : read_html_file(file()); }
  Replica& replica() { return *replica_; }
  Provider& provider() { return replica_->provider(); }
  const KnownEntries& known() const { return known_; }

  void save(const std::string& text) {
    write_text(path(), text);
    if (!exists()) open();
    if (!exists()) return;
    const auto detected = replica_->detect();
    expect_ok(detected.status());
  }

  void edit(std::string_view notation, EntryIds ids) { save(written(notation, ids)); }
  void overwrite(std::string_view notation, EntryIds ids) { write_text(path(), written(notation, ids)); }

  // What stands in the file now is the tree of the notation: from now on its names mean those entries.
  void learn(std::string_view notation) {
    Tree named = parse_tree(notation, known_);
    Tree found = tree();
    ASSERT_EQ(to_text(found), to_text(named));
    std::vector<Entry> entries;
    for_each(found, [&](Entry& entry) { entries.push_back(entry); });
    std::size_t next = 0;
    for_each(named, [&](Entry& entry) {
      Entry& known = known_[entry.name];
      known = entries[next++];
      last_id_ = std::max(last_id_, known.id);
    });
  }

 private:
  // The text of the file with that tree; names that are known keep their ids.
  std::string written(std::string_view notation, EntryIds ids) {
    Tree tree = parse_tree(notation, known_);
    for_each(tree, [&](Entry& entry) {
      if (const auto known = known_.find(entry.name); known != known_.end()) {
        entry.id = known->second.id;
        entry.key = known->second.key;
        entry.added_s = known->second.added_s;
      } else {
        entry.added_s = clockwork_.wall_clock_ms() / 1000 - 1'000'000;
        if (ids == EntryIds::kOfHarmonica) entry.key = harmonica_key(entry.name);
        if (ids == EntryIds::kOfChromium) entry.key = chromium_key(entry.name);
        if (ids == EntryIds::kOfEachDevice && format_ == FileFormat::kChromium) {
          entry.key = chromium_key(std::string(name_) + " " + entry.name);
        }
        if (format_ == FileFormat::kChromium) entry.id = ++last_id_;
      }
      known_[entry.name] = entry;
    });
    return format_ == FileFormat::kChromium ? chromium_file(tree) : html_file(tree);
  }

  std::string path() const { return directory_ / (format_ == FileFormat::kChromium ? "Bookmarks" : "bookmarks.html"); }

  void open() {
    auto store = providers::open_favorites(path(), {});
    expect_ok(store.status());
    auto metadata = providers::open_sqlite_metadata(":memory:");
    expect_ok(metadata.status());
    if (!store.ok() || !metadata.ok()) return;
    store_ = *std::move(store);
    metadata_ = *std::move(metadata);
    // Cases take away all that there is.
    auto replica = Replica::open(*store_, *metadata_, clockwork_, {.guard = Guard::kConfirmed});
    expect_ok(replica.status());
    if (replica.ok()) replica_ = *std::move(replica);
  }

  std::string_view name_;
  FileFormat format_;
  Clockwork& clockwork_;
  TemporaryDirectory directory_;
  KnownEntries known_;
  std::int64_t last_id_ = 1000;
  std::unique_ptr<ItemStore> store_;
  std::unique_ptr<MetadataStore> metadata_;
  std::unique_ptr<Replica> replica_;
};

FavoritesCase::FavoritesCase(const Setup& setup)
    : setup_(setup),
      clockwork_(std::make_unique<Clockwork>()),
      local_(std::make_unique<Device>("local", setup.local, *clockwork_)),
      remote_(std::make_unique<Device>("remote", setup.remote, *clockwork_)) {}

FavoritesCase::~FavoritesCase() = default;

void FavoritesCase::base(std::string_view tree) {
  local(tree);
  remote("");
  sync();
  local_->learn(tree);
  remote_->learn(tree);
}

void FavoritesCase::save(DeviceName name, const std::string& text) {
  clockwork_->advance();
  device(name).save(text);
}

void FavoritesCase::edit(DeviceName name, std::string_view tree) {
  clockwork_->advance();
  device(name).edit(tree, setup_.ids);
}

void FavoritesCase::overwrite(DeviceName name, std::string_view tree) { device(name).overwrite(tree, setup_.ids); }

std::string FavoritesCase::file(DeviceName name) const { return device(name).file(); }
Tree FavoritesCase::tree(DeviceName name) const { return device(name).tree(); }
Replica& FavoritesCase::replica(DeviceName name) { return device(name).replica(); }
Provider& FavoritesCase::provider(DeviceName name) { return device(name).provider(); }

// Whether it changed nothing.
bool FavoritesCase::sync_once() {
  const bool local_learns = setup_.first_learner == FirstLearner::kLocal;
  Device& first = local_learns ? *local_ : *remote_;
  Device& second = local_learns ? *remote_ : *local_;
  const auto endpoint = make_provider_endpoint(second.provider());
  transports::LocalChannel channel(*endpoint);
  const auto proxy = make_remote_provider(channel, {});
  clockwork_->advance();
  const auto report = synchronize(first.provider(), *proxy, {});
  expect_ok(report.status());
  if (!report.ok()) return true;
  failures_.clear();
  bool quiet = true;
  for (const SessionReport* session : {&report->to_first, &report->to_second}) {
    for (const SessionReport::Failure& failure : session->failures) failures_.push_back(failure.status.message());
    quiet = quiet && session->created + session->updated + session->deleted + session->conflicts + session->minted == 0;
  }
  return quiet;
}

void FavoritesCase::sync() {
  before_sync_ = {{DeviceName::kLocal, local_->file()}, {DeviceName::kRemote, remote_->file()}};
  for (int round = 0; round < kRoundsMax; ++round) {
    if (sync_once()) return;
  }
  ADD_FAILURE() << "still not quiet after " << kRoundsMax << " rounds";
}

void FavoritesCase::expect(std::string_view tree, Siblings siblings) {
  sync();
  KnownEntries known = remote_->known();
  for (const auto& [name, entry] : local_->known()) known.emplace(name, entry);
  const Tree expected = parse_tree(tree, known);
  EXPECT_EQ(to_text(local_->tree(), siblings), to_text(expected, siblings)) << "in the local file";
  EXPECT_EQ(to_text(remote_->tree()), to_text(local_->tree())) << "in the remote file and the local one";
  check_invariants();
}

void FavoritesCase::expect_untouched(DeviceName name) { EXPECT_EQ(file(name), before_sync_[name]); }

void FavoritesCase::check_invariants() {
  for (const Device* device : {local_.get(), remote_.get()}) EXPECT_EQ(device->tree().damage, "") << device->file();

  const auto comparison = compare(local_->replica(), remote_->replica(), 10);
  expect_ok(comparison.status());
  if (comparison.ok()) {
    EXPECT_TRUE(comparison->equal);
    for (const Difference& difference : comparison->differences) ADD_FAILURE() << difference.what;
  }
  for (Device* device : {local_.get(), remote_.get()}) {
    const auto status = device->replica().status();
    expect_ok(status.status());
    if (!status.ok()) continue;
    EXPECT_EQ(status->counts.alive, size_of(device->tree()));
  }

  EXPECT_EQ(failures_.size(), failures_expected_) << ::testing::PrintToString(failures_);

  const std::string local_file = local_->file();
  const std::string remote_file = remote_->file();
  EXPECT_TRUE(sync_once()) << "syncing again changes something";
  EXPECT_EQ(local_->file(), local_file);
  EXPECT_EQ(remote_->file(), remote_file);
}

void with_files(FileFormat local, FileFormat remote, const std::function<void(FavoritesCase&)>& run, EntryIds ids) {
  for (const FirstLearner first : {FirstLearner::kLocal, FirstLearner::kRemote}) {
    SCOPED_TRACE(std::string(name_of(local)) + " here, " + std::string(name_of(remote)) + " there; first learns the " +
                 (first == FirstLearner::kLocal ? "local" : "remote") + " one");
    FavoritesCase one({local, remote, first, ids});
    run(one);
  }
}

void with_chromium_files(const std::function<void(FavoritesCase&)>& run, EntryIds ids) {
  with_files(FileFormat::kChromium, FileFormat::kChromium, run, ids);
}

void with_all_files(const std::function<void(FavoritesCase&)>& run, EntryIds ids) {
  with_chromium_files(run, ids);
  with_files(FileFormat::kChromium, FileFormat::kHtml, run, ids);
  with_files(FileFormat::kHtml, FileFormat::kChromium, run, ids);
  with_files(FileFormat::kHtml, FileFormat::kHtml, run, ids);
}

}  // namespace harmonica::testing
