// A replica without a store: what a hub keeps.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/kernel/versioned_app.h"
#include "harmonica/extension/provider.h"

namespace harmonica::kernel {
namespace {

using ::testing::HasSubstr;

UnitValue stars(std::int64_t number) { return {kVersionedStars, Value::integer(number)}; }

struct Hub {
  explicit Hub(std::uint8_t number) : environment(number) { open(); }
  void open() {
    replica.reset();
    auto opened = Replica::open(metadata, environment, {});
    EXPECT_TRUE(opened.ok()) << opened.status().to_text();
    replica = std::move(*opened);
  }

  TestEnvironment environment;
  providers::MemoryMetadataStore metadata;
  std::unique_ptr<Replica> replica;
};

TEST(Storeless, KeepsAndPassesOnWhatOthersHave) {
  Hub hub(9);
  VersionedApp first(1, 2);
  VersionedApp second(2, 2);
  first.note("a", {stars(3)});
  first.tag("blue");
  carry(*first.replica, *hub.replica);
  EXPECT_EQ(hub.replica->schema(), app_schema(2));
  EXPECT_EQ(hub.replica->status().value().counts.alive, 2u);
  EXPECT_EQ(hub.replica->status().value().counts.shown, 0u);
  EXPECT_EQ(hub.replica->status().value().unwritten, 0u);
  carry(*hub.replica, *second.replica);
  EXPECT_EQ(second.shown(kVersionedNote, "a", kVersionedStars), Value::integer(3));
  second.remove(kVersionedTag, "blue");
  carry(*second.replica, *hub.replica);
  carry(*hub.replica, *first.replica);
  EXPECT_FALSE(first.shows(kVersionedTag, "blue"));
  EXPECT_TRUE(carry(*first.replica, *hub.replica).quiet());
}

// Two processes serve one scope; one finds out that the replica is a copy.
TEST(Storeless, TakesUpTheIdThatAnotherProcessHasTaken) {
  Hub hub(9);
  VersionedApp app(1, 2);
  app.note("a", {stars(3)});
  carry(*app.replica, *hub.replica);
  auto opened = Replica::open(hub.metadata, hub.environment, {});
  ASSERT_TRUE(opened.ok()) << opened.status().to_text();
  Replica& other = **opened;
  const ReplicaId former = other.status()->replica;

  const Result<ChangeRequest> request = hub.replica->provider().begin_destination({});
  ASSERT_TRUE(request.ok()) << request.status().to_text();
  ASSERT_TRUE(app.replica->provider().begin_source(*request).ok());
  Result<ChangeBatch> batch = app.replica->provider().get_change_batch(kFirstItemId);
  ASSERT_TRUE(batch.ok()) << batch.status().to_text();
  batch->source.marks_of_peer = {12345};
  EXPECT_EQ(hub.replica->provider().process_change_batch(*batch).status().code(), StatusCode::kUnavailable);

  app.note("b", {stars(4)});
  carry(*app.replica, other);
  EXPECT_NE(other.status()->replica, former);
  EXPECT_EQ(other.status()->replica, hub.replica->status()->replica);
  EXPECT_EQ(other.status()->counts.alive, 2u);
}

TEST(Storeless, TakesUpNewerSchemasAndSoDecidesEverything) {
  Hub hub(9);
  VersionedApp first(1, 1);
  VersionedApp second(2, 2);
  VersionedApp other(3, 2);
  first.note("a");
  carry(*first.replica, *hub.replica);
  EXPECT_EQ(hub.replica->schema(), app_schema(1));
  second.note("a", {stars(5)});
  carry(*second.replica, *hub.replica);
  EXPECT_EQ(hub.replica->schema().fingerprint(), app_schema(2).fingerprint());
  hub.open();
  EXPECT_EQ(hub.replica->schema().fingerprint(), app_schema(2).fingerprint());
  other.note("a", {stars(3)});
  EXPECT_TRUE(carry(*other.replica, *hub.replica).failures.empty());
  carry(*hub.replica, *other.replica);
  EXPECT_EQ(other.shown(kVersionedNote, "a", kVersionedStars), Value::integer(5));
  // The old one is still welcome.
  EXPECT_TRUE(carry(*hub.replica, *first.replica).failures.empty());
}

TEST(Storeless, OfTwoHubsOneNeedsToHaveMetAStore) {
  Hub hub(8);
  Hub other(9);
  SyncSession session(hub.replica->provider(), other.replica->provider(), {});
  const Status refused = session.run();
  EXPECT_EQ(refused.code(), StatusCode::kUnsupported);
  EXPECT_THAT(refused.message(), HasSubstr("sync one of them with such a store first"));
  VersionedApp app(1, 2);
  app.note("a", {stars(3)});
  carry(*app.replica, *hub.replica);
  carry(*hub.replica, *other.replica);
  EXPECT_EQ(other.replica->schema(), app_schema(2));
  EXPECT_TRUE(other.replica->compare_with(hub.replica->provider(), 10).value().equal);
}

TEST(Storeless, HubsThatGrewApartTakeUpEachOthersSchemas) {
  Hub hub(8);
  Hub other(9);
  VersionedApp app(1, 2);
  Schema third_kind = app_schema(1);
  third_kind.types.push_back({.id = 7, .name = "list", .units = {{.id = 1, .name = "title"}}});
  VersionedApp stranger(2, 1);
  ASSERT_EQ(stranger.open(third_kind), Status());
  app.note("a");
  stranger.note("b");
  carry(*app.replica, *hub.replica);
  carry(*stranger.replica, *other.replica);
  carry(*hub.replica, *other.replica);
  EXPECT_EQ(hub.replica->schema().fingerprint(), other.replica->schema().fingerprint());
  EXPECT_NE(hub.replica->schema().find_type(7), nullptr);
  EXPECT_NE(hub.replica->schema().find_type(kVersionedTag), nullptr);
}

TEST(Storeless, RestoresWhatLostAndDecidesWhatWaits) {
  Hub hub(9);
  VersionedApp first(1, 3);
  VersionedApp second(2, 3);
  first.note("a", {{kVersionedColour, Value::text("red")}});
  carry(*first.replica, *hub.replica);
  second.note("a", {{kVersionedColour, Value::text("blue")}});
  carry(*second.replica, *hub.replica);
  const std::vector<ConflictRecord> conflicts = hub.replica->conflicts().value();
  ASSERT_FALSE(conflicts.empty());
  const auto of_colour = std::find_if(conflicts.begin(), conflicts.end(),
                                      [](const ConflictRecord& record) { return record.unit == kVersionedColour; });
  ASSERT_NE(of_colour, conflicts.end());
  ASSERT_EQ(hub.replica->restore(of_colour->id), Status());
  carry(*hub.replica, *second.replica);
  EXPECT_EQ(second.shown(kVersionedNote, "a", kVersionedColour), of_colour->lost.value);
}

TEST(Storeless, ForgetsDeletionsAsOthersDo) {
  Hub hub(9);
  VersionedApp first(1, 2);
  first.tag("blue");
  carry(*first.replica, *hub.replica);
  first.remove(kVersionedTag, "blue");
  carry(*first.replica, *hub.replica);
  EXPECT_EQ(hub.replica->status().value().counts.deleted, 1u);
  hub.environment.now_ms += 61ll * 24 * 60 * 60 * 1000;
  first.environment.now_ms = hub.environment.now_ms;
  carry(*first.replica, *hub.replica);
  EXPECT_EQ(hub.replica->status().value().counts.deleted, 0u);
}

}  // namespace
}  // namespace harmonica::kernel
