// The contexts: written by the firmware, read by the stages.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "model/abi/context_types.h"
#include "model/common/owners.h"
#include "model/common/registered.h"
#include "model/common/request_id.h"
#include "model/rnic/context/cq_table.h"
#include "model/rnic/context/flow_rows.h"
#include "model/rnic/context/home_layout.h"
#include "model/rnic/context/irrq_table.h"
#include "model/rnic/context/orq_table.h"
#include "model/rnic/context/page_table.h"
#include "model/rnic/context/resident_qp.h"
#include "model/rnic/context/ring_table.h"
#include "model/rnic/context/rx_table.h"
#include "model/rnic/context/sqc_table.h"
#include "model/rnic/context/stag_table.h"
#include "model/rnic/context/stag_writes.h"
#include "model/rnic/context/tx_table.h"

namespace rnic {

// Of a queue pair: its transmit and its receive context each on its own, or both at once.
enum class QpFetch : std::uint8_t { kHalf, kObject };
inline constexpr std::array<Named<QpFetch>, 2> kQpFetches{{{QpFetch::kHalf, "half"}, {QpFetch::kObject, "object"}}};

struct QpCacheConfig : CacheConfig {
  QpFetch fetch = QpFetch::kHalf;
  template <class V>
  static void fields(V& v) {
    CacheConfig::fields(v);
    v("fetch", &QpCacheConfig::fetch,
      "what is on the chip or not: each half of a queue pair on its own, or the queue pair as one object",
      one_of(kQpFetches));
  }
};

// What a queue pair may have on the chip at a time.
struct QpElements {
  unsigned ird = 32, ord = 32;      // requests of the peer; Reads and atomics of ours
  unsigned wqes = 8, rqes = 8;      // entries of its send ring; of its receive ring, and of a shared one
  unsigned outstanding = 64 << 10;  // work requests that have begun, of all queue pairs
};

// Flat tables. A write is visible from the next cycle on, to every stage alike.
class ContextStore final : public Committed, public Part, public Owners {
 public:
  struct Sizes {
    unsigned qps = 256, flows = 256, cqs = 256, stags = 1024, srqs = 64, pages = 1024;
    std::uint32_t node = 0;
    TableConfig page_table = {}, stag_table = StagTableConfig{}, cq_table = {}, tx_table = TxTableConfig{},
                rx_table = RxTableConfig{}, sqc_table = SqcTableConfig{}, sq_table = {}, rq_table = {}, srq_table = {},
                irrq_table = {}, orq_table = OrqTableConfig{};
    CacheConfig page_cache = {}, cq_cache = {}, stag_cache = {};
    QpCacheConfig qp_cache = {};
    bool home_in_host = true;     // of what is cached
    std::size_t homed_flows = 0;  // of a lower layer: flows that are not all on the chip, or 0
    const char* chip = "chip";    // before the names of tables
    QpElements elements = {};
  };
  ContextStore(ClockDomain& clk, const Sizes& sizes)
      : in_flight(clk),
        page_table(std::string(sizes.chip) + ".page_table", clk, PageRow::rows(sizes.pages), sizes.page_table,
                   sizes.page_cache),
        stag_table(std::string(sizes.chip) + ".stag_table", clk, sizes.stags, sizes.stag_table, sizes.stag_cache),
        cq_table(std::string(sizes.chip) + ".cq_table", clk, sizes.cqs, sizes.cq_table, sizes.cq_cache),
        tx_table(std::string(sizes.chip) + ".tx_table", clk, sizes.qps, sizes.tx_table, sizes.qp_cache),
        rx_table(
            std::string(sizes.chip) + ".rx_table", clk, sizes.qps, sizes.rx_table,
            sizes.qp_cache.fetch == QpFetch::kObject
                ? tx_table.shared_cache()
                : std::make_shared<RowCache>(std::string(sizes.chip) + ".rx_table", clk, sizes.qps, sizes.qp_cache)),
        sqc_table(std::string(sizes.chip) + ".sqc_table", clk, sizes.qps, sizes.sqc_table, tx_table.shared_cache()),
        sq_table(std::string(sizes.chip) + ".sq_table", clk, sizes.qps, sizes.sq_table, tx_table.shared_cache()),
        rq_table(std::string(sizes.chip) + ".rq_table", clk, sizes.qps, sizes.rq_table, rx_table.shared_cache()),
        srq_table(std::string(sizes.chip) + ".srq_table", clk, sizes.srqs, sizes.srq_table),
        irrq_table(std::string(sizes.chip) + ".irrq_table", clk, sizes.qps, sizes.irrq_table, rx_table.shared_cache()),
        orq_table(std::string(sizes.chip) + ".orq_table", clk, sizes.qps, sizes.orq_table, tx_table.shared_cache()),
        clk_(clk),
        node_(sizes.node),
        qps_(sizes.qps),
        flows_(sizes.flows),
        cqs_(sizes.cqs),
        srqs_(sizes.srqs),
        pages_(sizes.pages),
        home_in_host_(sizes.home_in_host),
        homed_flows_(sizes.homed_flows),
        elements_(sizes.elements) {}

