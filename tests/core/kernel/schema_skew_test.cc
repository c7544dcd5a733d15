// Versions of an app with different schemas in one mesh, and what an upgrade makes of what was held.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/kernel/versioned_app.h"
#include "harmonica/extension/remote.h"
#include "harmonica/transports/local.h"

namespace harmonica::kernel {
namespace {

using ::testing::HasSubstr;

UnitValue stars(std::int64_t number) { return {kVersionedStars, Value::integer(number)}; }
UnitValue body(const std::string& text) { return {kVersionedBody, Value::text(text)}; }
UnitValue colour(const std::string& text) { return {kVersionedColour, Value::text(text)}; }

TEST(SchemaSkew, UnitsThatTheOldDoesNotKnowPassThroughThreeVersions) {
  VersionedApp first(1, 1);
  VersionedApp second(2, 2);
  VersionedApp third(3, 3);
  third.note("a", {body("text"), stars(4), colour("red")});
  carry(third, first);
  carry(first, second);
  EXPECT_EQ(first.shown(kVersionedNote, "a", kVersionedBody), Value::text("text"));
  EXPECT_EQ(second.shown(kVersionedNote, "a", kVersionedStars), Value::integer(4));

  VersionedApp other_third(4, 3);
  carry(second, other_third);
  EXPECT_EQ(other_third.shown(kVersionedNote, "a", kVersionedColour), Value::text("red"));
  // Edits by the old go back, and take nothing away.
  first.note("a", {body("edited")});
  carry(first, third);
  EXPECT_EQ(third.shown(kVersionedNote, "a", kVersionedBody), Value::text("edited"));
  EXPECT_EQ(third.shown(kVersionedNote, "a", kVersionedColour), Value::text("red"));
}

TEST(SchemaSkew, DeletedAndRestoredByTheOldAnItemKeepsWhatItDoesNotKnow) {
  VersionedApp first(1, 1);
  VersionedApp third(3, 3);
  third.note("a", {body("x"), colour("red")});
  carry(third, first);
  first.remove(kVersionedNote, "a");
  third.note("a", {body("y")});
  carry(third, first);
  EXPECT_EQ(first.shown(kVersionedNote, "a", kVersionedBody), Value::text("y"));
  carry(first, third);
  EXPECT_EQ(third.shown(kVersionedNote, "a", kVersionedColour), Value::text("red"));
  first.remove(kVersionedNote, "a");
  carry(first, third);
  EXPECT_FALSE(third.shows(kVersionedNote, "a"));
}

TEST(SchemaSkew, ItemsOfUnknownTypesAreHeldPassedOnAndShownAfterTheUpgrade) {
  VersionedApp first(1, 1);
  VersionedApp second(2, 2);
  VersionedApp third(3, 3);
  third.tag("blue");
  third.note("a", {stars(2)});
  EXPECT_TRUE(carry(third, first).failures.empty());
  EXPECT_EQ(first.held(), 1u);
  EXPECT_EQ(first.alive(), 2u);
  EXPECT_EQ(first.store->size(), 1u);
  carry(first, second);
  EXPECT_TRUE(second.shows(kVersionedTag, "blue"));

  ASSERT_EQ(first.open(2), Status());
  EXPECT_EQ(first.held(), 0u);
  carry(second, first);
  EXPECT_TRUE(first.shows(kVersionedTag, "blue"));
  EXPECT_EQ(first.shown(kVersionedNote, "a", kVersionedStars), Value::integer(2));
  EXPECT_EQ(first.alive(), 2u);
  // And nothing was made anew by it.
  EXPECT_TRUE(carry(first, second).quiet());
}

TEST(SchemaSkew, DeletionsOfWhatIsHeldArePassedOnToo) {
  VersionedApp first(1, 1);
  VersionedApp second(2, 2);
  VersionedApp other(3, 2);
  second.tag("blue");
  carry(second, first);
  carry(first, other);
  second.remove(kVersionedTag, "blue");
  carry(second, first);
  EXPECT_EQ(first.held(), 0u);
  carry(first, other);
  EXPECT_FALSE(other.shows(kVersionedTag, "blue"));
}

TEST(SchemaSkew, AConflictInAnUnknownUnitIsLeftOutAndDecidedByOneThatKnowsIt) {
  VersionedApp first(1, 1);
  VersionedApp second(2, 2);
  VersionedApp other(3, 2);
  second.note("a", {stars(1)});
  carry(second, first);
  carry(second, other);
  second.note("a", {stars(5)});
  other.environment.now_ms = second.environment.now_ms + 5000;
  other.note("a", {stars(3)});
  carry(second, first);
  const SessionReport left_out = carry(other, first);
  ASSERT_EQ(left_out.failures.size(), 1u);
  EXPECT_EQ(left_out.failures[0].status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(left_out.failures[0].status.message(), HasSubstr("unit 3 is in conflict"));
  EXPECT_THAT(left_out.failures[0].status.message(), HasSubstr("needs a newer schema"));

  carry(first, other);
  EXPECT_EQ(other.shown(kVersionedNote, "a", kVersionedStars), Value::integer(5));
  EXPECT_TRUE(carry(other, first).failures.empty());
  carry(first, second);
  EXPECT_EQ(second.shown(kVersionedNote, "a", kVersionedStars), Value::integer(5));
}

TEST(SchemaSkew, TheUpgradedDecidesWhatItHadLeftOut) {
  VersionedApp first(1, 1);
  VersionedApp second(2, 2);
  VersionedApp other(3, 2);
  second.note("a", {stars(1)});
  carry(second, first);
  carry(second, other);
  second.note("a", {stars(5)});
  other.note("a", {stars(3)});
  carry(second, first);
  EXPECT_EQ(carry(other, first).failures.size(), 1u);
  ASSERT_EQ(first.open(2), Status());
  EXPECT_TRUE(carry(other, first).failures.empty());
  EXPECT_EQ(first.shown(kVersionedNote, "a", kVersionedStars), Value::integer(5));
}

// The rule of deletion is that of the type.
TEST(SchemaSkew, WhetherAnItemOfAnUnknownTypeLivesIsDecidedByOneThatKnowsIt) {
  VersionedApp first(1, 1);
  VersionedApp second(2, 3);
  VersionedApp other(3, 3);
  second.tag("blue");
  carry(second, first);
  carry(second, other);
  second.remove(kVersionedTag, "blue");
  other.put(kVersionedTag, "blue", {colour("red")});
  carry(other, first);
  const SessionReport left_out = carry(second, first);
  ASSERT_EQ(left_out.failures.size(), 1u);
  EXPECT_THAT(left_out.failures[0].status.message(), HasSubstr("whether the item lives is in conflict"));
  EXPECT_EQ(first.held(), 1u);
  carry(first, second);
  EXPECT_FALSE(second.shows(kVersionedTag, "blue"));
  EXPECT_TRUE(carry(second, first).failures.empty());
  EXPECT_EQ(first.held(), 0u);
}

// A person cannot decide what is not understood here.
TEST(SchemaSkew, NoDecisionTouchesWhatTheSchemaDoesNotKnow) {
  VersionedApp first(1, 1);
  VersionedApp second(2, 2);
  VersionedApp other(3, 2);
  second.note("a", {body("x"), stars(1)});
  carry(second, first);
  carry(second, other);
  second.note("a", {body("second"), stars(5)});
  other.note("a", {body("other"), stars(3)});
  carry(second, first);
  SyncSession session(other.replica->provider(), first.replica->provider(), {.on_conflict = OnConflict::kManual});
  ASSERT_EQ(session.run(), Status());
  for (const ConflictRecord& record : first.conflicts()) {
    if (record.state != ConflictState::kDeferred) continue;
    EXPECT_EQ(first.replica->decide(record.id, Decision::kKeepLocal).code(), StatusCode::kUnsupported);
  }
  carry(first, other);
  EXPECT_EQ(other.shown(kVersionedNote, "a", kVersionedStars), Value::integer(5));
}

TEST(SchemaSkew, RestoringAnUnknownUnitIsRefused) {
  VersionedApp third(1, 3);
  VersionedApp other(2, 3);
  third.note("a", {colour("red")});
  carry(third, other);
  third.note("a", {colour("green")});
  other.note("a", {colour("blue")});
  carry(other, third);
  ASSERT_EQ(third.conflicts().size(), 1u);
  const ConflictId id = third.conflicts()[0].id;
  ASSERT_EQ(third.open(2), Status());
  EXPECT_EQ(third.replica->restore(id).code(), StatusCode::kUnsupported);
  ASSERT_EQ(third.open(3), Status());
  EXPECT_EQ(third.replica->restore(id), Status());
}

// A new column begins with something, and nobody has written that.
TEST(SchemaSkew, WhatAnUpgradedAppBeginsWithDoesNotOverruleOthers) {
  VersionedApp first(1, 1);
  VersionedApp second(2, 2);
  second.note("a", {stars(5)});
  second.note("b", {stars(5)});
  carry(second, first);
  ASSERT_EQ(first.open(2), Status());
  first.note("a", {stars(0)});
  first.note("b", {stars(2)});
  carry(second, first);
  EXPECT_EQ(first.shown(kVersionedNote, "a", kVersionedStars), Value::integer(5));
  EXPECT_EQ(first.shown(kVersionedNote, "b", kVersionedStars), Value::integer(5));
  // What may mean something is on record.
  ASSERT_EQ(first.conflicts().size(), 1u);
  EXPECT_EQ(first.conflicts()[0].rule, "newer_schema");
  EXPECT_EQ(first.conflicts()[0].lost.value, Value::integer(2));
  EXPECT_EQ(first.conflicts()[0].kept.value, Value::integer(5));
  // From then on an edit is an edit.
  first.note("a", {stars(0)});
  carry(first, second);
  EXPECT_EQ(second.shown(kVersionedNote, "a", kVersionedStars), Value::integer(0));
}

TEST(SchemaSkew, WhatTheUpgradedAppHasAloneIsNews) {
  VersionedApp first(1, 1);
  VersionedApp second(2, 2);
  first.note("a");
  carry(first, second);
  ASSERT_EQ(first.open(2), Status());
  first.note("a", {stars(3)});
  carry(first, second);
  EXPECT_EQ(second.shown(kVersionedNote, "a", kVersionedStars), Value::integer(3));
}

// An older version of the app again: what it does not know stays, whatever it does with its store.
TEST(SchemaSkew, AfterADowngradeNothingIsDeletedAndNothingDoubled) {
  for (const VersionedApp::Leaves leaves : {VersionedApp::Leaves::kEverything, VersionedApp::Leaves::kWhatItKnows}) {
    VersionedApp third(1, 3);
    VersionedApp other(2, 3);
    third.tag("mine");
    third.note("a", {stars(5), colour("red")});
    other.tag("theirs");
    carry(other, third);
    carry(third, other);

    ASSERT_EQ(third.open(1, leaves), Status());
    EXPECT_EQ(third.held(), 2u);
    EXPECT_TRUE(carry(third, other).quiet());
    other.note("a", {colour("blue")});
    other.put(kVersionedTag, "mine", {colour("green")});
    third.note("a", {body("edited by the old")});
    carry(other, third);
    carry(third, other);
    EXPECT_TRUE(other.shows(kVersionedTag, "mine"));
    EXPECT_TRUE(other.shows(kVersionedTag, "theirs"));
    EXPECT_EQ(other.shown(kVersionedNote, "a", kVersionedColour), Value::text("blue"));
    EXPECT_EQ(other.shown(kVersionedNote, "a", kVersionedBody), Value::text("edited by the old"));

    ASSERT_EQ(third.open(3, leaves), Status());
    EXPECT_EQ(third.held(), 0u);
    carry(other, third);
    EXPECT_TRUE(carry(third, other).quiet());
    EXPECT_EQ(third.alive(), 3u);
    EXPECT_EQ(third.store->size(), 3u);
    EXPECT_EQ(third.shown(kVersionedNote, "a", kVersionedColour), Value::text("blue"));
    EXPECT_EQ(third.shown(kVersionedTag, "mine", kVersionedColour), Value::text("green"));
    EXPECT_EQ(third.shown(kVersionedNote, "a", kVersionedStars), Value::integer(5));
  }
}

TEST(SchemaSkew, WhatWasDeletedElsewhereMeanwhileGoesWithTheUpgrade) {
  VersionedApp third(1, 3);
  VersionedApp other(2, 3);
  third.tag("gone");
  carry(third, other);
  ASSERT_EQ(third.open(1), Status());
  other.remove(kVersionedTag, "gone");
  carry(other, third);
  ASSERT_EQ(third.open(3), Status());
  carry(other, third);
  EXPECT_FALSE(third.shows(kVersionedTag, "gone"));
  EXPECT_EQ(third.alive(), 0u);
}

Schema contradicting() {
  Schema schema = app_schema(2);
  schema.types[0].units[2].rule = ConflictRule::kMin;
  return schema;
}

TEST(SchemaSkew, OpeningWithASchemaThatContradictsTheFormerOneIsRefusedByName) {
  VersionedApp app(1, 2);
  app.note("a", {stars(3)});
  ASSERT_TRUE(app.replica->detect().ok());
  const Status refused = app.open(contradicting());
  EXPECT_EQ(refused.code(), StatusCode::kUnsupported);
  EXPECT_THAT(refused.message(), HasSubstr("type 1 'note', unit 3 'stars': its rule is min here and max there"));
  ASSERT_EQ(app.open(3), Status());
  EXPECT_EQ(app.shown(kVersionedNote, "a", kVersionedStars), Value::integer(3));
}

TEST(SchemaSkew, SessionsAndComparisonsOfContradictingSchemasNameTheDifference) {
  VersionedApp app(1, 2);
  VersionedApp other(2, 2);
  app.note("a", {stars(3)});
  carry(app, other);
  VersionedApp stranger(3, 1);
  ASSERT_EQ(stranger.open(contradicting()), Status());
  SyncSession session(app.replica->provider(), stranger.replica->provider(), {});
  const Status refused = session.run();
  EXPECT_EQ(refused.code(), StatusCode::kUnsupported);
  EXPECT_THAT(refused.message(), HasSubstr("unit 3 'stars': its rule is min here and max there"));
  EXPECT_EQ(stranger.alive(), 0u);
}

TEST(SchemaSkew, ComparisonsIntroduceTheTwo) {
  VersionedApp first(1, 1);
  VersionedApp second(2, 2);
  second.note("a", {stars(3)});
  carry(second, first);
  ASSERT_EQ(second.open(3), Status());
  const Result<Comparison> comparison = first.replica->compare_with(second.replica->provider(), 10);
  ASSERT_TRUE(comparison.ok()) << comparison.status().to_text();
  EXPECT_TRUE(comparison->equal);
}

class CountingChannel : public Channel {
 public:
  explicit CountingChannel(RequestHandler& handler) : direct_(handler) {}
  Result<Bytes> exchange(ByteView request) override {
    ++exchanges;
    return direct_.exchange(request);
  }
  std::size_t exchanges = 0;

 private:
  transports::LocalChannel direct_;
};

// Once introduced, two versions cost no more than two of one version; also after both were closed.
TEST(SchemaSkew, FarReplicasAreIntroducedOnce) {
  VersionedApp first(1, 1);
  VersionedApp second(2, 2);
  second.note("a", {stars(3)});
  ASSERT_TRUE(second.replica->detect().ok());
  const auto exchanges = [&] {
    const auto endpoint = make_provider_endpoint(second.replica->provider());
    CountingChannel channel(*endpoint);
    const auto far = make_remote_provider(channel, {});
    SyncSession session(*far, first.replica->provider(), {});
    EXPECT_EQ(session.run(), Status());
    return channel.exchanges;
  };
  EXPECT_EQ(exchanges(), 4u);  // refused; its schema; ours; begun
  EXPECT_EQ(exchanges(), 1u);
  ASSERT_EQ(first.open(1), Status());
  ASSERT_EQ(second.open(2), Status());
  EXPECT_EQ(exchanges(), 1u);
  EXPECT_EQ(first.shown(kVersionedNote, "a", kVersionedTitle), Value::text("a"));
  // An upgrade has to be told.
  ASSERT_EQ(second.open(3), Status());
  EXPECT_EQ(exchanges(), 4u);
}

TEST(SchemaSkew, MetadataThatDoNotTellTheirSchemaOpenOnlyWithTheSame) {
  VersionedApp app(1, 1);
  app.note("a");
  ASSERT_TRUE(app.replica->detect().ok());
  {
    const auto transaction = app.metadata.begin(TransactionMode::kWrite).value();
    ASSERT_EQ(transaction->set_schemas({}), Status());
    ASSERT_EQ(transaction->commit(), Status());
  }
  EXPECT_EQ(app.open(2).code(), StatusCode::kUnsupported);
  EXPECT_EQ(app.open(1), Status());
  EXPECT_EQ(app.open(2), Status());
}

}  // namespace
}  // namespace harmonica::kernel
