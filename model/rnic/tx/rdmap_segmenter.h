// Cuts messages into DDP segments of at most MULPDU, one FPDU at a time, in turn over all QPs that may send.
// See rdmap_segmenter.md.
#pragma once

#include <cstdint>
#include <optional>

#include "model/common/flows.h"
#include "model/common/link.h"
#include "model/rnic/messages/completion.h"
#include "model/rnic/messages/llp.h"
#include "model/rnic/messages/qp_events.h"
#include "model/rnic/messages/requests.h"
#include "model/rnic/messages/stag_work.h"
#include "model/rnic/tx/tx_scheduler.h"
#include "model/rnic/tx/tx_turn.h"

namespace rnic {

struct RdmapSegmenterCounters {
  std::uint64_t fpdus = 0, payload_bytes = 0, failed = 0, revoked = 0;
  template <class V>
  static void fields(V& v) {
    v("fpdus", &RdmapSegmenterCounters::fpdus, "FPDUs", "DDP segments cut");
    v("payload_bytes", &RdmapSegmenterCounters::payload_bytes, "octets", "payload octets in DDP segments");
    v("failed", &RdmapSegmenterCounters::failed, "WQEs", "work requests refused before their first segment");
    v("revoked", &RdmapSegmenterCounters::revoked, "responses",
      "Read Responses whose source was revoked before they were sent completely");
  }
};

class RdmapSegmenter final : public Stage, public QueuePairs {
 public:
  PopPort<FetchedWqe> wqe{*this, "wqe"};
  PushPort<WqeTaken> taken{*this, "taken"};
  PerLlp<PopPort<TxCredit>> credit{*this, "credit"};
  PopPort<TxUnblock> unblock{*this, "unblock"};
  PopPort<TxUnblock> atomic_unblock{*this, "atomic_unblock"};
  PopPort<TxUnblock> sink_unblock{*this, "sink_unblock"};
  PopPort<ReadWork> read_work{*this, "read_work"};
  PopPort<AtomicWork> atomic_work{*this, "atomic_work"};
  PushPort<ReadResponseSent> read_sent{*this, "read_sent"};
  PushPort<ReadResponseSent> answered{*this, "answered"};  // the same for ddp_placement
  PopPort<TxInternalWork> internal_work{*this, "internal_work"};
  PopPort<TerminateMessage> terminate{*this, "terminate"};
  PushPort<UlpduJob> out{*this, "out"};
  PushPort<WqeIssued> issued{*this, "issued"};
  PushPort<AtomicIssued> atomic_issued{*this, "atomic_issued"};
  PushPort<ReadIssued> read_issued{*this, "read_issued"};
  PushPort<ReadIssued> read_issued_early{*this, "read_issued_early"};  // the same for early_placement
  PushPort<StagRequest> stag_request{*this, "stag_request"};
  PopPort<StagRequestDone> stag_request_done{*this, "stag_request_done"};
  PushPort<RqFlush> flush_rq{*this, "flush_rq"};
  PushPort<QpEvent> event{*this, "event"};

  RdmapSegmenter(sc_core::sc_module_name nm, ClockDomain& clk, ContextStore& contexts, BufferPool& buffers,
                 const PerLlp<LlpTraits>& llps);
  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const RdmapSegmenterCounters& counters() const { return counters_; }
  Account& waits(TxWait reason) { return scheduler_.waits(reason); }
  // What a QP has on chip: entries that are not completely sent, Reads and atomics that are not answered.
  std::uint32_t queue_pairs() const override { return static_cast<std::uint32_t>(contexts_.qps()); }
  QueuePairState queue_pair_state(Qpn qpn) const override {
    const TxScheduler::OnChip on_chip = scheduler_.state(qpn);
    return {on_chip.wqes, on_chip.reads};
  }

 private:
  using Source = TxScheduler::Source;
  static constexpr unsigned kTurns = 8;  // that may have begun
  bool accept();
  void take(const TxCredit& c);
  void take(const TxUnblock& u);
  void respond(Qpn qpn, const OutboundMessage& response);
  bool accept_internal();
  void take(const TxInternalWork& work);
  void prepare_terminate(const TxInternalWork& work);

  bool begin_turn();
  bool ask();
  bool judge();
  bool cut();
  TxTurn::Needs needs(const QpTx& q, Source next) const;
  void take_turn(const TxTurn& turn, QpTx& q, Source next);
  void send_request(const TxTurn& turn, QpTx& q);
  void send_response(Qpn qpn, QpTx& q);
  bool find_source(Qpn qpn, QpTx& q);
  bool start_request(const TxTurn& turn, QpTx& q);
  void begin_stag_work(Qpn qpn, QpTx& q);
  bool take_stag_work();
  void start_internal(Qpn qpn, QpTx& q);
  void expect_response(Qpn qpn, const OutboundMessage& request, const abi::Wqe* w);
  void send_segment(Qpn qpn, QpTx& q, OutboundMessage& m, const FetchedWqe* f);
  BufferRef buffer_for(QpTx& q, const OutboundMessage& m);
  void mark(Qpn qpn, WqeIssued::Marker marker);
  void complete(Qpn qpn, QpTx& q, std::uint32_t bytes, bool signaled, abi::WcStatus status);
  void fail(Qpn qpn, QpTx& q, abi::WcStatus status);

  const ContextStore& contexts_;
  BufferPool& buffers_;
  StagTable::Reader element_{*this, "rdmap_segmenter"};                                 // of a gather list, or a sink
  NamedStag source_{*this, "rdmap_segmenter_source", "rdmap_segmenter_source_region"};  // of a Read Response
  TxScheduler scheduler_;
  Ring<TxTurn> turns_{kTurns};  // that have begun; one of a QP
  RdmapSegmenterCounters counters_;
};

}  // namespace rnic
