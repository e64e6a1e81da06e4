// Prefetches work queue entries of the QPs whose doorbell rang. One instance serves the send rings, one the receive
// rings. See wqe_fetch.md.
#pragma once

#include <array>
#include <vector>

#include "model/common/link.h"
#include "model/common/node_pool.h"
#include "model/config/field.h"
#include "model/rnic/context/context.h"
#include "model/rnic/context/qp_events.h"
#include "model/rnic/dma.h"
#include "model/rnic/host_abi.h"
#include "model/rnic/pcie/doorbells.h"
#include "model/stats/registry.h"

namespace rnic {

struct FetchedWqe {
  Qpn qpn;
  bool ok = true;  // false: host memory could not be read; wqe is empty
  abi::Wqe wqe;
};
// The consumer is done with one entry: its place in the prefetch buffer is free.
struct WqeTaken {
  Qpn qpn;
};

struct WqeFetchConfig {
  unsigned prefetch = 8;  // per QP
  unsigned batch = 4;
  unsigned reads = 16;
  template <class V>
  static void fields(V& v) {
    v("prefetch", &WqeFetchConfig::prefetch, "entries of one QP on chip, fetched or in flight", in_range(1, 256),
      unit("WQEs"));
    v("batch", &WqeFetchConfig::batch, "most entries that one DMA read brings", in_range(1, 8), unit("WQEs"));
    v("reads", &WqeFetchConfig::reads, "DMA reads in flight over all QPs", in_range(1, 64));
  }
};

// Doorbell is SqDoorbell or RqDoorbell.
template <class Doorbell>
class WqeFetch final : public Stage {
 public:
  PopPort<Doorbell> doorbell{*this, "doorbell"};
  PopPort<WqeTaken> taken{*this, "taken"};
  PushPort<DmaReadRequest> dma{*this, "dma"};
  PopPort<DmaReadDone> dma_done{*this, "dma_done"};
  PushPort<FetchedWqe> out{*this, "out"};
  PushPort<Doorbell> posted{*this, "posted", kOptional};  // doorbells, passed on; may stay unbound
  PushPort<QpEvent> event{*this, "event", kOptional};     // doorbells that make no sense; unbound: nobody looks

  WqeFetch(sc_core::sc_module_name nm, ClockDomain& clk, const ContextStore& contexts, const WqeFetchConfig& cfg);
  Wake tick() override;
  std::string waiting_for() const override;
  void register_stats(const StatsGroup& group) const;
  const Counter& stray_doorbells() const { return stray_doorbells_; }
  const Counter& overruns() const { return overruns_; }

 private:
  // Ring positions count modulo 4096, as the doorbell's producer index does.
  static constexpr std::uint32_t kIndexMask = 0xfff;
  struct QpRing {
    std::uint32_t epoch = 0;
    std::uint16_t producer = 0;  // announced by the host
    std::uint16_t issued = 0;    // read, or being read
    std::uint16_t taken = 0;     // given back by the consumer
    bool listed = false;
  };
  struct Read {
    Qpn qpn;
    std::uint32_t epoch = 0;
    unsigned count = 0, delivered = 0;
    bool done = false, ok = false;
  };

  QpRing& ring(Qpn qpn);
  bool overruns(const Doorbell& d, const QpRing& r) const;
  unsigned fetchable(Qpn qpn, const QpRing& r) const;
  void announce(const Doorbell& d);
  void give_back(Qpn qpn);
  void list(Qpn qpn);
  bool issue();
  bool deliver();
  std::uint8_t* memory(unsigned read) { return &memory_[std::size_t{read} * cfg_.batch * abi::kWqeBytes]; }

  const ContextStore& contexts_;
  const WqeFetchConfig cfg_;
  std::vector<QpRing> rings_;
  NodePool<Qpn> pool_;
  PooledQueue listed_;       // QPs with something to fetch, served in turn
  std::vector<Read> reads_;  // a ring in order of issue
  unsigned first_ = 0, used_ = 0;
  std::vector<std::uint8_t> memory_;
  Counter wqes_, dma_reads_, stray_doorbells_, overruns_;
};

}  // namespace rnic
