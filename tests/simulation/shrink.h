// Makes a failing run small: few steps, devices and misfortunes that still break the same law.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "simulation/simulation.h"

namespace harmonica::simulation {

struct Shrunk {
  SimulationOptions options;  // with the reduction: the same run as that of `to_command_line(options)`
  std::string violation;
  std::size_t steps = 0;    // that are left
  std::size_t devices = 0;  // that take part
  std::size_t runs = 0;     // that it took to find it
};

// What was broken, without the names of devices and items: "invariant" of "invariant M at A: holds ...".
std::string law_of(std::string_view violation);

// Leaves out devices, steps and misfortunes as long as the same law is broken (delta debugging: Zeller and Hildebrandt,
// 2002). Nothing for a run that breaks none.
std::optional<Shrunk> shrink(const SimulationOptions& options);

}  // namespace harmonica::simulation
