// Cuts messages into DDP segments of at most MULPDU, one FPDU at a time, in turn over all QPs that may send.
// See rdmap_segmenter.md.
#pragma once

#include <cstdint>
#include <optional>

#include "model/common/flows.h"
#include "model/common/link.h"
#include "model/config/field.h"
#include "model/rnic/messages/completion.h"
#include "model/rnic/messages/llp.h"
#include "model/rnic/messages/qp_events.h"
#include "model/rnic/messages/requests.h"
#include "model/rnic/messages/stag_work.h"
#include "model/rnic/tx/tx_events.h"
#include "model/rnic/tx/tx_scheduler.h"
#include "model/rnic/tx/tx_turn.h"

namespace rnic {

struct RdmapSegmenterConfig {
  unsigned turn_fpdus = 1;
  unsigned events = TxEvents::kPlaces;
  unsigned outstanding = 64 << 10;
  template <class V>
  static void fields(V& v) {
    v("turn_fpdus", &RdmapSegmenterConfig::turn_fpdus,
      "of a turn of a queue pair, if it can send so many; turns overlap", in_range(1, 255), unit("FPDUs"));
    v("events", &RdmapSegmenterConfig::events,
      "that wait for the row of their queue pair, such as a work request, or credit",
      in_range(1u, TxEvents::kMaxPlaces));
    v("outstanding", &RdmapSegmenterConfig::outstanding,
      "work requests of all queue pairs that have begun and are not complete", in_range(1, 1 << 26), unit("requests"));
  }
};

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

  RdmapSegmenter(sc_core::sc_module_name nm, ClockDomain& clk, ContextTables& contexts, BufferPool& buffers,
                 const PerLlp<LlpTraits>& llps, const RdmapSegmenterConfig& config = {});
  // Where a lower layer keeps what is cut until it is acknowledged; without one there is room for all.
  void keep_in(LlpId llp, llp::TransmitMemory& memory);
  // How many work requests may have begun and not be complete; without a bound there may be any number.
  void bound_by(OutstandingRequests& outstanding);
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
  static constexpr unsigned kTurns = 8;      // whose rows are there
  static constexpr unsigned kTurnRows = 16;  // that were asked for
  static constexpr unsigned kInputs = 11;
  // f(input number n).
  template <class F>
  auto input(unsigned n, F&& f) {
    switch (n) {
      case 0:
        return f(unblock);
      case 1:
        return f(atomic_unblock);
      case 2:
        return f(sink_unblock);
      case 3:
        return f(stag_request_done);
      case 4:
        return f(terminate);
      case 5:
        return f(credit[LlpId::kMpaTcp]);
      case 6:
        return f(credit[LlpId::kSctp]);
      case 7:
        return f(read_work);
      case 8:
        return f(atomic_work);
      case 9:
        return f(wqe);
      default:
        return f(internal_work);
    }
  }
  std::uint32_t offered();
  bool take_event();
  template <class Event>
  void file(Event of_qp);
  bool execute();
  bool execute_lost();
  void lose(Qpn qpn);
  bool report();
  bool has_room(const TxEvent& of_qp);
  void take(const TxQp& of, const TxCredit& c);
  void take(const TxQp& of, const TxUnblock& u);
  void take(const TxQp& of, const StagRequestDone& done);
  void take(const TxQp& of, TerminateMessage& t);
  void take(const TxQp& of, const ReadWork& r);
  void take(const TxQp& of, const AtomicWork& a);
  void take(const TxQp& of, FetchedWqe& f);
  void take(const TxQp& of, const TxInternalWork& work);
  void respond(const TxQp& of, const OutboundMessage& response);
  void prepare_terminate(const TxQp& of, const TxInternalWork& work);

  bool begin_turn();
  bool open_turn();
  bool ask();
  bool judge();
  bool cut();
  TxTurn::Needs needs(const QpTx& q, Source next) const;
  void take_turn(const TxTurn& turn, const TxQp& of);
  void send(const TxTurn& turn, const TxQp& of, Source next);
  void send_request(const TxTurn& turn, const TxQp& of);
  void send_response(const TxQp& of);
  bool find_source(const TxQp& of);
  bool start_request(const TxTurn& turn, const TxQp& of);
  void begin_stag_work(const TxQp& of);
  void start_internal(const TxQp& of);
  void expect_response(const TxQp& of, const abi::Wqe* w);
  void send_segment(const TxQp& of, OutboundMessage& m, const FetchedWqe* f, BufferRef buffer);
  BufferRef buffer_for_internal(const TxQp& of);
  void mark(Qpn qpn, std::uint32_t epoch, WqeIssued::Marker marker);
  void complete(const TxQp& of, std::uint32_t bytes, bool signaled, abi::WcStatus status);
  void fail(const TxQp& of, abi::WcStatus status);

  ContextTables& contexts_;
  BufferPool& buffers_;
  StagTable::Reader element_{*this, "rdmap_segmenter"};                                 // of a gather list, or a sink
  NamedStag source_{*this, "rdmap_segmenter_source", "rdmap_segmenter_source_region"};  // of a Read Response
  TxEvents events_;
  TxTable::Reader turn_row_{*this, "rdmap_segmenter_turn", kTurnRows, RowOrder::kAsTheyCome, kTurns};
  TxScheduler scheduler_;
  unsigned turn_of_inputs_ = 0;  // the input that is served first
  Ring<QpEvent> errors_;         // to be reported; one of a QP at most
  Ring<TxTurn> turns_{kTurns};   // in the order in which their rows came; one of a QP
  RdmapSegmenterCounters counters_;
};

}  // namespace rnic
