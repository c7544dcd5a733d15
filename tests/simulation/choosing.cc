#include <algorithm>
#include <utility>

#include "harmonica/assert.h"
#include "simulation/scenario_schema.h"
#include "simulation/simulation.h"

namespace harmonica::simulation {
namespace {

constexpr std::int64_t kStartMs = 1'700'000'000'000;

// Most runs last a few minutes, some an hour or two.
const std::vector<std::int64_t> kRetentions = {0, 0, 2'000, 20'000, 10 * 60'000};

// A rule of an app: both values, the lesser version's first, within bounds.
Value joined(const CustomConflict& conflict) {
  constexpr std::size_t kJoinedBytesMax = 40;
  const std::string* lesser = conflict.lesser.value.if_text();
  const std::string* greater = conflict.greater.value.if_text();
  if (lesser == nullptr || greater == nullptr) return conflict.greater.value;
  return Value::text((*lesser + "|" + *greater).substr(0, kJoinedBytesMax));
}

Habit habit_of(Scenario scenario) {
  switch (scenario) {
    case Scenario::kRules:
    case Scenario::kSchema:
    case Scenario::kRecords:
      return Habit::kMostlyNotes;
    default:
      return Habit::kAnything;
  }
}

bool has_custom_rule(Scenario scenario) {
  switch (scenario) {
    case Scenario::kRules:
    case Scenario::kSchema:
    case Scenario::kHub:
    case Scenario::kCopies:
    case Scenario::kRecords:
      return true;
    default:
      return false;
  }
}

std::size_t draw(Random& random, Bounds bounds) { return bounds.least + random.below(bounds.choices); }

}  // namespace

Simulation::Simulation(const SimulationOptions& options, const Rehearsal* rehearsal)
    : options_(options),
      rehearsal_(rehearsal),
      world_(options.seed),
      checkers_(world_),
      user_(world_, habit_of(options.scenario)) {
  world_.now_ms = kStartMs;
  world_.trace = options.trace;
  world_.misfortunes = misfortunes_of(options_.scenario);
  Random& random = world_.random;
  // Every draw is made whatever the options say, so that they change nothing else.
  const std::size_t drawn_devices = draw(random, devices_of(options_.scenario));
  const std::size_t drawn_steps = draw(random, steps_of(options_.scenario));
  if (options_.devices == 0) options_.devices = drawn_devices;
  if (options_.steps == 0) options_.steps = drawn_steps;
  devices_chosen_ = options_.devices;

  if (options_.scenario == Scenario::kErasing) {
    erasing_in_ = random.pick(std::vector{Setting::kForgetting, Setting::kHub, Setting::kFilters});
  }
  schema_ = make_schema(choose_schema(random, options_.scenario));
  HARMONICA_ASSERT(schema_.validate().ok());
  world_.filters = has_filters();
  world_.forgetting = cleans_everywhere();
  if (world_.filters && options_.scenario != Scenario::kFiltersRestore) world_.misfortunes.restore = 0;
  make_devices();
  delayed_.resize(devices_.size());
  off_for_.resize(devices_.size(), 0);
  backups_.resize(devices_.size());
  static const std::vector<Shape> shapes = {Shape::kRing, Shape::kStar, Shape::kLine, Shape::kMesh};
  choose_links(random.pick(shapes));
  if (has_copies(options_.scenario)) {
    copy_ = devices_.size() - 1;
    copied_at_ = options_.steps / 4 + random.below(std::max<std::size_t>(options_.steps / 2, 1));
  }
  if (devices_.size() > 2 && random.chance(cleans_everywhere() ? 600 : 200)) away_ = devices_.size() - 1;
  if (world_.filters) choose_filters();
  for (const std::size_t index : options_.reduction.absent) {
    if (index < devices_.size()) bypass(index);
  }
  if (copy_ && is_absent(*copy_)) copy_.reset();
  if (is_without(kAway)) away_.reset();
}

bool Simulation::is_without(std::string_view circumstance) const {
  return options_.reduction.without.contains(std::string(circumstance));
}

bool Simulation::has_filters() const {
  return simulation::has_filters(options_.scenario) || erasing_in_ == Setting::kFilters;
}

bool Simulation::has_hubs() const { return options_.scenario == Scenario::kHub || erasing_in_ == Setting::kHub; }

bool Simulation::cleans_everywhere() const {
  return options_.scenario == Scenario::kForgetting || erasing_in_ == Setting::kForgetting || has_filters();
}

void Simulation::make_devices() {
  Random& random = world_.random;
  const bool bookmarks = options_.scenario == Scenario::kBookmarks;
  const std::uint64_t shared_data = random.chance(bookmarks ? 900 : 400) ? random.next() : 0;
  // Of several that have all lost their metadata, two could meet after each has told others (docs/adr/0011).
  const bool any_carry_ids = bookmarks && random.chance(700);
  const int whole_stores = any_carry_ids ? 1000 : bookmarks ? 700 : 350;
  for (std::size_t index = 0; index < options_.devices; ++index) {
    devices_.push_back(std::make_unique<Device>(world_, choose_device(index, whole_stores)));
    Device& made = *devices_.back();
    made.user = [this, &made] {
      if (may_edit_ && made.has_store()) user_.edit(made);
    };
    made.environment().error_ms = random.between(-kClockErrorMsMax, kClockErrorMsMax);
    if (shared_data == 0 || !random.chance(800) || !made.has_store()) continue;
    const bool carries_ids = any_carry_ids && (options_.devices > 2 || random.chance(500));
    if (!is_without(kSharedData)) user_.fill(made, {shared_data, carries_ids, any_carry_ids, bookmarks});
  }
}

DeviceOptions Simulation::choose_device(std::size_t index, int whole_stores) {
  Random& random = world_.random;
  const Scenario scenario = options_.scenario;
  DeviceOptions device;
  device.name = std::string(1, static_cast<char>('A' + index));
  device.schema = schema_;
  device.write_unit = random.chance(whole_stores) ? WriteUnit::kWholeStore : WriteUnit::kEachItem;
  device.metadata = options_.metadata;
  device.keeps_backups = keeps_backups(scenario);
  device.seed = random.next();
  device.broken = options_.broken.empty() ? nullptr : find_broken_variant(options_.broken);
  HARMONICA_ASSERT(options_.broken.empty() || device.broken != nullptr);
  if (has_custom_rule(scenario) || has_hubs()) device.custom_rule = joined;
  if (scenario == Scenario::kSchema) {
    device.schema = schema_of_version(schema_, static_cast<int>(1 + random.below(kSchemaVersions)));
  }
  if (has_hubs()) {
    device.has_store = index == 1 || !random.chance(index == 0 ? 700 : 250);
    world_.forgetting = true;
  }
  if (cleans_everywhere() || has_hubs()) device.tombstone_retention_ms = random.pick(kRetentions);
  if (scenario == Scenario::kRecords) device.record_limits = choose_record_limits();
  return device;
}

// Half of the devices keep records for as long as anybody would.
RecordLimits Simulation::choose_record_limits() {
  Random& random = world_.random;
  RecordLimits chosen;
  static const std::vector<std::size_t> counts = {0, 1, 2, 5};
  static const std::vector<std::int64_t> ages = {0, 1'000, 20'000, 200'000};
  if (random.chance(250)) chosen.count_max = random.pick(counts);
  if (random.chance(250)) chosen.age_ms_max = random.pick(ages);
  world_.limited_records = world_.limited_records || !(chosen == RecordLimits());
  return chosen;
}

// The first device never has a filter. Those without one stay connected, and each of the others has one of them in reach.
void Simulation::choose_filters() {
  Random& random = world_.random;
  links_.clear();
  std::vector<std::size_t> whole = {0};
  std::vector<std::size_t> narrow;
  for (std::size_t index = 1; index < devices_.size(); ++index) {
    const bool is_narrow = random.chance(650) || (narrow.empty() && index + 1 == devices_.size());
    (is_narrow ? narrow : whole).push_back(index);
  }
  const auto link = [&](std::size_t first, std::size_t second) {
    Link made;
    made.first = first;
    made.second = second;
    made.remote = random.chance(500);
    links_.push_back(made);
  };
  for (std::size_t place = 1; place < whole.size(); ++place) link(whole[random.below(place)], whole[place]);
  for (const std::size_t index : narrow) {
    devices_[index]->ever_filtered = true;
    link(random.pick(whole), index);
  }
  for (std::size_t first = 0; first < devices_.size(); ++first) {
    for (std::size_t second = first + 1; second < devices_.size(); ++second) {
      if (random.chance(300)) link(first, second);
    }
  }
}

void Simulation::choose_links(Shape shape) {
  const std::size_t count = devices_.size();
  const auto add = [&](std::size_t first, std::size_t second) {
    Link link;
    link.first = first;
    link.second = second;
    link.remote = world_.random.chance(500);
    links_.push_back(link);
  };
  for (std::size_t index = 1; index < count; ++index) {
    switch (shape) {
      case Shape::kRing:
      case Shape::kLine:
        add(index - 1, index);
        break;
      case Shape::kStar:
        add(0, index);
        break;
      case Shape::kMesh:
        for (std::size_t other = 0; other < index; ++other) add(other, index);
        break;
    }
  }
  if (shape == Shape::kRing && count > 2) add(count - 1, 0);
}

// Who was linked with an absent device is linked with one of its neighbours, so that all stay in reach of each other, and
// each of them has a device without a filter in reach.
void Simulation::bypass(std::size_t absent) {
  std::optional<std::size_t> instead;
  for (const Link& link : links_) {
    if (link.first == link.second || (link.first != absent && link.second != absent)) continue;
    const std::size_t neighbour = link.first == absent ? link.second : link.first;
    const bool is_better = !instead || (devices_[*instead]->ever_filtered && !devices_[neighbour]->ever_filtered);
    if (is_better) instead = neighbour;
  }
  if (!instead) return;
  for (Link& link : links_) {
    for (std::size_t* end : {&link.first, &link.second}) {
      if (*end == absent) *end = *instead;
    }
  }
}

}  // namespace harmonica::simulation
