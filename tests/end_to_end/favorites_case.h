// Two devices with one favorites file each, for the acceptance cases of merging.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "end_to_end/favorites_files.h"
#include "harmonica/harmonica.h"

namespace harmonica::testing {

enum class FileFormat { kChromium, kHtml };
enum class DeviceName { kLocal, kRemote };

// Which device learns first in each pair of sessions; the other one stands behind a channel.
enum class FirstLearner { kLocal, kRemote };

// The ids of entries on devices that have not met.
enum class EntryIds {
  kOfEachDevice,
  kOfChromium,   // the same guid for one name, as when a profile was copied
  kOfHarmonica,  // the same for one name, as when the devices were in sync and have lost all that was known of it
};

struct Setup {
  FileFormat local = FileFormat::kChromium;
  FileFormat remote = FileFormat::kChromium;
  FirstLearner first_learner = FirstLearner::kLocal;
  EntryIds ids = EntryIds::kOfEachDevice;
};

// The state S is made with `base`, the states L and R with `local` and `remote`; without a base they are the first contact.
// What was edited later is newer. `expect` syncs and compares the trees of both files. Whatever goes wrong on the way is a
// failure of the test.
class FavoritesCase {
 public:
  explicit FavoritesCase(const Setup& setup);
  ~FavoritesCase();
  FavoritesCase(const FavoritesCase&) = delete;
  FavoritesCase& operator=(const FavoritesCase&) = delete;

  void base(std::string_view tree);
  void local(std::string_view tree) { edit(DeviceName::kLocal, tree); }
  void remote(std::string_view tree) { edit(DeviceName::kRemote, tree); }
  // Saves the file and tells nobody, as a browser does.
  void overwrite(DeviceName device, std::string_view tree);
  // Saves the file as it is given; a Chromium file that is put there by hand needs no checksum.
  void save(DeviceName device, const std::string& text);

  // Sessions in both directions until they change nothing.
  void sync();

  // Syncs; then both files hold this tree, and the invariants of all cases hold.
  void expect(std::string_view tree, Siblings siblings = Siblings::kInOrder);
  // The last `sync`, and so `expect`, left that file as it was.
  void expect_untouched(DeviceName device);
  // Every sync from now on reports so many items that a device cannot take; otherwise there are none.
  void expect_failures(std::size_t count) { failures_expected_ = count; }

  std::string file(DeviceName device) const;
  Tree tree(DeviceName device) const;
  Replica& replica(DeviceName device);
  Provider& provider(DeviceName device);

 private:
  class Device;

  Device& device(DeviceName name) const { return name == DeviceName::kLocal ? *local_ : *remote_; }
  void edit(DeviceName name, std::string_view tree);
  bool sync_once();
  void check_invariants();

  std::map<DeviceName, std::string> before_sync_;
  std::vector<std::string> failures_;  // of the last round
  std::size_t failures_expected_ = 0;

  Setup setup_;
  class Clockwork;
  std::unique_ptr<Clockwork> clockwork_;
  std::unique_ptr<Device> local_;
  std::unique_ptr<Device> remote_;
};

// Runs a case with every pair of formats, with either device first.
void with_all_files(const std::function<void(FavoritesCase&)>& run, EntryIds ids = EntryIds::kOfEachDevice);
// Only with Chromium files on both devices.
void with_chromium_files(const std::function<void(FavoritesCase&)>& run, EntryIds ids = EntryIds::kOfEachDevice);
void with_files(FileFormat local, FileFormat remote, const std::function<void(FavoritesCase&)>& run,
                EntryIds ids = EntryIds::kOfEachDevice);

}  // namespace harmonica::testing
