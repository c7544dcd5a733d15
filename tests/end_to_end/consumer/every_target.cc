// Uses a little of each library, so that what it is linked with must be complete.
#include <iostream>

#include "harmonica/extension/remote.h"
#include "harmonica/harmonica.h"
#include "harmonica/platform/crypto.h"
#include "harmonica/providers/memory.h"
#include "harmonica/providers/metadata.h"
#include "harmonica/providers/records.h"
#include "harmonica/transports/local.h"
#ifdef WITH_FAVORITES
#include "harmonica/providers/favorites.h"
#endif

namespace {

using namespace harmonica;

class Echo : public RequestHandler {
 public:
  Bytes handle(ByteView request) override { return Bytes(request.begin(), request.end()); }
};

bool run() {
  Echo echo;
  transports::LocalChannel channel(echo);
  const auto answer = channel.exchange(as_bytes("hello"));
  if (!answer.ok() || as_text(*answer) != "hello") return false;
  const auto remote = make_remote_provider(channel, {});
  if (remote->begin_destination({}).ok()) return false;  // an echo is no peer

  const auto metadata = providers::open_sqlite_metadata(":memory:");
  if (!metadata.ok() || providers::make_memory_metadata() == nullptr) return false;
  if (providers::is_records({}) || providers::list_records("/nowhere/at/all").ok()) return false;
#ifdef WITH_FAVORITES
  if (!providers::favorites_schema().validate().ok()) return false;
  if (providers::open_favorites("/", {}).ok()) return false;
#endif
  return to_hex(platform::sha256(as_bytes(""))).starts_with("e3b0c442");
}

}  // namespace

int main() {
  if (run()) return 0;
  std::cerr << "a library does not do what it should\n";
  return 1;
}
