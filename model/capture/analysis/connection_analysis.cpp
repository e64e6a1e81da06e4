#include "model/capture/analysis/connection_analysis.h"

namespace rnic::capture {

using wire::TcpHeader;

void ConnectionAnalysis::segment(Side from, const Segment& segment) {
  newest_ = Stamp(segment.at, segment.frame_bytes, path_);
  if (segment.header.has(TcpHeader::kRst)) return;
  if (segment.header.has(TcpHeader::kSyn)) open(from, segment, newest_);
  else if (syn_ack_ && !handshake_ && from == Side::kInitiator) finish_handshake(newest_);
  auto& waiting = waiting_[static_cast<std::size_t>(from)];
  if (!of(from).has_gaps()) waiting.clear();
  of(other(from)).ack(segment, newest_);
  of(from).data(segment, newest_);
  if (segment.bytes() != 0 && of(from).has_gaps()) waiting.emplace(newest_.frame, newest_);
}

// A repeated SYN or SYN-ACK takes the place of the one before.
void ConnectionAnalysis::open(Side from, const Segment& segment, const Stamp& stamp) {
  const wire::TcpOptions& options = segment.header.options;
  has_syn_ = true;
  if (options.mss) of(other(from)).largest_segment_is(*options.mss);
  permits_sack_[static_cast<std::size_t>(from)] = options.sack_permitted;
  if (!segment.header.has(TcpHeader::kAck)) {
    if (from == Side::kInitiator) syn_ = stamp;
    return;
  }
  if (syn_ && !handshake_) {
    of(Side::kInitiator).figures().add(FigureKind::kSynToSynAck, reaction_ns(*syn_, stamp), stamp.frame);
    syn_ack_ = stamp;
  }
  if (permits_sack_[0] && permits_sack_[1]) {
    for (DirectionAnalysis& direction : directions_) direction.uses_sack();
  }
}

void ConnectionAnalysis::finish_handshake(const Stamp& stamp) {
  handshake_ = Handshake{reaction_ns(*syn_, *syn_ack_), reaction_ns(*syn_ack_, stamp)};
  of(Side::kResponder).figures().add(FigureKind::kSynAckToAck, handshake_->of_initiator_ns, stamp.frame);
  for (DirectionAnalysis& direction : directions_) direction.round_trip_is(stamp.left_ns - syn_->left_ns);
}

Tap ConnectionAnalysis::nearest() const {
  constexpr std::int64_t kByFar = 4;
  if (!handshake_) return Tap::kUnknown;
  const auto [responder, initiator] = *handshake_;
  if (responder >= kByFar * initiator && responder > 0) return Tap::kInitiator;
  if (initiator >= kByFar * responder && initiator > 0) return Tap::kResponder;
  return Tap::kMiddle;
}

Stamp ConnectionAnalysis::stamp_of(Side from, const Place& at) const {
  const auto& waiting = waiting_[static_cast<std::size_t>(from)];
  const auto waited = waiting.find(at.frame);
  return waited == waiting.end() ? newest_ : waited->second;
}

void ConnectionAnalysis::octets(Side from, ByteSpan octets, const Place& at) {
  if (!startup_[static_cast<std::size_t>(from)].ends_in(octets)) return;
  const Stamp stamp = stamp_of(from, at);
  if (from == Side::kInitiator) {
    mpa_request_ = stamp;
  } else if (mpa_request_) {
    of(Side::kInitiator).figures().add(FigureKind::kMpaRequestToReply, reaction_ns(*mpa_request_, stamp), stamp.frame);
  }
}

void ConnectionAnalysis::fpdu(Side from, const SeenFpdu& fpdu) {
  if (!fpdu.header) return;
  const Stamp stamp = stamp_of(from, fpdu.last);
  requests_[static_cast<std::size_t>(from)].request(*fpdu.header, stamp);
  requests_[static_cast<std::size_t>(other(from))].response(*fpdu.header, stamp);
}

}  // namespace rnic::capture
