// Runs gtest's selected tests, each in a forked process.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace rnic::test {

class ForkedTests {
 public:
  struct Options {
    unsigned jobs = 1;        // processes at a time
    unsigned timeout_s = 60;  // of one test: seconds of processor time, and ten times that of real time
    std::string results;      // path of a JUnit report; empty: none
    std::string prefix;       // of the tests' names in it
  };
  // `run_selected` runs gtest's selected tests in the calling process, as RUN_ALL_TESTS() does.
  ForkedTests(Options options, std::function<int()> run_selected)
      : options_(std::move(options)), run_selected_(std::move(run_selected)) {}

  // True if at least one test ran and none failed.
  bool run();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Outcome { kPassed, kFailed, kSkipped };
  struct Running {
    std::string name;
    pid_t process;
    int output;  // its output, a file without a name
    Clock::time_point begin;
  };
  struct Result {
    std::string name, output;
    Outcome outcome;
    double seconds;
  };

  void start(const std::string& name);
  void collect();
  void finish(const Running& test, int status);
  void kill_late() const;
  void write_results() const;

  Options options_;
  std::function<int()> run_selected_;
  std::vector<std::string> selected_;
  std::vector<Running> running_;
  std::vector<Result> results_;
};

}  // namespace rnic::test
