// Whatever a peer answers, each call of a remote provider ends with a value or an error.

#include "fuzz/messages_in_input.h"
#include "harmonica/assert.h"
#include "harmonica/extension/remote.h"
#include "support/shorthand.h"

namespace harmonica {
namespace {

class InputChannel : public Channel {
 public:
  explicit InputChannel(ByteView input) : messages_(input) {}

  Result<Bytes> exchange(ByteView) override {
    const auto message = messages_.next();
    if (!message) return Status(StatusCode::kUnavailable, "no answer came");
    return Bytes(message->begin(), message->end());
  }

 private:
  MessagesInInput messages_;
};

void run(ByteView input) {
  InputChannel channel(input);
  const auto provider = make_remote_provider(channel, {});
  ChangeRequest request;
  request.destination.replica = shorthand::replica('D');
  request.number = 1;
  if (provider->begin_source(request).ok()) {
    for (const ItemId& first : {kFirstItemId, shorthand::item(10)}) {
      const auto batch = provider->get_change_batch(first);
      HARMONICA_ASSERT(!batch.ok() || batch->range.first <= batch->range.last);
    }
  }
  static_cast<void>(provider->end());
  if (provider->begin_destination({}).ok()) {
    ChangeBatch batch;
    batch.range = ItemIdRange::all();
    static_cast<void>(provider->process_change_batch(batch));
  }
  static_cast<void>(provider->end());
}

}  // namespace
}  // namespace harmonica

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  harmonica::run({data, size});
  return 0;
}
