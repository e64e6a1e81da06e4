// Tables beside ddp_placement's Verilated twin, and its inputs about them.
#pragma once

#include <vector>

#include "model/common/node_pool.h"
#include "model/rnic/messages/qp_events.h"
#include "rtl-stubs/verilated/bits.h"

namespace rnic::rtl {

// Reads whose responses are outstanding, by queue pair. A queue belongs to one use of its queue pair's number.
class OutstandingReads {
 public:
  // reads_t of rnic_ddp_pkg.
  struct Row {
    std::uint32_t epoch;
    bool empty;

    static constexpr const char* kMessage = "outstanding_reads";
    template <class V, class M>
    static void fields(V& v, M& m) {
      v("epoch", 32, m.epoch);
      v("empty", 1, m.empty);
    }
  };

  explicit OutstandingReads(std::size_t qps) : queues_(qps) {}
  Row row(Qpn qpn) const { return {at(qpn).epoch, at(qpn).reads.empty()}; }
  ReadIssued front(Qpn qpn) const { return at(qpn).reads.empty() ? ReadIssued{} : pool_.front(at(qpn).reads); }
  // A new use of the number.
  void start(Qpn qpn, std::uint32_t epoch) {
    pool_.clear(at(qpn).reads);
    at(qpn).epoch = epoch;
  }
  void push(const ReadIssued& r) { pool_.push(at(r.qpn).reads, r); }
  void pop(Qpn qpn) { pool_.pop(at(qpn).reads); }

 private:
  struct Queue {
    std::uint32_t epoch = 0;
    PooledQueue reads;
  };
  Queue& at(Qpn qpn) { return queues_.at(qpn.v); }
  const Queue& at(Qpn qpn) const { return queues_.at(qpn.v); }

  std::vector<Queue> queues_;
  NodePool<ReadIssued> pool_;
};

// unused_t of rnic_ddp_pkg.
struct UnusedRequest {
  bool valid = false;
  Qpn qpn;
  std::uint64_t wr_id = 0;

  static constexpr const char* kMessage = "unused";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("valid", 1, m.valid);
    v("qpn", m.qpn);
    v("wr_id", 64, m.wr_id);
  }
};

}  // namespace rnic::rtl
