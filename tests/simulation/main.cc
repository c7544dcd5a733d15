// Runs the simulator over a range of seeds. The last line after a failure is the command that replays it.
#include <iostream>

#include "simulation/options.h"
#include "simulation/shrink.h"

namespace {

using namespace harmonica::simulation;

void tell_shrunk(const SimulationOptions& options) {
  const std::optional<Shrunk> shrunk = shrink(options);
  if (!shrunk) return;
  std::cout << "in " << shrunk->steps << " steps of " << shrunk->devices << " devices, after " << shrunk->runs
            << " runs: " << shrunk->violation << "\nbin/" << to_command_line(shrunk->options) << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  const CommandLine line = parse_command_line(std::vector<std::string>(argv + 1, argv + argc));
  if (!line.error.empty()) {
    std::cerr << "harmonica_simulation: " << line.error << "\n"
              << "usage: harmonica_simulation [--seed FIRST] [--seeds COUNT] [--devices 2..26] [--steps S]\n"
              << "       [--scenario " << scenario_names() << "]\n"
              << "       [--metadata memory|sqlite] [--break VARIANT] [--skip STEPS] [--absent DEVICES]\n"
              << "       [--without CIRCUMSTANCES | --only CIRCUMSTANCES] [--shrink] [--trace]\n"
              << "STEPS: 3,7-9; DEVICES: B,D; CIRCUMSTANCES: ";
    for (const std::string& name : circumstances()) std::cerr << name << " ";
    std::cerr << "\nvariants:\n";
    for (const BrokenVariant& variant : broken_variants())
      std::cerr << "  " << variant.name << ": " << variant.what << "\n";
    return 2;
  }

  SimulationOptions options = line.options;
  if (line.trace) options.trace = [](const std::string& text) { std::cout << text << "\n"; };
  Outcome total;
  for (std::uint64_t run = 0; run < line.seeds; ++run, ++options.seed) {
    const Outcome outcome = simulate(options);
    if (outcome.violation) {
      std::cout << "seed " << options.seed << ": " << *outcome.violation << "\nbin/" << to_command_line(options)
                << std::endl;
      if (line.shrink) tell_shrunk(options);
      return 1;
    }
    total.sessions += outcome.sessions;
    total.crashes += outcome.crashes;
    total.versions += outcome.versions;
    total.conflicts += outcome.conflicts;
    total.lost_between_copies += outcome.lost_between_copies;
    total.split_between_copies += outcome.split_between_copies;
    total.mended += outcome.mended;
  }
  std::cout << line.seeds << " seeds: " << total.sessions << " sessions, " << total.crashes << " crashes, "
            << total.versions << " versions, " << total.conflicts << " conflicts, "
            << (total.mended == 0 ? "" : std::to_string(total.mended) + " mended, ") << "no law broken\n";
  if (has_copies(options.scenario)) {
    std::cout << total.lost_between_copies << " writes lost before copies were found out, " << total.split_between_copies
              << " items different where they were not\n";
  }
  return 0;
}
