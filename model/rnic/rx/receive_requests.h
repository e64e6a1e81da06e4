// The receive requests of all queue pairs, from their own rings or from shared ones. See receive_requests.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/abi/srq_events.h"
#include "model/common/fifo.h"
#include "model/common/node_pool.h"
#include "model/rnic/context/alive.h"
#include "model/rnic/messages/doorbells.h"
#include "model/rnic/messages/work_requests.h"
#include "model/stats/high_water.h"

namespace rnic {

class ReceiveRequests {
 public:
  // `fetched`: entries of all rings that may be here.
  ReceiveRequests(const Alive& alive, std::size_t fetched)
      : alive_(alive),
        queues_(alive.receive_queues()),
        arms_(alive.srqs()),
        pool_({"rqes", fetched,
               "(queue pairs + shared receive queues) x rx.rqe_fetch.prefetch, or these + rx.rqe_fetch.shared"}),
        ended_pool_({"unused", 2 * pool_.entries(), "twice rqes: also those of a number's earlier use"},
                    index_bits(alive.qps())),
        freed_({"freed", pool_.entries(), "as rqes"}),
        events_({"srq_events", 2 * alive.srqs(), "shared receive queues x (limit + overrun)", PoolLimit::kHost}) {}

  void reset();

  // From the host and the rings. False: the doorbell announces more than the ring holds, so its entries are
  // overwritten, and the queue gives out nothing any more. A doorbell that names no queue is ignored.
  bool announce(const RqDoorbell& d);
  void arrive(FetchedRqe r);
  void arm(const SrqArm& a);

  enum class Next : std::uint8_t { kNone, kLost, kFetching, kThere };
  // Whether the request for the QP's message in progress, or its next message, is there. A request of a shared queue
  // belongs to the QP from the call on that returns it.
  Next next(Qpn qpn);
  // The request with which next() would return kThere now, or nullptr; it belongs to nobody yet.
  const FetchedRqe* peek(Qpn qpn);
  // next() has returned kThere.
  const FetchedRqe& front(Qpn qpn) { return pool_.front(queue(qpn).fetched); }
  // The message has filled it: its wr_id.
  std::uint64_t use(Qpn qpn);

  // The QP's stream is over. Its requests go unused, including those fetched later, and complete in that queue;
  // requests of a shared queue that were not taken stay there.
  void end(Qpn qpn, Cqn recv_cq);
  struct Unused {
    Qpn qpn;
    std::uint64_t wr_id = 0;
    std::uint32_t epoch = 0;  // of the queue pair
    Cqn recv_cq;
  };
  // One request that the end of a stream left unused.
  bool has_unused() const { return !ended_.empty(); }
  std::optional<Unused> take_unused();

  // Freed places in the rings' prefetch, and events of shared queues; the owner sends them on.
  Fifo<RqeTaken>& freed() { return freed_; }
  Fifo<SrqEvent>& events() { return events_; }

  void describe(const Description& d) const;

 private:
  struct Queue {
    std::uint32_t epoch = 0;
    std::uint32_t posted : 12;  // announced, modulo 4096
    std::uint32_t used : 12;    // and filled or, in a shared queue, taken by a QP
    std::uint32_t ended : 1;    // a QP's: its stream is over
    std::uint32_t overrun : 1;
    Cqn recv_cq;          // of one that has ended
    PooledQueue fetched;  // the head is the next message's

    Queue() : posted(0), used(0), ended(false), overrun(false) {}
    static constexpr unsigned kBits = 32 + 12 + 12 + 1 + 1 + 32;  // without the list
  };
  static_assert(sizeof(Queue) == 24);
  // A shared queue's.
  struct Arm {
    std::uint32_t limit = 0, serial = 0;
    static constexpr unsigned kBits = 32 + 32;
  };
  static constexpr std::uint32_t kIndexMask = 0xfff;  // of a doorbell's producer index
  static std::uint32_t left(const Queue& q) { return (q.posted - q.used) & kIndexMask; }

  Queue& queue(Rqn rqn);
  void take_from(Srqn srqn, Queue& shared, Queue& own);
  void check_limit(Srqn srqn, const Queue& shared);
  void set(Srqn srqn, const Arm& arm);

  const Alive& alive_;
  std::vector<Queue> queues_;  // by Alive::index; for a QP on a shared queue, the requests that it has taken
  std::vector<Arm> arms_;      // by shared queue
  HighWater used_, limits_;    // queues that a number in use has or had; arms that wait
  NodePool<FetchedRqe> pool_;
  NodePool<Qpn> ended_pool_;
  PooledQueue ended_;  // one entry for each request that goes unused
  Fifo<RqeTaken> freed_;
  Fifo<SrqEvent> events_;
};

}  // namespace rnic
