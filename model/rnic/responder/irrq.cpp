#include "model/rnic/responder/irrq.h"

#include <utility>

#include "model/common/description.h"

namespace rnic {

// One a cycle: a response that has left makes room before a request comes.
bool Irrq::take_event() {
  if (!events.can_take()) return false;
  if (sent->can_pop()) {
    const ReadResponseSent s = sent->pop();
    events.take(s.qpn, s.epoch, s);
    return true;
  }
  if (!in->can_pop()) return false;
  const QueuedRequest r = in->pop();
  events.take(qpn_of(r), epoch_of(r), r);
  return true;
}

// One a cycle, with its row. That of an earlier use of the QP's number is over.
bool Irrq::execute() {
  if (!events.ready()) return false;
  if (!events.ok()) lose(events.id(), events.epoch());
  const bool current = events.ok() && events.row().qp.epoch == events.epoch();
  if (current && !std::visit([this](const auto& e) { return execute(events.row(), e); }, events.front())) return false;
  events.drop();
  return true;
}

// The requests in its list are lost with the row. The firmware hears of that once.
void Irrq::lose(Qpn qpn, std::uint32_t epoch) {
  if (lost_.lose(qpn, epoch)) held_ -= std::exchange(held_by_[qpn.v], {}).requests;
}

void Irrq::count(Qpn qpn, const QpIrrq& q, unsigned before) {
  held_ += q.held() - before;
  if (!held_by_.empty()) held_by_[qpn.v] = {q.epoch, q.held()};
}

// For observers.
unsigned Irrq::held_by(Qpn qpn) const {
  if (held_by_.empty()) return contexts_.inbound(qpn).held();
  const Held& held = held_by_[qpn.v];
  return held.epoch == contexts_.epoch(qpn) ? held.requests : 0;
}

// The QP's state, reset if the QP number was reused.
QpIrrq& Irrq::use(const IrrqRow& row) {
  QpIrrq& q = contexts_.irrq_table.own(events.id().v, &IrrqRow::state);
  if (q.epoch != row.qp.epoch) {
    const unsigned before = held_by_.empty() ? q.held() : held_by_[events.id().v].requests;
    requests_.clear(q.waiting);
    q = QpIrrq{};
    q.epoch = row.qp.epoch;
    count(events.id(), q, before);
  }
  return q;
}

// A request beyond IRD ends the stream (RFC 5041 section 7.1: QN 1 has no buffer for it); later ones are ignored.
// False: it waits.
bool Irrq::execute(const IrrqRow& row, const QueuedRequest& r) {
  const QpIrrq now = row.current();
  if (now.overrun || !row.qp.valid) return true;
  if (now.held() >= row.qp.ird) {
    if (!event->can_push()) return false;
    use(row).overrun = true;
    count_overrun();
    event->push({QpEvent::Kind::kStreamError, events.id(), wire::ddp::kInvalidMsnNoBuffer, segment_of(r)});
    return true;
  }
  if (!now.busy && !can_be_due()) return false;
  QpIrrq& q = use(row);
  if (now.busy) requests_.push(q.waiting, r);
  else make_due(r);
  q.busy = true;
  count(events.id(), q, now.held());
  count_accepted(q.held());
  return true;
}

// The next one follows.
bool Irrq::execute(const IrrqRow& row, const ReadResponseSent&) {
  const QpIrrq now = row.current();
  if (!now.busy) return true;
  if (!now.waiting.empty() && !can_be_due()) return false;
  QpIrrq& q = use(row);
  if (now.waiting.empty()) q.busy = false;
  else make_due(requests_.pop(q.waiting));
  count(events.id(), q, now.held());
  return true;
}

// It goes at once, unless there is no place or another one of its kind waits for one.
void Irrq::make_due(const QueuedRequest& r) {
  const bool is_read = std::holds_alternative<QueuedRead>(r);
  PooledQueue& due = is_read ? due_reads_ : due_atomics_;
  if (due.empty() && (is_read ? out->can_push() : atomic->can_push())) hand_on(r);
  else requests_.push(due, r);
}

bool Irrq::hand_on_due() {
  const bool read = !due_reads_.empty() && out->can_push();
  const bool other = !due_atomics_.empty() && atomic->can_push();
  if (read) hand_on(requests_.pop(due_reads_));
  if (other) hand_on(requests_.pop(due_atomics_));
  return read || other;
}

void Irrq::hand_on(const QueuedRequest& r) {
  if (const auto* read = std::get_if<QueuedRead>(&r)) out->push(*read);
  else atomic->push(std::get<QueuedAtomic>(r));
}

void Irrq::reset() {
  events.reset();
  requests_.reset();
  due_reads_ = due_atomics_ = {};
  held_ = 0;
  held_by_.assign(held_by_.size(), {});
  lost_.reset();
  held_account_.set(now(), 0, false);
}

Wake Irrq::tick() {
  const bool told = lost_.tell(event);
  const bool taken = take_event();
  const bool executed = execute();
  const bool handed_on = hand_on_due();
  held_account_.set(now(), held_, false);
  return told || taken || executed || handed_on ? Wake::next_cycle() : Wake::on_traffic();
}

std::string Irrq::waiting_for() const {
  for (std::uint32_t n = 0; n < contexts_.qps(); ++n) {
    if (held_by(Qpn{n}) != 0) return "responses of QP " + std::to_string(n) + " to be sent";
  }
  return {};
}

void Irrq::describe(const Description& d) {
  d.counters(counters_);
  d.stats().histogram("depth", depth_, "requests", "requests held by the QP when a new one arrives");
  requests_.describe(d);
  d.account({"responder.irrq", "slots", Reach::kNobodyWaits, "", 160}, held_account_);
  for (std::uint32_t i = 0; i < contexts_.qps() && d.shows_probes(); ++i) {
    d.probes().group("qp", i).number("irrq_depth", 16, "requests", [this, qpn = Qpn{i}] { return held_by(qpn); });
  }
}

}  // namespace rnic
