#include "simulation/simulated_channel.h"

namespace harmonica::simulation {

Result<Bytes> SimulatedChannel::exchange(ByteView request) {
  Random& random = world_.random;
  const Misfortunes& misfortunes = world_.misfortunes;
  if (!reachable()) return unreachable();
  if (random.chance(misfortunes.request_lost)) {
    world_.tell("    request lost");
    return unreachable();
  }
  if (!delayed_.empty() && random.chance(300)) {
    world_.tell("    an old request arrives at " + far_.name());
    far_.endpoint().handle(delayed_.front());
    delayed_.pop_front();
    if (!reachable()) return unreachable();
  }
  Bytes response = far_.endpoint().handle(request);
  if (!reachable()) return unreachable();
  if (random.chance(misfortunes.request_duplicated)) {
    world_.tell("    request arrives twice");
    const Bytes again = far_.endpoint().handle(request);
    if (!reachable()) return unreachable();
    if (again != response) world_.fail("a request that arrived twice was answered in two ways by " + far_.name());
  }
  if (random.chance(misfortunes.request_delayed)) delayed_.emplace_back(request.begin(), request.end());
  if (random.chance(misfortunes.response_lost)) {
    world_.tell("    response lost");
    return unreachable();
  }
  return response;
}

}  // namespace harmonica::simulation
