#include "model/rnic/responder/atomic_alu.h"

#include <algorithm>
#include <utility>

#include "model/common/bytes.h"
#include "model/common/description.h"
#include "model/rnic/responder/atomic_operation.h"

namespace rnic {

AtomicAlu::AtomicAlu(sc_core::sc_module_name nm, ClockDomain& clk, ContextTables& contexts, const AtomicAluConfig& cfg)
    : Stage(nm, clk),
      contexts_(contexts),
      cfg_(cfg),
      words_(clk, cfg.operations),
      in_progress_(contexts.in_flight, StagWrites::kAtomic),
      operations_(cfg.operations),
      slots_(cfg.operations) {
  target.bind_to(contexts.stag_table);
  contexts.page_table.bind(pages);
  for (unsigned i = 0; i < cfg.operations; ++i) free_.push(i);
}

namespace {

bool is_assigned(const wire::AtomicRequest& q) {
  return q.opcode() == wire::AtomicOpcode::kFetchAdd || q.opcode() == wire::AtomicOpcode::kCmpSwap;
}

}  // namespace

// As for a Read, and more: both directions, alignment of the address on the bus (choices.md 1 to 4).
std::optional<wire::TerminateCause> AtomicAlu::check(const QueuedAtomic& r) const {
  constexpr std::uint8_t kRights = abi::kRemoteRead | abi::kRemoteWrite | abi::kRemoteAtomic;
  const wire::AtomicRequest& q = r.request;
  if (!is_assigned(q)) return wire::rdma::kUnexpectedOpcode;
  const StagContext* stag = target.named();
  if (stag == nullptr) return wire::rdma::kInvalidStag;
  if (!stag->serves(r.user())) return wire::rdma::kStagNotAssociated;
  if ((stag->access & kRights) != kRights) return wire::rdma::kAccessRights;
  if (q.to + abi::kAtomicBytes < q.to) return wire::rdma::kToWrap;
  if (!stag->contains(q.to, abi::kAtomicBytes)) return wire::rdma::kBaseOrBounds;
  if (target_of(q).address % abi::kAtomicBytes != 0) return wire::rdma::kCatastrophicStream;  // pages are aligned
  return {};
}

MemoryPiece AtomicAlu::target_of(const wire::AtomicRequest& q) const {
  return target.named()->piece(q.stag, q.to, abi::kAtomicBytes);
}

// Whether all that its STag needs is there. A request whose queue pair is gone, or with another opcode, needs nothing.
bool AtomicAlu::look_up(const QueuedAtomic& next) {
  if (asked_stag_) return target.ready();
  if (!contexts_.is_alive(next.qpn, next.epoch) || !is_assigned(next.request)) return true;
  if (target.can_ask()) {
    target.ask(Stag{next.request.stag});
    asked_stag_ = true;
  }
  return false;
}

// Whether it is known where on the bus the target is. Eight aligned octets are in one page, whose row of the page table
// is asked for when the request is in front. Without a target: whether nothing is asked for.
bool AtomicAlu::find(const MemoryPiece& piece) {
  const bool paged = static_cast<bool>(piece.list);
  const PagePlace place = place_of(piece.list, piece.address);
  if (asked_ && pages.can_use() && (!paged || pages.front().index != place.row)) {  // the STag has changed since
    pages.drop();
    asked_ = false;
  }
  if (paged && !asked_ && pages.can_ask()) {
    pages.ask(place.row);
    asked_ = true;
  }
  if (asked_ != paged || (asked_ && !pages.can_use())) return false;
  if (!paged) address_ = piece.address;
  else address_ = (pages.ok() ? pages.row().page[place.page] : kNowhere) + place.offset;
  return true;
}

unsigned AtomicAlu::newest_at(std::uint64_t address) const {
  for (unsigned i = 0; i < operations_.size(); ++i) {
    if (operations_[i].newest && operations_[i].address == address) return i;
  }
  return kNone;
}

// An atomic follows the youngest one in flight at its address and takes its result. If something else has been written
// there since that one's operand left memory, the result is not what the atomic must see (RFC 7306 section 5.4, rule 5:
// the Writes before it): it waits until that one is answered, and reads memory.
bool AtomicAlu::accept() {
  if (!in->can_pop()) return false;
  if (accept_next()) return true;
  contexts_.wake_at_change(*this);  // its target may change meanwhile
  return false;
}

bool AtomicAlu::accept_next() {
  const QueuedAtomic& next = in->front();
  if (!look_up(next)) return false;
  const bool known = contexts_.is_alive(next.qpn, next.epoch);
  const auto cause = known ? check(next) : std::optional<wire::TerminateCause>();
  const bool starts = known && !cause;
  if (!find(starts ? target_of(next.request) : MemoryPiece{})) return false;
  if (now() < next_start_ || free_.empty() || !read->can_push() || !event->can_push()) return false;
  const unsigned older = starts ? newest_at(address_) : kNone;
  if (older != kNone && words_.overwritten(older)) {
    counters_.held_up += std::exchange(held_up_, true) ? 0 : 1;
    return false;
  }
  held_up_ = false;
  if (std::exchange(asked_, false)) pages.drop();
  if (std::exchange(asked_stag_, false)) target.drop();
  const QueuedAtomic r = in->pop();
  next_start_ = now() + cfg_.initiation_interval;
  if (!known) return true;  // destroyed since: no QP to answer
  if (starts) {
    start(r, older);
  } else {
    ++counters_.refused;
    event->push(
        {QpEvent::Kind::kStreamError, r.qpn, *cause, r.segment});  // its IRRQ slot stays taken: the stream is over
  }
  return true;
}

// The value that an older one in flight at this address will write, or has sent to memory, is the operand. From now on
// the end of the STag waits for the answer: a round trip to host memory lies between.
void AtomicAlu::start(const QueuedAtomic& r, unsigned older) {
  const unsigned i = free_.pop();
  Operation& op = operations_[i] = Operation{};
  op.request = r;
  op.address = address_;
  op.newest = true;
  in_progress_.begin(i);
  words_.watch(i, op.address, older);
  if (older == kNone) return read->push({op.address, abi::kAtomicBytes, landing(i), {}, i, op.request.segment.owner});
  ++counters_.forwarded;
  operations_[older].newest = false;
  if (operations_[older].executed) forward(older, i);
  else operations_[older].next = i;
}

// An address that could not be read is not read again by the atomics that wait for it.
void AtomicAlu::forward(unsigned from, unsigned to) {
  operations_[to].original = operations_[from].result;
  operations_[to].ok = operations_[from].ok;
  ready_.push(to);
}

bool AtomicAlu::take_operand() {
  if (!read_done->can_pop()) return false;
  const DmaReadDone done = read_done->pop();
  Operation& op = operations_.at(done.tag);
  op.original = load_le64(op.octets.data());
  op.ok = done.ok;
  ready_.push(done.tag);
  return true;
}

bool AtomicAlu::execute_one() {
  if (ready_.empty()) return false;
  executing_.push({ready_.pop(), now() + cfg_.pipeline_cycles});
  return true;
}

// The result is passed to the next one at the address while it is on its way to memory.
bool AtomicAlu::finish() {
  if (executing_.empty() || executing_.front().done > now() || !write->can_push()) return false;
  const unsigned i = executing_.pop().operation;
  Operation& op = operations_[i];
  const AtomicResult result = execute(op.request.request, op.original);
  op.result = result.value;
  op.writes = op.ok && result.writes;
  op.executed = true;
  if (op.writes) {
    BufferRef buf = buffers_.take(op.request.segment.owner);
    store_le64(buf->bytes(), op.result);
    write->push({op.address, abi::kAtomicBytes, std::move(buf), 0, 0, true});
  }
  if (op.next != kNone) forward(i, op.next);
  unanswered_.push(i);
  return true;
}

// In the order of execution: an answer never reports a value whose write could still be overtaken.
bool AtomicAlu::answer() {
  if (unanswered_.empty() || !out->can_push() || !event->can_push()) return false;
  Operation& op = operations_[unanswered_.front()];
  if (op.writes && !written->can_pop()) return false;
  if (op.writes) written->pop();
  in_progress_.end(unanswered_.front());
  const Qpn qpn = op.request.qpn;
  const bool alive = contexts_.is_alive(qpn, op.request.epoch);
  if (!op.ok) {
    ++counters_.failed;
    if (alive) event->push({QpEvent::Kind::kStreamError, qpn, wire::rdma::kLocalCatastrophic, {}});
  } else {
    ++(op.request.request.opcode() == wire::AtomicOpcode::kFetchAdd ? counters_.fetch_adds : counters_.cmp_swaps);
    if (alive) {
      out->push({qpn, {op.request.request.request_id, op.original}, op.request.segment.owner, op.request.epoch});
    }
  }
  op.newest = false;
  words_.release(unanswered_.front());
  free_.push(unanswered_.pop());
  return true;
}

void AtomicAlu::reset() {
  words_.reset();
  in_progress_.reset();
  operations_.assign(operations_.size(), {});
  free_ = {};
  for (unsigned i = 0; i < cfg_.operations; ++i) free_.push(i);
  ready_ = unanswered_ = {};
  executing_ = {};
  next_start_ = 0;
  held_up_ = asked_stag_ = asked_ = false;
  target.reset();
  slots_.set(now(), 0, false);
}

Wake AtomicAlu::tick() {
  bool busy = answer();
  busy |= finish();
  busy |= take_operand();
  busy |= execute_one();
  busy |= accept();
  slots_.set(now(), static_cast<unsigned>(cfg_.operations - free_.size()), free_.empty() && in->can_pop());
  if (busy) return Wake::next_cycle();
  Cycle next = kNever;
  if (!executing_.empty() && executing_.front().done > now()) next = executing_.front().done;
  if (in->can_pop() && next_start_ > now()) next = std::min(next, next_start_);
  return Wake::at_cycle(next);
}

std::string AtomicAlu::waiting_for() const {
  for (const Operation& op : operations_) {
    if (op.newest && !op.executed) return "host memory for an atomic of QP " + std::to_string(op.request.qpn.v);
  }
  return unanswered_.empty() ? "" : "the write of an atomic";
}

void AtomicAlu::describe(const Description& d) {
  d.counters(counters_);
  d.account({"responder.atomics", "slots", Reach::kFetch, "atomic operations", 170, {}, true}, slots_);
  d.probes().group("responder").number("atomics_in_use", 16, "slots", [this] { return slots_.taken(); });
}

}  // namespace rnic
