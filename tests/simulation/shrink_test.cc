// Failing runs made small, and the command lines that replay them.
#include "simulation/shrink.h"

#include <gtest/gtest.h>

#include "simulation/options.h"

namespace harmonica::simulation {
namespace {

constexpr std::size_t kHandful = 10;  // steps

// The first seed that breaks a law because of the variant.
SimulationOptions failing_run(const std::string& broken) {
  SimulationOptions options;
  options.broken = broken;
  if (find_broken_variant(broken)->forgets) options.scenario = Scenario::kForgetting;
  SimulationOptions sound = options;
  sound.broken.clear();
  while (!simulate(options).violation || simulate(sound).violation) sound.seed = ++options.seed;
  return options;
}

class Shrinking : public testing::TestWithParam<std::string> {};

TEST_P(Shrinking, EndsWithAHandfulOfStepsThatBreakTheSameLaw) {
  const SimulationOptions whole = failing_run(GetParam());
  const std::optional<Shrunk> shrunk = shrink(whole);
  ASSERT_TRUE(shrunk.has_value());
  EXPECT_LE(shrunk->steps, kHandful) << to_command_line(shrunk->options);
  EXPECT_LE(shrunk->devices, 3u) << to_command_line(shrunk->options);
  EXPECT_EQ(law_of(shrunk->violation), law_of(*simulate(whole).violation));

  // The printed line is that run.
  std::vector<std::string> words = split_words(to_command_line(shrunk->options));
  words.erase(words.begin());
  const CommandLine parsed = parse_command_line(words);
  ASSERT_EQ(parsed.error, "");
  EXPECT_EQ(simulate(parsed.options).violation, shrunk->violation);

  // And it is the variant that breaks the law, not what was left out.
  SimulationOptions sound = parsed.options;
  sound.broken.clear();
  const Outcome without = simulate(sound);
  EXPECT_FALSE(without.violation.has_value()) << *without.violation;
}

INSTANTIATE_TEST_SUITE_P(Variants, Shrinking,
                         testing::Values("destination_wins", "unexcluded_failure", "own_ticks_in_parts",
                                         "one_tick_too_many", "records_dropped", "cleaned_without_trace"),
                         [](const auto& variant) { return variant.param; });

TEST(Shrinking, OfARunThatBreaksNoLawThereIsNothing) { EXPECT_FALSE(shrink(SimulationOptions()).has_value()); }

// Each step draws what it draws in the whole run.
TEST(Reductions, StepsKeepTheirDrawsWhateverIsLeftOutBefore) {
  SimulationOptions options;
  options.seed = 5;
  std::string whole;
  std::string part;
  options.trace = [&whole](const std::string& line) { whole += line + "\n"; };
  ASSERT_FALSE(simulate(options).violation);
  // With nothing left out, from a rehearsal: the same run to the letter.
  options.trace = [&part](const std::string& line) { part += line + "\n"; };
  ASSERT_FALSE(simulate(options, rehearse(options)).violation);
  EXPECT_EQ(part, whole);
}

TEST(Reductions, AreWrittenAndReadBack) {
  Reduction reduction;
  reduction.skipped = {0, 1, 2, 5, 7, 8};
  reduction.absent = {1, 3};
  reduction.without = {"away", "crash"};
  EXPECT_EQ(to_text(reduction), " --skip 0-2,5,7-8 --absent B,D --without away,crash");
  EXPECT_EQ(parse_steps("0-2,5,7-8"), reduction.skipped);
  EXPECT_EQ(parse_devices("B,D"), reduction.absent);
  EXPECT_EQ(parse_circumstances("away,crash"), reduction.without);
  reduction = {{}, {}, all_but({"restore"})};
  EXPECT_EQ(to_text(reduction), " --only restore");
  reduction = {{}, {}, circumstances()};
  EXPECT_EQ(to_text(reduction), " --only none");
}

TEST(Reductions, WhatMakesNoSenseIsNotUnderstood) {
  for (const char* text : {"", "a", "3-", "5-3", "1-2-3", "1,", "99999999999999999999"})
    EXPECT_FALSE(parse_steps(text)) << text;
  for (const char* text : {"", "b", "AB", "A,"}) EXPECT_FALSE(parse_devices(text)) << text;
  for (const char* text : {"", "rain", "crash,"}) EXPECT_FALSE(parse_circumstances(text)) << text;
}

TEST(Laws, AreNamedWithoutDevicesAndItems) {
  EXPECT_EQ(law_of("invariant M at A: holds B2 of i3"), "invariant");
  EXPECT_EQ(law_of("a session A->B failed: io: no"), "a session failed");
  EXPECT_EQ(law_of("no quiescence: after 36 rounds"), "no quiescence");
}

}  // namespace
}  // namespace harmonica::simulation
