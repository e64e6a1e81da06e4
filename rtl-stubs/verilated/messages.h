// The control messages that blocks exchange, and the contexts that they look up, as bits: every field once. Packing and
// unpacking (bits.h), the names that lock-step tells, and include/rnic_messages_pkg.sv are made of this. References to
// buffers are no bits: a block's pins keep them.
#pragma once

#include <tuple>
#include <variant>

#include "model/rnic/completion/cqe.h"
#include "model/rnic/context/context_types.h"
#include "model/rnic/context/qp_events.h"
#include "model/rnic/context/srq_events.h"
#include "model/rnic/context/wqe_fetch.h"
#include "model/rnic/dma.h"
#include "model/rnic/llp/tcp_types.h"
#include "model/rnic/pcie/doorbells.h"
#include "model/rnic/responder/read_request.h"
#include "model/rnic/rx/placed.h"
#include "model/rnic/terminate/terminate_message.h"
#include "rtl-stubs/verilated/bits.h"
#include "rtl-stubs/verilated/mpa_place.h"

namespace rnic::rtl {

// A message that names no more than a queue pair.
template <class M>
struct QpnMessage {
  template <class V, class T>
  static void fields(V& v, T& m) {
    v("qpn", m.qpn);
  }
};

template <>
struct Message<Rqn> {
  static constexpr const char* kName = "rqn";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("shared", 1, m.shared);
    v("number", 32, m.v);
  }
};
template <>
struct Message<wire::TerminateCause> {
  static constexpr const char* kName = "terminate_cause";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("layer", 4, m.layer);
    v("etype", 4, m.etype);
    v("code", 8, m.code);
  }
};
template <>
struct Message<FailedSegment> {
  static constexpr const char* kName = "failed_segment";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("length", 16, m.length);
    v("ddp_bytes", 5, m.ddp_bytes);
    v("request_bytes", 5, m.request_bytes);
    v.octets("octets", m.octets);
  }
};
template <>
struct Message<QpEvent> {
  static constexpr const char* kName = "qp_event";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("kind", 3, m.kind);
    v("qpn", m.qpn);
    v("cause", m.cause);
    v("failed", m.failed);
    v("malformed", 1, m.malformed);
  }
};
template <>
struct Message<TxUnblock> {
  static constexpr const char* kName = "tx_unblock";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("kind", 1, m.kind);
    v("qpn", m.qpn);
  }
};
template <>
struct Message<TerminateMessage> {
  static constexpr const char* kName = "terminate_message";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("bytes", 6, m.bytes);
  }
};

template <>
struct Message<DmaReadRequest> {
  static constexpr const char* kName = "dma_read_request";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("address", 64, m.address);
    v("bytes", 32, m.bytes);
    v("tag", 32, m.tag);
  }
};
template <>
struct Message<DmaReadDone> {
  static constexpr const char* kName = "dma_read_done";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("tag", 32, m.tag);
    v("ok", 1, m.ok);
  }
};
template <>
struct Message<DmaWriteRequest> {
  static constexpr const char* kName = "dma_write_request";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("address", 64, m.address);
    v("bytes", 32, m.bytes);
    v("src_offset", 32, m.src_offset);
    v("tag", 32, m.tag);
    v("notify", 1, m.notify);
  }
};
template <>
struct Message<DmaWriteDone> {
  static constexpr const char* kName = "dma_write_done";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("tag", 32, m.tag);
  }
};

template <>
struct Message<wire::ReadRequest> {
  static constexpr const char* kName = "read_request";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("sink_stag", 32, m.sink_stag);
    v("sink_to", 64, m.sink_to);
    v("size", 32, m.size);
    v("src_stag", 32, m.src_stag);
    v("src_to", 64, m.src_to);
  }
};
template <>
struct Message<wire::AtomicRequest> {
  static constexpr const char* kName = "atomic_request";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("operation", 32, m.operation);
    v("request_id", 32, m.request_id);
    v("stag", 32, m.stag);
    v("to", 64, m.to);
    v("data", 64, m.data);
    v("data_mask", 64, m.data_mask);
    v("compare", 64, m.compare);
    v("compare_mask", 64, m.compare_mask);
  }
};
template <>
struct Message<wire::AtomicResponse> {
  static constexpr const char* kName = "atomic_response";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("request_id", 32, m.request_id);
    v("original", 64, m.original);
  }
};
template <>
struct Message<wire::ImmediateData> {
  static constexpr const char* kName = "immediate_data";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("data", 64, m.data);
  }
};

