#include "kernel/views.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "harmonica/limits.h"
#include "harmonica/providers/memory.h"
#include "support/reference_view.h"
#include "support/shorthand.h"

namespace harmonica::kernel {
namespace {

using shorthand::item;
using shorthand::version;

constexpr TypeId kFolder = 1;
constexpr TypeId kFile = 2;
constexpr TypeId kRow = 3;
constexpr TypeId kNote = 4;
constexpr TypeId kTag = 5;
constexpr TypeId kEverything = 6;
constexpr TypeId kUnknownType = 99;

constexpr UnitId kParentUnit = 1;
constexpr UnitId kNameUnit = 2;
constexpr UnitId kPositionUnit = 3;
constexpr UnitId kKeyUnit = 4;
constexpr UnitId kOtherKeyUnit = 5;
constexpr UnitId kReferenceUnit = 6;
constexpr UnitId kPlainUnit = 7;

Schema schema() {
  const Unit parent{kParentUnit, "parent", ValueKind::kIds, UnitRole::kParent};
  const Unit name{kNameUnit, "name", ValueKind::kText, UnitRole::kName};
  const Unit position{kPositionUnit, "position", ValueKind::kBytes, UnitRole::kPosition};
  const Unit key{kKeyUnit, "key", ValueKind::kInteger, UnitRole::kKey};
  const Unit other_key{kOtherKeyUnit, "other_key", ValueKind::kList, UnitRole::kKey};
  const Unit reference{kReferenceUnit, "reference", ValueKind::kIds, UnitRole::kReference};
  const Unit plain{kPlainUnit, "plain", ValueKind::kText};
  Schema result;
  result.default_scope = "test";
  result.types = {
      {kFolder, "folder", DeletionRule::kEditWins, {parent, name, position}, {}},
      {kFile, "file", DeletionRule::kEditWins, {parent, name}, {}},
      {kRow, "row", DeletionRule::kEditWins, {key, other_key, reference}, {}},
      {kNote, "note", DeletionRule::kEditWins, {name}, {}},
      {kTag, "tag", DeletionRule::kEditWins, {plain}, {}},
      {kEverything, "everything", DeletionRule::kEditWins, {parent, name, position, key, reference}, {}},
  };
  return result;
}

Schema schema_with_roots() {
  Schema result = schema();
  result.roots = {{item(0xf1), "bar"}, {item(0xf2), "other"}};
  return result;
}

// An id whose first two digits tell it apart.
ItemId named_item(std::uint8_t first) {
  ItemId id;
  id.bytes.fill(0xee);
  id.bytes[0] = first;
  return id;
}

Item made(TypeId type, const ItemId& id, std::string_view at) {
  Item result;
  result.id = id;
  result.type = type;
  result.existence.version = version(at);
  return result;
}

Item folder(const ItemId& id, std::string_view at, Value::Ids ancestors, const std::string& name) {
  Item result = made(kFolder, id, at);
  result.at(kParentUnit) = {version(at), Value::ids(std::move(ancestors)), Origin::kWritten};
  result.at(kNameUnit) = {version(at), Value::text(name), Origin::kWritten};
  return result;
}

Item row(const ItemId& id, std::string_view at, const Value& key, Value::Ids references) {
  Item result = made(kRow, id, at);
  result.at(kKeyUnit) = {version(at), key, Origin::kWritten};
  result.at(kReferenceUnit) = {version(at), Value::ids(std::move(references)), Origin::kWritten};
  return result;
}

Item deleted(Item source, std::string_view at) {
  source.existence = {version(at), Existence::kDeleted};
  return source;
}

// Passes everything on and counts what is read.
class CountingTransaction : public MetadataTransaction {
 public:
  explicit CountingTransaction(MetadataTransaction& inner) : inner_(inner) {}

  std::size_t reads = 0;

