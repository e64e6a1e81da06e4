// The contexts as the firmware sees them: it writes them. Stages see their tables (tables.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "model/common/owners.h"
#include "model/rnic/context/context_observer.h"
#include "model/rnic/context/flow_rows.h"
#include "model/rnic/context/home_layout.h"
#include "model/rnic/context/tables.h"

namespace rnic {

// A write is visible from the next cycle on, to every stage alike.
class ContextStore final : public ContextTables, public Part {
 public:
  ContextStore(ClockDomain& clk, const Sizes& sizes)
      : ContextTables(clk, sizes),
        flows_(sizes.flows),
        pages_(sizes.pages),
        home_in_host_(sizes.home_in_host),
        homed_flows_(sizes.homed_flows) {
    stag_table.cache().commits_behind(*this);
  }

  // The entry an STag points at, for observers, which are no hardware: nullptr if it is not on the chip or outside the
  // table.
  const StagContext* stag(Stag s) const { return row(s) != nullptr ? &row(s)->stag : nullptr; }

  // `count` flows from `first` on are those of a lower layer, which has their rows.
  void keep_flows_in(FlowRows& rows, FlowId first, std::size_t count) { flow_rows_.push_back({rows, first, count}); }
  // For observers: the QP that a flow carries; none if the two do not belong to each other (any more).
  std::optional<Qpn> qp_of(FlowId f) const override {
    const Qpn n = rows_of(f).peek(f).qpn;
    return has(n) && flow_of(n) == f ? std::optional(n) : std::nullopt;
  }

  std::size_t flows() const { return flows_; }
  std::size_t pages() const { return pages_; }
  std::size_t stags() const { return stag_table.rows(); }
  // That the host gives for rows that are not on the chip.
  std::uint32_t home_pages() const {
    if (!home_in_host_) return 0;
    return static_cast<std::uint32_t>((home_layout().bytes() + abi::kHomePageBytes - 1) >> abi::kLogHomePage);
  }
  HomeLayout home_layout() const { return {page_table, cq_table, stag_table, tx_table, homed_flows_, srq_table}; }
  bool is_homed(FlowId f) const { return f.v < homed_flows_; }

  void describe(const Description& d) override;  // how many entries of each table are valid

  void observe(ContextObserver& observer) { observers_.push_back(&observer); }
  void forget(ContextObserver& observer);
  // The rows that are there, as if they were written now, regions before windows; of tables that are whole on
  // the chip.
  void show_rows(ContextObserver& observer) const;

  void write(Qpn n, const QpContext& c) {
    qps_.write(n.v, ResidentQp(c));
    clk_.commit_later(*this);
    tx_table.write(n.v, &TxRow::qp, TxContext::of(c));
    rx_table.write(n.v, &RxRow::qp, RxContext::of(c));
    sqc_table.write(n.v, &SqcRow::qp, SqcContext::of(c));
    irrq_table.write(n.v, &IrrqRow::qp, IrrqContext::of(c));
    orq_table.write(n.v, &OrqRow::qp, OrqContext::of(c));
    sq_table.write(n.v, &RingRow::base, c.sq_base);
    rq_table.write(n.v, &RingRow::base, c.rq_base);
    if (begins(n, c)) tx_table.cache().renew(n.v), rx_table.cache().renew(n.v);
    for (ContextObserver* o : observers_) o->wrote(n, c);
  }
  bool begins(Qpn n, const QpContext& c) const { return c.valid && c.epoch != epoch(n); }
  void write(FlowId f, const FlowContext& c) { rows_of(f).write(f, c); }
  void write(Cqn n, const CqContext& c) {
    cq_table.write(n.v, &CqRow::cq, c);
    if (begins(n, c) || !c.valid) cq_table.cache().renew(n.v);
    cqs_.write(n.v, ResidentCq(c));
    clk_.commit_later(*this);
  }
  bool begins(Cqn n, const CqContext& c) const { return c.valid && !exists(n); }
  void write(Srqn n, const SrqContext& c) {
    srqs_.write(n.v, ResidentRing{c.valid, c.log_entries, c.epoch});
    clk_.commit_later(*this);
    srq_table.write(n.v, &RingRow::base, c.base);
    srq_table.cache().renew(n.v);
    for (ContextObserver* o : observers_) o->wrote(n, c);
  }
  void write_page(std::uint32_t i, std::uint64_t bus_address) {
    RNIC_CHECK(i < pages_);
    page_table.write(i / PageRow::kPages, &PageRow::page, i % PageRow::kPages, bus_address);
    for (ContextObserver* o : observers_) o->wrote_page(i, bus_address);
  }
  // Of an entry on the chip, as is that of a window's region.
  void write(Stag s, const StagContext& c) {
    RNIC_CHECK(stag_table.has(index_of(s)));
    stag_writes_.emplace_back(index_of(s), c);
    stag_table.cache().expect_change();
    clk_.commit_later(*this);
  }
  // Of one that could not be fetched: nobody knows what it was.
  void replace(Stag s, const StagContext& c) {
    stag_table.replace(index_of(s), {c, 0});
    for (ContextObserver* o : observers_) o->wrote_stag(index_of(s), c);
  }

  // No context is valid from the next cycle on.
  void reset() {
    lives_ = use_of(newest_epoch()) + 1;
    reset_lives();
    in_flight.reset();
    tx_table.reset();
    rx_table.reset();
    sqc_table.reset();
    irrq_table.reset();
    orq_table.reset();
    sq_table.reset();
    rq_table.reset();
    srq_table.reset();
    cq_table.reset();
    stag_writes_.clear();
    stag_ends_.clear();
    stag_table.reset();
    valid_stags_ = 0;
    page_table.reset();
    for (ContextObserver* o : observers_) o->emptied();
  }

  void commit() override {
    tx_table.settle_writes();
    rx_table.settle_writes();
    sqc_table.settle_writes();
    irrq_table.settle_writes();
    orq_table.settle_writes();
    sq_table.settle_writes();
    rq_table.settle_writes();
    srq_table.settle_writes();
    cq_table.settle_writes();
    apply_stags();
    settle_lives();
    waiters_.wake();
  }

 private:
  const StagRow* row(Stag s) const { return stag_table.has(index_of(s)) ? stag_table.peek(index_of(s)) : nullptr; }
  void apply_stags();
  const StagRow& entry(std::uint32_t index) const;
  void apply_stag(std::uint32_t index, const StagContext& c);
  void count_window(Stag region, int change);
  FlowRows& rows_of(FlowId f) const;
  QpContext qp(Qpn n) const;

  const std::size_t flows_, pages_;
  struct FlowsOfLlp {
    FlowRows& rows;
    FlowId first;
    std::size_t count;
  };
  std::vector<FlowsOfLlp> flow_rows_;
  const bool home_in_host_;
  const std::size_t homed_flows_;
  std::vector<std::pair<std::uint32_t, StagContext>> stag_writes_;
  std::uint32_t valid_stags_ = 0;
  std::vector<ContextObserver*> observers_;
};

}  // namespace rnic
