// Messages between the three parts of the TCP offload: tcp_connection decides, tcp_tx sends, tcp_rx receives. Each
// piece of a connection's state has one owner; the others learn of it from these messages.
#pragma once

#include <array>
#include <cstdint>

#include "model/abi/host_abi.h"
#include "model/common/buffer.h"
#include "model/common/ids.h"
#include "model/common/value_words.h"
#include "model/rnic/messages/flow_key.h"
#include "model/rnic/messages/parts.h"
#include "model/wire/ethernet.h"
#include "model/wire/tcp.h"

namespace rnic::tcp {

// The terms of both ends, as negotiated in SYNs.
struct Agreed {
  std::uint16_t emss = 0;   // octets of payload of our segments, options subtracted
  bool scaling = false;     // window scale (RFC 7323 section 2)
  std::uint8_t scale = 0;   // of windows we receive
  bool sack = false;        // RFC 2018
  bool timestamps = false;  // RFC 7323 section 3
  std::uint32_t ts_recent = 0;
  bool ecn = false;  // RFC 3168

  static constexpr const char* kMessage = "tcp_agreed";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("emss", 16, m.emss);
    v("scaling", 1, m.scaling);
    v("scale", 4, m.scale);
    v("sack", 1, m.sack);
    v("timestamps", 1, m.timestamps);
    v("ts_recent", 32, m.ts_recent);
    v("ecn", 1, m.ecn);
  }
};

// tcp_connection -> tcp_tx
struct TxCommand {
  enum class Kind : std::uint8_t {
    kOpen,       // send SYN, or SYN and ACK if rcv_nxt is known; peer, iss
    kEstablish,  // the peer's SYN and ACK arrived: seq (its ACK), rcv_nxt, window, options; send the last ACK
    kStream,     // data, bytes: octets of a start-up frame
    kEnterRdma,  // grant credit: from now on FPDUs
    kFin,        // FIN after everything queued
    kAbort,      // send RST, then as kRelease; key, peer_mac: for a flow whose row is lost
    kRelease,    // release the flow; answered by TxReport::kReleased
    kRefuse,     // no flow: send RST with seq, and ACK if with_ack
    kSetLimits   // limits
  };
  friend const ValueWords& value_words(Kind) {
    static const ValueWords kWords{"open",  "establish", "stream", "enter_rdma", "fin",
                                   "abort", "release",   "refuse", "set_limits"};
    return kWords;
  }
  Kind kind = Kind::kOpen;
  FlowId flow = kNoFlow;
  llp::FlowKey key;
  wire::MacAddress peer_mac;
  bool with_ack = false;  // rcv_nxt is valid
  Agreed agreed;          // kOpen with_ack, kEstablish
  std::uint32_t seq = 0;  // iss, or the RST's
  std::uint32_t ack = 0;  // kEstablish: what the peer acknowledged
  std::uint32_t rcv_nxt = 0;
  std::uint32_t peer_window = 0;  // octets
  std::uint32_t bytes = 0;
  abi::TcpLimits limits;
  BufferRef data;

  static constexpr const char* kMessage = "tcp_tx_command";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("kind", 4, m.kind);
    v("flow", m.flow);
    v("key", m.key);
    v("peer_mac", m.peer_mac);
    v("with_ack", 1, m.with_ack);
    v("agreed", m.agreed);
    v("seq", 32, m.seq);
    v("ack", 32, m.ack);
    v("rcv_nxt", 32, m.rcv_nxt);
    v("peer_window", 32, m.peer_window);
    v("bytes", 32, m.bytes);
    v("limits", m.limits);
  }
};

// tcp_tx -> tcp_connection
struct TxReport {
  enum class Kind : std::uint8_t { kSynAcked, kFinAcked, kGaveUp, kReleased, kEmss, kLost };
  friend const ValueWords& value_words(Kind) {
    static const ValueWords kWords{"syn_acked", "fin_acked", "gave_up", "released", "emss", "lost"};
    return kWords;
  }
  Kind kind = Kind::kSynAcked;
  FlowId flow;
  std::uint16_t emss = 0;  // kEmss: the present value

  static constexpr const char* kMessage = "tcp_tx_report";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("kind", 3, m.kind);
    v("flow", m.flow);
    v("emss", 16, m.emss);
  }
};

// tcp_connection -> tcp_rx
struct RxCommand {
  enum class Kind : std::uint8_t {
    kAwaitSyn,   // key: give every segment of this flow to tcp_connection
    kOpen,       // key, rcv_nxt, agreed and what is below: receive
    kRead,       // bytes of the stream for the firmware
    kEnterRdma,  // the rest of the stream goes to the deframer
    kDiscard,    // the stream is not read any more
    kRelease,    // release the flow; answered by RxReport::kReleased
    kUnread      // withdraws an unanswered read
  };
  friend const ValueWords& value_words(Kind) {
    static const ValueWords kWords{"await_syn", "open", "read", "enter_rdma", "discard", "release", "unread"};
    return kWords;
  }
  Kind kind = Kind::kOpen;
  FlowId flow;
  llp::FlowKey key;
  std::uint32_t rcv_nxt = 0;
  std::uint32_t bytes = 0;
  Agreed agreed;
  bool established = false;       // kOpen: our SYN is acknowledged, otherwise SYN-RECEIVED
  bool passive = false;           // kOpen: the peer opened
  std::uint32_t snd_una = 0;      // kOpen
  std::uint32_t peer_window = 0;  // kOpen: of the peer's SYN, in octets

