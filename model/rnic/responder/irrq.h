// Inbound Read Request queue: holds the Read and Atomic Requests of each QP in order, up to its IRD (RFC 5040 section
// 5.2, RFC 7306 section 5.2, RFC 6581). See irrq.md.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "model/common/account.h"
#include "model/common/link.h"
#include "model/common/node_pool.h"
#include "model/rnic/context/lost_qps.h"
#include "model/rnic/context/row_events.h"
#include "model/rnic/context/tables.h"
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

  RowEvents<IrrqRow, std::variant<ReadResponseSent, QueuedRequest>> events{*this, "irrq"};

  Irrq(sc_core::sc_module_name nm, ClockDomain& clk, ContextTables& contexts)
      : Stage(nm, clk),
        contexts_(contexts),
        requests_({"requests", contexts.qps() * contexts.elements().ird, "queue pairs x fwcpu.max_ird",
                   contexts.irrq_table.cached() ? PoolLimit::kHome : PoolLimit::kChip}),
        held_by_(contexts.irrq_table.cached() ? contexts.qps() : 0) {
    contexts.irrq_table.owned_by(*this);
    events.bind_to(contexts.irrq_table);
  }
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
  bool take_event();
  bool execute();
  void lose(Qpn qpn, std::uint32_t epoch);
  bool execute(const IrrqRow& row, const QueuedRequest& r);
  bool execute(const IrrqRow& row, const ReadResponseSent&);
  QpIrrq& use(const IrrqRow& row);
  void count(Qpn qpn, const QpIrrq& q, unsigned before);
  unsigned held_by(Qpn qpn) const;
  bool can_be_due() const { return due_reads_.size + due_atomics_.size < contexts_.qps(); }
  void make_due(const QueuedRequest& r);
  bool hand_on_due();
  void hand_on(const QueuedRequest& r);

  ContextTables& contexts_;
  NodePool<QueuedRequest> requests_;
  PooledQueue due_reads_, due_atomics_;  // the first ones of their QPs: each waits for a place at the next stage
  IrrqCounters counters_;
  Histogram depth_;
  unsigned held_ = 0;  // requests of all QPs, including the one being answered
  // Of each QP, wherever its row is; only with a cache.
  struct Held {
    std::uint32_t epoch = 0;  // the use of its number
    unsigned requests = 0;
  };
  std::vector<Held> held_by_;
  LostQps lost_{contexts_};
  Account held_account_{0};
};

}  // namespace rnic
