#include "wire/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/wire/random_messages.h"
#include "harmonica/limits.h"
#include "support/shorthand.h"

namespace harmonica::wire {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

ItemId item(std::uint64_t number) {
  ItemId id;
  for (std::size_t i = 0; i < 8; ++i) id.bytes[i] = static_cast<std::uint8_t>(number >> (56 - 8 * i));
  return id;
}

// A batch of one change, to be spoilt.
ChangeBatch small_batch() {
  ChangeBatch batch;
  batch.source.replica.bytes[0] = 1;
  batch.destination.bytes[0] = 2;
  batch.range = ItemIdRange::all();
  batch.last = true;
  ItemChange change;
  change.item = item(1);
  change.type = 1;
  change.existence.version = {batch.source.replica, 100};
  batch.changes.push_back(change);
  return batch;
}

StatusCode code_of(const ChangeBatch& batch) { return decode_request(encode_process_batch({}, batch)).status().code(); }
StatusCode code_of(const ChangeRequest& request) {
  return decode_request(encode_begin_source({}, request)).status().code();
}

const Bytes kProtocol = {1 << 3, 1};

Bytes joined(const std::vector<Bytes>& parts) {
  Bytes bytes;
  for (const Bytes& part : parts) bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

// A field that holds bytes or a submessage.
Bytes field(std::uint8_t number, const Bytes& content) {
  Bytes bytes = {static_cast<std::uint8_t>(number << 3 | 2)};
  std::size_t size = content.size();
  for (; size > 0x7f; size >>= 7) bytes.push_back(static_cast<std::uint8_t>((size & 0x7f) | 0x80));
  bytes.push_back(static_cast<std::uint8_t>(size));
  return joined({bytes, content});
}

TEST(Wire, EveryMessageSurvivesItsWay) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    RandomMessages messages(seed);
    const Request request = messages.request();
    const auto read_request = decode_request(encode(request));
    ASSERT_TRUE(read_request.ok()) << "seed " << seed << ": " << read_request.status().to_text();
    ASSERT_EQ(*read_request, request) << "seed " << seed;
    const Response response = messages.response();
    const auto read_response = decode_response(encode(response));
    ASSERT_TRUE(read_response.ok()) << "seed " << seed << ": " << read_response.status().to_text();
    ASSERT_EQ(*read_response, response) << "seed " << seed;
  }
}

TEST(Wire, AMessageCutShortAnywhereIsRefused) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    RandomMessages messages(seed);
    const Bytes request = encode(messages.request());
    const Bytes response = encode(messages.response());
    for (std::size_t size = 0; size < request.size(); ++size) {
      ASSERT_FALSE(decode_request(ByteView(request).first(size)).ok()) << "seed " << seed << ", size " << size;
    }
    for (std::size_t size = 0; size < response.size(); ++size) {
      ASSERT_FALSE(decode_response(ByteView(response).first(size)).ok()) << "seed " << seed << ", size " << size;
    }
  }
}

TEST(Wire, AFlippedBitGivesAnErrorOrAnotherValidMessage) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Bytes valid = encode(RandomMessages(seed).response());
    for (std::size_t bit = 0; bit < valid.size() * 8; ++bit) {
      Bytes flipped = valid;
      flipped[bit / 8] = static_cast<std::uint8_t>(flipped[bit / 8] ^ (1 << bit % 8));
      const auto read = decode_response(flipped);
      if (!read.ok()) continue;
      const auto again = decode_response(encode(*read));
      ASSERT_TRUE(again.ok()) << "seed " << seed << ", bit " << bit;
      ASSERT_EQ(*again, *read) << "seed " << seed << ", bit " << bit;
    }
  }
}

// What knowledge adds to a request, its share of the replica table included.
std::size_t bytes_on_the_wire(const Knowledge& knowledge) {
  ChangeRequest request;
  request.destination.replica.bytes[0] = 1;
  const std::size_t without = encode_begin_source({}, request).size();
  request.knowledge = knowledge;
  return encode_begin_source({}, request).size() - without;
}

