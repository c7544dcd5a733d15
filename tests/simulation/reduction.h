// A run made smaller: what of it is left out, and how that is written.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace harmonica::simulation {

// What does not happen. All else draws what it draws in the whole run: each step begins with the random numbers that it has
// there, whatever was left out before it.
struct Reduction {
  std::set<std::size_t> skipped;  // steps, from 0 on
  std::set<std::size_t> absent;   // devices, from 0 on, which never take part; who knows them knows each other instead
  std::set<std::string> without;  // misfortunes and circumstances by name

  bool empty() const { return skipped.empty() && absent.empty() && without.empty(); }
};

// Circumstances that are no misfortunes, by name: one device goes away and returns late; devices hold data before they
// meet.
inline constexpr std::string_view kAway = "away";
inline constexpr std::string_view kSharedData = "shared-data";

// Every name that `without` may have.
std::set<std::string> circumstances();
std::set<std::string> all_but(const std::set<std::string>& names);

// "3,7-9"; "B,D"; "away,crash" or "none". Nothing if it is not understood.
std::optional<std::set<std::size_t>> parse_steps(std::string_view text);
std::optional<std::set<std::size_t>> parse_devices(std::string_view text);
std::optional<std::set<std::string>> parse_circumstances(std::string_view text);

// The command-line options of a reduction, each after a space; empty for an empty one.
std::string to_text(const Reduction& reduction);

}  // namespace harmonica::simulation
