// The store in memory as a subject of the contracts.
#pragma once

#include <string>
#include <utility>

#include "harmonica/assert.h"
#include "harmonica/conformance/store_subject.h"
#include "harmonica/providers/memory.h"

namespace harmonica::conformance {

inline Schema tree_schema() {
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
class MemorySubject : public StoreSubject {
 public:
  ItemStore& store() override { return memory; }
  void reopen() override { memory = providers::MemoryItemStore(memory); }
  void edit_as_user() override { HARMONICA_ASSERT(memory.put(leaf("by hand", "", "by hand")).ok()); }
  StoreItem leaf(StoreKey key, StoreKey parent, std::string title) override {
    return item(1, std::move(key), std::move(parent), std::move(title));
  }
  std::optional<StoreItem> folder(StoreKey key, StoreKey parent, std::string title) override {
    return item(2, std::move(key), std::move(parent), std::move(title));
  }

  providers::MemoryItemStore memory{tree_schema(), kUnit};

 private:
  static StoreItem item(TypeId type, StoreKey key, StoreKey parent, std::string title) {
    return {std::move(key), type, std::move(parent), {{1, Value::text(std::move(title))}}, {}, {}};
  }
};

using EachItemSubject = MemorySubject<WriteUnit::kEachItem>;
using WholeStoreSubject = MemorySubject<WriteUnit::kWholeStore>;

}  // namespace harmonica::conformance
