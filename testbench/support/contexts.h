// Contexts for tests of stages that read them: written before the first cycle, or changed at a cycle of the run.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "model/rnic/context/context.h"

namespace rnic::test {

// A QP in RDMA mode on flow n: both rings have 16 entries, and both CQs have the QP's number.
inline QpContext rts_qp(std::uint32_t n, std::uint32_t epoch = 1) {
  QpContext c;
  c.state = QpState::kRts;
  c.valid = true;
  c.log_sq = c.log_rq = 4;
  c.mulpdu = 1442;
  c.extensions = true;
  c.ird = c.ord = 4;
  c.pd = Pdn{1};
  c.flow = FlowId{n};
  c.send_cq = c.recv_cq = Cqn{n};
  c.epoch = epoch;
  return c;
}
inline FlowContext flow_of(std::uint32_t qpn, bool markers = false) {
  FlowContext c;
  c.rdma = true;
  c.tx_markers = c.rx_markers = markers;
  c.epoch = 1;
  c.qpn = Qpn{qpn};
  return c;
}
inline FlowContext sctp_flow_of(std::uint32_t qpn) {
  FlowContext c = flow_of(qpn);
  c.llp = LlpId::kSctp;
  return c;
}
// STag = index << 8 | key; the region [address, address + length).
inline constexpr std::uint32_t stag_of(std::uint32_t index, std::uint8_t key = 0x5a) { return index << 8 | key; }
inline StagContext region(std::uint64_t address, std::uint64_t length, std::uint8_t access, std::uint32_t pd = 1) {
  StagContext c;
  c.valid = true;
  c.key = 0x5a;
  c.access = access;
  c.pd = Pdn{pd};
  c.address = c.bus = address;
  c.length = length;
  return c;
}

// What an STag of a peer names, or nullptr. A window is valid only if its region is.
inline const StagContext* named(const ContextStore& contexts, std::uint32_t stag) {
  const StagContext* const c = contexts.stag(Stag{stag});
  if (c == nullptr || !c->names(stag)) return nullptr;
  if (c->kind == StagKind::kRegion) return c;
  const StagContext* const region = contexts.stag(Stag{c->region});
  return region != nullptr && region->names(c->region) ? c : nullptr;
}

// Makes a region of pages of 4 KiB, from the first octet of the first one on, in the first entries of the page table.
inline void paged_region(ContextStore& contexts, std::uint32_t stag, const std::vector<std::uint64_t>& pages,
                         std::uint8_t access = 0) {
  for (std::uint32_t i = 0; i < pages.size(); ++i) contexts.write_page(i, pages[i]);
  StagContext c = region(0, pages.size() << 12, access);
  c.log_page = 12;
  c.pages = static_cast<std::uint32_t>(pages.size());
  contexts.write(Stag{stag}, c);
  contexts.commit();
}

// For drive(): messages that name no use of their number are about the one that it has when they leave.
class CurrentUse {
 public:
  explicit CurrentUse(const ContextStore& contexts) : contexts_(contexts) {}
  template <class T>
  void operator()(T& m) const {
    if (m.epoch == 0) m.epoch = use_of(m, 0);
  }

 private:
  template <class T>
  auto use_of(const T& m, int) const -> decltype(m.qpn, std::uint32_t{}) {
    return contexts_.qp(m.qpn).epoch;
  }
  template <class T>
  std::uint32_t use_of(const T& m, long) const {
    return contexts_.receive_ring(m.rqn).epoch;
  }
  const ContextStore& contexts_;
};

// Changes the contexts in given cycles, as the firmware would.
class At final : public Stage {
 public:
  At(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {}
  void at(Cycle cycle, std::function<void()> what) {
    plan_.emplace(cycle, std::move(what));
    wake(cycle);
  }
  Wake tick() override {
    for (; !plan_.empty() && plan_.begin()->first <= now(); plan_.erase(plan_.begin())) plan_.begin()->second();
    return Wake::on_traffic();
  }

 private:
  std::multimap<Cycle, std::function<void()>> plan_;
};

// Writes the contexts of a QP and of the flow with the same number, before cycle 0.
inline void open_qp(ContextStore& contexts, std::uint32_t n, const QpContext& qp, bool markers = false) {
  contexts.write(Qpn{n}, qp);
  contexts.write(FlowId{n}, flow_of(n, markers));
  contexts.commit();
}

}  // namespace rnic::test
