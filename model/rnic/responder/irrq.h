// Inbound Read Request queue: holds the Read and Atomic Requests of each QP in order, up to its IRD (RFC 5040 section
// 5.2, RFC 7306 section 5.2, RFC 6581). See irrq.md.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/account.h"
#include "model/common/link.h"
#include "model/common/node_pool.h"
#include "model/rnic/context/context.h"
#include "model/rnic/messages/qp_events.h"
#include "model/rnic/messages/requests.h"
#include "model/stats/histogram.h"

namespace rnic {

struct IrrqCounters {
  std::uint64_t accepted = 0, overruns = 0;
  template <class V>
  static void fields(V& v) {
    v("accepted", &IrrqCounters::accepted, "requests", "Read and Atomic Requests queued");
    v("overruns", &IrrqCounters::overruns, "requests", "Read and Atomic Requests beyond IRD (Terminate 1/2/02)");
  }
};

class Irrq final : public Stage {
 public:
  PopPort<QueuedRequest> in{*this, "in"};
  PopPort<ReadResponseSent> sent{*this, "sent"};
  PushPort<QueuedRead> out{*this, "out"};          // to read_responder: one request of a QP at a time,
  PushPort<QueuedAtomic> atomic{*this, "atomic"};  // of either kind
  PushPort<QpEvent> event{*this, "event"};

  Irrq(sc_core::sc_module_name nm, ClockDomain& clk, const ContextStore& contexts)
      : Stage(nm, clk),
        contexts_(contexts),
        qps_(contexts.qps()),
        requests_({"requests", contexts.qps() * contexts.elements().ird, "queue pairs x fwcpu.max_ird"}),
        list_pool_({"listed", contexts.qps(), "queue pairs"}, 0) {}
  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const IrrqCounters& counters() const { return counters_; }

  // The twin of this stage calls these too.
  void count_accepted(std::uint32_t held) {
    ++counters_.accepted;
    depth_.record(held);
  }
  void count_overrun() { ++counters_.overruns; }

 private:
  struct QpReads {
    std::uint32_t epoch = 0;
    PooledQueue waiting;
    bool busy = false;  // one was passed on and is being answered
    bool listed = false;
    bool overrun = false;  // the peer broke the limit: the stream is over
    std::uint32_t held() const { return waiting.size + busy; }
  };
  QpReads& qp(Qpn qpn);
  void list(Qpn qpn);
  void accept(const QueuedRequest& r);
  void hand_on(const QueuedRequest& r);

  const ContextStore& contexts_;
  std::vector<QpReads> qps_;
  NodePool<QueuedRequest> requests_;
  NodePool<Qpn> list_pool_;
  PooledQueue listed_;
  IrrqCounters counters_;
  Histogram depth_;
  unsigned held_ = 0;  // requests of all QPs, including the one being answered
  Account held_account_{0};
};

}  // namespace rnic