TEST(Wire, KnowledgeOfTenReplicasTakesAtMost401Bytes) {
  RandomMessages messages(1);
  ClockVector everywhere;
  for (int i = 0; i < 10; ++i) everywhere.raise({messages.id<ReplicaId>(), messages.tick()});
  EXPECT_LE(bytes_on_the_wire(Knowledge(everywhere)), 401u);
}

TEST(Wire, AThousandScatteredExceptionsOfOneVectorTakeAThirdOf56529Bytes) {
  RandomMessages messages(1);
  ClockVector everywhere;
  for (int i = 0; i < 10; ++i) everywhere.raise({messages.id<ReplicaId>(), messages.tick()});
  ClockVector exception = everywhere;
  exception.raise({messages.id<ReplicaId>(), messages.tick()});
  Knowledge knowledge(everywhere);
  for (int i = 0; i < 1000; ++i) {
    const ItemId id = messages.id<ItemId>();
    knowledge.assign({id, id}, exception);
  }
  ASSERT_EQ(knowledge.steps().size(), 2001u);
  EXPECT_LE(bytes_on_the_wire(knowledge), 18'843u);
}

TEST(Wire, ASessionOfTenReplicasWithoutChangesTakesLessThanAKilobyteEachWay) {
  RandomMessages messages(1);
  ClockVector everywhere;
  for (int i = 0; i < 10; ++i) everywhere.raise({messages.id<ReplicaId>(), messages.tick()});
  ChangeRequest request;
  request.destination = messages.description();
  request.knowledge = Knowledge(everywhere);
  ChangeBatch batch;
  batch.source = messages.description();
  batch.destination = request.destination.replica;
  batch.range = ItemIdRange::all();
  batch.last = true;
  batch.made_with = Knowledge(everywhere);
  batch.forgotten = Knowledge(everywhere);
  const Heading heading{{request.destination.replica, 1}, 0};
  EXPECT_LT(encode_begin_source(heading, request).size(), 1000u);
  EXPECT_LT(encode({heading, 1, SourceBegun{batch.source, {batch, BatchReport{}}}}).size(), 1000u);
}

TEST(Wire, EqualMessagesAreEqualBytes) {
  EXPECT_EQ(encode(RandomMessages(7).response()), encode(RandomMessages(7).response()));
}

TEST(Wire, FieldsOfANewerPeerAreSkipped) {
  const Response response = RandomMessages(3).response();
  Bytes bytes = encode(response);
  const Bytes unknown = {0xa0, 0x06, 0x01, 0xaa, 0x06, 0x02, 0x68, 0x69};  // field 100: 1, field 101: "hi"
  bytes.insert(bytes.end(), unknown.begin(), unknown.end());
  const auto read = decode_response(bytes);
  ASSERT_TRUE(read.ok()) << read.status().to_text();
  EXPECT_EQ(*read, response);
}

TEST(Wire, AnotherProtocolVersionIsUnsupportedAndBothAreNamed) {
  Bytes bytes = encode_end({});
  bytes[1] = 2;
  const Status status = decode_request(bytes).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("version 2 from the peer"), HasSubstr("version 1 here")));
}

TEST(Wire, BytesOfAnErrorMessageThatAreNotTextAreReplaced) {
  const auto read = decode_response(encode({{}, 0, Status(StatusCode::kIo, "file \xff.txt")}));
  ASSERT_TRUE(read.ok()) << read.status().to_text();
  EXPECT_EQ(std::get<Status>(read->body), Status(StatusCode::kIo, "file \xef\xbf\xbd.txt"));
}

TEST(Wire, ARefusalSaysWhichPartIsWrong) {
  ChangeBatch batch = small_batch();
  batch.changes[0].units.push_back({7, {{batch.source.replica, 100}, Value::text("\xff"), Origin::kWritten}});
  EXPECT_EQ(decode_request(encode_process_batch({}, batch)).status().to_text(),
            "corruption: request: change 0: unit 7: text is not UTF-8 at byte 0");
}

