// ddp_placement: its lookups of contexts, STags and receive requests are answered in the same cycle; two tables
// of the block are kept here as it wrote them.
#pragma once

#include <utility>
#include <vector>

#include "model/rnic/context/stag_work.h"
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
  // The links' messages; the stream; its receive request; the entries that STags name; the use of the request.
  static constexpr unsigned kRounds = 5;

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
    if (beat.last) o.owner = beat.buf->owner();
    (sctp ? m.sctp_in_offset_i : m.in_offset_i) = static_cast<std::uint32_t>(beat.data - beat.buf->bytes());
  }
  bool look_up(Model& m, unsigned round) {
    switch (round) {
      case 0:
        waits_for_request_ = false;
        if (quiet(m)) return false;
        control(m);
        break;
      case 1:
        stream(m);
        break;
      case 2:
        receive_request(m);
        break;
      case 3:
        memory(m);
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
    if (m.stag_end_o) end_stag(contexts_, Stag{m.stag_o});
  }

 private:
  using StreamRow = std::remove_reference_t<decltype(Model::stream_i)>;
  using HeldRow = std::remove_reference_t<decltype(Model::held_i)>;
  using StopRow = std::remove_reference_t<decltype(Model::stop_i)>;
  // A beat that a lower layer offers.
  struct Offered {
    bool last = false;
    RequestId owner;  // of the FPDU that ends with it
  };

  bool judges(const Model& m) const { return (m.in_valid_i && mpa_.last) || (m.sctp_in_valid_i && sctp_.last); }
  // No table is looked up, and the answers of the cycle before still hold.
  bool quiet(const Model& m) {
    const bool messages = m.posted_ready_o || m.rqe_ready_o || m.srq_arm_ready_o || m.read_issued_ready_o ||
                          m.flush_ready_o || m.answered_ready_o;
    const bool answered = m.overrun_i || m.unused_valid_i || m.freed_valid_i || m.shared_event_valid_i;
    const bool waiting = requests_.has_unused() || !requests_.freed().empty() || !requests_.events().empty();
    return !messages && !answered && !waiting && !judges(m);
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

  void receive_request(Model& m) {
    if (m.rq_next_o) {
      const Qpn qpn{m.qp_index_o};
      const ReceiveRequests::Next next = requests_.next(qpn);
      m.rq_next_i = static_cast<std::uint8_t>(next);
      waits_for_request_ = next == ReceiveRequests::Next::kFetching;
      if (next == ReceiveRequests::Next::kThere) pack(requests_.front(qpn), m.rq_front_i);
    }
    if (m.stag_read_o) pack(entry(m.stag_o), m.stag_i);
  }

  void memory(Model& m) {
    if (m.stag_read_o) pack(entry(m.region_o), m.region_i);
    if (m.windows_read_o) m.windows_i = contexts_.has_windows(Stag{m.stag_o});
    if (m.sge_read_o == 0) return;
    const abi::Wqe& wqe = requests_.front(Qpn{m.qp_index_o}).wqe;
    clear(m.sge_stags_i);
    for (unsigned i = 0; i < abi::kMaxSge; ++i) {
      if (m.sge_read_o >> i & 1) pack_element(entry(wqe.sge[i].lkey), i, m.sge_stags_i);
    }
  }

  // The entry at an STag's index, whatever its key.
  StagContext entry(std::uint32_t stag) const {
    const StagContext* const s = contexts_.stag(Stag{stag});
    return s != nullptr ? *s : StagContext{};
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
};

}  // namespace rnic::rtl
