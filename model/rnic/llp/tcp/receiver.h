// The receiving half of a connection: decides how each segment is handled (RFC 9293 section 3.10.7.4, with RFC 5961's
// answers to RST and SYN). It has no port, queue or clock: its owner carries out its decisions.
#pragma once

#include <cstdint>

#include "model/rnic/llp/tcp/ack_range.h"
#include "model/rnic/llp/tcp/paws.h"
#include "model/rnic/llp/tcp/reassembly_queue.h"
#include "model/rnic/llp/tcp/receive_window.h"
#include "model/rnic/llp/tcp/segment.h"
#include "model/rnic/messages/tcp_offload.h"

namespace rnic::tcp {

class Receiver {
 public:
  using Answer = RxFeedback::Answer;

  Receiver() : state_(State::kFree), passive_(false), timestamps_(false), finished_(false), syn_acked_(false) {}

  // ---- The life of a connection. Until the peer's SYN has arrived, segments go to tcp_connection.

  void await_syn() { state_ = State::kAwaitsSyn; }
  // For kOpen, with a receive window of that many octets.
  void open(const RxCommand& c, std::uint32_t window, const PawsTime& time);
  bool in_use() const { return state_ != State::kFree; }
  bool is_open() const { return state_ >= State::kSynReceived; }
  // Whether the peer had acknowledged our SYN when it reset the connection.
  bool syn_acked() const { return syn_acked_; }
  // The peer's FIN arrived, and all octets before it.
  bool finished() const { return finished_; }
  void clear(ReassemblyMemory& m) { queue_.clear(m); }
  std::uint32_t kept_head() const { return queue_.head(); }  // of the octets out of order, in their pool

  // ---- Segments

  enum class Verdict : std::uint8_t {
    kAcceptable,    // its ACK and window are valid, and its octets if they are new and in the window
    kReset,         // RST at RCV.NXT, or a SYN in the window in a passive SYN-RECEIVED: the connection is over
    kBadReset,      // RST elsewhere: challenged in the window, otherwise ignored (RFC 5961 section 3)
    kBadSyn,        // challenged (RFC 5961 section 4)
    kOutside,       // outside of the window: only acknowledged
    kNoAck,         // ignored
    kBadAck,        // of data never sent, or older than any window: challenged (RFC 5961 section 5)
    kRefused,       // an ACK that does not cover our SYN, in SYN-RECEIVED: answered with RST
    kNoTimestamp,   // ignored, as timestamps were agreed on (RFC 7323 section 3.2)
    kOldTimestamp,  // only acknowledged (RFC 7323 section 5.3)
  };
  struct Arrival {
    Verdict verdict = Verdict::kAcceptable;
    bool for_sender = true;  // passed on to the sending half
    bool acks = false;       // its ACK and window are valid
    Answer answer = Answer::kNone;
    bool duplicate = false;  // octets that were all received before, or follow a FIN
    bool trimmed = false, beyond_window = false, out_of_order = false;
    bool dropped = false;    // octets out of order that did not fit
    bool fills_gap = false;  // kept octets, or a FIN, may be in order now: take_next()
    bool fin = false;        // FIN, in order or repeated
    ByteSpan in_order;
    std::uint32_t in_order_seq = 0;  // of its first octet: the former RCV.NXT
    // Octets out of order that became one piece of the queue, which may be offered to early_placement: their distance
    // from in_order_seq.
    ByteSpan offered;
    std::uint32_t offered_distance = 0;
    wire::SackBlock kept;  // the run to which the octets out of order now belong
  };
  Arrival on_segment(ReassemblyMemory& m, const ReceivedSegment& s, const BufferRef& buf, std::uint32_t snd_nxt,
                     const PawsTime& time);
  // Kept octets that are in order now; false: no more.
  bool take_next(ReassemblyMemory& m, llp::ReceivedOctets& octets);
  // Only the header of an FPDU out of order has to stay.
  bool replace(ReassemblyMemory& m, std::uint32_t seq, std::uint32_t bytes, BufferRef header,
               std::uint32_t header_bytes) {
    return queue_.replace(m, seq, bytes, std::move(header), header_bytes);
  }

