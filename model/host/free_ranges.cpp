#include "model/host/free_ranges.h"

#include <boost/icl/interval_set.hpp>

#include "model/common/check.h"

namespace rnic::host {
namespace {

using Range = boost::icl::right_open_interval<std::uint64_t>;

}  // namespace

// Neighbours are joined by the set.
struct FreeRanges::Set {
  boost::icl::interval_set<std::uint64_t, std::less, Range> ranges;
};

FreeRanges::FreeRanges() : set_(std::make_unique<Set>()) {}
FreeRanges::FreeRanges(FreeRanges&& other) noexcept = default;
FreeRanges& FreeRanges::operator=(FreeRanges&& other) noexcept = default;
FreeRanges::~FreeRanges() = default;

std::optional<std::uint64_t> FreeRanges::take(std::uint64_t count, std::uint64_t align) {
  RNIC_CHECK(align != 0 && (align & (align - 1)) == 0);
  for (const Range& r : set_->ranges) {
    const std::uint64_t first = (r.lower() + align - 1) & ~(align - 1);
    if (first > r.upper() || count > r.upper() - first) continue;
    set_->ranges.subtract(Range(first, first + count));
    return first;
  }
  return std::nullopt;
}

void FreeRanges::give(std::uint64_t first, std::uint64_t count) {
  if (count == 0) return;  // Boost compares no empty intervals
  const Range range(first, first + count);
  RNIC_CHECK_MSG(!boost::icl::intersects(set_->ranges, range), "what was given back is free already");
  set_->ranges.add(range);
}

}  // namespace rnic::host
