#include "conformance/memory_subject.h"
#include "harmonica/conformance/item_store_contract.h"
#include "harmonica/conformance/tree_store_contract.h"

namespace harmonica::conformance {
namespace {

struct MemoryNames {
  template <typename Subject>
  static std::string GetName(int) {
    return std::is_same_v<Subject, EachItemSubject> ? "EachItem" : "WholeStore";
  }
};

using MemoryStores = ::testing::Types<EachItemSubject, WholeStoreSubject>;
INSTANTIATE_TYPED_TEST_SUITE_P(Memory, ItemStoreContract, MemoryStores, MemoryNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Memory, TreeStoreContract, MemoryStores, MemoryNames);

}  // namespace
}  // namespace harmonica::conformance
