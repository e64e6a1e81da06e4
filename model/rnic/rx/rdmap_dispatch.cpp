#include "model/rnic/rx/rdmap_dispatch.h"

#include "model/common/description.h"

namespace rnic {

using wire::Opcode;

namespace {
// With it a receive request is complete.
bool takes_request(const PlacedSegment& s) {
  return (wire::is_send(s.opcode) && s.last && !s.absorbed) || wire::is_immediate(s.opcode);
}
}  // namespace

// The first valid FPDU of a stream lifts the responder's fence, here and in the firmware.
bool RdmapDispatch::open(const PlacedSegment& s) {
  if (!s.opens || opened_) return false;
  opened_ = true;
  unblock->push({TxUnblock::Kind::kFirstFpdu, s.qpn, s.epoch});
  event->push({QpEvent::Kind::kFirstFpdu, s.qpn, {}});
  return true;
}

void RdmapDispatch::deliver(const PlacedSegment& s) {
  if (s.flushed) return complete(s, abi::WcStatus::kWrFlushErr);
  if (s.opcode == Opcode::kReadRequest) {
    read_request->push(QueuedRead{s.qpn, s.read, s.headers, s.epoch, s.pd});
    unblock->push({TxUnblock::Kind::kRequest, s.qpn, s.epoch});
  } else if (s.opcode == Opcode::kAtomicRequest) {
    read_request->push(QueuedAtomic{s.qpn, s.atomic, s.headers, s.epoch, s.pd});
    unblock->push({TxUnblock::Kind::kRequest, s.qpn, s.epoch});
  } else if (s.opcode == Opcode::kAtomicResponse) {
    atomic_response->push({s.qpn, s.atomic_response, s.headers, s.epoch, s.pd});
  } else if (s.opcode == Opcode::kReadResponse) {
    if (!s.last) return;
    read_done->push({s.qpn, false, s.epoch});
    unblock->push({TxUnblock::Kind::kReadDone, s.qpn, s.epoch});
  } else if (s.opcode == Opcode::kTerminate) {
    QpEvent received{QpEvent::Kind::kTerminateReceived, s.qpn, s.cause, s.headers, s.malformed};
    received.failed.owner = s.owner;
    event->push(received);
  } else if (takes_request(s)) {
    complete(s, abi::WcStatus::kSuccess);
  }
  if (s.last) ++counters_.messages;
}

// The peer's FIN or session Terminate, which the lower layer must always get. SCTP informs the firmware, too, if no QP
// does.
void RdmapDispatch::end(const PlacedSegment& s) {
  const bool told = s.in_order && contexts_.is_alive(s.qpn, s.epoch);
  ended[s.llp]->push({s.flow, told});
  if (!told) return;
  unblock->push({TxUnblock::Kind::kPeerClosed, s.qpn, s.epoch});
  read_done->push({s.qpn, true, s.epoch});
  event->push({QpEvent::Kind::kPeerClosed, s.qpn, {}});
}

// A message that returns memory to its owner. A Send with Invalidate ended its STag when it was placed, cycles ago, and
// all that was placed in order before it is out. Early placements and writes of atomics may still be in progress.
// early_placement knows the end of a Read in the next cycle; what it takes from now on it places later.
bool RdmapDispatch::may_deliver(const PlacedSegment& s) {
  const bool read = s.opcode == Opcode::kReadResponse;
  if (!s.last || s.flushed || (!read && !wire::invalidates(s.opcode))) return true;
  if (!fence_) {
    if (read) read_over->push({s.qpn, false, s.epoch});
    if (read && contexts_.in_flight.at_rest(StagWrites::kEarly)) return true;
    fence_.emplace(*this, contexts_.in_flight, read ? now() : Cycle{0}, StagWrites::kEarly);
  }
  if (!fence_->passed()) return false;
  fence_.reset();
  return true;
}

// Its octets have no page, or it is behind such a segment of its stream.
bool RdmapDispatch::is_lost(const PlacedSegment& s) {
  if (s.flushed) return false;
  if (s.awaits_write && !written->front().ok) return true;
  const auto broken = broken_.empty() ? broken_.end() : broken_.find(s.qpn.v);
  return broken != broken_.end() && broken->second == s.epoch;
}

// The stream ends with the first one. A message that is lost completes its receive request.
void RdmapDispatch::lose(const PlacedSegment& s) {
  ++counters_.lost;
  std::uint32_t& broken = broken_[s.qpn.v];
  if (std::exchange(broken, s.epoch) != s.epoch) {
    stream_error->push({QpEvent::Kind::kStreamError, s.qpn, wire::ddp::kLocalCatastrophic, s.headers});
  }
  if (takes_request(s)) complete(s, abi::WcStatus::kLocQpOpErr);
}

void RdmapDispatch::complete(const PlacedSegment& s, abi::WcStatus status) {
  CqeRequest c;
  c.cqn = s.recv_cq;
  c.cqe.wr_id = s.wr_id;
  c.owner = s.owner;
  c.receive = contexts_.receive_request(s.qpn, s.wr_id);
  c.cqe.byte_len = s.bytes;
  c.cqe.qpn = s.qpn.v;
  const bool immediate = wire::is_immediate(s.opcode);
  c.cqe.opcode = immediate ? abi::WcOpcode::kRecvRdmaWithImm : abi::WcOpcode::kRecv;
  c.cqe.status = status;
  c.cqe.flags = !s.flushed && wire::solicits_event(s.opcode) ? abi::kCqeSolicited : 0;
  if (wire::invalidates(s.opcode)) c.cqe.immediate = s.stag;
  if (immediate) c.cqe.immediate = s.immediate.data;
  cqe->push(c);
}

void RdmapDispatch::reset() {
  opened_ = false;
  broken_.clear();
  fence_.reset();
}

// One segment per cycle, in order; a segment with payload waits until its last write can no longer be overtaken.
Wake RdmapDispatch::tick() {
  if (!in->can_pop()) return Wake::on_traffic();
  const PlacedSegment& front = in->front();
  if (front.awaits_write && !written->can_pop()) return Wake::on_traffic();
  if (!cqe->can_push() || !read_request->can_push() || !read_done->can_push() || !unblock->can_push() ||
      !event->can_push() || !atomic_response->can_push() || !read_over->can_push() || !may_end()) {
    return Wake::on_traffic();
  }
  if (front.ended) {
    end(in->pop());
    return Wake::next_cycle();
  }
  const bool valid =
      contexts_.is_alive(front.qpn, front.epoch);  // otherwise destroyed since: there is no QP to deliver to
  const bool lost = valid && is_lost(front);
  if (lost && !stream_error->can_push()) return Wake::on_traffic();
  if (valid && !lost && open(front)) return Wake::next_cycle();  // a separate cycle: one item per link and cycle
  if (!valid) fence_.reset();
  else if (!lost && !may_deliver(front)) return Wake::on_traffic();
  if (front.awaits_write) {
    written->pop();
    contexts_.in_flight.end(StagWrites::kPlacement);
  }
  const PlacedSegment segment = in->pop();
  opened_ = false;
  if (lost) lose(segment);
  else if (valid) deliver(segment);
  return Wake::next_cycle();
}

std::string RdmapDispatch::waiting_for() const {
  return in->can_pop() ? "delivery of QP " + std::to_string(in->front().qpn.v) : "";
}

void RdmapDispatch::describe(const Description& d) { d.counters(counters_); }

}  // namespace rnic
