#include "model/rnic/tx/segment_cut.h"

#include <cstring>

namespace rnic {

using wire::Opcode;

namespace {

Opcode opcode_of(const abi::Wqe& w) {
  const bool se = w.flags & abi::kWqeSolicited;
  switch (w.opcode) {
    case abi::WrOpcode::kRdmaWrite:
      return Opcode::kWrite;
    case abi::WrOpcode::kRdmaRead:
    case abi::WrOpcode::kRdmaReadWithInv:
      return Opcode::kReadRequest;
    case abi::WrOpcode::kFetchAdd:
    case abi::WrOpcode::kCmpSwap:
      return Opcode::kAtomicRequest;
    case abi::WrOpcode::kImmediate:
      return se ? Opcode::kImmediateSe : Opcode::kImmediate;
    case abi::WrOpcode::kSendWithInv:
      return se ? Opcode::kSendSeInvalidate : Opcode::kSendInvalidate;
    default:
      break;
  }
  return se ? Opcode::kSendSe : Opcode::kSend;
}

// Of the message's next segment.
void emit_ddp_header(const OutboundMessage& m, bool last, std::uint8_t version, MutableByteSpan at) {
  const std::uint8_t control = wire::DdpControl::pack(m.tagged(), last, version);
  const std::uint8_t rdmap = wire::RdmapControl::pack(m.opcode, version);
  if (m.tagged()) {
    wire::DdpTaggedHeader{control, rdmap, m.stag, m.address + m.done}.emit(at);
  } else {
    wire::DdpUntaggedHeader{control, rdmap, m.stag, wire::queue_number(m.opcode), m.msn, m.done}.emit(at);
  }
}

// FetchAdd: the compare fields are those of an unused pair in RFC 7306 section 5.2.1.
wire::AtomicRequest atomic_request_of(const abi::Wqe& w, std::uint32_t request_id) {
  const abi::AtomicOperands o = abi::AtomicOperands::of(w);
  wire::AtomicRequest r = w.opcode == abi::WrOpcode::kFetchAdd
                              ? wire::AtomicRequest::fetch_add(o.data, o.data_mask)
                              : wire::AtomicRequest::cmp_swap(o.data, o.data_mask, o.compare, o.compare_mask);
  r.request_id = request_id;
  r.stag = w.rkey;
  r.to = w.remote_address;
  return r;
}

// Of a message without payload. Of the firmware's messages only a Read Request has one; a Terminate's is already there.
void emit_rdmap_header(const OutboundMessage& m, const abi::Wqe* w, const ResponseSource& source, MutableByteSpan at) {
  switch (m.opcode) {
    case Opcode::kReadRequest:
      read_request_of(w, m.bytes).emit(at);
      break;
    case Opcode::kAtomicRequest:
      atomic_request_of(*w, m.msn).emit(at);
      break;
    case Opcode::kAtomicResponse:
      wire::AtomicResponse{static_cast<std::uint32_t>(m.address), source.address}.emit(at);
      break;
    case Opcode::kImmediate:
    case Opcode::kImmediateSe:
      wire::ImmediateData{w->remote_address}.emit(at);
      break;
    default:
      break;
  }
}

// Adds the next `bytes` octets of the gather list, which is resolved, to the job: one piece per SGE.
void gather(const FetchedWqe& f, std::uint32_t bytes, OutboundMessage& m, UlpduJob& job) {
  while (bytes != 0) {
    const abi::Sge& s = f.wqe.sge[m.sge];
    const std::uint32_t take = std::min(bytes, s.length - m.sge_done);
    if (take != 0) job.piece[job.pieces++] = {s.address + m.sge_done, take, f.lists[m.sge], s.lkey};
    bytes -= take;
    m.sge_done += take;
    if (m.sge_done == s.length) {
      ++m.sge;
      m.sge_done = 0;
    }
  }
}

// Inline data is in place of the gather list.
void copy_inline(const abi::Wqe& w, std::uint32_t bytes, const OutboundMessage& m, std::uint8_t* to) {
  std::memcpy(to, reinterpret_cast<const std::uint8_t*>(w.sge) + m.done, bytes);
}

}  // namespace

wire::ReadRequest read_request_of(const abi::Wqe* w, std::uint32_t bytes) {
  if (w == nullptr) return {};
  const abi::Sge sink = w->num_sge != 0 ? w->sge[0] : abi::Sge{};
  return {sink.lkey, sink.address, bytes, w->rkey, w->remote_address};
}

std::uint64_t request_bytes(const abi::Wqe& w) {
  if (abi::is_atomic(w.opcode)) return abi::kAtomicBytes;
  if (w.flags & abi::kWqeInline) return w.inline_bytes;
  std::uint64_t bytes = 0;
  for (unsigned i = 0; i < std::min<unsigned>(w.num_sge, abi::kMaxSge); ++i) bytes += w.sge[i].length;
  return bytes;
}

OutboundMessage request_message(const abi::Wqe& w) {
  OutboundMessage m;
  m.opcode = opcode_of(w);
  m.active = true;
  m.completes = m.opcode != Opcode::kReadRequest && m.opcode != Opcode::kAtomicRequest;
  m.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(request_bytes(w), 0xffffffffu));
  m.stag = m.tagged() ? w.rkey : wire::invalidates(m.opcode) ? w.invalidate_stag : 0;
  m.address = w.remote_address;
  return m;
}

