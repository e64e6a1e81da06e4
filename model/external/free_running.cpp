#include "model/external/free_running.h"

#include <algorithm>

#include "model/common/kernel_time.h"

namespace rnic::external {
namespace {

// Limit between two steps of simulated time, so that a peer that sends endlessly cannot stop it. Other frames wait in
// the peer's socket or are lost there.
constexpr unsigned kFramesPerStep = 1024;

}  // namespace

void FreeRunning::advance(std::uint64_t until_ps, WireEnd& wire) {
  if (!begin_ps_) begin_ps_ = clock_->now_ps();
  while (kernel_time_ps() < until_ps) {
    const std::uint64_t latest_ps = wall_ps() + max_ahead_ps_;
    if (kernel_time_ps() >= latest_ps) {
      // The descriptor of a peer that has left would always be readable.
      clock_->wait(port_->peer_gone() ? -1 : port_->descriptor(), kernel_time_ps() - latest_ps + 1000);
    }
    for (unsigned n = 0; n < kFramesPerStep && port_->receive(frame_); ++n) wire.inject({frame_.data(), frame_.size()});
    // Small steps, so that an answer does not wait long.
    const std::uint64_t room = std::max(wall_ps() + max_ahead_ps_, kernel_time_ps() + 1000) - kernel_time_ps();
    const std::uint64_t step = std::min({room, until_ps - kernel_time_ps(), max_ahead_ps_ / 10});
    sc_core::sc_start(sc_core::sc_time::from_value(step));
  }
}

}  // namespace rnic::external
