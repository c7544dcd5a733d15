// What core needs of the machine it runs on, handed in so that core itself reads no clock and draws no random number.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "harmonica/bytes.h"
#include "harmonica/status.h"
#include "harmonica/version.h"

namespace harmonica {

using Sha256 = std::array<std::uint8_t, 32>;

enum class LogLevel : std::uint8_t { kDebug, kNotice, kWarning, kError };

// Clock, random numbers, hash, log and reservations. Must outlive whatever was given a reference to it. Calls come from the
// thread that runs the session; an implementation that several sessions share must be thread-safe.
class Environment {
 public:
  virtual ~Environment() = default;

  // Milliseconds since 1970-01-01 UTC; may jump either way.
  virtual std::int64_t wall_clock_ms() = 0;

  // Fills `bytes` with numbers that nobody can guess.
  virtual void randomize(std::span<std::uint8_t> bytes) = 0;

  virtual Sha256 sha256(ByteView bytes) = 0;

  // One line without its end. Must not call back into Harmonica.
  virtual void log(LogLevel level, std::string_view line) = 0;

  // The greatest tick that may have left the replica, kept outside the store and outside any backup of it (rule R30).
  // Nothing if there never was one. `set_reserved_tick` has made it durable when it returns.
  virtual Result<std::optional<Tick>> reserved_tick(const ReplicaId& replica) = 0;
  virtual Status set_reserved_tick(const ReplicaId& replica, Tick tick) = 0;
};

// Runs work beside the caller's thread. Core uses one only where it is given one, to fetch a batch while another is
// applied.
class Executor {
 public:
  // A piece of work that was started. Destroying it waits for its end.
  class Task {
   public:
    virtual ~Task() = default;
    // Returns when the work has ended.
    virtual void wait() = 0;
  };

  virtual ~Executor() = default;
  virtual std::unique_ptr<Task> start(std::function<void()> work) = 0;
};

}  // namespace harmonica
