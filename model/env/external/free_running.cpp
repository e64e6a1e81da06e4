#include "model/env/external/free_running.h"

#include <algorithm>
#include <ctime>

#include <poll.h>

namespace rnic::external {
namespace {

std::uint64_t now_ps() { return static_cast<std::uint64_t>(sc_core::sc_time_stamp().value()); }

}  // namespace

std::uint64_t FreeRunning::wall_ps() const {
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin_).count();
  return static_cast<std::uint64_t>(ns) * 1000;
}

// Until the peer has a frame, or so long.
void FreeRunning::wait(std::uint64_t ps) const {
  pollfd fd{port_->descriptor(), POLLIN, 0};
  const std::uint64_t ns = ps / 1000;
  const timespec timeout{static_cast<std::time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  // A peer that has left would wake us at once and for ever.
  ::ppoll(&fd, port_->peer_gone() ? 0 : 1, &timeout, nullptr);
}

void FreeRunning::advance(std::uint64_t until_ps, WireEnd& wire) {
  if (!begun_) begin_ = Clock::now();
  begun_ = true;
  while (now_ps() < until_ps) {
    const std::uint64_t wall = wall_ps();
    if (now_ps() >= wall + max_ahead_ps_) wait(now_ps() - wall - max_ahead_ps_ + 1000);
    while (port_->receive(frame_)) wire.inject({frame_.data(), frame_.size()});
    // In small steps, so that an answer does not wait for much that is none of it.
    const std::uint64_t room = std::max(wall_ps() + max_ahead_ps_, now_ps() + 1000) - now_ps();
    const std::uint64_t step = std::min({room, until_ps - now_ps(), max_ahead_ps_ / 10});
    sc_core::sc_start(sc_core::sc_time::from_value(step));
  }
}

}  // namespace rnic::external
