// Stands where the association engine of SCTP will be: nothing comes of it, and nothing may go there.
#pragma once

#include "model/common/check.h"
#include "model/common/link.h"
#include "model/rnic/boundary/frame.h"
#include "model/rnic/messages/datapath.h"
#include "model/rnic/messages/tcp.h"
#include "model/stats/registry.h"

namespace rnic {

class SctpAbsent final : public Stage {
 public:
  PopPort<Frame> packets{*this, "packets"};
  PushPort<Frame> frames{*this, "frames"};
  PopPort<Ulpdu> ulpdus{*this, "ulpdus"};
  PushPort<TxCredit> credit{*this, "credit"};
  PushPort<WqesAcked> acked{*this, "acked"};
  PushPort<FpduBeat> segments{*this, "segments"};
  PopPort<StreamEnded> ended{*this, "ended"};

  SctpAbsent(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}
  // Packets of peers that speak SCTP are dropped.
  Wake tick() override {
    if (packets->can_pop()) {
      packets->pop();
      ++dropped_;
    }
    RNIC_CHECK_MSG(!ulpdus->can_pop() && !ended->can_pop(), "a stream over SCTP");
    return packets->can_pop() ? Wake::next_cycle() : Wake::on_traffic();
  }
  void reset() override {}
  void register_stats(const StatsGroup& group) const override {
    group.sum(
        "dropped", [this] { return static_cast<double>(dropped_); }, "packets", "dropped");
  }

 private:
  std::uint64_t dropped_ = 0;
};

}  // namespace rnic
