#include "chromium_fixture.h"
#include "contract/item_store_contract.h"
#include "harmonica/providers/favorites.h"
#include "support/temporary_directory.h"

namespace harmonica::testing {
namespace {

class ChromiumTraits {
 public:
  ChromiumTraits() {
    write_text(path(), providers::chromium_file(""));
    reopen();
  }

  ItemStore& store() { return *store_; }
  void reopen() {
    auto store = providers::open_favorites(path(), {});
    HARMONICA_ASSERT(store.ok());
    store_ = std::move(store).value();
  }
  void edit_as_user() {
    std::string text = read_text(path());
    const std::string entry = providers::chromium_bookmark("4000", '9', "by hand");
    const std::size_t children = text.find('[', text.find("\"synced\"")) + 1;
    text.insert(children, entry);
    write_text(path(), text);
  }
  StoreKey root() { return "toolbar"; }
  StoreItem folder(StoreKey key, StoreKey parent, std::string title) {
    return {
        std::move(key), providers::kFolderType, std::move(parent), {{providers::kTitleUnit, Value::text(title)}}, {}, {}};
  }
  StoreItem leaf(StoreKey key, StoreKey parent, std::string title) {
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

INSTANTIATE_TYPED_TEST_SUITE_P(Chromium, ItemStoreContract, ::testing::Types<ChromiumTraits>);

}  // namespace
}  // namespace harmonica::testing
