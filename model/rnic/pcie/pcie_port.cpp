#include "model/rnic/pcie/pcie_port.h"

#include <utility>

#include "model/common/description.h"

namespace rnic::pcie {
namespace {

std::uint64_t kernel_ps() { return sc_core::sc_time_stamp().value(); }

// TLM's annotated delay as an absolute time, relative to the kernel's, which a domain may be ahead of.
sc_core::sc_time delay_until(std::uint64_t ps) {
  const std::uint64_t now_ps = kernel_ps();
  RNIC_CHECK(ps >= now_ps);
  return sc_core::sc_time::from_value(ps - now_ps);
}

}  // namespace

PciePort::PciePort(Stage& owner, const PcieLinkConfig& link, PcieSide side)
    : out("pcie_out"),
      in("pcie_in"),
      owner_(owner),
      side_(side),
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

void PciePort::send(Tlp tlp) {
  const std::uint64_t arrives_ps = transmitter_.send(tlp);
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

tlm::tlm_sync_enum PciePort::nb_transport_fw(Tlp& tlp, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  RNIC_CHECK(phase == tlm::BEGIN_REQ);
  const std::uint64_t at_ps = kernel_ps() + delay.value();
  inbox(tlp.flow_class()).deliver(std::move(tlp), at_ps);
  return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum PciePort::nb_transport_bw(Tlp& tlp, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  RNIC_CHECK(phase == tlm::END_REQ);
  transmitter_.credit_returned(tlp, kernel_ps() + delay.value());
  return tlm::TLM_COMPLETED;
}

void PciePort::b_transport(Tlp&, sc_core::sc_time&) { RNIC_CHECK_MSG(false, "the PCIe link takes nb_transport only"); }

}  // namespace rnic::pcie
