#include "model/capture/connection.h"

#include <fmt/format.h>

namespace rnic::capture {

using wire::TcpHeader;

namespace {

std::string direction_name(const Endpoint& from, const Endpoint& to) {
  return fmt::format("{} > {}", to_string(from), to_string(to));
}

}  // namespace

Connection::Connection(const Endpoint& initiator, const Endpoint& responder, UndecodedList& undecoded,
                       ConnectionObserver* observer)
    : initiator_(initiator),
      responder_(responder),
      undecoded_(undecoded),
      observer_(observer),
      directions_{
          {{wire::MpaFrameKind::kRequest, direction_name(initiator, responder), undecoded, observe(Side::kInitiator)},
           {wire::MpaFrameKind::kReply, direction_name(responder, initiator), undecoded, observe(Side::kResponder)}}} {}

IwarpStream::Observe Connection::observe(Side from) {
  if (observer_ == nullptr) return nullptr;
  return [this, from](const SeenFpdu& fpdu) { observer_->fpdu(from, fpdu); };
}

bool Connection::is_another(const Segment& syn) const {
  const TcpReassembly& tcp = directions_[syn.src == initiator_ ? 0 : 1].tcp;
  if (!directions_[0].tcp.started() && !directions_[1].tcp.started()) return true;
  return tcp.started() && tcp.first_seq() != syn.header.seq + 1;
}

// A SYN whose checksum is only the pseudo header's sum shows that this host's checksums are filled in after the capture
// point. Otherwise such a value is a wrong checksum.
bool Connection::dropped(const Direction& from, const Segment& segment) const {
  switch (segment.checksum) {
    case TcpChecksum::kGood:
      return false;
    case TcpChecksum::kPartial:
      return !from.offloaded && !segment.header.has(TcpHeader::kSyn);
    case TcpChecksum::kWrong:
      return true;
  }
  return true;
}

// A SYN-ACK also gives the other side's first sequence number, in case its SYN is not in the capture.
void Connection::open(Direction& from, Direction& to, const Segment& syn) {
  if (!from.tcp.started()) {
    from.tcp.start(syn.header.seq + 1);
    from.offloaded = syn.checksum == TcpChecksum::kPartial;
  }
  if (syn.header.has(TcpHeader::kAck) && !to.tcp.started()) to.tcp.start(syn.header.ack);
}

bool Connection::segment(const Segment& segment) {
  const Side side = segment.src == initiator_ ? Side::kInitiator : Side::kResponder;
  Direction& from = direction(side);
  Direction& to = direction(other(side));
  if (dropped(from, segment)) return false;
  if (observer_ != nullptr) observer_->segment(side, segment);

  const bool syn = segment.header.has(TcpHeader::kSyn);
  if (syn) open(from, to, segment);
  if (segment.header.has(TcpHeader::kRst) || segment.bytes() == 0) return true;  // data in an RST is an error text
  if (!from.tcp.started()) {
    if (!from.told_no_syn)
      undecoded_.push_back({segment.at, fmt::format("{}: data, but its SYN is not in the capture",
                                                    direction_name(segment.src, segment.dst))});
    from.told_no_syn = true;
    return true;
  }
  from.tcp.segment(segment.header.seq + (syn ? 1 : 0), {segment.payload, segment.missing, segment.at},
                   [&](const StreamPart& part) {
                     if (observer_ != nullptr) observer_->octets(side, part.octets, part.at);
                     from.stream.push(part.octets, part.at);
                     negotiate();
                     if (part.missing != 0) from.stream.skip(part.missing);
                   });
  return true;
}

// Markers go to the side whose frame has M. CRCs go both ways if either frame has C (RFC 5044 section 7.1). After a
// reply of revision 0 both directions have markers and CRCs, even if an IETF initiator's request asked for neither
// (draft-carrier-rddp-rnic-interop-00, Figure 3).
void Connection::negotiate() {
  using Phase = IwarpStream::Phase;
  IwarpStream& request = direction(Side::kInitiator).stream;
  IwarpStream& reply = direction(Side::kResponder).stream;
  const bool rejected = reply.phase() == Phase::kNegotiating && reply.startup()->rejected;
  if (request.phase() == Phase::kStreaming || reply.phase() == Phase::kStreaming || rejected) {
    request.leave_mpa();
    reply.leave_mpa();
  } else if (request.phase() == Phase::kNegotiating && reply.phase() == Phase::kNegotiating) {
    const bool rdmac = reply.startup()->rev == wire::kMpaRevRdmac;
    const bool crc = rdmac || request.startup()->crc || reply.startup()->crc;
    request.enter_rdma(rdmac || reply.startup()->markers, crc);
    reply.enter_rdma(rdmac || request.startup()->markers, crc);
  }
}

void Connection::finish() {
  for (Direction& from : directions_) {
    if (from.stream.phase() == IwarpStream::Phase::kStreaming) continue;
    from.stream.finish();
    if (const auto hole = from.tcp.hole()) {
      undecoded_.push_back({hole->at, fmt::format("{}: from here on, for {} octets before it are not in the capture",
                                                  from.stream.name(), hole->octets)});
    }
  }
}

}  // namespace rnic::capture
