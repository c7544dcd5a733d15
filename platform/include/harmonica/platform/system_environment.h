// The environment of a real machine.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "harmonica/extension/environment.h"

namespace harmonica::platform {

struct SystemEnvironmentOptions {
  // Where reservations are kept, a file a replica; made if missing. Outside of what a backup of the app's data restores.
  std::string reservations_directory;
  // Receives log lines; empty: they are dropped.
  std::function<void(LogLevel, std::string_view)> log;
};

// The system's clock, random numbers and hashes. Thread-safe if `log` is.
std::unique_ptr<Environment> make_system_environment(SystemEnvironmentOptions options);

// `$XDG_STATE_HOME/harmonica`, or `~/.local/state/harmonica`. not_found if neither variable is set.
Result<std::string> default_state_directory();

// What this machine is called; empty if it does not say.
std::string host_name();

// An executor with one thread of its own, started at the first task. The destructor waits for what runs.
std::unique_ptr<Executor> make_thread_executor();

}  // namespace harmonica::platform
