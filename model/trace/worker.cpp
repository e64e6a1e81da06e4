#include "model/trace/worker.h"

#include <csignal>
#include <utility>

namespace rnic {

// Blocks all signals but those of its own faults: they are for the thread that waits for a peer or a debugger.
Worker::Worker() {
  sigset_t others, before;
  sigfillset(&others);
  for (const int own : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigdelset(&others, own);
  pthread_sigmask(SIG_SETMASK, &others, &before);
  thread_ = std::thread([this] { work(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Worker::post(Task task) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return tasks_.size() < kMostTasks; });
  tasks_.push_back(std::move(task));
  changed_.notify_all();
}

void Worker::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return tasks_.empty(); });
  if (const std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
}

void Worker::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ends_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    if (!failure_) {
      lock.unlock();
      std::exception_ptr failure;
      try {
        tasks_.front()();  // push_back() leaves a deque's elements in place
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      failure_ = failure;
    }
    tasks_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace rnic
