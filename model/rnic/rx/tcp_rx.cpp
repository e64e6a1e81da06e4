#include "model/rnic/rx/tcp_rx.h"

#include <algorithm>

#include "model/stats/registry.h"
#include "model/wire/ethernet.h"
#include "model/wire/icmp.h"

namespace rnic {

using tcp::ReceivedSegment;
using tcp::RxCommand;
using tcp::RxFeedback;
using tcp::RxReport;
using tcp::SegmentFault;
using wire::seq_gt;
using wire::seq_lt;
using wire::TcpHeader;

TcpRx::TcpRx(sc_core::sc_module_name nm, ClockDomain& clk, const TcpConfig& config, const DatapathConfig& datapath,
             const StationConfig& station, BufferPool& pool)
    : Stage(nm, clk),
      config_(config),
      beat_bytes_(datapath.beat_bytes),
      station_(station),
      pool_(pool),
      flows_(config.max_flows),
      table_(config.max_flows),
      handovers_(config.max_flows),
      ends_(config.max_flows),
      reports_queue_(config.max_flows),
      windows_(config.max_flows) {}

void TcpRx::reset() {
  const std::size_t flows = flows_.size();
  flows_ = std::vector<Flow>(flows);
  table_ = tcp::FlowTable(flows);
  pieces_ = {};
  behind_bytes_ = 0;
  offer_ = emission_ = {};
  offer_free_from_ = free_from_ = 0;
  offers_ = {};
  handovers_ = ends_ = reports_queue_ = windows_ = tcp::FlowQueue(flows);
}

// A frame takes a cycle for its headers and one for each beat of payload. Kept octets of a flow that was switched to
// RDMA go before any later frame.
Wake TcpRx::tick() {
  if (commands->can_pop()) on_command(commands->pop());
  if (consumed->can_pop()) on_consumed(consumed->pop());
  if (ended->can_pop()) on_ended(ended->pop().flow);
  if (!offers_.empty() && early->can_pop()) on_early(early->pop());
  if (emitting()) {
    emit_beats(emission_, *out, free_from_);
  } else {
    if (!start_end() && !start_kept() && in->can_pop() && feedback->can_push() && reports->can_push()) take_frame();
    if (emission_.left != 0) {
      free_from_ = now() + 1;
      emit_beats(emission_, *out, free_from_);
    }
  }
  if (offer_.left != 0) emit_beats(offer_, *behind, offer_free_from_);
  if (!windows_.empty()) open_windows();
  if (!reports_queue_.empty()) serve_reports();

  const bool more = commands->can_pop() || consumed->can_pop() || ended->can_pop() ||
                    (!windows_.empty() && feedback->can_push()) || (!reports_queue_.empty() && reports->can_push()) ||
                    (!offers_.empty() && early->can_pop());
  return more ? Wake::next_cycle() : Wake::at_cycle(std::min(next_octets(), next_offer()));
}

Cycle TcpRx::next_offer() { return offer_.left == 0 ? kNever : std::max(behind->credit_at(), offer_free_from_); }

// When octets can move again: a beat of the segment that is leaving, or the next segment.
Cycle TcpRx::next_octets() {
  if (emission_.left != 0) return std::max(out->credit_at(), free_from_);
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
      f.state = State::kAwaitsSyn;
      return;
    case RxCommand::Kind::kOpen:
      return open(c);
    case RxCommand::Kind::kRead:
      if (f.mode != Mode::kStreaming) return;  // closed meanwhile
      RNIC_CHECK_MSG(f.wanted == 0, std::string(name()) + ": a second read of one flow");
      RNIC_CHECK_MSG(c.bytes != 0 && c.bytes <= pool_.block_bytes(), std::string(name()) + ": a read is too long");
      f.wanted = c.bytes;
      return reports_queue_.push(c.flow);
    case RxCommand::Kind::kEnterRdma:
      if (f.mode != Mode::kStreaming) return;  // closed meanwhile
      f.mode = Mode::kRdma;
      f.wanted = 0;
      if (!f.pieces.empty()) handovers_.push(c.flow);
      return reports_queue_.push(c.flow);
    case RxCommand::Kind::kDiscard:
      if (f.mode == Mode::kRdma) return;
      f.mode = Mode::kDiscard;
      f.wanted = 0;
      f.pieces.clear(pieces_);
      give_room(c.flow, std::exchange(f.kept, 0));
      return reports_queue_.push(c.flow);
    case RxCommand::Kind::kRelease:
      return release(c.flow);
  }
}

void TcpRx::open(const RxCommand& c) {
  Flow& f = flows_[c.flow.v];
  if (f.state == State::kFree) table_.insert(c.flow, c.key);
  f = Flow{};
  f.state = State::kOpen;
  f.peer_scale = c.agreed.scale;
  f.timestamps = c.agreed.timestamps;
  f.ts_recent = c.agreed.ts_recent;
  f.rcv_nxt = c.rcv_nxt;
  f.rcv_edge = f.told_edge = c.rcv_nxt + config_.window_bytes;
}

