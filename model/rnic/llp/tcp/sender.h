// The sending half of a connection (RFC 9293 section 3.8): combines the policies of a flow. It has no port, queue or
// clock: every call returns what its owner has to do, and timeout() when to call again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "model/rnic/llp/tcp/congestion_window.h"
#include "model/rnic/llp/tcp/loss_recovery.h"
#include "model/rnic/llp/tcp/path_mtu.h"
#include "model/rnic/llp/tcp/retransmission_timer.h"
#include "model/rnic/llp/tcp/send_window.h"
#include "model/rnic/messages/tcp_offload.h"
#include "model/wire/fpdu.h"

namespace rnic::tcp {

// MULPDU never goes below 128, whatever the peer's MSS (RFC 5044 section 4.5): such an FPDU is cut.
inline constexpr std::uint32_t kSmallestMulpduFpdu = wire::fpdu_bytes(wire::kMinMulpdu) + wire::kMarkerBytes;

// Shared by the senders of a chip. Copies of payload go to blocks of `buffers`, after kFrameHeadroom octets.
struct SenderResources {
  SenderResources(const TcpConfig& config, std::uint64_t period_ps, BufferPool& buffers);

  const RetransmissionTimerSettings timer;
  const unsigned initial_window;  // segments
  const std::uint32_t path_mtu_min;
  const std::uint64_t period_ps;
  const std::unique_ptr<const llp::CongestionControl> algorithm;
  LossRecovery::Pool segments;
  BufferPool& buffers;
};

class Sender {
 public:
  Sender()
      : established_(false),
        rdma_(false),
        finished_(false),
        scaling_(false),
        sack_(false),
        timestamps_(false),
        overdue_(false),
        holds_back_(false) {}

  // ---- The life of a connection

  // Queues SYN, or SYN and ACK if the peer's SYN came first.
  void open(SenderResources& r, std::uint32_t iss, bool with_ack, const Agreed& agreed, std::uint32_t peer_window,
            std::uint32_t peer_iss);
  // The peer's SYN and ACK arrived.
  LossRecovery::Acked establish(SenderResources& r, const Agreed& agreed, std::uint32_t ack, std::uint32_t peer_window,
                                std::uint32_t peer_iss, Cycle now);
  // From now on there are FPDUs, and credit for them.
  void enter_rdma();
  void set_limits(abi::TcpLimits limits) { timer_.set_limits(limits); }
  void queue_fin(SenderResources& r);
  // FIN is queued, and nothing follows it.
  void finish() { finished_ = true; }
  // Returns what it kept.
  RetransmissionQueue::Kept clear(SenderResources& r) { return loss_.clear(r.segments); }
  std::uint32_t kept_head() const { return loss_.head(); }  // of its segments, in their pool

  bool rdma() const { return rdma_; }
  bool finished() const { return finished_; }
  // What the SYN offers, or accepts; timestamps are in AckPolicy.
  void write_syn_options(const TcpConfig& config, wire::TcpOptions& options) const {
    options.mss = config.announced_mss();
    if (scaling_) options.window_scale = config.window_scale();
    options.sack_permitted = sack_;
  }
  bool ecn() const { return congestion_.ecn(); }
  std::uint16_t mss() const { return path_.mss(); }
  // The longest FPDU: some are longer than mss() if the path MTU shrank, or was too small for any MULPDU.
  std::uint32_t largest_fpdu() const { return std::max(std::uint32_t{path_.emss()}, kSmallestMulpduFpdu); }
  std::uint32_t snd_una() const { return loss_.snd_una(); }
  std::uint32_t snd_nxt() const { return loss_.snd_nxt(); }
  std::uint32_t snd_end() const { return loss_.snd_end(); }
  std::uint32_t congestion_window() const { return congestion_.octets(); }
  std::uint32_t slow_start_threshold() const { return congestion_.ssthresh(); }
  std::uint32_t peer_window() const { return window_.advertised(); }
  // From the detection of a loss until everything in flight at that time is acknowledged.
  bool recovering() const { return loss_.recovering(); }
  bool recovering_fast() const { return loss_.recovering_fast(); }

  // ---- What to send

  // An FPDU; `cuts` if it is too long for the path. Returns the slot of its first segment.
  std::uint32_t queue_fpdu(SenderResources& r, QueuedSegment&& fpdu, std::uint32_t& cuts);
  // Returns the number of segments.
  std::uint32_t queue_stream(SenderResources& r, const std::uint8_t* data, std::uint32_t bytes);
  // The segment that may be sent now; kNil: none.
  std::uint32_t next_to_send(const SenderResources& r) {
    return loss_.next_to_send(r.segments, congestion_.octets(), holds_back_ ? loss_.snd_nxt() : window_.edge());
  }
  struct Departure {
    bool again = false;           // it was sent before,
    Resend resend = Resend::kNo;  // and why again
    bool idle_restart = false;    // the flow was idle, and its congestion window fell
    bool ect = false, cwr = false;
  };
  Departure send(SenderResources& r, std::uint32_t slot, Cycle now);
  // Octets that may be granted to the segmenter: they fit both windows. What the peer holds out of order makes room.
  // The congestion window counts as at least one FPDU; to send a piece of an FPDU, the whole is needed.
  std::uint32_t grantable() const {
    if (!rdma_) return 0;
    const std::uint32_t cwnd = std::max(congestion_.octets(), largest_fpdu());
    const std::uint32_t octets = window_.credit(loss_.snd_una() + loss_.held_by_peer() + cwnd);
    const bool piece = !loss_.has_unsent() && sends_piece_of(largest_fpdu());
    return piece ? std::max(octets, window_.missing(loss_.snd_end() + largest_fpdu())) : octets;
  }
  // Cuts off a piece of what waits for the peer's window, if it is to be sent. Returns the number of cuts.
  std::uint32_t fit_to_window(SenderResources& r) {
    const std::uint32_t bytes = loss_.next_bytes(r.segments);
    if (bytes == 0 || !sends_piece_of(bytes)) return 0;
    loss_.cut_next(r.segments, window_.usable(loss_.snd_nxt()), r.buffers);
    return 1;
  }
  void grant(std::uint32_t octets) { window_.grant(octets); }

