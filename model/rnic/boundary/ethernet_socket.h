// The two ends of the Ethernet boundary (frame.h): who sends frames binds its socket to who takes them.
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>
#include <utility>

#include "model/common/check.h"
#include "model/rnic/boundary/frame.h"

namespace rnic {

// Takes frames. A class that has one implements on_frame(); the rest of the TLM interface has no meaning for frames.
class EthernetTarget : public tlm::tlm_fw_transport_if<EthernetProtocol> {
 public:
  tlm::tlm_target_socket<32, EthernetProtocol> socket;
  explicit EthernetTarget(const char* name) : socket(name) { socket.bind(*this); }

 private:
  // The frame's last octet arrives at_ps, which is not before the kernel's time.
  virtual void on_frame(const Frame& frame, std::uint64_t at_ps) = 0;

  tlm::tlm_sync_enum nb_transport_fw(Frame& frame, tlm::tlm_phase& phase, sc_core::sc_time& delay) final {
    RNIC_CHECK(phase == tlm::BEGIN_REQ);
    on_frame(frame, static_cast<std::uint64_t>((sc_core::sc_time_stamp() + delay).value()));
    return tlm::TLM_COMPLETED;
  }
  void b_transport(Frame&, sc_core::sc_time&) final { RNIC_CHECK_MSG(false, "frames are sent by nb_transport_fw"); }
  bool get_direct_mem_ptr(Frame&, tlm::tlm_dmi&) final { return false; }
  unsigned transport_dbg(Frame&) final { return 0; }
};

// Sends frames.
class EthernetInitiator : private tlm::tlm_bw_transport_if<EthernetProtocol> {
 public:
  tlm::tlm_initiator_socket<32, EthernetProtocol> socket;
  explicit EthernetInitiator(const char* name) : socket(name) { socket.bind(*this); }

  // A frame of this port, which gets its next number. Arrival of the last octet at the other end, in absolute time: a
  // clock domain may be ahead of the kernel.
  void send(Frame frame, std::uint64_t at_ps) {
    frame.serial = ++sent_;
    pass_on(std::move(frame), at_ps);
  }
  // One that came from another port, or from none.
  void pass_on(Frame frame, std::uint64_t at_ps) {
    const auto kernel_ps = static_cast<std::uint64_t>(sc_core::sc_time_stamp().value());
    RNIC_CHECK(at_ps >= kernel_ps);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::sc_time::from_value(at_ps - kernel_ps);
    const tlm::tlm_sync_enum answer = socket->nb_transport_fw(frame, phase, delay);
    RNIC_CHECK(answer == tlm::TLM_COMPLETED);
  }

 private:
  tlm::tlm_sync_enum nb_transport_bw(Frame&, tlm::tlm_phase&, sc_core::sc_time&) final {
    RNIC_CHECK_MSG(false, "the Ethernet boundary has no backward path");
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) final {}

  std::uint32_t sent_ = 0;
};

}  // namespace rnic