  Result<std::optional<StoredItem>> find(const ItemId& id) override {
    ++reads;
    return inner_.find(id);
  }
  Result<std::vector<IndexPosition>> find_index(const IndexQuery& query) override {
    Result<std::vector<IndexPosition>> found = inner_.find_index(query);
    reads += 1 + found->size();
    return found;
  }
  Result<ReplicaState> state() override { return inner_.state(); }
  Status set_state(const ReplicaState& state) override { return inner_.set_state(state); }
  Result<Bytes> anchor() override { return inner_.anchor(); }
  Status set_anchor(const Bytes& anchor) override { return inner_.set_anchor(anchor); }
  Result<Knowledge> knowledge() override { return inner_.knowledge(); }
  Status set_knowledge(const Knowledge& knowledge) override { return inner_.set_knowledge(knowledge); }
  Result<Knowledge> forgotten() override { return inner_.forgotten(); }
  Status set_forgotten(const Knowledge& forgotten) override { return inner_.set_forgotten(forgotten); }
  Result<SchemaMemory> schemas() override { return inner_.schemas(); }
  Status set_schemas(const SchemaMemory& schemas) override { return inner_.set_schemas(schemas); }
  Result<std::vector<LineageMark>> lineage() override { return inner_.lineage(); }
  Result<ReplicaTable> replicas() override { return inner_.replicas(); }
  Status set_replicas(const ReplicaTable& replicas) override { return inner_.set_replicas(replicas); }
  Status set_lineage(std::span<const LineageMark> lineage) override { return inner_.set_lineage(lineage); }
  Result<std::vector<Peer>> peers() override { return inner_.peers(); }
  Result<std::optional<Peer>> find_peer(const ReplicaId& replica) override { return inner_.find_peer(replica); }
  Status put_peer(const Peer& peer) override { return inner_.put_peer(peer); }
  Status put(const StoredItem& stored, std::span<const IndexEntry> entries) override { return inner_.put(stored, entries); }
  Status remove(const ItemId& id) override { return inner_.remove(id); }
  Status scan(const ItemIdRange& range, const std::function<Result<Visit>(const StoredItem&)>& visit) override {
    return inner_.scan(range, visit);
  }
  Result<ItemCounts> counts() override { return inner_.counts(); }
  Result<std::vector<ItemId>> find_lacking(const Knowledge& knowledge, const ItemIdRange& range,
                                           std::size_t count_max) override {
    return inner_.find_lacking(knowledge, range, count_max);
  }
  Result<ClockVector> find_ghost(const ItemId& item) override { return inner_.find_ghost(item); }
  Status put_ghost(const ItemId& item, const ClockVector& versions) override { return inner_.put_ghost(item, versions); }
  Status scan_ghosts(const ItemIdRange& range,
                     const std::function<Result<Visit>(const ItemId&, const ClockVector&)>& visit) override {
    return inner_.scan_ghosts(range, visit);
  }
  Status put_conflict(const ConflictRecord& record) override { return inner_.put_conflict(record); }
  Result<std::optional<ConflictRecord>> find_conflict(const ConflictId& id) override { return inner_.find_conflict(id); }
  Status remove_conflict(const ConflictId& id) override { return inner_.remove_conflict(id); }
  Status scan_conflicts(const std::function<Result<Visit>(const ConflictRecord&)>& visit) override {
    return inner_.scan_conflicts(visit);
  }
  Status commit() override { return inner_.commit(); }

 private:
  MetadataTransaction& inner_;
};

// A replica reduced to its registers and views.
class Shown {
 public:
  explicit Shown(Schema schema)
      : schema_(std::move(schema)),
        store_(providers::make_memory_metadata()),
        transaction_(*store_->begin(TransactionMode::kWrite)) {}

  // Takes these registers in one update. Returns the ids of all items given back.
  std::vector<ItemId> take(const std::vector<Item>& items) {
    std::vector<ViewInput> inputs;
    for (const Item& one : items) {
      ViewInput input;
      input.before = *transaction_->find(one.id);
      if (input.before) input.after = *input.before;
      input.after.item = one;
      inputs.push_back(std::move(input));
    }
    CountingTransaction counting(*transaction_);
    Result<std::vector<StoredItem>> updated = update_views(schema_, counting, std::move(inputs));
    EXPECT_TRUE(updated.ok()) << updated.status().to_text();
    reads_ = counting.reads;
    std::vector<ItemId> ids;
    for (const StoredItem& stored : *updated) {
      std::vector<IndexEntry> entries = index_entries(schema_, stored, WrittenState::kWritten);
      EXPECT_TRUE(transaction_->put(stored, entries).ok());
      std::sort(entries.begin(), entries.end(),
                [](const auto& a, const auto& b) { return std::pair(a.kind, a.key) < std::pair(b.kind, b.key); });
      EXPECT_EQ(std::adjacent_find(entries.begin(), entries.end()), entries.end()) << "an index entry twice";
      ids.push_back(stored.item.id);
    }
    return ids;
  }

