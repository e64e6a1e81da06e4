#include "model/system/utilization.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/common/kernel_time.h"

namespace rnic {

UtilizationMeter::UtilizationMeter(const std::vector<Station>& stations, const CableFaults& faults)
    : stations_(stations), faults_(faults) {
  using Kind = Resource::Kind;
  for (const Station& s : stations_) {
    resources_.push_back({Kind::kWire, s.name, fmt::format("wire {} to {}", s.name, s.joined_to)});
    resources_.push_back({Kind::kPcie, s.name, "PCIe device to host, " + s.name});
    resources_.push_back({Kind::kPcie, s.name, "PCIe host to device, " + s.name});
    resources_.push_back({Kind::kTransmit, s.name, "transmit datapath, " + s.name});
    resources_.push_back({Kind::kReceive, s.name, "receive datapath, " + s.name});
  }
  const Station& s = stations_.front();
  for (unsigned direction = 0; direction < 2; ++direction) {
    if (!faults_.rate_busy_ps(direction, 0)) continue;
    const std::string &from = direction == 0 ? s.name : s.joined_to, &to = direction == 0 ? s.joined_to : s.name;
    resources_.push_back({Kind::kLinkRate, from, fmt::format("link rate {} to {}", from, to)});
  }
}

void UtilizationMeter::busy_ps(std::vector<double>& into) const {
  into.clear();
  for (const Station& s : stations_) {
    const Rnic& chip = s.node->chip;
    const double cycle = static_cast<double>(s.node->core_clk.period_ps());
    const pcie::LinkTiming pcie(s.config.rnic.pcie.link);
    const double octet = static_cast<double>(pcie.ticks_per_octet()) / pcie::LinkTiming::kTicksPerPs;
    into.push_back(static_cast<double>(chip.mac_tx.counters().line_octets) * 8000 / s.config.rnic.mac_tx.line_gbps);
    into.push_back(static_cast<double>(chip.pcie.endpoint.port.counters().wire_bytes) * octet);
    into.push_back(static_cast<double>(s.node->root_complex.port.counters().wire_bytes) * octet);
    // SCTP's datapath lies beside MPA's: one or the other carries a connection.
    into.push_back(static_cast<double>(chip.crc_insert.out->pushed() + chip.sctp_crc_insert.out->pushed()) * cycle);
    into.push_back(static_cast<double>(chip.crc_check.out->pushed() + chip.sctp_crc_check.out->pushed()) * cycle);
  }
  for (unsigned direction = 0; direction < 2; ++direction) {
    const auto busy = faults_.rate_busy_ps(direction, kernel_time_ps());
    if (busy) into.push_back(static_cast<double>(*busy));
  }
}

UtilizationMeter::Busy UtilizationMeter::busy() const {
  Busy busy{kernel_time_ps(), {}};
  std::vector<double> ps;
  busy_ps(ps);
  for (std::size_t i = 0; i < ps.size(); ++i) busy.ps.emplace_back(resources_[i].name, ps[i]);
  return busy;
}

void UtilizationMeter::follow(bool working) {
  if (working == phase_begin_.has_value()) return;
  if (!phase_begin_) {
    phase_begin_ = busy();
    return;
  }
  Busy phase = busy();
  phase.time_ps -= phase_begin_->time_ps;
  if (work_) phase.time_ps += work_->time_ps;
  for (std::size_t i = 0; i < phase.ps.size(); ++i) {
    phase.ps[i].second += (work_ ? work_->ps[i].second : 0) - phase_begin_->ps[i].second;
  }
  work_ = std::move(phase);
  phase_begin_.reset();
}

void UtilizationMeter::restart() {
  work_.reset();
  if (phase_begin_) phase_begin_ = busy();
}

std::vector<Utilization> UtilizationMeter::shares() const {
  std::vector<Utilization> list;
  if (!work_ || work_->time_ps == 0) return list;
  for (const auto& [resource, ps] : work_->ps) list.push_back({resource, ps / static_cast<double>(work_->time_ps)});
  std::stable_sort(list.begin(), list.end(), [](const auto& x, const auto& y) { return x.share > y.share; });
  return list;
}

}  // namespace rnic
