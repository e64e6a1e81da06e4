// A DMA client's requests that name pages of a region: they are taken ahead of their turn, so that the page table is
// read meanwhile. See pcie.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/common/ring.h"
#include "model/rnic/context/page_table.h"
#include "model/rnic/context/stag_table.h"
#include "model/rnic/messages/dma.h"

namespace rnic::pcie {

// That a client's queue takes ahead: so many, or twice as many as misses that may be in flight, as some of them hit.
inline constexpr unsigned kRequests = 8;

// Whether the region that a request names still has its list. A write names none: the pages are its own until it is
// out, for which the end of its STag waits.
template <class Request>
class RegionsOf {
 public:
  RegionsOf(Stage&, const char*, unsigned) {}
  void bind_to(StagTable&) {}
  bool can_ask() const { return true; }
  void ask(const Request&) {}
  bool can_use() const { return true; }
  bool has(const Request&) const { return true; }
  void drop() {}
};
// Nothing waits for a read: if its region has other pages by now, or none, those of its list may be another one's.
template <>
class RegionsOf<DmaReadRequest> {
 public:
  // With room for as many asks as wait for rows that are fetched.
  RegionsOf(Stage& engine, const char* name, unsigned misses_in_flight)
      : stags_(engine, name, misses_in_flight == 0 ? 0 : 2 * misses_in_flight + kRequests) {}
  void bind_to(StagTable& table) { table.bind(stags_); }
  bool can_ask() { return stags_.can_ask(); }
  void ask(const DmaReadRequest& r) { stags_.ask(index_of(Stag{r.region})); }
  bool can_use() const { return stags_.can_use(); }
  bool has(const DmaReadRequest& r) const {
    return stags_.ok() && stags_.row().stag.names(r.region) && stags_.row().stag.list() == r.list;
  }
  void drop() { stags_.drop(); }

 private:
  StagTable::Reader stags_;
};

// In the order of the requests, and with them those between them that name none. The rows of the page table are read in
// the order of their use, and used where the table has them.
template <class Request>
class PageQueue {
 public:
  PageQueue(Stage& engine, const char* name, PopPort<Request>& from, PageTable& pages, StagTable& stags)
      : most_(std::max(kRequests, 2 * pages.cache().misses_in_flight())),
        pages_(engine, name),
        regions_(engine, name, pages.cache().misses_in_flight()),
        from_(from) {
    pages.bind(pages_);
    regions_.bind_to(stags);
  }

  // Nothing to do, as nearly always where memory is not in pages.
  [[gnu::always_inline]] bool idle() const { return requests_.empty() && !comes_next(); }
  // Takes a request, asks for a row, and drops one that nobody needs any more: one of each a cycle. Returns whether
  // there was anything to do.
  [[gnu::noinline]] bool look_ahead() {
    dropped_ = drop_abandoned();
    bool busy = dropped_;
    if (requests_.size() < most_ && from_->can_pop()) {
      take(from_->pop());
      busy = true;
    }
    return ask() || busy;
  }
  bool empty() const { return requests_.empty(); }
  Request& front() { return requests_.front().request; }
  // Whether the next octets of the oldest request can be sent.
  bool ready() const {
    const Walk& w = requests_.front();
    return !w.abandoned && !dropped_ && (!w.named() || can_use());
  }
  // Where they are: as many as are in a page.
  BusPiece next() const;
  // Whether their page is unknown because the page table has lost it.
  bool lost() const;
  // So many of them are sent. With the last one the request is gone.
  void sent(std::uint32_t octets);
  // The rest of the oldest request is not needed: its rows are dropped when they come, one a cycle.
  void abandon() {
    requests_.front().abandoned = true;
    if (asked_ == 0) asked_ = 1;
  }

  void reset() {
    requests_.clear();
    asked_ = 0;
    dropped_ = false;
  }

 private:
  struct Walk {
    Request request;
    std::uint32_t next_row = 0, last_row = 0;  // to be asked for
    unsigned rows = 0;                         // asked for and not used up
    bool abandoned = false;