  StagWrites in_flight;  // to memory that STags name
  PageTable page_table;
  StagTable stag_table;
  CqTable cq_table;
  TxTable tx_table;
  RxTable rx_table;
  SqcTable sqc_table;
  RingTable sq_table, rq_table, srq_table;
  IrrqTable irrq_table;
  OrqTable orq_table;

  const ResidentQp& qp(Qpn n) const { return at(qps_, n.v); }
  const ResidentRing& srq(Srqn n) const { return at(srqs_, n.v); }
  // The entry an STag points at, for observers, which are no hardware: nullptr if it is not on the chip or outside the
  // table.
  const StagContext* stag(Stag s) const { return row(s) != nullptr ? &row(s)->stag : nullptr; }

  // For observers: what the peer has outstanding on a queue pair, of a chip with all rows.
  QpIrrq inbound(Qpn n) const { return irrq_table.peek(n.v)->current(); }

  // For numbers that come from the host: whether they are inside the table.
  bool has(Qpn n) const override { return n.v < qps_.size(); }
  bool has(Rqn n) const { return n.v < (n.shared ? srqs_.size() : qps_.size()); }
  bool has(Cqn n) const { return n.v < cqs_.size(); }
  // Whether that use of the number goes on.
  bool is_alive(Qpn n, std::uint32_t epoch) const { return qp(n).valid && qp(n).epoch == epoch; }
  ResidentRing send_ring(Qpn n) const {
    const ResidentQp& c = qp(n);
    return {c.valid, c.log_sq, c.epoch};
  }
  ResidentRing receive_ring(Rqn n) const {
    if (n.shared) return srq(Srqn{n.v});
    const ResidentQp& c = qp(Qpn{n.v});
    return {c.valid && !c.shares_rq, c.log_rq, c.epoch};
  }
  // For tables of all receive queues: the queue pairs' own first.
  std::size_t receive_queues() const { return qps_.size() + srqs_.size(); }
  std::size_t index(Rqn n) const { return n.shared ? qps_.size() + n.v : n.v; }

  // `count` flows from `first` on are those of a lower layer, which has their rows.
  void keep_flows_in(FlowRows& rows, FlowId first, std::size_t count) { flow_rows_.push_back({rows, first, count}); }
  // For observers: the QP that a flow carries; none if the two do not belong to each other (any more).
  std::optional<Qpn> qp_of(FlowId f) const override {
    const Qpn n = rows_of(f).peek(f).qpn;
    return has(n) && qp(n).flow == f ? std::optional(n) : std::nullopt;
  }

  // Owners of beats, TLPs and frames (RequestId). The driver passes a work request's place in the queue as wr_id.
  RequestId request(Qpn n, std::uint64_t wr_id) const override { return owner(RequestId::Kind::kSend, n, wr_id); }
  RequestId request(Rqn n, std::uint64_t wr_id) const override {
    if (!n.shared) return owner(RequestId::Kind::kReceive, Qpn{n.v}, wr_id);
    return {node_, RequestId::Kind::kSharedReceive, n.v, life(srq(Srqn{n.v}).epoch), wr_id};
  }
  RequestId receive_request(Qpn n, std::uint64_t wr_id) const override {
    const ResidentQp& c = qp(n);
    return c.shares_rq ? request(Rqn(c.srq()), wr_id >> abi::kSharedSlotBits) : request(Rqn(n), wr_id);
  }
  RequestId internal_work(Qpn n) const { return owner(RequestId::Kind::kInternal, n, 0); }
  RequestId queue_pair(Qpn n) const override { return owner(RequestId::Kind::kQueuePair, n, 0); }
  RequestId completion_queue(Cqn n) const {
    return {node_, RequestId::Kind::kCompletionQueue, n.v, life(at(cqs_, n.v).epoch), 0};
  }
  RequestId context(abi::ContextKind kind, std::uint32_t row) const {
    return {node_, RequestId::Kind::kContext, static_cast<std::uint32_t>(kind), 0, row};
  }
  std::uint32_t node() const { return node_; }

