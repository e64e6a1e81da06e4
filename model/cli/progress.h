// A line on the terminal while a run lasts: simulated time, share done, speed. Only for people: nothing is printed when
// standard error is not a terminal, and nothing here finds its way into results.
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
  // To any stream, by any clock.
  Progress(std::ostream& out, bool on, WallClock clock);

  // Prints at most once per second of wall time. `total` 0 means that nobody knows.
  void update(std::uint64_t now_ps, std::uint64_t done, std::uint64_t total);

  // Removes the line.
  void finish();

 private:
  std::ostream& out_;
  const bool on_;
  const WallClock clock_;
  std::chrono::steady_clock::time_point printed_at_;
  std::uint64_t printed_ps_ = 0;
  bool line_shown_ = false;
};

// With the largest unit that leaves at least 1: "1.500 us".
std::string time_text(std::uint64_t ps);

}  // namespace rnic::cli