void TcpRx::release(FlowId flow) {
  Flow& f = flows_[flow.v];
  if (f.state != State::kFree) table_.erase(flow);
  f.pieces.clear(pieces_);
  forget_behind(f);
  const bool ends = f.end_sent && !f.end_passed;
  f = Flow{};
  f.end_sent = ends;
  f.release_to_report = true;
  reports_queue_.push(flow);
}

// ---- Frames

void TcpRx::take_frame() {
  Frame frame = in->pop();
  ReceivedSegment s;
  const SegmentFault fault = tcp::read_segment({frame.data(), frame.bytes}, station_.ip, s);
  if (fault == SegmentFault::kNotForUs && take_path_mtu(frame)) return;
  if (fault != SegmentFault::kNone) return count_fault(fault);
  ++counters_.segments;
  const FlowId flow = table_.find(s.key);
  if (flow == kNoFlow || flows_[flow.v].state == State::kAwaitsSyn) return to_connection(flow, s);
  on_segment(flow, s, std::move(frame));
}

// "Fragmentation needed" about a segment of one of our flows; tcp_tx knows whether that is in flight.
bool TcpRx::take_path_mtu(const Frame& frame) {
  const auto ethernet = wire::EthernetView::parse({frame.data(), frame.bytes});
  const auto ip = wire::Ipv4View::parse(ethernet->payload);
  if (ip->header.dst != station_.ip || ip->header.protocol != wire::kIpProtocolIcmp) return false;
  const auto told = wire::FragmentationNeeded::parse(ip->payload);
  if (!told || told->src != station_.ip) return false;
  const FlowId flow = table_.find({told->dst.v, told->dst_port, told->src_port});
  if (flow == kNoFlow || flows_[flow.v].state != State::kOpen) return false;
  ++counters_.path_mtu_reports;
  RxFeedback fb;
  fb.flow = flow;
  fb.seq = told->seq;
  fb.path_mtu = std::max<std::uint16_t>(1, told->next_hop_mtu);
  feedback->push(fb);
  return true;
}

void TcpRx::count_fault(SegmentFault fault) {
  switch (fault) {
    case SegmentFault::kNone:
      return;
    case SegmentFault::kNotIpv4:
      ++counters_.not_ipv4;
      return;
    case SegmentFault::kIpv4Header:
      ++counters_.bad_ipv4;
      return;
    case SegmentFault::kNotForUs:
      ++counters_.not_for_us;
      return;
    case SegmentFault::kTcpHeader:
      ++counters_.bad_tcp;
      return;
    case SegmentFault::kTcpChecksum:
      ++counters_.bad_checksum;
      return;
  }
}

void TcpRx::to_connection(FlowId flow, const ReceivedSegment& s) {
  const TcpHeader& h = s.header;
  RxReport r;
  r.flow = flow;
  r.key = s.key;
  r.peer_mac = s.peer_mac;
  r.flags = h.flags;
  r.options = h.options;
  r.window = h.window;
  r.seq = h.seq;
  r.ack = h.ack;
  r.bytes = static_cast<std::uint32_t>(s.payload.size()) + h.has(TcpHeader::kSyn) + h.has(TcpHeader::kFin);
  reports->push(std::move(r));
}

// RFC 9293 section 3.10.7.4, with RFC 5961's answers to RST and SYN.
void TcpRx::on_segment(FlowId flow, const ReceivedSegment& s, Frame frame) {
  Flow& f = flows_[flow.v];
  const TcpHeader& h = s.header;
  RxFeedback fb;
  fb.acks = h.has(TcpHeader::kAck) && !h.has(TcpHeader::kRst);
  if (h.has(TcpHeader::kRst)) {
    if (h.seq == f.rcv_nxt) {
      f.reset_to_report = true;
      return reports_queue_.push(flow);
    }
    ++counters_.bad_reset;
    if (seq_lt(h.seq, f.rcv_nxt) || seq_gt(h.seq, f.rcv_edge)) return;
    fb.answer = RxFeedback::Answer::kChallenge;
  } else if (h.has(TcpHeader::kSyn)) {
    ++counters_.bad_syn;
    fb.answer = RxFeedback::Answer::kChallenge;
  } else if (!h.has(TcpHeader::kAck)) {
    return;
  } else if (!timely(flow, s)) {
    if (!h.options.timestamps) return;
    fb.answer = RxFeedback::Answer::kNow;
    fb.acks = false;
  } else {
    fb.timestamps = h.options.timestamps.has_value();
    const std::uint32_t before = f.rcv_nxt;
    const bool at_once = accept(flow, s, std::move(frame), fb.kept);
    if (at_once) fb.answer = RxFeedback::Answer::kNow;
    else if (f.rcv_nxt != before) fb.answer = RxFeedback::Answer::kSoon;
  }
  fb.flow = flow;
  fb.flags = h.flags;
  fb.payload = static_cast<std::uint16_t>(s.payload.size());
  fb.ce = s.ecn == wire::kCongestionExperienced;
  fb.stamps = h.options.timestamps.value_or(wire::TcpTimestamps{});
  fb.seq = h.seq;
  fb.sack_blocks = static_cast<std::uint8_t>(h.options.sack_blocks);
  fb.sack = h.options.sack;
  fb.ack = h.ack;
  fb.window = std::uint32_t{h.window} << (h.has(TcpHeader::kSyn) ? 0 : f.peer_scale);
  fb.rcv_nxt = f.rcv_nxt;
  fb.rcv_edge = f.told_edge = f.rcv_edge;
  feedback->push(fb);
}

