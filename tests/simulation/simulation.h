// The simulator: many devices, links and misfortunes in one thread, from one seed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harmonica/session.h"
#include "simulation/checkers.h"
#include "simulation/device.h"
#include "simulation/simulated_channel.h"
#include "simulation/user.h"

namespace harmonica::simulation {

// What the devices hold: items of all kinds; or bookmarks, in stores most of which are written whole, and many of which
// were in sync before and have lost their metadata; or every rule; or tombstones that are cleaned. In kSchema devices have
// three versions of an app; in kHub some have no store; in kCopies one is copied as a whole, and goes on beside its copy.
// In kFilters some hold only what matches; in kFiltersRestore devices go back to backups as well.
// In kErasing users also erase for good, in runs as those of kForgetting, kHub or kFilters.
enum class Scenario : std::uint8_t {
  kMixed,
  kBookmarks,
  kRules,
  kForgetting,
  kSchema,
  kHub,
  kCopies,
  kFilters,
  kFiltersRestore,
  kErasing,
};

// What a run is made from. Zeros: the seed chooses.
struct SimulationOptions {
  std::uint64_t seed = 1;
  std::size_t devices = 0;
  std::size_t steps = 0;
  Scenario scenario = Scenario::kMixed;
  MetadataKind metadata = MetadataKind::kMemory;
  std::string broken;                             // name of a broken variant; empty: the kernel as it is
  std::function<void(const std::string&)> trace;  // a line at a time; empty: none
};

// "mixed".
std::string_view to_text(Scenario scenario);

// The command-line options that make this run again.
std::string to_command_line(const SimulationOptions& options);

struct Outcome {
  std::optional<std::string> violation;
  std::uint64_t sessions = 0;
  std::uint64_t crashes = 0;
  std::uint64_t versions = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t lost_between_copies = 0;  // writes that were lost before copies of one replica were found out
  // Devices with a filter that a restore elsewhere has left without an item, until asked to verify.
  std::uint64_t mended = 0;
};

Outcome simulate(const SimulationOptions& options);

class Simulation {
 public:
  explicit Simulation(const SimulationOptions& options);
  Outcome run();

 private:
  enum class Shape { kRing, kStar, kLine, kMesh };

  void choose_links(Shape shape);
  bool has_filters() const;
  bool has_hubs() const;
  void choose_filters();
  enum class Wish { kAny, kSome };
  void filter_step(Device& device, Wish wish);
  void mend();
  void step();
  // Whether it has been in a session.
  bool has_met(Device& device);
  bool all_have_met();
  bool takes_first(std::size_t destination, std::size_t source);
  void user_step(Device& device);
  void conflict_step(Device& device);
  void erase_step(Device& device);
  void old_batch_step(Device& device);
  void backup_step(Device& device);
  void copy_step();
  void boot(Device& device);
  void upgrade(Device& device, int version);
  void upgrade_step(Device& device);
  bool has_nothing_to_carry(const Link& link);
  void after_misfortune(Device& device);
  void check(Device& device);
  // One direction over one link. Nothing if it did not come to its end.
  std::optional<SessionReport> session(std::size_t source, std::size_t destination, Link& link);
  bool is_harmless(const Status& status, const Link& link) const;
  void heal();
  enum class Leftovers { kNone, kAllowed };
  void settle(Leftovers leftovers);
  void decide_all();
  void replay_old_batches();

  SimulationOptions options_;
  SharedWorld world_;
  bool may_edit_ = true;
  Checkers checkers_;
  User user_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<Link> links_;
  std::vector<Delayed> delayed_;
  Schema schema_;             // in its newest version
  std::vector<int> off_for_;  // steps until a device comes back
  std::vector<std::optional<Device::Backup>> backups_;
  std::optional<std::size_t> away_;  // the old device, which returns late
  std::optional<std::size_t> copy_;  // the device that is to be a copy of another one
  std::size_t copied_at_ = 0;        // in which step
  bool calm_ = false;
  enum class Setting { kOther, kForgetting, kHub, kFilters };
  Setting erasing_in_ = Setting::kOther;  // in which setting users erase
  Outcome outcome_;
};

}  // namespace harmonica::simulation
