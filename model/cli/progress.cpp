#include "model/cli/progress.h"

#include <algorithm>
#include <cmath>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

namespace rnic::cli {
namespace {

constexpr auto kInterval = std::chrono::seconds(1);
constexpr const char* kClearLine = "\r\x1b[K";

// Extrapolates the time left from the share done; empty if it is unknown.
std::string left_text(std::chrono::duration<double> elapsed, double done, double total) {
  if (done <= 0 || total < done) return "";
  return fmt::format(", {} left", duration_text(elapsed.count() * (total - done) / done));
}

}  // namespace

Progress::Progress() : Progress(std::cerr, isatty(STDERR_FILENO) == 1, std::chrono::steady_clock::now) {}

Progress::Progress(std::ostream& out, bool on, WallClock clock)
    : out_(out), on_(on), clock_(std::move(clock)), begin_(clock_()), printed_at_(begin_) {}

void Progress::update(std::uint64_t now_ps, std::uint64_t done, std::uint64_t total) {
  if (!on_) return;
  const auto now = clock_();
  const std::chrono::duration<double> elapsed = now - printed_at_;
  if (elapsed < kInterval) return;
  const double speed = static_cast<double>(now_ps - printed_ps_) / elapsed.count();
  out_ << kClearLine << time_text(now_ps) << " simulated";
  if (total != 0)
    out_ << fmt::format(", {:.0f} % done", 100.0 * static_cast<double>(done) / static_cast<double>(total));
  out_ << ", " << time_text(static_cast<std::uint64_t>(speed)) << " per second"
       << left_text(now - begin_, static_cast<double>(done), static_cast<double>(total)) << std::flush;
  printed_at_ = now;
  printed_ps_ = now_ps;
  line_shown_ = true;
}

void Progress::finish() {
  if (!line_shown_) return;
  out_ << kClearLine << std::flush;
  line_shown_ = false;
}

SweepProgress::SweepProgress() : SweepProgress(std::cerr, isatty(STDERR_FILENO) == 1, std::chrono::steady_clock::now) {}

SweepProgress::SweepProgress(std::ostream& out, bool on, Progress::WallClock clock)
    : out_(out), on_(on), clock_(std::move(clock)), begin_(clock_()), printed_at_(begin_) {}

void SweepProgress::update(const Points& p) {
  if (!on_) return;
  const auto now = clock_();
  if (now - printed_at_ < kInterval) return;
  printed_at_ = now;
  line_ = fmt::format("{} of {} points ({:.0f} %), {} running", p.ended, p.total,
                      100.0 * static_cast<double>(p.ended) / static_cast<double>(p.total), p.running);
  if (p.failed != 0) line_ += fmt::format(", {} failed", p.failed);
  line_ += left_text(now - begin_, static_cast<double>(p.ended - p.earlier), static_cast<double>(p.total - p.earlier));
  out_ << kClearLine << line_ << std::flush;
}

void SweepProgress::clear() {
  if (line_.empty()) return;
  out_ << kClearLine << std::flush;
  line_.clear();
}

std::string duration_text(double seconds) {
  constexpr double kMost = 1e9;
  const auto s = static_cast<std::uint64_t>(std::llround(std::min(std::max(seconds, 0.0), kMost)));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

std::string time_text(std::uint64_t ps) {
  static constexpr const char* kUnits[] = {"ps", "ns", "us", "ms", "s"};
  auto value = static_cast<double>(ps);
  std::size_t unit = 0;
  for (; value >= 1000.0 && unit + 1 < std::size(kUnits); ++unit) value /= 1000.0;
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 3, kUnits[unit]);
}

}  // namespace rnic::cli
