// Contexts for tests of stages that read them: written before the first cycle, or changed at a cycle of the run.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "model/rnic/context/context.h"
#include "model/rnic/messages/datapath.h"
#include "model/rnic/messages/llp.h"

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
inline QpContext on_sctp(QpContext c) {
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

// For drive(): messages that name no use of their number are about the one that it has when they leave; those of a flow
// are about the queue pair that is on it then.
class CurrentUse {
 public:
  explicit CurrentUse(const ContextStore& contexts) : contexts_(contexts) {}
  template <class T>
  void operator()(T& m) const {
    if (m.epoch == 0) m.epoch = use_of(m, 0);
  }
  void operator()(TxCredit& m) const { name_qp(m); }
  void operator()(WqesAcked& m) const { name_qp(m); }
  void operator()(FpduBeat& m) const { name_life(m); }
  void operator()(StreamBeat& m) const { name_life(m); }

 private:
  template <class T>
  auto use_of(const T& m, int) const -> decltype(m.qpn, std::uint32_t{}) {
    return contexts_.epoch(m.qpn);
  }
  template <class T>
  std::uint32_t use_of(const T& m, long) const {
    return contexts_.receive_ring(m.rqn).epoch;
  }
  template <class T>
  void name_qp(T& m) const {
    if (m.epoch != 0 || !is_on(m.flow, m.qpn)) return;
    m.epoch = contexts_.epoch(m.qpn);
  }
  // All beats of an FPDU, or of a segment, name what the first one does.
  template <class T>
  void name_life(T& m) const {
    if (m.life != 0) return;
    if (m.first) {
      named_ = {};
      if (is_on(m.flow, named_.qpn)) named_.epoch = contexts_.epoch(named_.qpn);
    }
    m.qpn = named_.qpn;
    m.life = life_of(named_.epoch);
  }
  // Mostly both have the same number.
  bool is_on(FlowId flow, Qpn& qpn) const {
    for (std::uint32_t n = 0; n < contexts_.qps(); ++n) {
      const Qpn candidate{static_cast<std::uint32_t>((flow.v + n) % contexts_.qps())};
      if (contexts_.flow_of(candidate) == flow) return qpn = candidate, true;
    }
    return false;
  }
  const ContextStore& contexts_;
  mutable QpUse named_;
};

// What the firmware has written of flows, for tests without a lower layer.
class WrittenFlows final : public FlowRows {
 public:
  explicit WrittenFlows(ContextStore& contexts) { contexts.keep_flows_in(*this, FlowId{0}, contexts.flows()); }
  void write(FlowId flow, const FlowContext& c) override { flows_[flow.v] = c; }
  QpUse peek(FlowId flow) const override { return QpUse::of((*this)[flow]); }
  const FlowContext& operator[](FlowId flow) const { return flows_.at(flow.v); }

 private:
  std::map<std::uint32_t, FlowContext> flows_;
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

// Writes the context of a QP before cycle 0.
inline void open_qp(ContextStore& contexts, std::uint32_t n, QpContext qp, bool markers = false) {
  qp.markers = markers;
  contexts.write(Qpn{n}, qp);
  contexts.commit();
}

}  // namespace rnic::test
