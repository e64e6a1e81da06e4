// SND.NXT of each flow: written by tcp_tx and read from the next cycle on by tcp_rx, which must detect acknowledgements
// of data that was never sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/common/ids.h"
#include "model/common/registered.h"

namespace rnic::tcp {

class SentOctets final : public Committed {
 public:
  static constexpr std::size_t kBytesPerFlow = sizeof(std::uint32_t);

  SentOctets(ClockDomain& clk, std::size_t flows) : clk_(clk), snd_nxt_(flows) {}
  std::uint32_t snd_nxt(FlowId flow) const { return snd_nxt_[flow.v]; }
  void set(FlowId flow, std::uint32_t snd_nxt) {
    written_.emplace_back(flow, snd_nxt);
    clk_.commit_later(*this);
  }
  void commit() override {
    for (const auto& [flow, snd_nxt] : written_) snd_nxt_[flow.v] = snd_nxt;
    written_.clear();
  }

 private:
  ClockDomain& clk_;
  std::vector<std::uint32_t> snd_nxt_;
  std::vector<std::pair<FlowId, std::uint32_t>> written_;  // in this cycle
};

}  // namespace rnic::tcp
