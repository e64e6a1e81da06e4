// The interface between the chip and the SCTP association engine: operations and events of the firmware, and packets. A
// flow is a DDP stream, a pair of SCTP streams with the same id (RFC 5043 section 4), and its life is one session
// there: the next life begins after kRestart, or when the association is gone. Only the engine handles associations: it
// opens one for the first stream to a peer's port, and shuts it down after the last session.
#pragma once

#include <cstdint>

#include "model/common/buffer.h"
#include "model/common/cycle.h"
#include "model/common/ids.h"
#include "model/common/value_words.h"
#include "model/rnic/messages/tcp.h"
#include "model/wire/ethernet.h"

namespace rnic {

// kBegin to kRestart are the DdpStreams calls of the same names (llp/sctp/ddp_streams.h).
struct SctpOp {
  enum class Kind : std::uint8_t {
    kListen,    // port
    kUnlisten,  // port; associations stay
    kConnect,   // peer_ip, peer_port, local port (0: any), cookie: a stream, on the association that is there or a new
                // one
    kSend,      // flow, data, bytes: a control message
    kBegin,     // flow: an Initiate is to be sent
    kOpen,      // flow: segments are placed from now on
    kDiscard,   // flow: segments are dropped from now on
    kEndRun,    // flow: nothing more of this session will arrive
    kRestart,   // flow: the session is over; the flow's number is free
    kGiveBack,  // flow: the stream of kConnected is not needed any more. It is free, unless the peer has begun
                // something there
    kAbandon,   // flow: the peer does not end the session. The stream is unusable until the association ends, which is
                // aborted if it has no other session
    kAbort      // flow: ABORT; its association, and all sessions on it, are gone without a further event
  };
  friend const ValueWords& value_words(Kind) {
    static const ValueWords kWords{"listen",  "unlisten", "connect", "send",      "begin",   "open",
                                   "discard", "end_run",  "restart", "give_back", "abandon", "abort"};
    return kWords;
  }
  Kind kind = Kind::kListen;
  FlowId flow;
  std::uint16_t life = 0;  // of the flow: an operation for an earlier life has no effect
  std::uint32_t peer_ip = 0;
  std::uint16_t peer_port = 0, port = 0;
  std::uint32_t cookie = 0;
  std::uint32_t bytes = 0;
  BufferRef data;  // kSend: `bytes` octets from its start, without the DDP-SSN

  static constexpr const char* kMessage = "sctp_op";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("kind", 4, m.kind);
    v("flow", m.flow);
    v("life", 16, m.life);
    v("peer_ip", 32, m.peer_ip);
    v("peer_port", 16, m.peer_port);
    v("port", 16, m.port);
    v("cookie", 32, m.cookie);
    v("bytes", 32, m.bytes);
  }
};

struct SctpEvent {
  enum class Kind : std::uint8_t {
    kConnected,     // flow, cookie, port, mulpdu: a stream is there; no session yet
    kOpenFailed,    // cookie, reason
    kControl,       // flow, peer_ip, peer_port, port, mulpdu, data, bytes: a control message, in order
    kAcked,         // flow: the peer's SCTP has acknowledged a control message
    kPeerClosed,    // flow: a session Terminate after all segments, of which no QP has heard
    kViolation,     // flow, terminate: a chunk that breaks a rule; terminate: a session Terminate does
    kStray,         // flow, terminate: a chunk without a session; terminate: it is a session Terminate
    kLost,          // flow: its association is gone
    kMulpduChanged  // flow, mulpdu: the path MTU became smaller
  };
  friend const ValueWords& value_words(Kind) {
    static const ValueWords kWords{"connected", "open_failed", "control", "acked",         "peer_closed",
                                   "violation", "stray",       "lost",    "mulpdu_changed"};
    return kWords;
  }
  Kind kind = Kind::kConnected;
  TcpEvent::Reason reason = TcpEvent::Reason::kNone;
  bool terminate = false;
  FlowId flow;
  std::uint16_t life = 0;  // of the flow when it happened
  std::uint32_t peer_ip = 0;
  std::uint16_t peer_port = 0, port = 0;
  std::uint32_t cookie = 0;
  std::uint16_t mulpdu = 0;  // octets of a DDP segment that fits one packet
  Cycle init_at = 0;         // kConnected, kControl: when the stream was requested, or the message arrived
  std::uint32_t bytes = 0;
  BufferRef data;  // kControl: function code and private data, without the DDP-SSN

  static constexpr const char* kMessage = "sctp_event";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("kind", 4, m.kind);
    v("reason", 2, m.reason);
    v("terminate", 1, m.terminate);
    v("flow", m.flow);
    v("life", 16, m.life);
    v("peer_ip", 32, m.peer_ip);
    v("peer_port", 16, m.peer_port);
    v("port", 16, m.port);
    v("cookie", 32, m.cookie);
    v("mulpdu", 16, m.mulpdu);
    v("init_at", 64, m.init_at);
    v("bytes", 32, m.bytes);
  }
};

// An SCTP packet, from its common header on, on its way between the engine and the stages that check and seal packets:
// `bytes` octets at `offset`, with room before it for the headers of IPv4 and Ethernet, and after it for a word.
struct SctpPacket {
  BufferRef buf;
  std::uint32_t offset = 0;
  std::uint16_t bytes = 0;
  std::uint32_t peer_ip = 0;
  wire::MacAddress peer_mac;
  bool again = false;         // transmit: chunks of it were sent before; on no pins
  bool may_fragment = false;  // transmit: longer than its path MTU, so that IP has to cut it
  // Receive, not 0: no packet, but a router's report about one that was sent to peer_ip; the octets are those that it
  // quotes, ports and tag. 1: it does not report an MTU.
  std::uint16_t path_mtu = 0;

  std::uint8_t* data() const { return buf->bytes() + offset; }

  static constexpr const char* kMessage = "sctp_packet";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("bytes", 16, m.bytes);
    v("peer_ip", 32, m.peer_ip);
    v("may_fragment", 1, m.may_fragment);
    v("path_mtu", 16, m.path_mtu);
  }
};

}  // namespace rnic
