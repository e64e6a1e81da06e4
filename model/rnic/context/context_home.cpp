#include "model/rnic/context/context_home.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "model/common/description.h"

namespace rnic {

namespace {
constexpr unsigned kFlipped = 77;  // the bit of a row that an injected error changes
}

ContextHome::ContextHome(sc_core::sc_module_name nm, ClockDomain& clk, ContextStore& contexts,
                         const ContextHomeConfig& config)
    : Stage(nm, clk),
      contexts_(contexts),
      kind_(config.kind),
      flip_fetch_(config.flip_fetch),
      board_(clk, config.board, kind_ == HomeKind::kBoard ? contexts.home_layout().bytes() : 0),
      home_(contexts.home_pages(), kNowhere) {
  const HomeLayout layout = contexts.home_layout();
  pages_ = add("page_misses", "page_changes", std::make_unique<HomedPages>(contexts.page_table, layout));
  cqs_ = add("cq_misses", "cq_changes", std::make_unique<HomedCqs>(abi::ContextKind::kCq, layout, contexts.cq_table));
  add("stag_misses", "stag_changes", std::make_unique<HomedStags>(contexts.stag_table, layout));
  add_qps(layout);
  srqs_ =
      add("srq_misses", "srq_changes", std::make_unique<HomedSrqs>(abi::ContextKind::kSrq, layout, contexts.srq_table));
}

void ContextHome::add_qps(const HomeLayout& layout) {
  constexpr abi::ContextKind kind = abi::ContextKind::kQp;
  TxTable& tx = contexts_.tx_table;
  RxTable& rx = contexts_.rx_table;
  SqcTable& sqc = contexts_.sqc_table;
  RingTable &sq = contexts_.sq_table, &rq = contexts_.rq_table;
  IrrqTable& irrq = contexts_.irrq_table;
  OrqTable& orq = contexts_.orq_table;
  if (rx.shares_cache_with(tx)) {
    qps_ = rx_qps_ =
        add("qp_misses", "qp_changes", std::make_unique<HomedQps>(kind, layout, tx, rx, sqc, sq, rq, irrq, orq));
  } else {
    qps_ = add("qp_misses", "qp_changes", std::make_unique<HomedTxQps>(kind, layout, tx, sqc, sq, orq));
    rx_qps_ = add("qp_rx_misses", "qp_rx_changes", std::make_unique<HomedRxQps>(kind, layout, rx, rq, irrq));
  }
}

HomedObjects* ContextHome::add(const char* misses, const char* changes, std::unique_ptr<HomedObjects> objects) {
  Input& input = inputs_.emplace_back(*this, misses, std::move(objects));
  RowCache& cache = input.objects->cache();
  cache.connect_home(input.misses);
  if (cache.writes_through()) {
    input.changes = std::make_unique<PopPort<RowWrite>>(*this, changes);
    cache.connect_home(*input.changes, *input.objects);
  }
  fetches_.resize(fetches_.size() + cache.misses_in_flight());
  return input.objects.get();
}

void ContextHome::reset() {
  home_.assign(home_.size(), kNowhere);
  fetches_.assign(fetches_.size(), {});
  for (Input& input : inputs_) input.written = 0;
  to_send_.clear();
  fetching_ = 0;
  turn_ = change_turn_ = 0;
  changes_first_ = true;
  writes_.clear();
  reports_.clear();
  releasing_ = false;
  board_.reset();
}

Wake ContextHome::tick() {
  bool busy = take_write_done();
  busy |= take_op();
  busy |= release();
  busy |= take_answer();
  const bool changes_first = changes_first_;
  if (changes_first) busy |= take_change();
  busy |= take_miss();
  if (!changes_first) busy |= take_change();
  busy |= send();
  busy |= tell();
  if (busy) return Wake::next_cycle();
  if (kind_ == HomeKind::kHost) return Wake::on_traffic();
  Cycle next = kNever;
  for (const Fetch& fetch : fetches_) next = std::min(next, fetch.done_at <= now() ? kNever : fetch.done_at);
  return Wake::at_cycle(next);
}

bool ContextHome::take_write_done() {
  if (!write_done->can_pop()) return false;
  write_done->drop();
  writes_.drop();
  return true;
}

std::uint64_t ContextHome::address_of(std::uint64_t octet) const {
  const std::uint64_t page = home_.at(octet >> abi::kLogHomePage);
  return page == kNowhere ? kNowhere : page + (octet & (abi::kHomePageBytes - 1));
}

// ---- The firmware's operations

bool ContextHome::take_op() {
  if (!ops->can_pop()) return false;
  const HomeOp& op = ops->front();
  switch (op.kind) {
    case HomeOp::Kind::kHomePage:
      home_.at(op.index) = op.bus_address;
      break;
    case HomeOp::Kind::kWritePage:
      if (!can_write()) return false;
      write_entry(op);
      ++counters_.writes;
      break;
    case HomeOp::Kind::kWriteCq:
      if (!can_write()) return false;
      write_cq(op);
      ++counters_.writes;
      break;
    case HomeOp::Kind::kWriteQp:
      if (!can_write()) return false;
      write_qp(op);
      ++counters_.writes;
      break;
    case HomeOp::Kind::kWriteFlow:
      if (!can_write()) return false;
      write_flow(op);
      ++counters_.writes;
      break;
    case HomeOp::Kind::kWriteSrq:
      if (!can_write()) return false;
      write_srq(op);
      ++counters_.writes;
      break;
    case HomeOp::Kind::kRelease:
      releasing_ = true;
      break;
  }
  ops->drop();
  return true;
}

// When nothing is under way: the firmware goes on meanwhile, as it takes the reports.
bool ContextHome::release() {
  if (!releasing_ || !at_rest() || !events->can_push()) return false;
  releasing_ = false;
  home_.assign(home_.size(), kNowhere);
  for (Input& input : inputs_) input.objects->cache().forget();
  events->push({HomeEvent::Kind::kReleased});
  return true;
}

bool ContextHome::at_rest() {
  const bool asked = std::any_of(inputs_.begin(), inputs_.end(), [](const Input& input) {
    return input.misses->can_pop() || input.objects->cache().has_changes();
  });
  return writes_.empty() && fetching_ == 0 && reports_.empty() && !asked;
}

// To the chip, if the row is there, and to the home.
void ContextHome::write_entry(const HomeOp& op) {
  const std::uint32_t row = op.index / PageRow::kPages;
  contexts_.write_page(op.index, op.bus_address);
  const std::uint64_t octet = pages_->octet_of(row) + op.index % PageRow::kPages * HomeEntry::kBytes;
  store_le64(write_home(*pages_, row, octet, HomeEntry::kBytes), HomeEntry::pack(op.bus_address, op.index));
  overtake(*pages_, row);
}

// A new queue has no state yet, whatever that of the number's earlier use was.
void ContextHome::write_cq(const HomeOp& op) {
  const bool begins = contexts_.begins(Cqn{op.index}, op.cq);
  contexts_.write(Cqn{op.index}, op.cq);
  const std::uint64_t octet = cqs_->octet_of(op.index);
  std::uint8_t* const parts = write_home(*cqs_, op.index, octet, begins ? CqHome::kRowBytes : CqHome::kContextBytes);
  CqHome::Context::pack(op.cq, octet, parts);
  if (begins) std::fill_n(parts + CqHome::kStateAt, CqHome::kStateBytes, std::uint8_t{0});
  overtake(*cqs_, op.index);
}

// The states of the number's earlier use stay: the lists of its elements are in them. If one is lost, they are.
void ContextHome::write_qp(const HomeOp& op) {
  const std::uint32_t from = qps_->cache().is_lost(op.index) ? TxHome::kStateAt : TxHome::kContextAt;
  const std::uint32_t to = rx_qps_->cache().is_lost(op.index) ? QpHome::kUsedBytes : RxHome::kStateAt;
  contexts_.write(Qpn{op.index}, op.qp);
  const std::uint64_t object = qps_->octet_of(op.index);
  std::uint8_t* const octets = write_home(*qps_, op.index, object + from, to - from);
  std::fill_n(octets, to - from, std::uint8_t{0});
  const auto pack = [&](auto home, const auto& part) {
    using Home = decltype(home);
    Home::Context::pack(part, object + Home::kContextAt, octets + (Home::kContextAt - from));
  };
  pack(TxHome{}, TxContext::of(op.qp));
  pack(SqcHome{}, SqcContext::of(op.qp));
  pack(OrqHome{}, OrqContext::of(op.qp));
  pack(SendRingHome{}, RingRow{op.qp.sq_base});
  pack(RxHome{}, RxContext::of(op.qp));
  pack(IrrqHome{}, IrrqContext::of(op.qp));
  pack(ReceiveRingHome{}, RingRow{op.qp.rq_base});
  overtake(*qps_, op.index);
  overtake(*rx_qps_, op.index);
}

void ContextHome::write_flow(const HomeOp& op) {
  contexts_.write(FlowId{op.index}, op.flow);
  std::array<std::uint8_t, HomedObjects::kMaxFetchBytes> octets;
  const HomedObjects::Part part = flows_->pack_written(op, octets.data());
  std::copy_n(octets.begin(), part.bytes, write_home(*flows_, op.index, part.octet, part.bytes));
  overtake(*flows_, op.index);
}

void ContextHome::write_srq(const HomeOp& op) {
  contexts_.write(Srqn{op.index}, op.srq);
  const std::uint64_t octet = srqs_->octet_of(op.index);
  SrqHome::Context::pack({op.srq.base}, octet, write_home(*srqs_, op.index, octet, SrqHome::kContextBytes));
  overtake(*srqs_, op.index);
}

// A fetch that is under way may have the row as it was: it is repeated behind this write.
void ContextHome::overtake(const HomedObjects& objects, std::uint32_t row) {
  for (Fetch& fetch : fetches_) fetch.stale |= fetch.from == &objects && fetch.miss.index == row;
}

// ---- Writes

bool ContextHome::can_write() { return kind_ == HomeKind::kBoard || (writes_.size() < kWrites && write->can_push()); }

// The place for octets of a row that go to the home in this cycle.
std::uint8_t* ContextHome::write_home(const HomedObjects& objects, std::uint32_t row, std::uint64_t octet,
                                      std::uint32_t bytes) {
  if (kind_ == HomeKind::kBoard) {
    board_.access(now(), objects.board_row(row), bytes);
    return board_.at(octet);
  }
  DmaWriteRequest request;
  request.address = address_of(octet);
  request.bytes = bytes;
  request.src = images_.take(contexts_.context(objects.kind(), row));
  request.notify = true;
  std::uint8_t* const octets = request.src->bytes();
  write->push(std::move(request));
  writes_.push(objects.octet_of(row));
  return octets;
}

// Of each cache in turn. Those who wait for the row to make room do not starve, nor do those of other caches.
bool ContextHome::take_change() {
  for (unsigned i = 0; i < inputs_.size(); ++i) {
    const unsigned number = (change_turn_ + i) % inputs_.size();
    Input& input = inputs_[number];
    if (input.changes == nullptr || !(*input.changes)->can_pop()) continue;
    if (!can_write()) return false;
    const RowWrite& change = (*input.changes)->front();
    std::copy_n(change.octets.begin(), change.bytes,
                write_home(*input.objects, change.change.index, change.octet, change.bytes));
    input.objects->cache().written(change.change);
    (*input.changes)->drop();
    ++counters_.write_throughs;
    change_turn_ = (number + 1) % static_cast<unsigned>(inputs_.size());
    changes_first_ = false;
    return true;
  }
  return false;
}

// ---- Fetches

// Of each cache in turn.
bool ContextHome::take_miss() {
  for (unsigned i = 0; i < inputs_.size(); ++i) {
    const unsigned input = (turn_ + i) % inputs_.size();
    if (!take_miss(inputs_[input])) continue;
    turn_ = inputs_[input].written != 0 ? input : (input + 1) % static_cast<unsigned>(inputs_.size());
    return true;
  }
  return false;
}

// What makes room goes to the home first, as far as a stage has changed it: of one table a cycle.
bool ContextHome::take_miss(Input& input) {
  if (!input.misses->can_pop()) return false;
  HomedObjects& objects = *input.objects;
  const std::uint32_t dirty = input.misses->front().dirty & ~input.written;
  if (dirty != 0) {
    if (!can_write()) return false;
    const std::uint32_t first = dirty & -dirty;
    write_back(objects, input.misses->front(), static_cast<unsigned>(__builtin_ctz(first)));
    input.written |= first;
    counters_.write_backs += dirty == first;
    if (dirty != first || input.misses->front().begins) return true;
  }
  if (input.misses->front().begins) return begin(input);
  input.written = 0;
  unsigned number = 0;
  while (fetches_.at(number).from != nullptr) ++number;
  Fetch& fetch = fetches_[number];
  fetch.from = &objects;
  fetch.miss = input.misses->pop();
  fetch.since = now();
  ++fetching_;
  to_send_.push_back(number);
  return true;
}

// A use of an object that was lost: nothing of it is read.
bool ContextHome::begin(Input& input) {
  if (!can_write()) return false;
  HomedObjects& objects = *input.objects;
  const TableMiss miss = input.misses->pop();
  input.written = 0;
  changes_first_ = true;
  const std::uint64_t octet = objects.fetched_octet(miss.index);
  const bool has_home = kind_ == HomeKind::kBoard || address_of(octet) != kNowhere;
  if (has_home) {
    const std::uint32_t bytes = objects.fetched_bytes();
    std::fill_n(write_home(objects, miss.index, octet, bytes), bytes, std::uint8_t{0});
    objects.begin(miss);
  } else {
    objects.fail(miss);
  }
  return true;
}

void ContextHome::write_back(HomedObjects& objects, const TableMiss& miss, unsigned table) {
  std::array<std::uint8_t, HomedObjects::kMaxFetchBytes> octets;
  changes_first_ = true;
  const HomedObjects::Part dirty = objects.pack_dirty(miss, table, octets.data());
  std::copy_n(octets.begin(), dirty.bytes, write_home(objects, miss.leaving, dirty.octet, dirty.bytes));
}

// The oldest one whose row is not being written: a read of host memory may pass a write that has not reached the link.
bool ContextHome::send() {
  const auto ready = std::find_if(to_send_.begin(), to_send_.end(),
                                  [this](unsigned number) { return !being_written(fetches_[number].object()); });
  if (ready == to_send_.end() || !read->can_push()) return false;
  send(*ready);
  to_send_.erase(ready);
  return true;
}

void ContextHome::send(unsigned number) {
  Fetch& fetch = fetches_[number];
  const std::uint32_t bytes = fetch.from->fetched_bytes();
  const std::uint64_t octet = fetch.from->fetched_octet(fetch.miss.index);
  fetch.stale = false;
  const bool on_board = kind_ == HomeKind::kBoard;
  const std::uint64_t address = on_board ? octet : address_of(octet);
  if (address == kNowhere) return drop(number);
  ++counters_.fetches;
  fetch.flip = counters_.fetches == flip_fetch_;
  counters_.fetched_bytes += bytes;
  if (on_board) {
    std::memcpy(fetch.octets.data(), board_.at(address), bytes);
    fetch.done_at = board_.access(now(), fetch.from->board_row(fetch.miss.index), bytes);
    return;
  }
  DmaReadRequest request;
  request.address = address;
  request.bytes = bytes;
  request.dst = fetch.octets.data();
  request.tag = number;
  request.owner = contexts_.context(fetch.from->kind(), fetch.miss.index);
  read->push(std::move(request));
}

// Nobody has anything there: it is the use of a number that names nothing.
void ContextHome::drop(unsigned number) {
  fetches_[number].from->fail(fetches_[number].miss);
  fetches_[number] = {};
  --fetching_;
}

bool ContextHome::take_answer() {
  if (read_done->can_pop()) {
    const DmaReadDone done = read_done->pop();
    finish(done.tag, done.ok);
    return true;
  }
  const auto done =
      std::find_if(fetches_.begin(), fetches_.end(), [this](const Fetch& f) { return f.done_at <= now(); });
  if (done == fetches_.end()) return false;
  finish(static_cast<unsigned>(done - fetches_.begin()), true);
  return true;
}

void ContextHome::finish(unsigned number, bool ok) {
  Fetch& fetch = fetches_[number];
  if (fetch.stale) {
    ++counters_.refetches;
    fetch.done_at = kNever;
    to_send_.push_back(number);
    return;
  }
  if (std::exchange(fetch.flip, false)) fetch.octets[kFlipped / 8] ^= 1u << kFlipped % 8;
  bool whole = ok;
  if (ok) whole = fetch.from->fill(fetch.miss, fetch.octets.data());
  else fetch.from->fail(fetch.miss);
  if (!whole) report({fetch.from->kind(), fetch.miss.index});
  counters_.fetch_cycles += now() - fetch.since;
  counters_.failed += !ok;
  counters_.corrupt += ok && !whole;
  fetch = {};
  --fetching_;
}

// The row does not wait for that: the firmware may wait for a write which waits for the row. Of a shared queue nobody
// else tells the firmware: each is kept, and is lost once in a use of its number.
void ContextHome::report(Lost lost) {
  const auto same = [&lost](const Lost& waiting) { return waiting.kind == lost.kind && waiting.row == lost.row; };
  if ((reports_.size() < kReports || lost.kind == abi::ContextKind::kSrq) && !reports_.any(same)) reports_.push(lost);
}

bool ContextHome::tell() {
  if (reports_.empty() || !events->can_push()) return false;
  const Lost lost = reports_.pop();
  events->push({HomeEvent::Kind::kLost, lost.kind, lost.row});
  return true;
}

std::string ContextHome::waiting_for() const {
  return fetching_ == 0 ? "" : "the home of " + std::to_string(fetching_) + " rows of contexts";
}

void ContextHome::describe(const Description& d) { d.counters(counters_); }

}  // namespace rnic
