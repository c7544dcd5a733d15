// The notes store of docs/writing-a-provider.md, on real folders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "harmonica/harmonica.h"
#include "harmonica/platform/file_system.h"
#include "harmonica/platform/system_environment.h"
#include "harmonica/providers/memory.h"
#include "notes/notes_store.h"
#include "support/temporary_directory.h"

namespace harmonica {
namespace {

using ::testing::HasSubstr;
using testing::read_text;
using testing::TemporaryDirectory;
using ::testing::UnorderedElementsAre;
using testing::write_text;

// A folder of notes, open as a replica.
class Notebook {
 public:
  explicit Notebook(Environment& environment) {
    auto opened = Replica::open(store_, *metadata_, environment, {});
    EXPECT_TRUE(opened.ok()) << opened.status().to_text();
    replica_ = std::move(opened).value();
  }

  std::string path_of(const std::string& name) const { return folder_ / name; }
  std::string folder() const { return folder_.path(); }
  Provider& provider() { return replica_->provider(); }
  Replica& replica() { return *replica_; }
  notes::NotesStore& store() { return store_; }

  std::set<std::string> texts() const {
    std::set<std::string> texts;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) texts.insert(read_text(entry.path().string()));
    return texts;
  }

 private:
  TemporaryDirectory folder_;
  notes::NotesStore store_{folder_.path()};
  std::unique_ptr<MetadataStore> metadata_ = std::make_unique<providers::MemoryMetadataStore>();
  std::unique_ptr<Replica> replica_;
};

class Notes : public ::testing::Test {
 protected:
  SynchronizeReport sync() {
    auto report = synchronize(phone.provider(), laptop.provider(), {});
    EXPECT_TRUE(report.ok()) << report.status().to_text();
    return report.ok() ? *report : SynchronizeReport{};
  }

  TemporaryDirectory state;
  std::unique_ptr<Environment> environment = platform::make_system_environment({.reservations_directory = state.path()});
  Notebook phone{*environment};
  Notebook laptop{*environment};
};

TEST_F(Notes, TravelBothWays) {
  write_text(phone.path_of("shopping.txt"), "milk");
  write_text(laptop.path_of("calls.txt"), "Ada");
  sync();
  EXPECT_THAT(phone.texts(), UnorderedElementsAre("milk", "Ada"));
  EXPECT_THAT(laptop.texts(), UnorderedElementsAre("milk", "Ada"));
  const SynchronizeReport again = sync();
  EXPECT_TRUE(again.to_first.quiet() && again.to_second.quiet());
}

TEST_F(Notes, ThatBothHadBeforeTheyMetAreOne) {
  write_text(phone.path_of("shopping.txt"), "milk");
  write_text(laptop.path_of("list.txt"), "milk");
  sync();
  EXPECT_EQ(phone.store().schema().default_scope, "notes");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(laptop.folder()), {}), 1);
}

TEST_F(Notes, EditsAndDeletionsTravel) {
  write_text(phone.path_of("a.txt"), "milk");
  write_text(phone.path_of("b.txt"), "eggs");
  sync();
  write_text(phone.path_of("a.txt"), "oat milk");
  std::filesystem::remove(phone.path_of("b.txt"));
  sync();
  EXPECT_THAT(laptop.texts(), UnorderedElementsAre("oat milk"));
}

TEST_F(Notes, EditedOnBothSidesKeepTheLoserInARecord) {
  write_text(phone.path_of("a.txt"), "milk");
  sync();
  const std::string on_laptop = std::filesystem::directory_iterator(laptop.folder())->path().string();
  write_text(phone.path_of("a.txt"), "oat milk");
  write_text(on_laptop, "rice milk");
  sync();
  EXPECT_EQ(phone.texts(), laptop.texts());
  const auto conflicts = phone.replica().conflicts();
  ASSERT_TRUE(conflicts.ok());
  ASSERT_EQ(conflicts->size(), 1U);
  const std::set<std::string> both{*conflicts->front().kept.value.if_text(), *conflicts->front().lost.value.if_text()};
  EXPECT_THAT(both, UnorderedElementsAre("oat milk", "rice milk"));
}

TEST_F(Notes, AFolderThatIsGoneIsAnErrorAndNoDeletion) {
  write_text(phone.path_of("a.txt"), "milk");
  sync();
  std::filesystem::rename(phone.folder(), laptop.path_of(".elsewhere"));
  const auto report = synchronize(phone.provider(), laptop.provider(), {});
  EXPECT_EQ(report.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(report.status().message(), HasSubstr("no such folder"));
  std::filesystem::rename(laptop.path_of(".elsewhere"), phone.folder());
  EXPECT_THAT(laptop.texts(), UnorderedElementsAre("milk"));
}

TEST_F(Notes, OtherFilesAreLeftAlone) {
  write_text(phone.path_of("picture.png"), "pixels");
  write_text(phone.path_of(".draft.txt"), "not yet");
  sync();
  EXPECT_TRUE(laptop.texts().empty());
}

TEST_F(Notes, AnEditThatWasNotSeenIsNotOverwritten) {
  const StoreItem seen{.key = "a.txt", .type = notes::kNoteType, .values = {{notes::kTextUnit, Value::text("milk")}}};
  StoreItem wanted = seen;
  wanted.values.front().value = Value::text("oat milk");
  const StoreWrite write{.kind = WriteKind::kPut, .item = wanted, .expected = seen};

  write_text(phone.path_of("a.txt"), "a moment ago");
  auto written = phone.store().apply({{write}}, {});
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(written->outcomes.front().state, WriteState::kChanged);
  EXPECT_EQ(read_text(phone.path_of("a.txt")), "a moment ago");

  write_text(phone.path_of("a.txt"), "milk");
  for (int time = 0; time < 2; ++time) {
    written = phone.store().apply({{write}}, {});
    ASSERT_TRUE(written.ok());
    EXPECT_EQ(written->outcomes.front().state, WriteState::kWritten);
    EXPECT_EQ(read_text(phone.path_of("a.txt")), "oat milk");
  }
}

}  // namespace
}  // namespace harmonica