// RFC 7323 sections 3.2 and 5.3: a segment without its timestamp, or with one older than the last that was in order, is
// none of this connection's time. One that ends before what is expected next says nothing of it.
bool TcpRx::timely(FlowId flow, const ReceivedSegment& s) {
  Flow& f = flows_[flow.v];
  if (!f.timestamps) return true;
  if (!s.header.options.timestamps) {
    ++counters_.no_timestamp;
    return false;
  }
  const std::uint32_t value = s.header.options.timestamps->value;
  if (seq_lt(value, f.ts_recent)) {
    ++counters_.paws;
    return false;
  }
  const std::uint32_t end = s.header.seq + static_cast<std::uint32_t>(s.payload.size()) + s.header.has(TcpHeader::kFin);
  if (!seq_gt(s.header.seq, f.rcv_nxt) && !seq_lt(end, f.rcv_nxt)) f.ts_recent = value;
  return true;
}

// Takes what is new and in the window: in order at once, behind a hole for later. True if the peer has to hear of it at
// once.
bool TcpRx::accept(FlowId flow, const ReceivedSegment& s, Frame frame, wire::SackBlock& kept) {
  Flow& f = flows_[flow.v];
  ByteSpan payload = s.payload;
  bool fin = s.header.has(TcpHeader::kFin);
  const std::uint32_t seq = s.header.seq;
  const std::uint32_t end = seq + static_cast<std::uint32_t>(payload.size());
  if (payload.empty() && !fin) return seq_lt(seq, f.rcv_nxt) || seq_gt(seq, f.rcv_edge);
  if (f.fin || seq_lt(end + fin, f.rcv_nxt + 1)) {
    ++counters_.duplicates;
    if (fin && f.fin) {
      f.fin_to_report = true;  // our ACK of it was lost
      reports_queue_.push(flow);
    }
    return true;
  }
  bool answer_now = false;
  const std::uint32_t known = seq_lt(seq, f.rcv_nxt) ? f.rcv_nxt - seq : 0;
  if (known != 0) {
    ++counters_.trimmed;
    payload = payload.subspan(known);
  }
  if (seq_gt(end, f.rcv_edge)) {
    ++counters_.beyond_window;
    if (seq_gt(seq, f.rcv_edge)) return true;
    payload = payload.subspan(0, f.rcv_edge - (seq + known));
    fin = false;
    answer_now = true;
  }
  if (seq_gt(seq, f.rcv_nxt)) {
    ++counters_.out_of_order;
    kept = keep(flow, frame.buf, seq, payload, fin);
    return true;
  }
  if (!f.behind.empty()) payload = up_to_behind(flow, frame.buf, payload, fin);
  counters_.payload_bytes += payload.size();
  f.rcv_nxt += static_cast<std::uint32_t>(payload.size());
  if (!payload.empty()) deliver(flow, std::move(frame.buf), payload);
  if (fin) {
    take_fin(flow);
    answer_now = true;
  } else if (!f.behind.empty() || f.fin_behind) {
    fill_hole(flow);
    answer_now = true;  // a peer that repairs a hole waits for it (RFC 5681 section 4.2)
  }
  return answer_now;
}

void TcpRx::take_fin(FlowId flow) {
  Flow& f = flows_[flow.v];
  ++f.rcv_nxt;
  f.fin = f.fin_to_report = true;
  forget_behind(f);  // nothing follows a FIN
  reports_queue_.push(flow);
}

// ---- Room and reports

void TcpRx::on_consumed(const RxConsumed& c) {
  if (flows_[c.flow.v].state == State::kOpen) give_room(c.flow, c.bytes);
}

void TcpRx::give_room(FlowId flow, std::uint32_t bytes) {
  Flow& f = flows_[flow.v];
  f.rcv_edge += bytes;
  const std::uint32_t step = std::min<std::uint32_t>(2u * config_.mss(), config_.window_bytes / 2);
  if (f.rcv_edge - f.told_edge >= step) windows_.push(flow);
}

// Tells tcp_tx of an opened window unless a segment's feedback has done so.
void TcpRx::open_windows() {
  if (!feedback->can_push()) return;
  const FlowId flow = windows_.pop();
  Flow& f = flows_[flow.v];
  if (f.state != State::kOpen || f.told_edge == f.rcv_edge) return;
  RxFeedback fb;
  fb.flow = flow;
  fb.rcv_nxt = f.rcv_nxt;
  fb.rcv_edge = f.told_edge = f.rcv_edge;
  feedback->push(fb);
}

void TcpRx::register_stats(const StatsGroup& group) const { group.counters(counters_); }

}  // namespace rnic
