// Prefetches work queue entries of the rings whose doorbell rang. One instance serves the send rings, one the receive
// rings, shared ones included. See wqe_fetch.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/abi/host_abi.h"
#include "model/common/account.h"
#include "model/common/link.h"
#include "model/common/node_pool.h"
#include "model/common/ring.h"
#include "model/common/shared_room.h"
#include "model/config/field.h"
#include "model/rnic/context/tables.h"
#include "model/rnic/messages/dma.h"
#include "model/rnic/messages/doorbells.h"
#include "model/rnic/messages/qp_events.h"
#include "model/rnic/messages/work_requests.h"

namespace rnic {

// What an instance of WqeFetch moves, and the port that only this instance has, by its doorbell.
template <class Doorbell>
struct RingSide;
template <>
struct RingSide<SqDoorbell> {
  using Queue = Qpn;
  using Fetched = FetchedWqe;
  using Taken = WqeTaken;
  struct OwnPort {
    explicit OwnPort(Stage& stage) : event(stage, "event") {}
    PushPort<QpEvent> event;  // invalid doorbells
  };
};
template <>
struct RingSide<RqDoorbell> {
  using Queue = Rqn;
  using Fetched = FetchedRqe;
  using Taken = RqeTaken;
  struct OwnPort {
    explicit OwnPort(Stage& stage)
        : posted(stage, "posted"), shared_row(stage, "rqe_fetch_shared", 0, RowOrder::kAsTheyCome) {}
    PushPort<RqDoorbell> posted;   // doorbells, for the placement, which counts separately
    RingTable::Reader shared_row;  // of shared rings
  };
};

struct WqeFetchConfig {
  unsigned prefetch = 8;  // per ring
  unsigned batch = 4;
  unsigned reads = 16;
  unsigned shared = 1 << 20;
  template <class V>
  static void fields(V& v) {
    v("prefetch", &WqeFetchConfig::prefetch, "entries of one ring on chip, fetched or in flight", in_range(1, 256),
      unit("WQEs"));
    v("shared", &WqeFetchConfig::shared, "entries of all rings on chip, fetched or in flight, beside one of each ring",
      in_range(0, 1 << 26), unit("WQEs"));
    v("batch", &WqeFetchConfig::batch, "most entries per DMA read", in_range(1, 8), unit("WQEs"));
    v("reads", &WqeFetchConfig::reads, "DMA reads in flight over all rings", in_range(1, 64));
  }
};

struct WqeFetchCounters {
  std::uint64_t wqes = 0, dma_reads = 0, overruns = 0, stray_doorbells = 0, waits = 0;
  template <class V>
  static void fields(V& v) {
    v("wqes", &WqeFetchCounters::wqes, "WQEs", "work queue entries fetched");
    v("dma_reads", &WqeFetchCounters::dma_reads, "reads", "DMA reads of work queue entries");
    v("overruns", &WqeFetchCounters::overruns, "doorbells",
      "doorbells that announced more entries than the ring can hold");
    v("stray_doorbells", &WqeFetchCounters::stray_doorbells, "doorbells",
      "doorbells for a ring that does not exist, dropped");
    v("waits", &WqeFetchCounters::waits, "stalls", "of rings that could not fetch, as all shared entries were taken");
  }
};

// Entries on chip that all rings share, beside the one that each has.
class SharedEntries final : public SharedRoom<RingId> {
 public:
  // `batch`: that are taken at once.
  SharedEntries(ClockDomain& clk, std::uint32_t entries, std::size_t rings, unsigned batch)
      : SharedRoom(clk, {entries, entries}, RingId{}, rings, batch, Sharers::kHolders, counters_) {}
  const SharedRoomCounters& counters() const { return counters_; }

