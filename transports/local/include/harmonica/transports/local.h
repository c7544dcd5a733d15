// A channel within one process: a direct call.
#pragma once

#include "harmonica/extension/channel.h"

namespace harmonica::transports {

// Hands each request to `handler` on the caller's thread. The handler must outlive the channel. Thread-compatible.
class LocalChannel : public Channel {
 public:
  explicit LocalChannel(RequestHandler& handler) : handler_(handler) {}

  Result<Bytes> exchange(ByteView request) override { return handler_.handle(request); }

 private:
  RequestHandler& handler_;
};

}  // namespace harmonica::transports
