// Several replicas with stores on trial, edited and synchronized at random, from one seed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harmonica/conformance/store_subject.h"
#include "harmonica/extension/channel.h"
#include "harmonica/replica.h"

namespace harmonica::conformance {

// Chances of 1000, each at every occasion. All 0: calm weather.
struct MeshMisfortunes {
  int store_unreadable = 30;   // an enumeration fails
  int store_unwritable = 30;   // an apply fails before anything was written
  int interrupted_write = 50;  // an apply fails after everything was written, as in a power cut
  int user_types = 200;        // a user edits the store just before a write
  int session_killed = 30;     // at each step of a session
  int request_lost = 20;       // over a channel
  int answer_lost = 20;
  int request_doubled = 50;
  int restarted = 50;  // at each step of the run: a store and its replica are opened anew
};

struct MeshOptions {
  std::uint64_t seed = 1;  // the same seed, the same run, if the store has no chance or time of its own
  std::size_t replicas = 3;
  std::size_t steps = 120;  // edits, sessions and restarts
  MeshMisfortunes misfortunes;
  ReplicaOptions replica_options;  // an app's own rule, where the schema needs one; the guard is confirmed
  // The transport on trial; the handler outlives the channel. Empty: half of the sessions have a direct call for a channel,
  // the others none.
  std::function<std::unique_ptr<Channel>(RequestHandler&)> connect;
};

struct MeshReport {
  std::vector<std::string> findings;  // what went wrong, a line each; empty: nothing
  std::uint64_t edits = 0;
  std::uint64_t sessions = 0;  // that came to their end before the weather was calm
  std::uint64_t failures = 0;  // misfortunes that struck
  std::uint64_t items = 0;     // that stand in each store in the end

  // The findings, and the seed that shows them again; one line where there are none.
  std::string to_text() const;
  std::uint64_t seed = 0;
};

// Makes an empty store for each replica, runs, then lets everybody meet in calm weather until nothing moves. Found are:
// stores that differ in the end; an item that stands twice in one store, or that the store holds otherwise than
// Harmonica wrote it; a value that a user typed and that is neither there nor in a conflict record, though nobody who saw
// it replaced or removed it; a mesh that does not become quiet, or in which a second round still moves something.
//
// Users edit through `apply` with what a fresh enumeration told, so the store must name its items by itself. Units whose
// conflicts wait for a person do not become equal here. It is a part of Harmonica's own simulator, which has more
// misfortunes and laws, but only knows the store in memory (docs/testing.md). Thread-compatible.
MeshReport run_mesh(const std::function<std::unique_ptr<StoreSubject>()>& make_store, const MeshOptions& options);

}  // namespace harmonica::conformance
