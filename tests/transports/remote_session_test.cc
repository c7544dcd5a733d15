// A provider behind a channel behaves like the provider itself, whatever the channel does to its messages.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "harmonica/extension/remote.h"
#include "harmonica/limits.h"
#include "harmonica/transports/local.h"
#include "support/scripted_provider.h"
#include "support/shorthand.h"
#include "wire/codec.h"

namespace harmonica {
namespace {

using shorthand::item;
using shorthand::replica;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Remembers every message and may do something else than deliver it.
class ObservedChannel : public Channel {
 public:
  explicit ObservedChannel(RequestHandler& handler) : direct_(handler) {}

  std::vector<Bytes> requests;
  std::vector<Bytes> responses;
  std::function<Result<Bytes>(Channel& direct, ByteView request)> on_exchange;

  Result<Bytes> exchange(ByteView request) override {
    requests.emplace_back(request.begin(), request.end());
    auto response = on_exchange ? on_exchange(direct_, request) : direct_.exchange(request);
    if (response.ok()) responses.push_back(*response);
    return response;
  }

 private:
  transports::LocalChannel direct_;
};

Status lost() { return {StatusCode::kUnavailable, "no answer came"}; }

// Loses the response of the next exchange, or the request already.
void lose_next_response(ObservedChannel& channel) {
  channel.on_exchange = [&channel](Channel& direct, ByteView request) -> Result<Bytes> {
    static_cast<void>(direct.exchange(request));
    channel.on_exchange = nullptr;
    return lost();
  };
}
void lose_next_request(ObservedChannel& channel) {
  channel.on_exchange = [&channel](Channel&, ByteView) -> Result<Bytes> {
    channel.on_exchange = nullptr;
    return lost();
  };
}

class ThreadExecutor : public Executor {
 public:
  std::unique_ptr<Task> start(std::function<void()> work) override { return std::make_unique<ThreadTask>(std::move(work)); }

 private:
  class ThreadTask : public Task {
   public:
    explicit ThreadTask(std::function<void()> work) : thread_(std::move(work)) {}
    ~ThreadTask() override { wait(); }
    void wait() override {
      if (thread_.joinable()) thread_.join();
    }

   private:
    std::thread thread_;
  };
};

class RemoteSession : public ::testing::Test {
 protected:
  RemoteSession() {
    far_.description = {replica('S'), "notes", 7, 1'700'000'000'000};
    far_.request.destination = {replica('D'), "notes", 7, 1'700'000'000'001};
    far_.request.knowledge = shorthand::knowledge("{A:5,B:3}|i7:{A:2}");
    far_.request.wanted_whole = {item(3)};
    far_.request.batch_bytes_max = 1000;
    far_.batch_report.received = 2;
    far_.batch_report.failures = {{item(4), Status(StatusCode::kIo, "item 4: disk full")}};
    far_.end_report.updated = 9;
    far_.batches = {batch(kFirstItemId, item(9)), batch(item(10), item(19)), batch(item(20), last_item_id())};
  }

  static ChangeBatch batch(const ItemId& first, const ItemId& last) {
    ChangeBatch batch;
    batch.source = {replica('S'), "notes", 7, 1'700'000'000'000};
    batch.destination = replica('D');
    batch.request_number = 1;
    batch.range = {first, last};
    ItemChange change;
    change.item = first.is_zero() ? item(1) : first;
    change.type = 2;
    change.existence.version = shorthand::version("S5");
    change.units = {{1, {shorthand::version("S6"), Value::text("hello"), Origin::kWritten}}};
    batch.changes = {change};
    batch.made_with = Knowledge(shorthand::vector("{S:9}")).project(batch.range);
    batch.last = last == last_item_id();
    batch.changes_left_estimate = 2;
    return batch;
  }

  static ChangeRequest request_number(std::uint64_t number, char destination = 'D') {
    ChangeRequest request;
    request.destination.replica = replica(destination);
    request.number = number;
    request.knowledge = shorthand::knowledge("{A:1}");
    request.batch_bytes_max = 500;
    return request;
  }

  static std::unique_ptr<Provider> client(Channel& channel) { return make_remote_provider(channel, {}); }

  // A whole session from the far source.
  static void pull(Provider& source, std::uint64_t number) {
    ASSERT_TRUE(source.begin_source(request_number(number)).ok());
    for (const ItemId& first : {kFirstItemId, item(10), item(20)}) ASSERT_TRUE(source.get_change_batch(first).ok());
    ASSERT_TRUE(source.end().ok());
  }

