#include "model/rnic/llp/tcp/tcp_rx.h"

#include <algorithm>
#include <cstring>

#include "model/common/description.h"
#include "model/common/memory.h"
#include "model/rnic/llp/link_address.h"

namespace rnic {

using llp::ReceivedOctets;
using tcp::ReceivedSegment;
using tcp::Receiver;
using tcp::RxCommand;
using tcp::RxFeedback;
using tcp::RxReport;
using tcp::SegmentFault;
using Verdict = Receiver::Verdict;

namespace {

// Segments out of order, and those in order that wait for their owner: of the usual length, a window full of them.
PoolSize pieces_of(const TcpConfig& config) {
  const std::size_t window = config.window_bytes / config.announced_mss() + 1;
  return {"kept_segments", config.max_flows * (config.reorder_segments + window),
          "tcp.max_flows x (tcp.reorder_segments + tcp.window_bytes in full segments)", PoolLimit::kPeer};
}

}  // namespace

TcpRx::TcpRx(sc_core::sc_module_name nm, ClockDomain& clk, const TcpConfig& config, const DatapathConfig& datapath,
             const LinkAddress& station, BufferPool& pool, const tcp::SentOctets& sent)
    : Stage(nm, clk),
      config_(config),
      window_step_(std::min<std::uint32_t>(2u * config.mss(), config.window_bytes / 2)),
      paws_life_(tcp::PawsTime::life_of(config.timestamp_ns)),
      beat_bytes_(datapath.beat_bytes),
      station_(station),
      pool_(pool),
      sent_(sent),
      flows_(config.max_flows),
      table_(config.max_flows),
      memory_(config.reorder_bytes, config.reorder_segments, pieces_of(config)),
      handovers_(config.max_flows),
      ends_(config.max_flows),
      reports_queue_(config.max_flows),
      windows_(config.max_flows) {}

void TcpRx::reset() {
  const std::size_t flows = flows_.size();
  flows_ = std::vector<Flow>(flows);
  table_ = llp::FlowTable(flows);
  memory_.reset();
  handovers_ = ends_ = reports_queue_ = windows_ = llp::FlowQueue(flows);
  offers_ = {};
  offer_ = emission_ = {};
  offer_free_from_ = free_from_ = 0;
}

// A frame takes one cycle for its headers and one for each beat of payload. Kept octets of a flow that was switched to
// RDMA go before any later frame.
Wake TcpRx::tick() {
  if (commands->can_pop()) on_command(commands->pop());
  if (consumed->can_pop()) {
    const RxConsumed c = consumed->pop();
    if (flows_[c.flow.v].receiver.is_open()) give_room(c.flow, c.bytes);
  }
  if (ended->can_pop()) {
    const FlowId flow = ended->pop().flow;
    flows_[flow.v].stream.on_end_passed();
    reports_queue_.push(flow);
  }
  if (!offers_.empty() && early->can_pop()) on_early(early->pop());
  if (emitting()) {
    emission_.push(*out, beat_bytes_, free_from_, horizon());
  } else {
    if (!start_end() && !start_kept() && in->can_pop() && feedback->can_push() && reports->can_push()) take_frame();
    if (!emission_.done()) {
      free_from_ = now() + 1;
      emission_.push(*out, beat_bytes_, free_from_, horizon());
    }
  }
  if (!offer_.done()) offer_.push(*behind, beat_bytes_, offer_free_from_, horizon());
  if (!windows_.empty()) open_windows();
  if (!reports_queue_.empty()) serve_reports();

  const bool more = commands->can_pop() || consumed->can_pop() || ended->can_pop() ||
                    (!windows_.empty() && feedback->can_push()) || (!reports_queue_.empty() && reports->can_push()) ||
                    (!offers_.empty() && early->can_pop());
  return more ? Wake::next_cycle() : Wake::at_cycle(std::min(next_octets(), next_offer()));
}

Cycle TcpRx::next_offer() { return offer_.done() ? kNever : std::max(behind->credit_at(), offer_free_from_); }

// When octets can move again: a beat of the leaving segment, or the next segment.
Cycle TcpRx::next_octets() {
  if (!emission_.done()) return std::max(out->credit_at(), free_from_);
  const bool waiting =
      !ends_.empty() || !handovers_.empty() || (in->can_pop() && feedback->can_push() && reports->can_push());
  return waiting ? std::max(free_from_, now() + 1) : kNever;
}

// ---- Commands

void TcpRx::on_command(const RxCommand& c) {
  Flow& f = flows_[c.flow.v];
  switch (c.kind) {
    case RxCommand::Kind::kAwaitSyn:
      table_.insert(c.flow, c.key);
      return f.receiver.await_syn();
    case RxCommand::Kind::kOpen:
      if (!f.receiver.in_use()) table_.insert(c.flow, c.key);
      f.stream = {};
      return f.receiver.open(c, config_.window_bytes, paws_time());
    case RxCommand::Kind::kRead:
      RNIC_CHECK_MSG(!f.stream.read_pending(), std::string(name()) + ": a second read of one flow");
      if (!f.stream.read(c.bytes)) return;
      RNIC_CHECK_MSG(c.bytes != 0 && c.bytes <= pool_.block_bytes(), std::string(name()) + ": a read is too long");
      return reports_queue_.push(c.flow);
    case RxCommand::Kind::kUnread:
      return f.stream.unread();
    case RxCommand::Kind::kEnterRdma:
      if (!f.stream.enter_rdma()) return;
      if (!f.stream.empty()) handovers_.push(c.flow);
      return reports_queue_.push(c.flow);
    case RxCommand::Kind::kDiscard:
      if (std::uint32_t room = 0; f.stream.discard(memory_.pool, room)) {
        give_room(c.flow, room);
        reports_queue_.push(c.flow);
      }
      return;
    case RxCommand::Kind::kRelease:
      return release(c.flow);
  }
}

void TcpRx::release(FlowId flow) {
  Flow& f = flows_[flow.v];
  if (f.receiver.in_use()) table_.erase(flow);
  f.receiver.clear(memory_);
  f.receiver = {};
  f.stream.release(memory_.pool);
  reports_queue_.push(flow);
}

// ---- Windows

void TcpRx::give_room(FlowId flow, std::uint32_t bytes) {
  if (flows_[flow.v].receiver.give_room(bytes, window_step_)) windows_.push(flow);
}

// Reports an opened window to tcp_tx unless a segment's feedback has done so.
void TcpRx::open_windows() {
  if (!feedback->can_push()) return;
  const FlowId flow = windows_.pop();
  Receiver& receiver = flows_[flow.v].receiver;
  if (receiver.is_open() && !receiver.window_reported()) feedback->push(receiver.window_update(flow));
}

// ---- Frames

void TcpRx::take_frame() {
  Frame frame = in->pop();
  ReceivedSegment s;
  const SegmentFault fault = tcp::read_segment({frame.data(), frame.bytes}, station_.ip, s);
  if (fault == SegmentFault::kNotForUs && take_path_mtu(frame)) return;
  if (fault != SegmentFault::kNone) {
    drops(now(), frame.buf->owner(), frame.bytes, "no valid segment");
    return counters_.count(fault);
  }
  ++counters_.segments;
  const FlowId flow = table_.find(s.key);
  if (flow == kNoFlow || !flows_[flow.v].receiver.is_open()) return reports->push(tcp::report_of(flow, s));
  on_segment(flow, s, std::move(frame));
}

// "Fragmentation needed" about a segment of one of our flows; tcp_tx knows whether that is in flight.
bool TcpRx::take_path_mtu(const Frame& frame) {
  const auto told = tcp::read_path_mtu({frame.data(), frame.bytes}, station_.ip);
  if (!told) return false;
  const FlowId flow = table_.find(told->key);
  if (flow == kNoFlow || !flows_[flow.v].receiver.is_open()) return false;
  ++counters_.path_mtu_reports;
  RxFeedback fb;
  fb.flow = flow;
  fb.seq = told->seq;
  fb.path_mtu = std::max<std::uint16_t>(1, told->mtu);
  feedback->push(fb);
  return true;
}

void TcpRx::on_segment(FlowId flow, const ReceivedSegment& s, Frame frame) {
  Flow& f = flows_[flow.v];
  const Receiver::Arrival a = f.receiver.on_segment(memory_, s, frame.buf, sent_.snd_nxt(flow), paws_time());
  counters_.count(a);
  if (a.verdict == Verdict::kReset) {
    f.stream.on_reset();
    reports_queue_.push(flow);
    return feedback->push(f.receiver.feedback(flow, s, a));
  }
  const bool bad_ack = a.verdict == Verdict::kBadAck || a.verdict == Verdict::kRefused;
  if (const char* const why = a.duplicate       ? "received before"
                              : a.beyond_window ? "beyond the window"
                              : bad_ack         ? "acknowledges what was not sent"
                              : a.dropped       ? "no room out of order"
                                                : nullptr) {
    drops(now(), frame.buf->owner(), frame.bytes, why);
  }
  if (a.verdict == Verdict::kRefused) return reports->push(tcp::report_of(flow, s));
  if (a.verdict == Verdict::kAcceptable) on_acceptable(flow, a, std::move(frame.buf));
  if (a.verdict == Verdict::kOutside && a.fin) report_fin(flow);
  if (a.for_sender) feedback->push(f.receiver.feedback(flow, s, a));
}

void TcpRx::on_acceptable(FlowId flow, const Receiver::Arrival& a, BufferRef&& buf) {
  Flow& f = flows_[flow.v];
  if (!a.offered.empty()) offer(flow, a, buf);
  if (!a.in_order.empty()) {
    deliver(flow, llp::received_octets(std::move(buf), a.in_order, a.in_order_seq));
  }
  if (a.fills_gap) {
    for (ReceivedOctets octets; f.receiver.take_next(memory_, octets);) keep(flow, std::move(octets));
  }
  if (a.fin || (a.fills_gap && f.receiver.finished())) report_fin(flow);
  if (a.out_of_order || a.fills_gap) counters_.count_peaks(memory_);
}

void TcpRx::report_fin(FlowId flow) {
  flows_[flow.v].stream.on_fin();
  reports_queue_.push(flow);
}

// The octets of a segment in order: to the deframer at once, if none of the flow wait.
void TcpRx::deliver(FlowId flow, ReceivedOctets&& octets) {
  Flow& f = flows_[flow.v];
  if (!f.stream.rdma() || !f.stream.empty()) return keep(flow, std::move(octets));
  counters_.payload_bytes += octets.bytes;
  emit(flow, std::move(octets));
}

// For the firmware, or after what already waits.
void TcpRx::keep(FlowId flow, ReceivedOctets&& octets) {
  Flow& f = flows_[flow.v];
  counters_.payload_bytes += octets.bytes;
  if (f.stream.discards()) return give_room(flow, octets.bytes);
  f.stream.append(memory_.pool, std::move(octets));
  if (f.stream.rdma()) handovers_.push(flow);
  if (f.stream.read_pending()) reports_queue_.push(flow);
}

// ---- Early placement

// Only new octets are offered, so none is ever written early twice.
void TcpRx::offer(FlowId flow, const Receiver::Arrival& a, const BufferRef& buf) {
  const Flow& f = flows_[flow.v];
  if (!config_.early_placement || !f.stream.rdma()) return;
  if (!offer_.done() || now() < offer_free_from_ || !behind->can_push()) {
    ++counters_.not_offered;
    return;
  }
  const std::uint32_t seq = a.in_order_seq + a.offered_distance;
  const std::uint64_t offset = f.stream.end(memory_.pool) + a.offered_distance;
  offers_.add(flow, seq, static_cast<std::uint32_t>(a.offered.size()), offset);
  offer_.start(flow, llp::received_octets(buf, a.offered, seq), offset);
  offer_free_from_ = now() + 1;
}

void TcpRx::on_early(EarlyPlaced placed) {
  const std::uint32_t seq = offers_.on_answer(placed);
  if (placed.last) reports_queue_.push(placed.flow);  // the end of the flow may have waited for this
  if (placed.bytes == 0) return;
  Flow& f = flows_[placed.flow.v];
  // After a hole; or in order by now, but not passed on while this answer was due. Nothing of it is written again.
  if (f.receiver.replace(memory_, seq, placed.bytes, placed.header, kPlacedHeaderBytes)) {
    counters_.early_saved += placed.bytes - kPlacedHeaderBytes;
    counters_.count_peaks(memory_);
  } else if (!f.stream.replace(memory_.pool, seq, placed.bytes, std::move(placed.header), kPlacedHeaderBytes)) {
    return;
  }
  ++counters_.early_fpdus;
}

// ---- Beats

// True if the beat is leaving that represents a flow's FIN or RST, after all its octets.
bool TcpRx::start_end() {
  if (ends_.empty()) return false;
  const FlowId flow = ends_.pop();
  tcp::ReceivedStream& stream = flows_[flow.v].stream;
  if (!stream.rdma()) return false;  // released meanwhile
  emission_.start_end(flow, pool_.take(), stream.end_kind(), stream.leave(0));
  stream.on_end_sent();
  return true;
}

// True if kept octets of a flow are leaving now. Octets that early_placement may still be writing wait, so that nothing
// is written to memory after their delivery; other flows do not wait for them.
bool TcpRx::start_kept() {
  FlowId waits = kNoFlow;
  while (!handovers_.empty() && handovers_.front() != waits) {
    const FlowId flow = handovers_.front();
    tcp::ReceivedStream& stream = flows_[flow.v].stream;
    if (stream.empty() || !stream.rdma()) {  // the flow is gone
      handovers_.pop();
      continue;
    }
    const ReceivedOctets& first = stream.front(memory_.pool);
    if (offers_.awaits(flow, first.seq, first.end())) {
      if (waits == kNoFlow) waits = flow;
      handovers_.push(handovers_.pop());
      continue;
    }
    emit(flow, stream.take_front(memory_.pool));
    if (stream.empty()) {
      handovers_.pop();
      reports_queue_.push(flow);  // a FIN may have waited for this
    }
    return true;
  }
  return false;
}

void TcpRx::emit(FlowId flow, ReceivedOctets&& octets) {
  const std::uint64_t offset = flows_[flow.v].stream.leave(octets.bytes);
  emission_.start(flow, std::move(octets), offset);
}

// ---- Reports

void TcpRx::serve_reports() {
  if (!reports->can_push()) return;
  const FlowId flow = reports_queue_.pop();
  if (report_one(flow)) reports_queue_.push(flow);
}

// True if the flow may have more to report.
bool TcpRx::report_one(FlowId flow) {
  using Report = tcp::ReceivedStream::Report;
  tcp::ReceivedStream& stream = flows_[flow.v].stream;
  const bool leaving = (!emission_.done() || now() + 1 < free_from_) && emission_.flow() == flow;
  const bool written = stream.released() && offers_.awaits(flow);
  RxReport r;
  r.flow = flow;
  switch (stream.next_report(memory_.pool, leaving || written)) {
    case Report::kNothing:
      return false;
    case Report::kLater:
      return true;
    case Report::kSendEnd:
      ends_.push(flow);
      return false;
    case Report::kOctets:
      r.kind = RxReport::Kind::kStream;
      r.bytes = stream.end_read(memory_.pool);
      r.data = pool_.take();
      stream.take(memory_.pool, {r.data->bytes(), r.bytes});
      give_room(flow, r.bytes);
      reports->push(std::move(r));
      return true;
    case Report::kFin:
      r.kind = RxReport::Kind::kFin;
      r.told_in_band = stream.end_passed();
      break;
    case Report::kReset:
      r.kind = RxReport::Kind::kReset;
      r.syn_acked = flows_[flow.v].receiver.syn_acked();
      break;
    case Report::kReleased:
      r.kind = RxReport::Kind::kReleased;
      break;
  }
  reports->push(std::move(r));
  return stream.reset_to_report();
}

void TcpRx::describe(const Description& d) {
  d.counters(counters_);
  d.series("tcp_rx.out_of_order", 110, counters_, &TcpRxCounters::out_of_order);
  memory_.pool.describe(d);
  describe_memory(d.part("reorder_memory").stats(),
                  {memory_.max_bytes, memory_.max_bytes, 8, "octets", "tcp.reorder_bytes"},
                  counters_.reorder_bytes_max);
  d.drops(drops);
  for (std::size_t i = 0; i < flows_.size() && d.shows_probes(); ++i) {
    const tcp::Receiver& r = flows_[i].receiver;
    const ProbeGroup flow = d.probes().group("flow", i);
    flow.number("rcv_nxt", 32, "octets", [&r] { return r.is_open() ? r.rcv_nxt() : 0; });
    flow.number("rcv_window", 32, "octets", [&r] { return r.is_open() ? r.receive_window() : 0; });
  }
}

}  // namespace rnic