  std::size_t qps() const { return qps_.size(); }
  std::size_t flows() const { return flows_; }
  std::size_t cqs() const { return cqs_.size(); }
  std::size_t srqs() const { return srqs_.size(); }
  std::size_t pages() const { return pages_; }
  // That the host gives for rows that are not on the chip.
  std::uint32_t home_pages() const {
    if (!home_in_host_) return 0;
    return static_cast<std::uint32_t>((home_layout().bytes() + abi::kHomePageBytes - 1) >> abi::kLogHomePage);
  }
  HomeLayout home_layout() const { return {page_table, cq_table, stag_table, tx_table, homed_flows_}; }
  bool is_homed(FlowId f) const { return f.v < homed_flows_; }
  std::size_t stags() const { return stag_table.rows(); }
  const QpElements& elements() const { return elements_; }

  void describe(const Description& d) override;  // how many entries of each table are valid

  void write(Qpn n, const QpContext& c) {
    stage(qp_writes_, qps_, n.v, ResidentQp(c));
    tx_table.write(n.v, &TxRow::qp, TxContext::of(c));
    rx_table.write(n.v, &RxRow::qp, RxContext::of(c));
    sqc_table.write(n.v, &SqcRow::qp, SqcContext::of(c));
    irrq_table.write(n.v, &IrrqRow::qp, IrrqContext::of(c));
    orq_table.write(n.v, &OrqRow::qp, OrqContext::of(c));
    sq_table.write(n.v, &RingRow::base, c.sq_base);
    rq_table.write(n.v, &RingRow::base, c.rq_base);
    if (begins(n, c)) tx_table.cache().renew(n.v), rx_table.cache().renew(n.v);
  }
  bool begins(Qpn n, const QpContext& c) const { return c.valid && c.epoch != qp(n).epoch; }
  void write(FlowId f, const FlowContext& c) { rows_of(f).write(f, c); }
  void write(Cqn n, const CqContext& c) {
    cq_table.write(n.v, &CqRow::cq, c);
    if (begins(n, c) || !c.valid) cq_table.cache().renew(n.v);
    stage(cq_writes_, cqs_, n.v, CqLife{c.epoch & 0x7fffffff, c.valid});
  }
  bool exists(Cqn n) const { return at(cqs_, n.v).valid; }
  std::uint32_t epoch(Cqn n) const { return at(cqs_, n.v).epoch; }
  bool begins(Cqn n, const CqContext& c) const { return c.valid && !exists(n); }
  void write(Srqn n, const SrqContext& c) {
    stage(srq_writes_, srqs_, n.v, ResidentRing{c.valid, c.log_entries, c.epoch});
    srq_table.write(n.v, &RingRow::base, c.base);
  }
  void write_page(std::uint32_t i, std::uint64_t bus_address) {
    RNIC_CHECK(i < pages_);
    page_table.write(i / PageRow::kPages, &PageRow::page, i % PageRow::kPages, bus_address);
  }
  // Of an entry on the chip, as is that of a window's region.
  void write(Stag s, const StagContext& c) {
    RNIC_CHECK(stag_table.has(index_of(s)));
    stag_writes_.emplace_back(index_of(s), c);
    clk_.commit_later(*this);
  }
  // Names nothing from the next cycle on, whatever else is written to the entry in this one.
  void end(Stag s) {
    stag_ends_.push_back(s);
    clk_.commit_later(*this);
  }
  // Of one that could not be fetched: nobody knows what it was.
  void replace(Stag s, const StagContext& c) { stag_table.replace(index_of(s), {c, 0}); }

