// What a run is about: which kinds of items, devices and misfortunes it has.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "simulation/misfortunes.h"
#include "simulation/random.h"
#include "simulation/scenario_schema.h"

namespace harmonica::simulation {

// Items of all kinds; or bookmarks, in stores most of which are written whole, and many of which were in sync before and
// have lost their metadata; or every rule; or tombstones that are cleaned. In kSchema devices have three versions of an
// app; in kHub some have no store; in kCopies one is copied as a whole, and goes on beside its copy, and in kCopiesRestore
// devices go back to backups as well. In kFilters some hold only what matches; in kFiltersRestore devices go back to
// backups as well. In kCrowd there are up to 16 of them; in kDiskFull there is no space now and then; in kIdentity devices
// go back to backups, lose all they have, and are retired, and some of these come back.
// In kErasing users also erase for good, in runs as those of kForgetting, kHub or kFilters. In kRecords conflict records
// are dropped, and devices keep them for different times.
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
  kCrowd,
  kDiskFull,
  kCopiesRestore,
  kIdentity,
  kErasing,
  kRecords,
};

// All of them.
std::span<const Scenario> scenarios();

// "mixed".
std::string_view to_text(Scenario scenario);
std::optional<Scenario> parse_scenario(std::string_view text);
// "mixed|bookmarks|...".
std::string scenario_names();

bool has_filters(Scenario scenario);
bool has_copies(Scenario scenario);
// Whether devices go back to backups also where their metadata are in SQLite.
bool keeps_backups(Scenario scenario);

// From the least number on, so many numbers.
struct Bounds {
  std::size_t least = 0;
  std::size_t choices = 0;
};
Bounds devices_of(Scenario scenario);
Bounds steps_of(Scenario scenario);

Misfortunes misfortunes_of(Scenario scenario);
SchemaChoices choose_schema(Random& random, Scenario scenario);

}  // namespace harmonica::simulation
