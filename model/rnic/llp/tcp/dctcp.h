// RFC 8257: the window falls by half the fraction of octets that the network marked. Otherwise NewReno.
#pragma once

#include "model/rnic/llp/tcp/newreno.h"
#include "model/wire/tcp.h"

namespace rnic::tcp {

class Dctcp final : public NewReno {
 public:
  void open(llp::CongestionState& s, std::uint32_t mss, std::uint32_t segments) const override {
    NewReno::open(s, mss, segments);
    s.own.dctcp = llp::DctcpState{};
  }
  // Section 3.3 steps 1 to 8: once per window of data, alpha moves by a sixteenth towards the observed fraction.
  void on_marks(llp::CongestionState& s, const llp::AckedOctets& acked) const override {
    llp::DctcpState& d = s.own.dctcp;
    d.acked += acked.bytes;
    if (acked.ece) d.marked += acked.bytes;
    if (d.window_end == 0) d.window_end = acked.snd_nxt;  // the flow's first window
    if (!wire::seq_gt(acked.snd_una, d.window_end)) return;
    const auto fraction = static_cast<std::uint32_t>(std::uint64_t{d.marked} * 1024 / d.acked);
    d.alpha = d.alpha - d.alpha / kGain + fraction / kGain;
    d.acked = d.marked = 0;
    d.window_end = acked.snd_nxt;
  }
  // Step 9; no slow start from here (section 3.3).
  void on_ecn(llp::CongestionState& s, std::uint32_t) const override {
    const auto cut = static_cast<std::uint32_t>(std::uint64_t{s.window} * s.own.dctcp.alpha / 2048);
    s.window = s.ssthresh = std::max(s.window - cut, 2 * s.mss);
    s.counted = 0;
  }
  bool ecn_is_a_loss() const override { return false; }

 private:
  static constexpr std::uint32_t kGain = 16;  // 1/g
};

}  // namespace rnic::tcp
