// A peer with its own clock: simulated time is coupled to wall time, so that the peer's timers work.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/external/external_peer.h"
#include "model/external/frame_port.h"
#include "model/external/wall_clock.h"

namespace rnic::external {

// Simulated time is never more than `max_ahead_ps` ahead of the wall time since the first call of advance(). If the
// simulation is slower, it falls behind, and the peer sees a slow network card.
class FreeRunning final : public ExternalPeer {
 public:
  FreeRunning(std::unique_ptr<FramePort> port, std::unique_ptr<WallClock> clock, std::uint64_t max_ahead_ps)
      : port_(std::move(port)), clock_(std::move(clock)), max_ahead_ps_(max_ahead_ps) {}
  void deliver(ByteSpan frame) override { lost_ += !port_->send(frame); }
  void advance(std::uint64_t until_ps, WireEnd& wire) override;
  bool gone() const override { return port_->peer_gone(); }
  std::uint64_t lost() const override { return lost_; }

 private:
  std::uint64_t wall_ps() { return clock_->now_ps() - *begin_ps_; }

  const std::unique_ptr<FramePort> port_;
  const std::unique_ptr<WallClock> clock_;
  const std::uint64_t max_ahead_ps_;
  std::vector<std::uint8_t> frame_;
  std::uint64_t lost_ = 0;
  std::optional<std::uint64_t> begin_ps_;  // wall time at the first advance()
};

}  // namespace rnic::external
