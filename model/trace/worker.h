// Runs tasks in order on a separate thread while the simulation continues.
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
  // Waits for the queued tasks.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Waits while kMostTasks are queued, so that memory stays bounded.
  void post(Task task);
  // Waits for all tasks. Rethrows the first exception of a task; later tasks have not run.
  void finish();

 private:
  static constexpr std::size_t kMostTasks = 8;
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;  // the first one is running
  std::exception_ptr failure_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace rnic