  void forget(const ItemId& id) { EXPECT_TRUE(transaction_->remove(id).ok()); }

  std::optional<Item> find(const ItemId& id) const {
    const std::optional<StoredItem> stored = *transaction_->find(id);
    return stored ? std::optional(stored->item) : std::nullopt;
  }
  ItemView view(const ItemId& id) const { return (*transaction_->find(id)).value().view; }
  ItemId parent(const ItemId& id) const { return view(id).parent; }
  std::string name(const ItemId& id) const {
    const StoredItem stored = (*transaction_->find(id)).value();
    return shown_name(*stored.item.value_of(kNameUnit).if_text(), id, stored.view.name_suffix);
  }
  std::vector<Item> items() const {
    std::vector<Item> result;
    EXPECT_TRUE(transaction_
                    ->scan(ItemIdRange::all(),
                           [&](const StoredItem& stored) -> Result<Visit> {
                             result.push_back(stored.item);
                             return Visit::kContinue;
                           })
                    .ok());
    return result;
  }
  std::map<ItemId, ItemView> views() const {
    std::map<ItemId, ItemView> result;
    EXPECT_TRUE(transaction_
                    ->scan(ItemIdRange::all(),
                           [&](const StoredItem& stored) -> Result<Visit> {
                             result[stored.item.id] = stored.view;
                             return Visit::kContinue;
                           })
                    .ok());
    return result;
  }
  // Index rows and items read by the last update.
  std::size_t reads() const { return reads_; }

