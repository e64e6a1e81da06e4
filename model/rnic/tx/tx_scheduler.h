// Which QP sends the next FPDU, and of which message: the QPs that can send are in one list and take turns. What it
// knows of a QP is in the row of the transmit table, which the segmenter has read; the elements of its lists are here.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "model/abi/tx_internal_work.h"
#include "model/common/account.h"
#include "model/common/part.h"
#include "model/common/trace_point.h"
#include "model/common/value_words.h"
#include "model/rnic/context/outstanding_requests.h"
#include "model/rnic/context/tables.h"
#include "model/rnic/llp/llp_traits.h"
#include "model/rnic/llp/transmit_memory.h"
#include "model/rnic/messages/requests.h"
#include "model/rnic/messages/terminate.h"
#include "model/rnic/messages/work_requests.h"
#include "model/rnic/tx/segment_cut.h"

namespace rnic {

// Why a QP with work cannot send.
enum class TxWait : std::uint8_t { kNothing, kOrd, kFence, kFirstFpdu, kCredit };
// kCredit and what follows: of each lower layer, as room_of().
constexpr TxWait credit_of(LlpId llp) {
  return static_cast<TxWait>(static_cast<unsigned>(TxWait::kCredit) + static_cast<unsigned>(llp));
}
// Its credit would do, but the transmit memory has no room.
constexpr TxWait room_of(LlpId llp) { return static_cast<TxWait>(static_cast<unsigned>(credit_of(llp)) + kLlps); }
// As many work requests as may be are outstanding.
inline constexpr TxWait kTxOutstanding = static_cast<TxWait>(static_cast<unsigned>(TxWait::kCredit) + 2 * kLlps);
inline constexpr unsigned kTxWaits = static_cast<unsigned>(kTxOutstanding) + 1;

// A QP whose row is there, in the cycle in which it is used.
struct TxQp {
  Qpn qpn;
  const TxContext& ctx;
  QpTx& state;
};

class TxScheduler final : public Part {
 public:
  enum class Source { kNone, kRequest, kResponse, kLocalWork, kDrain, kFlush };

  // `turn_fpdus`: that a QP sends one after the other, before all others have had their turn.
  TxScheduler(ContextTables& contexts, const PerLlp<LlpTraits>& llps, unsigned turn_fpdus);

  // Where what a lower layer sends is kept; without one there is room for all.
  void keep_in(LlpId llp, llp::TransmitMemory& memory) { memories_[llp] = &memory; }
  // That bounds how many work requests have begun and are not complete.
  void bound_by(OutstandingRequests& outstanding) { outstanding_ = &outstanding; }

  // The QP of a row that was read; if the number was reused, its state is that of a new one.
  TxQp use(Qpn qpn, const TxRow& row);
  // Is over for this cycle.
  void used(const TxQp& of);
  // The row of this use of its number is lost, and so is what it had to send. True: that was not known yet.
  bool lose(Qpn qpn, std::uint32_t epoch);
  void reset();

  void post(const TxQp& of, FetchedWqe f);
  void post(const TxQp& of, const TxInternalWork& work);
  const FetchedWqe& oldest(const QpTx& q) const { return wqe_pool_.front(q.wqes); }
  // What the QP's response is for, from answer() to answered(): a Read, or, of an atomic, who asked for it.
  // One that the end of its stream left unanswered makes room.
  void answer(QpTx& q, const ReadWork& r) { answered_pool_.put(q.answered, r); }
  const ReadWork& read(const QpTx& q) const { return answered_pool_.at(q.answered); }
  void answered(QpTx& q) { answered_pool_.clear(q.answered); }
  // The Terminate, from keep_terminate() until it is sent.
  void keep_terminate(QpTx& q, BufferRef buffer, std::uint8_t bytes);
  BufferRef take_terminate(QpTx& q) { return terminate_pool_.pop(q.terminate); }
  // Tagged offsets of its gather list become addresses on the bus, or in pages.
  void resolve_oldest(QpTx& q, const std::array<MemoryPiece, abi::kMaxSge>& pieces);
  // The oldest work request begins, if only to fail: it is outstanding from now on.
  void begin(const TxQp& of);
  // It is complete here.
  void retire(const TxQp& of);
  // One that is flushed with the row of its queue pair.
  void begin_lost(Qpn qpn) {
    if (outstanding_ != nullptr) outstanding_->keep(qpn);
  }
  TxInternalWork take_internal(QpTx& q) { return internal_pool_.pop(q.internal); }
  OutboundMessage next_internal(const QpTx& q) const {
    return internal_message(internal_pool_.front(q.internal), q.terminate_bytes);
  }
  void drop_internal(QpTx& q) { internal_pool_.clear(q.internal); }

  // Called when anything happens that may let a QP send.
  void list(const TxQp& of);
  bool nobody() const { return listed_.empty() && going_on_.empty(); }
  Qpn turn();                 // begins the turn of the QP that is next
  void over(const TxQp& of);  // its turn: it is listed again if it can send more
  void over(Qpn qpn);         // the same of one whose row is lost
  void again(Qpn qpn);        // it takes another turn
  // What this QP could send now.
  Source next(Qpn qpn, const TxContext& ctx, const QpTx& q) const;
  Source next(const TxQp& of) const { return next(of.qpn, of.ctx, of.state); }
  // An FPDU of that many octets leaves.
  void take_room(LlpId llp, FlowId flow, std::size_t octets);
  // Those that have waited for room get a turn, one of each lower layer.
  void call_waiting() {
    if (room_is_awaited_) call_next();
  }
  // There may be more of them.
  bool has_to_call() const { return room_is_awaited_ && may_call(); }

