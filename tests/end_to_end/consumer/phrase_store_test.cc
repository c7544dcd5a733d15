// The tests that the author of a store writes: all of the kit, from outside of Harmonica.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "harmonica/conformance/channel_contract.h"
#include "harmonica/conformance/item_store_contract.h"
#include "harmonica/conformance/mesh.h"
#include "harmonica/transports/local.h"
#include "phrase_store.h"

namespace phrases {
namespace {

using namespace harmonica::conformance;

class PhraseSubject : public StoreSubject {
 public:
  PhraseSubject() {
    static int number = 0;
    path_ = ::testing::TempDir() + "phrases-" + std::to_string(::getpid()) + "-" + std::to_string(++number);
    std::ofstream(path_).close();
    reopen();
  }
  ~PhraseSubject() override { std::filesystem::remove(path_); }

  ItemStore& store() override { return *store_; }
  void reopen() override { store_.emplace(path_); }
  void edit_as_user() override { std::ofstream(path_, std::ios::app) << "mine by hand\n"; }
  StoreItem leaf(StoreKey key, StoreKey, std::string title) override {
    return {.key = std::move(key), .type = PhraseStore::kPhrase, .values = {{PhraseStore::kText, Value::text(title)}}};
  }

 private:
  std::string path_;
  std::optional<PhraseStore> store_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Phrases, ItemStoreContract, ::testing::Types<PhraseSubject>);

TEST(PhraseMesh, BecomesEqualWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const MeshReport report = run_mesh([] { return std::make_unique<PhraseSubject>(); }, {.seed = seed});
    EXPECT_TRUE(report.findings.empty()) << report.to_text();
  }
}

class LocalSubject : public ChannelSubject {
 public:
  Channel& connect(RequestHandler& handler) override { return channel_.emplace(handler); }

 private:
  std::optional<transports::LocalChannel> channel_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Local, ChannelContract, ::testing::Types<LocalSubject>);

}  // namespace
}  // namespace phrases
