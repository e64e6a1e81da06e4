// The contexts as stages see them: tables that are read through ports, and what is always on the chip (alive.h). The
// firmware's side of them is in context.h.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "model/abi/context_types.h"
#include "model/common/owners.h"
#include "model/common/registered.h"
#include "model/common/request_id.h"
#include "model/rnic/context/alive.h"
#include "model/rnic/context/cq_table.h"
#include "model/rnic/context/irrq_table.h"
#include "model/rnic/context/orq_table.h"
#include "model/rnic/context/page_table.h"
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

// When the receive side of a queue pair is fetched before a segment of it is there.
enum class QpPrefetch : std::uint8_t { kNone, kFrame };
inline constexpr std::array<Named<QpPrefetch>, 2> kQpPrefetches{
    {{QpPrefetch::kNone, "none"}, {QpPrefetch::kFrame, "frame"}}};

struct QpCacheConfig : ChangedRowsConfig {
  QpFetch fetch = QpFetch::kHalf;
  QpPrefetch prefetch = QpPrefetch::kNone;
  template <class V>
  static void fields(V& v) {
    ChangedRowsConfig::fields(v);
    v("fetch", &QpCacheConfig::fetch,
      "what is on the chip or not: each half of a queue pair on its own, or the queue pair as one object",
      one_of(kQpFetches));
    v("prefetch", &QpCacheConfig::prefetch,
      "when the receive side is fetched: with its first use, or already with a frame of TCP in order",
      one_of(kQpPrefetches));
  }
};

// What a queue pair may have on the chip at a time.
struct QpElements {
  unsigned ird = 32, ord = 32;  // requests of the peer; Reads and atomics of ours
  unsigned wqes = 8, rqes = 8;  // entries of its send ring; of its receive ring, and of a shared one
  // Of all queue pairs: work requests that have begun; entries of send rings and of receive rings beside one of each.
  unsigned outstanding = 64 << 10, shared_wqes = 1 << 20, shared_rqes = 1 << 20;

  static std::size_t entries(std::size_t rings, unsigned of_ring, unsigned shared) {
    return std::min(rings * of_ring, rings + shared);
  }
};

class ContextTables : public Alive, public Owners, protected Committed {
 public:
  struct Sizes {
    unsigned qps = 256, flows = 256, cqs = 256, stags = 1024, srqs = 64, pages = 1024;
    std::uint32_t node = 0;
    TableConfig page_table = {}, stag_table = StagTableConfig{}, cq_table = {}, tx_table = TxTableConfig{},
                rx_table = RxTableConfig{}, sqc_table = SqcTableConfig{}, sq_table = {}, rq_table = {}, srq_table = {},
                irrq_table = {}, orq_table = OrqTableConfig{};
    CacheConfig page_cache = {}, cq_cache = {}, stag_cache = {}, srq_cache = {};
    QpCacheConfig qp_cache = {};
    bool home_in_host = true;     // of what is cached
    std::size_t homed_flows = 0;  // of a lower layer: flows that are not all on the chip, or 0
    const char* chip = "chip";    // before the names of tables
    QpElements elements = {};
  };

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

  using Alive::has;
  bool has(Qpn n) const final { return Alive::has(n); }
  // What a queue pair may have on the chip.
  const QpElements& elements() const { return elements_; }

  // The STag names nothing from the next cycle on, whatever else is written to its entry in this one.
  void end(Stag s) {
    stag_ends_.push_back(s);
    stag_table.cache().expect_change();
    clk_.commit_later(*this);
  }
  // Calls the stage when a context has changed.
  void wake_at_change(Stage& stage) { waiters_.add(stage); }

  // For observers: what the peer has outstanding on a queue pair, of a chip with all rows.
  QpIrrq inbound(Qpn n) const { return irrq_table.peek(n.v)->current(); }

  // Owners of beats, TLPs and frames (RequestId). The driver passes a work request's place in the queue as wr_id.
  RequestId request(Qpn n, std::uint64_t wr_id) const final { return owner(RequestId::Kind::kSend, n, wr_id); }
  RequestId request(Rqn n, std::uint64_t wr_id) const final {
    if (!n.shared) return owner(RequestId::Kind::kReceive, Qpn{n.v}, wr_id);
    return {node_, RequestId::Kind::kSharedReceive, n.v, use_of(receive_ring(n).epoch), wr_id};
  }
  RequestId receive_request(Qpn n, std::uint64_t wr_id) const final {
    const Rqn from = receives_from(n);
    return request(from, from.shared ? wr_id >> abi::kSharedSlotBits : wr_id);
  }
  RequestId internal_work(Qpn n) const { return owner(RequestId::Kind::kInternal, n, 0); }
  RequestId queue_pair(Qpn n) const final { return owner(RequestId::Kind::kQueuePair, n, 0); }
  RequestId completion_queue(Cqn n) const {
    return {node_, RequestId::Kind::kCompletionQueue, n.v, use_of(epoch(n)), 0};
  }
  RequestId context(abi::ContextKind kind, std::uint32_t row) const {
    return {node_, RequestId::Kind::kContext, static_cast<std::uint32_t>(kind), 0, row};
  }
  std::uint32_t node() const { return node_; }

 protected:
  ContextTables(ClockDomain& clk, const Sizes& sizes)
      : Alive(sizes.qps, sizes.cqs, sizes.srqs),
        in_flight(clk),
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
        srq_table(std::string(sizes.chip) + ".srq_table", clk, sizes.srqs, sizes.srq_table, sizes.srq_cache),
        irrq_table(std::string(sizes.chip) + ".irrq_table", clk, sizes.qps, sizes.irrq_table, rx_table.shared_cache()),
        orq_table(std::string(sizes.chip) + ".orq_table", clk, sizes.qps, sizes.orq_table, tx_table.shared_cache()),
        clk_(clk),
        node_(sizes.node),
        elements_(sizes.elements) {}
  ~ContextTables() = default;
  // How many uses of the number there were before.
  std::uint32_t use_of(std::uint32_t epoch) const { return lives_ + epoch - (epoch != 0); }

  ClockDomain& clk_;
  std::vector<Stag> stag_ends_;
  Waiters waiters_;
  std::uint32_t lives_ = 0;  // uses of numbers before the last reset of the chip, which restarts the epochs

 private:
  RequestId owner(RequestId::Kind kind, Qpn n, std::uint64_t sequence) const {
    return {node_, kind, n.v, use_of(epoch(n)), sequence};
  }
  const std::uint32_t node_;
  const QpElements elements_;
};

}  // namespace rnic
