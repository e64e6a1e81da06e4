// How a log sees what the firmware puts into a queue pair's transmit queue.
#pragma once

#include "model/abi/tx_internal_work.h"
#include "model/common/owners.h"
#include "model/common/trace_event.h"

namespace rnic {

// A Terminate: the one that the chip has made, or the firmware's own, such as for an MPA Reply Frame that asks for too
// much (RFC 6581 section 9).
inline EventUse event_of(const TxInternalWork& work, const Owners& owners, TraceEvent& e) {
  if (work.kind != TxInternalWork::Kind::kTerminate) return EventUse::kNone;
  e.qpn = work.qpn.v;
  e.request = owners.queue_pair(work.qpn);
  e.facts = {terminate_word(work.cause), TraceEvent::kOrdered};
  return EventUse::kEvent;
}

}  // namespace rnic
