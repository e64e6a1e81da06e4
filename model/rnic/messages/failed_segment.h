// The part of a Terminate about the segment at fault: its length and headers, octet by octet as received.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/common/request_id.h"
#include "model/wire/ddp.h"
#include "model/wire/rdmap.h"
#include "model/wire/terminate.h"

namespace rnic {

struct FailedSegment {
  std::uint16_t length = 0;        // ULPDU_Length; 0 if the error belongs to no segment
  std::uint8_t ddp_bytes = 0;      // 14 or 18; 0 if there is no whole DDP header
  std::uint8_t request_bytes = 0;  // 28 if the segment is a whole Read Request
  RequestId owner;                 // of the segment; on no pins
  std::array<std::uint8_t, wire::DdpUntaggedHeader::kBytes + wire::ReadRequest::kBytes> octets{};

  // Of a received ULPDU. One shorter than its DDP header leaves nothing to report.
  static FailedSegment of(ByteSpan ulpdu, RequestId owner = {}) {
    FailedSegment f;
    f.owner = owner;
    if (ulpdu.empty() || ulpdu.size() < wire::ddp_header_bytes(ulpdu[0])) return f;
    f.length = static_cast<std::uint16_t>(ulpdu.size());
    const ByteSpan ddp = ulpdu.subspan(0, wire::ddp_header_bytes(ulpdu[0]));
    const ByteSpan payload = ulpdu.subspan(ddp.size());
    const bool read = !wire::DdpControl::tagged(ddp[0]) && payload.size() >= wire::ReadRequest::kBytes &&
                      wire::RdmapControl::opcode(ddp[1]) == wire::Opcode::kReadRequest;
    f.keep(ddp, read ? payload.subspan(0, wire::ReadRequest::kBytes) : ByteSpan{});
    return f;
  }

  // Of a received Terminate: what the peer reports about our segment.
  static FailedSegment told_by(const wire::TerminateHeader& t) {
    FailedSegment f;
    f.length = t.segment_length.value_or(0);
    f.keep(t.ddp_header, t.read_request);
    return f;
  }

  // The same with what is left of the Read Request (RFC 5040 section 4.8).
  FailedSegment with(const wire::ReadRequest& rest) const {
    FailedSegment f = *this;
    rest.emit({f.octets.data() + f.ddp_bytes, f.request_bytes});
    return f;
  }

  // Only what belongs to a Terminate of this cause (RFC 5040 section 4.8, figure 10).
  FailedSegment returned_with(wire::TerminateCause cause) const {
    FailedSegment f = *this;
    if (!wire::returns_ddp_header(cause)) return of({}, owner);
    if (!wire::returns_read_request(cause)) f.request_bytes = 0;
    return f;
  }

  // The Terminate header; its spans point into this record.
  wire::TerminateHeader header(wire::TerminateCause cause) const {
    wire::TerminateHeader t;
    t.cause = cause;
    if (length != 0) t.segment_length = length;
    t.ddp_header = ByteSpan(octets.data(), ddp_bytes);
    t.read_request = ByteSpan(octets.data() + ddp_bytes, request_bytes);
    return t;
  }

  static constexpr const char* kMessage = "failed_segment";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("length", 16, m.length);
    v("ddp_bytes", 5, m.ddp_bytes);
    v("request_bytes", 5, m.request_bytes);
    v.octets("octets", m.octets);
  }

 private:
  void keep(ByteSpan ddp, ByteSpan request) {
    ddp_bytes = static_cast<std::uint8_t>(ddp.size());
    request_bytes = static_cast<std::uint8_t>(request.size());
    std::copy(request.begin(), request.end(), std::copy(ddp.begin(), ddp.end(), octets.begin()));
  }
};

}  // namespace rnic
