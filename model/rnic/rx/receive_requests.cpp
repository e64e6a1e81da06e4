#include "model/rnic/rx/receive_requests.h"

#include "model/common/description.h"
#include "model/common/memory.h"

namespace rnic {

// The queue's state, reset if its number was reused.
ReceiveRequests::Queue& ReceiveRequests::queue(Rqn rqn) {
  Queue& q = queues_[alive_.index(rqn)];
  if (const std::uint32_t epoch = alive_.receive_ring(rqn).epoch; q.epoch != epoch) {
    pool_.clear(q.fetched);
    used_.level(used_.now() + (epoch != 0) - (q.epoch != 0));
    q = Queue{};
    q.epoch = epoch;
    if (rqn.shared) set(Srqn{rqn.v}, {});
  }
  return q;
}

void ReceiveRequests::reset() {
  queues_.assign(queues_.size(), {});
  arms_.assign(arms_.size(), {});
  used_.level(0);
  limits_.level(0);
  pool_.reset();
  ended_pool_.reset();
  ended_ = {};
  freed_.reset();
  events_.reset();
}

bool ReceiveRequests::announce(const RqDoorbell& d) {
  if (!alive_.has(d.rqn)) return true;
  const ResidentRing ring = alive_.receive_ring(d.rqn);
  Queue& q = queue(d.rqn);
  if (!ring.valid || q.overrun) return true;
  q.overrun = ((d.producer - q.used) & kIndexMask) > (1u << ring.log_entries);
  if (!q.overrun) q.posted = d.producer & kIndexMask;
  else if (d.rqn.shared) events_.push({SrqEvent::Kind::kOverrun, Srqn{d.rqn.v}});
  return !q.overrun;
}

// Entries announced by an overrun never were requests.
void ReceiveRequests::arrive(FetchedRqe r) {
  Queue& q = queue(r.rqn);
  if (r.epoch != q.epoch) return;
  if (q.overrun && q.fetched.size >= left(q)) return freed_.push({r.rqn, r.epoch});
  if (q.ended) ended_pool_.push(ended_, Qpn{r.rqn.v});
  pool_.push(q.fetched, std::move(r));
}

void ReceiveRequests::arm(const SrqArm& a) {
  if (!alive_.receive_ring(a.srqn).valid) return;
  Queue& q = queue(a.srqn);
  set(a.srqn, {a.limit, a.serial});
  check_limit(a.srqn, q);
}

void ReceiveRequests::set(Srqn srqn, const Arm& arm) {
  Arm& old = arms_[srqn.v];
  limits_.level(limits_.now() + (arm.limit != 0) - (old.limit != 0));
  old = arm;
}

// One event per arming.
void ReceiveRequests::check_limit(Srqn srqn, const Queue& shared) {
  const Arm arm = arms_[srqn.v];
  if (left(shared) >= arm.limit) return;
  set(srqn, {0, arm.serial});
  events_.push({SrqEvent::Kind::kLimit, srqn, arm.serial});
}

ReceiveRequests::Next ReceiveRequests::next(Qpn qpn) {
  Queue& own = queue(qpn);
  const Rqn rqn = alive_.receives_from(qpn);
  Queue& from = rqn.shared ? queue(rqn) : own;
  const bool taken = rqn.shared && !own.fetched.empty();
  if (from.overrun && !taken) return Next::kLost;
  if (!own.fetched.empty()) return Next::kThere;
  if (left(from) == 0) return Next::kNone;
  if (from.fetched.empty()) return Next::kFetching;
  take_from(Srqn{rqn.v}, from, own);
  return Next::kThere;
}

const FetchedRqe* ReceiveRequests::peek(Qpn qpn) {
  Queue& own = queue(qpn);
  const Rqn rqn = alive_.receives_from(qpn);
  if (rqn.shared && !own.fetched.empty()) return &pool_.front(own.fetched);
  Queue& from = rqn.shared ? queue(rqn) : own;
  return from.overrun || from.fetched.empty() ? nullptr : &pool_.front(from.fetched);
}

// In the order in which messages start to arrive, over all streams.
void ReceiveRequests::take_from(Srqn srqn, Queue& shared, Queue& own) {
  pool_.push(own.fetched, pool_.pop(shared.fetched));
  shared.used = (shared.used + 1) & kIndexMask;
  freed_.push({srqn, shared.epoch});
  check_limit(srqn, shared);
}

std::uint64_t ReceiveRequests::use(Qpn qpn) {
  Queue& own = queue(qpn);
  const FetchedRqe r = pool_.pop(own.fetched);
  if (!r.rqn.shared) {
    own.used = (own.used + 1) & kIndexMask;
    freed_.push({r.rqn, r.epoch});
  }
  return r.wqe.wr_id;
}

void ReceiveRequests::end(Qpn qpn, Cqn recv_cq) {
  Queue& own = queue(qpn);
  if (own.ended) return;
  own.ended = true;
  own.recv_cq = recv_cq;
  for (std::uint32_t i = 0; i < own.fetched.size; ++i) ended_pool_.push(ended_, qpn);
}

std::optional<ReceiveRequests::Unused> ReceiveRequests::take_unused() {
  const Qpn qpn = ended_pool_.pop(ended_);
  const Queue& own = queue(qpn);
  if (!own.ended || own.fetched.empty()) return {};  // the QP went away meanwhile
  return Unused{qpn, use(qpn), own.epoch, own.recv_cq};
}

void ReceiveRequests::describe(const Description& d) const {
  const unsigned bits = Queue::kBits + bits_of<PooledQueue>();
  describe_memory(d.part("queues").stats(),
                  {queues_.size(), queues_.size(), bits, "rows", "queue pairs + shared receive queues"}, used_);
  describe_memory(d.part("limits").stats(), {arms_.size(), arms_.size(), Arm::kBits, "rows", "shared receive queues"},
                  limits_);
  pool_.describe(d);
  ended_pool_.describe(d);
  freed_.describe(d);
  events_.describe(d);
}

}  // namespace rnic
