// A Terminate on its way from terminate_generator to the segmenter.
#pragma once

#include <cstdint>

#include "model/common/buffer.h"
#include "model/common/ids.h"
#include "model/common/owners.h"
#include "model/common/trace_event.h"
#include "model/rnic/messages/datapath.h"
#include "model/wire/ddp.h"
#include "model/wire/terminate.h"

namespace rnic {

// The Terminate header (4 to 52 octets) is in the buffer at its place in the FPDU: at Ulpdu::kOffset, after room for
// the DDP header.
struct TerminateMessage {
  Qpn qpn;
  BufferRef buf;
  std::uint8_t bytes = 0;
  std::uint32_t epoch = 0;  // the use of the queue pair's number

  static constexpr const char* kMessage = "terminate_message";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("bytes", 6, m.bytes);
    v("epoch", 32, m.epoch);
  }
};
inline EventUse event_of(const TerminateMessage& t, const Owners&, TraceEvent& e) {
  e.qpn = t.qpn.v;
  e.bytes = t.bytes;
  e.request = t.buf->owner();
  const std::uint8_t* const header = t.buf->bytes() + Ulpdu::kOffset + wire::DdpUntaggedHeader::kBytes;
  if (const auto told = wire::TerminateHeader::parse({header, t.bytes})) e.facts[0] = terminate_word(told->cause);
  return EventUse::kEvent;
}

}  // namespace rnic
