#include "model/capture/analysis/sent_segments.h"

#include <algorithm>

namespace rnic::capture {

const SentSegment* SentSegments::at(std::int64_t begin) const {
  const auto found = segments_.find(begin);
  return found == segments_.end() ? nullptr : &found->second;
}

void SentSegments::data(const DataSegment& data, bool in_order) {
  const auto [at, is_new] = segments_.try_emplace(data.begin);
  SentSegment& segment = at->second;
  segment.end = std::max(segment.end, data.end);
  segment.stamp = data.stamp;
  segment.ipv4_id = data.ipv4_id;
  if (!is_new) ++segment.times;
  segment.in_order = is_new && in_order;
}

// A segment that was sent twice is no sample: nobody knows which one is acknowledged (Karn; RFC 6298 section 3).
std::optional<std::int64_t> SentSegments::ack(const AckSegment& ack, bool is_complete) {
  const SentSegment *newest = nullptr, *oldest = nullptr;
  std::int64_t newest_begin = 0, count = 0;
  bool in_order = is_complete, once = is_complete;
  auto at = segments_.begin();
  for (; at != segments_.end() && at->first < ack.number && at->second.end <= ack.number; ++at, ++count) {
    const SentSegment& segment = at->second;
    in_order = in_order && segment.in_order;
    once = once && segment.times == 1;
    if (oldest == nullptr || segment.stamp.frame < oldest->stamp.frame) oldest = &segment;
    if (newest != nullptr && segment.stamp.frame < newest->stamp.frame) continue;
    newest = &segment;
    newest_begin = at->first;
  }
  std::optional<std::int64_t> needless;
  if (newest != nullptr) {
    const std::int64_t delay_ns = reaction_ns(newest->stamp, ack.stamp);
    if (once) {
      figures_.add(FigureKind::kAckDelay, delay_ns, ack.stamp.frame);
      least_delay_ns_ = std::min(least_delay_ns_.value_or(delay_ns), delay_ns);
    }
    if (once && in_order) {
      figures_.add(FigureKind::kAckWait, reaction_ns(oldest->stamp, ack.stamp), ack.stamp.frame);
      figures_.add(FigureKind::kSegmentsPerAck, count, ack.stamp.frame);
    }
    if (newest->times > 1 && least_delay_ns_ && delay_ns < *least_delay_ns_ / 2) needless = newest_begin;
  }
  segments_.erase(segments_.begin(), at);
  return needless;
}

}  // namespace rnic::capture
