// ddp_placement: its lookups of contexts and receive requests are answered in the same cycle; rows of STags are those
// that the stage's readers have; two tables of the block are kept here as it wrote them.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "model/rnic/rx/ddp_placement.h"
#include "rtl-stubs/verilated/beat_bits.h"
#include "rtl-stubs/verilated/messages.h"
#include "rtl-stubs/verilated/pins.h"
#include "rtl-stubs/verilated/placement_tables.h"

#include "Vddp_placement.h"

namespace rnic::rtl {

class DdpPlacementPins : public Pins<Vddp_placement, DdpPlacement> {
 public:
  using Pins::offered;
  using Pins::pushed;
  using Pins::taken;
  // The links' messages; the stream; receive requests; the use of one.
  static constexpr unsigned kRounds = 4;

  DdpPlacementPins(DdpPlacement& stage, ContextStore& contexts)
      : stage_(stage),
        contexts_(contexts),
        requests_(contexts),
        reads_(contexts.qps()),
        held_(contexts.qps()),
        streams_(contexts.qps()),
        stops_(contexts.qps()) {}

  template <class V>
  void links(Model& m, V& v) {
    v.in(stage_.posted, m.posted_valid_i, m.posted_ready_o, m.posted_i);
    v.in(stage_.rqe, m.rqe_valid_i, m.rqe_ready_o);
    v.in(stage_.srq_arm, m.srq_arm_valid_i, m.srq_arm_ready_o);
    v.in(stage_.read_issued, m.read_issued_valid_i, m.read_issued_ready_o, m.read_issued_i);
    v.in(stage_.flush, m.flush_valid_i, m.flush_ready_o, m.flush_i);
    v.in(stage_.answered, m.answered_valid_i, m.answered_ready_o, m.answered_i);
    v.out(stage_.dma, m.dma_ready_i, m.dma_valid_o, m.dma_o);
    v.out(stage_.out, m.out_ready_i, m.out_valid_o, m.out_o);
    v.in(stage_.in[LlpId::kMpaTcp], m.in_valid_i, m.in_ready_o, m.in_i, m.in_data_i);
    v.in(stage_.in[LlpId::kSctp], m.sctp_in_valid_i, m.sctp_in_ready_o, m.sctp_in_i, m.sctp_in_data_i);
    v.out(stage_.event, m.event_ready_i, m.event_valid_o, m.event_o);
    v.out(stage_.rqe_taken, m.rqe_taken_ready_i, m.rqe_taken_valid_o, m.rqe_taken_o);
    v.out(stage_.srq_event, m.srq_event_ready_i, m.srq_event_valid_o, m.srq_event_o);
  }

  void offered(const FpduBeat& beat, Model& m) {
    const bool sctp = stage_.in[LlpId::kSctp]->can_pop() && &beat == &stage_.in[LlpId::kSctp]->front();
    Offered& o = sctp ? sctp_ : mpa_;
    o.last = beat.last;
    o.flow = beat.flow;
    if (beat.last) o.owner = beat.buf->owner();
    (sctp ? m.sctp_in_offset_i : m.in_offset_i) = static_cast<std::uint32_t>(beat.data - beat.buf->bytes());
  }
  bool look_up(Model& m, unsigned round) {
    switch (round) {
      case 0:
        waits_for_request_ = false;
        if (quiet(m, stags(m))) return false;
        control(m);
        break;
      case 1:
        stream(m);
        break;
      case 2:
        receive_request(m);
        break;
      default:
        use(m);
    }
    return true;
  }

