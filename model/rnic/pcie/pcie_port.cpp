#include "model/rnic/pcie/pcie_port.h"

#include <algorithm>
#include <utility>

#include "model/common/description.h"

namespace rnic::pcie {

// TLM's annotated delay counts from the kernel's time, which a domain may be ahead of.
sc_core::sc_time PciePort::delay_until(std::uint64_t ps) const {
  RNIC_CHECK(ps >= kernel_time_.value());
  return sc_core::sc_time::from_value(ps - kernel_time_.value());
}

PciePort::PciePort(Stage& owner, const PcieLinkConfig& link, PcieSide side)
    : out("pcie_out"),
      in("pcie_in"),
      owner_(owner),
      kernel_time_(sc_core::sc_time_stamp()),
      side_(side),
      propagation_ps_(std::uint64_t{link.propagation_ns} * 1000),
      training_ps_(std::uint64_t{link.training_us} * 1'000'000),
      update_ps_((std::uint64_t{link.update_fc_ns} + link.propagation_ns) * 1000),
      advertised_(side == PcieSide::kHost ? link.host_credits : link.device_credits),
      transmitter_(owner, link, side == PcieSide::kHost ? link.device_credits : link.host_credits),
      posted_(owner),
      non_posted_(owner),
      completions_(owner) {
  out.bind(static_cast<tlm::tlm_bw_transport_if<PcieProtocol>&>(*this));
  in.bind(static_cast<tlm::tlm_fw_transport_if<PcieProtocol>&>(*this));
}

void PciePort::describe(const Description& d) {
  transmitter_.describe(d, side_ == PcieSide::kDevice ? "host" : "device");
  d.tlps(*this, side_ == PcieSide::kHost);
}

void PciePort::send(Tlp tlp, Cycle ready) {
  const std::uint64_t arrives_ps = transmitter_.send(tlp, ready);
  for (TlpTap* tap : taps_) tap->sent(tlp, transmitter_.began_ps(tlp), arrives_ps);
  sc_core::sc_time delay = delay_until(arrives_ps);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  const tlm::tlm_sync_enum answer = out->nb_transport_fw(tlp, phase, delay);
  RNIC_CHECK(answer == tlm::TLM_COMPLETED);
}

Tlp PciePort::pop(FlowClass c) {
  Tlp tlp = inbox(c).pop();
  if (advertised_.infinite(c)) return tlp;
  sc_core::sc_time delay = delay_until(owner_.clock().now_ps() + update_ps_);
  tlm::tlm_phase phase = tlm::END_REQ;
  in->nb_transport_bw(tlp, phase, delay);
  return tlp;
}

void PciePort::restart(std::uint64_t up_ps) {
  for (Inbox<Tlp>* inbox : {&posted_, &non_posted_, &completions_}) inbox->clear();
  transmitter_.restart(up_ps);
}

void PciePort::tell(tlm::tlm_phase what, std::uint64_t at_ps) {
  Tlp nothing;
  sc_core::sc_time delay = delay_until(at_ps);
  out->nb_transport_fw(nothing, what, delay);
}

// What the device has sent before it takes the order arrives before its answer, in the order of calls.
void PciePort::reset_link(bool in_band) {
  for (TlpTap* tap : taps_) tap->reset();
  const std::uint64_t now_ps = owner_.clock().now_ps();
  const std::uint64_t leaves_ps = in_band ? std::max(now_ps, transmitter_.free_ps()) : now_ps;
  up_from_ = kNever;
  restart(now_ps);
  tell(LINK_RESET, leaves_ps + propagation_ps_);
}

// The host's answer could not come before the order's way back: both ends are up as late as that.
void PciePort::take_reset() {
  const std::uint64_t up_ps = owner_.clock().now_ps() + training_ps_ + propagation_ps_;
  reset_from_ = kNever;
  restart(up_ps);
  tell(LINK_UP, up_ps);
}

tlm::tlm_sync_enum PciePort::nb_transport_fw(Tlp& tlp, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const std::uint64_t at_ps = kernel_time_.value() + delay.value();
  if (phase == tlm::BEGIN_REQ) {
    if (up_from_ != kNever) inbox(tlp.flow_class()).deliver(std::move(tlp), at_ps);
    return tlm::TLM_COMPLETED;
  }
  RNIC_CHECK(phase == LINK_RESET || phase == LINK_UP);
  const Cycle at = owner_.clock().cycle_at_or_after(at_ps);
  (phase == LINK_UP ? up_from_ : reset_from_) = at;
  owner_.wake(at);
  return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum PciePort::nb_transport_bw(Tlp& tlp, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  RNIC_CHECK(phase == tlm::END_REQ);
  if (up_from_ != kNever) transmitter_.credit_returned(tlp, kernel_time_.value() + delay.value());
  return tlm::TLM_COMPLETED;
}

void PciePort::b_transport(Tlp&, sc_core::sc_time&) { RNIC_CHECK_MSG(false, "the PCIe link takes nb_transport only"); }

}  // namespace rnic::pcie
