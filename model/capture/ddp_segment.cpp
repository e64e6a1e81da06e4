#include "model/capture/ddp_segment.h"

#include "model/wire/ddp.h"

namespace rnic::capture {

bool SegmentHeader::is_plausible() const {
  if (!wire::is_assigned(opcode) || tagged != wire::is_tagged(opcode)) return false;
  return tagged || (qn == wire::queue_number(opcode) && msn != 0);
}

std::optional<SegmentView> SegmentView::parse(ByteSpan ulpdu) {
  SegmentView s;
  SegmentHeader& h = s.header;
  if (const auto tagged = wire::DdpTaggedView::parse(ulpdu)) {
    h.tagged = true;
    h.stag = tagged->header.stag;
    h.to = tagged->header.to;
    s.payload = tagged->payload;
  } else if (const auto untagged = wire::DdpUntaggedView::parse(ulpdu)) {
    h.stag = untagged->header.invalidate_stag;
    h.qn = untagged->header.qn;
    h.msn = untagged->header.msn;
    h.mo = untagged->header.mo;
    s.payload = untagged->payload;
  } else {
    return std::nullopt;
  }
  h.opcode = wire::RdmapControl::opcode(ulpdu[1]);
  h.last = wire::DdpControl::last(ulpdu[0]);
  return s;
}

}  // namespace rnic::capture
