// Which connections are opened when: each node opens its own in the plan's order, `batch` of them at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/programs/workload/plan.h"

namespace rnic::workload {

// By node, how many connections it opens at a time. Both ends need room for a connection that is being set up, so by
// default a node's room is shared evenly by the node itself and the nodes that connect to it. If everything fits
// anyway, everything is opened at once.
std::vector<std::uint32_t> batches(const Plan& plan, const std::vector<std::uint32_t>& max_setups);

// How many connections a node sets up at a time then, of those that it opens and those that it accepts.
std::uint64_t setups_at(const Plan& plan, std::size_t node, const std::vector<std::uint32_t>& batches);

// The connections of one node, numbered in the order in which it opens them.
class Opening {
 public:
  // `interval_ps`: between two of them, at least.
  Opening(std::uint32_t batch, std::uint64_t interval_ps) : batch_(batch), interval_ps_(interval_ps) {}

  // Calls admit(number, time) for each connection that may be opened from `from_ps` on, in order, out of `total`.
  template <class F>
  void begin(std::size_t total, std::uint64_t from_ps, F&& admit) {
    total_ = total;
    while (admitted_ < total_ && admitted_ < batch_) admit_one(from_ps, admit);
  }
  // One is set up, or has failed: the next one may be opened.
  template <class F>
  void finish(std::uint64_t from_ps, F&& admit) {
    if (admitted_ < total_) admit_one(from_ps, admit);
  }

 private:
  template <class F>
  void admit_one(std::uint64_t from_ps, F&& admit) {
    const std::uint64_t at_ps = admitted_ == 0 ? from_ps : std::max(from_ps, last_ps_ + interval_ps_);
    last_ps_ = at_ps;
    admit(admitted_++, at_ps);
  }

  std::uint32_t batch_;
  std::uint64_t interval_ps_, last_ps_ = 0;
  std::size_t total_ = 0, admitted_ = 0;
};

}  // namespace rnic::workload