TEST(Wire, ABatchThatBreaksARuleIsRefused) {
  const std::vector<std::pair<const char*, std::function<void(ChangeBatch&)>>> ways = {
      {"changes out of order", [](ChangeBatch& b) { b.changes.push_back(b.changes[0]); }},
      {"change outside the range", [](ChangeBatch& b) { b.range.first = item(2); }},
      {"range upside down",
       [](ChangeBatch& b) {
         b.range = {item(3), item(2)};
       }},
      {"zero item", [](ChangeBatch& b) { b.changes[0].item = {}; }},
      {"no type", [](ChangeBatch& b) { b.changes[0].type = 0; }},
      {"no tick", [](ChangeBatch& b) { b.changes[0].existence.version.tick = 0; }},
      {"unit 0",
       [](ChangeBatch& b) {
         b.changes[0].units.push_back({0, {{b.destination, 1}, {}, Origin::kWritten}});
       }},
      {"unit twice",
       [](ChangeBatch& b) {
         b.changes[0].units.assign(2, {1, {{b.destination, 1}, {}, Origin::kWritten}});
       }},
      {"unit without a tick",
       [](ChangeBatch& b) {
         b.changes[0].units.push_back({1, {{b.destination, 0}, {}, {}}});
       }},
      {"a list in a list",
       [](ChangeBatch& b) {
         const Value nested = Value::list({Value::list({})});
         b.changes[0].units.push_back({1, {{b.destination, 1}, nested, Origin::kWritten}});
       }},
      {"bad scope", [](ChangeBatch& b) { b.source.scope = "Not A Scope"; }},
      {"made with too much",
       [](ChangeBatch& b) {
         b.range.last = item(9);
         b.made_with = Knowledge(ClockVector({{b.source.replica, 5}}));
       }},
      {"forgot too much",
       [](ChangeBatch& b) {
         b.range.first = item(1);
         b.forgotten = Knowledge(ClockVector({{b.source.replica, 5}}));
       }},
  };
  ASSERT_EQ(code_of(small_batch()), StatusCode::kOk);
  for (const auto& [name, spoil] : ways) {
    ChangeBatch batch = small_batch();
    spoil(batch);
    EXPECT_EQ(code_of(batch), StatusCode::kCorruption) << name;
  }
}

TEST(Wire, KnowledgeOnTheRangeAndNothingOutsideIsTaken) {
  ChangeBatch batch = small_batch();
  batch.range = {item(1), item(9)};
  batch.last = false;
  batch.made_with = Knowledge(ClockVector({{batch.source.replica, 5}})).project(batch.range);
  batch.forgotten = batch.made_with;
  EXPECT_EQ(code_of(batch), StatusCode::kOk);
}

TEST(Wire, WantedItemsAreSortedAndNeverTheRoot) {
  ChangeRequest request;
  request.wanted_whole = {item(2), item(1)};
  EXPECT_EQ(code_of(request), StatusCode::kCorruption);
  request.wanted_whole = {item(1), item(1)};
  EXPECT_EQ(code_of(request), StatusCode::kCorruption);
  request.wanted_whole = {ItemId{}, item(1)};
  EXPECT_EQ(code_of(request), StatusCode::kCorruption);
}

// A request whose filter's text is replaced, in its bytes, by another one of the same length.
Status read_with_text(const std::string& text) {
  ChangeRequest request;
  request.destination.replica = shorthand::replica('D');
  request.number = 3;
  request.filter = *Filter::parse("a = '" + std::string(text.size() - 6, 'x') + "'", {});
  const Bytes encoded = encode_begin_source({{request.destination.replica, request.number}, 0}, request);
  std::string bytes(as_text(encoded));
  bytes.replace(bytes.find(request.filter->text()), text.size(), text);
  return decode_request(as_bytes(bytes)).status();
}

