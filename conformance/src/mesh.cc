#include "harmonica/conformance/mesh.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harmonica/extension/remote.h"
#include "harmonica/session.h"
#include "mesh_device.h"

namespace harmonica::conformance {

namespace {

constexpr std::size_t kSharedItems = 4;
constexpr std::size_t kFindingsMax = 20;

class Mesh {
 public:
  Mesh(const std::function<std::unique_ptr<StoreSubject>()>& make_store, const MeshOptions& options)
      : options_(options), weather_{Chance(options.seed), {}} {
    for (std::size_t number = 0; number < options.replicas; ++number) {
      devices_.push_back(std::make_unique<MeshDevice>(make_store(), weather_, typed_, options.replica_options));
    }
  }

  MeshReport run() {
    for (const auto& device : devices_) note("a replica cannot be opened", device->open());
    if (findings_.empty()) meet_with_the_same_items();
    if (findings_.empty()) {
      weather_.misfortunes = options_.misfortunes;
      for (std::size_t step = 0; step < options_.steps && findings_.empty() && typed_.findings.empty(); ++step) take_step();
      weather_.misfortunes = calm();
      become_quiet();
      check_the_end();
    }
    return report();
  }

 private:
  static MeshMisfortunes calm() { return {0, 0, 0, 0, 0, 0, 0, 0, 0}; }

  void note(const std::string& what, const Status& status) {
    if (!status.ok()) findings_.push_back(what + ": " + status.to_text());
  }
  MeshDevice& any_device() { return *devices_[weather_.chance.below(devices_.size())]; }
  static std::string name_of(std::size_t number) { return std::string(1, static_cast<char>('A' + number % 26)); }

  // Everybody has the same few items before they ever met: each must be there once.
  void meet_with_the_same_items() {
    weather_.misfortunes = calm();
    StoreSubject& subject = devices_.front()->subject();
    const ItemType* type = subject.store().schema().find_type(subject.leaf("x", subject.root(), "x").type);
    if (type == nullptr || type->natural_key.empty()) return become_quiet();
    for (const auto& device : devices_) {
      for (std::size_t number = 0; number < kSharedItems; ++number) {
        device->user().add_shared("shared " + std::to_string(number));
      }
    }
    become_quiet();
    for (std::size_t number = 0; number < devices_.size(); ++number) {
      const auto status = devices_[number]->replica().status();
      if (!status.ok()) return note("no status", status.status());
      if (status->counts.alive != kSharedItems) {
        findings_.push_back(name_of(number) + ": of " + std::to_string(kSharedItems) + " items that all had, it has " +
                            std::to_string(status->counts.alive));
      }
    }
  }

  void take_step() {
    weather_.now_ms += 1000;
    MeshDevice& device = any_device();
    if (weather_.strikes(weather_.misfortunes.restarted)) return note("a store cannot be opened anew", device.restart());
    if (weather_.chance.strikes(600)) return device.user().edit();
    MeshDevice& other = any_device();
    if (&other == &device) return;
    SessionReport ignored;
    if (session(device, other, ignored).ok()) ++sessions_;
  }

  // What a misfortune ends is no finding: the calm afterwards shows whether it did harm.
  Status session(MeshDevice& source, MeshDevice& destination, SessionReport& report) {
    const std::unique_ptr<RequestHandler> endpoint = make_provider_endpoint(source.replica().provider());
    std::unique_ptr<Channel> channel;
    if (options_.connect) {
      channel = options_.connect(*endpoint);
    } else {
      channel = std::make_unique<DirectChannel>(*endpoint);
    }
    UnreliableChannel unreliable(*channel, weather_);
    const std::unique_ptr<Provider> remote = make_remote_provider(unreliable, {});
    const bool over_channel = options_.connect || weather_.chance.strikes(500);
    SessionOptions session_options;
    session_options.batch_bytes_max = weather_.chance.strikes(500) ? 300 : 0;
    SyncSession session(over_channel ? *remote : source.replica().provider(), destination.replica().provider(),
                        session_options);
    while (true) {
      auto step = session.step();
      report = session.report();
      if (!step.ok()) return step.status();
      if (*step == StepState::kDone) return {};
      if (weather_.strikes(weather_.misfortunes.session_killed)) return Status(StatusCode::kCancelled, "killed");
    }
  }

  // One round in which everybody learns from everybody: whether nothing moved.
  bool round() {
    bool quiet = true;
    for (const auto& source : devices_) {
      for (const auto& destination : devices_) {
        if (source == destination) continue;
        weather_.now_ms += 1000;
        SessionReport report;
        const Status status = session(*source, *destination, report);
        note("a session in calm weather", status);
        for (const SessionReport::Failure& failure : report.failures) note("an item in calm weather", failure.status);
        if (!findings_.empty()) return true;
        quiet = quiet && report.quiet() && report.received == 0;
      }
    }
    return quiet;
  }

  void become_quiet() {
    const std::size_t rounds_max = 4 * devices_.size() + 4;
    for (std::size_t number = 0; number < rounds_max; ++number) {
      if (!round()) continue;
      if (findings_.empty() && !round()) findings_.emplace_back("a second round after a quiet one still moved something");
      return;
    }
    findings_.push_back("not quiet after " + std::to_string(rounds_max) + " rounds");
  }

