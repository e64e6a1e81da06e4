#include "model/rnic/tx/wqe_fetch.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "model/common/description.h"

namespace rnic {

namespace {

Qpn queue_of(const SqDoorbell& d) { return d.qpn; }
Rqn queue_of(const RqDoorbell& d) { return d.rqn; }
Qpn queue_of(const WqeTaken& t) { return t.qpn; }
Rqn queue_of(const RqeTaken& t) { return t.rqn; }

std::size_t rings(const ContextTables& contexts, Qpn) { return contexts.qps(); }
std::size_t rings(const ContextTables& contexts, Rqn) { return contexts.receive_queues(); }
std::size_t index_of(const ContextTables&, Qpn qpn) { return qpn.v; }
std::size_t index_of(const ContextTables& contexts, Rqn rqn) { return contexts.index(rqn); }
ResidentRing resident(const ContextTables& contexts, Qpn qpn) { return contexts.send_ring(qpn); }
ResidentRing resident(const ContextTables& contexts, Rqn rqn) { return contexts.receive_ring(rqn); }

bool has_room(const RingSide<SqDoorbell>::OwnPort& side) { return side.event->can_push(); }
bool has_room(const RingSide<RqDoorbell>::OwnPort& side) { return side.posted->can_push(); }
void pass_on(const RingSide<SqDoorbell>::OwnPort&, const SqDoorbell&) {}
void pass_on(const RingSide<RqDoorbell>::OwnPort& side, const RqDoorbell& d) { side.posted->push(d); }

// Whether a row may not be on the chip any more later.
bool is_cached(const ContextTables& contexts, Qpn) { return contexts.sq_table.cached(); }
bool is_cached(const ContextTables& contexts, Rqn) { return contexts.rq_table.cached() || contexts.srq_table.cached(); }

// Where the rows of its rings come: of queue pairs' own ones, and of shared ones.
void bind_rows(ContextTables& contexts, RingTable::Reader& own, RingSide<SqDoorbell>::OwnPort&) {
  contexts.sq_table.bind(own);
}
void bind_rows(ContextTables& contexts, RingTable::Reader& own, RingSide<RqDoorbell>::OwnPort& side) {
  contexts.rq_table.bind(own);
  contexts.srq_table.bind(side.shared_row);
}

template <class Queue>
constexpr const char* kRings = std::is_same_v<Queue, Qpn> ? "queue pairs" : "queue pairs + shared receive queues";

// The queue of a number that index_of() gave.
template <class Queue>
Queue queue_at(const ContextTables& contexts, std::uint32_t index) {
  if constexpr (std::is_same_v<Queue, Rqn>) {
    if (index >= contexts.qps()) return Srqn{static_cast<std::uint32_t>(index - contexts.qps())};
  }
  return Qpn{index};
}

std::string name_of(Qpn qpn) { return "QP " + std::to_string(qpn.v); }
std::string name_of(Rqn rqn) { return (rqn.shared ? "SRQ " : "QP ") + std::to_string(rqn.v); }

}  // namespace

template <class Doorbell>
WqeFetch<Doorbell>::WqeFetch(sc_core::sc_module_name nm, ClockDomain& clk, ContextTables& contexts,
                             const WqeFetchConfig& cfg)
    : Stage(nm, clk),
      RingSide<Doorbell>::OwnPort(static_cast<Stage&>(*this)),
      contexts_(contexts),
      cfg_(cfg),
      progress_(rings(contexts, Queue{})),
      pool_({"listed", progress_.size(), kRings<Queue>}, 0),
      one_turn_(is_cached(contexts, Queue{})),
      row_(*this, std::is_same_v<Queue, Qpn> ? "wqe_fetch" : "rqe_fetch", 0, RowOrder::kAsTheyCome),
      reads_(cfg.reads),
      memory_(std::size_t{cfg.reads} * cfg.batch * abi::kWqeBytes),
      places_(cfg.prefetch),
      reads_account_(cfg.reads) {
  bind_rows(contexts, row_, *this);
  if (cfg.shared >= progress_.size() * (cfg.prefetch - 1)) return;
  shared_.emplace(clk, cfg.shared, progress_.size(), cfg.batch);
  shared_->serve(*this);
}

// The ring's state, reset if the queue's number was reused.
template <class Doorbell>
typename WqeFetch<Doorbell>::Progress& WqeFetch<Doorbell>::progress(Queue queue) {
  Progress& r = progress_[index_of(contexts_, queue)];
  if (const std::uint32_t epoch = resident(contexts_, queue).epoch; r.epoch != epoch) {
    const bool listed = r.listed;
    const auto earlier = static_cast<std::uint16_t>(r.earlier + beyond_one(held(r)));
    held_ -= held(r);
    active_ -= r.active;
    starved_ -= r.starved;
    r = Progress{};
    r.epoch = epoch;
    r.listed = listed;
    r.earlier = earlier;
  }
  return r;
}

// Entries that one read may fetch now: announced, with a place to go, and before the ring's end.
template <class Doorbell>
unsigned WqeFetch<Doorbell>::fetchable(Queue queue, const ResidentRing& ring, const Progress& r) const {
  if (!ring.valid) return 0;
  const unsigned announced = (r.producer - r.issued) & kIndexMask;
  const unsigned places = cfg_.prefetch - held(r);
  const unsigned entries = 1u << ring.log_entries;
  const unsigned to_end = entries - r.issued % entries;
  const unsigned all = std::min({announced, places, to_end, cfg_.batch});
  if (!shared_ || !shared_->is_short() || all == 0) return all;
  return held(r) == 0 || shared_->admits(ring_of(queue), 1) ? 1 : 0;
}

// If it lacks nothing else.
template <class Doorbell>
bool WqeFetch<Doorbell>::lacks_shared(Queue queue, const Progress& r) const {
  if (!shared_) return false;
  const bool wants = r.producer != r.issued && held(r) != 0 && held(r) < cfg_.prefetch;
  return wants && resident(contexts_, queue).valid && !shared_->admits(ring_of(queue), 1);
}

template <class Doorbell>
RingId WqeFetch<Doorbell>::ring_of(Queue queue) const {
  return RingId{static_cast<std::uint32_t>(index_of(contexts_, queue))};
}

// Whether the ring has work, and waits for a place for more of it.
template <class Doorbell>
void WqeFetch<Doorbell>::count(Queue queue, Progress& r) {
  const bool active = r.producer != r.taken;
  const bool full = held(r) >= cfg_.prefetch || lacks_shared(queue, r);
  const bool starved = active && full && r.producer != r.issued && r.delivered == r.taken;
  active_ += active - r.active;
  starved_ += starved - r.starved;
  r.active = active;
  r.starved = starved;
}

template <class Doorbell>
void WqeFetch<Doorbell>::list(Queue queue) {
  Progress& r = progress(queue);
  count(queue, r);
  if (r.listed) return;
  if (fetchable(queue, resident(contexts_, queue), r) == 0) {
    if (lacks_shared(queue, r)) shared_->wait(ring_of(queue), {}, 1);
    return;
  }
  r.listed = true;
  pool_.push(listed_, queue);
}

// It announces more than the ring has room for in addition to what was announced, or takes something back. The host
// must at least leave alone what the consumer has not returned.
template <class Doorbell>
bool WqeFetch<Doorbell>::overruns(const Doorbell& d, const ResidentRing& ring, const Progress& r) {
  const unsigned more = (d.producer - r.producer) & kIndexMask;
  const unsigned unused = (r.producer - r.taken) & kIndexMask;
  return unused + more > 1u << ring.log_entries;
}

// The number in a doorbell comes from the host: an invalid one is dropped.
template <class Doorbell>
void WqeFetch<Doorbell>::announce(const Doorbell& d) {
  const Queue queue = queue_of(d);
  if (!contexts_.has(queue) || !resident(contexts_, queue).valid) {
    ++counters_.stray_doorbells;
    return;
  }
  Progress& r = progress(queue);
  if constexpr (std::is_same_v<Queue, Qpn>) {  // the receive side counts separately
    if (overruns(d, resident(contexts_, queue), r)) {
      ++counters_.overruns;
      this->event->push({QpEvent::Kind::kLocalError, queue, wire::rdma::kLocalCatastrophic});
      return;
    }
  }
  r.producer = static_cast<std::uint16_t>(d.producer & kIndexMask);
  list(queue);
}

template <class Doorbell>
void WqeFetch<Doorbell>::give_back(const Taken& t) {
  const Queue queue = queue_of(t);
  Progress& r = progress(queue);
  if (r.epoch != t.epoch) return;
  RNIC_CHECK(r.taken != r.issued);
  const auto shared = static_cast<std::uint16_t>((held(r) > 1) + std::exchange(r.earlier, std::uint16_t{0}));
  if (shared_ && shared != 0) shared_->give_back(ring_of(queue), shared, shared);
  r.taken = static_cast<std::uint16_t>((r.taken + 1) & kIndexMask);
  --held_;
  list(queue);
}

template <class Doorbell>
RingTable::Reader& WqeFetch<Doorbell>::row_of([[maybe_unused]] Queue queue) {
  if constexpr (std::is_same_v<Queue, Rqn>) {
    if (queue.shared) return this->shared_row;
  }
  return row_;
}

// That of the turn to go on with: the row that is there for the longest time, own rings first. nullptr: there is none.
template <class Doorbell>
RingTable::Reader* WqeFetch<Doorbell>::row_there() {
  if constexpr (std::is_same_v<Queue, Rqn>) {
    if (this->shared_row.can_use() && !(row_.can_use() && row_.row_at() <= this->shared_row.row_at())) {
      return &this->shared_row;
    }
  }
  return row_.can_use() ? &row_ : nullptr;
}

template <class Doorbell>
typename WqeFetch<Doorbell>::Queue WqeFetch<Doorbell>::ring_of_row(const RingTable::Reader& row) const {
  const std::uint32_t index = row.front().index;
  if constexpr (std::is_same_v<Queue, Rqn>) {
    if (&row == &this->shared_row) return Srqn{index};
  }
  return Qpn{index};
}

// One a cycle.
template <class Doorbell>
bool WqeFetch<Doorbell>::begin_turn() {
  if (listed_.empty() || !row_of(pool_.front(listed_)).can_ask()) return false;
  const Queue queue = pool_.pop(listed_);
  row_of(queue).ask(queue.v, resident(contexts_, queue).epoch);
  ++turns_;
  return true;
}

// Of those that wait for a shared entry, one a cycle. It has its place until its turn is over.
template <class Doorbell>
bool WqeFetch<Doorbell>::call_waiting() {
  if (!shared_ || !shared_->may_call()) return false;
  const auto next = shared_->call();
  if (!next) return false;
  const auto queue = queue_at<Queue>(contexts_, next->id.v);
  list(queue);
  if (!progress(queue).listed) shared_->cancel(next->id);
  return true;
}

// One read a cycle. The turn goes on while nobody else has one, or, with a cache, for all that it may fetch. A row that
// was lost before the number was used again is asked for again.
template <class Doorbell>
bool WqeFetch<Doorbell>::turn() {
  RingTable::Reader* const row = row_there();
  if (row == nullptr || used_ == cfg_.reads || !dma->can_push()) return false;
  const Queue queue = ring_of_row(*row);
  Progress& r = progress(queue);
  const ResidentRing ring = resident(contexts_, queue);
  const bool usable = row->ok() || row->front().tag == r.epoch;
  if (const unsigned count = fetchable(queue, ring, r); usable && count != 0) issue(queue, r, count, *row);
  const bool more = fetchable(queue, ring, r) != 0;
  count(queue, r);
  if (usable && more && (one_turn_ || (turns_ == 1 && listed_.empty()))) return true;
  --turns_;
  row->drop();
  r.listed = false;
  if (shared_) shared_->cancel(ring_of(queue));
  list(queue);
  return true;
}

// The entries of a ring whose row is lost are like those that the host has not let us read.
template <class Doorbell>
void WqeFetch<Doorbell>::issue(Queue queue, Progress& r, unsigned count, const RingTable::Reader& row) {
  const unsigned slot = (first_ + used_++) % cfg_.reads;
  reads_[slot] = {queue, r.epoch, count, 0, !row.ok(), false};
  if (row.ok()) {
    const std::uint64_t index = r.issued % (1u << resident(contexts_, queue).log_entries);
    const std::uint64_t address = row.row().base + index * abi::kWqeBytes;
    const auto bytes = static_cast<std::uint32_t>(count * abi::kWqeBytes);
    dma->push({address, bytes, memory(slot), {}, slot, contexts_.request(queue, r.entries)});  // of the first entry
    ++counters_.dma_reads;
  }
  for (unsigned n = held(r) == 0 ? 1 : 0; shared_ && n < count; ++n) shared_->take(ring_of(queue), 1);
  r.entries += count;
  r.issued = static_cast<std::uint16_t>((r.issued + count) & kIndexMask);
  held_ += count;
}

// Entries leave in the order of their reads, one per cycle.
template <class Doorbell>
bool WqeFetch<Doorbell>::deliver() {
  if (used_ == 0 || !reads_[first_].done || !out->can_push()) return false;
  Read& read = reads_[first_];
  if (read.epoch == resident(contexts_, read.queue).epoch) {
    Fetched fetched{read.queue, read.ok, {}};
    fetched.epoch = read.epoch;
    if (read.ok) std::memcpy(&fetched.wqe, memory(first_) + read.delivered * abi::kWqeBytes, abi::kWqeBytes);
    out->push(std::move(fetched));
    ++counters_.wqes;
    Progress& r = progress(read.queue);
    r.delivered = static_cast<std::uint16_t>((r.delivered + 1) & kIndexMask);
    count(read.queue, r);
  }
  if (++read.delivered == read.count) {
    first_ = (first_ + 1) % cfg_.reads;
    --used_;
  }
  return true;
}

template <class Doorbell>
void WqeFetch<Doorbell>::reset() {
  progress_.assign(progress_.size(), {});
  if (shared_) shared_->reset();
  pool_.reset();
  listed_ = {};
  turns_ = 0;
  reads_.assign(reads_.size(), {});
  first_ = used_ = held_ = active_ = starved_ = 0;
  places_.set(now(), 0, false);
  reads_account_.set(now(), 0, false);
}

template <class Doorbell>
Wake WqeFetch<Doorbell>::tick() {
  bool busy = call_waiting();
  if (doorbell->can_pop() && has_room(*this)) {
    pass_on(*this, doorbell->front());
    announce(doorbell->pop());
    busy = true;
  }
  if (taken->can_pop()) {
    give_back(taken->pop());
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
  busy |= turn();
  busy |= begin_turn();
  places_.set(now(), held_, starved_ != 0 && starved_ == active_);
  reads_account_.set(now(), used_, used_ == cfg_.reads && (!listed_.empty() || turns_ != 0));
  if (shared_) counters_.waits = shared_->counters().waits;
  return busy || (shared_ && shared_->may_call()) ? Wake::next_cycle() : Wake::on_traffic();
}

template <class Doorbell>
std::string WqeFetch<Doorbell>::waiting_for() const {
  return used_ != 0 && !reads_[first_].done ? "DMA read of WQEs of " + name_of(reads_[first_].queue) : "";
}

template <class Doorbell>
void WqeFetch<Doorbell>::describe(const Description& d) {
  d.counters(counters_);
  pool_.describe(d);
  if constexpr (std::is_same_v<Doorbell, SqDoorbell>) {
    d.series("tx.wqes", 10, counters_, &WqeFetchCounters::wqes);
    d.account({"tx.wqe_prefetch", "slots", Reach::kWorkQueue, "WQE prefetch", 10, {}, true}, places_);
    d.account({"tx.wqe_reads", "slots", Reach::kFetch, "WQE reads", 20, {}, true}, reads_account_);
  } else {
    d.account({"rx.rqe_prefetch", "slots", Reach::kNobodyWaits, "", 30}, places_);
    d.account({"rx.rqe_reads", "slots", Reach::kFetch, "RQE reads", 50, {}, true}, reads_account_);
  }
  d.fetches(dma, abi::kWqeBytes);
  const ProbeGroup mine = d.probes().group(basename());
  mine.number("entries", 16, "WQEs", [this] { return places_.taken(); });
  mine.number("reads", 16, "reads", [this] { return reads_account_.taken(); });
}

template class WqeFetch<SqDoorbell>;
template class WqeFetch<RqDoorbell>;

}  // namespace rnic
