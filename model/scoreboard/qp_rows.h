// The rows of queue pairs that errors are about, as they are when their stage takes the error.
#pragma once

#include <utility>
#include <vector>

#include "model/common/link_base.h"
#include "model/common/ring.h"
#include "model/golden/contexts.h"
#include "model/rnic/messages/qp_events.h"
#include "model/scoreboard/stage_port.h"

namespace rnic::scoreboard {

// The board gets a row before what depends on it, and once: this is added to it before the port with the errors.
class QpRows final : public StagePort, private LinkObserver {
 public:
  QpRows(StageBoard& board, Link<QpEvent>& errors, const ContextTables& contexts)
      : board_(board), link_(errors), contexts_(contexts), told_(contexts.qps()) {
    link_.observe(*this);
  }
  ~QpRows() override { link_.forget(*this); }
  QpRows(const QpRows&) = delete;
  QpRows& operator=(const QpRows&) = delete;

  Cycle oldest() const override { return changes_.empty() ? kNever : changes_.front().cycle; }
  void hand_over() override {
    const Change& change = changes_.front();
    golden::QpRow row;
    row.qp.valid = change.life.valid;
    row.qp.epoch = change.life.epoch;
    board_.row("qp", change.qpn.v, structure_.of(row), change.cycle);
    changes_.drop();
  }
  void tell_stall(Cycle) override {}
  bool empty() const override { return true; }

 private:
  struct Change {
    Cycle cycle;
    Qpn qpn;
    QpLife life;
  };
  void reserved(Cycle, Cycle) override {}
  void filled(const void* beat, Cycle, Cycle) override { on_link_.push(static_cast<const QpEvent*>(beat)->qpn); }
  void popped(Cycle now, Cycle) override {
    const Qpn qpn = on_link_.pop();
    const QpLife life = contexts_.life(qpn);
    QpLife& told = told_[qpn.v];
    if (told.valid == life.valid && told.epoch == life.epoch) return;
    told = life;
    changes_.push({now, qpn, life});
  }
  void emptied(Cycle now) override {
    board_.emptied(now);
    changes_.clear();
    on_link_.clear();
    told_.assign(told_.size(), {});
  }

  StageBoard& board_;
  LinkBase& link_;
  const ContextTables& contexts_;
  std::vector<QpLife> told_;  // by QP
  Ring<Qpn> on_link_;
  Ring<Change> changes_;
  Structure<golden::QpRow> structure_;
};

}  // namespace rnic::scoreboard
