// What the author of a transport writes: bytes out, bytes in.
#pragma once

#include "harmonica/bytes.h"
#include "harmonica/status.h"

namespace harmonica {

// The way to a peer. Thread-compatible.
class Channel {
 public:
  virtual ~Channel() = default;
  // Sends a request and returns its response. unavailable: the peer was not reached or no answer came; it may have handled
  // the request all the same. A request may be delivered more than once.
  virtual Result<Bytes> exchange(ByteView request) = 0;
};

// The peer's end of channels. Thread-compatible unless an implementation says more.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  // Always answers: an error is a response too.
  virtual Bytes handle(ByteView request) = 0;
};

}  // namespace harmonica