  static constexpr const char* kMessage = "tcp_rx_command";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("kind", 3, m.kind);
    v("flow", m.flow);
    v("key", m.key);
    v("rcv_nxt", 32, m.rcv_nxt);
    v("bytes", 32, m.bytes);
    v("agreed", m.agreed);
    v("established", 1, m.established);
    v("passive", 1, m.passive);
    v("snd_una", 32, m.snd_una);
    v("peer_window", 32, m.peer_window);
  }
};

// tcp_rx -> tcp_connection
struct RxReport {
  enum class Kind : std::uint8_t {
    kSegment,  // of no flow, or of one that awaits a SYN or the ACK of ours: all fields
    kReset,    // a valid RST, and all octets before it were handed over
    kFin,      // the peer closed and all octets before were handed over; again for each repetition; told_in_band
    kStream,   // data, bytes: the answer to kRead
    kReleased,
    kLost  // the flow's row: its home could not give it
  };
  friend const ValueWords& value_words(Kind) {
    static const ValueWords kWords{"segment", "reset", "fin", "stream", "released", "lost"};
    return kWords;
  }
  Kind kind = Kind::kSegment;
  FlowId flow = kNoFlow;
  llp::FlowKey key;
  wire::MacAddress peer_mac;
  std::uint8_t flags = 0;
  wire::TcpOptions options;
  std::uint16_t window = 0;
  std::uint32_t seq = 0, ack = 0;
  std::uint32_t bytes = 0;    // of sequence space, SYN and FIN included; kStream: octets
  bool told_in_band = false;  // after the stream's last FPDU, to the stage that has it
  bool syn_acked = false;     // kReset: the peer had acknowledged our SYN before
  BufferRef data;

  static constexpr const char* kMessage = "tcp_rx_report";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("kind", 3, m.kind);
    v("flow", m.flow);
    v("key", m.key);
    v("peer_mac", m.peer_mac);
    v("flags", 8, m.flags);
    v("options", m.options);
    v("window", 16, m.window);
    v("seq", 32, m.seq);
    v("ack", 32, m.ack);
    v("bytes", 32, m.bytes);
    v("told_in_band", 1, m.told_in_band);
    v("syn_acked", 1, m.syn_acked);
  }
};

// tcp_rx -> tcp_tx: the meaning of a received segment, or an opened window, to the sender.
struct RxFeedback {
  // The last one if RFC 5961 section 7 allows it.
  enum class Answer : std::uint8_t { kNone, kSoon, kNow, kChallenge };
  friend const ValueWords& value_words(Answer) {
    static const ValueWords kWords{"none", "soon", "now", "challenge"};
    return kWords;
  }
  FlowId flow;
  bool acks = false;   // ack and window are a received segment's
  bool reset = false;  // the peer's RST: nothing more is sent
  Answer answer = Answer::kNone;
  std::uint16_t payload = 0;  // of the segment: a pure ACK has none
  std::uint8_t flags = 0;     // of the segment
  bool ce = false;            // its packet met congestion (RFC 3168 section 5)
  bool timestamps = false;
  wire::TcpTimestamps stamps;
  std::uint32_t seq = 0;
  wire::SackBlock kept;  // the run of octets after a hole to which the segment now belongs; empty: none
  std::uint8_t sack_blocks = 0;
  std::array<wire::SackBlock, wire::TcpOptions::kMaxSackBlocks> sack;  // what the peer holds
  std::uint32_t ack = 0;
  std::uint32_t window = 0;    // octets
  std::uint16_t path_mtu = 0;  // not 0: a router could not forward the packet with `seq`, and there is no other
                               // information
  std::uint32_t rcv_nxt = 0;   // next octet expected
  std::uint32_t rcv_edge = 0;  // first octet there is no room for

  static constexpr const char* kMessage = "tcp_rx_feedback";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("flow", m.flow);
    v("acks", 1, m.acks);
    v("reset", 1, m.reset);
    v("answer", 2, m.answer);
    v("payload", 16, m.payload);
    v("flags", 8, m.flags);
    v("ce", 1, m.ce);
    v("timestamps", 1, m.timestamps);
    v("stamps", m.stamps);
    v("seq", 32, m.seq);
    v("kept", m.kept);
    v("sack_blocks", 8, m.sack_blocks);
    v.each("sack", m.sack);
    v("ack", 32, m.ack);
    v("window", 32, m.window);
    v("path_mtu", 16, m.path_mtu);
    v("rcv_nxt", 32, m.rcv_nxt);
    v("rcv_edge", 32, m.rcv_edge);
  }
};

}  // namespace rnic::tcp