template <>
struct Message<QueuedRead> {
  static constexpr const char* kName = "queued_read";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("request", m.request);
    v("segment", m.segment);
  }
};
template <>
struct Message<QueuedAtomic> {
  static constexpr const char* kName = "queued_atomic";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("request", m.request);
    v("segment", m.segment);
  }
};
// Either kind of request. Of `read` and `atomic` the one that is not meant is 0.
template <>
struct Message<QueuedRequest> {
  static constexpr const char* kName = "queued_request";
  template <class V>
  static void fields(V& v, const QueuedRequest& m) {
    if (const auto* const read = std::get_if<QueuedRead>(&m)) {
      visit(v, false, read->qpn, read->request, wire::AtomicRequest{}, read->segment);
    } else {
      const auto& atomic = std::get<QueuedAtomic>(m);
      visit(v, true, atomic.qpn, wire::ReadRequest{}, atomic.request, atomic.segment);
    }
  }
  template <class V>
  static void fields(V& v, QueuedRequest& m) {
    bool is_atomic = false;
    QueuedRead read;
    QueuedAtomic atomic;
    visit(v, is_atomic, read.qpn, read.request, atomic.request, read.segment);
    if (is_atomic) m = QueuedAtomic{read.qpn, atomic.request, read.segment};
    else m = read;
  }

 private:
  template <class V, class Flag, class Qp, class Read, class Atomic, class Segment>
  static void visit(V& v, Flag&& is_atomic, Qp&& qpn, Read&& read, Atomic&& atomic, Segment&& segment) {
    v("is_atomic", 1, is_atomic);
    v("qpn", qpn);
    v("read", read);
    v("atomic", atomic);
    v("segment", segment);
  }
};
template <>
struct Message<AtomicWork> {
  static constexpr const char* kName = "atomic_work";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("response", m.response);
  }
};
template <>
struct Message<DeliveredAtomic> {
  static constexpr const char* kName = "delivered_atomic";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("response", m.response);
    v("segment", m.segment);
  }
};
template <>
struct Message<ReadResponseSent> : QpnMessage<ReadResponseSent> {
  static constexpr const char* kName = "read_response_sent";
};
template <>
struct Message<AtomicDone> : QpnMessage<AtomicDone> {
  static constexpr const char* kName = "atomic_done";
};
template <>
struct Message<RqFlush> : QpnMessage<RqFlush> {
  static constexpr const char* kName = "rq_flush";
};
template <>
struct Message<abi::Sge> {
  static constexpr const char* kName = "sge";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("address", 64, m.address);
    v("length", 32, m.length);
    v("lkey", 32, m.lkey);
  }
};
template <>
struct Message<AtomicIssued> {
  static constexpr const char* kName = "atomic_issued";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("request_id", 32, m.request_id);
    v("sink", m.sink);
  }
};
template <>
struct Message<ReadIssued> {
  static constexpr const char* kName = "read_issued";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("sink_stag", 32, m.sink_stag);
    v("sink_to", 64, m.sink_to);
    v("bytes", 32, m.bytes);
  }
};

