// Connections that open and close: the common part of both programs of an Op::kConnect item.
#pragma once

#include <vector>

#include "model/programs/workload/role.h"

namespace rnic::workload {

// One side's settings for the connections.
struct ChurnSide {
  std::uint32_t peer_ip = 0;                // for the side that connects
  std::uint16_t port = 0, unused_port = 0;  // the other side's listener, and a port without one
  host::ConnParam param;                    // its private data is the connection's number
  host::CqMode mode = host::CqMode::kPolled;
};

// Each connection has its own queue pair, created before it and destroyed after it, and carries one Send. Neither side
// leaves anything allocated: the queue pairs, the completion queue and the region are gone when the role is done.
class ChurnRole : public Role {
 public:
  ChurnRole(Transfer& transfer, std::uint8_t index, ChurnSide side);
  RingNeeds needs() const override { return {}; }
  void completed(const host::Wc& wc, WrId id, std::uint64_t at_ps) override;

 protected:
  static constexpr std::uint32_t kNumberBytes = 4;

  unsigned slots() const { return std::min(item_.depth, item_.count); }
  std::uint32_t stride() const { return std::max(64u, (transfer_.max_size + 63) & ~63u); }
  Outcome outcome(std::uint32_t connection) const { return item_.outcomes[connection % item_.outcomes.size()]; }
  // Region and completion queue.
  bool make(host::Context& context, host::Pd pd);
  host::Qp* create_qp();
  host::Sge sge(unsigned slot, std::uint32_t bytes) const { return memory_.sge(std::uint64_t{slot} * stride(), bytes); }
  MutableByteSpan octets(unsigned slot, std::uint32_t bytes) {
    return span(memory_.address() + std::uint64_t{slot} * stride(), bytes);
  }
  // Calls f(wc) for each completion there is.
  template <class F>
  void take_completions(F f) {
    if (side_.mode == host::CqMode::kNotified) {
      if (!cq_->get_cq_event()) return;
      cq_->req_notify_cq();
    }
    host::Wc wc;
    while (cq_->poll_cq(&wc, 1) == 1) f(wc);
  }
  void fail(std::uint32_t connection, const std::string& reason);
  // For events that end the run unless they are the connection's expected outcome.
  void fail(std::uint32_t connection, const host::CmEvent& event);
  static std::vector<std::uint8_t> number(std::uint32_t connection);
  // True once both are gone.
  bool release();

  const ChurnSide side_;

 private:
  host::Pd pd_;
  LocalMemory memory_{item_.pages};
  host::Cq* cq_ = nullptr;
  bool releasing_ = false, released_ = false;
};

}  // namespace rnic::workload
