#include "simulation/simulation.h"

#include <algorithm>
#include <utility>

namespace harmonica::simulation {

std::string to_command_line(const SimulationOptions& options) {
  std::string line = "harmonica_simulation --seed " + std::to_string(options.seed);
  if (options.devices != 0) line += " --devices " + std::to_string(options.devices);
  if (options.steps != 0) line += " --steps " + std::to_string(options.steps);
  if (options.scenario != Scenario::kMixed) line += " --scenario " + std::string(to_text(options.scenario));
  if (options.metadata == MetadataKind::kSqlite) line += " --metadata sqlite";
  if (!options.broken.empty()) line += " --break " + options.broken;
  return line + to_text(options.reduction);
}

Rehearsal rehearse(const SimulationOptions& options) {
  SimulationOptions whole = options;
  whole.reduction = {};
  whole.trace = nullptr;
  Simulation simulation(whole, nullptr);
  simulation.run();
  return simulation.rehearsal();
}

Outcome simulate(const SimulationOptions& options) {
  if (options.reduction.empty()) return Simulation(options, nullptr).run();
  return simulate(options, rehearse(options));
}

Outcome simulate(const SimulationOptions& options, const Rehearsal& rehearsal) {
  return Simulation(options, &rehearsal).run();
}

// The whole run draws from one stream, and remembers where each step began in it.
void Simulation::draw_from(std::size_t stream) {
  if (rehearsal_ == nullptr) {
    streams_.push_back(world_.random);
  } else if (stream < rehearsal_->streams.size()) {
    world_.random = rehearsal_->streams[stream];
  } else {
    // Where the whole run did not come.
    world_.random = Random(options_.seed + stream);
  }
}

Outcome Simulation::run() {
  begin();
  for (std::size_t step_number = 0; step_number < options_.steps && !world_.violation; ++step_number) {
    outcome_.steps = step_number + 1;
    draw_from(step_number);
    const bool skipped = options_.reduction.skipped.contains(step_number);
    if (world_.trace && !skipped) world_.tell("step " + std::to_string(step_number));
    if (away_ && step_number == options_.steps / 4) {
      world_.tell("  " + devices_[*away_]->name() + " goes away");
      devices_[*away_]->shut_down();
      off_for_[*away_] = static_cast<int>(options_.steps / 2);
      world_.now_ms += 1000;
    }
    if (skipped) continue;
    if (copy_ && step_number >= copied_at_) copy_step();
    step();
  }
  draw_from(options_.steps);
  if (!world_.violation) heal();
  outcome_.versions = world_.ledger.versions();
  outcome_.lost_between_copies = world_.lost_between_copies;
  outcome_.split_between_copies = world_.split_between_copies;
  outcome_.violation = world_.violation;
  return outcome_;
}

// All devices are opened for the first time, in calm weather.
void Simulation::begin() {
  Misfortunes misfortunes = world_.misfortunes;
  for (const NamedMisfortune& misfortune : kMisfortunes) {
    if (is_without(misfortune.name)) misfortunes.*misfortune.chance = 0;
  }
  world_.misfortunes = Misfortunes::none();
  for (std::size_t index = 0; index < devices_.size() && !world_.violation; ++index) {
    if (index == copy_ || is_absent(index)) continue;
    Device& device = *devices_[index];
    boot(device);
    if (world_.violation) break;
    const Result<DetectionReport> detected = device.detect();
    if (!detected.ok()) world_.fail("the first detection at " + device.name() + " failed: " + detected.status().to_text());
    check(device);
    if (has_filters()) filter_step(device, Wish::kSome);
  }
  world_.misfortunes = misfortunes;
}

void Simulation::boot(Device& device) {
  const Status booted = device.boot();
  if (is_out_of_space(device, booted)) {
    world_.tell("  " + device.name() + " cannot be opened: " + booted.to_text());
    off_for_[number_of(device)] = static_cast<int>(1 + world_.random.below(4));
    return;
  }
  if (!booted.ok()) world_.fail("opening " + device.name() + " failed: " + booted.to_text());
}

std::size_t Simulation::number_of(const Device& device) const {
  const auto found =
      std::find_if(devices_.begin(), devices_.end(), [&](const auto& candidate) { return candidate.get() == &device; });
  return static_cast<std::size_t>(found - devices_.begin());
}

void Simulation::check(Device& device) { checkers_.after_step(device); }

void Simulation::come_back() {
  for (std::size_t index = 0; index < devices_.size(); ++index) {
    if (devices_[index]->running() || index == copy_ || is_absent(index) || --off_for_[index] > 0) continue;
    world_.tell("  " + devices_[index]->name() + " comes back");
    boot(*devices_[index]);
    if (world_.violation) return;
    check(*devices_[index]);
  }
}

void Simulation::step() {
  Random& random = world_.random;
  const Misfortunes& chance = world_.misfortunes;
  // Often within one millisecond, where only the counter of the clock tells changes apart.
  world_.now_ms += random.chance(300) ? 0 : random.chance(50) ? random.between(0, 3'600'000) : random.between(1, 3000);
  come_back();
  if (world_.violation) return;

  Device& device = *devices_[random.below(devices_.size())];
  if (random.chance(chance.partition)) {
    Link& link = links_[random.below(links_.size())];
    link.down = !link.down;
  }
  if (random.chance(chance.failures_begin))
    device.faults().failing_salt = device.faults().failing_salt == 0 ? random.next() : 0;
  if (random.chance(chance.clock_jump)) device.environment().error_ms = random.between(-kClockErrorMsMax, kClockErrorMsMax);
  if (options_.scenario == Scenario::kDiskFull) disk_step(device);

  act(device);
  if (has_filters() && random.chance(60)) {
    if (random.chance(chance.crash)) device.power().cut_in(static_cast<int>(1 + random.below(3)));
    filter_step(device, Wish::kAny);
    device.power().cut_in(0);
    if (device.power().dead()) after_misfortune(device);
  }
  if (options_.scenario == Scenario::kErasing && random.chance(80)) erase_step(device);
  backup_step(device);
  if (options_.scenario == Scenario::kIdentity && !world_.violation) identity_step(device);
  if (!world_.violation) upgrade_step(device);
  for (const std::unique_ptr<Device>& each : devices_) check(*each);
}

void Simulation::act(Device& device) {
  Random& random = world_.random;
  // What is edited on two devices before they meet for the first time is not the same any more.
  may_edit_ = options_.scenario != Scenario::kBookmarks || all_have_met();
  const std::size_t action = may_edit_ ? random.below(100) : 40 + random.below(48);
  if (action < 40) {
    // A user's store is there although nothing syncs it.
    for (std::size_t edits = 1 + random.below(3); edits > 0; --edits) user_step(device);
  } else if (action < 88) {
    session_step();
  } else if (action < 92) {
    detection_step(device);
  } else if (action < 96) {
    conflict_step(device);
  } else {
    old_batch_step(device);
  }
}

void Simulation::session_step() {
  Random& random = world_.random;
  Link& link = links_[random.below(links_.size())];
  const bool forth = random.chance(500);
  std::size_t source = forth ? link.first : link.second;
  std::size_t destination = forth ? link.second : link.first;
  if (!may_edit_ && !takes_first(destination, source)) std::swap(source, destination);
  const bool both_ways = random.chance(600);
  const bool has_ended = session(source, destination, link).has_value();
  if (both_ways && (may_edit_ || has_ended) && !world_.violation) session(destination, source, link);
}

void Simulation::detection_step(Device& device) {
  Random& random = world_.random;
  if (!device.running()) return;
  if (random.chance(world_.misfortunes.crash)) device.power().cut_in(static_cast<int>(1 + random.below(4)));
  world_.tell("  " + device.name() + " detects");
  const Result<DetectionReport> detected = device.detect();
  device.power().cut_in(0);
  if (device.power().dead()) {
    after_misfortune(device);
  } else if (!detected.ok() && !is_out_of_space(device, detected.status())) {
    world_.fail("a detection at " + device.name() + " failed: " + detected.status().to_text());
  }
}

bool Simulation::has_met(Device& device) {
  const auto transaction = device.durable_metadata().begin(TransactionMode::kRead);
  if (!transaction.ok()) return false;
  const Result<ReplicaState> state = (*transaction)->state();
  return state.ok() && !state->scope.empty();
}

// As the program does it: who is new takes before it gives.
bool Simulation::takes_first(std::size_t destination, std::size_t source) {
  if (options_.scenario != Scenario::kBookmarks) return true;
  return has_met(*devices_[source]) || !has_met(*devices_[destination]);
}

bool Simulation::all_have_met() {
  return std::all_of(devices_.begin(), devices_.end(), [&](const auto& device) { return has_met(*device); });
}

void Simulation::user_step(Device& device) {
  if (!may_edit_ || !device.has_store()) return;
  user_.edit(device);
  checkers_.after_step(device);
}

// Restores a value that lost, or ends a deferred conflict.
void Simulation::conflict_step(Device& device) {
  if (!device.running()) return;
  const Result<std::vector<ConflictRecord>> conflicts = device.replica().conflicts();
  if (!conflicts.ok()) return world_.fail("conflicts at " + device.name() + ": " + conflicts.status().to_text());
  if (conflicts->empty()) return;
  checkers_.before_decision(device);
  const ConflictRecord& record = (*conflicts)[world_.random.below(conflicts->size())];
  device.note_edit();
  Status done;
  if (record.state == ConflictState::kDeferred) {
    const Decision decision = world_.random.chance(500) ? Decision::kKeepLocal : Decision::kTakeRemote;
    world_.tell("  " + device.name() + " decides " + world_.ledger.text(record.item) +
                (decision == Decision::kKeepLocal ? ": keeps its own" : ": takes the other"));
    done = device.replica().decide(record.id, decision);
  } else if (options_.scenario == Scenario::kRecords && world_.random.chance(600)) {
    done = drop_step(device, record);
  } else {
    world_.tell("  " + device.name() + " restores " + world_.ledger.text(record.lost.version) + " of " +
                world_.ledger.text(record.item));
    done = device.replica().restore(record.id);
  }
  // What a conflict was about can be deleted and forgotten since, or come later than the record.
  const bool not_held = done.code() == StatusCode::kNotFound && !holds(device, record.item);
  // Nor can an older version of the app have back what it does not know.
  const bool unknown = options_.scenario == Scenario::kSchema && done.code() == StatusCode::kUnsupported;
  if (!done.ok() && done.code() != StatusCode::kIo && !not_held && !unknown) {
    world_.fail("deciding or restoring at " + device.name() + " failed: " + done.to_text());
  }
}

bool Simulation::holds(Device& device, const ItemId& item) {
  const Result<std::optional<ReplicaItem>> found = device.replica().find(item);
  return !found.ok() || found->has_value();
}

Status Simulation::drop_step(Device& device, const ConflictRecord& record) {
  world_.tell("  " + device.name() + " drops " + world_.ledger.text(record.lost.version) + " of " +
              world_.ledger.text(record.item));
  checkers_.before_drop(device, record.id);
  return device.replica().drop(record.id);
}

}  // namespace harmonica::simulation
