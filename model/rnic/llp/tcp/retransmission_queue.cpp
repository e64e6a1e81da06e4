#include "model/rnic/llp/tcp/retransmission_queue.h"

#include <utility>

#include "model/common/check.h"

namespace rnic::tcp {

std::uint32_t RetransmissionQueue::append(Pool& pool, QueuedSegment&& segment) {
  const std::uint32_t slot = pool.take();
  pool[slot] = std::move(segment);
  list_.append(pool, slot);
  if (unsent_ == llp::kNil) unsent_ = slot;
  return slot;
}

RetransmissionQueue::Kept RetransmissionQueue::give_back(Pool& pool, std::uint32_t head) {
  Kept kept;
  for (std::uint32_t slot = head; slot != llp::kNil; slot = pool[slot].next) kept.octets += pool[slot].payload_bytes;
  kept.segments = pool.give_back_from(head);
  return kept;
}

RetransmissionQueue::Kept RetransmissionQueue::clear(Pool& pool) {
  const Kept kept = give_back(pool, list_.head);
  *this = RetransmissionQueue{};
  return kept;
}

void RetransmissionQueue::drop_front(Pool& pool) {
  const QueuedSegment& s = pool[list_.head];
  if (s.lost) lost_ -= s.length();
  if (s.held) held_ -= s.length();
  if (unsent_ == list_.head) unsent_ = s.next;
  if (lost_from_ == list_.head) lost_from_ = s.next;
  list_.drop_front(pool);
}

std::uint32_t RetransmissionQueue::next_lost(const Pool& pool) {
  while (!pool[lost_from_].lost) lost_from_ = pool[lost_from_].next;
  return lost_from_;
}

void RetransmissionQueue::sent(Pool& pool, std::uint32_t slot) {
  QueuedSegment& s = pool[slot];
  if (slot == unsent_) {
    unsent_ = s.next;
    return;
  }
  RNIC_CHECK(s.lost);
  s.lost = false;
  s.resent = true;
  lost_ -= s.length();
}

void RetransmissionQueue::mark_lost(QueuedSegment& segment) {
  segment.lost = true;
  lost_ += segment.length();
}

bool RetransmissionQueue::mark_head_lost(Pool& pool) {
  QueuedSegment& s = pool[list_.head];
  if (s.held || s.resent) return false;
  lost_from_ = list_.head;
  if (!s.lost) mark_lost(s);
  return true;
}

void RetransmissionQueue::mark_all_lost(Pool& pool) {
  lost_ = held_ = 0;
  lost_from_ = list_.head;
  for (std::uint32_t slot = list_.head; slot != unsent_; slot = pool[slot].next) {
    pool[slot].held = pool[slot].resent = false;
    mark_lost(pool[slot]);
  }
}

std::uint32_t RetransmissionQueue::mark_held(Pool& pool, const wire::SackBlock& block) {
  std::uint32_t news = 0;
  for (std::uint32_t slot = list_.head; slot != unsent_; slot = pool[slot].next) {
    QueuedSegment& s = pool[slot];
    if (wire::seq_ge(s.seq, block.right)) break;
    if (s.held || wire::seq_lt(s.seq, block.left) || wire::seq_gt(s.end(), block.right)) continue;
    if (s.lost) lost_ -= s.length();
    s.lost = false;
    s.held = true;
    news += s.length();
  }
  held_ += news;
  return news;
}

bool RetransmissionQueue::mark_lost_below_held(Pool& pool, std::uint32_t runs, std::uint32_t octets) {
  // Held octets above the current segment; with SACK, held_ counts nothing else.
  std::uint32_t runs_above = 0, octets_above = held_;
  bool in_run = false;
  for (std::uint32_t slot = list_.head; slot != unsent_; slot = pool[slot].next) {
    runs_above += pool[slot].held && !in_run;
    in_run = pool[slot].held;
  }
  in_run = false;
  for (std::uint32_t slot = list_.head; slot != unsent_ && (runs_above >= runs || octets_above > octets);
       slot = pool[slot].next) {
    QueuedSegment& s = pool[slot];
    runs_above -= s.held && !in_run;
    in_run = s.held;
    if (s.held) octets_above -= s.length();
    else if (!s.lost && !s.resent) mark_lost(s);
  }
  if (lost_ != 0) lost_from_ = list_.head;
  return !list_.empty() && pool[list_.head].lost;
}

void RetransmissionQueue::mark_dropped(Pool& pool, std::uint32_t slot) {
  QueuedSegment& s = pool[slot];
  if (s.held) return;
  s.resent = false;
  lost_from_ = list_.head;
  if (!s.lost) mark_lost(s);
}

std::uint32_t RetransmissionQueue::split(Pool& pool, std::uint32_t slot, std::uint16_t bytes, BufferRef buf,
                                         std::uint32_t payload_at) {
  const std::uint32_t behind = pool.take();
  QueuedSegment &s = pool[slot], &rest = pool[behind];
  rest.buf = std::move(buf);
  rest.payload_at = payload_at;
  rest.seq = s.seq + bytes;
  rest.payload_bytes = static_cast<std::uint16_t>(s.payload_bytes - bytes);
  rest.flags = s.flags;
  rest.completes_wqe = s.completes_wqe;
  rest.held = s.held;
  rest.lost = s.lost;
  rest.resent = s.resent;
  s.payload_bytes = bytes;
  s.flags = static_cast<std::uint8_t>(s.flags & ~wire::TcpHeader::kPsh);
  s.completes_wqe = false;
  list_.insert_after(pool, slot, behind);
  return behind;
}

}  // namespace rnic::tcp
