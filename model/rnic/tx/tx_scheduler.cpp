#include "model/rnic/tx/tx_scheduler.h"

#include <utility>

#include "model/common/description.h"
#include "model/rnic/messages/stag_work.h"

namespace rnic {

namespace {

// Of a queue pair, what the firmware may put before its work requests.
constexpr std::size_t kInternal = 2;
constexpr unsigned kTerminateBytes = wire::DdpUntaggedHeader::kBytes + wire::TerminateHeader::kMaxBytes;

// With a row that cannot be fetched its lists are lost, whose elements then are nobody's.
PoolLimit lost_with(const ContextTables& contexts) {
  return contexts.tx_table.cached() ? PoolLimit::kHome : PoolLimit::kChip;
}

ValueWords words_of_waits(const PerLlp<LlpTraits>& llps) {
  ValueWords words{"nothing", "ord", "fence", "first_fpdu"};
  for (const LlpTraits& llp : llps) words.push_back(llp.credit);
  for (const LlpTraits& llp : llps) words.push_back(llp.memory);
  words.push_back("outstanding");
  return words;
}

// By TxWait: Reads and atomics outstanding are counted without a limit.
template <std::size_t... wait>
std::array<Account, kTxWaits> accounts_of(unsigned qps, std::index_sequence<wait...>) {
  return {Account{wait <= static_cast<std::size_t>(TxWait::kOrd) ? 0 : qps}...};
}

}  // namespace

TxScheduler::TxScheduler(ContextTables& contexts, const PerLlp<LlpTraits>& llps, unsigned turn_fpdus)
    : contexts_(contexts),
      llps_(llps),
      turn_fpdus_(turn_fpdus),
      wait_words_(words_of_waits(llps)),
      qps_(contexts.qps()),
      wqe_pool_({"wqes", QpElements::entries(contexts.qps(), contexts.elements().wqes, contexts.elements().shared_wqes),
                 "queue pairs x tx.wqe_fetch.prefetch, or queue pairs + tx.wqe_fetch.shared", lost_with(contexts)}),
      answered_pool_({"answered", contexts.qps(), "queue pairs", lost_with(contexts)}),
      internal_pool_({"internal", contexts.qps() * kInternal, "queue pairs x (ready-to-receive message + Terminate)",
                      lost_with(contexts)}),
      terminate_pool_({"terminates", contexts.qps(), "queue pairs", lost_with(contexts)}, 8 * kTerminateBytes),
      list_pool_({"listed", contexts.qps(), "queue pairs"}, 0),
      accounts_(accounts_of(static_cast<unsigned>(contexts.qps()), std::make_index_sequence<kTxWaits>())) {}

void TxScheduler::reset() {
  qps_.assign(qps_.size(), {});
  wqe_pool_.reset();
  answered_pool_.reset();
  internal_pool_.reset();
  terminate_pool_.reset();
  list_pool_.reset();
  listed_ = going_on_ = {};
  turns_ = 0;
  waiting_ = {};
  reads_ = 0;
  room_is_awaited_ = false;
  called_.clear();
  called_qps_ = 0;
}

void TxScheduler::describe(const Description& d) {
  wqe_pool_.describe(d);
  answered_pool_.describe(d);
  internal_pool_.describe(d);
  terminate_pool_.describe(d);
  list_pool_.describe(d);
  d.point(changes_);
  d.account({"tx.ord", "slots", Reach::kRequests, "ORD", 60}, waits(TxWait::kOrd));
  d.account({"tx.fence", "slots", Reach::kRequests, "fence", 70}, waits(TxWait::kFence));
  d.account({"tx.first_fpdu", "slots", Reach::kRequests, "first FPDU of the peer", 80}, waits(TxWait::kFirstFpdu));
  d.account({"tx.outstanding", "slots", Reach::kRequests, "requests outstanding", 85}, waits(kTxOutstanding));
  unsigned position = 90;
  for (const LlpId llp : {LlpId::kMpaTcp, LlpId::kSctp}) {
    const LlpTraits& of = llps_[llp];
    d.account({std::string("tx.") + of.credit, "credits", Reach::kWindow, of.window, position,
               of.has_window ? AccountRole::kSendWindow : AccountRole::kNone},
              waits(credit_of(llp)));
    d.account({std::string("tx.") + of.memory, "credits", Reach::kTransmitMemory, of.memory_is, position},
              waits(room_of(llp)));
    position += 10;
  }
}

TxQp TxScheduler::use(Qpn qpn, const TxRow& row) {
  QpTx& q = contexts_.tx_table.own(qpn.v, &TxRow::state);
  if (q.epoch != row.qp.epoch) renew(qpn, row.qp, q);
  return {qpn, row.qp, q};
}

void TxScheduler::renew(Qpn qpn, const TxContext& ctx, QpTx& q) {
  wqe_pool_.clear(q.wqes);
  answered_pool_.clear(q.answered);
  internal_pool_.clear(q.internal);
  terminate_pool_.clear(q.terminate);
  give_up(qpn);
  end_begun(qpn);
  Here& here = qps_[qpn.v];
  here.draining = false;
  here.fpdus = 0;
  q = QpTx{};
  q.epoch = ctx.epoch;
  q.msn_send = q.msn_read = q.msn_response = ctx.first_msn;
}

void TxScheduler::used(const TxQp& of) { show(qps_[of.qpn.v], of.state.wqes.size, of.state.reads); }

// The elements of its lists stay where they are: nobody knows them any more.
bool TxScheduler::lose(Qpn qpn, std::uint32_t epoch) {
  give_up(qpn);
  end_begun(qpn);
  show(qps_[qpn.v], 0, 0);
  return std::exchange(qps_[qpn.v].lost, epoch) != epoch;
}

void TxScheduler::begin(const TxQp& of) {
  Here& here = qps_[of.qpn.v];
  if (std::exchange(here.begun, true) || outstanding_ == nullptr) return;
  outstanding_->take(of.qpn);
}

void TxScheduler::retire(const TxQp& of) {
  qps_[of.qpn.v].begun = false;
  wqe_pool_.pop(of.state.wqes);
}

// Nobody completes it any more.
void TxScheduler::end_begun(Qpn qpn) {
  if (std::exchange(qps_[qpn.v].begun, false) && outstanding_ != nullptr) outstanding_->give_back(qpn);
}

void TxScheduler::show(Here& here, std::uint32_t wqes, std::uint32_t reads) {
  reads_ += reads - here.reads;
  here.wqes = static_cast<std::uint16_t>(wqes);
  here.reads = static_cast<std::uint16_t>(reads);
}

void TxScheduler::post(const TxQp& of, FetchedWqe f) {
  wqe_pool_.push(of.state.wqes, std::move(f));
  list(of);
}

void TxScheduler::post(const TxQp& of, const TxInternalWork& work) {
  internal_pool_.push(of.state.internal, work);
  list(of);
}

void TxScheduler::keep_terminate(QpTx& q, BufferRef buffer, std::uint8_t bytes) {
  terminate_pool_.put(q.terminate, std::move(buffer));
  q.terminate_bytes = bytes;
}

void TxScheduler::list(const TxQp& of) {
  Here& here = qps_[of.qpn.v];
  if (here.listed) return;
  if (next(of) == Source::kNone) {
    if (outstanding_ != nullptr && outstanding_->is_short() && wait_to_begin(of)) return;
    const TxWait why = why_not(of.ctx, of.state);
    const bool may_lack_room = why >= TxWait::kCredit || !of.state.internal.empty();
    if (may_lack_room && wait_for_room(of)) return;
    return count(of.qpn, why);
  }
  give_up(of.qpn);
  here.listed = true;
  list_pool_.push(listed_, of.qpn);
}

void TxScheduler::resolve_oldest(QpTx& q, const std::array<MemoryPiece, abi::kMaxSge>& pieces) {
  FetchedWqe& f = wqe_pool_.front(q.wqes);
  abi::Wqe& w = f.wqe;
  if (abi::is_read(w.opcode) || abi::is_atomic(w.opcode) || (w.flags & abi::kWqeInline)) return;
  for (unsigned i = 0; i < w.num_sge; ++i) {
    if (w.sge[i].length == 0) continue;
    w.sge[i] = {pieces[i].address, pieces[i].bytes, pieces[i].region};
    f.lists[i] = pieces[i].list;
  }
}

// For a QP that has no turn.
TxWait TxScheduler::why_not(const TxContext& ctx, const QpTx& q) const {
  const bool begun = q.request.active || q.response.active;
  if (q.halted || q.flushing || q.working || !ctx.valid || (q.wqes.empty() && !begun)) return TxWait::kNothing;
  if (q.fenced(ctx)) return TxWait::kFirstFpdu;
  if (!q.open(ctx)) return TxWait::kNothing;
  if (begun || q.may_start(ctx, oldest(q).wqe)) {
    return credit_of(ctx.llp);
  }
  return (oldest(q).wqe.flags & abi::kWqeFence) != 0 ? TxWait::kFence : TxWait::kOrd;
}

void TxScheduler::count(Qpn qpn, TxWait waits) {
  TxWait& before = qps_[qpn.v].waits;
  if (before == waits) return;
  --waiting_[static_cast<unsigned>(before)];
  ++waiting_[static_cast<unsigned>(waits)];
  before = waits;
  if (changes_.on()) record(qpn, waits);
}

void TxScheduler::record(Qpn qpn, TxWait waits) const {
  TraceEvent e;
  e.kind = TraceKind::kWaits;
  e.qpn = qpn.v;
  e.values[0] = static_cast<std::uint32_t>(waits);
  e.text = wait_words_[e.values[0]].c_str();
  changes_(e);
}

void TxScheduler::account(Cycle now) {
  const bool idle = nobody() && turns_ == 0;
  const auto reasons = room_was_awaited_ ? kTxWaits : static_cast<unsigned>(room_of(LlpId{}));
  for (unsigned i = static_cast<unsigned>(TxWait::kOrd); i < reasons; ++i) {
    const unsigned taken = static_cast<TxWait>(i) == TxWait::kOrd ? reads_ : waiting_[i];
    accounts_[i].set(now, taken, idle && waiting_[i] != 0);
  }
}

Qpn TxScheduler::turn() {
  ++turns_;
  return list_pool_.pop(going_on_.empty() ? listed_ : going_on_);
}

void TxScheduler::over(Qpn qpn) {
  --turns_;
  qps_[qpn.v].listed = false;
  qps_[qpn.v].fpdus = 0;
  if (called_qps_ != 0) leave_room(qpn);
  if (outstanding_ != nullptr) outstanding_->cancel(qpn);
}

// What it was called for and has not sent, others may send.
void TxScheduler::leave_room(Qpn qpn) {
  const FlowId flow = std::exchange(called_[qpn.v], kNoFlow);
  if (flow == kNoFlow) return;
  --called_qps_;
  for (llp::TransmitMemory* memory : memories_) {
    if (memory != nullptr && memory->has(flow)) memory->cancel(flow);
  }
}

void TxScheduler::again(Qpn qpn) {
  --turns_;
  list_pool_.push(listed_, qpn);
}

// Those in the middle of their turns go before the others: their rows are on the chip.
void TxScheduler::over(const TxQp& of) {
  Here& here = qps_[of.qpn.v];
  if (++here.fpdus == turn_fpdus_ || next(of) == Source::kNone) {
    over(of.qpn);
    return list(of);
  }
  --turns_;
  list_pool_.push(going_on_, of.qpn);
}

std::size_t TxScheduler::cost(const TxContext& ctx, const QpTx& q, std::uint32_t ulpdu) const {
  return llps_[ctx.llp].segment_octets(ctx.markers, q.position, ulpdu);
}

template <TxScheduler::Allows allows>
inline bool TxScheduler::may_leave(const TxContext& ctx, const QpTx& q, const OutboundMessage& m) const {
  const std::size_t octets = cost(ctx, q, next_ulpdu_bytes(m, ctx.mulpdu));
  if (q.credit < octets) return false;
  if constexpr (allows == Allows::kCredit) return true;
  const llp::TransmitMemory* const memory = memories_[ctx.llp];
  return memory == nullptr || memory->admits(ctx.flow, static_cast<std::uint32_t>(octets));
}

void TxScheduler::take_room(LlpId llp, FlowId flow, std::size_t octets) {
  llp::TransmitMemory* const memory = memories_[llp];
  if (memory != nullptr) memory->take(flow, static_cast<std::uint32_t>(octets));
}

// If that is all that it lacks.
bool TxScheduler::wait_for_room(const TxQp& of) {
  const auto& [qpn, ctx, q] = of;
  llp::TransmitMemory* const memory = memories_[ctx.llp];
  if (memory == nullptr || !memory->is_short()) return false;
  const Source wanted = choose<Allows::kCredit>(qpn, ctx, q);
  if (wanted != Source::kRequest && wanted != Source::kResponse) return false;
  const OutboundMessage m = wanted == Source::kResponse ? q.response
                            : q.open(ctx)               ? *next_request(ctx, q)
                                                        : next_internal(q);
  memory->wait(ctx.flow, qpn, static_cast<std::uint32_t>(cost(ctx, q, next_ulpdu_bytes(m, ctx.mulpdu))));
  room_is_awaited_ = room_was_awaited_ = true;
  count(qpn, room_of(ctx.llp));
  return true;
}

bool TxScheduler::begins_work(const TxQp& of, Source wanted) {
  const QpTx& q = of.state;
  if (wanted == Source::kRequest) return q.open(of.ctx) && !q.request.active && q.internal.empty();
  return wanted == Source::kFlush || wanted == Source::kLocalWork;
}

// If a place among those outstanding is all that it lacks.
bool TxScheduler::wait_to_begin(const TxQp& of) {
  if (may_begin(of.qpn) || !begins_work(of, choose<Allows::kCredit>(of.qpn, of.ctx, of.state))) return false;
  outstanding_->wait(of.qpn);
  room_is_awaited_ = room_was_awaited_ = true;
  count(of.qpn, kTxOutstanding);
  return true;
}

void TxScheduler::call_next() {
  room_is_awaited_ = false;
  if (outstanding_ != nullptr) {
    if (outstanding_->may_call()) call_next(*outstanding_);
    room_is_awaited_ |= outstanding_->somebody_waits();
  }
  for (llp::TransmitMemory* memory : memories_) {
    if (memory == nullptr) continue;
    if (memory->may_call()) call_next(*memory);
    room_is_awaited_ |= memory->somebody_waits();
  }
}

bool TxScheduler::may_call() const {
  bool may = outstanding_ != nullptr && outstanding_->may_call();
  for (const llp::TransmitMemory* memory : memories_) may |= memory != nullptr && memory->may_call();
  return may;
}

template <class Room>
void TxScheduler::call_next(Room& room) {
  const auto next = room.call();
  if (!next) return;
  note_call(next->id, next->qpn);
  if (std::exchange(qps_[next->qpn.v].listed, true)) return;
  give_up(next->qpn);
  list_pool_.push(listed_, next->qpn);
}

void TxScheduler::note_call(FlowId flow, Qpn qpn) {
  if (called_.empty()) called_.resize(qps_.size(), kNoFlow);
  leave_room(qpn);  // of another flow, which had the queue pair's number before
  called_[qpn.v] = flow;
  ++called_qps_;
}

// The request being cut, or else the one to start; none if it has to wait for its turn.
std::optional<OutboundMessage> TxScheduler::next_request(const TxContext& ctx, const QpTx& q) const {
  if (q.request.active) return q.request;
  if (!q.internal.empty()) return next_internal(q);
  if (q.wqes.empty() || !q.may_start(ctx, oldest(q).wqe) || is_stag_work(oldest(q).wqe.opcode)) return {};
  return request_message(oldest(q).wqe);
}

// Everything posted has been sent, and, once the peer has closed, all responses that are due (RFC 5041 section 6.2); a
// request that waits for a response of the peer then waits forever.
bool TxScheduler::drained(const TxContext& ctx, const QpTx& q) const {
  if (q.request.active || q.response.active) return false;
  if (!q.peer_closed) return q.wqes.empty();
  const bool sinks_end = q.reads == 0 && q.sinks != 0;  // a fenced request waits for this side alone
  return q.due == 0 && (q.wqes.empty() || (!sinks_end && !q.may_start(ctx, oldest(q).wqe)));
}

// Requests and responses alternate by FPDU, but two tagged messages are never interleaved: no field of a tagged segment
// identifies its message, and peers refuse it.
template <TxScheduler::Allows allows>
inline TxScheduler::Source TxScheduler::choose(Qpn qpn, const TxContext& ctx, const QpTx& q) const {
  const bool may_begin = allows == Allows::kCredit || this->may_begin(qpn);
  if (q.flushing) return q.wqes.empty() || !may_begin ? Source::kNone : Source::kFlush;
  const bool host = q.open(ctx);
  if (q.draining && q.internal.empty() && (!host || drained(ctx, q))) return Source::kDrain;
  if (!host && (q.internal.empty() || !ctx.valid)) return Source::kNone;
  const bool begins = host && !q.request.active && q.internal.empty();
  if (begins && may_begin && !q.working && !q.wqes.empty() && is_stag_work(oldest(q).wqe.opcode) &&
      q.may_start(ctx, oldest(q).wqe)) {
    return Source::kLocalWork;
  }
  const bool inside_write = q.request.active && q.request.tagged();
  const bool inside_response = q.response.active && q.response.done != 0;
  const bool response =
      host && q.response.active && !(inside_write && q.response.tagged()) && may_leave<allows>(ctx, q, q.response);
  const std::optional<OutboundMessage> m = host ? next_request(ctx, q) : next_internal(q);
  const bool request =
      m && (may_begin || !begins) && !(m->tagged() && inside_response) && may_leave<allows>(ctx, q, *m);
  if (response && (q.response_turn || !request)) return Source::kResponse;
  return request ? Source::kRequest : Source::kNone;
}

TxScheduler::Source TxScheduler::next(Qpn qpn, const TxContext& ctx, const QpTx& q) const {
  return choose<Allows::kCreditAndRoom>(qpn, ctx, q);
}

std::string TxScheduler::waiting_for() const {
  for (std::uint32_t n = 0; n < qps_.size(); ++n) {
    const Here& here = qps_[n];
    const bool connected = contexts_.state_of(Qpn{n}) == QpState::kRts;
    if (here.waits == TxWait::kNothing && (here.wqes == 0 || connected)) continue;
    const std::string who = "QP " + std::to_string(n) + " has work and waits for ";
    if (!connected) return who + "its connection";
    if (here.waits == kTxOutstanding) return who + "a place among the requests outstanding";
    if (here.waits == TxWait::kFirstFpdu) return who + "the first FPDU of its peer";
    if (here.waits < TxWait::kCredit) return who + "read responses (ORD or fence)";
    const auto reason = static_cast<unsigned>(here.waits) - static_cast<unsigned>(TxWait::kCredit);
    const LlpTraits& llp = llps_[static_cast<LlpId>(reason % kLlps)];
    return here.waits < room_of(LlpId{}) ? who + llp.window : who + "room in the " + llp.memory_is;
  }
  return {};
}

}  // namespace rnic
