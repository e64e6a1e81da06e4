// A line on the terminal during a run or a sweep: simulated time, share done, speed, time left. Only for people:
// nothing is printed if standard error is not a terminal, and nothing here affects results.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

namespace rnic::cli {

class Progress {
 public:
  using WallClock = std::function<std::chrono::steady_clock::time_point()>;

  // To standard error, if that is a terminal.
  Progress();
  // With any stream and any clock.
  Progress(std::ostream& out, bool on, WallClock clock);

  // Prints at most once per second of wall time. `total` is 0 if it is unknown.
  void update(std::uint64_t now_ps, std::uint64_t done, std::uint64_t total);

  // Removes the line.
  void finish();

 private:
  std::ostream& out_;
  const bool on_;
  const WallClock clock_;
  const std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point printed_at_;
  std::uint64_t printed_ps_ = 0;
  bool line_shown_ = false;
};

class SweepProgress {
 public:
  SweepProgress();
  SweepProgress(std::ostream& out, bool on, Progress::WallClock clock);

  // Prints at most once per second of wall time. Of `total` points, `earlier` ended before this process began.
  struct Points {
    std::size_t total = 0, earlier = 0, ended = 0, running = 0, failed = 0;
  };
  void update(const Points& points);
  // Removes the line so that something else can be printed.
  void clear();

 private:
  std::ostream& out_;
  const bool on_;
  const Progress::WallClock clock_;
  const std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point printed_at_;
  std::string line_;  // on the terminal
};

// In the largest unit that leaves at least 1: "1.500 us".
std::string time_text(std::uint64_t ps);

// "7 s", "3 min 20 s", "2 h 05 min".
std::string duration_text(double seconds);

}  // namespace rnic::cli
