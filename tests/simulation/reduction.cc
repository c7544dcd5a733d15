#include "simulation/reduction.h"

#include <charconv>
#include <vector>

#include "simulation/misfortunes.h"

namespace harmonica::simulation {
namespace {

constexpr std::size_t kStepsMax = 100'000;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::optional<std::size_t> parse_number(std::string_view text) {
  std::size_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number > kStepsMax) return std::nullopt;
  return number;
}

// Neighbours together: "3,7-9".
std::string steps_text(const std::set<std::size_t>& steps) {
  std::string text;
  for (auto step = steps.begin(); step != steps.end();) {
    const std::size_t first = *step;
    std::size_t last = first;
    while (++step != steps.end() && *step == last + 1) last = *step;
    text += (text.empty() ? "" : ",") + std::to_string(first);
    if (last != first) text += "-" + std::to_string(last);
  }
  return text;
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

}  // namespace

std::set<std::string> all_but(const std::set<std::string>& names) {
  std::set<std::string> others;
  for (const std::string& name : circumstances()) {
    if (!names.contains(name)) others.insert(name);
  }
  return others;
}

std::set<std::string> circumstances() {
  std::set<std::string> names = {std::string(kAway), std::string(kSharedData)};
  for (const NamedMisfortune& misfortune : kMisfortunes) names.emplace(misfortune.name);
  return names;
}

std::optional<std::set<std::size_t>> parse_steps(std::string_view text) {
  std::set<std::size_t> steps;
  for (const std::string_view part : split(text, ',')) {
    const std::vector<std::string_view> ends = split(part, '-');
    const std::optional<std::size_t> first = parse_number(ends.front());
    const std::optional<std::size_t> last = parse_number(ends.back());
    if (!first || !last || ends.size() > 2 || *last < *first) return std::nullopt;
    for (std::size_t step = *first; step <= *last; ++step) steps.insert(step);
  }
  return steps;
}

std::optional<std::set<std::size_t>> parse_devices(std::string_view text) {
  std::set<std::size_t> devices;
  for (const std::string_view name : split(text, ',')) {
    if (name.size() != 1 || name.front() < 'A' || name.front() > 'Z') return std::nullopt;
    devices.insert(static_cast<std::size_t>(name.front() - 'A'));
  }
  return devices;
}

std::optional<std::set<std::string>> parse_circumstances(std::string_view text) {
  const std::set<std::string> known = circumstances();
  std::set<std::string> names;
  if (text == "none") return names;
  for (const std::string_view part : split(text, ',')) {
    const std::string name(part);
    if (!known.contains(name)) return std::nullopt;
    names.insert(name);
  }
  return names;
}

std::string to_text(const Reduction& reduction) {
  std::string text;
  if (!reduction.skipped.empty()) text += " --skip " + steps_text(reduction.skipped);
  std::string names;
  for (const std::size_t device : reduction.absent) {
    names += (names.empty() ? "" : ",") + std::string(1, static_cast<char>('A' + device));
  }
  if (!names.empty()) text += " --absent " + names;
  if (reduction.without.empty()) return text;
  const std::set<std::string> others = all_but(reduction.without);
  if (others.size() < reduction.without.size()) return text + " --only " + (others.empty() ? "none" : joined(others));
  return text + " --without " + joined(reduction.without);
}

}  // namespace harmonica::simulation
