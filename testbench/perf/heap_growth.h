// Growth of memory: live octets from operator new, by the clock whose process allocated them.
#pragma once

#include <cstdint>

namespace rnic::perf {

struct HeapShares {
  std::int64_t chip = 0;  // in the process of a chip's clock, including the firmware
  std::int64_t rest = 0;  // hosts, and the code that builds and watches the system
};

// Counts from its construction on; only one may exist at a time. Freeing older blocks does not count.
class HeapGrowth {
 public:
  HeapGrowth();
  ~HeapGrowth();
  HeapGrowth(const HeapGrowth&) = delete;
  HeapGrowth& operator=(const HeapGrowth&) = delete;

  // The highest value of each share.
  HeapShares most() const;
};

}  // namespace rnic::perf
