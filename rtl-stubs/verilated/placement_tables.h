// Beside ddp_placement's Verilated twin: the elements of its lists, and an input that is no message.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/node_pool.h"
#include "model/rnic/messages/qp_events.h"

namespace rnic::rtl {

// Reads whose responses are outstanding, by queue pair. A list is of one use of its queue pair's number.
class OutstandingReads {
 public:
  explicit OutstandingReads(std::size_t qps) : lists_(qps) {}
  const PooledQueue& of(Qpn qpn) const { return lists_.at(qpn.v).reads; }
  const ReadIssued& front(Qpn qpn) const { return pool_.front(of(qpn)); }
  // In this use of the number; one of an earlier use is gone.
  PooledQueue& begin(Qpn qpn, std::uint32_t epoch) {
    List& list = lists_.at(qpn.v);
    if (list.epoch != epoch) pool_.clear(list.reads);
    list.epoch = epoch;
    return list.reads;
  }
  void push(PooledQueue& reads, const ReadIssued& r) { pool_.push(reads, r); }
  void pop(PooledQueue& reads) { pool_.pop(reads); }

 private:
  struct List {
    std::uint32_t epoch = 0;
    PooledQueue reads;
  };
  std::vector<List> lists_;
  NodePool<ReadIssued> pool_{PoolSize{}};
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