TEST(Wire, AFilterIsInCanonicalForm) {
  EXPECT_EQ(read_with_text("a =  1").code(), StatusCode::kCorruption);
  EXPECT_EQ(read_with_text("a >= )").code(), StatusCode::kCorruption);
  EXPECT_EQ(read_with_text("a = :n").code(), StatusCode::kCorruption);
}

TEST(WireLimits, TermsOfAFilter) {
  std::string many = "a";
  for (int term = 1; term < 10'000; ++term) many += " or a";
  EXPECT_EQ(read_with_text(many).code(), StatusCode::kLimitExceeded);
  EXPECT_EQ(read_with_text(std::string(65, '(') + "a" + std::string(65, ')')).code(), StatusCode::kLimitExceeded);
}

TEST(WireLimits, WantedItems) {
  ChangeRequest request;
  for (std::uint64_t i = 1; i <= limits::kWantedWholeMax; ++i) request.wanted_whole.push_back(item(i));
  EXPECT_EQ(code_of(request), StatusCode::kOk);
  request.wanted_whole.push_back(last_item_id());
  EXPECT_EQ(code_of(request), StatusCode::kLimitExceeded);
}

TEST(WireLimits, Replicas) {
  std::vector<ClockVector::Entry> entries(limits::kReplicasMax);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].replica = *ReplicaId::from_bytes(item(i).view());
    entries[i].tick = 1;
  }
  ChangeRequest request;
  request.knowledge = Knowledge(ClockVector(entries));
  EXPECT_EQ(code_of(request), StatusCode::kOk);
  entries.push_back({*ReplicaId::from_bytes(last_item_id().view()), 1});
  request.knowledge = Knowledge(ClockVector(entries));
  EXPECT_EQ(code_of(request), StatusCode::kLimitExceeded);
}

TEST(WireLimits, Steps) {
  // Replicas (2), begin source (5): destination (1), knowledge (3): steps (4), packed.
  const Bytes steps = field(4, Bytes(limits::kKnowledgeStepsMax + 1));
  const Bytes request = joined({field(1, {}), field(3, steps)});
  const Bytes replicas = field(2, Bytes(ReplicaId::kSize));
  EXPECT_EQ(decode_request(joined({kProtocol, replicas, field(5, request)})).status().code(), StatusCode::kLimitExceeded);
}

TEST(WireLimits, Changes) {
  ChangeBatch batch = small_batch();
  while (batch.changes.size() < limits::kBatchChangesMax) {
    batch.changes.push_back(batch.changes.back());
    batch.changes.back().item = item(batch.changes.size());
  }
  EXPECT_EQ(code_of(batch), StatusCode::kOk);
  batch.changes.push_back(batch.changes.back());
  batch.changes.back().item = item(batch.changes.size());
  EXPECT_EQ(code_of(batch), StatusCode::kLimitExceeded);
}

TEST(WireLimits, Units) {
  ChangeBatch batch = small_batch();
  for (std::size_t i = 1; i <= limits::kUnitsMax; ++i) {
    batch.changes[0].units.push_back({static_cast<UnitId>(i), {{batch.destination, 1}, {}, Origin::kWritten}});
  }
  EXPECT_EQ(code_of(batch), StatusCode::kOk);
  batch.changes[0].units.push_back({UnitId{9999}, {{batch.destination, 1}, {}, Origin::kWritten}});
  EXPECT_EQ(code_of(batch), StatusCode::kLimitExceeded);
}

TEST(WireLimits, BytesOfAValue) {
  ChangeBatch batch = small_batch();
  const auto set = [&](std::size_t size) {
    batch.changes[0].units = {{1, {{batch.destination, 1}, Value::bytes(Bytes(size)), Origin::kWritten}}};
  };
  set(limits::kValueBytesMax);
  EXPECT_EQ(code_of(batch), StatusCode::kOk);
  set(limits::kValueBytesMax + 1);
  EXPECT_EQ(code_of(batch), StatusCode::kLimitExceeded);
}