  void check_the_end() {
    if (!findings_.empty()) return;
    std::map<ItemId, std::string> first;
    for (std::size_t number = 0; number < devices_.size(); ++number) {
      std::vector<std::string> found;
      auto lines = devices_[number]->standing(found);
      note(name_of(number) + " cannot be read", lines.status());
      for (std::string& finding : found) findings_.push_back(name_of(number) + ": " + std::move(finding));
      if (!lines.ok()) return;
      if (number == 0) first = *lines;
      items_ = lines->size();
      expect_equal(first, *lines, number);
    }
    check_typed();
  }

  void expect_equal(const std::map<ItemId, std::string>& first, const std::map<ItemId, std::string>& other,
                    std::size_t number) {
    std::set<ItemId> ids;
    for (const auto& [id, line] : first) ids.insert(id);
    for (const auto& [id, line] : other) ids.insert(id);
    for (const ItemId& id : ids) {
      const auto of = [&](const std::map<ItemId, std::string>& lines) {
        const auto found = lines.find(id);
        return found == lines.end() ? std::string("nothing") : found->second;
      };
      if (of(first) == of(other)) continue;
      findings_.push_back(id.to_text() + ": A has " + of(first) + ", " + name_of(number) + " has " + of(other));
    }
  }

  // Whether a conflict over this unit leaves a trace of what lost.
  bool keeps_what_lost(UnitId unit) {
    for (const ItemType& type : devices_.front()->subject().store().schema().types) {
      const Unit* found = type.find_unit(unit);
      if (found == nullptr) continue;
      if (type.rule_of(*found) != ConflictRule::kLatest || found->recording != ConflictRecording::kRecorded) return false;
    }
    return true;
  }

  // No value that a user typed is gone without a trace, and none stands in two items.
  void check_typed() {
    std::map<TypedValue, std::set<ItemId>> standing;
    std::set<TypedValue> recorded;
    std::map<TypedValue, std::set<ItemId>> deleted;
    std::set<ItemId> decided_deletions;
    for (const auto& device : devices_) {
      note("items cannot be read", device->replica().scan([&](const StoredItem& stored) -> Result<Visit> {
        for (const UnitRegister& unit : stored.item.units) {
          auto& place = stored.item.alive() ? standing : deleted;
          place[{unit.unit, unit.content.value.to_text()}].insert(stored.item.id);
        }
        return Visit::kContinue;
      }));
      const auto records = device->replica().conflicts();
      note("conflict records cannot be read", records.status());
      if (!records.ok()) return;
      for (const ConflictRecord& record : *records) {
        recorded.insert({record.unit, record.lost.value.to_text()});
        recorded.insert({record.unit, record.kept.value.to_text()});
        if (record.unit == kExistenceUnit) decided_deletions.insert(record.item);
      }
    }
    for (const TypedValue& value : typed_.values) {
      if (!keeps_what_lost(value.first)) continue;
      const std::string text = "unit " + std::to_string(value.first) + ", " + value.second;
      const std::set<ItemId>& items = standing[value];
      if (items.size() > 1) findings_.push_back("doubled: " + text);
      const bool lost_to_deletion =
          std::ranges::any_of(deleted[value], [&](const ItemId& item) { return decided_deletions.contains(item); });
      if (items.empty() && !typed_.replaced.contains(value) && !recorded.contains(value) && !lost_to_deletion) {
        findings_.push_back("lost: " + text + (deleted[value].empty() ? "" : ", with its item, which is deleted"));
      }
    }
  }

  MeshReport report() {
    findings_.insert(findings_.end(), typed_.findings.begin(), typed_.findings.end());
    if (findings_.size() > kFindingsMax) findings_.resize(kFindingsMax);
    MeshReport report;
    report.findings = findings_;
    report.edits = typed_.edits;
    report.sessions = sessions_;
    report.failures = weather_.failures;
    report.items = items_;
    report.seed = options_.seed;
    return report;
  }

  const MeshOptions& options_;
  Weather weather_;
  Typed typed_;
  std::vector<std::unique_ptr<MeshDevice>> devices_;
  std::vector<std::string> findings_;
  std::uint64_t sessions_ = 0;
  std::uint64_t items_ = 0;
};

}  // namespace

std::string MeshReport::to_text() const {
  std::string text = "seed " + std::to_string(seed) + ": " + std::to_string(edits) + " edits, " + std::to_string(sessions) +
                     " sessions, " + std::to_string(failures) + " misfortunes, " + std::to_string(items) + " items, " +
                     (findings.empty() ? "nothing found" : std::to_string(findings.size()) + " findings");
  for (const std::string& finding : findings) text += "\n  " + finding;
  return text;
}

MeshReport run_mesh(const std::function<std::unique_ptr<StoreSubject>()>& make_store, const MeshOptions& options) {
  return Mesh(make_store, options).run();
}

}  // namespace harmonica::conformance
