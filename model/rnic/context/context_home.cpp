#include "model/rnic/context/context_home.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "model/common/description.h"

namespace rnic {

namespace {
constexpr unsigned kFlipped = 77;  // the bit of a row that an injected error changes: of its second entry
}

ContextHome::ContextHome(sc_core::sc_module_name nm, ClockDomain& clk, ContextStore& contexts,
                         const ContextHomeConfig& config, unsigned misses_in_flight)
    : Stage(nm, clk),
      contexts_(contexts),
      kind_(config.kind),
      flip_fetch_(config.flip_fetch),
      board_(clk, config.board,
             contexts.page_table.cached() && kind_ == HomeKind::kBoard ? contexts.page_table.rows() * kRowBytes : 0),
      home_(contexts.home_pages(), kNowhere),
      fetches_(contexts.page_table.cached() ? misses_in_flight : 0) {
  contexts.page_table.connect_home(misses);
}

void ContextHome::reset() {
  home_.assign(home_.size(), kNowhere);
  fetches_.assign(fetches_.size(), {});
  to_send_.clear();
  fetching_ = 0;
  writes_.clear();
  reports_.clear();
  board_.reset();
}

Wake ContextHome::tick() {
  bool busy = take_write_done();
  busy |= take_op();
  busy |= take_answer();
  busy |= take_miss();
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
      if (!write_entry(op)) return false;
      break;
    case HomeOp::Kind::kRelease:
      if (!at_rest() || !reports_.empty() || !events->can_push()) return false;
      home_.assign(home_.size(), kNowhere);
      contexts_.page_table.forget();
      events->push({HomeEvent::Kind::kReleased});
      break;
  }
  ops->drop();
  return true;
}

// To the chip, if the row is there, and to the home. A fetch that is under way may have the old entry: it is repeated
// behind this write.
bool ContextHome::write_entry(const HomeOp& op) {
  if (writes_.size() == kWrites || !write->can_push()) return false;
  const std::uint32_t row = op.index / PageRow::kPages;
  for (Fetch& fetch : fetches_) fetch.stale |= fetch.busy && fetch.miss.index == row;
  contexts_.page_table.write(row, &PageRow::page, op.index % PageRow::kPages, op.bus_address);
  ++counters_.writes;
  const std::uint64_t octet = std::uint64_t{op.index} * HomeEntry::kBytes;
  const std::uint64_t entry = HomeEntry::pack(op.bus_address, op.index);
  if (kind_ == HomeKind::kBoard) {
    board_.access(now(), row, HomeEntry::kBytes);
    store_le64(board_.at(octet), entry);
    return true;
  }
  DmaWriteRequest request;
  request.address = address_of(octet);
  request.bytes = HomeEntry::kBytes;
  request.src = entries_.take(contexts_.context(abi::ContextKind::kPages, row));
  store_le64(request.src->bytes(), entry);
  request.notify = true;
  write->push(std::move(request));
  writes_.push(row);
  return true;
}

// ---- Fetches

bool ContextHome::take_miss() {
  if (!misses->can_pop()) return false;
  unsigned number = 0;
  while (fetches_.at(number).busy) ++number;
  fetches_[number].miss = misses->pop();
  fetches_[number].busy = true;
  fetches_[number].since = now();
  ++fetching_;
  to_send_.push_back(number);
  return true;
}

// The oldest one whose row is not being written: a read of host memory may pass a write that has not reached the link.
bool ContextHome::send() {
  const auto ready = std::find_if(to_send_.begin(), to_send_.end(),
                                  [this](unsigned number) { return !being_written(fetches_[number].miss.index); });
  if (ready == to_send_.end() || !read->can_push()) return false;
  send(*ready);
  to_send_.erase(ready);
  return true;
}

void ContextHome::send(unsigned number) {
  Fetch& fetch = fetches_[number];
  const std::uint64_t octet = std::uint64_t{fetch.miss.index} * kRowBytes;
  fetch.stale = false;
  ++counters_.fetches;
  fetch.flip = counters_.fetches == flip_fetch_;
  counters_.fetched_bytes += kRowBytes;
  if (kind_ == HomeKind::kBoard) {
    std::memcpy(fetch.octets.data(), board_.at(octet), kRowBytes);
    fetch.done_at = board_.access(now(), fetch.miss.index, kRowBytes);
    return;
  }
  DmaReadRequest request;
  request.address = address_of(octet);
  request.bytes = kRowBytes;
  request.dst = fetch.octets.data();
  request.tag = number;
  request.owner = contexts_.context(abi::ContextKind::kPages, fetch.miss.index);
  read->push(std::move(request));
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
  const bool whole = ok && unpack(fetch);
  if (!whole) report(fetch.miss.index);
  counters_.fetch_cycles += now() - fetch.since;
  counters_.failed += !ok;
  counters_.corrupt += ok && !whole;
  contexts_.page_table.fill(fetch.miss, ok ? &row_ : nullptr);
  fetch = {};
  --fetching_;
}

// The row does not wait for that: the firmware may wait for a write which waits for the row.
void ContextHome::report(std::uint32_t row) {
  const auto same = [row](std::uint32_t waiting) { return waiting == row; };
  if (reports_.size() < kReports && !reports_.any(same)) reports_.push(row);
}

bool ContextHome::tell() {
  if (reports_.empty() || !events->can_push()) return false;
  events->push({HomeEvent::Kind::kLost, reports_.pop()});
  return true;
}

// False if an entry is not what was written there. It and those that were never written are no addresses.
bool ContextHome::unpack(const Fetch& fetch) {
  bool whole = true;
  for (std::uint32_t i = 0; i < PageRow::kPages; ++i) {
    const std::uint64_t entry = load_le64(&fetch.octets[std::size_t{i} * HomeEntry::kBytes]);
    const bool good = HomeEntry::is_whole(entry, fetch.miss.index * PageRow::kPages + i);
    row_.page[i] = good ? HomeEntry::address(entry) : kNowhere;
    whole &= good || entry == 0;
  }
  return whole;
}

std::string ContextHome::waiting_for() const {
  return fetching_ == 0 ? "" : "the home of " + std::to_string(fetching_) + " rows of contexts";
}

void ContextHome::describe(const Description& d) { d.counters(counters_); }

}  // namespace rnic
