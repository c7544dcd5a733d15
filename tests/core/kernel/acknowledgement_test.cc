// What all replicas are known to know, and what may go because of it.
#include "kernel/acknowledgement.h"

#include <gtest/gtest.h>

#include "core/kernel/note_device.h"
#include "kernel/merge_bases.h"
#include "support/shorthand.h"

namespace harmonica::kernel {
namespace {

ReplicaOptions forgetting() {
  ReplicaOptions options;
  options.guard = Guard::kConfirmed;
  options.forget_acknowledged = true;
  return options;
}

void remove(NoteDevice& device, const std::string& name) {
  const std::vector<StoreKey> keys = device.store.children("");
  for (const StoreKey& key : keys) {
    if (*device.store.find(key)->values.front().value.if_text() == name) {
      ASSERT_EQ(device.store.remove(key), Status());
    }
  }
}

std::uint64_t tombstones(NoteDevice& device) { return device.replica->status()->counts.deleted; }

TEST(Acknowledgement, IsWhatIsContainedForEveryItem) {
  EXPECT_EQ(known_of_every_item(shorthand::knowledge("{A:5,B:3}|i7:{A:2,B:9}|i8:{A:5,B:3,C:1}")),
            shorthand::vector("{A:2,B:3}"));
  EXPECT_EQ(known_of_every_item(shorthand::knowledge("{A:5}|i7:{}")), ClockVector());
}

TEST(Acknowledgement, DeletionsThatAllKnowAreForgotten) {
  NoteDevice first(1, forgetting());
  NoteDevice second(2, {.guard = Guard::kConfirmed});
  first.write("a", "text");
  sync(first, second);
  remove(first, "a");
  EXPECT_TRUE(first.replica->detect().ok());
  EXPECT_EQ(tombstones(first), 1u);
  sync(second, first);
  sync(second, first);
  EXPECT_EQ(tombstones(first), 0u);
  EXPECT_EQ(tombstones(second), 1u);  // whose options say otherwise
  EXPECT_FALSE(first.replica->status()->forgotten.empty());
  // And nothing comes back.
  second.write("b", "text");
  sync(first, second);
  EXPECT_EQ(first.text("a"), "");
  EXPECT_EQ(first.text("b"), "text");
  EXPECT_EQ(second.text("a"), "");
}

TEST(Acknowledgement, OfOneThatWasNeverMetIsNotGuessed) {
  NoteDevice hub(1, forgetting());
  NoteDevice relay(2, {.guard = Guard::kConfirmed});
  NoteDevice far(3, {.guard = Guard::kConfirmed});
  far.write("of the far one", "text");
  sync(relay, far);
  hub.write("a", "text");
  sync(hub, relay);
  sync(relay, far);
  sync(hub, relay);
  remove(hub, "a");
  for (int round = 0; round < 3; ++round) {
    sync(relay, hub);
    sync(relay, far);
  }
  EXPECT_EQ(tombstones(hub), 1u);
  const ReplicaId of_far = far.replica->status()->replica;
  ASSERT_EQ(hub.replica->retire(of_far), Status());
  hub.write("b", "news");  // something else that is heard of again
  sync(relay, hub);
  sync(relay, hub);
  EXPECT_EQ(tombstones(hub), 0u);
}

// A device that is restored to a state from before it acknowledged is nobody's known replica (W64).
TEST(Acknowledgement, DeletionDoesNotReturnFromAnOldCopy) {
  NoteDevice first(1, forgetting());
  NoteDevice second(2, {.guard = Guard::kConfirmed});
  NoteDevice old(3, {.guard = Guard::kConfirmed});
  first.write("a", "text");
  sync(first, second);
  sync(old, first);
  // As far as the others can tell there is no third one: it has written nothing and is forgotten with the device.
  {
    const auto transaction = first.metadata.begin(TransactionMode::kWrite).value();
    Peer peer = *transaction->find_peer(old.replica->status()->replica).value();
    peer.acknowledged.raise({first.replica->status()->replica, ~Tick{0}});
    ASSERT_EQ(transaction->put_peer(peer), Status());
    ASSERT_EQ(transaction->commit(), Status());
  }
  remove(first, "a");
  sync(second, first);
  sync(second, first);
  ASSERT_EQ(tombstones(first), 0u);
  sync(old, first);
  EXPECT_EQ(old.text("a"), "");
  EXPECT_EQ(first.text("a"), "");
}

TEST(Acknowledgement, FormerTextsThatAllHavePassedAreDropped) {
  Schema schema = note_schema();
  schema.types.front().units.back().rule = ConflictRule::kTextMerge;
  ItemType& type = schema.types.front();
  const auto item_with = [&](std::string_view version, const std::string& text) {
    Item item;
    item.type = kNote;
    item.units = {{kText, {shorthand::version(version), Value::text(text), Origin::kWritten}}};
    return item;
  };
  StoredItem stored;
  Item before = item_with("A1", "one");
  for (const auto& [version, text] : {std::pair("A2", "two"), std::pair("B3", "three"), std::pair("A4", "four")}) {
    stored.item = item_with(version, text);
    keep_merge_bases(type, before, stored, ClockVector());
    before = stored.item;
  }
  EXPECT_EQ(stored.merge_bases.size(), 3u);
  stored.item = item_with("A5", "five");
  keep_merge_bases(type, before, stored, shorthand::vector("{A:2,B:2}"));
  std::vector<std::string> texts;
  for (const UnitRegister& base : stored.merge_bases) texts.push_back(*base.content.value.if_text());
  EXPECT_EQ(texts, (std::vector<std::string>{"two", "three", "four"}));
}

}  // namespace
}  // namespace harmonica::kernel
