// The simulator in a test run: kept seeds first, then a few hundred, then the kernels that are broken on purpose.
#include "simulation/simulation.h"

#include <gtest/gtest.h>

#include <fstream>

#include "simulation/options.h"
#include "simulation/shrink.h"

namespace harmonica::simulation {
namespace {

constexpr std::uint64_t kSeedsInBlock = 40;
constexpr std::uint64_t kSeedsForBrokenMax = 400;

void expect_no_violation(const SimulationOptions& options) {
  const Outcome outcome = simulate(options);
  if (!outcome.violation) return;
  const std::optional<Shrunk> shrunk = shrink(options);
  FAIL() << *outcome.violation << "\nbin/" << to_command_line(options) << "\nor, smaller: "
         << (shrunk ? shrunk->violation + "\nbin/" + to_command_line(shrunk->options) : "it does not fail again");
}

void expect_no_violation_in_block(std::uint64_t block, SimulationOptions options) {
  for (std::uint64_t seed = 0; seed < kSeedsInBlock; ++seed) {
    options.seed = block * kSeedsInBlock + seed + 1;
    expect_no_violation(options);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Simulation, KeptSeedsBreakNoLaw) {
  std::ifstream file(HARMONICA_FAILING_SEEDS);
  ASSERT_TRUE(file.is_open()) << HARMONICA_FAILING_SEEDS;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    const CommandLine parsed = parse_command_line(split_words(line));
    ASSERT_EQ(parsed.error, "") << line;
    expect_no_violation(parsed.options);
  }
}

TEST(Simulation, OneSeedIsOneRun) {
  std::string first;
  std::string second;
  SimulationOptions options;
  options.seed = 7;
  for (std::string* trace : {&first, &second}) {
    options.trace = [trace](const std::string& line) { *trace += line + "\n"; };
    simulate(options);
  }
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(first, second);
}

class MemorySeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(MemorySeeds, BreakNoLaw) { expect_no_violation_in_block(GetParam(), {}); }

class SqliteSeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SqliteSeeds, BreakNoLaw) { expect_no_violation_in_block(GetParam(), {.metadata = MetadataKind::kSqlite}); }

class BookmarkSeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(BookmarkSeeds, BreakNoLaw) { expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kBookmarks}); }

class RuleSeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RuleSeeds, BreakNoLaw) { expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kRules}); }

class ForgettingSeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(ForgettingSeeds, BreakNoLaw) { expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kForgetting}); }

TEST_P(ForgettingSeeds, BreakNoLawOnSqlite) {
  expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kForgetting, .metadata = MetadataKind::kSqlite});
}

class SchemaSeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SchemaSeeds, BreakNoLaw) { expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kSchema}); }

class HubSeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(HubSeeds, BreakNoLaw) { expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kHub}); }

TEST_P(HubSeeds, BreakNoLawOnSqlite) {
  expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kHub, .metadata = MetadataKind::kSqlite});
}

class CopySeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(CopySeeds, BreakNoLaw) { expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kCopies}); }

TEST_P(CopySeeds, BreakNoLawOnSqlite) {
  expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kCopies, .metadata = MetadataKind::kSqlite});
}

TEST_P(CopySeeds, BreakNoLawWithRestores) {
  expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kCopiesRestore});
}

INSTANTIATE_TEST_SUITE_P(Blocks, CopySeeds, testing::Range<std::uint64_t>(0, 3));

class CrowdSeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(CrowdSeeds, BreakNoLaw) { expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kCrowd}); }

INSTANTIATE_TEST_SUITE_P(Blocks, CrowdSeeds, testing::Range<std::uint64_t>(0, 1));

class DiskFullSeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(DiskFullSeeds, BreakNoLaw) { expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kDiskFull}); }

TEST_P(DiskFullSeeds, BreakNoLawOnSqlite) {
  expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kDiskFull, .metadata = MetadataKind::kSqlite});
}

INSTANTIATE_TEST_SUITE_P(Blocks, DiskFullSeeds, testing::Range<std::uint64_t>(0, 3));

class IdentitySeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(IdentitySeeds, BreakNoLaw) { expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kIdentity}); }

TEST_P(IdentitySeeds, BreakNoLawOnSqlite) {
  expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kIdentity, .metadata = MetadataKind::kSqlite});
}

INSTANTIATE_TEST_SUITE_P(Blocks, IdentitySeeds, testing::Range<std::uint64_t>(0, 3));

class FilterSeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(FilterSeeds, BreakNoLaw) { expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kFilters}); }

TEST_P(FilterSeeds, BreakNoLawOnSqlite) {
  expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kFilters, .metadata = MetadataKind::kSqlite});
}

TEST_P(FilterSeeds, BreakNoLawWithRestores) {
  expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kFiltersRestore});
}

class ErasingSeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(ErasingSeeds, BreakNoLaw) { expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kErasing}); }

TEST_P(ErasingSeeds, BreakNoLawOnSqlite) {
  expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kErasing, .metadata = MetadataKind::kSqlite});
}

class RecordSeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RecordSeeds, BreakNoLaw) { expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kRecords}); }

TEST_P(RecordSeeds, BreakNoLawOnSqlite) {
  expect_no_violation_in_block(GetParam(), {.scenario = Scenario::kRecords, .metadata = MetadataKind::kSqlite});
}

INSTANTIATE_TEST_SUITE_P(Blocks, RecordSeeds, testing::Range<std::uint64_t>(0, 3));
INSTANTIATE_TEST_SUITE_P(Blocks, ErasingSeeds, testing::Range<std::uint64_t>(0, 3));
INSTANTIATE_TEST_SUITE_P(Blocks, FilterSeeds, testing::Range<std::uint64_t>(0, 4));
INSTANTIATE_TEST_SUITE_P(Blocks, SchemaSeeds, testing::Range<std::uint64_t>(0, 5));
INSTANTIATE_TEST_SUITE_P(Blocks, HubSeeds, testing::Range<std::uint64_t>(0, 3));
INSTANTIATE_TEST_SUITE_P(Blocks, ForgettingSeeds, testing::Range<std::uint64_t>(0, 5));
INSTANTIATE_TEST_SUITE_P(Blocks, MemorySeeds, testing::Range<std::uint64_t>(0, 8));
INSTANTIATE_TEST_SUITE_P(Blocks, SqliteSeeds, testing::Range<std::uint64_t>(0, 3));
INSTANTIATE_TEST_SUITE_P(Blocks, BookmarkSeeds, testing::Range<std::uint64_t>(0, 3));
INSTANTIATE_TEST_SUITE_P(Blocks, RuleSeeds, testing::Range<std::uint64_t>(0, 3));

class Broken : public testing::TestWithParam<BrokenVariant> {};

TEST_P(Broken, KernelIsCaught) {
  SimulationOptions options;
  options.broken = GetParam().name;
  if (GetParam().forgets) options.scenario = Scenario::kForgetting;
  for (options.seed = 1; options.seed <= kSeedsForBrokenMax; ++options.seed) {
    SimulationOptions sound = options;
    sound.broken.clear();
    // What counts is a seed at which the kernel as it is breaks no law.
    if (simulate(options).violation && !simulate(sound).violation) {
      RecordProperty("caught_by_seed", std::to_string(options.seed));
      return;
    }
  }
  FAIL() << GetParam().what << ": not caught by " << kSeedsForBrokenMax << " seeds";
}

// "own_ticks_in_parts" as "OwnTicksInParts".
std::string test_name(const testing::TestParamInfo<BrokenVariant>& variant) {
  std::string name;
  bool upper = true;
  for (const char c : variant.param.name) {
    if (c == '_') {
      upper = true;
    } else {
      name += upper ? static_cast<char>(c - 'a' + 'A') : c;
      upper = false;
    }
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Variants, Broken, testing::ValuesIn(broken_variants().begin(), broken_variants().end()),
                         test_name);

}  // namespace
}  // namespace harmonica::simulation
