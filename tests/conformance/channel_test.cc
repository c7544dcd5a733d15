#include "harmonica/conformance/channel_contract.h"

#include <optional>

#include "harmonica/transports/local.h"

namespace harmonica::conformance {
namespace {

class LocalSubject : public ChannelSubject {
 public:
  Channel& connect(RequestHandler& handler) override { return channel_.emplace(handler); }

 private:
  std::optional<transports::LocalChannel> channel_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Local, ChannelContract, ::testing::Types<LocalSubject>);

// A local channel that can be cut, to try the contract itself: no transport of the project has a peer that goes away yet.
class CutSubject : public ChannelSubject, private Channel {
 public:
  Channel& connect(RequestHandler& handler) override {
    handler_ = &handler;
    return *this;
  }
  void stop_peer() override { handler_ = nullptr; }
  void lose_next_answer() override { loses_answer_ = true; }

 private:
  Result<Bytes> exchange(ByteView request) override {
    if (handler_ == nullptr) return Status(StatusCode::kUnavailable, "the peer is not there");
    Bytes answer = handler_->handle(request);
    if (std::exchange(loses_answer_, false)) return Status(StatusCode::kUnavailable, "no answer came");
    return answer;
  }

  RequestHandler* handler_ = nullptr;
  bool loses_answer_ = false;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Cut, ChannelContract, ::testing::Types<CutSubject>);
INSTANTIATE_TYPED_TEST_SUITE_P(Cut, ChannelFailureContract, ::testing::Types<CutSubject>);

}  // namespace
}  // namespace harmonica::conformance
