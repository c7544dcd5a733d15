// A transport on trial: what the contracts need of it.
#pragma once

#include "harmonica/extension/channel.h"

namespace harmonica::conformance {

// Made anew for each test; ends the listener, if there is one, when it is destroyed. Thread-compatible.
class ChannelSubject {
 public:
  virtual ~ChannelSubject() = default;

  // A listener that hands requests to `handler`, and the channel to it. Once for each subject. The handler outlives the
  // subject; the subject owns the channel.
  virtual Channel& connect(RequestHandler& handler) = 0;

  // Only for ChannelFailureContract. From now on the peer is not there.
  virtual void stop_peer() {}
  // The handler's answer to the next request does not come back.
  virtual void lose_next_answer() {}
};

}  // namespace harmonica::conformance
