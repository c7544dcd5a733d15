// A remote peer is a provider behind a channel. docs/protocol.md specifies what passes between the two ends.
#pragma once

#include <memory>

#include "harmonica/extension/channel.h"
#include "harmonica/extension/environment.h"
#include "harmonica/extension/provider.h"

namespace harmonica {

struct RemoteProviderOptions {
  Executor* executor = nullptr;  // to fetch a batch while another is applied; nullptr: batches come one after the other
};

// The near end: a provider that forwards every call. The channel, and the executor if any, must outlive it.
// unavailable and whatever else the channel returns are passed on; unsupported names both protocol versions.
std::unique_ptr<Provider> make_remote_provider(Channel& channel, const RemoteProviderOptions& options);

// The far end: answers requests with `provider`, which must outlive it. One session at a time; a new one ends the one
// before. A request that arrives twice is answered with the same response and handled once. Thread-compatible.
std::unique_ptr<RequestHandler> make_provider_endpoint(Provider& provider);

}  // namespace harmonica