 private:
  SharedRoomCounters counters_;
};

// Doorbell is SqDoorbell or RqDoorbell.
template <class Doorbell>
class WqeFetch final : public Stage, public RingSide<Doorbell>::OwnPort {
  using Queue = typename RingSide<Doorbell>::Queue;
  using Fetched = typename RingSide<Doorbell>::Fetched;
  using Taken = typename RingSide<Doorbell>::Taken;

 public:
  PopPort<Doorbell> doorbell{*this, "doorbell"};
  PopPort<Taken> taken{*this, "taken"};
  PushPort<DmaReadRequest> dma{*this, "dma"};
  PopPort<DmaReadDone> dma_done{*this, "dma_done"};
  PushPort<Fetched> out{*this, "out"};

  WqeFetch(sc_core::sc_module_name nm, ClockDomain& clk, ContextTables& contexts, const WqeFetchConfig& cfg);
  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const WqeFetchCounters& counters() const { return counters_; }
  // Entries of all rings on chip, fetched or in flight. The consumer waits while every ring with work has announced
  // more than it may prefetch, and none of its untaken entries has arrived.
  Account& places() { return places_; }

 private:
  // Ring positions count modulo 4096, as the doorbell's producer index does.
  static constexpr std::uint32_t kIndexMask = 0xfff;
  struct Progress {
    std::uint32_t epoch = 0;
    std::uint32_t entries = 0;   // issued, in total
    std::uint16_t producer = 0;  // announced by the host
    std::uint16_t issued = 0;    // read, or being read
    std::uint16_t taken = 0;     // returned by the consumer
    std::uint16_t delivered = 0;
    std::uint16_t earlier = 0;             // shared entries of the number's earlier uses, not dropped yet
    bool listed = false;                   // or its turn has begun
    bool active = false, starved = false;  // as counted
  };
  struct Read {
    Queue queue;
    std::uint32_t epoch = 0;
    unsigned count = 0, delivered = 0;
    bool done = false, ok = false;
  };

  Progress& progress(Queue queue);
  static bool overruns(const Doorbell& d, const ResidentRing& ring, const Progress& r);
  unsigned fetchable(Queue queue, const ResidentRing& ring, const Progress& r) const;
  bool lacks_shared(Queue queue, const Progress& r) const;
  bool call_waiting();
  void announce(const Doorbell& d);
  void give_back(const Taken& t);
  void list(Queue queue);
  RingTable::Reader& row_of(Queue queue);
  RingTable::Reader* row_there();
  Queue ring_of_row(const RingTable::Reader& row) const;
  bool begin_turn();
  bool turn();
  void issue(Queue queue, Progress& r, unsigned count, const RingTable::Reader& row);
  bool deliver();
  void count(Queue queue, Progress& r);
  RingId ring_of(Queue queue) const;
  static std::uint16_t held(const Progress& r) { return (r.issued - r.taken) & kIndexMask; }
  static std::uint16_t beyond_one(std::uint16_t entries) { return entries > 1 ? entries - 1 : 0; }
  std::uint8_t* memory(unsigned read) { return &memory_[std::size_t{read} * cfg_.batch * abi::kWqeBytes]; }

  const ContextTables& contexts_;
  const WqeFetchConfig cfg_;
  std::vector<Progress> progress_;
  std::optional<SharedEntries> shared_;  // none if there are as many as all rings may fetch
  NodePool<Queue> pool_;
  PooledQueue listed_;       // rings with something to fetch, served in turn
  const bool one_turn_;      // for all that a ring may fetch: its row may not be on the chip later
  RingTable::Reader row_;    // of queue pairs' own rings. Each ask's tag is the use of the number
  unsigned turns_ = 0;       // begun: their rows are asked for
  std::vector<Read> reads_;  // a ring in order of issue
  unsigned first_ = 0, used_ = 0;
  std::vector<std::uint8_t> memory_;
  unsigned held_ = 0, active_ = 0, starved_ = 0;  // entries on chip; rings with work, and those that wait for a place
  Account places_, reads_account_;
  WqeFetchCounters counters_;
};

}  // namespace rnic