  // A whole session to the far destination.
  static void push(Provider& destination) {
    ASSERT_TRUE(destination.begin_destination({}).ok());
    ASSERT_TRUE(destination.process_change_batch(batch(kFirstItemId, item(9))).ok());
    ASSERT_TRUE(destination.process_change_batch(batch(item(10), last_item_id())).ok());
    ASSERT_TRUE(destination.end().ok());
  }

  static std::vector<std::string> pull_calls() {
    return {"begin_source", "get_change_batch", "get_change_batch", "get_change_batch", "end"};
  }
  static std::vector<std::string> push_calls() {
    return {"begin_destination", "process_change_batch", "process_change_batch", "end"};
  }

  ScriptedProvider far_;
  std::unique_ptr<RequestHandler> endpoint_ = make_provider_endpoint(far_);
  ObservedChannel channel_{*endpoint_};
  std::unique_ptr<Provider> near_ = client(channel_);
};

TEST_F(RemoteSession, ASourceIsAskedForTheSameAndAnswersTheSame) {
  const auto description = near_->begin_source(request_number(1));
  ASSERT_TRUE(description.ok()) << description.status().to_text();
  EXPECT_EQ(*description, far_.description);
  EXPECT_EQ(far_.last_request, request_number(1));
  for (const ChangeBatch& expected : far_.batches) {
    const auto received = near_->get_change_batch(expected.range.first);
    ASSERT_TRUE(received.ok()) << received.status().to_text();
    EXPECT_EQ(*received, expected);
  }
  const auto report = near_->end();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(*report, far_.end_report);
  EXPECT_EQ(far_.calls, pull_calls());
  EXPECT_EQ(channel_.requests.size(), 3u);  // the first batch comes with the begin, the end with the last one
}

TEST_F(RemoteSession, ASourceWithoutChangesIsOneRoundTrip) {
  far_.batches = {batch(kFirstItemId, last_item_id())};
  ASSERT_TRUE(near_->begin_source(request_number(1)).ok());
  ASSERT_TRUE(near_->get_change_batch(kFirstItemId).ok());
  ASSERT_TRUE(near_->end().ok());
  EXPECT_EQ(channel_.requests.size(), 1u);
  EXPECT_THAT(far_.calls, ElementsAre("begin_source", "get_change_batch", "end"));
}

TEST_F(RemoteSession, ADestinationIsAskedForTheSameAndAnswersTheSame) {
  const ApplyOptions options{OnConflict::kManual, 12345};
  const auto request = near_->begin_destination(options);
  ASSERT_TRUE(request.ok()) << request.status().to_text();
  EXPECT_EQ(*request, far_.request);
  EXPECT_EQ(far_.last_options, options);
  const ChangeBatch sent = batch(kFirstItemId, last_item_id());
  const auto report = near_->process_change_batch(sent);
  ASSERT_TRUE(report.ok()) << report.status().to_text();
  EXPECT_EQ(*report, far_.batch_report);
  EXPECT_THAT(far_.processed, ElementsAre(sent));
  const auto end = near_->end();
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(*end, far_.end_report);
}

TEST_F(RemoteSession, OnlyTheFirstSessionWithADestinationCostsARoundTripMore) {
  push(*near_);
  EXPECT_EQ(channel_.requests.size(), 5u);
  push(*near_);
  EXPECT_EQ(channel_.requests.size(), 9u);
}

TEST_F(RemoteSession, EveryErrorPassesWithItsCodeAndMessage) {
  for (int code = 1; code <= static_cast<int>(StatusCode::kInternal); ++code) {
    const Status error(static_cast<StatusCode>(code), "thing " + std::to_string(code) + ": what happened");
    far_.errors = {{"begin_source", error}, {"begin_destination", error}};
    EXPECT_EQ(near_->begin_source(request_number(static_cast<std::uint64_t>(code))).status(), error);
    EXPECT_EQ(near_->begin_destination({}).status(), error);
  }
  const Status error(StatusCode::kIo, "disk: gone");
  far_.errors.clear();
  ASSERT_TRUE(near_->begin_source(request_number(100)).ok());
  far_.errors = {{"get_change_batch", error}, {"process_change_batch", error}, {"end", error}};
  EXPECT_EQ(near_->get_change_batch(item(10)).status(), error);
  EXPECT_EQ(near_->end().status(), error);
  ASSERT_TRUE(near_->begin_destination({}).ok());
  EXPECT_EQ(near_->process_change_batch(batch(kFirstItemId, last_item_id())).status(), error);
  EXPECT_EQ(near_->end().status(), error);
}

TEST_F(RemoteSession, AnErrorOfTheFirstBatchIsAnErrorOfTheBeginAndTheFarSideIsEnded) {
  far_.errors = {{"get_change_batch", Status(StatusCode::kIo, "disk: gone")}};
  EXPECT_EQ(near_->begin_source(request_number(1)).status(), far_.errors["get_change_batch"]);
  EXPECT_THAT(far_.calls, ElementsAre("begin_source", "get_change_batch", "end"));
  EXPECT_TRUE(near_->end().ok());
  EXPECT_EQ(channel_.requests.size(), 1u);
}

TEST_F(RemoteSession, ARequestDeliveredTwiceIsHandledOnce) {
  channel_.on_exchange = [](Channel& direct, ByteView request) {
    const auto first = direct.exchange(request);
    const auto second = direct.exchange(request);
    EXPECT_EQ(*first, *second);
    return second;
  };
  pull(*near_, 1);
  EXPECT_EQ(far_.calls, pull_calls());
  far_.calls.clear();
  push(*near_);
  EXPECT_EQ(far_.calls, push_calls());
}

TEST_F(RemoteSession, AnyRequestWhoseResponseWasLostCanBeMadeAgainAndIsHandledOnce) {
  const auto twice = [&](const auto& call) {
    lose_next_response(channel_);
    EXPECT_EQ(call().status(), lost());
    return call();
  };
  ASSERT_TRUE(twice([&] { return near_->begin_source(request_number(1)); }).ok());
  ASSERT_TRUE(near_->get_change_batch(kFirstItemId).ok());
  ASSERT_TRUE(twice([&] { return near_->get_change_batch(item(10)); }).ok());
  ASSERT_TRUE(twice([&] { return near_->get_change_batch(item(20)); }).ok());
  ASSERT_TRUE(near_->end().ok());
  EXPECT_EQ(far_.calls, pull_calls());
  far_.calls.clear();
  ASSERT_TRUE(twice([&] { return near_->begin_destination({}); }).ok());
  ASSERT_TRUE(twice([&] { return near_->process_change_batch(batch(kFirstItemId, item(9))); }).ok());
  ASSERT_TRUE(twice([&] { return near_->process_change_batch(batch(item(10), last_item_id())); }).ok());
  ASSERT_TRUE(twice([&] { return near_->end(); }).ok());
  EXPECT_EQ(far_.calls, push_calls());
}

TEST_F(RemoteSession, TheEndGetsThroughAfterABatchOrItsReportWasLost) {
  for (const auto& lose : {lose_next_request, lose_next_response}) {
    ASSERT_TRUE(near_->begin_destination({}).ok());
    lose(channel_);
    EXPECT_EQ(near_->process_change_batch(batch(kFirstItemId, item(9))).status(), lost());
    EXPECT_TRUE(near_->end().ok());
    EXPECT_EQ(far_.calls.back(), "end");
  }
}

TEST_F(RemoteSession, ALateBeginOfAnOlderSessionOfTheSameDestinationChangesNothing) {
  pull(*near_, 1);
  const Bytes late = channel_.requests[0];
  ASSERT_TRUE(near_->begin_source(request_number(2)).ok());
  far_.calls.clear();
  EXPECT_EQ(std::get<Status>(wire::decode_response(endpoint_->handle(late))->body).code(), StatusCode::kUnavailable);
  EXPECT_TRUE(far_.calls.empty());
  EXPECT_TRUE(near_->get_change_batch(item(10)).ok());
}

TEST_F(RemoteSession, ALateBeginOfAnOlderSessionWithTheFarDestinationChangesNothing) {
  push(*near_);
  ASSERT_TRUE(near_->begin_destination({}).ok());
  far_.calls.clear();
  const std::vector<Bytes> old(channel_.requests.begin(), channel_.requests.begin() + 5);
  for (const Bytes& late : old) static_cast<void>(endpoint_->handle(late));
  EXPECT_TRUE(far_.calls.empty());
  EXPECT_TRUE(near_->process_change_batch(batch(kFirstItemId, last_item_id())).ok());
}

TEST_F(RemoteSession, ALateBeginOfAnotherDestinationIsNoticedAndTheSessionCanBeRunAgain) {
  ObservedChannel others_channel(*endpoint_);
  const auto other = client(others_channel);
  ASSERT_TRUE(other->begin_source(request_number(1, 'E')).ok());
  ASSERT_TRUE(near_->begin_source(request_number(1)).ok());
  static_cast<void>(endpoint_->handle(others_channel.requests[0]));
  const Status status = near_->get_change_batch(item(10)).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("run the session again"));
  EXPECT_EQ(near_->end().status().code(), StatusCode::kUnavailable);
  pull(*near_, 2);
}

TEST_F(RemoteSession, ANewSessionEndsTheOneBefore) {
  ASSERT_TRUE(near_->begin_source(request_number(1)).ok());
  const auto other = client(channel_);
  ASSERT_TRUE(other->begin_destination({}).ok());
  EXPECT_THAT(far_.calls, ElementsAre("begin_source", "get_change_batch", "end", "begin_destination"));
  endpoint_.reset();
  EXPECT_EQ(far_.calls.back(), "end");
}

TEST_F(RemoteSession, ClientsTakeTurnsAtOneEndpoint) {
  const auto other = client(channel_);
  for (int round = 0; round < 3; ++round) {
    push(*near_);
    push(*other);
  }
  EXPECT_EQ(far_.calls.size(), 6 * push_calls().size());
}

TEST_F(RemoteSession, AnEndpointStartedAgainGivesACleanErrorAndTheSessionCanBeRunAgain) {
  ASSERT_TRUE(near_->begin_destination({}).ok());
  const auto fresh = make_provider_endpoint(far_);
  channel_.on_exchange = [&](Channel&, ByteView request) -> Result<Bytes> { return fresh->handle(request); };
  EXPECT_EQ(near_->process_change_batch(batch(kFirstItemId, last_item_id())).status().code(), StatusCode::kUnavailable);
  static_cast<void>(near_->end());
  push(*near_);
}

TEST_F(RemoteSession, RequestsOutOfOrderOrInTheWrongDirectionAreRefusedAndChangeNothing) {
  const auto code_of = [&](const Bytes& request) {
    return std::get<Status>(wire::decode_response(endpoint_->handle(request))->body).code();
  };
  const wire::SessionId session{replica('D'), 1};
  ASSERT_TRUE(near_->begin_source(request_number(1)).ok());
  far_.calls.clear();
  EXPECT_EQ(code_of(wire::encode_get_batch({session, 2}, item(10))), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of(wire::encode_get_batch({session, 0}, item(10))), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of(wire::encode_process_batch({session, 1}, batch(kFirstItemId, item(9)))), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of(wire::encode_get_batch({{replica('E'), 1}, 1}, item(10))), StatusCode::kUnavailable);
  EXPECT_EQ(code_of(wire::encode_get_batch({{replica('D'), 2}, 1}, item(10))), StatusCode::kUnavailable);
  EXPECT_EQ(code_of(wire::encode_begin_source({{replica('D'), 2}, 0}, request_number(3))), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of(wire::encode_begin_source({{replica('D'), 2}, 1}, request_number(2))), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of(Bytes{1, 2, 3}), StatusCode::kCorruption);
  EXPECT_TRUE(far_.calls.empty());
  EXPECT_TRUE(near_->get_change_batch(item(10)).ok());
}

TEST_F(RemoteSession, ANumberUsedForAnotherRequestIsRefused) {
  ASSERT_TRUE(near_->begin_destination({}).ok());
  const ChangeBatch first = batch(kFirstItemId, item(9));
  ASSERT_TRUE(near_->process_change_batch(first).ok());
  const wire::SessionId session{{}, 1};
  const auto read =
      wire::decode_response(endpoint_->handle(wire::encode_process_batch({session, 1}, batch(item(10), item(19)))));
  EXPECT_EQ(std::get<Status>(read->body).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(far_.processed, ElementsAre(first));
}

TEST_F(RemoteSession, ASourceIsNeverAskedForBatchesThatFillAMessage) {
  ChangeRequest request = request_number(1);
  request.batch_bytes_max = ~std::uint64_t{0};
  ASSERT_TRUE(near_->begin_source(request).ok());
  EXPECT_EQ(far_.last_request.batch_bytes_max, limits::kBatchBytesMax);
}

TEST_F(RemoteSession, AResponseTooLargeIsAnErrorThatSaysSo) {
  const Value large = Value::bytes(Bytes(limits::kValueBytesMax));
  ItemChange& change = far_.batches[1].changes[0];
  for (UnitId unit = 1; unit <= 9; ++unit)
    change.units.push_back({unit, {change.existence.version, large, Origin::kWritten}});
  ASSERT_TRUE(near_->begin_source(request_number(1)).ok());
  const Status status = near_->get_change_batch(item(10)).status();
  EXPECT_EQ(status.code(), StatusCode::kLimitExceeded);
  EXPECT_THAT(status.message(), HasSubstr("smaller batches"));
}

TEST_F(RemoteSession, AResponseToAnotherRequestIsRefused) {
  ASSERT_TRUE(near_->begin_source(request_number(1)).ok());
  const Bytes first = channel_.responses.back();
  channel_.on_exchange = [&](Channel&, ByteView) -> Result<Bytes> { return first; };
  EXPECT_EQ(near_->get_change_batch(item(10)).status().code(), StatusCode::kCorruption);
  channel_.on_exchange = [&](Channel&, ByteView) -> Result<Bytes> { return Bytes{}; };
  EXPECT_EQ(near_->get_change_batch(item(10)).status().code(), StatusCode::kCorruption);
}

TEST_F(RemoteSession, APeerOfAnotherProtocolVersionIsUnsupportedAndBothAreNamed) {
  channel_.on_exchange = [](Channel& direct, ByteView request) {
    auto response = direct.exchange(request);
    response->at(1) = 2;
    return response;
  };
  const Status status = near_->begin_destination({}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("version 2 "), HasSubstr("version 1 ")));
}

TEST_F(RemoteSession, WithoutASessionTheEndIsQuietAndBatchesAreRefused) {
  EXPECT_EQ(*near_->end(), BatchReport{});
  EXPECT_EQ(near_->get_change_batch(kFirstItemId).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(near_->process_change_batch(batch(kFirstItemId, item(9))).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(channel_.requests.empty());
}

class Prefetching : public RemoteSession {
 protected:
  Prefetching() { near_ = make_remote_provider(channel_, {&executor_}); }
  ThreadExecutor executor_;
};

TEST_F(Prefetching, ABatchIsFetchedBesideTheCallerAndKeptUntilItIsAskedFor) {
  ASSERT_TRUE(near_->begin_source(request_number(1)).ok());
  std::atomic<bool> was_asked = false;
  std::optional<std::thread::id> fetcher;
  channel_.on_exchange = [&](Channel& direct, ByteView request) {
    while (!was_asked) std::this_thread::yield();
    fetcher = std::this_thread::get_id();
    return direct.exchange(request);
  };
  near_->prefetch_change_batch(item(10));  // returns although the exchange cannot end yet
  ASSERT_TRUE(near_->get_change_batch(kFirstItemId).ok());
  was_asked = true;
  const auto fetched = near_->get_change_batch(item(10));
  ASSERT_TRUE(fetched.ok()) << fetched.status().to_text();
  EXPECT_EQ(*fetched, far_.batches[1]);
  EXPECT_NE(fetcher, std::this_thread::get_id());
  near_->prefetch_change_batch(item(20));
  EXPECT_EQ(*near_->get_change_batch(item(20)), far_.batches[2]);
  EXPECT_EQ(*near_->end(), far_.end_report);
  EXPECT_EQ(far_.calls, pull_calls());
}

TEST_F(Prefetching, ItsErrorSurfacesWhereTheBatchIsAskedFor) {
  ASSERT_TRUE(near_->begin_source(request_number(1)).ok());
  lose_next_response(channel_);
  near_->prefetch_change_batch(item(10));
  ASSERT_TRUE(near_->get_change_batch(kFirstItemId).ok());
  EXPECT_EQ(near_->get_change_batch(item(10)).status(), lost());
  EXPECT_EQ(*near_->get_change_batch(item(10)), far_.batches[1]);
}

TEST_F(Prefetching, ABatchThatNobodyWantedIsDropped) {
  ASSERT_TRUE(near_->begin_source(request_number(1)).ok());
  near_->prefetch_change_batch(item(10));
  EXPECT_EQ(*near_->get_change_batch(item(20)), far_.batches[2]);
  EXPECT_TRUE(near_->end().ok());
}

TEST_F(Prefetching, EndAndDestructionWaitForIt) {
  std::atomic<int> running = 0;
  channel_.on_exchange = [&](Channel& direct, ByteView request) {
    ++running;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    auto response = direct.exchange(request);
    --running;
    return response;
  };
  ASSERT_TRUE(near_->begin_source(request_number(1)).ok());
  near_->prefetch_change_batch(item(10));
  EXPECT_TRUE(near_->end().ok());
  EXPECT_EQ(running, 0);
  ASSERT_TRUE(near_->begin_source(request_number(2)).ok());
  near_->prefetch_change_batch(item(10));
  near_.reset();
  EXPECT_EQ(running, 0);
  EXPECT_EQ(channel_.requests.size(), 5u);
}

TEST_F(Prefetching, WithoutAnExecutorNothingIsFetchedAhead) {
  near_ = client(channel_);
  ASSERT_TRUE(near_->begin_source(request_number(1)).ok());
  near_->prefetch_change_batch(item(10));
  EXPECT_EQ(channel_.requests.size(), 1u);
}

}  // namespace
}  // namespace harmonica
