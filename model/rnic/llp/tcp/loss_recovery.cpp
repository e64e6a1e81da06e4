#include "model/rnic/llp/tcp/loss_recovery.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "model/rnic/messages/datapath.h"

namespace rnic::tcp {

using wire::seq_ge;
using wire::seq_gt;
using wire::seq_le;
using wire::seq_lt;
using wire::TcpHeader;

namespace {

constexpr std::uint8_t kDuplicateAcks = 3;  // RFC 5681's DupThresh

}  // namespace

void LossRecovery::start(std::uint32_t iss) { snd_una_ = snd_nxt_ = snd_end_ = recover_ = iss; }

std::uint32_t LossRecovery::append(Pool& pool, QueuedSegment&& segment) {
  segment.seq = snd_end_;
  snd_end_ = segment.end();
  return queue_.append(pool, std::move(segment));
}

bool LossRecovery::sent(Pool& pool, std::uint32_t slot) {
  queue_.sent(pool, slot);
  const bool again = seq_lt(pool[slot].seq, snd_nxt_);
  if (again) resend_now_ = false;
  else snd_nxt_ = pool[slot].end();
  return again;
}

LossRecovery::Acked LossRecovery::acknowledge(Pool& pool, std::uint32_t ack) {
  Acked acked;
  while (!queue_.empty() && seq_le(pool[queue_.head()].end(), ack)) {
    const QueuedSegment& s = pool[queue_.head()];
    acked.wqes += s.completes_wqe;
    acked.octets += s.payload_bytes;
    ++acked.segments;
    acked.syn |= (s.flags & TcpHeader::kSyn) != 0;
    acked.fin |= (s.flags & TcpHeader::kFin) != 0;
    queue_.drop_front(pool);
  }
  snd_una_ = ack;
  return acked;
}

// RFC 6582 section 3.2 step 3: the ACK ends a recovery, or reveals the next lost segment.
bool LossRecovery::on_new_ack(Pool& pool, std::uint32_t bytes, std::uint32_t mss) {
  duplicate_acks_ = 0;
  const bool was_fast = recovery_ == Recovery::kFast;
  if (recovering() && seq_ge(snd_una_, recover_)) {
    recovery_ = Recovery::kNone;
    resend_now_ = false;
  }
  // An older loss belongs to another window, however far the sequence numbers go.
  if (!recovering() && seq_gt(snd_una_, recover_)) recover_ = snd_una_ - 1;
  if (recovery_ == Recovery::kFast) {
    if (!sack_) queue_.deflate(bytes > mss ? bytes - mss : 0);
    resend_now_ = queue_.mark_head_lost(pool);
  } else if (!sack_) {
    queue_.deflate(queue_.held_by_peer());
  }
  return !was_fast;
}

std::uint32_t LossRecovery::on_sack(Pool& pool, std::uint32_t ack, const wire::SackBlock* blocks, unsigned count) {
  std::uint32_t news = 0;
  for (const wire::SackBlock* block = blocks; block != blocks + count; ++block) {
    if (seq_gt(block->right, block->left) && seq_gt(block->left, ack) && seq_le(block->right, snd_nxt_)) {
      news += queue_.mark_held(pool, *block);
    }
  }
  return news;
}

bool LossRecovery::on_duplicate_ack(Pool& pool, std::uint32_t mss) {
  if (duplicate_acks_ == 0) before_duplicates_ = snd_nxt_;
  if (duplicate_acks_ < 0xff) ++duplicate_acks_;
  if (!sack_) queue_.count_held(mss);
  if (duplicate_acks_ != kDuplicateAcks || recovering()) return false;
  // Duplicate ACKs of what a timeout retransmitted do not show a loss (RFC 6582 section 3.2 step 2), unless SACK
  // reports new octets.
  if (!sack_ && !seq_gt(snd_una_, recover_)) return false;
  enter_fast_recovery(pool);
  return true;
}

// RFC 6675 section 5.
bool LossRecovery::find_losses(Pool& pool, std::uint32_t mss) {
  if (recovery_ == Recovery::kTimeout || snd_una_ == snd_nxt_) return false;
  const bool head_lost = queue_.mark_lost_below_held(pool, kDuplicateAcks, (kDuplicateAcks - 1) * mss);
  if (!head_lost || recovering()) return false;
  enter_fast_recovery(pool);
  return true;
}

void LossRecovery::enter_fast_recovery(Pool& pool) {
  recovery_ = Recovery::kFast;
  recover_ = snd_nxt_;
  resend_now_ = queue_.mark_head_lost(pool);
}

void LossRecovery::on_timeout(Pool& pool) {
  recovery_ = Recovery::kTimeout;
  recover_ = snd_nxt_;
  resend_now_ = false;
  queue_.mark_all_lost(pool);
}

std::uint32_t LossRecovery::fit_to(Pool& pool, std::uint32_t mss, BufferPool& buffers) {
  std::uint32_t cuts = 0;
  for (std::uint32_t slot = queue_.head(); slot != llp::kNil; slot = pool[slot].next) {
    if (pool[slot].payload_bytes <= mss) continue;
    if (seq_lt(pool[slot].seq, snd_nxt_)) queue_.mark_dropped(pool, slot);
    cuts += cut(pool, slot, mss, buffers);
  }
  resend_now_ = queue_.lost() != 0;
  return cuts;
}

std::uint32_t LossRecovery::fit_last_to(Pool& pool, std::uint32_t mss, BufferPool& buffers) {
  return cut(pool, queue_.tail(), mss, buffers);
}

std::uint32_t LossRecovery::cut(Pool& pool, std::uint32_t slot, std::uint32_t mss, BufferPool& buffers) {
  std::uint32_t cuts = 0;
  for (; pool[slot].payload_bytes > mss; ++cuts) slot = split(pool, slot, mss, buffers);
  return cuts;
}

// Headers go in front of a payload, so the rest, whose slot is returned, needs a buffer of its own.
std::uint32_t LossRecovery::split(Pool& pool, std::uint32_t slot, std::uint32_t bytes, BufferPool& buffers) {
  const QueuedSegment& s = pool[slot];
  BufferRef rest = buffers.take_like(s.buf.get());
  std::memcpy(rest->bytes() + kFrameHeadroom, s.buf->bytes() + s.payload_at + bytes, s.payload_bytes - bytes);
  return queue_.split(pool, slot, static_cast<std::uint16_t>(bytes), std::move(rest), kFrameHeadroom);
}

}  // namespace rnic::tcp
