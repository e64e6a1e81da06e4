// Cuts messages into DDP segments of at most MULPDU, one FPDU at a time, in turn over all QPs that may send.
// See rdmap_segmenter.md.
#pragma once

#include <optional>
#include <vector>

#include "model/common/link.h"
#include "model/common/node_pool.h"
#include "model/rnic/completion/cqe.h"
#include "model/rnic/context/context.h"
#include "model/rnic/context/qp_events.h"
#include "model/rnic/context/tx_internal_work.h"
#include "model/rnic/context/wqe_fetch.h"
#include "model/rnic/llp/tcp_types.h"
#include "model/rnic/responder/read_request.h"
#include "model/rnic/tx/segment_cut.h"
#include "model/stats/registry.h"
#include "model/wire/fpdu.h"

namespace rnic {

class RdmapSegmenter final : public Stage {
 public:
  PopPort<FetchedWqe> wqe{*this, "wqe"};
  PushPort<WqeTaken> taken{*this, "taken"};
  PopPort<TxCredit> credit{*this, "credit"};
  PopPort<TxUnblock> unblock{*this, "unblock"};
  PopPort<ReadWork> read_work{*this, "read_work"};
  PushPort<ReadResponseSent> read_sent{*this, "read_sent"};
  PopPort<TxInternalWork> internal_work{*this, "internal_work"};
  PushPort<UlpduJob> out{*this, "out"};
  PushPort<WqeIssued> issued{*this, "issued"};
  PushPort<RqFlush> flush_rq{*this, "flush_rq"};
  PushPort<QpEvent> event{*this, "event"};

  RdmapSegmenter(sc_core::sc_module_name nm, ClockDomain& clk, const ContextStore& contexts, BufferPool& buffers)
      : Stage(nm, clk), contexts_(contexts), buffers_(buffers), qps_(contexts.qps()) {}
  Wake tick() override;
  std::string waiting_for() const override;
  void register_stats(const StatsGroup& group) const;

 private:
  struct QpTx {
    std::uint32_t epoch = 0;
    PooledQueue wqes;      // fetched, in posting order
    PooledQueue internal;  // the firmware's messages, sent before the host's
    OutboundMessage request, response;
    std::uint64_t response_source = 0;
    std::uint32_t msn_send = 1, msn_read = 1;  // next MSN of QN 0 and QN 1
    std::uint32_t reads = 0;                   // outstanding against ORD
    std::uint64_t credit = 0;                  // octets
    wire::StreamPosition position = 0;
    bool unfenced = false;       // the first FPDU came in
    bool response_turn = false;  // requests and responses of one QP alternate
    bool halted = false;         // a local error: nothing more is sent
    bool draining = false;       // the firmware waits for all that was posted
    bool flushing = false;       // the stream is over: work completes with an error
    bool listed = false;
  };
  enum class Source { kNone, kRequest, kResponse, kDrain, kFlush };

  QpTx& qp(Qpn qpn);
  bool accept();
  void list(Qpn qpn);
  static bool open(const QpContext& ctx, const QpTx& q);
  Source next(Qpn qpn, const QpTx& q) const;
  std::optional<OutboundMessage> next_request(const QpContext& ctx, const QpTx& q) const;
  std::size_t fpdu_bytes(const QpContext& ctx, const QpTx& q, std::uint32_t ulpdu) const;
  bool has_credit(const QpContext& ctx, const QpTx& q, const OutboundMessage& m) const;

  bool cut();
  void start_request(Qpn qpn, QpTx& q);
  void start_internal(Qpn qpn, QpTx& q);
  static OutboundMessage internal_message(const TxInternalWork& work);
  static void number(QpTx& q, OutboundMessage& m);
  abi::WcStatus check(const QpContext& ctx, const FetchedWqe& f) const;
  void take(const TxInternalWork& work);
  void mark(Qpn qpn, WqeIssued::Marker marker);
  void reject(Qpn qpn, QpTx& q, abi::WcStatus status);
  void fail(Qpn qpn, QpTx& q, abi::WcStatus status);
  void cut_segment(Qpn qpn, QpTx& q, OutboundMessage& m, const abi::Wqe* w);
  void finish_request(Qpn qpn, QpTx& q);

  const ContextStore& contexts_;
  BufferPool& buffers_;
  std::vector<QpTx> qps_;
  NodePool<FetchedWqe> wqe_pool_;
  NodePool<TxInternalWork> internal_pool_;
  NodePool<Qpn> list_pool_;
  PooledQueue listed_;  // QPs that can send an FPDU now
  Counter fpdus_, payload_bytes_, failed_;
};

}  // namespace rnic
