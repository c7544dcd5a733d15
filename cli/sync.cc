// harmonica sync: sessions between the first store and each other one until a round changes nothing.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>

#include "commands.h"
#include "harmonica/extension/provider.h"
#include "output.h"
#include "progress_bar.h"
#include "trial_directory.h"

namespace harmonica::cli {
namespace {

// Two rounds bring everything everywhere; the others are for rules that mint.
constexpr int kRoundsMax = 6;

// Of a batch where the run is limited: so that it stops soon.
constexpr std::uint64_t kBatchBytesMax = 64 * 1024;

struct Session {
  std::size_t from = 0;
  std::size_t to = 0;
  SessionReport report;
};

class Synchronization {
 public:
  Synchronization(const SyncOptions& options, Environment& environment, std::vector<OpenStore> stores)
      : options_(options), environment_(environment), stores_(std::move(stores)), progress_(options.common.json) {}

  Status run() {
    HARMONICA_RETURN_IF_ERROR(run_rounds());
    for (const OpenStore& store : stores_) {
      HARMONICA_ASSIGN_OR_RETURN(const ReplicaStatus status, store.replica->status());
      statuses_.push_back(status);
    }
    return {};
  }

  int exit_code() const {
    if (stopped_ || !failed_.empty()) return kExitWaiting;
    return std::any_of(statuses_.begin(), statuses_.end(), waits) ? kExitWaiting : kExitDone;
  }

  void print_text() const {
    progress_.clear();
    SessionReport total;
    for (std::size_t store = 0; store < stores_.size(); ++store) {
      SessionReport sum;
      for (const Session& session : sessions_) {
        if (session.to == store) add(sum, session.report);
      }
      std::printf("%s: %llu created, %llu updated, %llu deleted, %llu conflicts\n", stores_[store].name.c_str(),
                  static_cast<unsigned long long>(sum.created), static_cast<unsigned long long>(sum.updated),
                  static_cast<unsigned long long>(sum.deleted), static_cast<unsigned long long>(sum.conflicts));
      if (sum.moved_out > 0) {
        std::printf("  %llu do not match its filter any more and are gone here, and nowhere else\n",
                    static_cast<unsigned long long>(sum.moved_out));
      }
      add(total, sum);
      if (sum.conflicts + sum.deferred > 0 && !options_.dry_run) {
        std::printf("  see what lost: harmonica conflicts list %s\n", stores_[store].name.c_str());
      }
    }
    for (const std::string& line : skipped_) std::printf("left alone: %s\n", display_text(line).c_str());
    for (const std::string& line : damaged_) std::printf("damaged: %s\n", display_text(line).c_str());
    for (const std::string& line : waiting()) std::printf("waiting: %s\n", display_text(line).c_str());
    if (options_.dry_run) {
      std::printf("nothing was written: this was a dry run\n");
      return;
    }
    std::printf("%s\n", stopped_                      ? "stopped at the limit: sync again to go on"
                        : exit_code() == kExitWaiting ? "done, but something waits for you"
                        : total.quiet()               ? "nothing to do: the stores were equal"
                                                      : "done");
  }

  void print_json() const {
    rapidjson::StringBuffer document;
    JsonWriter json(document);
    json.StartObject();
    member(json, "scope", sessions_.empty() ? std::string() : sessions_.front().report.scope);
    key(json, "dry_run");
    json.Bool(options_.dry_run);
    key(json, "stopped");
    json.Bool(stopped_);
    std::vector<std::string> names;
    for (const OpenStore& store : stores_) names.push_back(store.name);
    member(json, "stores", names);
    key(json, "sessions");
    json.StartArray();
    for (const Session& session : sessions_) write(json, session);
    json.EndArray();
    member(json, "left_alone", skipped_);
    member(json, "damaged", damaged_);
    member(json, "waiting", waiting());
    json.EndObject();
    print(document);
  }