  void advance(const Model& m) {
    if (m.reads_clear_o) reads_.start(issued_.qpn, contexts_.qp(issued_.qpn).epoch);
    if (m.read_issued_ready_o) reads_.push(issued_);
    if (m.reads_pop_o) reads_.pop(Qpn{m.qp_index_o});
    if (m.answered_ready_o) held_[m.answered_qp_index_o] = m.answered_held_o;
    if (m.held_write_o) held_[m.qp_index_o] = m.held_o;
    if (m.stream_write_o) streams_[m.qp_index_o] = m.stream_o;
    if (m.posted_stop_write_o) stops_[m.posted_qp_index_o] = m.posted_stop_o;
    if (m.flush_stop_write_o) stops_[m.flush_qp_index_o] = m.flush_stop_o;
    if (m.stop_write_o) stops_[m.qp_index_o] = m.stop_o;
    if (m.rqe_taken_valid_o) requests_.freed().pop();
    if (m.srq_event_valid_o) requests_.events().pop();
  }

  // The FPDU's buffer passes from its last beat to the writes.
  void taken(const FpduBeat& beat, const Model& m) {
    if (!beat.last) return;
    BufferRef buf = BufferRef::adopt(beat.buf);
    if (m.stream_write_o) buf_ = std::move(buf);
    else if (!beat.ends()) stage_.drop(buf->owner());
  }
  void pushed(DmaWriteRequest& write, const Model&) const {
    write.src = buf_;
    stage_.count(write);
  }
  void pushed(PlacedSegment& segment, const Model&) {
    stage_.count(segment);
    if (buf_ && !segment.flushed && !segment.ended) segment.owner = segment.headers.owner = buf_->owner();
    if (!segment.flushed) buf_ = {};
  }
  void pushed(QpEvent& event, const Model& m) const {
    stage_.count(event);
    if (event.kind == QpEvent::Kind::kStreamError) event.failed.owner = (m.sctp_in_ready_o ? sctp_ : mpa_).owner;
  }
  void stand_in(const Model& m) const {
    stage_.request_waits().set(stage_.clock().now(), waits_for_request_, waits_for_request_);
    if (m.begun_o) contexts_.in_flight.begin(StagWrites::kPlacement);
    if (m.stag_end_o) contexts_.end(Stag{m.stag_o});
    release(stage_.stags[0], m.mpa_scatter_keep_o, m.mpa_scatter_release_o);
    release(stage_.stags[1], m.sctp_scatter_keep_o, m.sctp_scatter_release_o);
    readers(m, [](StagTable::Reader& reader, auto&, auto&, bool drops, bool asks, std::uint32_t index) {
      if (drops) reader.drop();
      if (asks) reader.ask(index);
    });
  }

 private:
  using StreamRow = std::remove_reference_t<decltype(Model::stream_i)>;
  using HeldRow = std::remove_reference_t<decltype(Model::held_i)>;
  using StopRow = std::remove_reference_t<decltype(Model::stop_i)>;
  // A beat that a lower layer offers.
  struct Offered {
    bool last = false;
    FlowId flow;
    RequestId owner;  // of the FPDU that ends with it
  };

  bool judges(const Model& m) const { return (m.in_valid_i && mpa_.last) || (m.sctp_in_valid_i && sctp_.last); }
  // No table is looked up, and the answers of the cycle before still hold.
  bool quiet(const Model& m, bool rows) {
    const bool messages = m.posted_ready_o || m.rqe_ready_o || m.srq_arm_ready_o || m.read_issued_ready_o ||
                          m.flush_ready_o || m.answered_ready_o;
    const bool answered = m.overrun_i || m.unused_valid_i || m.freed_valid_i || m.shared_event_valid_i;
    const bool waiting = requests_.has_unused() || !requests_.freed().empty() || !requests_.events().empty();
    return !messages && !answered && !waiting && !judges(m) && !m.mpa_peek_o && !m.sctp_peek_o && !rows;
  }

