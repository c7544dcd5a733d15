// A scope that has seen thousands of devices, most of which have retired.

#include <gtest/gtest.h>

#include <algorithm>

#include "core/kernel/note_device.h"
#include "harmonica/extension/remote.h"
#include "harmonica/transports/local.h"

namespace harmonica::kernel {
namespace {

constexpr std::size_t kDevices = 9'990;
const Tick kLongAgo = first_tick_of(1'600'000'000'000);

ReplicaId former_device(std::size_t number) {
  ReplicaId id;
  id.bytes[0] = 0xee;
  id.bytes[1] = static_cast<std::uint8_t>(number >> 8);
  id.bytes[2] = static_cast<std::uint8_t>(number);
  return id;
}

// As if all these devices had written into the scope, and had been retired.
void make_known(NoteDevice& device, std::size_t count) {
  const auto transaction = device.metadata.begin(TransactionMode::kWrite).value();
  Knowledge knowledge = transaction->knowledge().value();
  std::vector<ClockVector::Entry> entries;
  ReplicaTable table = transaction->replicas().value();
  for (std::size_t number = 0; number < count; ++number) {
    entries.push_back({former_device(number), kLongAgo + number});
    ReplicaRow row;
    row.replica = former_device(number);
    row.retired = true;
    row.last = kLongAgo + number;
    ASSERT_TRUE(table.merge(row).ok());
  }
  knowledge.merge(Knowledge(ClockVector(std::move(entries))));
  ASSERT_EQ(transaction->set_knowledge(knowledge), Status());
  ASSERT_EQ(transaction->set_replicas(table), Status());
  ASSERT_EQ(transaction->commit(), Status());
}

// Counts what passes.
class CountingChannel : public Channel {
 public:
  explicit CountingChannel(RequestHandler& handler) : inner_(handler) {}

  std::size_t exchanges = 0;
  std::size_t largest = 0;
  std::size_t bytes = 0;

  Result<Bytes> exchange(ByteView request) override {
    ++exchanges;
    Result<Bytes> response = inner_.exchange(request);
    for (const std::size_t size : {request.size(), response.ok() ? response->size() : 0}) {
      largest = std::max(largest, size);
      bytes += size;
    }
    return response;
  }

 private:
  transports::LocalChannel inner_;
};

// Both ways between a near replica and a far one; what the messages took.
CountingChannel sync_far(NoteDevice& near, NoteDevice& far) {
  const std::unique_ptr<RequestHandler> endpoint = make_provider_endpoint(far.replica->provider());
  CountingChannel channel(*endpoint);
  const std::unique_ptr<Provider> remote = make_remote_provider(channel, {});
  const auto report = synchronize(near.replica->provider(), *remote, {});
  EXPECT_TRUE(report.ok()) << report.status().to_text();
  return channel;
}

TEST(RetiredReplicas, TakeNoRoomInSessionsOnceBothSidesKnowThem) {
  NoteDevice near(1, {});
  NoteDevice far(2, {});
  near.write("a", "text");
  sync_far(near, far);
  make_known(near, kDevices);
  EXPECT_GT(sync_far(near, far).bytes, kDevices * 24);  // the table is told once
  EXPECT_EQ(far.replica->status()->knowledge, near.replica->status()->knowledge);

  const CountingChannel nothing = sync_far(near, far);
  EXPECT_LT(nothing.largest, 1000u);
  near.write("b", "text");
  far.write("c", "text");
  const CountingChannel changes = sync_far(near, far);
  EXPECT_LT(changes.largest, 1000u);
  EXPECT_EQ(far.text("b"), "text");
  EXPECT_EQ(near.text("c"), "text");
  EXPECT_EQ(far.replica->status()->knowledge, near.replica->status()->knowledge);
  EXPECT_GE(near.replica->status()->knowledge.at(kFirstItemId).entries().size(), kDevices);
}

TEST(RetiredReplicas, TakeNoRoomInAComparison) {
  NoteDevice near(1, {});
  NoteDevice far(2, {});
  near.write("a", "text");
  sync_far(near, far);
  make_known(near, kDevices);
  sync_far(near, far);
  const std::unique_ptr<RequestHandler> endpoint = make_provider_endpoint(far.replica->provider());
  CountingChannel channel(*endpoint);
  const std::unique_ptr<Provider> remote = make_remote_provider(channel, {});
  const Result<Comparison> comparison = near.replica->compare_with(*remote, 10);
  ASSERT_TRUE(comparison.ok()) << comparison.status().to_text();
  EXPECT_TRUE(comparison->equal);
  EXPECT_EQ(comparison->first_knowledge, comparison->second_knowledge);
  EXPECT_LT(channel.largest, 1000u);
}

// Somebody retires a device between two sessions of others: their tables differ, and nothing may be misread.
TEST(RetiredReplicas, AreSentInFullWhereTheTablesDiffer) {
  NoteDevice near(1, {});
  NoteDevice far(2, {});
  near.write("a", "text");
  sync_far(near, far);
  make_known(near, 40);
  make_known(far, 30);
  near.write("b", "text");
  far.write("c", "text");
  sync_far(near, far);
  EXPECT_EQ(far.text("b"), "text");
  EXPECT_EQ(near.text("c"), "text");
  EXPECT_EQ(far.replica->status()->knowledge, near.replica->status()->knowledge);
  EXPECT_EQ(near.replica->provider().replicas().value(), far.replica->provider().replicas().value());
  EXPECT_LT(sync_far(near, far).largest, 1000u);
}

// One that has not heard yet of all that a retired device made may not seem to know it.
TEST(RetiredReplicas, AreNotCountedAsKnownWhereTheyAreNot) {
  NoteDevice near(1, {});
  NoteDevice far(2, {});
  near.write("a", "text");
  sync_far(near, far);
  make_known(near, 40);
  make_known(far, 40);
  {
    const auto transaction = near.metadata.begin(TransactionMode::kWrite).value();
    Knowledge knowledge = transaction->knowledge().value();
    knowledge.cap({former_device(7), kLongAgo});
    knowledge.cap({former_device(8), 0});
    ASSERT_EQ(transaction->set_knowledge(knowledge), Status());
    ASSERT_EQ(transaction->commit(), Status());
  }
  const std::unique_ptr<RequestHandler> endpoint = make_provider_endpoint(near.replica->provider());
  CountingChannel channel(*endpoint);
  const std::unique_ptr<Provider> remote = make_remote_provider(channel, {});
  remote->share_replicas(*far.replica->provider().replicas().value());
  const Result<ChangeRequest> request = remote->begin_destination({});
  ASSERT_TRUE(request.ok()) << request.status().to_text();
  EXPECT_EQ(request->knowledge.at(kFirstItemId).at(former_device(7)), kLongAgo);
  EXPECT_EQ(request->knowledge.at(kFirstItemId).at(former_device(8)), 0u);
  EXPECT_EQ(request->knowledge.at(kFirstItemId).at(former_device(9)), kLongAgo + 9);
  EXPECT_LT(channel.largest, 500u);
}

}  // namespace
}  // namespace harmonica::kernel
