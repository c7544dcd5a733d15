#include "chromium_fixture.h"
#include "harmonica/conformance/item_store_contract.h"
#include "harmonica/conformance/mesh.h"
#include "harmonica/conformance/tree_store_contract.h"
#include "harmonica/providers/favorites.h"
#include "support/temporary_directory.h"

namespace harmonica::conformance {
namespace {

using testing::read_text;
using testing::TemporaryDirectory;
using testing::write_text;

class ChromiumSubject : public StoreSubject {
 public:
  ChromiumSubject() {
    write_text(path(), providers::chromium_file(""));
    reopen();
  }

  ItemStore& store() override { return *store_; }
  void reopen() override {
    auto store = providers::open_favorites(path(), {});
    HARMONICA_ASSERT(store.ok());
    store_ = std::move(store).value();
  }
  void edit_as_user() override {
    std::string text = read_text(path());
    const std::string entry = providers::chromium_bookmark("4000", '9', "by hand");
    const std::size_t children = text.find('[', text.find("\"synced\"")) + 1;
    text.insert(children, entry);
    write_text(path(), text);
  }
  StoreKey root() override { return "toolbar"; }
  std::optional<StoreItem> folder(StoreKey key, StoreKey parent, std::string title) override {
    return StoreItem{
        std::move(key), providers::kFolderType, std::move(parent), {{providers::kTitleUnit, Value::text(title)}}, {}, {}};
  }
  StoreItem leaf(StoreKey key, StoreKey parent, std::string title) override {
    return {std::move(key),
            providers::kBookmarkType,
            std::move(parent),
            {{providers::kTitleUnit, Value::text(title)}, {providers::kUrlUnit, Value::text("https://a.example/" + title)}},
            {},
            {}};
  }

 private:
  std::string path() const { return directory_ / "Bookmarks"; }

  const TemporaryDirectory directory_;
  std::unique_ptr<ItemStore> store_;
};

using Chromium = ::testing::Types<ChromiumSubject>;
INSTANTIATE_TYPED_TEST_SUITE_P(Chromium, ItemStoreContract, Chromium);
INSTANTIATE_TYPED_TEST_SUITE_P(Chromium, TreeStoreContract, Chromium);

TEST(ChromiumMesh, BecomesEqualWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const MeshReport report =
        run_mesh([] { return std::make_unique<ChromiumSubject>(); }, {.seed = seed, .replica_options = {}, .connect = {}});
    EXPECT_TRUE(report.findings.empty()) << report.to_text();
  }
}

}  // namespace
}  // namespace harmonica::conformance
