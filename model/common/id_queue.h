// A first-in first-out list of ids in a flat array: each is in it at most once, no allocation after construction.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/check.h"

namespace rnic {

template <class I>
class IdQueue {
 public:
  explicit IdQueue(std::size_t ids) : next_(ids, kOut) {}

  bool empty() const { return head_ == kEnd; }
  I front() const { return I{head_}; }
  bool contains(I id) const { return next_[id.v] != kOut; }

  // One that is already in the queue is not added again.
  void push(I id) {
    if (contains(id)) return;
    next_[id.v] = kEnd;
    if (empty()) head_ = id.v;
    else next_[tail_] = id.v;
    tail_ = id.v;
  }
  I pop() {
    RNIC_CHECK(!empty());
    const I id{head_};
    head_ = next_[head_];
    next_[id.v] = kOut;
    return id;
  }

 private:
  static constexpr std::uint32_t kOut = 0xffffffff, kEnd = 0xfffffffe;
  std::vector<std::uint32_t> next_;
  std::uint32_t head_ = kEnd, tail_ = kEnd;
};

}  // namespace rnic
