#include "model/capture/segment_list.h"

#include <algorithm>

#include "model/capture/ddp_session.h"

namespace rnic::capture {

SegmentList::Lister& SegmentList::begin(const Endpoint& initiator, const Endpoint& responder, bool is_sctp) {
  const auto number = static_cast<std::uint32_t>(conversations_.size());
  conversations_.push_back({to_string(initiator), to_string(responder), is_sctp});
  return listers_.emplace_back(*this, number);
}

void SegmentList::Lister::fpdu(Side from, const SeenFpdu& fpdu) {
  ListedSegment segment;
  segment.at = fpdu.last;
  segment.first_frame = fpdu.first.frame;
  segment.conversation = conversation_;
  segment.payload_bytes = static_cast<std::uint32_t>(fpdu.payload_bytes);
  segment.header = fpdu.header;
  segment.crc = fpdu.crc;
  segment.markers = fpdu.markers;
  segment.side = from;
  list_.add(segment);
}

void SegmentList::Lister::message(const DdpSession&, Side from, const SctpMessage& message) {
  if (message.ppid != wire::kPpidDdpSegment) return;
  const ByteSpan ulpdu = message.octets.subspan(wire::kDdpSsnBytes);
  ListedSegment segment;
  segment.at = message.whole;
  segment.first_frame = message.at.frame;
  segment.conversation = conversation_;
  segment.payload_bytes = static_cast<std::uint32_t>(ulpdu.size() + message.missing);
  segment.stream = message.stream;
  segment.side = from;
  if (const auto view = SegmentView::parse(ulpdu)) {
    segment.header = view->header;
    segment.payload_bytes = static_cast<std::uint32_t>(view->payload.size() + message.missing);
  }
  list_.add(segment);
}

void SegmentList::add(const ListedSegment& segment) {
  ++seen_;
  if (!filter_.passes(*this, segment)) return;
  conversations_[segment.conversation].is_listed = true;
  segments_.push_back(segment);
}

void SegmentList::finish() {
  std::stable_sort(segments_.begin(), segments_.end(),
                   [](const ListedSegment& a, const ListedSegment& b) { return a.at.frame < b.at.frame; });
}

}  // namespace rnic::capture
