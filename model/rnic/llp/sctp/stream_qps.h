// The queue pairs that the streams of a chip's associations serve.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "model/common/clock_domain.h"
#include "model/common/registered.h"
#include "model/rnic/context/flow_rows.h"

namespace rnic::sctp {

// Of a stream whether it is in use or not: what the association has of it begins again with each session.
class StreamQps final : public FlowRows, public Committed {
 public:
  // Flows from `first` on are the streams.
  StreamQps(ClockDomain& clk, FlowId first, std::size_t streams) : clk_(clk), first_(first), qps_(streams) {}

  const QpUse& operator[](FlowId flow) const { return qps_[index(flow)]; }

  void write(FlowId flow, const FlowContext& c) override {
    writes_.emplace_back(index(flow), QpUse::of(c));
    clk_.commit_later(*this);
  }
  QpUse peek(FlowId flow) const override { return (*this)[flow]; }
  void commit() override {
    for (const auto& [i, qp] : writes_) qps_[i] = qp;
    writes_.clear();
  }
  void reset() {
    writes_.clear();
    qps_.assign(qps_.size(), {});
  }

 private:
  std::size_t index(FlowId flow) const {
    const std::size_t i = flow.v - first_.v;
    RNIC_CHECK_MSG(flow.v >= first_.v && i < qps_.size(), "no stream of an association");
    return i;
  }

  ClockDomain& clk_;
  const FlowId first_;
  std::vector<QpUse> qps_;
  std::vector<std::pair<std::size_t, QpUse>> writes_;  // of this cycle
};

}  // namespace rnic::sctp
