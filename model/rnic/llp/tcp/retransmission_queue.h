// A flow's segments that the peer has not acknowledged, with the state of each: the scoreboard of RFC 6675 as flags,
// and sums of octets in place of its searches.
#pragma once

#include <cstdint>

#include "model/common/buffer.h"
#include "model/rnic/llp/slot_pool.h"
#include "model/wire/tcp.h"

namespace rnic::tcp {

// SYN and FIN take one sequence number and no buffer.
struct QueuedSegment {
  BufferRef buf;
  std::uint32_t payload_at = 0;  // offset in the buffer; the headers are in front
  std::uint32_t seq = 0;
  std::uint32_t next = llp::kNil;
  std::uint16_t payload_bytes = 0;
  std::uint8_t flags = 0;
  bool completes_wqe : 1;
  bool held : 1;    // by the peer, as reported by SACK
  bool lost : 1;    // and not retransmitted yet
  bool resent : 1;  // since it was lost
  QueuedSegment() : completes_wqe(false), held(false), lost(false), resent(false) {}
  std::uint32_t length() const {
    return payload_bytes + ((flags & (wire::TcpHeader::kSyn | wire::TcpHeader::kFin)) != 0);
  }
  std::uint32_t end() const { return seq + length(); }
};

// The records are in a pool, an argument of every call. Slots are indices of the pool; kNil is none.
class RetransmissionQueue {
 public:
  using Pool = llp::SlotPool<QueuedSegment>;

  bool empty() const { return list_.empty(); }
  std::uint32_t head() const { return list_.head; }
  std::uint32_t tail() const { return list_.tail; }
  // The first that was never sent.
  std::uint32_t unsent() const { return unsent_; }
  // Octets of segments that are lost and not retransmitted yet.
  std::uint32_t lost() const { return lost_; }
  // Octets that the peer is known to hold though it could not acknowledge them.
  std::uint32_t held_by_peer() const { return held_; }

  std::uint32_t append(Pool& pool, QueuedSegment&& segment);
  struct Kept {
    std::uint32_t octets = 0, segments = 0;
  };
  // Returns what was in it.
  Kept clear(Pool& pool);
  // The same of a queue that is lost, from the head() that it had.
  static Kept give_back(Pool& pool, std::uint32_t head);
  // Removes the first one.
  void drop_front(Pool& pool);
  // The first lost one; lost() is not 0.
  std::uint32_t next_lost(const Pool& pool);
  // It was sent, for the first time or again.
  void sent(Pool& pool, std::uint32_t slot);

  // SACK: segments that are completely in the block. Returns the newly reported octets.
  std::uint32_t mark_held(Pool& pool, const wire::SackBlock& block);
  // Segments below that many held runs, or below more than `octets` of held octets, are lost, unless they were already
  // retransmitted: RFC 6675's IsLost. True if the first segment is among them.
  bool mark_lost_below_held(Pool& pool, std::uint32_t runs, std::uint32_t octets);
  // Unless it was already retransmitted, or the peer holds it. True if it is lost now.
  bool mark_head_lost(Pool& pool);
  // After a timeout: everything sent, whatever SACK reported, for the peer may have dropped it (RFC 2018 section 8).
  void mark_all_lost(Pool& pool);

  // A segment that cannot arrive any more: it is retransmitted, even if it was already.
  void mark_dropped(Pool& pool, std::uint32_t slot);
  // Leaves `bytes` of payload in a segment; the rest, whose octets are in `buf` at `payload_at`, follows it with the
  // state of the whole. Returns the rest.
  std::uint32_t split(Pool& pool, std::uint32_t slot, std::uint16_t bytes, BufferRef buf, std::uint32_t payload_at);

  // Without SACK each duplicate ACK means that a segment arrived (RFC 5681 section 3.2, which inflates the window).
  void count_held(std::uint32_t bytes) { held_ += bytes; }
  void deflate(std::uint32_t bytes) { held_ -= bytes < held_ ? bytes : held_; }

  static constexpr const char* kMessage = "retransmission_queue";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("head", 24, m.list_.head);
    v("tail", 24, m.list_.tail);
    v("unsent", 24, m.unsent_);
    v("lost_from", 24, m.lost_from_);
    v("lost", 32, m.lost_);
    v("held", 32, m.held_);
  }

 private:
  void mark_lost(QueuedSegment& segment);

  llp::SlotList list_;
  std::uint32_t unsent_ = llp::kNil;
  std::uint32_t lost_from_ = llp::kNil;  // none before this one is lost
  std::uint32_t lost_ = 0, held_ = 0;    // octets
};

}  // namespace rnic::tcp
