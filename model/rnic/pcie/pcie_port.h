// One end of a PCIe link: a socket out, a socket in, the transmitter and the three receive buffers. Both the device's
// endpoint and the host's root complex are a stage around one of these.
#pragma once

#include <cstdint>
#include <tlm>
#include <vector>

#include "model/common/inbox.h"
#include "model/common/stage.h"
#include "model/rnic/pcie/pcie_transmitter.h"
#include "model/rnic/pcie/tlp.h"

namespace rnic::pcie {

enum class PcieSide { kHost, kDevice };

// Sees every TLP that a port sends, when it goes onto the wire: from when to when its octets are there and at the other
// end. The times are at or after the cycle of the call.
struct TlpTap {
  virtual ~TlpTap() = default;
  virtual void sent(const Tlp& tlp, std::uint64_t begins_ps, std::uint64_t arrives_ps) = 0;
  // The port resets the link: what was sent before has no effect any more.
  virtual void reset() {}
};

class PciePort final : public Part,
                       private tlm::tlm_fw_transport_if<PcieProtocol>,
                       private tlm::tlm_bw_transport_if<PcieProtocol> {
 public:
  tlm::tlm_initiator_socket<32, PcieProtocol> out;  // TLPs leave, credits come back
  tlm::tlm_target_socket<32, PcieProtocol> in;      // TLPs arrive, credits go back

  // A member of `owner`, which is called when a TLP arrives and when one that was refused may leave.
  PciePort(Stage& owner, const PcieLinkConfig& link, PcieSide side);

  // Sending.
  int choose(const Tlp* const* heads, unsigned n) { return transmitter_.choose(heads, n); }
  void wake_when_free() { transmitter_.wake_when_free(); }
  // `ready`: the cycle from which on it could have left.
  void send(Tlp tlp, Cycle ready);
  // Not for the model's own use: observers must not change what happens.
  void tap(TlpTap& tap) { taps_.push_back(&tap); }

  // Receiving: one buffer per flow control class, so that none can block another. pop() frees the space and returns its
  // credits to the sender.
  bool can_pop(FlowClass c) const { return inbox(c).can_pop(); }
  const Tlp& front(FlowClass c) const { return inbox(c).front(); }
  std::uint64_t front_ps(FlowClass c) const { return inbox(c).front_ps(); }
  Tlp pop(FlowClass c);

  // A reset of the link loses what lies in the receive buffers of both ends and what is on its way between them.
  // Calls of the host's end: it begins a reset now, of its own end at once and of the other one when the order has
  // arrived there; `in_band`: it goes over the wire, after the TLPs that were sent. Until the link is up again nothing
  // is sent or arrives.
  void reset_link(bool in_band);
  bool down() const { return up_from_ > owner_.clock().now(); }
  // Calls of the device's end: the order has arrived, and is taken.
  bool reset_arrived() const { return reset_from_ <= owner_.clock().now(); }
  void take_reset();

  // For the direction in which it sends.
  void describe(const Description& d) override;
  const TransmitCounters& counters() const { return transmitter_.counters(); }
  const TransmitCounters& counters(Purpose of) const { return transmitter_.counters(of); }
  bool waits_for_credit() const { return transmitter_.waits_for_credit(); }
  bool empty() const { return posted_.empty() && non_posted_.empty() && completions_.empty(); }

 private:
  const Inbox<Tlp>& inbox(FlowClass c) const {
    return c == FlowClass::kPosted ? posted_ : (c == FlowClass::kNonPosted ? non_posted_ : completions_);
  }
  Inbox<Tlp>& inbox(FlowClass c) { return const_cast<Inbox<Tlp>&>(std::as_const(*this).inbox(c)); }

  sc_core::sc_time delay_until(std::uint64_t ps) const;
  void restart(std::uint64_t up_ps);
  void tell(tlm::tlm_phase what, std::uint64_t at_ps);
  tlm::tlm_sync_enum nb_transport_fw(Tlp& tlp, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(Tlp& tlp, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  void b_transport(Tlp&, sc_core::sc_time&) override;
  bool get_direct_mem_ptr(Tlp&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(Tlp&) override { return 0; }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  Stage& owner_;
  const sc_core::sc_time& kernel_time_;  // the kernel's own variable: sc_time_stamp() costs a call each time
  const PcieSide side_;
  const std::uint64_t propagation_ps_, training_ps_;
  const std::uint64_t update_ps_;  // from a freed buffer to the sender's counter
  const CreditConfig advertised_;  // for our receive buffers
  PcieTransmitter transmitter_;
  Inbox<Tlp> posted_, non_posted_, completions_;
  Cycle up_from_ = 0;          // the host's end: when the link is up; kNever until the device has answered
  Cycle reset_from_ = kNever;  // the device's end: when the order has arrived
  std::vector<TlpTap*> taps_;
};

}  // namespace rnic::pcie
