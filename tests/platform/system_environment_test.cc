#include "harmonica/platform/system_environment.h"

#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <limits>
#include <thread>
#include <vector>

#include "support/temporary_directory.h"

namespace harmonica::platform {
namespace {

using harmonica::testing::read_text;
using harmonica::testing::TemporaryDirectory;
using harmonica::testing::write_text;
using ::testing::HasSubstr;

ReplicaId replica(std::uint8_t number) {
  ReplicaId id;
  id.bytes.fill(number);
  return id;
}

TEST(Reservations, AreThereForAnyEnvironmentOfTheSameDirectory) {
  const TemporaryDirectory directory;
  const std::string place = directory / "deep/reservations";
  const Tick greatest = std::numeric_limits<Tick>::max();
  ASSERT_TRUE(make_system_environment({place, nullptr})->set_reserved_tick(replica(1), 5).ok());
  ASSERT_TRUE(make_system_environment({place, nullptr})->set_reserved_tick(replica(1), greatest).ok());
  const auto environment = make_system_environment({place, nullptr});
  EXPECT_EQ(*environment->reserved_tick(replica(1)), greatest);
  EXPECT_EQ(*environment->reserved_tick(replica(2)), std::nullopt);
}

TEST(Reservations, ThatAreDamagedAreErrorsWithTheNameOfTheFile) {
  const TemporaryDirectory directory;
  const auto environment = make_system_environment({directory.path(), nullptr});
  ASSERT_TRUE(environment->set_reserved_tick(replica(1), 1234).ok());
  const std::string path = directory / replica(1).to_text();
  const std::string good = read_text(path);
  std::string changed = good;
  changed[changed.find("1234") + 1] = '3';
  for (const std::string& bad :
       {std::string(), good.substr(0, good.size() - 1), changed, good + "x", std::string(5000, 'a')}) {
    write_text(path, bad);
    const auto tick = environment->reserved_tick(replica(1));
    ASSERT_FALSE(tick.ok()) << bad;
    EXPECT_EQ(tick.status().code(), StatusCode::kCorruption);
    EXPECT_THAT(tick.status().message(), HasSubstr(path));
  }
}

TEST(Reservations, OfOneReplicaAreNotTakenForThoseOfAnother) {
  const TemporaryDirectory directory;
  const auto environment = make_system_environment({directory.path(), nullptr});
  ASSERT_TRUE(environment->set_reserved_tick(replica(1), 7).ok());
  std::filesystem::rename(directory / replica(1).to_text(), directory / replica(2).to_text());
  EXPECT_EQ(environment->reserved_tick(replica(2)).status().code(), StatusCode::kCorruption);
}

TEST(DefaultStateDirectory, FollowsTheEnvironmentVariables) {
  const auto with = [](const char* state, const char* home) {
    state != nullptr ? ::setenv("XDG_STATE_HOME", state, 1) : ::unsetenv("XDG_STATE_HOME");
    home != nullptr ? ::setenv("HOME", home, 1) : ::unsetenv("HOME");
    return default_state_directory();
  };
  EXPECT_EQ(*with("/state", "/home/a"), "/state/harmonica");
  EXPECT_EQ(*with("relative", "/home/a"), "/home/a/.local/state/harmonica");
  EXPECT_EQ(*with(nullptr, "/home/a"), "/home/a/.local/state/harmonica");
  EXPECT_EQ(with(nullptr, nullptr).status().code(), StatusCode::kNotFound);
}

TEST(SystemEnvironment, HandsLogLinesOver) {
  std::vector<std::string> lines;
  const auto environment =
      make_system_environment({"unused", [&lines](LogLevel, std::string_view line) { lines.emplace_back(line); }});
  environment->log(LogLevel::kNotice, "hello");
  EXPECT_THAT(lines, ::testing::ElementsAre("hello"));
}

TEST(ThreadExecutor, RunsTasksInOrderOnAnotherThread) {
  std::vector<int> order;
  std::thread::id runner;
  const auto executor = make_thread_executor();
  const auto first = executor->start([&] { runner = std::this_thread::get_id(); });
  const auto second = executor->start([&] { order.push_back(1); });
  const auto third = executor->start([&] { order.push_back(2); });
  third->wait();
  EXPECT_THAT(order, ::testing::ElementsAre(1, 2));
  EXPECT_NE(runner, std::this_thread::get_id());
}

TEST(ThreadExecutor, DestroyingATaskWaitsForItsEnd) {
  std::atomic<bool> ended = false;
  const auto executor = make_thread_executor();
  executor->start([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ended = true;
  });
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace harmonica::platform
