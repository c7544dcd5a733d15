// Whatever arrives, the endpoint answers with a response that can be read, twice the same, and its provider sees calls in
// order.

#include <string>

#include "fuzz/messages_in_input.h"
#include "harmonica/assert.h"
#include "harmonica/extension/remote.h"
#include "support/scripted_provider.h"
#include "support/shorthand.h"
#include "wire/codec.h"

namespace harmonica {
namespace {

ChangeBatch batch(const ItemIdRange& range) {
  ChangeBatch batch;
  batch.source.replica = shorthand::replica('S');
  batch.destination = shorthand::replica('D');
  batch.range = range;
  batch.last = range.last == last_item_id();
  batch.made_with = Knowledge(shorthand::vector("{S:9}")).project(range);
  return batch;
}

bool is_begin(const std::string& call) { return call.starts_with("begin"); }

// begin, batches, end; and again.
void check_order(const std::vector<std::string>& calls) {
  bool is_open = false;
  for (const std::string& call : calls) {
    HARMONICA_ASSERT(is_open != is_begin(call));
    is_open = call != "end";
  }
}

void run(ByteView input) {
  ScriptedProvider provider;
  provider.description.replica = shorthand::replica('S');
  provider.request.destination.replica = shorthand::replica('D');
  provider.batches = {batch({kFirstItemId, shorthand::item(9)}), batch({shorthand::item(10), last_item_id()})};
  const auto endpoint = make_provider_endpoint(provider);
  MessagesInInput messages(input);
  while (const auto request = messages.next()) {
    const Bytes response = endpoint->handle(*request);
    HARMONICA_ASSERT(wire::decode_response(response).ok());
    const std::size_t calls = provider.calls.size();
    const Bytes again = endpoint->handle(*request);
    HARMONICA_ASSERT(again == response);
    HARMONICA_ASSERT(provider.calls.size() == calls);
  }
  check_order(provider.calls);
}

}  // namespace
}  // namespace harmonica

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  harmonica::run({data, size});
  return 0;
}
