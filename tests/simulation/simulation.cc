#include "simulation/simulation.h"

#include <algorithm>
#include <utility>

#include "harmonica/assert.h"
#include "simulation/filter_choices.h"
#include "simulation/scenario_schema.h"

namespace harmonica::simulation {
namespace {

constexpr std::int64_t kStartMs = 1'700'000'000'000;
constexpr std::int64_t kClockErrorMsMax = 20 * 60 * 1000;  // two devices differ by less than the allowed drift

void choose_rules(Random& random, SchemaChoices& choices) {
  using Rules = std::vector<ConflictRule>;
  static const Rules of_labels = {ConflictRule::kEarliest, ConflictRule::kMax,        ConflictRule::kMin,
                                  ConflictRule::kPriority, ConflictRule::kSourceWins, ConflictRule::kDestinationWins,
                                  ConflictRule::kCustom,   ConflictRule::kLatest};
  static const Rules of_texts = {ConflictRule::kTextMerge, ConflictRule::kTextMerge, ConflictRule::kPriority,
                                 ConflictRule::kCustom, ConflictRule::kSourceWins};
  static const Rules of_numbers = {ConflictRule::kCounter,  ConflictRule::kCounter, ConflictRule::kMax,
                                   ConflictRule::kAdditive, ConflictRule::kAverage, ConflictRule::kEarliest};
  choices.label_rule = random.pick(of_labels);
  choices.colour_rule = random.pick(of_texts);
  choices.count_rule = random.pick(of_numbers);
  choices.content_rule = random.pick(of_texts);
  choices.accounts_rule = random.chance(700) ? ConflictRule::kUnion : ConflictRule::kDestinationWins;
}

// Most runs last a few minutes, some an hour or two.
const std::vector<std::int64_t> kRetentions = {0, 0, 2'000, 20'000, 10 * 60'000};

SchemaChoices choose_schema(Random& random, Scenario scenario) {
  static const std::vector<DeletionRule> rules = {DeletionRule::kEditWins, DeletionRule::kDeleteWins,
                                                  DeletionRule::kLatest};
  SchemaChoices choices;
  choices.deletion_rules = {random.pick(rules), random.pick(rules), random.pick(rules)};
  choices.state_rule = random.chance(250) ? ConflictRule::kManual : ConflictRule::kLatest;
  choices.with_roots = random.chance(300);
  choices.bookmarks_only = scenario == Scenario::kBookmarks;
  if (scenario == Scenario::kRules || scenario == Scenario::kSchema || scenario == Scenario::kHub) {
    choose_rules(random, choices);
  }
  return choices;
}

// A rule of an app: both values, the lesser version's first, within bounds.
Value joined(const CustomConflict& conflict) {
  constexpr std::size_t kJoinedBytesMax = 40;
  const std::string* lesser = conflict.lesser.value.if_text();
  const std::string* greater = conflict.greater.value.if_text();
  if (lesser == nullptr || greater == nullptr) return conflict.greater.value;
  return Value::text((*lesser + "|" + *greater).substr(0, kJoinedBytesMax));
}

// The batch as if it had been made for that request: from the first id on, although it teaches nothing of the ids before
// its own.
ChangeBatch renumber(ChangeBatch batch, const ChangeRequest& request) {
  batch.request_number = request.number;
  batch.destination = request.destination.replica;
  batch.range.first = kFirstItemId;
  batch.source.schema_fingerprint = request.destination.schema_fingerprint;
  batch.source.marks.clear();
  batch.source.marks_of_peer.clear();
  return batch;
}

}  // namespace

std::string_view to_text(Scenario scenario) {
  switch (scenario) {
    case Scenario::kMixed:
      return "mixed";
    case Scenario::kBookmarks:
      return "bookmarks";
    case Scenario::kRules:
      return "rules";
    case Scenario::kForgetting:
      return "forgetting";
    case Scenario::kSchema:
      return "schema";
    case Scenario::kHub:
      return "hub";
    case Scenario::kCopies:
      return "copies";
    case Scenario::kFilters:
      return "filters";
    case Scenario::kFiltersRestore:
      return "filters-restore";
    case Scenario::kErasing:
      return "erasing";
  }
  return "mixed";
}

std::string to_command_line(const SimulationOptions& options) {
  std::string line = "harmonica_simulation --seed " + std::to_string(options.seed);
  if (options.devices != 0) line += " --devices " + std::to_string(options.devices);
  if (options.steps != 0) line += " --steps " + std::to_string(options.steps);
  if (options.scenario != Scenario::kMixed) line += " --scenario " + std::string(to_text(options.scenario));
  if (options.metadata == MetadataKind::kSqlite) line += " --metadata sqlite";
  if (!options.broken.empty()) line += " --break " + options.broken;
  return line;
}

Outcome simulate(const SimulationOptions& options) { return Simulation(options).run(); }

Simulation::Simulation(const SimulationOptions& options)
    : options_(options),
      world_(options.seed),
      checkers_(world_),
      user_(world_, options.scenario == Scenario::kRules || options.scenario == Scenario::kSchema ? Habit::kMostlyNotes
                                                                                                  : Habit::kAnything) {
  world_.now_ms = kStartMs;
  world_.trace = options.trace;
  Random& random = world_.random;
  // Every draw is made whatever the options say, so that they change nothing else.
  const std::size_t drawn_devices = (options_.scenario == Scenario::kCopies ? 3 : 2) + random.below(4);
  const std::size_t drawn_steps = 20 + random.below(40);
  if (options_.devices == 0) options_.devices = drawn_devices;
  if (options_.steps == 0) options_.steps = drawn_steps;
  if (options_.scenario == Scenario::kErasing) {
    erasing_in_ = random.pick(std::vector{Setting::kForgetting, Setting::kHub, Setting::kFilters});
  }

  schema_ = make_schema(choose_schema(random, options_.scenario));
  HARMONICA_ASSERT(schema_.validate().ok());
  const BrokenVariant* broken = options_.broken.empty() ? nullptr : find_broken_variant(options_.broken);
  HARMONICA_ASSERT(options_.broken.empty() || broken != nullptr);
  const bool bookmarks = options_.scenario == Scenario::kBookmarks;
  const bool forgetting =
      options_.scenario == Scenario::kForgetting || erasing_in_ == Setting::kForgetting || has_filters();
  world_.forgetting = forgetting;
  world_.filters = has_filters();
  const std::uint64_t shared_data = random.chance(bookmarks ? 900 : 400) ? random.next() : 0;
  // Of several that have all lost their metadata, two could meet after each has told others (docs/adr/0011).
  const bool any_carry_ids = bookmarks && random.chance(700);
  for (std::size_t index = 0; index < options_.devices; ++index) {
    DeviceOptions device;
    device.name = std::string(1, static_cast<char>('A' + index));
    device.schema = schema_;
    device.write_unit = random.chance(any_carry_ids ? 1000
                                      : bookmarks   ? 700
                                                    : 350)
                            ? WriteUnit::kWholeStore
                            : WriteUnit::kEachItem;
    device.metadata = options_.metadata;
    device.seed = random.next();
    device.broken = broken;
    if (!bookmarks && options_.scenario != Scenario::kMixed && !forgetting) device.custom_rule = joined;
    if (options_.scenario == Scenario::kSchema) {
      device.schema = schema_of_version(schema_, static_cast<int>(1 + random.below(kSchemaVersions)));
    }
    if (has_hubs()) {
      device.has_store = index == 1 || !random.chance(index == 0 ? 700 : 250);
      world_.forgetting = true;
    }
    if (forgetting || has_hubs()) device.tombstone_retention_ms = random.pick(kRetentions);
    devices_.push_back(std::make_unique<Device>(world_, std::move(device)));
    Device& made = *devices_.back();
    made.user = [this, &made] {
      if (may_edit_ && made.has_store()) user_.edit(made);
    };
    made.environment().error_ms = random.between(-kClockErrorMsMax, kClockErrorMsMax);
    if (shared_data == 0 || !random.chance(800) || !made.has_store()) continue;
    const bool carries_ids = any_carry_ids && (options_.devices > 2 || random.chance(500));
    user_.fill(made, {shared_data, carries_ids, any_carry_ids, bookmarks});
  }
  delayed_.resize(devices_.size());
  off_for_.resize(devices_.size(), 0);
  backups_.resize(devices_.size());
  static const std::vector<Shape> shapes = {Shape::kRing, Shape::kStar, Shape::kLine, Shape::kMesh};
  choose_links(random.pick(shapes));
  if (options_.scenario == Scenario::kCopies) {
    // What is lost with a restore cannot be told from what a copy has under the same version.
    world_.misfortunes.restore = 0;
    copy_ = devices_.size() - 1;
    copied_at_ = options_.steps / 4 + random.below(options_.steps / 2);
  }
  if (devices_.size() > 2 && random.chance(forgetting ? 600 : 200)) away_ = devices_.size() - 1;
  if (has_filters()) choose_filters();
}

bool Simulation::has_filters() const {
  return options_.scenario == Scenario::kFilters || options_.scenario == Scenario::kFiltersRestore ||
         erasing_in_ == Setting::kFilters;
}

bool Simulation::has_hubs() const { return options_.scenario == Scenario::kHub || erasing_in_ == Setting::kHub; }

// The first device never has a filter. Those without one stay connected, and each of the others has one of them in reach.
void Simulation::choose_filters() {
  Random& random = world_.random;
  if (options_.scenario != Scenario::kFiltersRestore) world_.misfortunes.restore = 0;
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

// Another filter, or none; often the one that another device has.
void Simulation::filter_step(Device& device, Wish wish) {
  if (!device.ever_filtered || !device.running()) return;
  Random& random = world_.random;
  std::optional<Filter> filter;
  if (!random.chance(150) || wish == Wish::kSome)
    filter = filter_choices()[random.below(random.chance(500) ? 2 : filter_choices().size())].filter();
  world_.tell("  " + device.name() + " wants " + (filter ? filter->to_text() : "everything"));
  const Status set = device.replica().set_filter(filter);
  if (!set.ok() && set.code() != StatusCode::kIo) world_.fail("a filter for " + device.name() + ": " + set.to_text());
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

Outcome Simulation::run() {
  const Misfortunes misfortunes = world_.misfortunes;
  world_.misfortunes = Misfortunes::none();
  for (const std::unique_ptr<Device>& device : devices_) {
    if (copy_ && device == devices_[*copy_]) continue;
    boot(*device);
    if (world_.violation) break;
    const Result<DetectionReport> detected = device->detect();
    if (!detected.ok()) world_.fail("the first detection at " + device->name() + " failed: " + detected.status().to_text());
    check(*device);
    if (has_filters()) filter_step(*device, Wish::kSome);
  }
  world_.misfortunes = misfortunes;
  for (std::size_t step_number = 0; step_number < options_.steps && !world_.violation; ++step_number) {
    if (world_.trace) world_.tell("step " + std::to_string(step_number));
    if (away_ && step_number == options_.steps / 4) {
      world_.tell("  " + devices_[*away_]->name() + " goes away");
      devices_[*away_]->shut_down();
      off_for_[*away_] = static_cast<int>(options_.steps / 2);
      world_.now_ms += 1000;
    }
    if (copy_ && step_number >= copied_at_) copy_step();
    step();
  }
  if (!world_.violation) heal();
  outcome_.versions = world_.ledger.versions();
  outcome_.lost_between_copies = world_.lost_between_copies;
  outcome_.violation = world_.violation;
  return outcome_;
}

void Simulation::boot(Device& device) {
  const Status booted = device.boot();
  if (!booted.ok()) world_.fail("opening " + device.name() + " failed: " + booted.to_text());
}

void Simulation::check(Device& device) { checkers_.after_step(device); }

void Simulation::upgrade(Device& device, int version) {
  world_.tell("  " + device.name() + " gets version " + std::to_string(version));
  device.install(schema_of_version(schema_, version));
  boot(device);
  if (world_.violation) return;
  device.hang_up();
  // So that what a user does from now on is known from what the app began with.
  const Result<DetectionReport> detected = device.detect();
  if (!detected.ok())
    world_.fail("the first detection of an upgraded " + device.name() + ": " + detected.status().to_text());
  check(device);
}

// Now and then back to an older one.
void Simulation::upgrade_step(Device& device) {
  if (options_.scenario != Scenario::kSchema || !device.running() || !world_.random.chance(60)) return;
  if (!device.settled() || device.write_is_pending()) return;
  upgrade(device, world_.random.chance(800) ? kSchemaVersions : static_cast<int>(1 + world_.random.below(kSchemaVersions)));
}

// Two without a store that have met nobody who has one.
bool Simulation::has_nothing_to_carry(const Link& link) {
  const auto knows_nothing = [&](std::size_t index) {
    Device& device = *devices_[index];
    return device.running() && !device.has_store() && device.replica().schema().is_empty();
  };
  return knows_nothing(link.first) && knows_nothing(link.second);
}

// A device that lost its power, or whose program was killed, comes back at once or later.
void Simulation::after_misfortune(Device& device) {
  const auto index = static_cast<std::size_t>(
      std::find_if(devices_.begin(), devices_.end(), [&](const auto& candidate) { return candidate.get() == &device; }) -
      devices_.begin());
  ++outcome_.crashes;
  world_.tell("  " + device.name() + " went down");
  device.shut_down();
  if (world_.random.chance(700)) {
    boot(device);
    check(device);
  } else {
    device.power().restore();
    off_for_[index] = static_cast<int>(1 + world_.random.below(6));
  }
}

void Simulation::step() {
  Random& random = world_.random;
  const Misfortunes& chance = world_.misfortunes;
  // Often within one millisecond, where only the counter of the clock tells changes apart.
  world_.now_ms += random.chance(300) ? 0 : random.chance(50) ? random.between(0, 3'600'000) : random.between(1, 3000);

  for (std::size_t index = 0; index < devices_.size(); ++index) {
    if (devices_[index]->running() || index == copy_ || --off_for_[index] > 0) continue;
    world_.tell("  " + devices_[index]->name() + " comes back");
    boot(*devices_[index]);
    if (world_.violation) return;
    check(*devices_[index]);
  }
  Device& device = *devices_[random.below(devices_.size())];
  if (random.chance(chance.partition)) {
    Link& link = links_[random.below(links_.size())];
    link.down = !link.down;
  }
  if (random.chance(chance.failures_begin))
    device.faults().failing_salt = device.faults().failing_salt == 0 ? random.next() : 0;
  if (random.chance(chance.clock_jump)) device.environment().error_ms = random.between(-kClockErrorMsMax, kClockErrorMsMax);

  // What is edited on two devices before they meet for the first time is not the same any more.
  may_edit_ = options_.scenario != Scenario::kBookmarks || all_have_met();
  const std::size_t action = may_edit_ ? random.below(100) : 40 + random.below(48);
  if (action < 40) {
    // A user's store is there although nothing syncs it.
    for (std::size_t edits = 1 + random.below(3); edits > 0; --edits) user_step(device);
  } else if (action < 88) {
    Link& link = links_[random.below(links_.size())];
    const bool forth = random.chance(500);
    std::size_t source = forth ? link.first : link.second;
    std::size_t destination = forth ? link.second : link.first;
    if (!may_edit_ && !takes_first(destination, source)) std::swap(source, destination);
    const bool both_ways = random.chance(600);
    const bool has_ended = session(source, destination, link).has_value();
    if (both_ways && (may_edit_ || has_ended) && !world_.violation) session(destination, source, link);
  } else if (action < 92) {
    if (device.running()) {
      if (random.chance(chance.crash)) device.power().cut_in(static_cast<int>(1 + random.below(4)));
      world_.tell("  " + device.name() + " detects");
      const Result<DetectionReport> detected = device.detect();
      device.power().cut_in(0);
      if (device.power().dead()) {
        after_misfortune(device);
      } else if (!detected.ok()) {
        world_.fail("a detection at " + device.name() + " failed: " + detected.status().to_text());
      }
    }
  } else if (action < 96) {
    conflict_step(device);
  } else {
    old_batch_step(device);
  }
  if (has_filters() && random.chance(60)) {
    if (random.chance(chance.crash)) device.power().cut_in(static_cast<int>(1 + random.below(3)));
    filter_step(device, Wish::kAny);
    device.power().cut_in(0);
    if (device.power().dead()) after_misfortune(device);
  }
  if (options_.scenario == Scenario::kErasing && random.chance(80)) erase_step(device);
  backup_step(device);
  if (!world_.violation) upgrade_step(device);
  for (const std::unique_ptr<Device>& each : devices_) check(*each);
}

bool Simulation::has_met(Device& device) {
  const auto transaction = device.durable_metadata().begin(TransactionMode::kRead);
  if (!transaction.ok()) return false;
  const Result<ReplicaState> state = (*transaction)->state();
  return state.ok() && !state->scope.empty();
}

// As the program does it: who is new takes before it gives.
bool Simulation::takes_first(std::size_t destination, std::size_t source) {
  if (options_.scenario != Scenario::kBookmarks) return true;
  return has_met(*devices_[source]) || !has_met(*devices_[destination]);
}

bool Simulation::all_have_met() {
  return std::all_of(devices_.begin(), devices_.end(), [&](const auto& device) { return has_met(*device); });
}

void Simulation::user_step(Device& device) {
  if (!may_edit_ || !device.has_store()) return;
  user_.edit(device);
  checkers_.after_step(device);
}

// Restores a value that lost, or ends a deferred conflict.
void Simulation::conflict_step(Device& device) {
  if (!device.running()) return;
  const Result<std::vector<ConflictRecord>> conflicts = device.replica().conflicts();
  if (!conflicts.ok()) return world_.fail("conflicts at " + device.name() + ": " + conflicts.status().to_text());
  if (conflicts->empty()) return;
  checkers_.before_decision(device);
  const ConflictRecord& record = (*conflicts)[world_.random.below(conflicts->size())];
  device.note_edit();
  Status done;
  if (record.state == ConflictState::kDeferred) {
    const Decision decision = world_.random.chance(500) ? Decision::kKeepLocal : Decision::kTakeRemote;
    world_.tell("  " + device.name() + " decides " + world_.ledger.text(record.item) +
                (decision == Decision::kKeepLocal ? ": keeps its own" : ": takes the other"));
    done = device.replica().decide(record.id, decision);
  } else {
    world_.tell("  " + device.name() + " restores " + world_.ledger.text(record.lost.version) + " of " +
                world_.ledger.text(record.item));
    done = device.replica().restore(record.id);
  }
  // What a conflict was about can be deleted and forgotten since.
  const bool forgotten = world_.forgetting && done.code() == StatusCode::kNotFound;
  // Nor can an older version of the app have back what it does not know.
  const bool unknown = options_.scenario == Scenario::kSchema && done.code() == StatusCode::kUnsupported;
  if (!done.ok() && done.code() != StatusCode::kIo && !forgotten && !unknown) {
    world_.fail("deciding or restoring at " + device.name() + " failed: " + done.to_text());
  }
}

// Erases an item for good, or, now and then, a tombstone.
void Simulation::erase_step(Device& device) {
  if (!device.running()) return;
  device.hang_up();
  std::vector<ItemId> items;
  const Status scanned = device.replica().scan([&](const StoredItem& stored) -> Result<Visit> {
    if (stored.item.alive() || (!stored.item.erased() && world_.random.chance(300))) items.push_back(stored.item.id);
    return Visit::kContinue;
  });
  if (!scanned.ok()) return world_.fail("scanning " + device.name() + ": " + scanned.to_text());
  if (items.empty()) return;
  const ItemId item = world_.random.pick(items);
  const Result<std::optional<ReplicaItem>> held = device.replica().find(item);
  const StoreItem* standing = held.ok() && *held ? device.store().find((*held)->key) : nullptr;
  if (standing != nullptr) user_.remember(*standing);
  world_.tell("  " + device.name() + " erases " + world_.ledger.text(item));
  device.note_edit();
  if (world_.random.chance(world_.misfortunes.crash)) device.power().cut_in(static_cast<int>(1 + world_.random.below(6)));
  const Result<std::vector<ItemId>> erased = device.replica().forget(item);
  device.power().cut_in(0);
  if (device.power().dead()) return after_misfortune(device);
  if (!erased.ok()) return world_.fail("erasing at " + device.name() + " failed: " + erased.status().to_text());
  check(device);
}

// A batch of long ago arrives: as it was, or under the number of the current request as if it had been under way all the
// time.
void Simulation::old_batch_step(Device& device) {
  if (!device.running() || device.old_batches().empty()) return;
  device.hang_up();
  ChangeBatch batch = world_.random.pick(device.old_batches());
  // With a filter on either side a batch belongs to its request (rule R7): knowledge of items that are not held may have
  // been given up, and a source with a filter teaches only of what it sends.
  const bool renumbered = world_.random.chance(500) && !device.ever_filtered && !batch.source_filter;
  world_.tell("  an old batch arrives at " + device.name());
  const Result<ChangeRequest> request = device.provider().begin_destination(ApplyOptions());
  if (!request.ok()) return world_.fail("begin at " + device.name() + " failed: " + request.status().to_text());
  if (renumbered) {
    batch = renumber(std::move(batch), *request);
  }
  const Result<BatchReport> report = device.provider().process_change_batch(batch);
  const bool is_of_another_version = options_.scenario == Scenario::kSchema || has_hubs();
  const bool is_refused = report.status().code() == StatusCode::kInvalidArgument ||
                          (is_of_another_version && report.status().code() == StatusCode::kUnsupported);
  if (!report.ok() && !is_refused) {
    world_.fail("an old batch at " + device.name() + ": " + report.status().to_text());
  }
  if (renumbered && !report.ok())
    world_.fail("a batch that came late was refused by " + device.name() + ": " + report.status().to_text());
  const Result<BatchReport> ended = device.provider().end();
  if (!ended.ok() && report.ok()) world_.fail("ending at " + device.name() + ": " + ended.status().to_text());
}

void Simulation::backup_step(Device& device) {
  const auto index = static_cast<std::size_t>(
      std::find_if(devices_.begin(), devices_.end(), [&](const auto& candidate) { return candidate.get() == &device; }) -
      devices_.begin());
  if (!device.running() || world_.violation) return;
  // What was created and not yet detected would come to have two ids; so would what is edited elsewhere after a device has
  // met others for the first time, were it to meet them once more.
  const bool may_go_back = options_.scenario != Scenario::kBookmarks || has_met(device);
  if (world_.random.chance(60) && device.settled() && may_go_back) backups_[index] = device.make_backup();
  if (!world_.random.chance(world_.misfortunes.restore) || !backups_[index]) return;
  world_.tell("  " + device.name() + " goes back to a backup");
  checkers_.before_restore(device);
  device.restore(*backups_[index]);
  // Batches under way may hold what is gone for good with the restored state; they would bring it back at any time.
  for (const std::unique_ptr<Device>& each : devices_) each->old_batches().clear();
  boot(device);
  if (!world_.violation) checkers_.after_restore(device, devices_);
}

void Simulation::copy_step() {
  Device& copy = *devices_[*copy_];
  const std::size_t chosen = world_.random.below(devices_.size() - 1);
  Device& original = *devices_[chosen];
  // What was created and not yet detected would come to have two ids; and what was told to nobody is nobody's loss.
  if (!original.settled() || !has_met(original)) return;
  world_.tell("  " + copy.name() + " is made a copy of " + original.name());
  for (const ReplicaId& replica : original.replica_ids()) world_.ledger.fork(replica);
  copy.become_copy_of(original);
  // It goes where the original goes: two copies that never meet the same replica are found out by hearsay only.
  const std::vector<Link> links = links_;
  for (const Link& link : links) {
    if (link.first != chosen && link.second != chosen) continue;
    const std::size_t peer = link.first == chosen ? link.second : link.first;
    if (peer == *copy_) continue;
    Link added = link;
    added.first = peer;
    added.second = *copy_;
    links_.push_back(added);
  }
  copy_.reset();
  boot(copy);
}

// Whether a session may end so: because of what the simulator did to it.
bool Simulation::is_harmless(const Status& status, const Link& link) const {
  if (devices_[link.first]->power().dead() || devices_[link.second]->power().dead()) return true;
  switch (status.code()) {
    case StatusCode::kCancelled:
      return true;
    case StatusCode::kUnavailable:
      return link.remote;
    case StatusCode::kInvalidArgument:
      // A request of an old session came between and ended this one.
      return (link.remote || has_filters()) && !calm_;
    default:
      return false;
  }
}

std::optional<SessionReport> Simulation::session(std::size_t source_index, std::size_t destination_index, Link& link) {
  Random& random = world_.random;
  const Misfortunes& chance = world_.misfortunes;
  Device& source = *devices_[source_index];
  Device& destination = *devices_[destination_index];
  if (link.down || !source.running() || !destination.running()) return std::nullopt;
  if (has_nothing_to_carry(link)) return std::nullopt;
  ++outcome_.sessions;

  SessionOptions options;
  static const std::vector<std::uint64_t> sizes = {1, 200, 1000, 0};
  options.batch_bytes_max = random.pick(sizes);
  const bool source_is_near = random.chance(500);
  Device& near = source_is_near ? source : destination;
  Device& far = source_is_near ? destination : source;
  near.hang_up();
  if (!link.remote) far.hang_up();
  world_.tell("  session " + source.name() + "->" + destination.name() +
              (link.remote ? ", " + far.name() + " remote" : ", direct") + ", batches of " +
              std::to_string(options.batch_bytes_max) + " bytes");

  if (random.chance(chance.crash)) {
    Device& victim = random.chance(700) ? destination : source;
    victim.power().cut_in(static_cast<int>(1 + random.below(9)));
  }
  const std::size_t cancel_after = random.chance(chance.session_cancelled) ? 1 + random.below(6) : 0;
  const std::size_t stop_after = options_.scenario == Scenario::kRules && random.chance(150) ? 1 + random.below(4) : 0;
  if (stop_after > 0) options.should_stop = [&](const SessionReport& so_far) { return so_far.batches >= stop_after; };
  const std::size_t abandon_after = random.chance(chance.session_abandoned) ? 1 + random.below(6) : 0;
  bool abandoned = false;
  std::optional<SessionReport> report;
  {
    SimulatedChannel channel(world_, far, link, delayed_[source_is_near ? destination_index : source_index]);
    const std::unique_ptr<Provider> remote = link.remote ? make_remote_provider(channel, {}) : nullptr;
    Provider& source_provider = link.remote && !source_is_near ? *remote : source.provider();
    Provider& destination_provider = link.remote && source_is_near ? *remote : destination.provider();
    SyncSession session(source_provider, destination_provider, options);
    for (std::size_t steps = 1; !world_.violation; ++steps) {
      if (steps == cancel_after) session.cancel();
      if (steps == abandon_after) {
        abandoned = true;
        break;
      }
      const Result<StepState> state = session.step();
      if (!state.ok()) {
        world_.tell("    ended: " + state.status().to_text());
        if (!is_harmless(state.status(), link)) {
          world_.fail("a session " + source.name() + "->" + destination.name() + " failed: " + state.status().to_text());
        }
        break;
      }
      if (*state == StepState::kDone) {
        report = session.report();
        break;
      }
      if (steps > 2000) world_.fail("a session " + source.name() + "->" + destination.name() + " does not end");
      if (!destination.power().dead()) check(destination);
      if (!calm_ && random.chance(40)) user_step(random.chance(500) ? source : destination);
      if (!calm_ && has_filters() && random.chance(15)) filter_step(destination, Wish::kAny);
      world_.now_ms += random.between(0, 2);
    }
    outcome_.conflicts += session.report().conflicts;
  }
  for (Device* device : {&source, &destination}) {
    device->power().cut_in(0);
    if (device->power().dead()) {
      after_misfortune(*device);
    } else if (abandoned && (device == &near || !link.remote)) {
      world_.tell("    the program is killed");
      after_misfortune(*device);
    }
  }
  return report;
}

// Calm weather: all must become equal, and then quiet.
void Simulation::heal() {
  world_.tell("healing");
  if (copy_) {
    links_.erase(std::remove_if(links_.begin(), links_.end(),
                                [&](const Link& link) { return link.first == *copy_ || link.second == *copy_; }),
                 links_.end());
    devices_.pop_back();
  }
  calm_ = true;
  world_.misfortunes = Misfortunes::none();
  for (Delayed& delayed : delayed_) delayed.clear();
  for (Link& link : links_) link.down = false;
  for (const std::unique_ptr<Device>& device : devices_) {
    device->faults().failing_salt = 0;
    if (!device->running()) boot(*device);
    if (world_.violation) return;
    device->hang_up();
    check(*device);
  }
  // First as they are, then all with the newest version.
  if (options_.scenario == Scenario::kSchema) {
    for (Link& link : links_) {
      session(link.first, link.second, link);
      session(link.second, link.first, link);
      if (world_.violation) return;
    }
    for (const std::unique_ptr<Device>& device : devices_) {
      if (!world_.violation) upgrade(*device, kSchemaVersions);
    }
    if (world_.violation) return;
  }
  const bool restores = options_.scenario == Scenario::kFiltersRestore;
  settle(restores ? Leftovers::kAllowed : Leftovers::kNone);
  if (!world_.violation && restores) mend();
  if (!world_.violation) checkers_.at_the_end(devices_);
  if (!world_.violation) replay_old_batches();
}

// What a restore has taken from the devices with a filter is missing there, and never in silence: to verify tells, and to
// repair brings it.
void Simulation::mend() {
  bool any = false;
  for (const std::unique_ptr<Device>& device : devices_) {
    if (!device->ever_filtered) continue;
    Replica& first = devices_.front()->replica();
    const Result<Comparison> comparison = first.compare_with(device->replica().provider(), 1000);
    if (!comparison.ok()) return world_.fail("comparing with " + device->name() + ": " + comparison.status().to_text());
    if (comparison->equal) continue;
    const Result<RepairReport> repaired = repair(*comparison, first, device->replica());
    if (!repaired.ok()) return world_.fail("repairing " + device->name() + ": " + repaired.status().to_text());
    world_.tell("  " + device->name() + " asks again for " + std::to_string(repaired->asked_again_second) + " items");
    checkers_.after_repair(*device);
    any = true;
  }
  if (!any) return;
  ++outcome_.mended;
  settle(Leftovers::kNone);
}

// Sessions over all links until two rounds bring nothing; with leftovers, nothing but what is left out each time.
void Simulation::settle(Leftovers leftovers) {
  const std::size_t rounds_max = 12 * devices_.size() + 12;
  std::size_t silent = 0;
  std::vector<Knowledge> known_before;
  for (std::size_t round = 0; silent < 2; ++round) {
    if (round == rounds_max) {
      return world_.fail("no quiescence: after " + std::to_string(rounds_max) + " rounds sessions still bring something");
    }
    if (world_.trace) world_.tell("round " + std::to_string(round));
    world_.now_ms += 1000;
    const std::size_t versions = world_.ledger.versions();
    bool quiet = true;
    for (Link& link : links_) {
      if (has_nothing_to_carry(link)) {
        quiet = false;
        continue;
      }
      const bool forth = takes_first(link.second, link.first);
      const std::pair first(forth ? link.first : link.second, forth ? link.second : link.first);
      for (const auto& [source, destination] : {first, std::pair(first.second, first.first)}) {
        const std::optional<SessionReport> report = session(source, destination, link);
        if (world_.violation) return;
        // A far replica has found out that it is a copy, or its endpoint takes one copy for the other.
        if (!report && options_.scenario == Scenario::kCopies) {
          quiet = false;
          continue;
        }
        if (!report) return world_.fail("a session in calm weather did not come to its end");
        SessionReport rest = *report;
        if (leftovers == Leftovers::kAllowed) {
          rest.received = 0;
          std::erase_if(rest.failures,
                        [](const auto& failure) { return failure.status.code() == StatusCode::kUnavailable; });
        }
        quiet = quiet && rest.quiet() && rest.received == 0;
        for (const std::unique_ptr<Device>& device : devices_) check(*device);
        if (world_.violation) return;
      }
    }
    // What lost where it was made is told by knowledge alone.
    std::vector<Knowledge> known;
    for (const std::unique_ptr<Device>& device : devices_) {
      const Result<ReplicaStatus> status = device->replica().status();
      if (!status.ok()) return world_.fail("status must answer: " + status.status().to_text());
      known.push_back(status->knowledge);
    }
    quiet = quiet && known == known_before;
    known_before = std::move(known);
    silent = quiet && versions == world_.ledger.versions() ? silent + 1 : 0;
    decide_all();
    if (world_.violation) return;
  }
}

void Simulation::decide_all() {
  for (const std::unique_ptr<Device>& device : devices_) {
    const Result<std::vector<ConflictRecord>> conflicts = device->replica().conflicts();
    if (!conflicts.ok()) return world_.fail("conflicts at " + device->name() + ": " + conflicts.status().to_text());
    for (const ConflictRecord& record : *conflicts) {
      if (record.state != ConflictState::kDeferred) continue;
      device->note_edit();
      const Decision decision = world_.random.chance(500) ? Decision::kKeepLocal : Decision::kTakeRemote;
      world_.tell("  " + device->name() + " decides " + world_.ledger.text(record.item));
      const Status decided = device->replica().decide(record.id, decision);
      if (!decided.ok()) return world_.fail("deciding at " + device->name() + " failed: " + decided.to_text());
    }
  }
}

// Batches of long ago change no item any more, also under the number of a current request. Knowledge may grow: a batch from
// before a restore tells of versions that were lost with it.
void Simulation::replay_old_batches() {
  for (const std::unique_ptr<Device>& device : devices_) {
    const std::string before = checkers_.items_text(*device) + checkers_.store_text(*device);
    const std::vector<ChangeBatch> batches = device->old_batches();
    for (const ChangeBatch& batch : batches) {
      if (device->ever_filtered || batch.source_filter) continue;
      const Result<ChangeRequest> request = device->provider().begin_destination(ApplyOptions());
      if (!request.ok()) return world_.fail("begin at " + device->name() + " failed: " + request.status().to_text());
      const Result<BatchReport> report = device->provider().process_change_batch(renumber(batch, *request));
      const Result<BatchReport> ended = device->provider().end();
      if (!report.ok()) return world_.fail("an old batch at " + device->name() + ": " + report.status().to_text());
      if (!ended.ok()) return world_.fail("ending at " + device->name() + ": " + ended.status().to_text());
      if (world_.violation) return;
    }
    const std::string after = checkers_.items_text(*device) + checkers_.store_text(*device);
    if (after != before) {
      return world_.fail("replay changes nothing: old batches changed " + device->name() + " from\n" + before + "to\n" +
                         after);
    }
  }
}

}  // namespace harmonica::simulation