  // ---- The window, and reports to the sending half

  std::uint32_t rcv_nxt() const { return window_.rcv_nxt(); }
  // Octets advertised to the peer.
  std::uint32_t receive_window() const { return window_.edge() - window_.rcv_nxt(); }
  bool give_room(std::uint32_t bytes, std::uint32_t step) { return window_.give_room(bytes, step); }
  bool window_reported() const { return window_.reported(); }
  // After a segment.
  RxFeedback feedback(FlowId flow, const ReceivedSegment& s, const Arrival& a);
  // After the window opened.
  RxFeedback window_update(FlowId flow);

  static constexpr const char* kMessage = "receiver";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("window", m.window_);
    v("queue", m.queue_);
    v("acks", m.acks_);
    v("paws", m.paws_);
    v("state", 3, m.state_);
    v("peer_scale", 4, m.peer_scale_);
    visit_bits(v, "passive", 1, bool{m.passive_}, m, [](auto& of, bool value) { of.passive_ = value; });
    visit_bits(v, "timestamps", 1, bool{m.timestamps_}, m, [](auto& of, bool value) { of.timestamps_ = value; });
    visit_bits(v, "finished", 1, bool{m.finished_}, m, [](auto& of, bool value) { of.finished_ = value; });
    visit_bits(v, "syn_acked", 1, bool{m.syn_acked_}, m, [](auto& of, bool value) { of.syn_acked_ = value; });
  }

 private:
  enum class State : std::uint8_t { kFree, kAwaitsSyn, kReset, kSynReceived, kOpen };

  void on_reset(std::uint32_t seq, Arrival& a);
  // Nothing more is accepted.
  void reset(Arrival& a);
  void on_syn(const ReceivedSegment& s, std::uint32_t snd_nxt, Arrival& a);
  Verdict judge(const ReceivedSegment& s, std::uint32_t length, std::uint32_t snd_nxt, const PawsTime& time) const;
  std::uint32_t window_in(const wire::TcpHeader& h) const {
    return std::uint32_t{h.window} << (h.has(wire::TcpHeader::kSyn) ? 0 : peer_scale_);
  }
  void accept(ReassemblyMemory& m, const ReceivedSegment& s, const BufferRef& buf, Arrival& a);
  void keep(ReassemblyMemory& m, const BufferRef& buf, std::uint32_t seq, ByteSpan octets, bool fin, Arrival& a);
  void take_fin(ReassemblyMemory& m);

  ReceiveWindow window_;
  ReassemblyQueue queue_;
  AckRange acks_;
  Paws paws_;
  State state_;
  std::uint8_t peer_scale_ = 0;
  bool passive_ : 1, timestamps_ : 1, finished_ : 1;
  bool syn_acked_ : 1;  // before the RST
};

// ---- Every segment

inline RxFeedback Receiver::window_update(FlowId flow) {
  RxFeedback fb;
  fb.flow = flow;
  fb.rcv_nxt = window_.rcv_nxt();
  fb.rcv_edge = window_.report();
  return fb;
}

inline RxFeedback Receiver::feedback(FlowId flow, const ReceivedSegment& s, const Arrival& a) {
  const wire::TcpHeader& h = s.header;
  RxFeedback fb = window_update(flow);
  fb.acks = a.acks;
  fb.reset = a.verdict == Verdict::kReset;
  fb.answer = a.answer;
  fb.payload = static_cast<std::uint16_t>(s.payload.size());
  fb.flags = h.flags;
  fb.ce = s.ecn == wire::kCongestionExperienced;
  fb.timestamps = a.verdict == Verdict::kAcceptable && h.options.timestamps.has_value();
  fb.stamps = h.options.timestamps.value_or(wire::TcpTimestamps{});
  fb.seq = h.seq;
  fb.kept = a.kept;
  fb.sack_blocks = static_cast<std::uint8_t>(h.options.sack_blocks);
  fb.sack = h.options.sack;
  fb.ack = h.ack;
  fb.window = window_in(h);
  return fb;
}

}  // namespace rnic::tcp
