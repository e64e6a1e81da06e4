// Whose memory grows: live octets from operator new, by the clock whose process allocated them.
#pragma once

#include <cstdint>

namespace rnic::perf {

struct HeapShares {
  std::int64_t chip = 0;  // in the process of a chip's clock, the firmware's included
  std::int64_t rest = 0;  // hosts, and what builds and watches the system
};

// Counts from its construction on, one at a time. Blocks that are older do not count when they are freed.
class HeapGrowth {
 public:
  HeapGrowth();
  ~HeapGrowth();
  HeapGrowth(const HeapGrowth&) = delete;
  HeapGrowth& operator=(const HeapGrowth&) = delete;

  // The most that each held at any time.
  HeapShares most() const;
};

}  // namespace rnic::perf
