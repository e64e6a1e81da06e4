// An Ethernet frame inside the chip and on the wire boundary.
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>

#include "model/common/buffer.h"
#include "model/common/owners.h"
#include "model/common/trace_event.h"

namespace rnic {

// Destination MAC first, no FCS, not padded: `bytes` octets at `offset` of the buffer. Shared, hence read-only, once
// it has left the stage that built it; who wants to change one copies it first.
struct Frame {
  BufferRef buf;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  bool fcs_ok = true;
  Resend resend = Resend::kNo;  // of TCP's octets or SCTP's chunks; on no pins
  std::uint32_t serial = 0;     // of its sender's port, from 1 on; 0: it has not left a port. On no pins

  bool again() const { return resend != Resend::kNo; }
  const std::uint8_t* data() const { return buf->bytes() + offset; }

  static constexpr const char* kMessage = "frame";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("bytes", 32, m.bytes);
    v("fcs_ok", 1, m.fcs_ok);
  }
};
static_assert(sizeof(Frame) == 24);
inline EventUse event_of(const Frame& f, const Owners&, TraceEvent& e) {
  e.bytes = f.bytes;
  e.request = f.buf->owner();
  e.offset = f.buf->offset();
  e.again = f.again();
  if (e.kind == TraceKind::kFrameSent && f.again()) {
    e.kind = TraceKind::kRetransmitted;
    e.facts[0] = static_cast<std::uint32_t>(f.resend);
  }
  return EventUse::kEvent;
}

// The Ethernet boundary in TLM-2.0: nb_transport_fw(frame, phase = BEGIN_REQ, delay), one call a frame, answered with
// TLM_COMPLETED; `delay` counts from the kernel's time to the arrival of the frame's last octet. No backward path.
struct EthernetProtocol {
  using tlm_payload_type = Frame;
  using tlm_phase_type = tlm::tlm_phase;
};

}  // namespace rnic