 private:
  Schema schema_;
  std::unique_ptr<MetadataStore> store_;
  std::unique_ptr<MetadataTransaction> transaction_;
  std::size_t reads_ = 0;
};

const ItemId a = named_item(0xa1);
const ItemId b = named_item(0xb1);
const ItemId c = named_item(0xc1);
const ItemId d = named_item(0xd1);
const ItemId e = named_item(0xe1);
const ItemId root{};

TEST(Views, W79AClimbedChildStandsAlikeWhetherItsFoldersTombstoneIsKeptOrCleaned) {
  const ItemId g = a;
  const ItemId f = b;
  const Item gone = deleted(folder(f, "A2", {g, root}, "f"), "A5");
  const Item child = folder(c, "B4", {f, g, root}, "c");
  Shown with_tombstone(schema());
  with_tombstone.take({folder(g, "A1", {root}, "g"), gone});
  with_tombstone.take({child});
  Shown cleaned(schema());
  cleaned.take({folder(g, "A1", {root}, "g")});
  cleaned.take({child});
  EXPECT_EQ(with_tombstone.parent(c), g);
  EXPECT_EQ(cleaned.view(c), with_tombstone.view(c));
}

TEST(Views, W80ASiblingOutsideTheBatchLosesItsSuffixInTheSameStep) {
  Shown shown(schema());
  shown.take({folder(a, "A1", {}, "n"), folder(b, "B1", {}, "n")});
  ASSERT_EQ(shown.name(b), "n (b1ee)");
  const std::vector<ItemId> updated = shown.take({deleted(folder(a, "A1", {}, "n"), "A2")});
  EXPECT_EQ(updated, (std::vector{a, b}));
  EXPECT_EQ(shown.name(b), "n");
}

TEST(Views, ARestoredFolderBringsItsClimbedChildrenHome) {
  Shown shown(schema());
  const Item outer = folder(a, "A1", {}, "outer");
  const Item inner = folder(b, "A2", {a}, "inner");
  shown.take({outer, inner, folder(c, "A3", {b, a}, "child")});
  EXPECT_EQ(shown.take({deleted(inner, "A4")}), (std::vector{b, c}));
  EXPECT_EQ(shown.parent(c), a);
  EXPECT_EQ(shown.take({deleted(outer, "A5")}), (std::vector{a, c}));
  EXPECT_EQ(shown.parent(c), root);
  Item restored = inner;
  restored.existence = {version("A6"), Existence::kRestored};
  EXPECT_EQ(shown.take({restored}), (std::vector{b, c}));
  EXPECT_EQ(shown.parent(c), b);
}

TEST(Views, ARootIsAShownParentAndTheFirstOneTakesWhatHasNoOther) {
  const Schema roots = schema_with_roots();
  Shown shown(roots);
  shown.take({folder(a, "A1", {b, item(0xf2)}, "in the other root"), folder(c, "A2", {b}, "nowhere left")});
  EXPECT_EQ(shown.parent(a), item(0xf2));
  EXPECT_EQ(shown.parent(c), item(0xf1));
}

TEST(Views, TheMoveThatClosedACycleOfTwoMovesOn) {
  Shown shown(schema());
  shown.take({folder(a, "A1", {}, "a"), folder(b, "A2", {}, "b")});
  shown.take({folder(a, "A3", {b}, "a")});
  shown.take({folder(b, "B4", {a}, "b")});
  EXPECT_EQ(shown.parent(a), b);
  EXPECT_EQ(shown.parent(b), root);
  EXPECT_TRUE(shown.view(b).evicted);
}

TEST(Views, ACycleOfThreeEndsWhereItsYoungestMoveHasAnotherAncestor) {
  Shown shown(schema());
  shown.take(
      {folder(d, "A1", {}, "d"), folder(a, "A5", {b, d}, "a"), folder(b, "A9", {c, d}, "b"), folder(c, "A7", {a, d}, "c")});
  EXPECT_EQ(shown.parent(a), b);
  EXPECT_EQ(shown.parent(b), d);
  EXPECT_EQ(shown.parent(c), a);
}

TEST(Views, TwoCyclesAtOnceAreBothResolved) {
  Shown shown(schema());
  shown.take({folder(a, "A1", {b}, "a"), folder(b, "A4", {a}, "b"), folder(c, "A3", {d}, "c"), folder(d, "A2", {c}, "d")});
  EXPECT_EQ(shown.parent(a), b);
  EXPECT_EQ(shown.parent(b), root);
  EXPECT_EQ(shown.parent(c), root);
  EXPECT_EQ(shown.parent(d), c);
}

TEST(Views, LeavingOneCycleCanCloseAnother) {
  Shown shown(schema());
  // a and b, and c and d, are cycles; b goes on into c, and d goes on into a.
  shown.take(
      {folder(a, "A1", {b}, "a"), folder(b, "A8", {a, c}, "b"), folder(c, "A2", {d}, "c"), folder(d, "A9", {c, a}, "d")});
  EXPECT_EQ(shown.parent(b), c);
  EXPECT_EQ(shown.parent(d), root);
}

TEST(Views, AnItemInsideItselfMovesOn) {
  Shown shown(schema());
  shown.take({folder(b, "A1", {}, "b"), folder(a, "A2", {a, a, b}, "a")});
  EXPECT_EQ(shown.parent(a), b);
}

TEST(Views, TheEvictedGoHomeWhenTheCycleIsGone) {
  Shown shown(schema());
  shown.take({folder(a, "A1", {b}, "a"), folder(b, "A2", {a}, "b")});
  ASSERT_EQ(shown.parent(b), root);
  EXPECT_EQ(shown.take({folder(a, "A3", {}, "a")}), (std::vector{a, b}));
  EXPECT_EQ(shown.parent(b), a);
  EXPECT_FALSE(shown.view(b).evicted);
}

TEST(Views, SuffixesGrowUntilTheyAreFree) {
  Shown shown(schema());
  ItemId twin = b;
  twin.bytes.back() = 0xff;
  shown.take({folder(a, "A1", {}, "n"), folder(b, "A2", {}, "n"), folder(twin, "A3", {}, "n")});
  EXPECT_EQ(shown.name(b), "n (b1ee)");
  EXPECT_EQ(shown.name(twin), "n (b1eeeeee)") << "given to its twin";
  EXPECT_EQ(shown.take({folder(e, "A4", {}, "n (b1ee)")}), (std::vector{e, b, twin}));
  EXPECT_EQ(shown.name(b), "n (b1eeeeee)") << "someone is called so";
  EXPECT_EQ(shown.name(twin), "n (b1eeeeeeeeee)");
}

TEST(Views, ANameTakenInAllLengthsEndsWithTheWholeId) {
  Shown shown(schema());
  std::vector<Item> items{folder(a, "A1", {}, "n"), folder(b, "A2", {}, "n")};
  for (std::uint8_t digits = 4; digits <= 32; digits = static_cast<std::uint8_t>(digits + 4)) {
    items.push_back(folder(named_item(digits), "A3", {}, shown_name("n", b, digits)));
  }
  shown.take(items);
  EXPECT_EQ(shown.view(b).name_suffix, 32);
}

TEST(Views, NamesAreUniqueOverAllTypesButOnlyInOneFolder) {
  Shown shown(schema());
  Item file = folder(c, "A3", {a}, "n");
  file.type = kFile;
  shown.take({folder(a, "A1", {}, "n"), folder(b, "A2", {a}, "n"), file});
  EXPECT_EQ(shown.name(b), "n");
  EXPECT_EQ(shown.name(c), "n (c1ee)");
}

TEST(Views, AParkedRowIsShownAsSoonAsItsValueIsFree) {
  Shown shown(schema());
  shown.take({row(a, "A1", Value::integer(7), {}), row(b, "A2", Value::integer(7), {})});
  EXPECT_TRUE(shown.view(b).parked);
  EXPECT_EQ(shown.take({row(a, "A3", Value::integer(8), {})}), (std::vector{a, b}));
  EXPECT_EQ(shown.view(b), (ItemView{.visible = true, .parent = {}}));
}

TEST(Views, AParkedRowStaysParkedAlthoughItsRivalIsHeld) {
  Shown shown(schema());
  shown.take({row(a, "A1", Value::integer(7), {e}), row(b, "A2", Value::integer(7), {})});
  EXPECT_TRUE(shown.view(a).parked) << "e is not there";
  EXPECT_TRUE(shown.view(b).parked) << "a has the value, shown or not";
  shown.take({row(b, "A3", Value::integer(7), {item(0)})});
  EXPECT_TRUE(shown.view(b).parked) << "its key is judged anew although only its reference changed";
}

TEST(Views, NullIsNeverTaken) {
  Shown shown(schema());
  shown.take({row(a, "A1", Value(), {}), row(b, "A2", Value(), {})});
  EXPECT_TRUE(shown.view(a).visible);
  EXPECT_TRUE(shown.view(b).visible);
}

TEST(Views, ReferencesHideTheWholeChainAndBringItBack) {
  Shown shown(schema());
  const Item parent = row(c, "A1", Value(), {});
  shown.take({row(a, "A2", Value(), {b}), row(b, "A3", Value(), {c})});
  EXPECT_FALSE(shown.view(a).visible);
  EXPECT_EQ(shown.take({parent}), (std::vector{c, a, b}));
  EXPECT_TRUE(shown.view(a).visible);
  EXPECT_EQ(shown.take({deleted(parent, "A4")}), (std::vector{c, a, b}));
  EXPECT_FALSE(shown.view(a).visible);
}

TEST(Views, RowsThatReferToEachOtherStayShownAndComeBackTogether) {
  Shown shown(schema());
  const Item third = row(c, "A3", Value(), {});
  shown.take({row(a, "A1", Value(), {b, a}), row(b, "A2", Value(), {a, c}), third});
  EXPECT_TRUE(shown.view(a).visible && shown.view(b).visible);
  shown.take({deleted(third, "A4")});
  EXPECT_FALSE(shown.view(a).visible || shown.view(b).visible);
  shown.take({third});
  EXPECT_TRUE(shown.view(a).visible && shown.view(b).visible);
}

TEST(Views, AParkedParentCountsAsLiving) {
  Shown shown(schema());
  Item parent = folder(b, "A2", {}, "b");
  parent.type = kEverything;
  parent.at(kReferenceUnit).value = Value::ids({e});
  shown.take({parent, folder(c, "A3", {b}, "c")});
  EXPECT_FALSE(shown.view(b).visible);
  EXPECT_EQ(shown.parent(c), b);
  EXPECT_TRUE(shown.view(c).visible);
}

TEST(Views, AParkedChildFollowsItsParentsDeletion) {
  Shown shown(schema());
  Item child = folder(c, "A3", {b, a}, "c");
  child.type = kEverything;
  child.at(kReferenceUnit).value = Value::ids({e});
  const Item parent = folder(b, "A2", {a}, "b");
  shown.take({folder(a, "A1", {}, "a"), parent, child});
  ASSERT_TRUE(shown.view(c).parked);
  shown.take({deleted(parent, "A4")});
  EXPECT_EQ(shown.parent(c), a);
}

TEST(Views, AChainOfTenThousandIsClosedAndOpened) {
  constexpr std::uint64_t kDepth = 10'000;
  Shown shown(schema());
  std::vector<Item> chain;
  for (std::uint64_t i = 1; i <= kDepth; ++i) {
    chain.push_back(folder(item(i), "A1", i == 1 ? Value::Ids{} : Value::Ids{item(i - 1)}, "n"));
  }
  shown.take(chain);
  EXPECT_EQ(shown.parent(item(kDepth)), item(kDepth - 1));
  // The whole chain becomes one cycle, and the move that closed it gives way.
  EXPECT_EQ(shown.take({folder(item(1), "A2", {item(kDepth)}, "n")}), (std::vector{item(1)}));
  EXPECT_EQ(shown.parent(item(1)), root);
  // Half way up somebody leaves: the cycle is open, and the first goes where it wanted.
  shown.take({folder(item(kDepth / 2), "A3", {}, "n")});
  EXPECT_EQ(shown.parent(item(1)), item(kDepth));
  EXPECT_FALSE(shown.view(item(1)).evicted);
}

TEST(Views, TwentyThousandRowsThatReferInAChainComeAndGo) {
  constexpr std::uint64_t kRows = 20'000;
  Shown shown(schema());
  std::vector<Item> rows;
  for (std::uint64_t i = 2; i <= kRows; ++i)
    rows.push_back(row(item(i), "A1", Value::integer(static_cast<int>(i)), {item(i - 1)}));
  shown.take(rows);
  EXPECT_TRUE(shown.view(item(kRows)).parked);
  EXPECT_EQ(shown.take({row(item(1), "A2", Value(), {})}).size(), kRows);
  EXPECT_TRUE(shown.view(item(kRows)).visible);
}

TEST(Views, AHundredThousandItemsInOneUpdateAndOneMoreReadsOnlyItsSurroundings) {
  constexpr std::uint64_t kItems = 100'000;
  constexpr std::uint64_t kFanOut = 10;
  Shown shown(schema());
  std::vector<Item> tree;
  for (std::uint64_t i = 1; i <= kItems; ++i) {
    const std::uint64_t parent = (i + kFanOut - 2) / kFanOut;
    tree.push_back(folder(item(i), "A1", parent == 0 ? Value::Ids{} : Value::Ids{item(parent)}, std::to_string(i)));
  }
  EXPECT_EQ(shown.take(tree).size(), kItems);
  EXPECT_EQ(shown.take({folder(item(kItems), "A2", {item(7)}, "moved")}), (std::vector{item(kItems)}));
  EXPECT_LE(shown.reads(), 20U);
  EXPECT_EQ(shown.take({folder(item(kItems), "A2", {item(7)}, "renamed")}), (std::vector{item(kItems)}));
  EXPECT_LE(shown.reads(), 5U);
}

TEST(Views, ATypeWithoutRolesReadsNothing) {
  Schema bare;
  bare.types = {{kTag, "tag", DeletionRule::kEditWins, {{kPlainUnit, "plain", ValueKind::kText}}, {}}};
  Shown shown(bare);
  shown.take({made(kTag, a, "A1"), made(kTag, b, "A1")});
  EXPECT_TRUE(shown.view(a).visible);
  EXPECT_EQ(shown.reads(), 0U);
}

TEST(Views, IndexEntriesOfOneItem) {
  StoredItem stored;
  stored.item = folder(c, "A1", {a, a, b}, "n");
  stored.item.at(kPositionUnit).value = Value::bytes({0x12, 0x34});
  stored.view = {.visible = true, .evicted = true, .parent = b, .ancestors_skipped = 2};
  stored.shown = ShownItem{"k", b, {}, {}};
  const auto entries = index_entries(schema(), stored, WrittenState::kUnwritten);
  const auto keys = [&](IndexKind kind) {
    std::vector<Bytes> result;
    for (const IndexEntry& entry : entries) {
      if (entry.kind == kind) result.push_back(entry.key);
    }
    return result;
  };
  EXPECT_EQ(keys(IndexKind::kStoreKey), (std::vector<Bytes>{{'k'}}));
  EXPECT_EQ(keys(IndexKind::kUnwritten), (std::vector<Bytes>{{}}));
  EXPECT_EQ(keys(IndexKind::kEvicted), (std::vector<Bytes>{{}}));
  EXPECT_EQ(keys(IndexKind::kChild), (std::vector<Bytes>{child_index_key(b, {0x12, 0x34})}));
  EXPECT_EQ(keys(IndexKind::kSkippedAncestor), (std::vector<Bytes>{child_index_key(a, {})}));
  EXPECT_EQ(keys(IndexKind::kName).size(), 1U);
  EXPECT_EQ(entries.size(), 6U);
}

TEST(Views, ADeletedItemStandsInNoIndexOfTheViews) {
  StoredItem stored;
  stored.item = deleted(folder(c, "A1", {a}, "n"), "A2");
  const std::vector<IndexEntry> entries = index_entries(schema(), stored, WrittenState::kWritten);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries.front().kind, IndexKind::kTombstone);
}

// Random histories, each compared with the reference after every update.
class History {
 public:
  History(const Schema& schema, std::uint32_t seed) : schema_(schema), shown_(schema), random_(seed) {
    const std::size_t count = 3 + below(10);
    for (std::size_t i = 0; i < count; ++i) {
      ItemId id;
      // Many ids agree in their first digits, so that short suffixes collide.
      id.bytes[0] = static_cast<std::uint8_t>(below(2));
      id.bytes[2] = static_cast<std::uint8_t>(below(2));
      id.bytes[15] = static_cast<std::uint8_t>(i + 1);
      ids_.push_back(id);
    }
    for (const Root& one : schema.roots) places_.push_back(one.id);
    places_.push_back(ItemId{});
    places_.push_back(item(0xdead));  // never held
    places_.insert(places_.end(), ids_.begin(), ids_.end());
    for (const ItemId& id : ids_) types_[id] = kinds_[below(kinds_.size())];
  }

