#include "contract/item_store_contract.h"
#include "harmonica/providers/memory.h"

namespace harmonica::testing {
namespace {

Schema tree_schema() {
  Schema schema;
  schema.default_scope = "tree";
  const Unit title{1, "title", ValueKind::kText, UnitRole::kNone};
  const Unit parent{2, "parent", ValueKind::kIds, UnitRole::kParent};
  const Unit position{3, "position", ValueKind::kBytes, UnitRole::kPosition};
  schema.types = {{1, "leaf", DeletionRule::kEditWins, {title, parent, position}, {1}},
                  {2, "folder", DeletionRule::kEditWins, {title, parent, position}, {1}}};
  return schema;
}

template <WriteUnit kUnit>
struct MemoryTraits {
  providers::MemoryItemStore memory{tree_schema(), kUnit};

  ItemStore& store() { return memory; }
  void reopen() { memory = providers::MemoryItemStore(memory); }
  void edit_as_user() { EXPECT_TRUE(memory.put(leaf("by hand", "", "by hand")).ok()); }
  StoreKey root() { return ""; }
  StoreItem item(TypeId type, StoreKey key, StoreKey parent, std::string title) {
    return {std::move(key), type, std::move(parent), {{1, Value::text(std::move(title))}}, {}, {}};
  }
  StoreItem folder(StoreKey key, StoreKey parent, std::string title) { return item(2, key, parent, title); }
  StoreItem leaf(StoreKey key, StoreKey parent, std::string title) { return item(1, key, parent, title); }
};

struct MemoryTypes {
  using Each = MemoryTraits<WriteUnit::kEachItem>;
  using Whole = MemoryTraits<WriteUnit::kWholeStore>;
};

struct MemoryNames {
  template <typename Traits>
  static std::string GetName(int) {
    return std::is_same_v<Traits, MemoryTypes::Each> ? "EachItem" : "WholeStore";
  }
};

using MemoryStores = ::testing::Types<MemoryTypes::Each, MemoryTypes::Whole>;
INSTANTIATE_TYPED_TEST_SUITE_P(Memory, ItemStoreContract, MemoryStores, MemoryNames);

}  // namespace
}  // namespace harmonica::testing
