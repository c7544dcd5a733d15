// A channel that loses, doubles and delays what passes through it.
#pragma once

#include <deque>

#include "harmonica/extension/channel.h"
#include "simulation/device.h"

namespace harmonica::simulation {

struct Link {
  std::size_t first = 0;
  std::size_t second = 0;
  bool remote = false;  // sessions go through a channel; otherwise from provider to provider
  bool down = false;
};

// Requests that are still on their way to one device.
using Delayed = std::deque<Bytes>;

class SimulatedChannel final : public Channel {
 public:
  SimulatedChannel(SharedWorld& world, Device& far, const Link& link, Delayed& delayed)
      : world_(world), far_(far), link_(link), delayed_(delayed) {}

  Result<Bytes> exchange(ByteView request) override;

 private:
  bool reachable() const { return !link_.down && far_.running() && !far_.power().dead(); }
  static Status unreachable() { return Status(StatusCode::kUnavailable, "no answer from the peer"); }

  SharedWorld& world_;
  Device& far_;
  const Link& link_;
  Delayed& delayed_;
};

}  // namespace harmonica::simulation
