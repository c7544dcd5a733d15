// One-way sessions, and the two-way synchronization made of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harmonica/ids.h"
#include "harmonica/status.h"

namespace harmonica {

class Provider;
struct BatchReport;

// For one session, instead of the rules in the schema.
enum class OnConflict : std::uint8_t {
  kAsInSchema,
  kManual,  // leave every conflicting item for a person
  // For every unit; whether a deleted item lives stays with its deletion rule.
  kLatest,
  kSourceWins,
  kDestinationWins,
};

enum class SessionStage : std::uint8_t { kDetecting, kTransferring, kWriting, kDone };

// How far a session is. The totals are estimates until it is done.
struct SessionProgress {
  SessionStage stage = SessionStage::kDetecting;
  std::uint64_t changes_done = 0;
  std::uint64_t changes_total_estimate = 0;
};

struct SessionReport;

struct SessionOptions {
  OnConflict on_conflict = OnConflict::kAsInSchema;
  std::uint64_t batch_bytes_max = 0;  // 0: the default in limits.h
  // Called on the session's thread between batches; empty: not called.
  std::function<void(const SessionProgress&)> on_progress;
  // Asked between batches, on the session's thread: whether to stop here because enough time, bytes or battery is spent.
  // What came so far is written and learned, and the next session goes on from there. A store that is written whole is not
  // stopped before it has met its first peer once. Empty: never.
  std::function<bool(const SessionReport&)> should_stop;
};

// What one session did at the destination. An item that failed is named, and its status says why; it is
// offered again next time. `received` counts all that came, conflict records too; `created`, `updated`, `deleted`,
// `moved_out` and `minted` speak of other items only.
struct SessionReport {
  ScopeName scope;
  ReplicaId source;
  ReplicaId destination;
  std::uint64_t batches = 0;
  std::uint64_t received = 0;
  std::uint64_t created = 0;
  std::uint64_t updated = 0;
  std::uint64_t deleted = 0;
  std::uint64_t moved_out = 0;  // no longer match the destination's filter: gone here, and nowhere else
  std::uint64_t unchanged = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t deferred = 0;
  std::uint64_t minted = 0;
  std::uint64_t bytes_estimate = 0;  // of the changes received, about
  bool stopped = false;              // by `should_stop`, before all changes were received
  struct Failure {
    ItemId item;
    Status status;
  };
  std::vector<Failure> failures;

  // Whether the destination was left exactly as it was, but for conflict records that it has learned of.
  bool quiet() const {
    return created + updated + deleted + moved_out + conflicts + deferred + minted == 0 && failures.empty();
  }
};

enum class StepState : std::uint8_t { kMore, kDone };

// One direction, one scope, used once: carries what `destination` lacks from `source`. Both must outlive it. What a batch
// taught stays, however the session ends; the next one goes on from there. Thread-compatible: one session, one thread.
class SyncSession {
 public:
  SyncSession(Provider& source, Provider& destination, SessionOptions options);
  ~SyncSession();
  SyncSession(const SyncSession&) = delete;
  SyncSession& operator=(const SyncSession&) = delete;

  // Does one bounded piece of work: the beginning, one batch, or the end. After kDone or an error only `report` may be
  // called.
  Result<StepState> step();

  // Steps until done.
  Status run();

  // From a progress callback or between steps: the next step writes what was received and ends with cancelled.
  void cancel();

  const SessionReport& report() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

struct SynchronizeReport {
  SessionReport to_first;   // second -> first
  SessionReport to_second;  // first -> second
};

// Two one-way sessions: first learns from second, then second from first. Let one that is new go first: until it gives, it
// takes over the ids and the order that the other one has (docs/adr/0011).
Result<SynchronizeReport> synchronize(Provider& first, Provider& second, const SessionOptions& options);

}  // namespace harmonica