    bool named() const { return static_cast<bool>(request.list); }
    PagePlace place() const { return place_of(request.list, request.address); }
  };
  [[gnu::always_inline]] bool comes_next() const { return from_->can_pop() && bool(from_->front().list); }
  void take(Request request);
  bool ask();
  bool drop_abandoned();

  bool can_use() const { return pages_.can_use() && regions_.can_use(); }
  void drop() {
    pages_.drop();
    regions_.drop();
  }

  const std::size_t most_;
  PageTable::Reader pages_;
  RegionsOf<Request> regions_;  // in step with it
  PopPort<Request>& from_;
  Ring<Walk> requests_;
  std::size_t asked_ = 0;  // requests from the front whose rows are all asked for
  bool dropped_ = false;   // a row of an abandoned request, in this cycle
};

template <class Request>
void PageQueue<Request>::take(Request request) {
  Walk w;
  w.request = std::move(request);
  if (w.named()) {
    w.last_row = place_of(w.request.list, w.request.address + w.request.bytes - 1).row;
    w.next_row = w.place().row;
  }
  requests_.push(std::move(w));
}

template <class Request>
bool PageQueue<Request>::ask() {
  while (asked_ != requests_.size() && !requests_.at(asked_).named()) ++asked_;
  if (asked_ == requests_.size() || !pages_.can_ask() || !regions_.can_ask()) return false;
  Walk& w = requests_.at(asked_);
  pages_.ask(w.next_row);
  regions_.ask(w.request);
  ++w.rows;
  asked_ += w.next_row++ == w.last_row;
  return true;
}

template <class Request>
BusPiece PageQueue<Request>::next() const {
  const Walk& w = requests_.front();
  const Request& r = w.request;
  if (!w.named()) return {r.address, r.bytes};
  if (!pages_.ok()) return {kNowhere, r.bytes};
  const PagePlace at = w.place();
  const auto octets = static_cast<std::uint32_t>(std::min<std::uint64_t>(r.list.page_bytes() - at.offset, r.bytes));
  return {regions_.has(r) ? pages_.row().page[at.page] + at.offset : kNowhere, octets};
}

template <class Request>
bool PageQueue<Request>::lost() const {
  const Walk& w = requests_.front();
  return w.named() && (!pages_.ok() || pages_.row().page[w.place().page] == kNowhere);
}

template <class Request>
void PageQueue<Request>::sent(std::uint32_t octets) {
  Walk& w = requests_.front();
  const std::uint32_t row = w.place().row;
  w.request.address += octets;
  w.request.bytes -= octets;
  const bool done = w.request.bytes == 0;
  if (w.named() && (done || w.place().row != row)) {
    drop();
    --w.rows;
  }
  if (!done) return;
  if (asked_ != 0) --asked_;
  w.request = {};
  requests_.drop();
}

template <class Request>
bool PageQueue<Request>::drop_abandoned() {
  if (requests_.empty() || !requests_.front().abandoned) return false;
  Walk& w = requests_.front();
  if (w.rows != 0) {
    if (!can_use()) return false;
    drop();
    --w.rows;
  }
  if (w.rows == 0) {
    --asked_;
    w.request = {};
    requests_.drop();
  }
  return true;
}

// Those of an engine's clients.
template <class Request>
class PageQueues {
 public:
  void add(PageQueue<Request>& queue) { queues_.push_back(&queue); }
  // The page table is read for requests that are not due yet. Returns whether there was anything to do.
  [[gnu::always_inline]] bool look_ahead() {
    bool busy = false;
    queued_ = false;
    for (PageQueue<Request>* queue : queues_) {
      if (queue->idle()) continue;
      busy |= queue->look_ahead();
      queued_ |= !queue->empty();
    }
    return busy;
  }
  // Whether a request may be in one of them.
  bool queued() const { return queued_; }

 private:
  std::vector<PageQueue<Request>*> queues_;
  bool queued_ = false;
};

}  // namespace rnic::pcie
