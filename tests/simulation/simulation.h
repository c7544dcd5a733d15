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
#include "simulation/reduction.h"
#include "simulation/scenario.h"
#include "simulation/simulated_channel.h"
#include "simulation/user.h"

namespace harmonica::simulation {

constexpr std::int64_t kClockErrorMsMax = 20 * 60 * 1000;  // two devices differ by less than the allowed drift

// What a run is made from. Zeros: the seed chooses.
struct SimulationOptions {
  std::uint64_t seed = 1;
  std::size_t devices = 0;
  std::size_t steps = 0;
  Scenario scenario = Scenario::kMixed;
  MetadataKind metadata = MetadataKind::kMemory;
  Reduction reduction;
  std::string broken;                             // name of a broken variant; empty: the kernel as it is
  std::function<void(const std::string&)> trace;  // a line at a time; empty: none
};

// The command-line options that make this run again.
std::string to_command_line(const SimulationOptions& options);

struct Outcome {
  std::optional<std::string> violation;
  std::size_t steps = 0;  // that were begun, also those that were left out
  std::uint64_t sessions = 0;
  std::uint64_t crashes = 0;
  std::uint64_t versions = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t lost_between_copies = 0;   // writes that were lost before copies of one replica were found out
  std::uint64_t split_between_copies = 0;  // items that differ in the end, since a copy went back to a backup before that
  // Devices with a filter that a restore elsewhere has left without an item, until asked to verify.
  std::uint64_t mended = 0;
};

// What a run draws from in each of its steps and in calm weather after the last one.
struct Rehearsal {
  std::vector<Random> streams;
  std::size_t steps = 0;
  std::size_t devices = 0;
};

// The whole run, whatever the options leave out.
Rehearsal rehearse(const SimulationOptions& options);

Outcome simulate(const SimulationOptions& options);
// With a rehearsal of these options, or of others that leave out something else.
Outcome simulate(const SimulationOptions& options, const Rehearsal& rehearsal);

class Simulation {
 public:
  // A rehearsal must outlive it; null: it draws from one stream all the time.
  Simulation(const SimulationOptions& options, const Rehearsal* rehearsal);
  Outcome run();
  // After the run.
  Rehearsal rehearsal() const { return {streams_, options_.steps, devices_chosen_}; }

 private:
  enum class Shape { kRing, kStar, kLine, kMesh };

  void make_devices();
  // `whole_stores`: the chance that its store is written whole.
  DeviceOptions choose_device(std::size_t index, int whole_stores);
  RecordLimits choose_record_limits();
  bool cleans_everywhere() const;
  bool has_filters() const;
  bool has_hubs() const;
  void choose_links(Shape shape);
  void bypass(std::size_t absent);
  bool is_absent(std::size_t index) const { return options_.reduction.absent.contains(index); }
  bool is_without(std::string_view circumstance) const;
  void draw_from(std::size_t stream);
  void begin();
  void choose_filters();
  enum class Wish { kAny, kSome };
  void filter_step(Device& device, Wish wish);
  void mend();
  void step();
  void come_back();
  void act(Device& device);
  void session_step();
  void detection_step(Device& device);
  // Whether it has been in a session.
  bool has_met(Device& device);
  bool all_have_met();
  bool takes_first(std::size_t destination, std::size_t source);
  void user_step(Device& device);
  void conflict_step(Device& device);
  static bool holds(Device& device, const ItemId& item);
  Status drop_step(Device& device, const ConflictRecord& record);
  void old_batch_step(Device& device);
  void backup_step(Device& device);
  void copy_step();
  void erase_step(Device& device);
  void disk_step(Device& device);
  void identity_step(Device& device);
  void wipe(Device& device);
  std::size_t number_of(const Device& device) const;
  // The batch as if it had been made for that request.
  static ChangeBatch renumber(ChangeBatch batch, const ChangeRequest& request);
  void boot(Device& device);
  void upgrade(Device& device, int version);
  void upgrade_step(Device& device);
  bool has_nothing_to_carry(const Link& link);
  void after_misfortune(Device& device);
  void check(Device& device);
  // One direction over one link. Nothing if it did not come to its end.
  std::optional<SessionReport> session(std::size_t source, std::size_t destination, Link& link);
  bool is_harmless(const Status& status, const Link& link);
  // Whether the device has no space left, and the status says so.
  bool is_out_of_space(Device& device, const Status& status);
  void heal();
  void leave_behind();
  void outlast_retentions();
  enum class Leftovers { kNone, kAllowed };
  void settle(Leftovers leftovers);
  void decide_all();
  void replay_old_batches();

  SimulationOptions options_;
  const Rehearsal* rehearsal_;
  std::vector<Random> streams_;
  std::size_t devices_chosen_ = 0;
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
