// What is always on the chip of queue pairs, shared receive queues and completion queues, whatever of them is in
// tables: registers by number. See alive.md.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/abi/context_types.h"
#include "model/common/check.h"
#include "model/stats/high_water.h"

namespace rnic {

// The use of a queue pair's number.
struct QpLife {
  bool valid = false;
  std::uint32_t epoch = 0;  // QpContext::epoch

  static constexpr const char* kMessage = "qp_life";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("valid", 1, m.valid);
    v("epoch", 32, m.epoch);
  }
};

struct ResidentQp {
  std::uint32_t epoch = 0;
  FlowId flow = kNoFlow;    // for observers
  std::uint32_t srqn : 18;  // of the shared queue that it takes from, if it does
  bool shares_rq : 1, valid : 1;
  std::uint8_t log_sq : 4, log_rq : 4;  // ring sizes in entries
  QpState state : 3;                    // for observers

  ResidentQp() : srqn(0), shares_rq(false), valid(false), log_sq(0), log_rq(0), state(QpState::kIdle) {}
  explicit ResidentQp(const QpContext& c)
      : epoch(c.epoch),
        flow(c.flow),
        srqn(c.srq.v & 0x3ffff),
        shares_rq(c.shares_rq),
        valid(c.valid),
        log_sq(c.log_sq & 15),
        log_rq(c.log_rq & 15),
        state(c.state) {}

  static constexpr unsigned kBits = 32 + 18 + 1 + 1 + 4 + 4;  // without what is for observers
};
static_assert(sizeof(ResidentQp) == 12);

// Of a ring, so that a doorbell waits for no row.
struct ResidentRing {
  bool valid = false;
  std::uint8_t log_entries = 0;
  std::uint32_t epoch = 0;  // as a QP's

  static constexpr unsigned kBits = 1 + 4 + 32;
};

struct ResidentCq {
  std::uint32_t epoch : 31;
  std::uint32_t valid : 1;

  ResidentCq() : epoch(0), valid(0) {}
  explicit ResidentCq(const CqContext& c) : epoch(c.epoch & 0x7fffffff), valid(c.valid) {}

  static constexpr unsigned kBits = 31 + 1;
};

// Written by the firmware; a write is visible from the next cycle on, to every stage alike.
class Alive {
 public:
  std::size_t qps() const { return qps_.now.size(); }
  std::size_t cqs() const { return cqs_.now.size(); }
  std::size_t srqs() const { return srqs_.now.size(); }

  // For numbers that come from the host: whether they are inside the table.
  bool has(Qpn n) const { return n.v < qps(); }
  bool has(Rqn n) const { return n.v < (n.shared ? srqs() : qps()); }
  bool has(Cqn n) const { return n.v < cqs(); }

  QpLife life(Qpn n) const {
    const ResidentQp& c = qps_[n.v];
    return {c.valid, c.epoch};
  }
  std::uint32_t epoch(Qpn n) const { return qps_[n.v].epoch; }
  // Whether that use of the number goes on.
  bool is_alive(Qpn n, std::uint32_t epoch) const {
    const ResidentQp& c = qps_[n.v];
    return c.valid && c.epoch == epoch;
  }
  bool exists(Cqn n) const { return cqs_[n.v].valid; }
  std::uint32_t epoch(Cqn n) const { return cqs_[n.v].epoch; }

  ResidentRing send_ring(Qpn n) const {
    const ResidentQp& c = qps_[n.v];
    return {c.valid, c.log_sq, c.epoch};
  }
  // A queue pair on a shared queue has no ring of its own.
  ResidentRing receive_ring(Rqn n) const {
    if (n.shared) return srqs_[n.v];
    const ResidentQp& c = qps_[n.v];
    return {c.valid && !c.shares_rq, c.log_rq, c.epoch};
  }
  // Where a queue pair's messages take their receive requests from.
  Rqn receives_from(Qpn n) const {
    const ResidentQp& c = qps_[n.v];
    return c.shares_rq ? Rqn(Srqn{c.srqn}) : Rqn(n);
  }
  // For tables of all receive queues: the queue pairs' own first.
  std::size_t receive_queues() const { return qps() + srqs(); }
  std::size_t index(Rqn n) const { return n.shared ? qps() + n.v : n.v; }

  // For observers, which are no hardware.
  FlowId flow_of(Qpn n) const { return qps_[n.v].flow; }
  QpState state_of(Qpn n) const { return qps_[n.v].state; }

 protected:
  Alive(std::size_t qps, std::size_t cqs, std::size_t srqs) : qps_(qps), cqs_(cqs), srqs_(srqs) {}
  ~Alive() = default;

  // Registers of one kind, and what is written to them in this cycle.
  template <class T>
  struct Registers {
    explicit Registers(std::size_t entries) : now(entries) {}
    const T& operator[](std::uint32_t n) const {
      RNIC_CHECK(n < now.size());
      return now[n];
    }
    void write(std::uint32_t n, const T& value) {
      RNIC_CHECK(n < now.size());
      written.emplace_back(n, value);
    }
    void settle() {
      for (const auto& [n, value] : written) {
        if (value.valid && !now[n].valid) exist.rise();
        if (!value.valid && now[n].valid) exist.fall();
        now[n] = value;
      }
      written.clear();
    }
    void reset() {
      written.clear();
      now.assign(now.size(), {});
      exist.level(0);
    }
    static constexpr unsigned bits() { return T::kBits; }

    std::vector<T> now;
    std::vector<std::pair<std::uint32_t, T>> written;
    HighWater exist;  // of them
  };
  void settle_lives() {
    qps_.settle();
    cqs_.settle();
    srqs_.settle();
  }
  void reset_lives() {
    qps_.reset();
    cqs_.reset();
    srqs_.reset();
  }
  // Of all numbers, since the last reset.
  std::uint32_t newest_epoch() const {
    std::uint32_t newest = 0;
    const auto note = [&newest](const auto& registers) {
      for (const auto& c : registers.now) newest = std::max<std::uint32_t>(newest, c.epoch);
    };
    note(qps_), note(cqs_), note(srqs_);
    return newest;
  }

  Registers<ResidentQp> qps_;
  Registers<ResidentCq> cqs_;
  Registers<ResidentRing> srqs_;
};

}  // namespace rnic