  // f(reader, ready, valid, drop, ask, index) for each reader of the table of STags.
  template <class M, class F>
  void readers(M& m, F&& f) const {
    auto& [mpa, sctp] = stage_.stags;
    f(mpa.named.entry(), m.mpa_stag_ready_i, m.mpa_stag_valid_i, m.mpa_stag_drop_o, m.mpa_stag_ask_o,
      m.mpa_stag_index_o);
    f(mpa.named.region(), m.mpa_region_ready_i, m.mpa_region_valid_i, m.mpa_region_drop_o, m.mpa_region_ask_o,
      m.mpa_region_index_o);
    f(mpa.scattered, m.mpa_scatter_ready_i, m.mpa_scatter_valid_i, m.mpa_scatter_drop_o, m.mpa_scatter_ask_o,
      m.mpa_scatter_index_o);
    f(sctp.named.entry(), m.sctp_stag_ready_i, m.sctp_stag_valid_i, m.sctp_stag_drop_o, m.sctp_stag_ask_o,
      m.sctp_stag_index_o);
    f(sctp.named.region(), m.sctp_region_ready_i, m.sctp_region_valid_i, m.sctp_region_drop_o, m.sctp_region_ask_o,
      m.sctp_region_index_o);
    f(sctp.scattered, m.sctp_scatter_ready_i, m.sctp_scatter_valid_i, m.sctp_scatter_drop_o, m.sctp_scatter_ask_o,
      m.sctp_scatter_index_o);
  }
  static void release(SegmentStags& input, bool keeps, bool all) {
    if (keeps) input.scattered.keep();
    if (all) input.scattered.release();
  }
  // Returns whether the block sees something of the table that it did not see in the cycle before, or rows.
  bool stags(Model& m) {
    std::uint32_t sees = 0;
    readers(m, [&sees](StagTable::Reader& reader, CData& ready, CData& valid, auto&&...) {
      ready = reader.can_ask();
      valid = reader.can_use();
      sees = sees << 3 | std::uint32_t{ready} << 2 | std::uint32_t{valid} << 1 | (reader.kept() != 0);
    });
    rows(stage_.stags[0], m.mpa_stag_i, m.mpa_region_row_i, m.mpa_region_i, m.mpa_scatter_i);
    rows(stage_.stags[1], m.sctp_stag_i, m.sctp_region_row_i, m.sctp_region_i, m.sctp_scatter_i);
    constexpr std::uint32_t kRows = 0333333;
    const bool changes = std::exchange(sees_, sees) != sees;
    return changes || (sees & kRows) != 0;
  }
  template <class Entry, class Index, class Region, class List>
  static void rows(SegmentStags& input, Entry& entry_pins, Index& region_row, Region& region_pins, List& list) {
    StagTable::Reader& entry = input.named.entry();
    StagTable::Reader& region = input.named.region();
    StagTable::Reader& scattered = input.scattered;
    if (entry.can_use()) pack(entry.ok() ? entry.row() : StagRow{}, entry_pins);
    if (region.can_use()) {
      region_row = region.front().index;
      pack(region.ok() ? region.row().stag : StagContext{}, region_pins);
    }
    if (scattered.kept() == 0 && !scattered.can_use()) return;
    clear(list);
    for (unsigned i = 0; i < scattered.kept(); ++i) {
      if (scattered.ok_kept(i)) pack_element(scattered.row_kept(i).stag, i, list);
    }
    if (!scattered.can_use() || !scattered.ok() || scattered.kept() == abi::kMaxSge) return;
    pack_element(scattered.row().stag, static_cast<unsigned>(scattered.kept()), list);
  }

  // The receive requests have all messages of this cycle before the block asks for one.
  void control(Model& m) {
    m.overrun_i = 0;
    if (m.posted_ready_o) post(stage_.posted->front(), m);
    if (m.rqe_ready_o) requests_.arrive(stage_.rqe->front());
    if (m.srq_arm_ready_o) requests_.arm(stage_.srq_arm->front());
    if (m.read_issued_ready_o) {
      issued_ = stage_.read_issued->front();
      pack(contexts_.qp(issued_.qpn), m.issued_qp_i);
      m.issued_reads_epoch_i = reads_.row(issued_.qpn).epoch;
    }
    if (m.flush_ready_o) {
      requests_.end(Qpn{m.flush_qp_index_o});
      pack(contexts_.qp(Qpn{m.flush_qp_index_o}), m.flush_qp_i);
    }
    if (m.answered_ready_o) {
      m.answered_epoch_i = contexts_.qp(Qpn{m.answered_qp_index_o}).epoch;
      m.answered_held_i = held_[m.answered_qp_index_o];
    }
    m.unused_valid_i = requests_.has_unused();
    if (judges(m)) pack(contexts_.flow(FlowId{m.flow_index_o}), m.flow_i);
  }
  void post(const RqDoorbell& d, Model& m) {
    m.overrun_i = !requests_.announce(d) && !d.rqn.shared;
    if (!m.overrun_i) return;
    pack(contexts_.qp(Qpn{d.rqn.v}), m.posted_qp_i);
    m.posted_stop_i = stops_[d.rqn.v];
  }

