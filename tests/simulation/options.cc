#include "simulation/options.h"

#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

namespace harmonica::simulation {
namespace {

std::optional<Scenario> scenario_of(std::string_view name) {
  for (const Scenario scenario :
       {Scenario::kMixed, Scenario::kBookmarks, Scenario::kRules, Scenario::kForgetting, Scenario::kSchema, Scenario::kHub,
        Scenario::kCopies, Scenario::kFilters, Scenario::kFiltersRestore, Scenario::kErasing}) {
    if (to_text(scenario) == name) return scenario;
  }
  return std::nullopt;
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& words) {
  CommandLine line;
  for (std::size_t index = 0; index < words.size(); ++index) {
    const std::string& word = words[index];
    if (word == "--trace") {
      line.trace = true;
      continue;
    }
    if (index + 1 == words.size()) {
      line.error = word + ": unknown, or its value is missing";
      return line;
    }
    const std::string& text = words[++index];
    std::uint64_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
    if (word == "--seed" && is_number) {
      line.options.seed = number;
    } else if (word == "--seeds" && is_number) {
      line.seeds = number;
    } else if (word == "--devices" && is_number && number >= 2 && number <= 26) {
      line.options.devices = number;
    } else if (word == "--steps" && is_number && number >= 1) {
      line.options.steps = number;
    } else if (word == "--scenario" && scenario_of(text)) {
      line.options.scenario = *scenario_of(text);
    } else if (word == "--metadata" && (text == "memory" || text == "sqlite")) {
      line.options.metadata = text == "sqlite" ? MetadataKind::kSqlite : MetadataKind::kMemory;
    } else if (word == "--break" && find_broken_variant(text) != nullptr) {
      line.options.broken = text;
    } else {
      line.error = word + " " + text + ": not understood";
      return line;
    }
  }
  return line;
}

std::vector<std::string> split_words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace harmonica::simulation
