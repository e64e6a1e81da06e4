// How a message is cut into DDP segments (RFC 5040 section 4, RFC 5041 section 5.2): pure functions, no clock.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/rnic/host_abi.h"
#include "model/rnic/tx/ulpdu_job.h"
#include "model/wire/ddp.h"
#include "model/wire/rdmap.h"
#include "model/wire/terminate.h"

namespace rnic {

// What is being cut: a Send, a Write, a Read Response, or the single segment of a Read Request or a Terminate.
struct OutboundMessage {
  wire::Opcode opcode = wire::Opcode::kSend;
  bool active = false;
  bool completes = false;  // its last FPDU completes a work request
  std::uint8_t sge = 0;    // where the next payload octet is
  std::uint32_t sge_done = 0;
  std::uint32_t bytes = 0, done = 0;
  std::uint32_t stag = 0;     // tagged: the sink's; untagged: STag to invalidate
  std::uint64_t address = 0;  // tagged: TO of the first octet
  std::uint32_t msn = 0;
  std::uint32_t terminate = 0;  // of a Terminate: its first word

  bool tagged() const { return wire::is_tagged(opcode); }
};

wire::Opcode opcode_of(const abi::Wqe& w);

// Octets that the request names. A malformed one (too many SGEs) is counted as far as it can be read.
std::uint64_t request_bytes(const abi::Wqe& w);

// DDP header, and the header of a Read Request or a Terminate behind it.
constexpr std::uint32_t segment_header_bytes(wire::Opcode op) {
  if (wire::is_tagged(op)) return wire::DdpTaggedHeader::kBytes;
  if (op == wire::Opcode::kReadRequest) return wire::DdpUntaggedHeader::kBytes + wire::ReadRequest::kBytes;
  const bool terminate = op == wire::Opcode::kTerminate;
  return wire::DdpUntaggedHeader::kBytes + (terminate ? wire::TerminateHeader::kControlBytes : 0u);
}

// ULPDU_Length of the message's next segment: all that is left, or a full MULPDU.
constexpr std::uint32_t next_ulpdu_bytes(const OutboundMessage& m, std::uint32_t mulpdu) {
  const std::uint32_t header = segment_header_bytes(m.opcode);
  if (m.opcode == wire::Opcode::kReadRequest) return header;
  return header + std::min(m.bytes - m.done, mulpdu - header);
}

// Writes the DDP header of the message's next segment.
void emit_ddp_header(const OutboundMessage& m, bool last, std::uint8_t version, MutableByteSpan at);

// The header of the Read Request that a work request asks for; of zero length, naming nothing, without one.
wire::ReadRequest read_request_of(const abi::Wqe* w, std::uint32_t bytes);

// Adds the next `bytes` octets of the work request's gather list to the job, one piece per SGE.
void gather(const abi::Wqe& w, std::uint32_t bytes, OutboundMessage& m, UlpduJob& job);

// Copies the next `bytes` octets of an inline work request, which lie where its gather list would be.
void copy_inline(const abi::Wqe& w, std::uint32_t bytes, const OutboundMessage& m, std::uint8_t* to);

}  // namespace rnic
