#include "model/cli/progress.h"

#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

namespace rnic::cli {
namespace {

constexpr auto kInterval = std::chrono::seconds(1);
constexpr const char* kClearLine = "\r\x1b[K";

}  // namespace

Progress::Progress() : Progress(std::cerr, isatty(STDERR_FILENO) == 1, std::chrono::steady_clock::now) {}

Progress::Progress(std::ostream& out, bool on, WallClock clock)
    : out_(out), on_(on), clock_(std::move(clock)), printed_at_(clock_()) {}

void Progress::update(std::uint64_t now_ps, std::uint64_t done, std::uint64_t total) {
  if (!on_) return;
  const auto now = clock_();
  const std::chrono::duration<double> elapsed = now - printed_at_;
  if (elapsed < kInterval) return;
  const double speed = static_cast<double>(now_ps - printed_ps_) / elapsed.count();
  out_ << kClearLine << time_text(now_ps) << " simulated";
  if (total != 0)
    out_ << fmt::format(", {:.0f} % done", 100.0 * static_cast<double>(done) / static_cast<double>(total));
  out_ << ", " << time_text(static_cast<std::uint64_t>(speed)) << " per second" << std::flush;
  printed_at_ = now;
  printed_ps_ = now_ps;
  line_shown_ = true;
}

void Progress::finish() {
  if (!line_shown_) return;
  out_ << kClearLine << std::flush;
  line_shown_ = false;
}

std::string time_text(std::uint64_t ps) {
  static constexpr const char* kUnits[] = {"ps", "ns", "us", "ms", "s"};
  auto value = static_cast<double>(ps);
  std::size_t unit = 0;
  for (; value >= 1000.0 && unit + 1 < std::size(kUnits); ++unit) value /= 1000.0;
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 3, kUnits[unit]);
}

}  // namespace rnic::cli
