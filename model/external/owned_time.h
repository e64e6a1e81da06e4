// A User-Mode Linux guest whose clock is simulated time: it computes in zero time, and its timers, TCP and frames have
// exact times in the run.
#pragma once

#include <string>

#include "model/external/external_peer.h"
#include "model/external/guest_clock.h"
#include "model/external/vhost_user.h"

namespace rnic::external {

class OwnedTime final : public ExternalPeer {
 public:
  OwnedTime(const std::string& card_path, const std::string& clock_path, unsigned patience_s)
      : clock_(clock_path, std::chrono::seconds(patience_s)),
        card_(card_path, std::chrono::seconds(patience_s)),
        patience_ms_(static_cast<int>(patience_s) * 1000) {}
  void deliver(ByteSpan frame) override;
  void advance(std::uint64_t until_ps, WireEnd& wire) override;
  bool gone() const override { return clock_.gone(); }
  std::uint64_t lost() const override { return lost_; }

 private:
  void serve_until_it_sleeps(WireEnd& wire);
  void interrupt();
  bool poll(int extra, WireEnd* wire);

  GuestClock clock_;
  VhostUser card_;
  const int patience_ms_;
  std::uint64_t lost_ = 0;
};

}  // namespace rnic::external
