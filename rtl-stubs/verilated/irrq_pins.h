// irrq: its rows are those that the stage's reader has; the elements of their lists are here.
#pragma once

#include <array>
#include <utility>

#include "model/rnic/responder/irrq.h"
#include "rtl-stubs/verilated/asked.h"
#include "rtl-stubs/verilated/messages.h"
#include "rtl-stubs/verilated/pins.h"
#include "rtl-stubs/verilated/row_lists.h"
#include "rtl-stubs/verilated/wrong_numbers.h"

namespace rnic::rtl {

template <class Model>
class IrrqPinsOf : public Pins<Model, Irrq> {
 public:
  // The row that is there; what becomes of its list.
  static constexpr unsigned kRounds = 2;

  IrrqPinsOf(Irrq& stage, ContextTables& contexts)
      : stage_(stage), contexts_(contexts), lists_(contexts.qps()), held_(contexts), answered_(contexts) {}

  template <class V>
  void links(Model& m, V& v) {
    v.in(stage_.sent, m.sent_valid_i, m.sent_ready_o, m.sent_i);
    v.in(stage_.in, m.in_valid_i, m.in_ready_o, m.in_i);
    v.out(stage_.out, m.out_ready_i, m.out_valid_o, m.out_o);
    v.out(stage_.atomic, m.atomic_ready_i, m.atomic_valid_o, m.atomic_o);
    v.out(stage_.event, m.event_ready_i, m.event_valid_o, m.event_o);
  }

  using Pins<Model, Irrq>::offered;
  void offered(const QueuedRequest& request, Model&) { offered_ = segment_of(request).owner; }
  void look_up(Model& m, unsigned round) {
    if (round == 0) row(m);
    else change(m);
  }
  template <class F>
  void compare(const Model& m, F&& f) const {
    if (!there_) return;
    const QpIrrq& stage = contexts_.irrq_table.peek(qpn_.v)->state;
    QpIrrq block = state_;
    if (m.state_write_o) unpack(m.state_o, block);
    f("the epoch of a queue pair", stage.epoch, block.epoch);
    f("requests that wait", stage.waiting.size, m.state_write_o ? lists_.size(qpn_) : block.waiting.size);
    f("whether one is answered", stage.busy, block.busy);
    f("whether the limit was broken", stage.overrun, block.overrun);
  }

  // No pins have the owner.
  using Pins<Model, Irrq>::pushed;
  template <class T>
  const char* wrong(const T& message) const {
    return wrong_qp(contexts_, message);
  }
  void pushed(QueuedRead& read, const Model&) {
    read.segment.owner = read_;
    give(read.qpn, read.epoch);
  }
  void pushed(QueuedAtomic& atomic, const Model&) {
    atomic.segment.owner = atomic_;
    give(atomic.qpn, atomic.epoch);
  }
  void pushed(QpEvent& event, const Model&) {
    event.failed.owner = executed_;
    held_.close(event.qpn, contexts_.life(event.qpn).epoch);
  }
  using Pins<Model, Irrq>::taken;
  void taken(const QueuedRequest& r, const Model&) { held_.open(qpn_of(r), epoch_of(r)); }
  void taken(const ReadResponseSent& sent, const Model&) { answered_.close(sent.qpn, sent.epoch); }

  bool waits_for_others(const Model&) const { return rows_.awaited(rows()); }
  std::size_t owes(const Model& m) const { return answered_.count() != 0 || waits_for_others(m) ? 0 : held_.count(); }

  void stand_in(const Model& m) {
    rows_.note(m.row_ask_o, m.row_drop_o);
    if (m.accepted_o) stage_.count_accepted(m.held_o);
    if (m.event_valid_o) stage_.count_overrun();
    if (m.state_write_o) {
      QpIrrq& state = contexts_.irrq_table.own(qpn_.v, &IrrqRow::state);
      unpack(m.state_o, state);
      state.waiting = lists_.of(qpn_);
    }
    if (m.row_drop_o) rows().drop();
    if (m.row_ask_o) rows().ask(m.row_index_o, m.row_tag_o);
  }

 private:
  struct Waiting {
    std::decay_t<decltype(std::declval<Model>().oldest_i)> request;
    RequestId owner;
  };

  void give(Qpn qpn, std::uint32_t epoch) {
    answered_.open(qpn, epoch);
    held_.close(qpn, epoch);
  }
  IrrqTable::Reader& rows() const { return stage_.events.rows(); }
  void row(Model& m) {
    m.due_ready_i = due_reads_.size() + due_atomics_.size() < contexts_.qps();
    m.due_read_valid_i = !due_reads_.empty();
    m.due_atomic_valid_i = !due_atomics_.empty();
    if (!due_reads_.empty()) m.due_read_i = due_reads_.front().request;
    if (!due_atomics_.empty()) m.due_atomic_i = due_atomics_.front().request;
    m.row_ready_i = rows().can_ask();
    m.row_valid_i = there_ = rows().can_use();
    if (!there_) return;
    m.row_tag_i = static_cast<CData>(rows().front().tag);
    qpn_ = Qpn{rows().front().index};
    state_ = rows().row().state;
    pack(rows().row(), m.row_i);
    if (!lists_.empty(qpn_)) m.oldest_i = lists_.front(qpn_).request;
  }
  void change(const Model& m) {
    if (there_) executed_ = owners_[m.row_tag_i];
    Waiting due{m.request_o, executed_};
    if (m.state_write_o) {
      QpIrrq next;
      unpack(m.state_o, next);
      Ring<Waiting>& waiting = lists_.begin(qpn_, next.epoch);
      if (m.push_o) waiting.push(due);
      if (m.pop_o) due = waiting.pop();
    }
    read_ = m.due_read_pop_o ? due_reads_.pop().owner : due.owner;
    atomic_ = m.due_atomic_pop_o ? due_atomics_.pop().owner : due.owner;
    if (m.due_read_push_o) due_reads_.push(due);
    if (m.due_atomic_push_o) due_atomics_.push(due);
    if (m.row_ask_o && m.in_ready_o) owners_[m.row_tag_o] = offered_;
  }

  Irrq& stage_;
  ContextTables& contexts_;
  RowLists<Waiting> lists_;
  Ring<Waiting> due_reads_, due_atomics_;
  std::array<RequestId, 16> owners_;  // of the requests in the block's places
  RequestId offered_, executed_, read_, atomic_;
  AskedRows rows_;
  OpenMessages held_, answered_;  // requests: not given yet, and given, whose responses are not sent yet
  bool there_ = false;            // a row: of this queue pair, as it was before this cycle
  Qpn qpn_;
  QpIrrq state_;
};

}  // namespace rnic::rtl
