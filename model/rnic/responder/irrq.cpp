#include "model/rnic/responder/irrq.h"

#include <utility>

#include "model/common/description.h"

namespace rnic {

// The QP's state, reset if the QP number was reused.
Irrq::QpReads& Irrq::qp(Qpn qpn) {
  QpReads& q = qps_[qpn.v];
  if (const std::uint32_t epoch = contexts_.qp(qpn).epoch; q.epoch != epoch) {
    const bool listed = q.listed;
    held_ -= q.held();
    requests_.clear(q.waiting);
    q = QpReads{};
    q.epoch = epoch;
    q.listed = listed;
  }
  return q;
}

void Irrq::list(Qpn qpn) {
  QpReads& q = qp(qpn);
  if (q.listed || q.busy || q.waiting.empty()) return;
  q.listed = true;
  list_pool_.push(listed_, qpn);
}

// A request beyond IRD ends the stream (RFC 5041 section 7.1: QN 1 has no buffer for it); later ones are ignored.
void Irrq::accept(const QueuedRequest& r) {
  const Qpn qpn = qpn_of(r);
  QpReads& q = qp(qpn);
  const QpContext& ctx = contexts_.qp(qpn);
  if (q.overrun || !ctx.valid) return;
  if (q.held() >= ctx.ird) {
    q.overrun = true;
    count_overrun();
    event->push({QpEvent::Kind::kStreamError, qpn, wire::ddp::kInvalidMsnNoBuffer, segment_of(r)});
    return;
  }
  requests_.push(q.waiting, r);
  ++held_;
  count_accepted(q.held());
  list(qpn);
}

void Irrq::hand_on(const QueuedRequest& r) {
  if (const auto* read = std::get_if<QueuedRead>(&r)) out->push(*read);
  else atomic->push(std::get<QueuedAtomic>(r));
}

void Irrq::reset() {
  qps_.assign(qps_.size(), {});
  requests_.reset();
  list_pool_.reset();
  listed_ = {};
  held_ = 0;
  held_account_.set(now(), 0, false);
}

Wake Irrq::tick() {
  bool busy = false;
  if (!listed_.empty() && out->can_push() && atomic->can_push()) {
    const Qpn qpn = list_pool_.pop(listed_);
    QpReads& q = qp(qpn);
    q.listed = false;
    if (!q.busy && !q.waiting.empty()) {
      hand_on(requests_.pop(q.waiting));
      q.busy = true;
    }
    busy = true;
  }
  if (sent->can_pop()) {
    const Qpn qpn = sent->pop().qpn;
    held_ -= std::exchange(qp(qpn).busy, false);
    list(qpn);
    busy = true;
  }
  if (in->can_pop() && event->can_push()) {
    accept(in->pop());
    busy = true;
  }
  held_account_.set(now(), held_, false);
  return busy ? Wake::next_cycle() : Wake::on_traffic();
}

std::string Irrq::waiting_for() const {
  for (std::size_t n = 0; n < qps_.size(); ++n) {
    if (qps_[n].held() != 0) return "responses of QP " + std::to_string(n) + " to be sent";
  }
  return {};
}

void Irrq::describe(const Description& d) {
  d.counters(counters_);
  d.stats().histogram("depth", depth_, "requests", "requests held by the QP when a new one arrives");
  requests_.describe(d);
  list_pool_.describe(d);
  d.account({"responder.irrq", "slots", Reach::kNobodyWaits, "", 160}, held_account_);
  for (std::uint32_t i = 0; i < contexts_.qps() && d.shows_probes(); ++i) {
    d.probes().group("qp", i).number("irrq_depth", 16, "requests", [this, qpn = Qpn{i}] {
      const QpReads& q = qps_[qpn.v];
      return q.epoch == contexts_.qp(qpn).epoch ? q.held() : 0;
    });
  }
}

}  // namespace rnic
