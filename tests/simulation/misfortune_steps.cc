#include "simulation/filter_choices.h"
#include "simulation/scenario_schema.h"
#include "simulation/simulation.h"

namespace harmonica::simulation {

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

// A device that lost its power, or whose program was killed, comes back at once or later.
void Simulation::after_misfortune(Device& device) {
  const std::size_t index = number_of(device);
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

// From the first id on, although it teaches nothing of the ids before its own.
ChangeBatch Simulation::renumber(ChangeBatch batch, const ChangeRequest& request) {
  batch.request_number = request.number;
  batch.destination = request.destination.replica;
  batch.range.first = kFirstItemId;
  batch.source.schema_fingerprint = request.destination.schema_fingerprint;
  batch.source.marks.clear();
  batch.source.marks_of_peer.clear();
  return batch;
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
  if (!request.ok() && is_out_of_space(device, request.status())) return;
  if (!request.ok()) return world_.fail("begin at " + device.name() + " failed: " + request.status().to_text());
  if (renumbered) {
    batch = renumber(std::move(batch), *request);
  }
  const Result<BatchReport> report = device.provider().process_change_batch(batch);
  if (is_out_of_space(device, report.status())) return;
  const bool is_of_another_version = options_.scenario == Scenario::kSchema || has_hubs();
  const bool is_refused = report.status().code() == StatusCode::kInvalidArgument ||
                          (is_of_another_version && report.status().code() == StatusCode::kUnsupported);
  if (!report.ok() && !is_refused) {
    world_.fail("an old batch at " + device.name() + ": " + report.status().to_text());
  }
  if (renumbered && !report.ok())
    world_.fail("a batch that came late was refused by " + device.name() + ": " + report.status().to_text());
  const Result<BatchReport> ended = device.provider().end();
  if (!ended.ok() && report.ok() && !is_out_of_space(device, ended.status()))
    world_.fail("ending at " + device.name() + ": " + ended.status().to_text());
}

void Simulation::backup_step(Device& device) {
  const std::size_t index = number_of(device);
  if (!device.running() || world_.violation) return;
  // What was created and not yet detected would come to have two ids; so would what is edited elsewhere after a device has
  // met others for the first time, were it to meet them once more.
  const bool may_go_back = options_.scenario != Scenario::kBookmarks || has_met(device);
  if (world_.random.chance(60) && device.settled() && may_go_back) backups_[index] = device.make_backup();
  if (!world_.random.chance(world_.misfortunes.restore) || !backups_[index]) return;
  world_.tell("  " + device.name() + " goes back to a backup");
  checkers_.before_restore(device);
  device.restore(*backups_[index]);
  device.disk().free();
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

// A device loses all it has, or is said to have left for good; it comes back all the same.
void Simulation::identity_step(Device& device) {
  Random& random = world_.random;
  if (!device.running()) return;
  if (random.chance(world_.misfortunes.wipe)) wipe(device);
  if (world_.violation || !device.running() || !random.chance(world_.misfortunes.retirement)) return;
  const Result<std::vector<harmonica::Device>> known = device.replica().devices();
  if (!known.ok()) return world_.fail("devices at " + device.name() + ": " + known.status().to_text());
  if (known->size() < 2) return;
  const harmonica::Device& chosen = (*known)[1 + random.below(known->size() - 1)];
  world_.tell("  " + device.name() + " retires " + world_.ledger.text(chosen.replica));
  const Status retired = device.replica().retire(chosen.replica);
  if (!retired.ok()) world_.fail("retiring at " + device.name() + ": " + retired.to_text());
}

void Simulation::wipe(Device& device) {
  world_.tell("  " + device.name() + " loses all it has");
  checkers_.before_restore(device);
  device.wipe();
  for (const std::unique_ptr<Device>& each : devices_) each->old_batches().clear();
  boot(device);
  if (!world_.violation) checkers_.after_restore(device, devices_);
}

// A device has no space left from one of its next writes on, until some is made.
void Simulation::disk_step(Device& device) {
  Random& random = world_.random;
  for (const std::unique_ptr<Device>& each : devices_) {
    if (!each->disk().full() || !random.chance(250)) continue;
    world_.tell("  " + each->name() + " has space again");
    each->disk().free();
  }
  if (random.chance(world_.misfortunes.disk_full)) device.disk().fill_in(static_cast<int>(1 + random.below(12)));
}

bool Simulation::is_out_of_space(Device& device, const Status& status) {
  if (status.code() != StatusCode::kIo || !device.disk().full() || device.power().dead()) return false;
  if (status.to_text().find("no space") == std::string::npos) {
    world_.fail("an error that names no reason: " + status.to_text());
  }
  return true;
}

}  // namespace harmonica::simulation
