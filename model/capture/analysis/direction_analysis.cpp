#include "model/capture/analysis/direction_analysis.h"

#include <algorithm>

namespace rnic::capture {

using wire::TcpHeader;

namespace {

constexpr std::uint8_t kEcnMask = 3, kCongestionExperienced = 3;  // RFC 3168 section 5
constexpr std::int64_t kLargestWindow = std::int64_t{1} << 30;    // RFC 7323 section 2.3

bool is_far(std::int64_t a, std::int64_t b) { return a - b > kLargestWindow || b - a > kLargestWindow; }

}  // namespace

// Keep-alive: an octet before the first one outstanding, or none (RFC 9293 section 3.8.4).
bool DirectionAnalysis::is_probe(const DataSegment& data, const SentSegment* before) const {
  if (data.payload_bytes > 1) return false;
  return data.begin == loss_.acknowledged() - 1 || (closed_ && before != nullptr);
}

bool DirectionAnalysis::is_copy(const Segment& segment, const SentSegment* before) const {
  return before != nullptr && segment.ipv4_id.value_or(0) != 0 && before->ipv4_id == segment.ipv4_id;
}

void DirectionAnalysis::data(const Segment& segment, const Stamp& stamp) {
  const TcpHeader& header = segment.header;
  const bool syn = header.has(TcpHeader::kSyn);
  if (syn) {
    positions_.begin(header.seq + 1);
    if (segment.bytes() == 0) return;
  }
  DataSegment data;
  data.begin = positions_.of(header.seq + (syn ? 1 : 0), loss_.highest());
  data.payload_bytes = segment.bytes();
  data.end = data.begin + static_cast<std::int64_t>(segment.bytes()) + (header.has(TcpHeader::kFin) ? 1 : 0);
  data.stamp = stamp;
  data.order = order_.read(segment);
  data.ipv4_id = segment.ipv4_id;
  if (is_far(data.begin, loss_.highest())) return;
  const SentSegment* const before = sent_.at(data.begin);
  if (is_probe(data, before)) {
    ++counts_.probes;
    return;
  }
  if (data.end == data.begin) return;
  counts_.segments += data.payload_bytes != 0;
  counts_.octets += data.payload_bytes;
  counts_.above_mss += mss_ && data.payload_bytes > *mss_;
  const bool has_ce = (segment.traffic_class & kEcnMask) == kCongestionExperienced;
  counts_.ce_marked += has_ce;
  if (is_copy(segment, before)) {
    ++counts_.copies;
    return;
  }
  const bool in_order = !loss_.has_gaps() && data.begin == loss_.highest();
  loss_.data(data, before);
  if (data.payload_bytes != 0 && data.end > loss_.acknowledged()) sent_.data(data, in_order);
  ecn_.data(data, loss_.highest(), has_ce, header.has(TcpHeader::kCwr) && !syn);
}

AckSegment DirectionAnalysis::read_ack(const Segment& segment, const Stamp& stamp) {
  const TcpHeader& header = segment.header;
  AckSegment ack;
  ack.number = positions_.of(header.ack, loss_.acknowledged());
  ack.stamp = stamp;
  ack.is_bare = segment.bytes() == 0 && !header.has(TcpHeader::kSyn | TcpHeader::kFin) && window_ == header.window;
  for (std::size_t i = 0; i < header.options.sack_blocks; ++i) {
    const wire::SackBlock& block = header.options.sack[i];
    const std::int64_t begin = positions_.of(block.left, ack.number);
    const std::int64_t end = begin + wire::seq_diff(block.right, block.left);
    if (end > begin && !is_far(end, ack.number)) ack.sack[ack.sack_blocks++] = {begin, end};
  }
  return ack;
}

void DirectionAnalysis::note_window(const Segment& segment, const Stamp& stamp) {
  if (segment.header.has(TcpHeader::kSyn)) return;
  window_ = segment.header.window;
  if (*window_ == 0 && !closed_) {
    ++counts_.zero_windows;
    closed_ = stamp;
  } else if (*window_ != 0 && closed_) {
    figures_.add(FigureKind::kZeroWindow, stamp.left_ns - closed_->left_ns, stamp.frame);
    closed_.reset();
  }
}

void DirectionAnalysis::ack(const Segment& segment, const Stamp& stamp) {
  if (!segment.header.has(TcpHeader::kAck)) return;
  const AckSegment ack = read_ack(segment, stamp);
  note_window(segment, stamp);
  if (is_far(ack.number, loss_.highest())) return;
  ++counts_.acks;
  if (ack.sack_blocks != 0) loss_.uses_sack();
  const std::int64_t missing = loss_.ack(ack);
  counts_.acks_of_missing += missing != 0;
  if (const auto needless = sent_.ack(ack, missing == 0)) loss_.prove_needless(*needless, *needless + 1);
  if (!segment.header.has(TcpHeader::kSyn)) ecn_.ack(ack, segment.header.has(TcpHeader::kEce));
}

}  // namespace rnic::capture
