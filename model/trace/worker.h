// Work that somebody else's processor does while the simulation goes on: one thread, tasks in their order.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace rnic {

class Worker final {
 public:
  using Task = std::function<void()>;

  Worker();
  // Waits for the tasks that are there.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Waits while kMostTasks are there already, so that memory stays bounded.
  void post(Task task);
  // Waits for all tasks. Throws what the first task threw that did; tasks behind that one have not run.
  void finish();

 private:
  static constexpr std::size_t kMostTasks = 8;
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;  // the first is being done
  std::exception_ptr failure_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace rnic
