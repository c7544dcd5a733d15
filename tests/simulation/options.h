// The command line of harmonica_simulation, also the form of a kept seed.
#pragma once

#include <string>
#include <vector>

#include "simulation/simulation.h"

namespace harmonica::simulation {

struct CommandLine {
  SimulationOptions options;  // `seed`: the first one
  std::uint64_t seeds = 1;
  bool trace = false;
  bool shrink = false;  // a run that breaks a law is made small
  std::string error;    // empty: understood
};

CommandLine parse_command_line(const std::vector<std::string>& words);

// The words between spaces.
std::vector<std::string> split_words(const std::string& line);

}  // namespace harmonica::simulation
