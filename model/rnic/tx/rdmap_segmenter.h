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
#include "model/rnic/context/wqe_fetch.h"
#include "model/rnic/llp/tcp_types.h"
#include "model/rnic/responder/read_request.h"
#include "model/rnic/tx/ulpdu_job.h"
#include "model/stats/registry.h"
#include "model/wire/ddp.h"
#include "model/wire/fpdu.h"
#include "model/wire/rdmap.h"

namespace rnic {

class RdmapSegmenter final : public Stage {
 public:
  PopPort<FetchedWqe> wqe{*this, "wqe"};
  PushPort<WqeTaken> taken{*this, "taken"};
  PopPort<TxCredit> credit{*this, "credit"};
  PopPort<TxUnblock> unblock{*this, "unblock"};
  PopPort<ReadWork> read_work{*this, "read_work"};
  PushPort<ReadResponseSent> read_sent{*this, "read_sent"};
  PopPort<RtrRequest> rtr{*this, "rtr"};
  PushPort<UlpduJob> out{*this, "out"};
  PushPort<WqeIssued> issued{*this, "issued"};
  PushPort<QpEvent> event{*this, "event"};

  RdmapSegmenter(sc_core::sc_module_name nm, ClockDomain& clk, const ContextStore& contexts, BufferPool& buffers)
      : Stage(nm, clk), contexts_(contexts), buffers_(buffers), qps_(contexts.qps()) {}
  Wake tick() override;
  std::string waiting_for() const override;
  void register_stats(const StatsGroup& group) const;

 private:
  // What is being cut: a Send, a Write, a Read Response, or the single segment of a Read Request.
  struct Message {
    wire::Opcode opcode = wire::Opcode::kSend;
    bool active = false;
    bool completes = false;  // its last FPDU completes a work request
    std::uint8_t sge = 0;    // where the next payload octet is
    std::uint32_t sge_done = 0;
    std::uint32_t bytes = 0, done = 0;
    std::uint32_t stag = 0;     // tagged: the sink's; untagged: STag to invalidate
    std::uint64_t address = 0;  // tagged: TO of the first octet
    std::uint32_t msn = 0;
  };
  struct QpTx {
    std::uint32_t epoch = 0;
    PooledQueue wqes;  // fetched, in posting order
    PooledQueue rtr;   // ready-to-receive messages still to send
    Message request, response;
    std::uint64_t response_source = 0;
    std::uint32_t msn_send = 1, msn_read = 1;  // next MSN of QN 0 and QN 1
    std::uint32_t reads = 0;                   // outstanding against ORD
    std::uint64_t credit = 0;                  // octets
    wire::StreamPosition position = 0;
    bool unfenced = false;       // the first FPDU came in
    bool response_turn = false;  // requests and responses of one QP alternate
    bool halted = false;         // a local error: nothing more is sent
    bool listed = false;
  };
  enum class Source { kNone, kRequest, kResponse };

  QpTx& qp(Qpn qpn);
  bool accept();
  void list(Qpn qpn);
  Source next(Qpn qpn, const QpTx& q) const;
  bool may_start(const QpContext& ctx, const QpTx& q, const abi::Wqe& w) const;
  bool has_credit(const QpContext& ctx, const QpTx& q, std::uint32_t ulpdu_bytes) const;
  static std::uint32_t ulpdu_bytes(const QpContext& ctx, const Message& m);
  std::uint32_t first_ulpdu_bytes(const QpContext& ctx, const abi::Wqe& w) const;

  bool cut();
  void start_request(Qpn qpn, QpTx& q);
  void start_rtr(Qpn qpn, QpTx& q);
  abi::WcStatus check(const QpContext& ctx, const FetchedWqe& f) const;
  void fail(Qpn qpn, QpTx& q, abi::WcStatus status);
  void cut_segment(Qpn qpn, QpTx& q, Message& m, const abi::Wqe* w);
  void finish_request(Qpn qpn, QpTx& q);

  const ContextStore& contexts_;
  BufferPool& buffers_;
  std::vector<QpTx> qps_;
  NodePool<FetchedWqe> wqe_pool_;
  NodePool<RtrRequest::Kind> rtr_pool_;
  NodePool<Qpn> list_pool_;
  PooledQueue listed_;  // QPs that can send an FPDU now
  Counter fpdus_, payload_bytes_;
};

}  // namespace rnic
