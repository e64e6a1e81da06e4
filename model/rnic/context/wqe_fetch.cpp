#include "model/rnic/context/wqe_fetch.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace rnic {

namespace {

template <class Doorbell>
constexpr bool kSendSide = std::is_same_v<Doorbell, SqDoorbell>;
template <class Doorbell>
unsigned log_entries(const QpContext& qp) {
  return kSendSide<Doorbell> ? qp.log_sq : qp.log_rq;
}
template <class Doorbell>
std::uint64_t ring_base(const QpContext& qp) {
  return kSendSide<Doorbell> ? qp.sq_base : qp.rq_base;
}

}  // namespace

template <class Doorbell>
WqeFetch<Doorbell>::WqeFetch(sc_core::sc_module_name nm, ClockDomain& clk, const ContextStore& contexts,
                             const WqeFetchConfig& cfg)
    : Stage(nm, clk),
      contexts_(contexts),
      cfg_(cfg),
      rings_(contexts.qps()),
      reads_(cfg.reads),
      memory_(std::size_t{cfg.reads} * cfg.batch * abi::kWqeBytes) {}

// The QP's ring, started anew where the QP number was reused.
template <class Doorbell>
typename WqeFetch<Doorbell>::QpRing& WqeFetch<Doorbell>::ring(Qpn qpn) {
  QpRing& r = rings_[qpn.v];
  if (const std::uint32_t epoch = contexts_.qp(qpn).epoch; r.epoch != epoch) {
    const bool listed = r.listed;
    r = QpRing{};
    r.epoch = epoch;
    r.listed = listed;
  }
  return r;
}

// Entries that one read may bring now: announced, with a place to go, and before the ring's end.
template <class Doorbell>
unsigned WqeFetch<Doorbell>::fetchable(Qpn qpn, const QpRing& r) const {
  const QpContext& qp = contexts_.qp(qpn);
  if (!qp.valid) return 0;
  const unsigned announced = (r.producer - r.issued) & kIndexMask;
  const unsigned places = cfg_.prefetch - ((r.issued - r.taken) & kIndexMask);
  const unsigned entries = 1u << log_entries<Doorbell>(qp);
  const unsigned to_end = entries - r.issued % entries;
  return std::min({announced, places, to_end, cfg_.batch});
}

template <class Doorbell>
void WqeFetch<Doorbell>::list(Qpn qpn) {
  QpRing& r = ring(qpn);
  if (r.listed || fetchable(qpn, r) == 0) return;
  r.listed = true;
  pool_.push(listed_, qpn);
}

// It announces more than the ring has room for beside what was announced before, or takes something back. What the
// consumer has not given back is the least that the host must leave alone.
template <class Doorbell>
bool WqeFetch<Doorbell>::overruns(const Doorbell& d, const QpRing& r) const {
  const unsigned more = (d.producer - r.producer) & kIndexMask;
  const unsigned unused = (r.producer - r.taken) & kIndexMask;
  return unused + more > 1u << log_entries<Doorbell>(contexts_.qp(d.qpn));
}

// The number in a doorbell is the host's word: one that names no QP is dropped.
template <class Doorbell>
void WqeFetch<Doorbell>::announce(const Doorbell& d) {
  if (!contexts_.has(d.qpn) || !contexts_.qp(d.qpn).valid) {
    ++stray_doorbells_;
    return;
  }
  QpRing& r = ring(d.qpn);
  if (event.bound() && overruns(d, r)) {
    ++overruns_;
    event->push({QpEvent::Kind::kLocalError, d.qpn, wire::rdma::kLocalCatastrophic});
    return;
  }
  r.producer = static_cast<std::uint16_t>(d.producer & kIndexMask);
  list(d.qpn);
}

template <class Doorbell>
void WqeFetch<Doorbell>::give_back(Qpn qpn) {
  QpRing& r = ring(qpn);
  if (r.taken == r.issued) return;  // an entry of the number's earlier use
  r.taken = static_cast<std::uint16_t>((r.taken + 1) & kIndexMask);
  list(qpn);
}

template <class Doorbell>
bool WqeFetch<Doorbell>::issue() {
  if (listed_.empty() || used_ == cfg_.reads || !dma->can_push()) return false;
  const Qpn qpn = pool_.pop(listed_);
  QpRing& r = ring(qpn);
  r.listed = false;
  const unsigned count = fetchable(qpn, r);
  if (count == 0) return true;  // the QP went away meanwhile
  const unsigned slot = (first_ + used_++) % cfg_.reads;
  reads_[slot] = {qpn, r.epoch, count, 0, false, false};
  const QpContext& qp = contexts_.qp(qpn);
  const std::uint64_t index = r.issued % (1u << log_entries<Doorbell>(qp));
  dma->push({ring_base<Doorbell>(qp) + index * abi::kWqeBytes,
             static_cast<std::uint32_t>(count * abi::kWqeBytes),
             memory(slot),
             {},
             slot});
  ++dma_reads_;
  r.issued = static_cast<std::uint16_t>((r.issued + count) & kIndexMask);
  list(qpn);
  return true;
}

// Entries leave in the order of their reads, one a cycle.
template <class Doorbell>
bool WqeFetch<Doorbell>::deliver() {
  if (used_ == 0 || !reads_[first_].done || !out->can_push()) return false;
  Read& read = reads_[first_];
  if (read.epoch == contexts_.qp(read.qpn).epoch) {
    FetchedWqe fetched{read.qpn, read.ok, {}};
    if (read.ok) std::memcpy(&fetched.wqe, memory(first_) + read.delivered * abi::kWqeBytes, abi::kWqeBytes);
    out->push(std::move(fetched));
    ++wqes_;
  }
  if (++read.delivered == read.count) {
    first_ = (first_ + 1) % cfg_.reads;
    --used_;
  }
  return true;
}

template <class Doorbell>
Wake WqeFetch<Doorbell>::tick() {
  bool busy = false;
  if (doorbell->can_pop() && (!posted.bound() || posted->can_push()) && (!event.bound() || event->can_push())) {
    if (posted.bound()) posted->push(doorbell->front());
    announce(doorbell->pop());
    busy = true;
  }
  if (taken->can_pop()) {
    give_back(taken->pop().qpn);
    busy = true;
  }
  if (dma_done->can_pop()) {
    const DmaReadDone d = dma_done->pop();
    RNIC_CHECK(d.tag < reads_.size() && !reads_[d.tag].done);
    reads_[d.tag].done = true;
    reads_[d.tag].ok = d.ok;
    busy = true;
  }
  busy |= deliver();
  busy |= issue();
  return busy ? Wake::next_cycle() : Wake::on_traffic();
}

template <class Doorbell>
std::string WqeFetch<Doorbell>::waiting_for() const {
  return used_ != 0 && !reads_[first_].done ? "DMA read of WQEs of QP " + std::to_string(reads_[first_].qpn.v) : "";
}

template <class Doorbell>
void WqeFetch<Doorbell>::register_stats(const StatsGroup& group) const {
  group.counter("wqes", wqes_, "WQEs", "work queue entries fetched");
  group.counter("dma_reads", dma_reads_, "reads", "DMA reads that brought them");
  group.counter("overruns", overruns_, "doorbells", "doorbells that announced more than the ring had room for");
  group.counter("stray_doorbells", stray_doorbells_, "doorbells", "doorbells that named no QP, dropped");
}

template class WqeFetch<SqDoorbell>;
template class WqeFetch<RqDoorbell>;

}  // namespace rnic
