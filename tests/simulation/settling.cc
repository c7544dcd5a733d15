#include "simulation/simulation.h"

namespace harmonica::simulation {

// Devices that never took part go, and their links with them.
void Simulation::leave_behind() {
  for (std::size_t index = devices_.size(); index-- > 0;) {
    if (index != copy_ && !is_absent(index)) continue;
    std::erase_if(links_, [&](const Link& link) { return link.first == index || link.second == index; });
    for (Link& link : links_) {
      for (std::size_t* end : {&link.first, &link.second}) *end -= *end > index ? 1 : 0;
    }
    devices_.erase(devices_.begin() + static_cast<std::ptrdiff_t>(index));
    delayed_.erase(delayed_.begin() + static_cast<std::ptrdiff_t>(index));
  }
  std::erase_if(links_, [](const Link& link) { return link.first == link.second; });
}

// Calm weather: all must become equal, and then quiet.
void Simulation::heal() {
  world_.tell("healing");
  leave_behind();
  calm_ = true;
  world_.misfortunes = Misfortunes::none();
  for (Delayed& delayed : delayed_) delayed.clear();
  for (Link& link : links_) link.down = false;
  for (const std::unique_ptr<Device>& device : devices_) {
    device->faults().failing_salt = 0;
    device->disk().free();
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
  const bool is_mended = restores || options_.scenario == Scenario::kCopiesRestore;
  settle(restores ? Leftovers::kAllowed : Leftovers::kNone);
  if (!world_.violation && is_mended) mend();
  if (!world_.violation) checkers_.at_the_end(devices_);
  if (!world_.violation) replay_old_batches();
  if (!world_.violation && world_.forgetting) outlast_retentions();
}

// Longer than any device keeps its tombstones, and than clocks may differ.
void Simulation::outlast_retentions() {
  constexpr std::int64_t kLongMs = std::int64_t{3} * 60 * 60 * 1000;
  world_.tell("time passes");
  world_.now_ms += kLongMs;
  settle(Leftovers::kNone);
  if (!world_.violation) checkers_.all_is_cleaned(devices_);
}

// What a restore has taken from the devices with a filter is missing there, and what one of two copies made, which went
// back to a backup before they were found out, is missing where the other one's changes are known. Never in silence: to
// verify tells, and to repair brings it.
void Simulation::mend() {
  bool any = false;
  for (const std::unique_ptr<Device>& device : devices_) {
    if (world_.filters && !device->ever_filtered) continue;
    if (device == devices_.front()) continue;
    Replica& first = devices_.front()->replica();
    const Result<Comparison> comparison = first.compare_with(device->replica().provider(), 1000);
    if (!comparison.ok()) return world_.fail("comparing with " + device->name() + ": " + comparison.status().to_text());
    const Result<RepairReport> repaired = repair(*comparison, first, device->replica());
    if (!repaired.ok()) return world_.fail("repairing " + device->name() + ": " + repaired.status().to_text());
    if (comparison->equal && repaired->asked_again_first + repaired->asked_again_second == 0) continue;
    world_.tell("  " + device->name() + " asks again for " + std::to_string(repaired->asked_again_second) + " items");
    checkers_.after_repair(*device);
    checkers_.after_repair(*devices_.front());
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
        if (!report && has_copies(options_.scenario)) {
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
        check(*devices_[source]);
        check(*devices_[destination]);
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