  // ---- Input from the peer and from routers

  struct AckOutcome {
    bool old = false;  // it is not used
    bool restart_timer = false;
    bool duplicate = false, loss = false, echo = false;
    std::uint32_t sacked = 0;  // octets
    LossRecovery::Acked acked;
  };
  // Acknowledgements of octets that were never sent do not come here: receiver.h.
  AckOutcome on_ack(SenderResources& r, const RxFeedback& fb, Cycle now);
  // False: the report is ignored.
  bool on_path_mtu(SenderResources& r, const RxFeedback& fb, std::uint32_t& cuts);

  // ---- The timer

  // From now; kNever: it is off.
  Cycle timeout(const SenderResources& r) const { return timer_.length(r.timer, awaits(r)); }
  // The first queued segment may wait for a window, or end the silence of an idle flow.
  bool idle() const { return loss_.flight() == 0; }
  // An idle peer is probed for a sign of life.
  bool keeps_alive(const SenderResources& r) const {
    return established_ && !finished_ && timer_.keepalive(r.timer) != 0;
  }
  enum class Expiry : std::uint8_t { kGaveUp, kResend, kGoOn, kPiece, kProbe, kKeepalive };
  // kGoOn: held-back data goes. kPiece: data that waits for the window goes as far as it fits. For the last two, the
  // peer must be probed by a segment that it does not accept.
  Expiry on_timeout(SenderResources& r);

  static constexpr const char* kMessage = "tcp_sender";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("loss", m.loss_);
    v("congestion", m.congestion_);
    v("window", m.window_);
    v("path", m.path_);
    visit_bits(v, "established", 1, bool{m.established_}, m, [](auto& of, bool value) { of.established_ = value; });
    visit_bits(v, "rdma", 1, bool{m.rdma_}, m, [](auto& of, bool value) { of.rdma_ = value; });
    visit_bits(v, "finished", 1, bool{m.finished_}, m, [](auto& of, bool value) { of.finished_ = value; });
    visit_bits(v, "scaling", 1, bool{m.scaling_}, m, [](auto& of, bool value) { of.scaling_ = value; });
    visit_bits(v, "sack", 1, bool{m.sack_}, m, [](auto& of, bool value) { of.sack_ = value; });
    visit_bits(v, "timestamps", 1, bool{m.timestamps_}, m, [](auto& of, bool value) { of.timestamps_ = value; });
    visit_bits(v, "overdue", 1, bool{m.overdue_}, m, [](auto& of, bool value) { of.overdue_ = value; });
    visit_bits(v, "holds_back", 1, bool{m.holds_back_}, m, [](auto& of, bool value) { of.holds_back_ = value; });
    v("timer", m.timer_);
  }

 private:
  void agree(SenderResources& r, const Agreed& agreed, unsigned segments);
  void on_new_ack(SenderResources& r, const RxFeedback& fb, bool ece, Cycle now, AckOutcome& out);
  LossRecovery::Acked acknowledge(SenderResources& r, const RxFeedback& fb, Cycle now);
  // What limited transmit sent beyond the congestion window does not count (RFC 5681 section 3.2, step 2).
  void reduce(SenderResources& r) {
    const std::uint32_t allowed = std::max(loss_.flight_before_duplicates(), congestion_.octets());
    congestion_.on_loss(*r.algorithm, std::min(loss_.flight(), allowed), loss_.snd_una(), loss_.snd_nxt());
  }
  // Nothing is in flight, and an FPDU or the queued data may not fit: only the peer can help, and its update may be
  // lost.
  bool window_short() const {
    return (loss_.has_unsent() || (rdma_ && !finished_)) && !window_.holds(loss_.snd_nxt(), path_.mss());
  }
  // The sender's silly window avoidance, with its override (RFC 9293 section 3.8.6.2.1): whether, of that many octets,
  // which exceed the window, the part that fits is sent.
  bool sends_piece_of(std::uint32_t octets) const {
    const std::uint32_t usable = window_.usable(loss_.snd_nxt());
    return loss_.flight() == 0 && usable < octets && (window_.worth_sending(usable) || (overdue_ && usable != 0));
  }
  RetransmissionTimer::Awaits awaits(const SenderResources& r) const {
    if (loss_.flight() != 0 || holds_back_) return RetransmissionTimer::Awaits::kAck;
    if (window_short()) return RetransmissionTimer::Awaits::kWindow;
    return keeps_alive(r) ? RetransmissionTimer::Awaits::kSign : RetransmissionTimer::Awaits::kNothing;
  }

  LossRecovery loss_;
  CongestionWindow congestion_;
  SendWindow window_;
  PathMtu path_;
  bool established_ : 1, rdma_ : 1, finished_ : 1;
  bool scaling_ : 1, sack_ : 1, timestamps_ : 1;
  bool overdue_ : 1;     // the timer expired while the window was short
  bool holds_back_ : 1;  // a mark was echoed at a window of one segment: new data waits for the timer
  RetransmissionTimer timer_;
};

}  // namespace rnic::tcp
