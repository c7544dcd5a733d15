// An environment for tests that look at one thing alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "harmonica/extension/environment.h"

namespace harmonica::kernel {

// A clock that stands still until it is set, numbers one after the other, a hash that is good enough for distinct ids.
class TestEnvironment : public Environment {
 public:
  explicit TestEnvironment(std::uint8_t seed) : seed_(seed) {}

  std::int64_t now_ms = 1'700'000'000'000;

  std::int64_t wall_clock_ms() override { return now_ms; }
  void randomize(std::span<std::uint8_t> bytes) override {
    for (std::uint8_t& byte : bytes) byte = seed_;
    // The first draw is the replica's id.
    if (!bytes.empty()) bytes.front() = static_cast<std::uint8_t>(seed_ + draws_++);
  }
  Sha256 sha256(ByteView bytes) override {
    Sha256 hash{};
    for (std::size_t lane = 0; lane < hash.size(); ++lane) {
      std::uint64_t state = 0xcbf29ce484222325u + lane;
      for (const std::uint8_t byte : bytes) state = (state ^ byte) * 0x100000001b3u;
      hash[lane] = static_cast<std::uint8_t>((state ^ state >> 29) * 0xbf58476d1ce4e5b9u >> 56);
    }
    return hash;
  }
  void log(LogLevel /*level*/, std::string_view /*line*/) override {}
  Result<std::optional<Tick>> reserved_tick(const ReplicaId& replica) override {
    const auto found = reserved_.find(replica);
    return found == reserved_.end() ? std::optional<Tick>() : std::optional(found->second);
  }
  Status set_reserved_tick(const ReplicaId& replica, Tick tick) override {
    reserved_[replica] = tick;
    return {};
  }

 private:
  std::uint8_t seed_;
  std::uint8_t draws_ = 0;
  std::map<ReplicaId, Tick> reserved_;
};

}  // namespace harmonica::kernel
