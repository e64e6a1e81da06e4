// How a message is cut into DDP segments (RFC 5040 section 4, RFC 5041 section 5.2): pure functions, no clock.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/abi/context_types.h"
#include "model/abi/host_abi.h"
#include "model/abi/tx_internal_work.h"
#include "model/rnic/messages/requests.h"
#include "model/rnic/messages/work_requests.h"
#include "model/rnic/tx/ulpdu_job.h"
#include "model/wire/ddp.h"
#include "model/wire/rdmap.h"
#include "model/wire/terminate.h"

namespace rnic {

// The message being cut: a Send, a Write, a Read Response, or the single segment of a message without payload.
struct OutboundMessage {
  wire::Opcode opcode = wire::Opcode::kSend;
  bool active = false;
  bool completes = false;  // its last FPDU completes a work request
  std::uint8_t sge = 0;    // where the next payload octet is
  std::uint32_t sge_done = 0;
  std::uint32_t bytes = 0, done = 0;
  std::uint32_t stag = 0;     // tagged: the sink's; untagged: STag to invalidate
  std::uint64_t address = 0;  // tagged: TO of the first octet; of an Atomic Response: the request's identifier
  // Of a Read Response: where its next octets are, as MemoryPiece has it; of an Atomic Response: the value.
  std::uint64_t source = 0;
  PageList source_list = {};
  std::uint32_t source_region = 0;
  std::uint32_t msn = 0;
  RequestId owner;

  bool tagged() const { return wire::is_tagged(opcode); }
};

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
// for a Read Response and for a message of the firmware.
UlpduJob cut_segment(OutboundMessage& m, const FetchedWqe* f, Qpn qpn, const QpContext& ctx, BufferRef buffer);

}  // namespace rnic
