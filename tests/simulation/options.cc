#include "simulation/options.h"

#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

namespace harmonica::simulation {
namespace {

// Options of a reduction; false for another word, or where `text` is not understood.
bool parse_reduction(std::string_view word, std::string_view text, Reduction& reduction) {
  if (word == "--skip" || word == "--absent") {
    const std::optional<std::set<std::size_t>> numbers = word == "--skip" ? parse_steps(text) : parse_devices(text);
    if (numbers) (word == "--skip" ? reduction.skipped : reduction.absent) = *numbers;
    return numbers.has_value();
  }
  if (word != "--without" && word != "--only") return false;
  const std::optional<std::set<std::string>> names = parse_circumstances(text);
  if (names) reduction.without = word == "--only" ? all_but(*names) : *names;
  return names.has_value();
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& words) {
  CommandLine line;
  for (std::size_t index = 0; index < words.size(); ++index) {
    const std::string& word = words[index];
    if (word == "--trace" || word == "--shrink") {
      (word == "--trace" ? line.trace : line.shrink) = true;
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
    } else if (word == "--scenario" && parse_scenario(text)) {
      line.options.scenario = *parse_scenario(text);
    } else if (word == "--metadata" && (text == "memory" || text == "sqlite")) {
      line.options.metadata = text == "sqlite" ? MetadataKind::kSqlite : MetadataKind::kMemory;
    } else if (word == "--break" && find_broken_variant(text) != nullptr) {
      line.options.broken = text;
    } else if (parse_reduction(word, text, line.options.reduction)) {
      continue;
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
