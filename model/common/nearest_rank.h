// The one rule for percentiles: of samples, latencies of requests, and figures of a capture.
#pragma once

#include <cstdint>

#include "model/common/check.h"

namespace rnic {

// The nearest rank: the number, from 1 on, of the smallest of `count` sorted samples that is not below `per_mille`
// thousandths (1 to 1000) of all; ceil(count * per_mille / 1000) without overflow. There is at least one sample.
inline std::uint64_t nearest_rank(std::uint64_t count, unsigned per_mille) {
  RNIC_CHECK(count != 0 && per_mille >= 1 && per_mille <= 1000);
  return count / 1000 * per_mille + (count % 1000 * per_mille + 999) / 1000;
}

}  // namespace rnic
