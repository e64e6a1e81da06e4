#include "model/rnic/tx/segment_cut.h"

#include <cstring>

namespace rnic {

using wire::Opcode;

Opcode opcode_of(const abi::Wqe& w) {
  const bool se = w.flags & abi::kWqeSolicited;
  switch (w.opcode) {
    case abi::WrOpcode::kRdmaWrite:
      return Opcode::kWrite;
    case abi::WrOpcode::kRdmaRead:
      return Opcode::kReadRequest;
    case abi::WrOpcode::kSendWithInv:
      return se ? Opcode::kSendSeInvalidate : Opcode::kSendInvalidate;
    case abi::WrOpcode::kSend:
      break;
  }
  return se ? Opcode::kSendSe : Opcode::kSend;
}

std::uint64_t request_bytes(const abi::Wqe& w) {
  if (w.flags & abi::kWqeInline) return w.inline_bytes;
  std::uint64_t bytes = 0;
  for (unsigned i = 0; i < std::min<unsigned>(w.num_sge, abi::kMaxSge); ++i) bytes += w.sge[i].length;
  return bytes;
}

void emit_ddp_header(const OutboundMessage& m, bool last, std::uint8_t version, MutableByteSpan at) {
  const std::uint8_t control = wire::DdpControl::pack(m.tagged(), last, version);
  const std::uint8_t rdmap = wire::RdmapControl::pack(m.opcode, version);
  if (m.tagged()) {
    wire::DdpTaggedHeader{control, rdmap, m.stag, m.address + m.done}.emit(at);
  } else {
    wire::DdpUntaggedHeader{control, rdmap, m.stag, wire::queue_number(m.opcode), m.msn, m.done}.emit(at);
  }
}

wire::ReadRequest read_request_of(const abi::Wqe* w, std::uint32_t bytes) {
  if (w == nullptr) return {};
  const abi::Sge sink = w->num_sge != 0 ? w->sge[0] : abi::Sge{};
  return {sink.lkey, sink.address, bytes, w->rkey, w->remote_address};
}

void gather(const abi::Wqe& w, std::uint32_t bytes, OutboundMessage& m, UlpduJob& job) {
  while (bytes != 0) {
    const abi::Sge& s = w.sge[m.sge];
    const std::uint32_t take = std::min(bytes, s.length - m.sge_done);
    if (take != 0) job.piece[job.pieces++] = {s.address + m.sge_done, take};
    bytes -= take;
    m.sge_done += take;
    if (m.sge_done == s.length) {
      ++m.sge;
      m.sge_done = 0;
    }
  }
}

void copy_inline(const abi::Wqe& w, std::uint32_t bytes, const OutboundMessage& m, std::uint8_t* to) {
  std::memcpy(to, reinterpret_cast<const std::uint8_t*>(w.sge) + m.done, bytes);
}

}  // namespace rnic
