// What a flow has sent and not seen acknowledged: which segments are lost, when a recovery begins and ends, and which
// segment is sent next (RFC 9293 section 3.3.1, RFC 5681, 6582, 6675, 6298 section 5). How much may be in flight is
// decided in congestion_window.h.
#pragma once

#include <cstdint>

#include "model/common/trace_event.h"
#include "model/rnic/llp/tcp/retransmission_queue.h"

namespace rnic::tcp {

class LossRecovery {
 public:
  using Pool = RetransmissionQueue::Pool;

  void start(std::uint32_t iss);
  void use_sack(bool sack) { sack_ = sack; }

  std::uint32_t snd_una() const { return snd_una_; }
  std::uint32_t snd_nxt() const { return snd_nxt_; }
  // After the last queued octet.
  std::uint32_t snd_end() const { return snd_end_; }
  std::uint32_t flight() const { return snd_nxt_ - snd_una_; }
  // The same at the time of the first duplicate ACK.
  std::uint32_t flight_before_duplicates() const {
    return (duplicate_acks_ == 0 ? snd_nxt_ : before_duplicates_) - snd_una_;
  }
  bool in_flight(std::uint32_t seq) const { return !wire::seq_lt(seq, snd_una_) && wire::seq_lt(seq, snd_nxt_); }
  bool has_unsent() const { return queue_.unsent() != llp::kNil; }
  bool recovering() const { return recovery_ != Recovery::kNone; }
  bool recovering_fast() const { return recovery_ == Recovery::kFast; }
  // Octets in the network (RFC 6675 section 4): sent, neither held by the peer nor lost.
  std::uint32_t pipe() const;
  // Octets that the peer holds out of order. They make room for new ones, which keep the ACKs coming.
  std::uint32_t held_by_peer() const { return queue_.held_by_peer(); }

  // Appends a segment at the next sequence number. Returns its slot.
  std::uint32_t append(Pool& pool, QueuedSegment&& segment);
  // Returns what it kept.
  RetransmissionQueue::Kept clear(Pool& pool) { return queue_.clear(pool); }
  std::uint32_t head() const { return queue_.head(); }

  // The segment that may be sent next, within a congestion window of `cwnd` octets and the peer's window, which ends at
  // `edge`; kNil if there is none.
  std::uint32_t next_to_send(const Pool& pool, std::uint32_t cwnd, std::uint32_t edge);
  // It is sent. True if it was sent before.
  bool sent(Pool& pool, std::uint32_t slot);
  // Why one is sent that was sent before: the recovery under way, or, outside of one, a path that has become narrower.
  Resend why_again() const {
    if (recovery_ == Recovery::kTimeout) return Resend::kTimeout;
    return recovery_ == Recovery::kFast ? Resend::kFast : Resend::kPathMtu;
  }

  // What an ACK of new octets removed from the queue.
  struct Acked {
    std::uint32_t wqes = 0;
    std::uint32_t octets = 0, segments = 0;  // of whole segments: their room is free
    bool syn = false, fin = false;
  };
  Acked acknowledge(Pool& pool, std::uint32_t ack);
  // After acknowledge(), with `bytes` new octets. True if the congestion window may grow: outside of fast recovery.
  bool on_new_ack(Pool& pool, std::uint32_t bytes, std::uint32_t mss);

  // The newly reported octets in `count` SACK blocks of an ACK. Blocks of data that was never sent, or is already
  // acknowledged, are ignored.
  std::uint32_t on_sack(Pool& pool, std::uint32_t ack, const wire::SackBlock* blocks, unsigned count);
  // Of these two: true if fast recovery begins.
  bool on_duplicate_ack(Pool& pool, std::uint32_t mss);
  // After SACK reported new octets.
  bool find_losses(Pool& pool, std::uint32_t mss);

  // The retransmission timer expired: all unacknowledged data is retransmitted (RFC 6298 section 5.4 to 5.7).
  void on_timeout(Pool& pool);

  // The path takes only segments of `mss` octets: longer ones are cut, and those already sent are retransmitted, at
  // once and without a recovery, for this is no sign of congestion (RFC 1191 section 6.5). Pieces are copied to blocks
  // of `buffers`. Returns the number of cuts.
  std::uint32_t fit_to(Pool& pool, std::uint32_t mss, BufferPool& buffers);
  // The same for the last segment of the queue, which was not sent.
  std::uint32_t fit_last_to(Pool& pool, std::uint32_t mss, BufferPool& buffers);
  // The octets in the next segment that was never sent; 0 if there is none.
  std::uint32_t next_bytes(const Pool& pool) const { return has_unsent() ? pool[queue_.unsent()].payload_bytes : 0; }
  // Leaves only that many in the first segment.
  void cut_next(Pool& pool, std::uint32_t bytes, BufferPool& buffers) { split(pool, queue_.unsent(), bytes, buffers); }

  static constexpr const char* kMessage = "loss_recovery";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("queue", m.queue_);
    v("snd_una", 32, m.snd_una_);
    v("snd_nxt", 32, m.snd_nxt_);
    v("snd_end", 32, m.snd_end_);
    v("recover", 32, m.recover_);
    v("before_duplicates", 32, m.before_duplicates_);
    v("duplicate_acks", 8, m.duplicate_acks_);
    v("recovery", 2, m.recovery_);
    v("resend_now", 1, m.resend_now_);
    v("sack", 1, m.sack_);
  }

 private:
  enum class Recovery : std::uint8_t { kNone, kFast, kTimeout };  // until recover_ is acknowledged
  bool fits(const QueuedSegment& segment, std::uint32_t cwnd) const;
  void enter_fast_recovery(Pool& pool);
  std::uint32_t cut(Pool& pool, std::uint32_t slot, std::uint32_t mss, BufferPool& buffers);
  std::uint32_t split(Pool& pool, std::uint32_t slot, std::uint32_t bytes, BufferPool& buffers);

  RetransmissionQueue queue_;
  std::uint32_t snd_una_ = 0, snd_nxt_ = 0, snd_end_ = 0;
  std::uint32_t recover_ = 0;            // snd_nxt when the last loss was detected (RFC 6582)
  std::uint32_t before_duplicates_ = 0;  // snd_nxt when the first duplicate ACK came
  std::uint8_t duplicate_acks_ = 0;
  Recovery recovery_ = Recovery::kNone;
  bool resend_now_ = false;  // regardless of the congestion window
  bool sack_ = false;
};

// ---- Every segment and every ACK

inline std::uint32_t LossRecovery::pipe() const {
  const std::uint32_t gone = queue_.lost() + queue_.held_by_peer();
  return flight() > gone ? flight() - gone : 0;
}

// One segment may always be in flight.
inline bool LossRecovery::fits(const QueuedSegment& segment, std::uint32_t cwnd) const {
  const std::uint32_t in_network = pipe();
  return in_network == 0 || in_network + segment.length() <= cwnd;
}

// Lost segments go before new ones, regardless of the peer's window: they also probe it. New ones must fit the window,
// a FIN as an octet (RFC 9293 section 3.4).
inline std::uint32_t LossRecovery::next_to_send(const Pool& pool, std::uint32_t cwnd, std::uint32_t edge) {
  if (queue_.lost() != 0) {
    const std::uint32_t slot = queue_.next_lost(pool);
    return resend_now_ || fits(pool[slot], cwnd) ? slot : llp::kNil;
  }
  const std::uint32_t slot = queue_.unsent();
  if (slot == llp::kNil || !fits(pool[slot], cwnd)) return llp::kNil;
  return wire::seq_le(pool[slot].end(), edge) ? slot : llp::kNil;
}

}  // namespace rnic::tcp
