#include "model/rnic/llp/retransmission_queue.h"

#include <utility>

#include "model/common/check.h"

namespace rnic::tcp {

std::uint32_t RetransmissionQueue::append(Pool& pool, QueuedSegment segment) {
  const std::uint32_t slot = pool.take();
  pool[slot] = std::move(segment);
  list_.append(pool, slot);
  if (unsent_ == kNil) unsent_ = slot;
  return slot;
}

void RetransmissionQueue::clear(Pool& pool) {
  list_.clear(pool);
  *this = RetransmissionQueue{};
}

void RetransmissionQueue::drop_front(Pool& pool) {
  const QueuedSegment& s = pool[list_.head];
  if (s.lost) lost_ -= s.length();
  if (s.held) {
    held_ -= s.length();
    --held_segments_;
  }
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
  lost_ = held_ = held_segments_ = 0;
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
    ++held_segments_;
    news += s.length();
  }
  held_ += news;
  return news;
}

bool RetransmissionQueue::mark_lost_below_held(Pool& pool, std::uint32_t threshold) {
  std::uint32_t above = held_segments_;
  for (std::uint32_t slot = list_.head; slot != unsent_ && above >= threshold; slot = pool[slot].next) {
    QueuedSegment& s = pool[slot];
    if (s.held) {
      --above;
    } else if (!s.lost && !s.resent) {
      mark_lost(s);
    }
  }
  if (lost_ != 0) lost_from_ = list_.head;
  return !list_.empty() && pool[list_.head].lost;
}

}  // namespace rnic::tcp
