#include "simulation/shrink.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <vector>

namespace harmonica::simulation {
namespace {

constexpr std::size_t kRunsMax = 4000;

class Shrinker {
 public:
  explicit Shrinker(const SimulationOptions& options) : options_(options) { options_.trace = nullptr; }

  std::optional<Shrunk> run() {
    rehearsal_ = rehearse(options_);
    const Outcome whole = simulate(options_, rehearsal_);
    if (!whole.violation) return std::nullopt;
    law_ = law_of(*whole.violation);
    violation_ = *whole.violation;
    leave_out_the_rest(whole);
    bool any = true;
    while (any && runs_ < kRunsMax) {
      any = leave_out_devices();
      any = leave_out_steps() || any;
      any = leave_out_circumstances() || any;
    }
    const Reduction& reduction = options_.reduction;
    return Shrunk{options_, violation_, left_steps().size(), rehearsal_.devices - reduction.absent.size(), runs_};
  }

 private:
  bool still_fails(const Reduction& reduction) {
    if (runs_ == kRunsMax) return false;
    ++runs_;
    SimulationOptions tried = options_;
    tried.reduction = reduction;
    const Outcome outcome = simulate(tried, rehearsal_);
    if (!outcome.violation || law_of(*outcome.violation) != law_) return false;
    options_.reduction = reduction;
    violation_ = *outcome.violation;
    return true;
  }

  std::vector<std::size_t> left_steps() const {
    std::vector<std::size_t> steps;
    for (std::size_t step = 0; step < rehearsal_.steps; ++step) {
      if (!options_.reduction.skipped.contains(step)) steps.push_back(step);
    }
    return steps;
  }

  // What came after the failure.
  void leave_out_the_rest(const Outcome& whole) {
    Reduction tried = options_.reduction;
    for (std::size_t step = whole.steps; step < rehearsal_.steps; ++step) tried.skipped.insert(step);
    if (tried.skipped != options_.reduction.skipped) still_fails(tried);
  }

  bool leave_out_devices() {
    bool any = false;
    for (std::size_t device = rehearsal_.devices; device-- > 0;) {
      if (options_.reduction.absent.contains(device)) continue;
      if (device == 0 && (has_filters(options_.scenario) || options_.scenario == Scenario::kErasing)) continue;
      if (options_.reduction.absent.size() + 1 == rehearsal_.devices) break;
      Reduction tried = options_.reduction;
      tried.absent.insert(device);
      any = still_fails(tried) || any;
    }
    return any;
  }

  // Half of them, a quarter, and so on down to single ones, from the last to the first.
  bool leave_out_steps() {
    bool any = false;
    for (std::size_t size = std::max<std::size_t>(left_steps().size() / 2, 1);; size /= 2) {
      const std::vector<std::size_t> steps = left_steps();
      for (std::size_t end = steps.size(); end > 0; end -= std::min(size, end)) {
        Reduction tried = options_.reduction;
        for (std::size_t at = end - std::min(size, end); at < end; ++at) tried.skipped.insert(steps[at]);
        any = still_fails(tried) || any;
      }
      if (size <= 1) return any;
    }
  }

  bool leave_out_circumstances() {
    bool any = false;
    for (const std::string& name : circumstances()) {
      if (options_.reduction.without.contains(name)) continue;
      Reduction tried = options_.reduction;
      tried.without.insert(name);
      any = still_fails(tried) || any;
    }
    return any;
  }

  SimulationOptions options_;
  Rehearsal rehearsal_;
  std::string law_;
  std::string violation_;
  std::size_t runs_ = 0;
};

}  // namespace

std::string law_of(std::string_view violation) {
  std::istringstream words{std::string(violation.substr(0, violation.find(':')))};
  std::string law;
  for (std::string word; words >> word;) {
    if (word == "at") break;
    const bool is_name = !std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    if (is_name) continue;
    law += (law.empty() ? "" : " ") + word;
  }
  return law;
}

std::optional<Shrunk> shrink(const SimulationOptions& options) { return Shrinker(options).run(); }

}  // namespace harmonica::simulation
