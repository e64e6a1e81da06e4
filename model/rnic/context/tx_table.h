// The transmit contexts of a chip's queue pairs: a table with ports and a read latency. See tx_table.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/abi/context_types.h"
#include "model/abi/host_abi.h"
#include "model/abi/memory_piece.h"
#include "model/common/node_pool.h"
#include "model/common/table.h"
#include "model/wire/fpdu.h"
#include "model/wire/rdmap.h"

namespace rnic {

// The message being cut: a Send, a Write, a Read Response, or the single segment of a message without payload.
struct OutboundMessage {
  wire::Opcode opcode = wire::Opcode::kSend;
  bool active = false;
  bool completes = false;  // its last FPDU completes a work request
  std::uint8_t sge = 0;    // where the next payload octet is
  std::uint32_t sge_done = 0;
  std::uint32_t bytes = 0, done = 0;
  std::uint32_t stag = 0;  // tagged: the sink's; untagged: STag to invalidate
  std::uint32_t msn = 0;
  std::uint64_t address = 0;  // tagged: TO of the first octet; of an Atomic Response: the request's identifier

  bool tagged() const { return wire::is_tagged(opcode); }

  static constexpr const char* kMessage = "outbound_message";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("opcode", 4, m.opcode);
    v("active", 1, m.active);
    v("completes", 1, m.completes);
    v("sge", 3, m.sge);
    v("sge_done", 32, m.sge_done);
    v("bytes", 32, m.bytes);
    v("done", 32, m.done);
    v("stag", 32, m.stag);
    v("msn", 32, m.msn);
    v("address", 64, m.address);
  }
};

// Of a Read Response: where its next octets are, as MemoryPiece has it; of an Atomic Response: the value.
struct ResponseSource {
  std::uint64_t address = 0;
  PageList list = {};
  std::uint32_t region = 0;

  static constexpr const char* kMessage = "response_source";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("address", 64, m.address);
    v("list", PageList::kBits, m.list.v);
    v("region", 32, m.region);
  }
};

// What the transmit side needs of a queue pair's context.
struct TxContext {
  QpState state = QpState::kIdle;
  bool valid = false, responder = false, extensions = false;
  std::uint8_t version = 1;
  LlpId llp = LlpId::kMpaTcp;  // of the flow, and what is sent on it
  bool markers = false, crc = true;
  std::uint16_t mulpdu = 0, ord = 0;
  Pdn pd;
  FlowId flow = kNoFlow;
  std::uint32_t epoch = 0, first_msn = 1;

  static TxContext of(const QpContext& c) {
    return {c.state, c.valid,  c.responder, c.extensions, c.version, c.llp,   c.markers,
            c.crc,   c.mulpdu, c.ord,       c.pd,         c.flow,    c.epoch, c.first_msn};
  }
  bool extended() const { return extensions && version == 1; }  // QpContext::extended()
  StagUser user(Qpn n) const { return {n, epoch, pd}; }

  static constexpr const char* kMessage = "tx_context";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("state", 3, m.state);
    v("valid", 1, m.valid);
    v("responder", 1, m.responder);
    v("extensions", 1, m.extensions);
    v("version", 2, m.version);
    v("mulpdu", 16, m.mulpdu);
    v("ord", 16, m.ord);
    v("pd", m.pd);
    v("flow", m.flow);
    v("epoch", 32, m.epoch);
    v("first_msn", 32, m.first_msn);
    v("llp", 1, m.llp);
    v("markers", 1, m.markers);
    v("crc", 1, m.crc);
  }
};

// What rdmap_segmenter knows of a queue pair: its work, and what of it may be sent. The elements of its lists are on
// the chip, wherever the row is.
struct QpTx {
  std::uint32_t epoch = 0;  // of the context that the rest is about
  PooledQueue wqes;         // fetched, in posting order
  PooledQueue internal;     // the firmware's messages, sent before the host's
  PooledItem answered;      // the request that the response is for
  PooledItem terminate;     // the content of the firmware's kTerminate
  std::uint16_t due = 0;    // responses, including the current one
  std::uint16_t reads = 0;  // and atomics, outstanding against ORD
  std::uint16_t sinks = 0;  // of Reads with Invalidate, whose STags have not ended
  OutboundMessage request, response;
  ResponseSource source;
  std::uint64_t credit = 0;  // octets
  wire::StreamPosition position = 0;
  std::uint32_t msn_send = 1, msn_read = 1;  // next MSN of QN 0 and QN 1,
  std::uint32_t msn_response = 1;            // and of QN 3
  std::uint8_t terminate_bytes = 0;          // of its header
  bool unfenced = false;                     // the first FPDU has arrived
  bool peer_closed = false;                  // no more responses will come
  bool response_turn = false;                // requests and responses of one QP alternate
  bool halted = false;                       // a local error: nothing more is sent
  bool terminated = false;                   // by our Terminate, the last message of the stream
  bool draining = false;                     // the firmware waits for everything posted
  bool flushing = false;                     // the stream is over: work completes with an error
  bool working = false;                      // stag_work has its oldest request

  // A responder that has not received an FPDU yet (RFC 5044 section 7.1.2 rule 4).
  bool fenced(const TxContext& ctx) const { return ctx.responder && !unfenced; }
  // The host's messages and Read Responses may go out.
  bool open(const TxContext& ctx) const;
  // Fence and ORD let the request begin (RFC 5040 section 5.2.1). ORD 0 lets a Read or
  // an atomic pass, to fail its check.
  bool may_start(const TxContext& ctx, const abi::Wqe& w) const;
  // An untagged message takes the next MSN of its queue; a Read or Atomic Request counts against
  // ORD.
  void number(OutboundMessage& m);
  // A Read or Atomic Response arrived, perhaps an unexpected one.
  void read_done();
  // A response was sent completely, perhaps an unannounced one.
  void response_done();
  // An FPDU of that many octets, markers included, is sent; or a DATA chunk, which has no place in a stream.
  void spend(std::size_t octets);

  static constexpr const char* kMessage = "qp_tx";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("epoch", 32, m.epoch);
    v("wqes", m.wqes);
    v("internal", m.internal);
    v("answered", m.answered);
    v("terminate", m.terminate);
    v("due", 16, m.due);
    v("reads", 16, m.reads);
    v("sinks", 16, m.sinks);
    v("request", m.request);
    v("response", m.response);
    v("source", m.source);
    v("credit", 36, m.credit);
    v("position", 32, m.position);
    v("msn_send", 32, m.msn_send);
    v("msn_read", 32, m.msn_read);
    v("msn_response", 32, m.msn_response);
    v("terminate_bytes", 6, m.terminate_bytes);
    v("unfenced", 1, m.unfenced);
    v("peer_closed", 1, m.peer_closed);
    v("response_turn", 1, m.response_turn);
    v("halted", 1, m.halted);
    v("terminated", 1, m.terminated);
    v("draining", 1, m.draining);
    v("flushing", 1, m.flushing);
    v("working", 1, m.working);
  }
};

struct TxRow {
  TxContext qp;  // written by the firmware
  QpTx state;    // rdmap_segmenter's

  static constexpr const char* kMessage = "tx_row";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qp", m.qp);
    v("state", m.state);
  }
};

using TxTable = Table<TxRow>;

// An event and a turn each have a port of their own.
struct TxTableConfig : TableConfig {
  constexpr TxTableConfig() { read_ports = 2; }
};

}  // namespace rnic
