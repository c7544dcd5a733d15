// What every channel must do, whatever carries its bytes. An author registers the subject (channel_subject.h):
//
//   INSTANTIATE_TYPED_TEST_SUITE_P(My, ChannelContract, ::testing::Types<MySubject>);
//   INSTANTIATE_TYPED_TEST_SUITE_P(My, ChannelFailureContract, ::testing::Types<MySubject>);   // not within one process
//
// Needs GoogleTest and GoogleMock. Sessions over the channel, with losses and repetitions: run_mesh (mesh.h).
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "harmonica/conformance/channel_subject.h"
#include "harmonica/limits.h"

namespace harmonica::conformance {

// Answers what it was told to, or with the request itself, and keeps the last request. Thread-compatible.
class KeepingHandler : public RequestHandler {
 public:
  Bytes handle(ByteView request) override {
    ++requests;
    last_request.assign(request.begin(), request.end());
    return echoes ? last_request : answer;
  }

  bool echoes = true;
  Bytes answer;
  Bytes last_request;
  int requests = 0;
};

// Bytes without a pattern that a lost or doubled piece would leave as it is; every value is among them.
inline Bytes patterned(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>((i * 31 + (i >> 8) * 7 + (i >> 16)) & 0xff);
  return bytes;
}

// Around the sizes of packets, buffers and length fields, up to the largest message of the protocol.
inline std::vector<std::size_t> message_sizes() {
  return {1,
          2,
          127,
          128,
          255,
          256,
          1023,
          1024,
          1460,
          4095,
          4096,
          16383,
          16384,
          65535,
          65536,
          1000003,
          1 << 20,
          1 << 24,
          limits::kMessageBytesMax};
}

// `Subject` is a ChannelSubject that can be made without arguments.
template <typename Subject>
class ChannelContract : public ::testing::Test {
 protected:
  Bytes exchanged(const Bytes& request) {
    auto answer = channel_.exchange(request);
    EXPECT_TRUE(answer.ok()) << answer.status().to_text();
    return answer.ok() ? *std::move(answer) : Bytes{};
  }

  KeepingHandler handler_;
  Subject subject_;
  Channel& channel_ = subject_.connect(handler_);
};

TYPED_TEST_SUITE_P(ChannelContract);

TYPED_TEST_P(ChannelContract, ARequestOfEverySizeArrivesWhole) {
  this->handler_.echoes = false;
  this->handler_.answer = {1};
  for (const std::size_t size : message_sizes()) {
    const Bytes request = patterned(size);
    EXPECT_EQ(this->exchanged(request), Bytes{1});
    EXPECT_TRUE(this->handler_.last_request == request) << size << " bytes";
  }
}

TYPED_TEST_P(ChannelContract, AResponseOfEverySizeComesBackWhole) {
  this->handler_.echoes = false;
  for (const std::size_t size : message_sizes()) {
    this->handler_.answer = patterned(size);
    EXPECT_TRUE(this->exchanged({1}) == this->handler_.answer) << size << " bytes";
  }
}

TYPED_TEST_P(ChannelContract, EveryByteIsCarriedAsItIs) {
  for (int value = 0; value < 256; ++value) {
    const Bytes request = {static_cast<std::uint8_t>(value), 0, static_cast<std::uint8_t>(255 - value)};
    EXPECT_EQ(this->exchanged(request), request);
  }
}

TYPED_TEST_P(ChannelContract, EachResponseBelongsToItsRequest) {
  for (int number = 0; number < 300; ++number) {
    Bytes request = patterned(static_cast<std::size_t>(1 + number * 37 % 5000));
    request[0] = static_cast<std::uint8_t>(number);
    EXPECT_TRUE(this->exchanged(request) == request) << "request " << number;
  }
  EXPECT_GE(this->handler_.requests, 300);
}

TYPED_TEST_P(ChannelContract, TheNextExchangeMayRunOnAnotherThread) {
  // As when a batch is fetched ahead; never two at once.
  EXPECT_EQ(this->exchanged({1}), Bytes{1});
  std::thread([&] { EXPECT_EQ(this->exchanged({2}), Bytes{2}); }).join();
  EXPECT_EQ(this->exchanged({3}), Bytes{3});
}

REGISTER_TYPED_TEST_SUITE_P(ChannelContract, ARequestOfEverySizeArrivesWhole, AResponseOfEverySizeComesBackWhole,
                            EveryByteIsCarriedAsItIs, EachResponseBelongsToItsRequest,
                            TheNextExchangeMayRunOnAnotherThread);

// For transports whose peer can go away. The subject has to do what `stop_peer` and `lose_next_answer` say.
template <typename Subject>
class ChannelFailureContract : public ChannelContract<Subject> {};

TYPED_TEST_SUITE_P(ChannelFailureContract);
// A transport within one process has no use for it.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ChannelFailureContract);

TYPED_TEST_P(ChannelFailureContract, APeerThatIsNotThereIsUnavailable) {
  EXPECT_EQ(this->exchanged({1}), Bytes{1});
  this->subject_.stop_peer();
  for (int time = 0; time < 2; ++time) {
    const auto answer = this->channel_.exchange(Bytes{2});
    EXPECT_EQ(answer.status().code(), StatusCode::kUnavailable) << answer.status().to_text();
    EXPECT_FALSE(answer.status().message().empty());
  }
  EXPECT_EQ(this->handler_.last_request, Bytes{1});
}

TYPED_TEST_P(ChannelFailureContract, AnAnswerThatIsLostIsUnavailableOrComesFromTheSameRequestSentAgain) {
  EXPECT_EQ(this->exchanged({1}), Bytes{1});
  this->subject_.lose_next_answer();
  const auto lost = this->channel_.exchange(Bytes{2});
  if (lost.ok()) {
    EXPECT_EQ(*lost, Bytes{2});
  } else {
    EXPECT_EQ(lost.status().code(), StatusCode::kUnavailable) << lost.status().to_text();
  }
  EXPECT_EQ(this->handler_.last_request, Bytes{2});
  // The lost answer must not be taken for that of the next request.
  EXPECT_EQ(this->exchanged({3}), Bytes{3});
}

REGISTER_TYPED_TEST_SUITE_P(ChannelFailureContract, APeerThatIsNotThereIsUnavailable,
                            AnAnswerThatIsLostIsUnavailableOrComesFromTheSameRequestSentAgain);

}  // namespace harmonica::conformance