  // Calls the stage when a context has changed.
  void wake_at_change(Stage& stage) { waiters_.add(stage); }

  // No context is valid from the next cycle on.
  void reset() {
    std::uint32_t newest = 0;
    const auto note = [&newest](const auto& table) {
      for (const auto& c : table) newest = std::max(newest, c.epoch);
    };
    note(qps_), note(cqs_), note(srqs_);
    lives_ = life(newest) + 1;
    in_flight.reset();
    clear(qp_writes_, qps_);
    tx_table.reset();
    rx_table.reset();
    sqc_table.reset();
    irrq_table.reset();
    orq_table.reset();
    sq_table.reset();
    rq_table.reset();
    srq_table.reset();
    clear(cq_writes_, cqs_);
    cq_table.reset();
    stag_writes_.clear();
    stag_ends_.clear();
    stag_table.reset();
    valid_stags_ = 0;
    clear(srq_writes_, srqs_);
    page_table.reset();
  }

  void commit() override {
    apply(qp_writes_, qps_);
    tx_table.settle_writes();
    rx_table.settle_writes();
    sqc_table.settle_writes();
    irrq_table.settle_writes();
    orq_table.settle_writes();
    sq_table.settle_writes();
    rq_table.settle_writes();
    srq_table.settle_writes();
    apply(cq_writes_, cqs_);
    cq_table.settle_writes();
    apply_stags();
    apply(srq_writes_, srqs_);
    waiters_.wake();
  }

 private:
  RequestId owner(RequestId::Kind kind, Qpn n, std::uint64_t sequence) const {
    return {node_, kind, n.v, life(qp(n).epoch), sequence};
  }
  // The number's earlier uses; a reset of the chip restarts the epochs.
  std::uint32_t life(std::uint32_t epoch) const { return lives_ + epoch - (epoch != 0); }
  const StagRow* row(Stag s) const { return stag_table.has(index_of(s)) ? stag_table.peek(index_of(s)) : nullptr; }
  void apply_stags();
  const StagRow& entry(std::uint32_t index) const;
  void apply_stag(std::uint32_t index, const StagContext& c);
  void count_window(Stag region, int change);
  FlowRows& rows_of(FlowId f) const;

  template <class C>
  using Writes = std::vector<std::pair<std::uint32_t, C>>;
  template <class C>
  static const C& at(const std::vector<C>& table, std::uint32_t i) {
    RNIC_CHECK(i < table.size());
    return table[i];
  }
  template <class C>
  void stage(Writes<C>& writes, const std::vector<C>& table, std::uint32_t i, const C& c) {
    RNIC_CHECK(i < table.size());
    writes.emplace_back(i, c);
    clk_.commit_later(*this);
  }
  template <class C>
  static void apply(Writes<C>& writes, std::vector<C>& table) {
    for (const auto& [i, c] : writes) table[i] = c;
    writes.clear();
  }
  template <class C>
  static void clear(Writes<C>& writes, std::vector<C>& table) {
    writes.clear();
    table.assign(table.size(), {});
  }

  ClockDomain& clk_;
  const std::uint32_t node_;
  std::uint32_t lives_ = 0;
  std::vector<ResidentQp> qps_;
  const std::size_t flows_;
  struct FlowsOfLlp {
    FlowRows& rows;
    FlowId first;
    std::size_t count;
  };
  std::vector<FlowsOfLlp> flow_rows_;
  // Always on the chip: whether there is such a queue, in which use of its number.
  struct CqLife {
    std::uint32_t epoch : 31;
    std::uint32_t valid : 1;
  };
  std::vector<CqLife> cqs_;
  std::vector<ResidentRing> srqs_;
  const std::size_t pages_;
  const bool home_in_host_;
  const std::size_t homed_flows_;
  const QpElements elements_;
  Writes<ResidentQp> qp_writes_;
  Writes<CqLife> cq_writes_;
  Writes<StagContext> stag_writes_;
  std::vector<Stag> stag_ends_;
  std::uint32_t valid_stags_ = 0;
  Writes<ResidentRing> srq_writes_;
  Waiters waiters_;
};

}  // namespace rnic
