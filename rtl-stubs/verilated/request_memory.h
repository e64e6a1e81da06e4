// Requests by QP and position, as irrq addresses them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/common/check.h"

namespace rnic::rtl {

// The block sees a ring of `depth` positions for each QP, a power of two. Here a QP's ring only grows as needed: few of
// its requests wait at a time, and all positions of all QPs are more than a cache holds.
template <class Request>
class RequestMemory {
 public:
  RequestMemory(std::size_t qps, std::uint32_t depth) : depth_(depth), rings_(qps, Ring(1)) {
    RNIC_CHECK(depth != 0 && (depth & (depth - 1)) == 0);
  }
  // Index: QP * depth + position. An entry that was not written, or is beyond the kept requests, is undefined.
  const Request& operator[](std::uint32_t index) const {
    const Ring& ring = rings_[index / depth_];
    return ring[index & (ring.size() - 1)];
  }
  // `count` requests of its QP are kept, this one and those before it.
  void write(std::uint32_t index, std::uint32_t count, const Request& request) {
    RNIC_CHECK_MSG(count >= 1 && count <= depth_, "irrq: no such number of requests: " + std::to_string(count));
    Ring& ring = rings_[index / depth_];
    while (ring.size() < count) grow(ring, index, count);
    ring[index & (ring.size() - 1)] = request;
  }

 private:
  using Ring = std::vector<Request>;
  static void grow(Ring& ring, std::uint32_t index, std::uint32_t count) {
    Ring larger(2 * ring.size());
    for (std::uint32_t i = 1; i < count; ++i) {
      larger[(index - i) & (larger.size() - 1)] = ring[(index - i) & (ring.size() - 1)];
    }
    ring = std::move(larger);
  }
  const std::uint32_t depth_;
  std::vector<Ring> rings_;  // by QP
};

}  // namespace rnic::rtl