TEST(WireLimits, SubmessagesAreCountedBeforeTheyAreBuilt) {
  // Process batch (8): changes (6), all empty.
  Bytes changes;
  for (std::size_t i = 0; i < limits::kMessagePartsMax; ++i) changes.insert(changes.end(), {6 << 3 | 2, 0});
  const Status status = decode_request(joined({kProtocol, field(8, changes)})).status();
  EXPECT_EQ(status.code(), StatusCode::kLimitExceeded);
  EXPECT_THAT(status.message(), HasSubstr("submessages"));
}

TEST(WireLimits, BytesOfAMessage) {
  Bytes request = encode_end({});
  request.resize(limits::kMessageBytesMax + 1);
  EXPECT_EQ(decode_request(request).status().code(), StatusCode::kLimitExceeded);
}

// What knowledge takes in a request, its table of replicas with it.
std::size_t bytes_of(const Knowledge& knowledge) {
  ChangeRequest request;
  request.destination.replica = knowledge.vectors().front().entries().front().replica;
  const std::size_t without = encode_begin_source({}, request).size();
  request.knowledge = knowledge;
  return encode_begin_source({}, request).size() - without;
}

ClockVector vector_of(std::size_t replicas, Tick tick) {
  std::vector<ClockVector::Entry> entries;
  for (std::size_t number = 1; number <= replicas; ++number) {
    ReplicaId replica;
    replica.bytes[0] = static_cast<std::uint8_t>(number % 251 + 1);
    replica.bytes[1] = static_cast<std::uint8_t>(number / 251);
    entries.push_back({replica, tick + number});
  }
  return ClockVector(std::move(entries));
}

ItemId scattered(std::size_t number) {
  ItemId item;
  item.bytes[0] = static_cast<std::uint8_t>(number >> 8);
  item.bytes[1] = static_cast<std::uint8_t>(number);
  item.bytes[15] = 7;
  return item;
}

// The example's layout takes 121 + 28 bytes a replica.
TEST(Oracles, W49UndisturbedKnowledgeTakesNoMoreThanTheExample) {
  constexpr Tick kTick = Tick{1'700'000'000'000} << 16;
  for (const std::size_t replicas : {2u, 10u, 50u, 100u, 1000u}) {
    EXPECT_LE(bytes_of(Knowledge(vector_of(replicas, kTick))), 121 + 28 * replicas) << replicas << " replicas";
  }
}

// The example: 184 bytes for each exception with a vector of its own, 56 for those that share one, and one exception for
// neighbours.
TEST(Oracles, W50ExceptionsTakeAThirdOfTheExample) {
  constexpr Tick kTick = Tick{1'700'000'000'000} << 16;
  constexpr std::size_t kExceptions = 1'000;
  Knowledge shared(vector_of(10, kTick));
  for (std::size_t number = 1; number <= kExceptions; ++number) {
    shared.assign({scattered(number), scattered(number)}, vector_of(10, kTick - 1000));
  }
  EXPECT_LE(bytes_of(shared), (401 + 128 + 56 * kExceptions) / 3);

  Knowledge adjacent(vector_of(10, kTick));
  adjacent.assign({scattered(1), scattered(kExceptions)}, vector_of(10, kTick - 1000));
  EXPECT_LE(bytes_of(adjacent), 401 + 128 + 56);

  Knowledge distinct(vector_of(10, kTick));
  for (std::size_t number = 1; number <= kExceptions; ++number) {
    distinct.assign({scattered(number), scattered(number)}, vector_of(10, kTick - 1000 - 16 * number));
  }
  EXPECT_LE(bytes_of(distinct), 401 + 184 * kExceptions);
}

}  // namespace
}  // namespace harmonica::wire