 private:
  Status run_rounds() {
    for (OpenStore& store : stores_) {
      const Result<DetectionReport> detected = store.replica->detect();
      if (!detected.ok()) return detected.status().within(store.name);
      for (const std::string& skipped : detected->skipped) skipped_.push_back(store.name + ": " + skipped);
      for (const std::string& mended : detected->mended) {
        damaged_.push_back(store.name + ": " + mended + "; the next write mends it");
        environment_.log(LogLevel::kWarning, damaged_.back());
      }
    }
    HARMONICA_ASSIGN_OR_RETURN(std::vector<Knowledge> known, knowledge());
    for (int round = 0; round < kRoundsMax; ++round) {
      bool quiet = true;
      failed_.clear();
      for (std::size_t other = 1; other < stores_.size(); ++other) {
        HARMONICA_RETURN_IF_ERROR(run_both_ways(other, quiet));
      }
      // Conflict records go from store to store too, and count in no report.
      HARMONICA_ASSIGN_OR_RETURN(std::vector<Knowledge> now, knowledge());
      quiet = quiet && now == known;
      known = std::move(now);
      if (quiet || stopped_) return {};
      // One direction brings nothing back that a second round could carry on.
      if (options_.direction == Direction::kFromFirst) return {};
    }
    return {};
  }

  // Of each store.
  Result<std::vector<Knowledge>> knowledge() {
    std::vector<Knowledge> all;
    for (OpenStore& store : stores_) {
      HARMONICA_ASSIGN_OR_RETURN(ReplicaStatus status, store.replica->status());
      all.push_back(std::move(status.knowledge));
    }
    return all;
  }

  // A store that is new takes before it gives: until then it can still take over the ids and the order of the other.
  Status run_both_ways(std::size_t other, bool& quiet) {
    HARMONICA_ASSIGN_OR_RETURN(const ReplicaStatus first_status, stores_[0].replica->status());
    HARMONICA_ASSIGN_OR_RETURN(const ReplicaStatus other_status, stores_[other].replica->status());
    const bool other_joins = other_status.scope.empty() && !first_status.scope.empty();
    HARMONICA_RETURN_IF_ERROR(other_joins ? run_session(0, other, quiet) : run_session(other, 0, quiet));
    return other_joins ? run_session(other, 0, quiet) : run_session(0, other, quiet);
  }

  Status run_session(std::size_t from, std::size_t to, bool& quiet) {
    if (options_.direction == (to == 0 ? Direction::kFromFirst : Direction::kToFirst)) return {};
    if (stopped_) return {};
    SessionOptions options;
    if (options_.bytes_max > 0)
      options.batch_bytes_max = std::clamp<std::uint64_t>(options_.bytes_max / 4, 1, kBatchBytesMax);
    options.should_stop = [&](const SessionReport& report) { return is_spent(report.bytes_estimate); };
    options.on_conflict = options_.on_conflict;
    options.on_progress = [&](const SessionProgress& progress) {
      progress_.show(stores_[from].name + " -> " + stores_[to].name, progress);
    };
    SyncSession session(stores_[from].replica->provider(), stores_[to].replica->provider(), options);
    const Status status = session.run();
    sessions_.push_back({from, to, session.report()});
    if (!status.ok()) return status.within(stores_[from].name + " -> " + stores_[to].name);
    if (!changed_nothing(session.report())) quiet = false;
    bytes_ += session.report().bytes_estimate;
    // What is not needed to be equal does not matter: another session would have to bring something.
    stopped_ = session.report().stopped || (!quiet && is_spent(0));
    const OpenStore& source = stores_[from];
    for (const SessionReport::Failure& failure : session.report().failures) {
      const std::string path = item_path(*source.replica, source.replica->schema(), failure.item);
      failed_.insert(stores_[to].name + ": \"" + path + "\": " + failure.status.message());
    }
    return {};
  }

  // Whether the run has had what it may have.
  bool is_spent(std::uint64_t more_bytes) const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
    return (options_.bytes_max > 0 && bytes_ + more_bytes >= options_.bytes_max) ||
           (options_.seconds_max > 0 && spent.count() >= static_cast<double>(options_.seconds_max));
  }

  // What waits for a person or failed comes again in every session, and is no reason for another round.
  static bool changed_nothing(const SessionReport& report) {
    return report.created + report.updated + report.deleted + report.moved_out + report.minted == 0;
  }

  static void add(SessionReport& sum, const SessionReport& report) {
    sum.created += report.created;
    sum.updated += report.updated;
    sum.deleted += report.deleted;
    sum.moved_out += report.moved_out;
    sum.conflicts += report.conflicts;
    sum.deferred += report.deferred;
    sum.minted += report.minted;
    sum.failures.insert(sum.failures.end(), report.failures.begin(), report.failures.end());
  }

