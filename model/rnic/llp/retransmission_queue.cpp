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

void RetransmissionQueue::mark_head_lost(Pool& pool) {
  QueuedSegment& s = pool[list_.head];
  lost_from_ = list_.head;
  if (!s.lost) mark_lost(s);
}

void RetransmissionQueue::mark_all_lost(Pool& pool) {
  lost_ = held_ = 0;
  lost_from_ = list_.head;
  for (std::uint32_t slot = list_.head; slot != unsent_; slot = pool[slot].next) mark_lost(pool[slot]);
}

}  // namespace rnic::tcp
