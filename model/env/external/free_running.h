// A peer with a clock of its own: simulated time is coupled to the wall's, so that the peer's timers behave.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "model/env/external/external_peer.h"
#include "model/env/external/frame_port.h"

namespace rnic::external {

// Simulated time is never more than `max_ahead_us` ahead of the wall's since the first call of advance(). Where the
// simulation is slower than the wall it falls behind, and the peer sees a slow network card.
class FreeRunning final : public ExternalPeer {
 public:
  FreeRunning(std::unique_ptr<FramePort> port, std::uint64_t max_ahead_ps)
      : port_(std::move(port)), max_ahead_ps_(max_ahead_ps) {}
  void deliver(ByteSpan frame) override { lost_ += !port_->send(frame); }
  void advance(std::uint64_t until_ps, WireEnd& wire) override;
  bool gone() const override { return port_->peer_gone(); }
  std::uint64_t lost() const override { return lost_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::uint64_t wall_ps() const;
  void wait(std::uint64_t ps) const;

  const std::unique_ptr<FramePort> port_;
  const std::uint64_t max_ahead_ps_;
  std::vector<std::uint8_t> frame_;
  std::uint64_t lost_ = 0;
  bool begun_ = false;
  Clock::time_point begin_;
};

}  // namespace rnic::external