OutboundMessage response_message(const ReadWork& work) {
  OutboundMessage m;
  m.opcode = Opcode::kReadResponse;
  m.active = true;
  m.bytes = work.request.size;
  m.stag = work.request.sink_stag;
  m.address = work.request.sink_to;
  return m;
}

OutboundMessage response_message(const AtomicWork& work) {
  OutboundMessage m;
  m.opcode = Opcode::kAtomicResponse;
  m.active = true;
  m.address = work.response.request_id;
  return m;
}

// RFC 6581's ready-to-receive messages: zero length, absorbed by the peer, without a work request. Or a Terminate, the
// only one of its stream, whose acknowledgement is waited for.
OutboundMessage internal_message(const TxInternalWork& work, std::uint32_t terminate_bytes) {
  OutboundMessage m;
  m.active = true;
  switch (work.kind) {
    case TxInternalWork::Kind::kRtrSend:
      m.opcode = Opcode::kSend;
      break;
    case TxInternalWork::Kind::kRtrWrite:
      m.opcode = Opcode::kWrite;
      break;
    case TxInternalWork::Kind::kRtrRead:
      m.opcode = Opcode::kReadRequest;
      break;
    default:
      m.opcode = Opcode::kTerminate;
      m.msn = 1;
      m.bytes = terminate_bytes;
      m.completes = true;
  }
  return m;
}

UlpduJob cut_segment(OutboundMessage& m, const FetchedWqe* f, Qpn qpn, const TxContext& ctx,
                     const ResponseSource& source, BufferRef buffer) {
  const abi::Wqe* const w = f != nullptr ? &f->wqe : nullptr;
  UlpduJob job;
  job.qpn = qpn;
  job.ulpdu.buf = std::move(buffer);
  job.ulpdu.buf->begin_at(m.done);
  job.ulpdu.flow = ctx.flow;
  job.ulpdu.bytes = static_cast<std::uint16_t>(next_ulpdu_bytes(m, ctx.mulpdu));
  const bool headers_only = rdmap_header_bytes(m.opcode) != 0 || m.opcode == Opcode::kTerminate;
  job.header_bytes = headers_only ? job.ulpdu.bytes : static_cast<std::uint16_t>(segment_header_bytes(m.opcode));
  const std::uint32_t payload = job.ulpdu.bytes - job.header_bytes;
  const bool last = headers_only || m.done + payload >= m.bytes;
  job.ulpdu.completes_wqe = last && m.completes;
  const MutableByteSpan at(job.ulpdu.buf->bytes() + Ulpdu::kOffset, job.ulpdu.bytes);
  emit_ddp_header(m, last, ctx.version, at);
  if (rdmap_header_bytes(m.opcode) != 0) {
    emit_rdmap_header(m, w, source, at.subspan(wire::DdpUntaggedHeader::kBytes));
  }
  if (payload != 0) {
    if (m.opcode == Opcode::kReadResponse)
      job.piece[job.pieces++] = {source.address, payload, source.list, source.region};
    else if (w->flags & abi::kWqeInline) copy_inline(*w, payload, m, at.data() + job.header_bytes);
    else gather(*f, payload, m, job);
  }
  m.done += payload;
  m.active = !last;
  return job;
}

}  // namespace rnic
