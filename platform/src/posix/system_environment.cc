#include "harmonica/platform/system_environment.h"

#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "harmonica/platform/crypto.h"
#include "harmonica/platform/file_system.h"

namespace harmonica::platform {
namespace {

// A reservation is some 90 bytes; anything much larger is not one.
constexpr std::uint64_t kReservationBytesMax = 4096;

std::string reservation_text(const ReplicaId& replica, Tick tick) {
  std::string line = "harmonica-reservation 1 " + replica.to_text() + " " + std::to_string(tick) + " ";
  const Sha256 check = sha256(as_bytes(line));
  line += to_hex(ByteView(check).first(8));
  line += '\n';
  return line;
}

// The tick of a line that is exactly what would be written for it.
std::optional<Tick> parse_reservation(const ReplicaId& replica, std::string_view text) {
  const std::string head = "harmonica-reservation 1 " + replica.to_text() + " ";
  if (!text.starts_with(head)) return std::nullopt;
  const char* const first = text.data() + head.size();
  Tick tick = 0;
  if (std::from_chars(first, text.data() + text.size(), tick).ec != std::errc()) return std::nullopt;
  if (text != reservation_text(replica, tick)) return std::nullopt;
  return tick;
}

class SystemEnvironment final : public Environment {
 public:
  explicit SystemEnvironment(SystemEnvironmentOptions options) : options_(std::move(options)) {}

  std::int64_t wall_clock_ms() override {
    using std::chrono::duration_cast, std::chrono::milliseconds, std::chrono::system_clock;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  }

  void randomize(std::span<std::uint8_t> bytes) override { random_bytes(bytes); }

  Sha256 sha256(ByteView bytes) override { return platform::sha256(bytes); }

  void log(LogLevel level, std::string_view line) override {
    if (options_.log) options_.log(level, line);
  }

  Result<std::optional<Tick>> reserved_tick(const ReplicaId& replica) override {
    const std::lock_guard lock(mutex_);
    const std::string path = path_of(replica);
    const auto content = read_file(path, kReservationBytesMax);
    if (content.status().code() == StatusCode::kNotFound) return std::optional<Tick>();
    if (content.status().code() == StatusCode::kLimitExceeded) return damaged(path);
    if (!content.ok()) return content.status().within("reservation");
    const auto tick = parse_reservation(replica, as_text(content->bytes));
    if (!tick) return damaged(path);
    return tick;
  }

  Status set_reserved_tick(const ReplicaId& replica, Tick tick) override {
    const std::lock_guard lock(mutex_);
    HARMONICA_RETURN_IF_ERROR(create_directories(options_.reservations_directory).within("reservations"));
    return replace_file(path_of(replica), as_bytes(reservation_text(replica, tick))).within("reservation");
  }

 private:
  std::string path_of(const ReplicaId& replica) const { return options_.reservations_directory + "/" + replica.to_text(); }

  static Status damaged(const std::string& path) {
    return Status(
        StatusCode::kCorruption,
        "reservation " + path + " is damaged; move it away, and the replica will be treated as restored from a backup");
  }

  const SystemEnvironmentOptions options_;
  std::mutex mutex_;
};

}  // namespace

std::unique_ptr<Environment> make_system_environment(SystemEnvironmentOptions options) {
  return std::make_unique<SystemEnvironment>(std::move(options));
}

std::string host_name() {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 ? std::string(name) : std::string();
}

Result<std::string> default_state_directory() {
  // Relative values are to be ignored, says the XDG base directory specification.
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return std::string(state) + "/harmonica";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] != '\0') return std::string(home) + "/.local/state/harmonica";
  return Status(StatusCode::kNotFound, "no place for state: neither XDG_STATE_HOME nor HOME is set; name one with --state");
}

}  // namespace harmonica::platform
