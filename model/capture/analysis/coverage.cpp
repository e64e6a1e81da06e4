#include "model/capture/analysis/coverage.h"

#include <algorithm>

namespace rnic::capture {

void Coverage::add(Gap gap) {
  if (gap.begin >= gap.end) return;
  if (gap.news < most_news_) hungry_.insert(gap.begin);
  gaps_.emplace(gap.begin, gap);
}

Gap* Coverage::gap_at(std::int64_t octet) {
  auto after = gaps_.upper_bound(octet);
  if (after == gaps_.begin()) return nullptr;
  Gap& gap = std::prev(after)->second;
  return octet < gap.end ? &gap : nullptr;
}

// A gap of which the middle comes becomes two, with the same past.
std::int64_t Coverage::take_from_gaps(std::int64_t begin, std::int64_t end, Arrival& arrival) {
  std::int64_t taken = 0;
  auto at = gaps_.upper_bound(begin);
  if (at != gaps_.begin() && std::prev(at)->second.end > begin) --at;
  while (at != gaps_.end() && at->first < end) {
    const Gap gap = at->second;
    at = remove(at);
    Gap before = gap, after = gap;
    before.end = std::min(gap.end, begin);
    after.begin = std::max(gap.begin, end);
    add(before);
    add(after);
    taken += std::min(gap.end, end) - std::max(gap.begin, begin);
    if (!arrival.gap) {
      arrival.gap = gap;
      arrival.is_gap_closed = begin <= gap.begin && end >= gap.end;
    }
  }
  return taken;
}

Arrival Coverage::take(std::int64_t begin, std::int64_t end, const Stamp& stamp) {
  Arrival arrival;
  if (begin < highest_) arrival.fresh = take_from_gaps(begin, std::min(end, highest_), arrival);
  if (end <= highest_) return arrival;
  arrival.is_highest = true;
  arrival.fresh += end - std::max(begin, highest_);
  ++extensions_;
  Gap gap;
  gap.begin = highest_;
  gap.end = begin;
  gap.opened = stamp;
  gap.rank = extensions_;
  add(gap);
  highest_ = end;
  return arrival;
}

Coverage::Forgotten Coverage::forget_below(std::int64_t end) {
  Forgotten forgotten;
  while (!gaps_.empty() && gaps_.begin()->first < end) {
    Gap rest = gaps_.begin()->second;
    remove(gaps_.begin());
    forgotten.gaps.push_back(rest);
    forgotten.octets += std::min(rest.end, end) - rest.begin;
    rest.begin = end;
    add(rest);
  }
  if (highest_ < end) forgotten.octets += end - highest_;
  highest_ = std::max(highest_, end);
  return forgotten;
}

}  // namespace rnic::capture