// Of a receive work request.
template <>
struct Message<abi::Wqe> {
  static constexpr const char* kName = "receive_wqe";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("wr_id", 64, m.wr_id);
    v("num_sge", 8, m.num_sge);
    v.each("sge", m.sge);
  }
};
template <>
struct Message<RqDoorbell> {
  static constexpr const char* kName = "rq_doorbell";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("rqn", m.rqn);
    v("producer", 32, m.producer);
  }
};
template <>
struct Message<FetchedRqe> {
  static constexpr const char* kName = "fetched_rqe";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("rqn", m.rqn);
    v("ok", 1, m.ok);
    v("wqe", m.wqe);
  }
};
template <>
struct Message<RqeTaken> {
  static constexpr const char* kName = "rqe_taken";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("rqn", m.rqn);
  }
};
template <>
struct Message<SrqArm> {
  static constexpr const char* kName = "srq_arm";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("srqn", m.srqn);
    v("limit", 32, m.limit);
    v("serial", 32, m.serial);
  }
};
template <>
struct Message<SrqEvent> {
  static constexpr const char* kName = "srq_event";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("kind", 1, m.kind);
    v("srqn", m.srqn);
    v("serial", 32, m.serial);
  }
};
template <>
struct Message<PlacedSegment> {
  static constexpr const char* kName = "placed_segment";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("opcode", 4, m.opcode);
    v("last", 1, m.last);
    v("flushed", 1, m.flushed);
    v("absorbed", 1, m.absorbed);
    v("awaits_write", 1, m.awaits_write);
    v("malformed", 1, m.malformed);
    v("ended", 1, m.ended);
    v("in_order", 1, m.in_order);
    v("flow", m.flow);
    v("bytes", 32, m.bytes);
    v("wr_id", 64, m.wr_id);
    v("stag", 32, m.stag);
    v("read", m.read);
    v("cause", m.cause);
    v("headers", m.headers);
    v("atomic", m.atomic);
    v("atomic_response", m.atomic_response);
    v("immediate", m.immediate);
  }
};
template <>
struct Message<MpaPlace> {
  static constexpr const char* kName = "mpa_place";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("next", 64, m.next);
    v("epoch", 32, m.epoch);
    v("seen", 17, m.seen);
    v("size", 17, m.size);
    v("marker_octets", 10, m.marker_octets);
    v("last_octet", 8, m.last_octet);
    v("marker_ok", 1, m.marker_ok);
    v("straddles", 1, m.straddles);
  }
};
template <>
struct Message<RxConsumed> {
  static constexpr const char* kName = "rx_consumed";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("flow", m.flow);
    v("bytes", 32, m.bytes);
  }
};

template <>
struct Message<QpContext> {
  static constexpr const char* kName = "qp_context";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("state", 3, m.state);
    v("valid", 1, m.valid);
    v("responder", 1, m.responder);
    v("absorbs_rtr_send", 1, m.absorbs_rtr_send);
    v("version", 2, m.version);
    v("extensions", 1, m.extensions);
    v("mulpdu", 16, m.mulpdu);
    v("ird", 16, m.ird);
    v("ord", 16, m.ord);
    v("pd", m.pd);
    v("flow", m.flow);
    v("shares_rq", 1, m.shares_rq);
    v("srq", m.srq);
    v("epoch", 32, m.epoch);
    v("first_msn", 32, m.first_msn);
  }
};
template <>
struct Message<FlowContext> {
  static constexpr const char* kName = "flow_context";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("rdma", 1, m.rdma);
    v("tx_markers", 1, m.tx_markers);
    v("rx_markers", 1, m.rx_markers);
    v("crc", 1, m.crc);
    v("epoch", 32, m.epoch);
    v("qpn", m.qpn);
  }
};
template <>
struct Message<StagContext> {
  static constexpr const char* kName = "stag_context";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("allocated", 1, m.allocated);
    v("valid", 1, m.valid);
    v("kind", 2, m.kind);
    v("zero_based", 1, m.zero_based);
    v("key", 8, m.key);
    v("access", 8, m.access);
    v("pd", m.pd);
    v("region", 32, m.region);
    v("qpn", m.qpn);
    v("qp_epoch", 32, m.qp_epoch);
    v("address", 64, m.address);
    v("length", 64, m.length);
    v("bus", 64, m.bus);
    v("log_page", 5, m.log_page);
    v("first_page", 32, m.first_page);
    v("pages", 32, m.pages);
  }
};

// In an order in which what is inside stands before what it is in.
using Messages = std::tuple<Rqn, wire::TerminateCause, FailedSegment, QpEvent, TxUnblock, TerminateMessage,
                            DmaReadRequest, DmaReadDone, DmaWriteRequest, DmaWriteDone, wire::ReadRequest,
                            wire::AtomicRequest, wire::AtomicResponse, wire::ImmediateData, QueuedRead, QueuedAtomic,
                            QueuedRequest, AtomicWork, DeliveredAtomic, ReadResponseSent, AtomicDone, RqFlush, abi::Sge,
                            AtomicIssued, ReadIssued, abi::Wqe, RqDoorbell, FetchedRqe, RqeTaken, SrqArm, SrqEvent,
                            PlacedSegment, MpaPlace, RxConsumed, QpContext, FlowContext, StagContext>;

}  // namespace rnic::rtl