  void stream(Model& m) {
    if (m.unused_take_o) {
      const auto u = requests_.take_unused();
      pack(u ? UnusedRequest{true, u->qpn, u->wr_id} : UnusedRequest{}, m.unused_i);
    }
    if (!judges(m)) return;
    const Qpn qpn{m.qp_index_o};
    if (!contexts_.has(qpn)) return pack(QpContext{}, m.qp_i);
    pack(contexts_.qp(qpn), m.qp_i);
    m.stream_i = streams_[qpn.v];
    m.stop_i = stops_[qpn.v];
    m.held_i = held_[qpn.v];
    pack(reads_.row(qpn), m.reads_i);
    pack(reads_.front(qpn), m.reads_front_i);
  }

  // What one of them takes, the others see in the next cycle.
  void receive_request(Model& m) {
    if (m.mpa_peek_o) peek(mpa_.flow, m.mpa_peek_there_i, m.mpa_peek_i, m.mpa_peek_epoch_i, m.mpa_peek_stream_i);
    if (m.sctp_peek_o) {
      peek(sctp_.flow, m.sctp_peek_there_i, m.sctp_peek_i, m.sctp_peek_epoch_i, m.sctp_peek_stream_i);
    }
    if (m.rq_next_o) {
      const Qpn qpn{m.qp_index_o};
      const ReceiveRequests::Next next = requests_.next(qpn);
      m.rq_next_i = static_cast<std::uint8_t>(next);
      waits_for_request_ = next == ReceiveRequests::Next::kFetching;
      if (next == ReceiveRequests::Next::kThere) pack(requests_.front(qpn), m.rq_front_i);
    }
  }
  // The request for a Send whose header has come, and the state of its stream.
  template <class There, class Request, class Epoch, class Stream>
  void peek(FlowId flow, There& there, Request& request, Epoch& epoch, Stream& stream) {
    const std::optional<Qpn> qpn = contexts_.qp_of(flow);
    const FetchedRqe* const next = qpn ? requests_.peek(*qpn) : nullptr;
    there = next != nullptr;
    if (next == nullptr) return;
    pack(*next, request);
    epoch = contexts_.qp(*qpn).epoch;
    stream = streams_[qpn->v];
  }

  void use(Model& m) {
    if (m.rq_use_o) requests_.use(Qpn{m.qp_index_o});
    m.freed_valid_i = !requests_.freed().empty();
    if (m.freed_valid_i) pack(requests_.freed().front(), m.freed_i);
    m.shared_event_valid_i = !requests_.events().empty();
    if (m.shared_event_valid_i) pack(requests_.events().front(), m.shared_event_i);
  }

  DdpPlacement& stage_;
  ContextStore& contexts_;
  ReceiveRequests requests_;
  OutstandingReads reads_;
  std::vector<HeldRow> held_;
  std::vector<StreamRow> streams_;
  std::vector<StopRow> stops_;
  Offered mpa_, sctp_;
  ReadIssued issued_;  // taken in this cycle
  BufferRef buf_;      // of the segment under way
  bool waits_for_request_ = false;
  std::uint32_t sees_ = 0;  // in the cycle before, by reader: it can be asked, it has a row, it keeps some
};

}  // namespace rnic::rtl
