// What the contracts of item stores share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harmonica/conformance/enumerated_items.h"
#include "harmonica/conformance/store_subject.h"

namespace harmonica::conformance {

// Looks at a store and writes into it as the kernel does: keeps what was shown, and the anchor. Thread-compatible.
class ItemStoreFixture : public ::testing::Test {
 protected:
  using Tree = std::map<StoreKey, std::vector<StoreKey>>;

  virtual StoreSubject& subject() = 0;
  ItemStore& store() { return subject().store(); }

  StoreKey key(std::uint32_t number) {
    Bytes bytes(16);
    for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
    return store().key_for(shaped_item_id(bytes));
  }
  StoreItem leaf(StoreKey key, StoreKey parent, std::string title) {
    return store().as_held(subject().leaf(std::move(key), std::move(parent), std::move(title)));
  }

  // Looks at the store; `anchor_` and `seen_` follow.
  EnumerationKind look() {
    EnumeratedItems found;
    auto enumeration = store().enumerate(anchor_, seen_, found);
    EXPECT_TRUE(enumeration.ok()) << enumeration.status().to_text();
    EXPECT_THAT(found.skipped_lines, ::testing::IsEmpty());
    if (!enumeration.ok()) return EnumerationKind::kUnchanged;
    anchor_ = enumeration->anchor;
    if (enumeration->kind == EnumerationKind::kEverything) seen_ = found;
    if (enumeration->kind == EnumerationKind::kChanges) {
      std::set<StoreKey> gone(found.removed_keys.begin(), found.removed_keys.end());
      for (const StoreItem& item : found.items) gone.insert(item.key);
      std::erase_if(seen_.items, [&](const StoreItem& item) { return gone.contains(item.key); });
      seen_.items.insert(seen_.items.end(), found.items.begin(), found.items.end());
    }
    return enumeration->kind;
  }

  StoreWrite put(StoreItem item, StoreKey previous, std::optional<StoreItem> expected = {}) {
    return {WriteKind::kPut, store().as_held(std::move(item)), std::move(previous), std::move(expected)};
  }
  StoreWrite removal(StoreItem item) {
    item = store().as_held(std::move(item));
    return {WriteKind::kRemove, item, {}, item};
  }

  std::vector<WriteState> write(const std::vector<StoreWrite>& writes) {
    auto written = store().apply(writes, anchor_);
    EXPECT_TRUE(written.ok()) << written.status().to_text();
    std::vector<WriteState> states;
    if (!written.ok()) return states;
    for (const WriteOutcome& outcome : written->outcomes) states.push_back(outcome.state);
    anchor_ = written->anchor;
    return states;
  }

  // What stands in the store, by a look that trusts nothing known before.
  std::vector<StoreItem> standing() {
    EnumeratedItems found;
    auto enumeration = store().enumerate({}, seen_, found);
    EXPECT_TRUE(enumeration.ok()) << enumeration.status().to_text();
    return found.items;
  }

  // The children of each parent: in their order where siblings have one, else sorted.
  Tree tree() {
    Tree children;
    std::set<StoreKey> known;
    for (const StoreItem& item : standing()) {
      EXPECT_TRUE(known.insert(item.key).second) << "twice: " << item.key;
      children[item.parent].push_back(item.key);
    }
    if (!siblings_have_an_order()) {
      for (auto& [parent, keys] : children) std::ranges::sort(keys);
    }
    return children;
  }
  // `keys` as `tree` gives them.
  std::vector<StoreKey> siblings(std::vector<StoreKey> keys) {
    if (!siblings_have_an_order()) std::ranges::sort(keys);
    return keys;
  }
  bool siblings_have_an_order() {
    const TypeId type = subject().leaf("x", subject().root(), "x").type;
    for (const ItemType& candidate : store().schema().types) {
      if (candidate.id != type) continue;
      for (const Unit& unit : candidate.units) {
        if (unit.role == UnitRole::kPosition) return true;
      }
    }
    return false;
  }

  std::optional<StoreItem> held(const StoreKey& key) {
    for (StoreItem& item : standing()) {
      if (item.key == key) return std::move(item);
    }
    return std::nullopt;
  }

  void expect_held(const StoreItem& written) {
    const auto item = held(written.key);
    ASSERT_TRUE(item.has_value()) << "not in the store: " << written.key;
    EXPECT_EQ(item->type, written.type);
    EXPECT_EQ(item->parent, written.parent);
    EXPECT_EQ(item->values, written.values);
  }

  Bytes anchor_;
  EnumeratedItems seen_;
};

}  // namespace harmonica::conformance
