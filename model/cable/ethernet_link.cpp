#include "model/cable/ethernet_link.h"

namespace rnic {

EthernetLink::EthernetLink(sc_core::sc_module_name nm, const EthernetLinkConfig& config)
    : sc_module(nm),
      config_(config),
      directions_{std::make_unique<Direction>(*this, 0, "in0", "out0"),
                  std::make_unique<Direction>(*this, 1, "in1", "out1")} {}

void EthernetLink::attach(unsigned end, EthernetInitiator& tx, EthernetTarget& rx) {
  RNIC_CHECK(end < 2);
  tx.socket.bind(directions_[end]->socket);
  directions_[1 - end]->out.socket.bind(rx.socket);
}

void EthernetLink::carry(Direction& direction, Frame frame, std::uint64_t at_ps) {
  const std::uint64_t arrival_ps = at_ps + config_.delay_ns * 1000;
  if (impairment_ && !impairment_(direction.number, frame)) return;
  for (FrameTap* t : taps_) t->frame(direction.number, frame, arrival_ps);
  direction.out.pass_on(std::move(frame), arrival_ps);
}

}  // namespace rnic