  // One line each, once, for what a person has to look at.
  std::vector<std::string> waiting() const {
    std::set<std::string> lines = failed_;
    // Also of earlier syncs.
    for (std::size_t store = 0; store < statuses_.size(); ++store) {
      const std::string& name = stores_[store].name;
      if (const std::uint64_t count = statuses_[store].conflicts_deferred; count > 0) {
        lines.insert(name + ": conflicts that wait for a decision: " + std::to_string(count) +
                     "; see harmonica conflicts list " + name);
      }
      if (const std::uint64_t count = statuses_[store].unwritten; count > 0) {
        lines.insert(name + ": items not yet written: " + std::to_string(count) + "; see harmonica status " + name);
      }
    }
    return {lines.begin(), lines.end()};
  }

  void write(JsonWriter& json, const Session& session) const {
    json.StartObject();
    member(json, "from", stores_[session.from].name);
    member(json, "to", stores_[session.to].name);
    member(json, "received", session.report.received);
    member(json, "created", session.report.created);
    member(json, "updated", session.report.updated);
    member(json, "deleted", session.report.deleted);
    member(json, "moved_out", session.report.moved_out);
    member(json, "conflicts", session.report.conflicts);
    member(json, "deferred", session.report.deferred);
    member(json, "failed", session.report.failures.size());
    member(json, "bytes", session.report.bytes_estimate);
    json.EndObject();
  }

  const SyncOptions& options_;
  Environment& environment_;
  std::vector<OpenStore> stores_;
  ProgressBar progress_;
  std::vector<Session> sessions_;
  std::set<std::string> failed_;         // in the last round, a line an item
  std::vector<ReplicaStatus> statuses_;  // afterwards, one a store
  std::vector<std::string> skipped_;
  std::vector<std::string> damaged_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::uint64_t bytes_ = 0;
  bool stopped_ = false;  // at a limit
};

// A number, true, false, bytes or a text between quotes as in the filter; else the text as it stands.
FilterParameter parameter_of(const std::string& word) {
  const std::size_t equals = word.find('=');
  FilterParameter parameter;
  parameter.name = word.substr(0, equals);
  const std::string text = equals == std::string::npos ? std::string() : word.substr(equals + 1);
  parameter.value = filter_literal(text).value_or(Value::text(text));
  return parameter;
}

// The filter that is asked for belongs to the first store.
Status set_filter(const SyncOptions& options, Replica& first) {
  if (!options.filter) return {};
  if (options.filter->empty()) return first.set_filter(std::nullopt);
  std::vector<FilterParameter> parameters;
  for (const std::string& word : options.parameters) parameters.push_back(parameter_of(word));
  HARMONICA_ASSIGN_OR_RETURN(const Filter filter, Filter::parse(*options.filter, std::move(parameters)));
  return first.set_filter(filter);
}

int sync_stores(const SyncOptions& options) {
  Result<std::unique_ptr<Environment>> environment = make_environment(options.common);
  if (!environment.ok()) return fail(options.common, environment.status());
  std::vector<OpenStore> stores;
  for (const std::string& name : options.stores) {
    Result<OpenStore> store = open_store(name, options.common, **environment);
    if (!store.ok()) return fail(options.common, store.status());
    for (const OpenStore& other : stores) {
      if (is_same_file(other, *store)) {
        return refuse(options.common, other.name + " and " + store->name + " are the same file; name different stores");
      }
    }
    stores.push_back(*std::move(store));
  }
  if (!options.filter && !options.parameters.empty()) {
    return refuse(options.common, "--param gives a value to a name in --filter, which is not there");
  }
  if (const Status status = set_filter(options, *stores.front().replica); !status.ok()) {
    return status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kLimitExceeded
               ? refuse(options.common, status.message())
               : fail(options.common, status.within(stores.front().name));
  }
  Synchronization synchronization(options, **environment, std::move(stores));
  if (const Status status = synchronization.run(); !status.ok()) return fail(options.common, status);
  if (options.common.json) {
    synchronization.print_json();
  } else {
    synchronization.print_text();
  }
  return synchronization.exit_code();
}

}  // namespace

int run_sync(const SyncOptions& given) {
  SyncOptions options = given;
  std::optional<TrialDirectory> trial;  // outlives the stores
  if (options.dry_run) {
    Result<TrialDirectory> made = TrialDirectory::make();
    if (!made.ok()) return fail(options.common, made.status());
    options.common.trial_directory = trial.emplace(*std::move(made)).path();
  }
  return sync_stores(options);
}

}  // namespace harmonica::cli
