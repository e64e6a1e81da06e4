#include "model/rnic/context/stag_work.h"

#include "model/common/description.h"

namespace rnic {
namespace {

using abi::WcStatus;

constexpr unsigned kInputs = 3;
constexpr std::uint32_t kRemote = abi::kRemoteWrite | abi::kRemoteRead | abi::kRemoteAtomic;

// Remote writes and atomics change the memory, so they need the right to write it locally.
constexpr bool rights_agree(std::uint32_t access, std::uint32_t of_region) {
  return (access & (abi::kRemoteWrite | abi::kRemoteAtomic)) == 0 || (of_region & abi::kLocalWrite) != 0;
}

void make_valid(StagContext& s, std::uint32_t stag, const abi::Registration& r) {
  s.valid = true;
  s.key = static_cast<std::uint8_t>(stag);
  s.access = static_cast<std::uint8_t>(r.access & 0x1f);
  s.zero_based = (r.access & abi::kZeroBased) != 0;
  s.address = s.bus = r.address;
  s.length = r.length;
}

Stag stag_of(const StagRequest& r) {
  return Stag{r.wqe.opcode == abi::WrOpcode::kLocalInv ? r.wqe.invalidate_stag : r.wqe.rkey};
}
Stag stag_of(const SinkEnd& e) { return e.stag; }
Stag stag_of(const StagWrite& w) { return w.stag; }
template <class... T>
Stag stag_of(const std::variant<T...>& command) {
  return std::visit([](const auto& c) { return stag_of(c); }, command);
}

// That a window is to be bound to.
std::optional<Stag> region_of(const StagRequest& r) {
  if (r.wqe.opcode != abi::WrOpcode::kBindMw) return {};
  return Stag{abi::Registration::of(r.wqe).lkey};
}

}  // namespace

StagWork::StagWork(sc_core::sc_module_name nm, ClockDomain& clk, ContextStore& contexts)
    : Stage(nm, clk), contexts_(contexts) {
  contexts.stag_table.bind(entry_);
  contexts.stag_table.bind(region_);
  contexts.stag_table.bind(bound_);
}

// The inputs take turns.
bool StagWork::take() {
  for (unsigned i = 1; i <= kInputs; ++i) {
    const unsigned input = (last_ + i) % kInputs;
    if (!(input == 0 ? take(request) : input == 1 ? take(sink) : take(write))) continue;
    last_ = input;
    return true;
  }
  return false;
}

// A request of a send queue is not taken while answers to earlier ones wait for room: the firmware, which may have to
// make that room, must not wait for them.
template <class T>
bool StagWork::take(PopPort<T>& from) {
  if (!from->can_pop() || !entry_.can_ask()) return false;
  if constexpr (std::is_same_v<T, StagRequest>) {
    if (!request_done->can_push()) return false;
  }
  const T command = from->pop();
  entry_.ask(index_of(stag_of(command)));
  if constexpr (std::is_same_v<T, StagRequest>) to_bind_ = region_of(command);
  command_ = command;
  ask_for_regions();
  return true;
}

// The region of a window that is bound is known when the window's entry is there.
void StagWork::ask_for_regions() {
  if (to_bind_ && !asked_region_ && region_.can_ask()) {
    region_.ask(index_of(*to_bind_));
    asked_region_ = true;
  }
  if (!is_bound() || asked_bound_ || !bound_.can_ask()) return;
  bound_.ask(index_of(Stag{entry_.row().stag.region}));
  asked_bound_ = true;
}

bool StagWork::is_bound() const { return entry_.can_use() && entry_.ok() && entry_.row().stag.is_bound(); }

// All rows that the request needs can be used.
bool StagWork::there() {
  ask_for_regions();
  return entry_.can_use() && (!to_bind_ || (asked_region_ && region_.can_use())) &&
         (asked_bound_ ? bound_.can_use() : !is_bound());
}

bool StagWork::execute() {
  if (!there() || !std::visit([this](const auto& command) { return finish(command); }, *command_)) return false;
  entry_.drop();
  if (asked_region_) region_.drop();
  if (asked_bound_) bound_.drop();
  forget();
  return true;
}

void StagWork::forget() {
  command_.reset();
  to_bind_.reset();
  asked_region_ = asked_bound_ = false;
}

// A queue pair whose number was reused meanwhile has no effect, and hears nothing.
bool StagWork::finish(const StagRequest& r) {
  StagRequestDone done{r.qpn, r.epoch, abi::WcStatus::kMwBindErr};
  if (contexts_.epoch(r.qpn) == r.epoch) {
    done.status = r.wqe.opcode == abi::WrOpcode::kLocalInv ? invalidate(r)
                  : r.wqe.opcode == abi::WrOpcode::kRegMr  ? fast_register(r)
                                                           : bind(r);
  }
  count(done.status);
  // The end of an STag, or of a window's earlier binding.
  if (done.status == WcStatus::kSuccess && r.wqe.opcode != abi::WrOpcode::kRegMr) requests_.push({done, fence()});
  else if (request_done->can_push()) request_done->push(done);
  else requests_.push({done, {}});
  return true;
}

bool StagWork::finish(const SinkEnd& e) {
  const StagRow* const s = row(entry_);
  Ending<SinkEnded> end;
  if (s != nullptr && s->stag.names(e.stag.v)) {
    if (s->may_be_invalidated(e.stag)) {
      contexts_.end(e.stag);
      trace_.ended(e.stag, Qpn{TraceEvent::kNone}, "the end of a Read with Invalidate");
      end.fence = fence();
    } else {
      end.answer.status = WcStatus::kMwBindErr;
    }
  }
  count(end.answer.status);
  sinks_.push(end);
  return true;
}

// An entry that is taken away may have had a valid STag.
bool StagWork::finish(const StagWrite& w) {
  if (taking_away_ || !written->can_push()) return false;
  if (entry_.ok()) contexts_.write(w.stag, w.context);
  else contexts_.replace(w.stag, w.context);
  count(WcStatus::kSuccess);
  if (!w.context.valid && !w.context.allocated) {
    taking_away_ = {{w.stag}, fence()};
    trace_.ended(w.stag, Qpn{TraceEvent::kNone}, "a command of the host");
  } else {
    written->push({w.stag});
  }
  return true;
}

StagFence StagWork::fence() {
  ++counters_.ended;
  return {*this, contexts_.in_flight, now()};
}

void StagWork::count(WcStatus status) {
  ++counters_.requests;
  counters_.refused += status != WcStatus::kSuccess;
}

// RFC 5040 section 8.1.1: what the STag allowed is over when its end is reported. Fences pass in the order in which
// they were set up.
bool StagWork::tell_firmware() {
  if (!taking_away_ || !taking_away_->fence->passed() || !written->can_push()) return false;
  written->push(taking_away_->answer);
  taking_away_.reset();
  return true;
}

template <class T>
bool StagWork::tell(Ring<Ending<T>>& endings, PushPort<T>& to) {
  if (endings.empty()) return false;
  Ending<T>& e = endings.front();
  if ((e.fence && !e.fence->passed()) || !to->can_push()) return false;
  to->push(e.answer);
  endings.drop();
  return true;
}

WcStatus StagWork::invalidate(const StagRequest& r) {
  const Stag stag = stag_of(r);
  const StagRow* const s = row(entry_);
  if (s == nullptr || !s->stag.names(stag.v) || !s->stag.serves(r.user()) || !s->may_be_invalidated(stag)) {
    return WcStatus::kMwBindErr;
  }
  contexts_.end(stag);
  trace_.ended(stag, r.qpn, "a local invalidation");
  return WcStatus::kSuccess;
}

WcStatus StagWork::fast_register(const StagRequest& work) {
  const auto r = abi::Registration::of(work.wqe);
  const StagRow* const s = row(entry_);
  if (s == nullptr || !s->stag.allocated || s->stag.kind != StagKind::kRegion || s->stag.valid ||
      s->stag.pd != work.pd) {
    return WcStatus::kMwBindErr;
  }
  if (r.address + r.length < r.address || !rights_agree(r.access, r.access)) return WcStatus::kMwBindErr;
  if (r.log_page != 0 && (r.pages > s->stag.pages || !fits_pages(r.first_offset, r.length, r.pages, r.log_page))) {
    return WcStatus::kMwBindErr;
  }
  StagContext region = s->stag;
  make_valid(region, work.wqe.rkey, r);
  region.log_page = static_cast<std::uint8_t>(r.log_page);
  if (r.log_page != 0) region.bus = r.first_offset;
  contexts_.write(stag_of(work), region);
  return WcStatus::kSuccess;
}

// A window of type 1 is bound again whenever its owner likes; one of type 2 must be invalidated first, and then serves
// the queue pair that bound it.
WcStatus StagWork::bind(const StagRequest& work) {
  const auto r = abi::Registration::of(work.wqe);
  const Pdn pd = work.pd;
  const StagRow* const s = row(entry_);
  if (s == nullptr || !s->stag.allocated || s->stag.kind == StagKind::kRegion || s->stag.pd != pd) {
    return WcStatus::kMwBindErr;
  }
  if (s->stag.kind == StagKind::kWindow2 && s->stag.valid) return WcStatus::kMwBindErr;
  StagContext window = s->stag;
  if (s->stag.kind == StagKind::kWindow1 && r.length == 0) {
    window.valid = false;
    contexts_.write(stag_of(work), window);
    return WcStatus::kSuccess;
  }
  const StagRow* const of = row(region_);
  if (of == nullptr || !of->stag.covers(r.lkey, pd, r.address, r.length)) return WcStatus::kMwBindErr;
  const StagContext& region = of->stag;
  if (!(region.access & abi::kMwBind) || (r.access & ~(kRemote | abi::kZeroBased)) != 0 ||
      !rights_agree(r.access, region.access)) {
    return WcStatus::kMwBindErr;
  }
  make_valid(window, work.wqe.rkey, r);
  window.address = region.address + (r.address - region.base());
  window.bus = region.bus + (r.address - region.base());
  window.log_page = region.log_page;
  window.first_page = region.first_page;
  window.pages = region.pages;
  window.region = r.lkey;
  window.qpn = work.qpn;
  window.qp_epoch = work.epoch;
  contexts_.write(stag_of(work), window);
  return WcStatus::kSuccess;
}

void StagWork::reset() {
  forget();
  last_ = 0;
  requests_.clear();
  sinks_.clear();
  taking_away_.reset();
}

Wake StagWork::tick() {
  bool busy = tell(requests_, request_done);
  busy |= tell(sinks_, sink_ended);
  busy |= tell_firmware();
  if (command_) busy |= execute();
  if (!command_) busy |= take();
  return busy ? Wake::next_cycle() : Wake::on_traffic();
}

std::string StagWork::waiting_for() const {
  if (command_) return "the entry of STag index " + std::to_string(index_of(stag_of(*command_)));
  const bool ends = !requests_.empty() || !sinks_.empty() || taking_away_;
  return ends ? "writes that an STag allowed before it ended" : "";
}

void StagWork::describe(const Description& d) {
  d.counters(counters_);
  d.point(trace_.point);
}

}  // namespace rnic
