// How a message is cut into DDP segments (RFC 5040 section 4, RFC 5041 section 5.2): pure functions, no clock.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/abi/context_types.h"
#include "model/abi/host_abi.h"
#include "model/abi/tx_internal_work.h"
#include "model/rnic/context/tx_table.h"
#include "model/rnic/messages/requests.h"
#include "model/rnic/messages/work_requests.h"
#include "model/rnic/tx/ulpdu_job.h"
#include "model/wire/ddp.h"
#include "model/wire/rdmap.h"
#include "model/wire/terminate.h"

namespace rnic {

// The request of a Read. Without a work request: it reads nothing, and names nothing (RFC 6581 section 9.2).
wire::ReadRequest read_request_of(const abi::Wqe* w, std::uint32_t bytes);

// Octets that the request names. A malformed one (too many SGEs) is counted as far as it can be read.
std::uint64_t request_bytes(const abi::Wqe& w);

// The messages for a work request, a validated Read Request, an executed atomic and the firmware. None has its MSN yet.
// terminate_bytes: of a Terminate's header, which is already in the buffer.
OutboundMessage request_message(const abi::Wqe& w);
OutboundMessage response_message(const ReadWork& work);
OutboundMessage response_message(const AtomicWork& work);
OutboundMessage internal_message(const TxInternalWork& work, std::uint32_t terminate_bytes);

// The RDMAP header after the DDP header of a message without payload; 0 for others and for a Terminate, whose length is
// separate.
constexpr std::uint32_t rdmap_header_bytes(wire::Opcode op) {
  switch (op) {
    case wire::Opcode::kReadRequest:
      return wire::ReadRequest::kBytes;
    case wire::Opcode::kAtomicRequest:
      return wire::AtomicRequest::kBytes;
    case wire::Opcode::kAtomicResponse:
      return wire::AtomicResponse::kBytes;
    case wire::Opcode::kImmediate:
    case wire::Opcode::kImmediateSe:
      return wire::ImmediateData::kBytes;
    default:
      return 0;
  }
}
constexpr std::uint32_t segment_header_bytes(wire::Opcode op) {
  return (wire::is_tagged(op) ? wire::DdpTaggedHeader::kBytes : wire::DdpUntaggedHeader::kBytes) +
         rdmap_header_bytes(op);
}

// ULPDU_Length of the message's next segment: all that is left, or a full MULPDU.
constexpr std::uint32_t next_ulpdu_bytes(const OutboundMessage& m, std::uint32_t mulpdu) {
  const std::uint32_t header = segment_header_bytes(m.opcode);
  if (rdmap_header_bytes(m.opcode) != 0) return header;
  if (m.opcode == wire::Opcode::kTerminate) return header + m.bytes;
  return header + std::min(m.bytes - m.done, mulpdu - header);
}

// Cuts the next segment off the message: writes its headers, and inline data, into the buffer, and returns where its
// payload is. A Terminate's header is already there, as its payload would be. f has the message's work request; null
// for a Read Response and for a message of the firmware. `source` is that of a response.
UlpduJob cut_segment(OutboundMessage& m, const FetchedWqe* f, Qpn qpn, const TxContext& ctx,
                     const ResponseSource& source, BufferRef buffer);

}  // namespace rnic
