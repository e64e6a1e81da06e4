// Contexts of queue pairs, flows, completion queues and STags: written by the firmware, read by the stages.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/clock_domain.h"
#include "model/common/ids.h"

namespace rnic {

enum class QpState : std::uint8_t { kIdle, kRts, kClosing, kTerminate, kError };

struct QpContext {
  QpState state = QpState::kIdle;
  bool valid = false;
  bool responder = false;               // may not send before the first FPDU came in (RFC 5044 section 7.1.2 rule 4)
  bool absorbs_rtr_send = false;        // the peer's first Send is the agreed ready-to-receive message (RFC 6581)
  std::uint8_t log_sq = 0, log_rq = 0;  // ring sizes in entries
  std::uint8_t version = 1;             // DDP and RDMAP version
  std::uint16_t mulpdu = 0;             // octets (RFC 5044 section 4.5)
  std::uint16_t ird = 0, ord = 0;
  Pdn pd;
  FlowId flow = kNoFlow;
  Cqn send_cq, recv_cq;
  std::uint64_t sq_base = 0, rq_base = 0;
  std::uint32_t epoch = 0;  // counts the QP number's uses: per-QP state of an older epoch is stale
};

struct FlowContext {
  bool rdma = false;
  bool tx_markers = false, rx_markers = false, crc = true;
  std::uint32_t epoch = 0;  // counts the flow's uses: per-flow state of an older epoch is stale
  Qpn qpn;
};

struct CqContext {
  bool valid = false;
  std::uint8_t log_entries = 0;
  std::uint64_t base = 0;
  std::uint32_t epoch = 0;  // as a QP's
};

// STag = index << 8 | key. The tagged offset is the virtual address, which is the bus address.
struct StagContext {
  bool valid = false;
  std::uint8_t key = 0;
  std::uint8_t access = 0;  // abi::AccessFlags
  Pdn pd;
  std::uint64_t address = 0, length = 0;

  // This entry is what the STag names, in this protection domain, and [at, at + bytes) lies inside it.
  bool covers(std::uint32_t stag, Pdn domain, std::uint64_t at, std::uint64_t bytes) const {
    return names(stag) && pd == domain && contains(at, bytes);
  }
  bool names(std::uint32_t stag) const { return valid && key == (stag & 0xff); }
  bool contains(std::uint64_t at, std::uint64_t bytes) const {
    return at >= address && bytes <= length && at - address <= length - bytes;
  }
};

// Flat tables. A write is visible from the next cycle on, to every stage alike.
class ContextStore final : public Committed {
 public:
  struct Sizes {
    unsigned qps = 256, flows = 256, cqs = 256, stags = 1024;
  };
  ContextStore(ClockDomain& clk, const Sizes& sizes)
      : clk_(clk), qps_(sizes.qps), flows_(sizes.flows), cqs_(sizes.cqs), stags_(sizes.stags) {}

  const QpContext& qp(Qpn n) const { return at(qps_, n.v); }
  const FlowContext& flow(FlowId f) const { return at(flows_, f.v); }
  const CqContext& cq(Cqn n) const { return at(cqs_, n.v); }
  // The entry an STag points at, or nullptr where its index is outside the table; the caller checks valid and key.
  const StagContext* stag(Stag s) const { return (s.v >> 8) < stags_.size() ? &stags_[s.v >> 8] : nullptr; }

  std::size_t qps() const { return qps_.size(); }
  std::size_t flows() const { return flows_.size(); }
  std::size_t cqs() const { return cqs_.size(); }
  std::size_t stags() const { return stags_.size(); }

  void write(Qpn n, const QpContext& c) { stage(qp_writes_, qps_, n.v, c); }
  void write(FlowId f, const FlowContext& c) { stage(flow_writes_, flows_, f.v, c); }
  void write(Cqn n, const CqContext& c) { stage(cq_writes_, cqs_, n.v, c); }
  void write(Stag s, const StagContext& c) { stage(stag_writes_, stags_, s.v >> 8, c); }

  void commit() override {
    apply(qp_writes_, qps_);
    apply(flow_writes_, flows_);
    apply(cq_writes_, cqs_);
    apply(stag_writes_, stags_);
  }

 private:
  template <class C>
  using Writes = std::vector<std::pair<std::uint32_t, C>>;
  template <class C>
  static const C& at(const std::vector<C>& table, std::uint32_t i) {
    RNIC_CHECK(i < table.size());
    return table[i];
  }
  template <class C>
  void stage(Writes<C>& writes, const std::vector<C>& table, std::uint32_t i, const C& c) {
    RNIC_CHECK(i < table.size());
    writes.emplace_back(i, c);
    clk_.commit_later(*this);
  }
  template <class C>
  static void apply(Writes<C>& writes, std::vector<C>& table) {
    for (const auto& [i, c] : writes) table[i] = c;
    writes.clear();
  }

  ClockDomain& clk_;
  std::vector<QpContext> qps_;
  std::vector<FlowContext> flows_;
  std::vector<CqContext> cqs_;
  std::vector<StagContext> stags_;
  Writes<QpContext> qp_writes_;
  Writes<FlowContext> flow_writes_;
  Writes<CqContext> cq_writes_;
  Writes<StagContext> stag_writes_;
};

}  // namespace rnic
