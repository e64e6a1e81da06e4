#include "model/capture/analysis/ecn_timing.h"

#include <algorithm>

namespace rnic::capture {

// A run's own capture stamps data half a round trip after it left: what is acknowledged in between was in flight.
std::int64_t EcnTiming::in_flight(std::int64_t left_ns, std::int64_t highest) {
  for (; !acks_.empty() && acks_.front().ns <= left_ns; acks_.pop_front()) {
    acknowledged_ = std::max(acknowledged_, acks_.front().octets);
  }
  return std::max<std::int64_t>(highest - acknowledged_, 0);
}

void EcnTiming::remember(const Flight& flight) {
  if (!round_trip_ns_) return;
  while (!recent_.empty() && recent_.front().ns < flight.ns - *round_trip_ns_) recent_.pop_front();
  recent_.push_back(flight);
}

std::int64_t EcnTiming::most_before(std::int64_t ns) const {
  std::int64_t most = 0;
  for (const Flight& f : recent_) {
    if (f.ns >= ns - *round_trip_ns_) most = std::max(most, f.octets);
  }
  return most;
}

void EcnTiming::data(const DataSegment& data, std::int64_t highest, bool has_ce, bool has_cwr) {
  const Flight now{data.stamp.left_ns, in_flight(data.stamp.left_ns, highest)};
  remember(now);
  if (has_ce && !echoes_ && !marked_) marked_ = data.stamp;
  if (reduced_ && now.ns > reduced_->until_ns) {
    if (reduced_->before > 0) {
      figures_.add(FigureKind::kReduction, 100 * reduced_->most / reduced_->before, reduced_->frame);
    }
    reduced_.reset();
  } else if (reduced_) {
    reduced_->most = std::max(reduced_->most, now.octets);
  }
  if (!has_cwr || !echoed_) return;
  figures_.add(FigureKind::kEceToCwr, reaction_ns(*echoed_, data.stamp), data.stamp.frame);
  echoed_.reset();
  if (round_trip_ns_) reduced_ = Reduced{now.ns + *round_trip_ns_, before_, now.octets, data.stamp.frame};
}

void EcnTiming::ack(const AckSegment& ack, bool has_ece) {
  if (acks_.empty() || ack.number > acks_.back().octets) acks_.push_back({ack.stamp.arrived_ns, ack.number});
  if (has_ece && marked_) {
    figures_.add(FigureKind::kCeToEce, reaction_ns(*marked_, ack.stamp), ack.stamp.frame);
    marked_.reset();
  }
  if (has_ece && !echoes_ && !echoed_) {
    echoed_ = ack.stamp;
    if (round_trip_ns_) before_ = most_before(ack.stamp.arrived_ns);
  }
  echoes_ = has_ece;
}

}  // namespace rnic::capture
