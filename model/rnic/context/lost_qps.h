// The queue pairs whose rows a stage has found lost: the firmware hears of each once.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/common/link.h"
#include "model/common/ring.h"
#include "model/rnic/context/tables.h"
#include "model/rnic/messages/qp_events.h"

namespace rnic {

class LostQps {
 public:
  explicit LostQps(const ContextTables& contexts) : contexts_(contexts) {}

  // The row of this use of its number. True: it is a use that goes on, and that was not known yet.
  bool lose(Qpn qpn, std::uint32_t epoch) {
    if (!contexts_.is_alive(qpn, epoch)) return false;
    if (lost_.empty()) lost_.resize(contexts_.qps());
    if (std::exchange(lost_.at(qpn.v), epoch) == epoch) return false;
    report(QpEvent{QpEvent::Kind::kLocalError, qpn, wire::rdma::kLocalCatastrophic}, epoch);
    return true;
  }
  // What a stage has to answer itself, as nobody has the row.
  void report(QpEvent event, std::uint32_t epoch) { reports_.push({std::move(event), epoch}); }
  // One a cycle. Nothing waits for that: the firmware may wait for the stage. Of a use that is over it hears nothing.
  bool tell(PushPort<QpEvent>& port) {
    if (reports_.empty() || !port->can_push()) return false;
    const Report r = reports_.pop();
    if (contexts_.is_alive(r.event.qpn, r.epoch)) port->push(r.event);
    return true;
  }
  void reset() {
    lost_.clear();
    reports_.clear();
  }

 private:
  struct Report {
    QpEvent event;
    std::uint32_t epoch = 0;
  };
  const ContextTables& contexts_;
  std::vector<std::uint32_t> lost_;  // by QP, the last use of its number whose row was lost; empty until the first one
  Ring<Report> reports_;             // of a QP its loss and its drains
};

}  // namespace rnic
