#include "simulation/simulation.h"

namespace harmonica::simulation {

// Two without a store that have met nobody who has one.
bool Simulation::has_nothing_to_carry(const Link& link) {
  const auto knows_nothing = [&](std::size_t index) {
    Device& device = *devices_[index];
    return device.running() && !device.has_store() && device.replica().schema().is_empty();
  };
  return knows_nothing(link.first) && knows_nothing(link.second);
}

// Whether a session may end so: because of what the simulator did to it.
bool Simulation::is_harmless(const Status& status, const Link& link) {
  Device& first = *devices_[link.first];
  Device& second = *devices_[link.second];
  if (first.power().dead() || second.power().dead()) return true;
  if (is_out_of_space(first, status) || is_out_of_space(second, status)) return true;
  switch (status.code()) {
    case StatusCode::kCancelled:
      return true;
    case StatusCode::kUnavailable:
      return link.remote;
    case StatusCode::kInvalidArgument:
      // A request of an old session came between and ended this one.
      return (link.remote || has_filters()) && !calm_;
    default:
      return false;
  }
}

std::optional<SessionReport> Simulation::session(std::size_t source_index, std::size_t destination_index, Link& link) {
  Random& random = world_.random;
  const Misfortunes& chance = world_.misfortunes;
  Device& source = *devices_[source_index];
  Device& destination = *devices_[destination_index];
  if (link.down || !source.running() || !destination.running() || source_index == destination_index) return std::nullopt;
  if (has_nothing_to_carry(link)) return std::nullopt;
  ++outcome_.sessions;

  SessionOptions options;
  static const std::vector<std::uint64_t> sizes = {1, 200, 1000, 0};
  options.batch_bytes_max = random.pick(sizes);
  const bool source_is_near = random.chance(500);
  Device& near = source_is_near ? source : destination;
  Device& far = source_is_near ? destination : source;
  near.hang_up();
  if (!link.remote) far.hang_up();
  world_.tell("  session " + source.name() + "->" + destination.name() +
              (link.remote ? ", " + far.name() + " remote" : ", direct") + ", batches of " +
              std::to_string(options.batch_bytes_max) + " bytes");

  if (random.chance(chance.crash)) {
    Device& victim = random.chance(700) ? destination : source;
    victim.power().cut_in(static_cast<int>(1 + random.below(9)));
  }
  const std::size_t cancel_after = random.chance(chance.session_cancelled) ? 1 + random.below(6) : 0;
  const std::size_t stop_after = options_.scenario == Scenario::kRules && random.chance(150) ? 1 + random.below(4) : 0;
  if (stop_after > 0) options.should_stop = [&](const SessionReport& so_far) { return so_far.batches >= stop_after; };
  const std::size_t abandon_after = random.chance(chance.session_abandoned) ? 1 + random.below(6) : 0;
  bool abandoned = false;
  std::optional<SessionReport> report;
  {
    SimulatedChannel channel(world_, far, link, delayed_[source_is_near ? destination_index : source_index]);
    const std::unique_ptr<Provider> remote = link.remote ? make_remote_provider(channel, {}) : nullptr;
    Provider& source_provider = link.remote && !source_is_near ? *remote : source.provider();
    Provider& destination_provider = link.remote && source_is_near ? *remote : destination.provider();
    SyncSession session(source_provider, destination_provider, options);
    for (std::size_t steps = 1; !world_.violation; ++steps) {
      if (steps == cancel_after) session.cancel();
      if (steps == abandon_after) {
        abandoned = true;
        break;
      }
      const Result<StepState> state = session.step();
      if (!state.ok()) {
        world_.tell("    ended: " + state.status().to_text());
        if (!is_harmless(state.status(), link)) {
          world_.fail("a session " + source.name() + "->" + destination.name() + " failed: " + state.status().to_text());
        }
        break;
      }
      if (*state == StepState::kDone) {
        report = session.report();
        break;
      }
      if (steps > 2000) world_.fail("a session " + source.name() + "->" + destination.name() + " does not end");
      if (!destination.power().dead()) check(destination);
      if (!calm_ && random.chance(40)) user_step(random.chance(500) ? source : destination);
      if (!calm_ && has_filters() && random.chance(15)) filter_step(destination, Wish::kAny);
      world_.now_ms += random.between(0, 2);
    }
    outcome_.conflicts += session.report().conflicts;
  }
  for (Device* device : {&source, &destination}) {
    device->power().cut_in(0);
    if (device->power().dead()) {
      after_misfortune(*device);
    } else if (abandoned && (device == &near || !link.remote)) {
      world_.tell("    the program is killed");
      after_misfortune(*device);
    }
  }
  return report;
}

}  // namespace harmonica::simulation