  // From the firmware's kDrain to its answer.
  void begin_drain(const TxQp& of) { of.state.draining = qps_[of.qpn.v].draining = true; }
  void end_drain(const TxQp& of) { of.state.draining = qps_[of.qpn.v].draining = false; }
  // Its row is lost. True: a drain waits for its answer, which is due now.
  bool lose_drain(Qpn qpn) { return std::exchange(qps_[qpn.v].draining, false); }

  // It has nothing to send any more.
  void give_up(Qpn qpn) { count(qpn, TxWait::kNothing); }

  struct OnChip {
    std::uint32_t wqes = 0, reads = 0;
    TxWait waits = TxWait::kNothing;
  };
  OnChip state(Qpn qpn) const { return {qps_[qpn.v].wqes, qps_[qpn.v].reads, qps_[qpn.v].waits}; }

  void describe(const Description& d) override;
  // At the end of each cycle with a change. A wait counts while no QP can send.
  void account(Cycle now);
  // kOrd: Reads and atomics outstanding; otherwise QPs that wait.
  Account& waits(TxWait reason) { return accounts_[static_cast<unsigned>(reason)]; }

  // The words of TxWait.
  const ValueWords& wait_words() const { return wait_words_; }

  // The credit that such a ULPDU takes at the QP's place in the stream.
  std::size_t cost(const TxContext& ctx, const QpTx& q, std::uint32_t ulpdu) const;
  std::string waiting_for() const;

 private:
  // Of each QP, on the chip wherever its row is.
  struct Here {
    bool listed = false;    // in the list of those that can send, or its turn has begun
    bool draining = false;  // the firmware waits for everything posted: it hears of it, whatever becomes of the row
    bool begun = false;     // its oldest request has begun
    TxWait waits = TxWait::kNothing;
    std::uint8_t fpdus = 0;             // of its turn so far
    std::uint16_t wqes = 0, reads = 0;  // for observers: as in its row
    std::uint32_t lost = 0;             // the last use of its number whose row was lost
  };
  void renew(Qpn qpn, const TxContext& ctx, QpTx& q);
  std::optional<OutboundMessage> next_request(const TxContext& ctx, const QpTx& q) const;
  bool drained(const TxContext& ctx, const QpTx& q) const;
  enum class Allows : bool { kCredit, kCreditAndRoom };
  template <Allows allows>
  Source choose(Qpn qpn, const TxContext& ctx, const QpTx& q) const;
  bool may_begin(Qpn qpn) const { return qps_[qpn.v].begun || outstanding_ == nullptr || outstanding_->admits(qpn); }
  template <Allows allows>
  bool may_leave(const TxContext& ctx, const QpTx& q, const OutboundMessage& m) const;
  bool wait_for_room(const TxQp& of);
  static bool begins_work(const TxQp& of, Source wanted);
  bool wait_to_begin(const TxQp& of);
  void call_next();
  bool may_call() const;
  template <class Room>
  void call_next(Room& room);
  void note_call(FlowId flow, Qpn qpn);
  void note_call(Qpn, Qpn) {}
  void leave_room(Qpn qpn);
  void end_begun(Qpn qpn);
  TxWait why_not(const TxContext& ctx, const QpTx& q) const;
  void count(Qpn qpn, TxWait waits);
  void record(Qpn qpn, TxWait waits) const;
  void show(Here& here, std::uint32_t wqes, std::uint32_t reads);

  ContextTables& contexts_;  // its transmit table
  const PerLlp<LlpTraits> llps_;
  PerLlp<llp::TransmitMemory*> memories_{nullptr, nullptr};
  OutstandingRequests* outstanding_ = nullptr;
  bool room_is_awaited_ = false;   // by some QP, since they were last looked for
  bool room_was_awaited_ = false;  // ever
  unsigned called_qps_ = 0;        // that have a turn, as there is room
  std::vector<FlowId> called_;     // for these flows, by QP; empty until the first call
  const unsigned turn_fpdus_;
  const ValueWords wait_words_;
  std::vector<Here> qps_;
  NodePool<FetchedWqe> wqe_pool_;
  NodePool<ReadWork> answered_pool_;
  NodePool<TxInternalWork> internal_pool_;
  NodePool<BufferRef> terminate_pool_;
  NodePool<Qpn> list_pool_;
  PooledQueue listed_, going_on_;             // QPs that can send an FPDU now: the latter in the middle of their turns
  unsigned turns_ = 0;                        // that have begun
  std::array<unsigned, kTxWaits> waiting_{};  // QPs, by reason
  unsigned reads_ = 0;                        // and atomics, outstanding on all QPs
  std::array<Account, kTxWaits> accounts_;
  TracePoint changes_;  // of what a queue pair waits for
};

}  // namespace rnic
