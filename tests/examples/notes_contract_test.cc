// The notes store on the contract of all stores, and in a mesh.
#include <memory>
#include <string>
#include <utility>

#include "harmonica/conformance/item_store_contract.h"
#include "harmonica/conformance/mesh.h"
#include "notes/notes_store.h"
#include "support/temporary_directory.h"

namespace harmonica::conformance {
namespace {

class NotesSubject : public StoreSubject {
 public:
  NotesSubject() { reopen(); }

  ItemStore& store() override { return *store_; }
  void reopen() override { store_ = std::make_unique<notes::NotesStore>(folder_.path()); }
  void edit_as_user() override { testing::write_text(folder_ / "by hand.txt", "by hand"); }
  StoreItem leaf(StoreKey key, StoreKey, std::string title) override {
    return {.key = std::move(key), .type = notes::kNoteType, .values = {{notes::kTextUnit, Value::text(std::move(title))}}};
  }

 private:
  const testing::TemporaryDirectory folder_;
  std::unique_ptr<ItemStore> store_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Notes, ItemStoreContract, ::testing::Types<NotesSubject>);

TEST(NotesMesh, BecomesEqualWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const MeshReport report = run_mesh([] { return std::make_unique<NotesSubject>(); }, {.seed = seed, .steps = 60});
    EXPECT_TRUE(report.findings.empty()) << report.to_text();
  }
}

}  // namespace
}  // namespace harmonica::conformance
