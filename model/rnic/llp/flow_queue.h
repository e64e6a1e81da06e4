// A first-in first-out list of flows in a flat array: each flow is in it at most once, no allocation after
// construction.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/check.h"
#include "model/common/ids.h"

namespace rnic::llp {

class FlowQueue {
 public:
  explicit FlowQueue(std::size_t flows) : next_(flows, kOut) {}

  bool empty() const { return head_ == kEnd; }
  FlowId front() const { return FlowId{head_}; }
  bool contains(FlowId flow) const { return next_[flow.v] != kOut; }

  // A flow that is already in the queue is not added again.
  void push(FlowId flow) {
    if (contains(flow)) return;
    next_[flow.v] = kEnd;
    if (empty()) head_ = flow.v;
    else next_[tail_] = flow.v;
    tail_ = flow.v;
  }
  FlowId pop() {
    RNIC_CHECK(!empty());
    const FlowId flow{head_};
    head_ = next_[head_];
    next_[flow.v] = kOut;
    return flow;
  }

 private:
  static constexpr std::uint32_t kOut = 0xffffffff, kEnd = 0xfffffffe;
  std::vector<std::uint32_t> next_;
  std::uint32_t head_ = kEnd, tail_ = kEnd;
};

}  // namespace rnic::llp
