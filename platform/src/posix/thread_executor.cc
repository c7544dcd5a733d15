#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "harmonica/platform/system_environment.h"

namespace harmonica::platform {
namespace {

// What the thread and the owner of a task both know of it.
struct Ending {
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;

  void end() {
    // Under the lock: the owner may destroy this as soon as it sees the end.
    const std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return ended; });
  }
};

class ThreadTask final : public Executor::Task {
 public:
  ThreadTask() = default;
  ~ThreadTask() override { ending_.wait(); }
  void wait() override { ending_.wait(); }
  Ending& ending() { return ending_; }

 private:
  Ending ending_;
};

class ThreadExecutor final : public Executor {
 public:
  ThreadExecutor() = default;
  ~ThreadExecutor() override {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }

  std::unique_ptr<Task> start(std::function<void()> work) override {
    auto task = std::make_unique<ThreadTask>();
    const std::lock_guard lock(mutex_);
    queue_.push_back({std::move(work), &task->ending()});
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    changed_.notify_all();
    return task;
  }

 private:
  struct Queued {
    std::function<void()> work;
    Ending* ending;
  };

  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      Queued next = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      next.work();
      next.work = nullptr;
      next.ending->end();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Queued> queue_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Executor> make_thread_executor() { return std::make_unique<ThreadExecutor>(); }

}  // namespace harmonica::platform
