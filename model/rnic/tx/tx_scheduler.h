// Which QP sends the next FPDU, and of which message: the QPs that can send are in one list and take turns.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "model/abi/tx_internal_work.h"
#include "model/common/account.h"
#include "model/common/part.h"
#include "model/common/value_words.h"
#include "model/rnic/llp/llp_traits.h"
#include "model/rnic/messages/work_requests.h"
#include "model/rnic/tx/qp_tx.h"

namespace rnic {

class TxScheduler final : public Part {
 public:
  enum class Source { kNone, kRequest, kResponse, kLocalWork, kDrain, kFlush };

  TxScheduler(const ContextStore& contexts, const PerLlp<LlpTraits>& llps);

  // The QP's state, reset if the QP number was reused.
  QpTx& qp(Qpn qpn);
  void reset();

  void post(FetchedWqe f);
  void post(const TxInternalWork& work);
  const FetchedWqe& oldest(const QpTx& q) const { return wqe_pool_.front(q.wqes); }
  // The Read answered by the QP's response, from answer() to answered().
  void answer(QpTx& q, const ReadWork& r) {
    read_pool_.clear(q.read);  // one that the end of its stream left unanswered
    read_pool_.push(q.read, r);
  }
  const ReadWork& read(const QpTx& q) const { return read_pool_.front(q.read); }
  void answered(QpTx& q) { read_pool_.clear(q.read); }
  // Tagged offsets of its gather list become addresses on the bus, or in pages.
  void resolve_oldest(QpTx& q, const std::array<MemoryPiece, abi::kMaxSge>& pieces);
  void retire(QpTx& q) { wqe_pool_.pop(q.wqes); }  // the oldest
  TxInternalWork take_internal(QpTx& q) { return internal_pool_.pop(q.internal); }
  OutboundMessage next_internal(const QpTx& q) const {
    return internal_message(internal_pool_.front(q.internal), q.terminate_bytes);
  }
  void drop_internal(QpTx& q) { internal_pool_.clear(q.internal); }

  // Called when anything happens that may let a QP send.
  void list(Qpn qpn);
  bool nobody() const { return listed_.empty(); }
  Qpn turn();          // begins the turn of the QP that is next
  void over(Qpn qpn);  // its turn: it is listed again if it can send more
  // What this QP could send now.
  Source next(Qpn qpn, const QpTx& q) const;

  // Assigns the message's number; a Read or an atomic counts against ORD from now on, until read_done().
  void number(QpTx& q, OutboundMessage& m);
  void read_done(QpTx& q);
  // It has nothing to send any more.
  void give_up(QpTx& q) { count(q, TxWait::kNothing); }

  struct OnChip {
    std::uint32_t wqes = 0, reads = 0;
    TxWait waits = TxWait::kNothing;
  };
  OnChip state(Qpn qpn) const { return {qps_[qpn.v].wqes.size, qps_[qpn.v].reads, qps_[qpn.v].waits}; }

  void describe(const Description& d) override;
  // At the end of each cycle with a change. A wait counts while no QP can send.
  void account(Cycle now);
  // kOrd: Reads and atomics outstanding; otherwise QPs that wait.
  Account& waits(TxWait reason) { return accounts_[static_cast<unsigned>(reason)]; }

  // The words of TxWait.
  const ValueWords& wait_words() const { return wait_words_; }

  // The credit that such a ULPDU takes at the QP's place in the stream.
  std::size_t cost(const QpContext& ctx, const QpTx& q, std::uint32_t ulpdu) const;
  std::string waiting_for() const;

 private:
  std::optional<OutboundMessage> next_request(const QpContext& ctx, const QpTx& q) const;
  bool drained(const QpContext& ctx, const QpTx& q) const;
  bool has_credit(const QpContext& ctx, const QpTx& q, const OutboundMessage& m) const;
  TxWait why_not(Qpn qpn, const QpTx& q) const;
  void count(QpTx& q, TxWait waits);

  const ContextStore& contexts_;
  const PerLlp<LlpTraits> llps_;
  const ValueWords wait_words_;
  std::vector<QpTx> qps_;
  NodePool<FetchedWqe> wqe_pool_;
  NodePool<ReadWork> read_pool_;
  NodePool<TxInternalWork> internal_pool_;
  NodePool<Qpn> list_pool_;
  PooledQueue listed_;                        // QPs that can send an FPDU now
  unsigned turns_ = 0;                        // that have begun
  std::array<unsigned, kTxWaits> waiting_{};  // QPs, by reason
  unsigned reads_ = 0;                        // and atomics, outstanding on all QPs
  std::array<Account, kTxWaits> accounts_;
};

}  // namespace rnic
