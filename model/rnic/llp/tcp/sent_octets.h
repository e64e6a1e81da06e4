// SND.NXT of each flow: written by tcp_tx and read from the next cycle on by tcp_rx, which must detect acknowledgements
// of data that was never sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "model/common/ids.h"
#include "model/common/registered.h"

namespace rnic::tcp {

class SentOctets {
 public:
  static constexpr std::size_t kBytesPerFlow = sizeof(Registered<std::uint32_t>);

  SentOctets(ClockDomain& clk, std::size_t flows) {
    for (std::size_t i = 0; i < flows; ++i) snd_nxt_.emplace_back(clk);
  }
  std::uint32_t snd_nxt(FlowId flow) const { return snd_nxt_[flow.v].get(); }
  void set(FlowId flow, std::uint32_t snd_nxt) { snd_nxt_[flow.v].set(snd_nxt); }

 private:
  std::deque<Registered<std::uint32_t>> snd_nxt_;  // they never move
};

}  // namespace rnic::tcp
