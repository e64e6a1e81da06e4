#include "model/capture/analysis/loss_timing.h"

#include <algorithm>

namespace rnic::capture {
namespace {

constexpr unsigned kNewsOfALoss = 3;                            // DupThresh of RFC 6675
constexpr std::size_t kMostPast = 1024, kMostUnproven = 65536;  // of a foreign capture

}  // namespace

bool LossTiming::data(const DataSegment& data, const SentSegment* before) {
  const bool passed = data.begin < acknowledged_ || seen_.has(data.begin);
  const Arrival arrival = seen_.take(data.begin, data.end, data.stamp);
  if (passed) {
    again(data, before);
    return false;
  }
  if (!arrival.gap) return true;
  if (arrival.is_gap_closed) {
    const auto depth = static_cast<std::int64_t>(seen_.extensions() - arrival.gap->rank + 1);
    figures_.add(FigureKind::kOutOfOrderDepth, depth, data.stamp.frame);
  }
  if (is_late(*arrival.gap, data)) {
    ++counts_.late;
    figures_.add(FigureKind::kLateness, wait_ns(arrival.gap->opened, data.stamp), data.stamp.frame);
  } else {
    retransmission(data, &*arrival.gap, before);
  }
  return true;
}

// If the sender does not tell: a loss has been reported, and a round trip has passed.
bool LossTiming::is_late(const Gap& gap, const DataSegment& data) {
  if (data.order != SendOrder::kUnknown) return data.order == SendOrder::kOvertaken;
  const Gap* const reported = reported_gap(data.begin);
  if (reported != nullptr && is_third(*reported, data.stamp)) return false;
  if (round_trip_ns_) return wait_ns(gap.opened, data.stamp) < *round_trip_ns_;
  return reported == nullptr;
}

// A late original shows that a retransmission before it was not needed.
void LossTiming::again(const DataSegment& data, const SentSegment* before) {
  ++counts_.again;
  if (data.order == SendOrder::kOvertaken) {
    ++counts_.late;
    ++counts_.needless;
    return;
  }
  const bool had = data.end <= acknowledged_ || (reported_.has(data.begin) && reported_.has(data.end - 1));
  if (had) ++counts_.needless;
  else if (unproven_.size() < kMostUnproven) ++unproven_[data.begin];
  retransmission(data, nullptr, before);
}

Gap* LossTiming::reported_gap(std::int64_t octet) {
  if (Gap* const gap = reported_.gap_at(octet)) return gap;
  const auto after = past_.upper_bound(octet);
  if (after == past_.begin()) return nullptr;
  Gap& gap = std::prev(after)->second;
  return octet < gap.end ? &gap : nullptr;
}

bool LossTiming::is_third(const Gap& reported, const Stamp& before) const {
  return reported.news >= kNewsOfALoss && reported.last_news->arrived_ns <= before.left_ns + 1;
}

// Timeouts begin with the oldest octet (RFC 6298 section 5.4). What follows one, or a fast retransmission, until all is
// acknowledged that had been sent by then, is part of the same recovery: what is in flight decides when it is sent.
LossTiming::Cause LossTiming::cause_of(const DataSegment& data, const Gap* reported, const SentSegment* before) const {
  const bool repeated = before != nullptr && before->times > 1;
  if (acknowledged_ < recovery_end_ && !repeated) return Cause::kRecovery;
  if (reported != nullptr && !reported->resent && is_third(*reported, data.stamp)) return Cause::kFast;
  if (data.begin > acknowledged_ || data.end <= acknowledged_) return Cause::kOther;
  return Cause::kTimeout;
}

void LossTiming::retransmission(const DataSegment& data, const Gap* at_tap, const SentSegment* before) {
  counts_.octets += data.payload_bytes;
  Gap* const reported = reported_gap(data.begin);
  switch (cause_of(data, reported, before)) {
    case Cause::kFast:
      ++counts_.fast;
      fast(data, at_tap, *reported);
      break;
    case Cause::kRecovery:
      ++counts_.recovery;
      note_loss(FigureKind::kLossToRecovery, data, at_tap, reported);
      break;
    case Cause::kTimeout:
      ++counts_.timeout;
      note_loss(FigureKind::kLossToTimeout, data, at_tap, reported);
      timeout(data, at_tap, before);
      break;
    case Cause::kOther:
      ++counts_.other;
      break;
  }
}

// Where a tap sees the gap, it is the receiver's wait; before the loss, it is the sender's time from its first news on.
void LossTiming::note_loss(FigureKind kind, const DataSegment& data, const Gap* at_tap, const Gap* reported) {
  if (at_tap != nullptr) figures_.add(kind, wait_ns(at_tap->opened, data.stamp), data.stamp.frame);
  else if (reported != nullptr) figures_.add(kind, reaction_ns(reported->opened, data.stamp), data.stamp.frame);
}

void LossTiming::fast(const DataSegment& data, const Gap* at_tap, Gap& reported) {
  figures_.add(FigureKind::kThirdNewsToRetransmission, reaction_ns(*reported.last_news, data.stamp), data.stamp.frame);
  note_loss(FigureKind::kLossToFast, data, at_tap, &reported);
  reported.resent = true;
  recovery_end_ = std::max(recovery_end_, seen_.highest());
}

// The timer starts with the segment if none runs, and again with each acknowledgement of new data (RFC 6298 sections
// 5.1 and 5.3). A segment that was lost before the tap left just before the one that opened the gap.
void LossTiming::timeout(const DataSegment& data, const Gap* at_tap, const SentSegment* before) {
  recovery_end_ = std::max(recovery_end_, seen_.highest());
  std::optional<std::int64_t> start;
  if (before != nullptr) start = before->stamp.left_ns;
  else if (at_tap != nullptr) start = at_tap->opened.left_ns;
  if (!start) return;
  if (last_advance_) start = std::max(*start, last_advance_->arrived_ns);
  const std::int64_t rto_ns = data.stamp.left_ns - *start;
  figures_.add(FigureKind::kRto, rto_ns, data.stamp.frame);
  if (last_rto_.begin == data.begin && last_rto_.ns > 0) {
    figures_.add(FigureKind::kRtoFactor, (100 * rto_ns + last_rto_.ns / 2) / last_rto_.ns, data.stamp.frame);
  }
  last_rto_ = {data.begin, rto_ns};
}

std::int64_t LossTiming::ack(const AckSegment& ack) {
  std::int64_t missing = 0;
  if (ack.number > acknowledged_) {
    missing = seen_.forget_below(ack.number).octets;
    counts_.octets_missing += static_cast<std::uint64_t>(missing);
    for (const Gap& gap : reported_.forget_below(ack.number).gaps) past_.insert_or_assign(gap.begin, gap);
    while (past_.size() > kMostPast) past_.erase(past_.begin());
    acknowledged_ = ack.number;
    last_advance_ = ack.stamp;
  } else if (ack.number == acknowledged_ && ack.sack_blocks == 0 && !uses_sack_ && ack.is_bare) {
    take_duplicate(ack);
  }
  take_sack(ack);
  return missing;
}

// A first block below the acknowledgement, or within the second one, is a D-SACK (RFC 2883 section 4).
void LossTiming::take_sack(const AckSegment& ack) {
  std::int64_t top = -1;
  for (std::size_t i = 0; i < ack.sack_blocks; ++i) {
    const auto [begin, end] = ack.sack[i];
    const bool is_inside = ack.sack_blocks > 1 && begin >= ack.sack[1].begin && end <= ack.sack[1].end;
    if (i == 0 && (end <= ack.number || is_inside)) {
      prove_needless(begin, end);
    } else if (end > std::max(begin, acknowledged_) &&
               reported_.take(std::max(begin, acknowledged_), end, ack.stamp).fresh > 0) {
      top = std::max(top, end);
    }
  }
  if (top < 0) return;
  reported_.news(top, ack.stamp, [](const Gap&) {});
  seen_.news(top, ack.stamp, [&](const Gap& gap) {
    figures_.add(FigureKind::kGapToDuplicateAck, reaction_ns(gap.opened, ack.stamp), ack.stamp.frame);
  });
}

// Without SACK a duplicate ACK is the news that a segment came, and it is about the oldest octet missing.
void LossTiming::take_duplicate(const AckSegment& ack) {
  if (seen_.highest() <= acknowledged_) return;
  if (!reported_.has_gaps()) reported_.take(acknowledged_ + 1, acknowledged_ + 2, ack.stamp);
  reported_.news_at(acknowledged_, ack.stamp, [](const Gap&) {});
  seen_.news_at(acknowledged_, ack.stamp, [&](const Gap& gap) {
    figures_.add(FigureKind::kGapToDuplicateAck, reaction_ns(gap.opened, ack.stamp), ack.stamp.frame);
  });
}

void LossTiming::prove_needless(std::int64_t begin, std::int64_t end) {
  for (auto at = unproven_.lower_bound(begin); at != unproven_.end() && at->first < end;) {
    ++counts_.needless;
    at = --at->second == 0 ? unproven_.erase(at) : std::next(at);
  }
}

}  // namespace rnic::capture
