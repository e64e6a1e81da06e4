#include "model/trace/worker.h"

#include <atomic>
#include <csignal>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>

namespace rnic::test {
namespace {

TEST(WorkerTest, TasksAreDoneInTheirOrder) {
  std::vector<int> done, all;
  Worker worker;
  for (int i = 0; i < 1000; ++i) {
    worker.post([&done, i] { done.push_back(i); });
    all.push_back(i);
  }
  worker.finish();
  EXPECT_EQ(done, all);
}

TEST(WorkerTest, ItsEndWaitsForWhatIsThere) {
  std::atomic<int> done{0};
  {
    Worker worker;
    for (int i = 0; i < 5; ++i) {
      worker.post([&done] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        ++done;
      });
    }
  }
  EXPECT_EQ(done, 5);
}

TEST(WorkerTest, TheFirstFailureIsToldAtTheEndAndNothingIsDoneBehindIt) {
  bool went_on = false;
  Worker worker;
  worker.post([] { throw std::runtime_error("full"); });
  worker.post([&went_on] { went_on = true; });
  EXPECT_THROW(worker.finish(), std::runtime_error);
  EXPECT_FALSE(went_on);
  worker.finish();  // reported once
}

TEST(WorkerTest, SignalsAreForTheOtherThreads) {
  sigset_t blocked;
  sigemptyset(&blocked);
  Worker worker;
  worker.post([&blocked] { pthread_sigmask(SIG_SETMASK, nullptr, &blocked); });
  worker.finish();
  EXPECT_EQ(sigismember(&blocked, SIGINT), 1);
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
}

}  // namespace
}  // namespace rnic::test