  // Empty, or what went wrong and how it came to that.
  std::string run(int updates) {
    for (int i = 0; i < updates; ++i) {
      if (std::string problem = update(); !problem.empty()) return text_ + problem;
    }
    return {};
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  bool chance(std::size_t percent) { return below(100) < percent; }

  Version next_version() {
    // Items that come in one update can have one version.
    if (!chance(30)) ++tick_;
    return {shorthand::replica(chance(50) ? 'A' : 'B'), tick_};
  }

  void write(Item& one, UnitId unit, Value value) { one.at(unit) = {next_version(), std::move(value), Origin::kWritten}; }

  Value random_name() {
    std::string name(1, static_cast<char>('a' + below(2)));
    while (chance(30)) name = shown_name(name, ids_[below(ids_.size())], static_cast<std::uint8_t>(4 * (1 + below(3))));
    if (chance(5)) return Value();
    return Value::text(chance(5) ? "" : name);
  }

  Value random_ids(std::size_t count_max) {
    Value::Ids result(below(count_max + 1));
    for (ItemId& id : result) id = places_[below(places_.size())];
    return Value::ids(std::move(result));
  }

  Value random_key() {
    if (chance(20)) return Value();
    return chance(50) ? Value::integer(static_cast<int>(below(3))) : Value::text(std::to_string(below(3)));
  }

  void change_unit(Item& one, UnitId unit) {
    switch (unit) {
      case kParentUnit:
        return write(one, unit, chance(5) ? one.value_of(unit) : random_ids(4));
      case kNameUnit:
        return write(one, unit, random_name());
      case kPositionUnit:
        return write(one, unit, Value::bytes({static_cast<std::uint8_t>(below(256))}));
      case kKeyUnit:
        return write(one, unit, random_key());
      case kOtherKeyUnit:
        return write(one, unit, chance(50) ? Value() : Value::list({random_key(), random_key()}));
      case kReferenceUnit:
        return write(one, unit, chance(40) ? Value() : random_ids(2));
      default:
        return write(one, unit, Value::text("x"));
    }
  }

  Item changed(const ItemId& id) {
    std::optional<Item> held = shown_.find(id);
    Item one = held.value_or(made(types_[id], id, "A1"));
    if (!held || chance(15)) {
      if (chance(3)) one.type = chance(30) ? kUnknownType : kinds_[below(kinds_.size())];
      one.existence = {next_version(), held && one.alive() ? Existence::kDeleted : Existence::kRestored};
    }
    const ItemType* type = schema_.find_type(one.type);
    if (type == nullptr) return one;
    for (const Unit& unit : type->units) {
      if (!held || chance(40)) change_unit(one, unit.id);
    }
    return one;
  }

  std::string update() {
    std::vector<ItemId> chosen = ids_;
    std::shuffle(chosen.begin(), chosen.end(), random_);
    chosen.resize(1 + below(std::min<std::size_t>(chosen.size(), chance(20) ? 8 : 2)));
    std::vector<Item> items;
    text_ += "update\n";
    for (const ItemId& id : chosen) {
      items.push_back(changed(id));
      text_ += "  " + items.back().to_text() + "\n";
    }

    const std::map<ItemId, ItemView> before = shown_.views();
    const std::vector<ItemId> given_back = shown_.take(items);
    const std::map<ItemId, ItemView> after = shown_.views();
    const std::ptrdiff_t inputs = static_cast<std::ptrdiff_t>(chosen.size());
    if (!std::equal(chosen.begin(), chosen.end(), given_back.begin()))
      return "the inputs do not come back in their order\n";
    if (!std::is_sorted(given_back.begin() + inputs, given_back.end())) return "the others are not in id order\n";
    for (const ItemId& id : std::set<ItemId>(given_back.begin() + inputs, given_back.end())) {
      if (before.at(id) == after.at(id)) return id.to_text() + " came back without need\n";
    }
    std::string differences;
    for (const auto& [id, view] : testing::reference_views(schema_, shown_.items())) {
      if (view != after.at(id))
        differences += id.to_text() + "\n  is " + text(after.at(id)) + "\n  not " + text(view) + "\n";
    }
    clean();
    return differences;
  }

  void clean() {
    if (!chance(20)) return;
    const ItemId& id = ids_[below(ids_.size())];
    const std::optional<Item> held = shown_.find(id);
    if (!held || held->alive()) return;
    shown_.forget(id);
    text_ += "cleaned " + id.to_text() + "\n";
  }

  static std::string text(const ItemView& view) {
    return std::string(view.visible ? "visible" : "hidden") + (view.parked ? " parked" : "") +
           (view.evicted ? " evicted" : "") + " in " + view.parent.to_text() + " skipped " +
           std::to_string(view.ancestors_skipped) + " suffix " + std::to_string(view.name_suffix);
  }

  const Schema& schema_;
  Shown shown_;
  std::mt19937 random_;
  std::vector<ItemId> ids_;
  std::vector<ItemId> places_;
  std::map<ItemId, TypeId> types_;
  std::vector<TypeId> kinds_{kFolder, kFolder, kFile, kRow, kRow, kNote, kTag, kEverything};
  std::string text_;
  Tick tick_ = 1;
};

void compare_histories(const Schema& schema, std::uint32_t first_seed, std::uint32_t count) {
  for (std::uint32_t seed = first_seed; seed < first_seed + count; ++seed) {
    const std::string problem = History(schema, seed).run(25);
    ASSERT_EQ(problem, "") << "seed " << seed;
  }
}

TEST(Views, RandomHistoriesAgreeWithTheReference) { compare_histories(schema(), 1, 1'000); }

TEST(Views, RandomHistoriesWithRootsAgreeWithTheReference) { compare_histories(schema_with_roots(), 100'000, 1'000); }

// Folders alone: many more cycles and name clashes.
TEST(Views, RandomHistoriesOfFoldersAgreeWithTheReference) {
  Schema folders = schema();
  for (ItemType& type : folders.types) type.units = folders.types.front().units;
  compare_histories(folders, 200'000, 1'000);
}

// Rows alone: chains of shared values and references.
TEST(Views, RandomHistoriesOfRowsAgreeWithTheReference) {
  Schema rows = schema();
  for (ItemType& type : rows.types) type.units = rows.find_type(kRow)->units;
  compare_histories(rows, 300'000, 1'000);
}

}  // namespace
}  // namespace harmonica::kernel
