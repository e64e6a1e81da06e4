// ddp_placement: its lookups of receive requests are answered in the same cycle; rows of queue pairs and of STags are
// those that the stage's readers have; the elements of the queue pairs' lists of Reads are here.
#pragma once

#include <array>
#include <utility>

#include "model/rnic/rx/ddp_placement.h"
#include "rtl-stubs/verilated/asked.h"
#include "rtl-stubs/verilated/beat_bits.h"
#include "rtl-stubs/verilated/messages.h"
#include "rtl-stubs/verilated/pins.h"
#include "rtl-stubs/verilated/placement_tables.h"
#include "rtl-stubs/verilated/row_lists.h"
#include "rtl-stubs/verilated/wrong_numbers.h"

namespace rnic::rtl {

template <class Model>
class DdpPlacementPinsOf : public Pins<Model, DdpPlacement> {
 public:
  using Pins<Model, DdpPlacement>::offered;
  using Pins<Model, DdpPlacement>::pushed;
  using Pins<Model, DdpPlacement>::taken;
  // Rows; the links' messages; receive requests; the use of one.
  static constexpr unsigned kRounds = 4;

  DdpPlacementPinsOf(DdpPlacement& stage, ContextTables& contexts)
      : stage_(stage),
        contexts_(contexts),
        requests_(contexts, QpElements::entries(contexts.receive_queues(), contexts.elements().rqes,
                                                contexts.elements().shared_rqes)),
        reads_(contexts.qps()) {}

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
    o.qpn = beat.qpn;
    if (beat.last) o.owner = beat.buf->owner();
    (sctp ? m.sctp_in_offset_i : m.in_offset_i) = static_cast<std::uint32_t>(beat.data - beat.buf->bytes());
  }
  bool look_up(Model& m, unsigned round) {
    switch (round) {
      case 0:
        waits_for_request_ = false;
        m.one_port_i = contexts_.rx_table.config().read_ports == 1;
        if (quiet(m, rows(m))) return false;
        break;
      case 1:
        control(m);
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
    if (m.rqe_taken_valid_o) requests_.freed().pop();
    if (m.srq_event_valid_o) requests_.events().pop();
  }
  // The states of the queue pairs whose rows are there, whether they were changed or not.
  template <class F>
  void compare(const Model& m, F&& f) const {
    for (const Shown& shown : {shown_[0], shown_[1], event_}) {
      if (!shown.there) continue;
      const QpRx& stage = contexts_.rx_table.peek(shown.qpn.v)->state;
      QpRx block = shown.state;
      if (m.event_write_o && event_.qpn == shown.qpn) unpack(m.event_state_o, block);
      if (m.state_write_o && Qpn{m.qpn_o} == shown.qpn) unpack(m.state_o, block);
      f("the epoch of a queue pair", stage.epoch, block.epoch);
      f("the next MSN of QN 0", stage.msn_send, block.msn_send);
      f("the next MSN of QN 1", stage.msn_request, block.msn_request);
      f("the next MSN of QN 3", stage.msn_response, block.msn_response);
      f("the next MO", stage.offset, block.offset);
      f("the octets of a tagged message", stage.tagged_bytes, block.tagged_bytes);
      f("the octets of a Read", stage.read_bytes, block.read_bytes);
      f("the peer's requests", stage.requests, block.requests);
      f("outstanding Reads", stage.reads.size, reads_.size(shown.qpn));
      f("how far a stream has come", static_cast<unsigned>(stage.stream), static_cast<unsigned>(block.stream));
    }
  }

  // The FPDU's buffer passes from its last beat to the writes.
  void taken(const FpduBeat& beat, const Model& m) {
    if (!beat.last) return;
    BufferRef buf = BufferRef::adopt(beat.buf);
    if (m.places_o) buf_ = std::move(buf);
    else if (!beat.ends()) stage_.drop(buf->owner(), refuses(m));
  }
  static bool refuses(const Model& m) {
    if (!m.event_valid_o) return false;
    QpEvent event;
    unpack(m.event_o, event);
    return event.kind == QpEvent::Kind::kStreamError;
  }
  template <class T>
  const char* wrong(const T& message) const {
    return wrong_qp(contexts_, message);
  }
  const char* wrong(const DmaWriteRequest& write) const {
    if (!buf_) return "a write of no segment: the record has left, or no FPDU was taken";
    const bool fits = std::uint64_t{write.src_offset} + write.bytes <= buf_->capacity();
    return fits ? nullptr : "a write of more octets than its segment has";
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
  bool waits_for_others(const Model& m) const {
    bool awaited = waits_for_request_;
    readers(m, [&awaited, rows = asked_.begin()](const TableReader& reader, auto&&...) mutable {
      awaited = (rows++)->awaited(reader) || awaited;
    });
    return awaited;
  }
  // A segment whose FPDU it has taken, until its record.
  std::size_t owes(const Model& m) const { return buf_ && !waits_for_others(m) ? 1 : 0; }
  void stand_in(const Model& m) {
    if (m.event_write_o) keep(event_.qpn, m.event_state_o);
    if (m.state_write_o) keep(Qpn{m.qpn_o}, m.state_o);
    stage_.request_waits().set(stage_.clock().now(), waits_for_request_, waits_for_request_);
    if (m.begun_o) contexts_.in_flight.begin(StagWrites::kPlacement);
    if (m.stag_end_o) stage_.end(Stag{m.stag_o}, Qpn{m.qpn_o});
    asked_[kScattered].note(false, m.mpa_scatter_keep_o);
    asked_[kSctpScattered].note(false, m.sctp_scatter_keep_o);
    release(stage_.stags[0], m.mpa_scatter_keep_o, m.mpa_scatter_release_o);
    release(stage_.stags[1], m.sctp_scatter_keep_o, m.sctp_scatter_release_o);
    readers(m, [rows = asked_.begin()](TableReader& reader, auto&, auto&, bool drops, bool asks, std::uint32_t index,
                                       std::uint32_t tag) mutable {
      (rows++)->note(asks, drops);
      if (drops) reader.drop();
      if (asks) reader.ask(index, tag);
    });
  }

 private:
  // A beat that a lower layer offers.
  struct Offered {
    bool last = false;
    Qpn qpn;
    RequestId owner;  // of the FPDU that ends with it
  };

  // A row of a queue pair that is there, as it was before this cycle.
  struct Shown {
    bool there = false;
    Qpn qpn;
    QpRx state;
  };

  bool judges(const Model& m) const { return (m.in_valid_i && mpa_.last) || (m.sctp_in_valid_i && sctp_.last); }
  // No table is looked up, and the answers of the cycle before still hold.
  bool quiet(const Model& m, bool rows) {
    const bool messages = m.posted_ready_o || m.rqe_ready_o || m.srq_arm_ready_o || m.read_issued_ready_o ||
                          m.flush_ready_o || m.answered_ready_o || m.rq_end_o;
    const bool answered = m.overrun_i || m.unused_valid_i || m.freed_valid_i || m.shared_event_valid_i;
    const bool waiting = requests_.has_unused() || !requests_.freed().empty() || !requests_.events().empty();
    return !messages && !answered && !waiting && !judges(m) && !m.mpa_peek_o && !m.sctp_peek_o && !rows;
  }

  // f(reader, ready, valid, drop, ask, index, tag) for each reader of a table.
  template <class M, class F>
  void readers(M& m, F&& f) const {
    auto& [mpa, sctp] = stage_.stags;
    f(mpa.named.entry(), m.mpa_stag_ready_i, m.mpa_stag_valid_i, m.mpa_stag_drop_o, m.mpa_stag_ask_o,
      m.mpa_stag_index_o, 0);
    f(mpa.named.region(), m.mpa_region_ready_i, m.mpa_region_valid_i, m.mpa_region_drop_o, m.mpa_region_ask_o,
      m.mpa_region_index_o, 0);
    f(mpa.scattered, m.mpa_scatter_ready_i, m.mpa_scatter_valid_i, m.mpa_scatter_drop_o, m.mpa_scatter_ask_o,
      m.mpa_scatter_index_o, 0);
    f(sctp.named.entry(), m.sctp_stag_ready_i, m.sctp_stag_valid_i, m.sctp_stag_drop_o, m.sctp_stag_ask_o,
      m.sctp_stag_index_o, 0);
    f(sctp.named.region(), m.sctp_region_ready_i, m.sctp_region_valid_i, m.sctp_region_drop_o, m.sctp_region_ask_o,
      m.sctp_region_index_o, 0);
    f(sctp.scattered, m.sctp_scatter_ready_i, m.sctp_scatter_valid_i, m.sctp_scatter_drop_o, m.sctp_scatter_ask_o,
      m.sctp_scatter_index_o, 0);
    auto& [mpa_qp, sctp_qp] = stage_.qps;
    f(mpa_qp.rows(), m.mpa_row_ready_i, m.mpa_row_valid_i, m.mpa_row_drop_o, m.mpa_row_ask_o, m.mpa_row_index_o, 0);
    f(sctp_qp.rows(), m.sctp_row_ready_i, m.sctp_row_valid_i, m.sctp_row_drop_o, m.sctp_row_ask_o, m.sctp_row_index_o,
      0);
    f(stage_.events.rows(), m.event_row_ready_i, m.event_row_valid_i, m.event_row_drop_o, m.event_row_ask_o,
      m.event_row_index_o, m.event_row_tag_o);
  }
  static void release(SegmentStags& input, bool keeps, bool all) {
    if (keeps) input.scattered.keep();
    if (all) input.scattered.release();
  }
  // Returns whether the block sees something of the tables that it did not see in the cycle before, or rows.
  bool rows(Model& m) {
    std::uint32_t sees = 0;
    readers(m, [&sees](TableReader& reader, CData& ready, CData& valid, auto&&...) {
      ready = reader.can_ask();
      valid = reader.can_use();
      sees = sees << 3 | std::uint32_t{ready} << 2 | std::uint32_t{valid} << 1 | (reader.kept() != 0);
    });
    row(stage_.qps[0].rows(), shown_[0], m.mpa_row_ok_i, m.mpa_row_i, m.mpa_oldest_i);
    row(stage_.qps[1].rows(), shown_[1], m.sctp_row_ok_i, m.sctp_row_i, m.sctp_oldest_i);
    event_.there = stage_.events.ready();
    if (event_.there) {
      show(stage_.events.rows(), event_);
      m.event_row_tag_i = static_cast<CData>(stage_.events.rows().front().tag);
      pack(stage_.events.row(), m.event_row_i);
    }
    rows(stage_.stags[0], m.mpa_stag_i, m.mpa_region_row_i, m.mpa_region_i, m.mpa_scatter_i);
    rows(stage_.stags[1], m.sctp_stag_i, m.sctp_region_row_i, m.sctp_region_i, m.sctp_scatter_i);
    constexpr std::uint32_t kRows = 0333333333;
    const bool changes = std::exchange(sees_, sees) != sees;
    return changes || (sees & kRows) != 0;
  }
  static void show(const RxTable::Reader& reader, Shown& shown) {
    shown.qpn = Qpn{reader.front().index};
    shown.state = reader.row().state;
  }
  template <class Bits, class Read>
  void row(const RxTable::Reader& reader, Shown& shown, CData& ok, Bits& pins, Read& oldest) const {
    ok = shown.there = reader.can_use() && reader.ok();
    if (!ok) return;
    show(reader, shown);
    pack(reader.row(), pins);
    if (!reads_.empty(shown.qpn)) pack(reads_.front(shown.qpn), oldest);
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
    m.overrun_i = m.posted_ready_o && overruns(stage_.posted->front());
    if (m.overrun_i) m.posted_epoch_i = contexts_.epoch(Qpn{stage_.posted->front().rqn.v});
    if (m.rqe_ready_o) requests_.arrive(stage_.rqe->front());
    if (m.srq_arm_ready_o) requests_.arm(stage_.srq_arm->front());
    if (m.rq_end_o) requests_.end(Qpn{m.rq_end_qpn_o}, Cqn{m.rq_end_cq_o});
    m.unused_valid_i = requests_.has_unused();
  }
  bool overruns(const RqDoorbell& d) { return !requests_.announce(d) && !d.rqn.shared; }

  // What one of them takes, the others see in the next cycle.
  void receive_request(Model& m) {
    if (m.unused_take_o) {
      const auto u = requests_.take_unused();
      pack(u ? UnusedRequest{true, u->qpn, u->wr_id, u->epoch, u->recv_cq} : UnusedRequest{}, m.unused_i);
    }
    if (m.mpa_peek_o) peek(mpa_.qpn, m.mpa_peek_there_i, m.mpa_peek_i);
    if (m.sctp_peek_o) peek(sctp_.qpn, m.sctp_peek_there_i, m.sctp_peek_i);
    if (m.rq_next_o) {
      const Qpn qpn{m.qpn_o};
      const ReceiveRequests::Next next = requests_.next(qpn);
      m.rq_next_i = static_cast<std::uint8_t>(next);
      waits_for_request_ = next == ReceiveRequests::Next::kFetching;
      if (next == ReceiveRequests::Next::kThere) pack(requests_.front(qpn), m.rq_front_i);
    }
  }
  // The request for a Send whose header has come.
  template <class There, class Request>
  void peek(Qpn qpn, There& there, Request& request) {
    const FetchedRqe* const next = contexts_.has(qpn) ? requests_.peek(qpn) : nullptr;
    there = next != nullptr;
    if (next != nullptr) pack(*next, request);
  }

  void use(Model& m) {
    if (m.rq_use_o) requests_.use(Qpn{m.qpn_o});
    if (m.event_write_o) change(event_.qpn, m.event_state_o, m.reads_push_o, false, m);
    if (m.state_write_o) change(Qpn{m.qpn_o}, m.state_o, false, m.reads_pop_o, m);
    m.freed_valid_i = !requests_.freed().empty();
    if (m.freed_valid_i) pack(requests_.freed().front(), m.freed_i);
    m.shared_event_valid_i = !requests_.events().empty();
    if (m.shared_event_valid_i) pack(requests_.events().front(), m.shared_event_i);
  }

  // The list that belongs to what the block writes.
  template <class Bits>
  void change(Qpn qpn, const Bits& bits, bool push, bool pop, const Model& m) {
    QpRx next;
    unpack(bits, next);
    Ring<ReadIssued>& reads = reads_.begin(qpn, next.epoch);
    if (pop) reads.drop();
    if (!push) return;
    ReadIssued issued;
    unpack(m.reads_push_issued_o, issued);
    reads.push(issued);
  }
  template <class Bits>
  void keep(Qpn qpn, const Bits& bits) const {
    QpRx& state = contexts_.rx_table.own(qpn.v, &RxRow::state);
    unpack(bits, state);
    state.reads = reads_.of(qpn);
  }

  DdpPlacement& stage_;
  ContextTables& contexts_;
  ReceiveRequests requests_;
  RowLists<ReadIssued> reads_;
  Offered mpa_, sctp_;
  std::array<Shown, 2> shown_;  // to the segments of MPA and of SCTP,
  Shown event_;                 // and to an event
  BufferRef buf_;               // of the segment under way
  bool waits_for_request_ = false;
  static constexpr unsigned kReaders = 9, kScattered = 2, kSctpScattered = 5;  // of readers()
  std::array<AskedRows, kReaders> asked_;
  std::uint32_t sees_ = 0;  // in the cycle before, by reader: it can be asked, it has a row, it keeps some
};

}  // namespace rnic::rtl
