// Validates DDP segments and places their payload in host memory (RFC 5041 sections 5 and 7). See ddp_placement.md.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <variant>

#include "model/common/account.h"
#include "model/common/beat_stage.h"
#include "model/common/drops.h"
#include "model/rnic/context/row_events.h"
#include "model/rnic/context/stag_trace.h"
#include "model/rnic/context/tables.h"
#include "model/rnic/llp/llp_traits.h"
#include "model/rnic/messages/datapath.h"
#include "model/rnic/messages/dma.h"
#include "model/rnic/messages/per_llp.h"
#include "model/rnic/messages/placement.h"
#include "model/rnic/messages/qp_events.h"
#include "model/rnic/messages/requests.h"
#include "model/rnic/rx/receive_requests.h"
#include "model/rnic/rx/segment_qp.h"
#include "model/rnic/rx/segment_stags.h"
#include "model/wire/ddp.h"

namespace rnic {

// A segment in progress: its writes leave one per cycle, and its record with the last one.
struct PlacementJob {
  PlacedSegment segment;
  BufferRef buf;
  std::uint32_t offset = 0;  // of the payload in the buffer
  std::array<MemoryPiece, abi::kMaxSge> piece;
  unsigned pieces = 0, written = 0;
};

// The host has announced more receive requests than the queue pair's ring holds.
struct RqOverrun {
  Qpn qpn;
  std::uint32_t epoch = 0;
};
using RxEvent = std::variant<ReadIssued, ReadResponseSent, RqFlush, RqOverrun>;
using RxEvents = RowEvents<RxRow, RxEvent>;

struct DdpPlacementConfig {
  unsigned parked = 16;
  template <class V>
  static void fields(V& v) {
    v("parked", &DdpPlacementConfig::parked,
      "of each lower layer, that wait beside the input while their queue pairs are fetched",
      in_range(0u, SegmentQp::kMostParked), unit("FPDUs"));
  }
};

struct DdpPlacementCounters {
  std::uint64_t segments = 0, payload_bytes = 0, errors = 0, parked = 0;
  template <class V>
  static void fields(V& v) {
    v("segments", &DdpPlacementCounters::segments, "segments", "DDP segments validated and placed");
    v("payload_bytes", &DdpPlacementCounters::payload_bytes, "octets", "payload octets written to host memory");
    v("errors", &DdpPlacementCounters::errors, "streams", "streams stopped by a DDP, RDMAP or MPA error");
    v("parked", &DdpPlacementCounters::parked, "FPDUs", "FPDUs that waited beside the input for their queue pairs");
  }
};

// The input of one lower layer: FPDU by FPDU, independent of the others.
class PlacementIn final : public Collects<FpduBeat, PlacementIn> {
 public:
  using Collects::Collects;
  void on_run(const FpduBeat& first, unsigned beats);
  // Whether the beat that completes the incoming FPDU's DDP header has come. After collect() of this cycle.
  bool has_header();
  FpduBeat take_last() {
    header_at_ = kNever;
    return Collects::take_last();
  }
  void reset() {
    header_at_ = kNever;
    header_beats_ = 0;
    fpdu = nullptr;
    Collects::reset();
  }

  // Of the incoming FPDU, from its first beat on.
  std::uint8_t* fpdu = nullptr;  // its first octet
  Qpn qpn;
  bool ends = false;

 private:
  void begin(const FpduBeat& first);

  unsigned header_beats_ = 0;  // still to come
  Cycle header_at_ = kNever;   // the last of them, unless that is the FPDU's last one
};
extern template class Collects<FpduBeat, PlacementIn>;

class DdpPlacement final : public Stage {
 public:
  PerLlp<PlacementIn> in{*this, "in"};
  PopPort<RqDoorbell> posted{*this, "posted"};
  PopPort<FetchedRqe> rqe{*this, "rqe"};
  PushPort<RqeTaken> rqe_taken{*this, "rqe_taken"};
  PopPort<ReadIssued> read_issued{*this, "read_issued"};
  PopPort<SrqArm> srq_arm{*this, "srq_arm"};
  PushPort<SrqEvent> srq_event{*this, "srq_event"};
  PopPort<RqFlush> flush{*this, "flush"};
  PopPort<ReadResponseSent> answered{*this, "answered"};  // requests of the peer, which count until then
  PushPort<DmaWriteRequest> dma{*this, "dma"};
  PushPort<PlacedSegment> out{*this, "out"};
  PushPort<QpEvent> event{*this, "event"};
  // Of each lower layer.
  std::array<SegmentStags, kLlps> stags{
      {{*this, "ddp_placement_mpa", "ddp_placement_mpa_region", "ddp_placement_mpa_scatter"},
       {*this, "ddp_placement_sctp", "ddp_placement_sctp_region", "ddp_placement_sctp_scatter"}}};
  std::array<SegmentQp, kLlps> qps{{{*this, "ddp_placement_mpa_qp"}, {*this, "ddp_placement_sctp_qp"}}};
  RxEvents events{*this, "ddp_placement_event"};
  Drops drops;
  StagTrace stag_ends;

  DdpPlacement(sc_core::sc_module_name nm, ClockDomain& clk, ContextTables& contexts, const PerLlp<LlpTraits>& llps,
               const DdpPlacementConfig& config = {});
  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const DdpPlacementCounters& counters() const { return counters_; }
  // A message waits for its receive request, which is announced but not fetched yet.
  Account& request_waits() { return request_waits_; }

  // Counts what leaves. A twin that does the stage's work reports it here.
  void count(const DmaWriteRequest& write) { counters_.payload_bytes += write.bytes; }
  void drop(RequestId owner, bool refused) const { drops(now(), owner, 0, refused ? "refused" : "its stream is over"); }
  void end(Stag stag, Qpn of) {
    contexts_.end(stag);
    stag_ends.ended(stag, of, "a Send with Invalidate of the peer");
  }
  void count(const PlacedSegment& segment) { counters_.segments += !segment.flushed && !segment.ended; }
  void count(const QpEvent&) { ++counters_.errors; }

 private:
  enum class Verdict { kPlace, kDrop, kWait };
  enum class Wait { kNone, kRequest, kRows };

  bool accept();
  bool take_doorbell();
  template <class Port>
  bool accept(Port& port);
  template <class Event>
  void take(const Event& event_of_qp);
  bool report();
  bool execute();
  void execute_lost();
  void execute(QpRx& q, const RxContext&, const ReadIssued& r) { reads_.push(q.reads, r); }
  void execute(QpRx& q, const RxContext&, const ReadResponseSent&) { q.requests -= q.requests != 0; }
  void execute(QpRx& q, const RxContext&, const RqFlush& f);
  void execute(QpRx& q, const RxContext& ctx, const RqOverrun& o);
  void keep(Qpn qpn, const QpRx& q);
  bool flush_one();
  bool tell();
  bool write();
  void collect(Cycle until);
  void park();
  bool may_park();
  bool look_ahead();
  void look_ahead(PlacementIn& input);
  void look_ahead(const std::uint8_t* fpdu, Qpn qpn, SegmentStags& needs);
  void look_ahead(Qpn qpn, const wire::DdpUntaggedView& v, SegmentStags& needs);
  bool take_last();
  bool ask();
  PlacementIn* turn();
  LlpId llp_of(const PlacementIn& input) const { return static_cast<LlpId>(&input - in.begin()); }
  SegmentStags& stags_of(const PlacementIn& input) { return stags[static_cast<std::size_t>(llp_of(input))]; }
  SegmentQp& qp_of(const PlacementIn& input) { return qps[static_cast<std::size_t>(llp_of(input))]; }
  bool can_judge(const PlacementIn& input) { return qp_of(input).is_parked() || input.beat_at() <= now(); }
  WholeFpdu to_judge(PlacementIn& input);
  BufferRef take(PlacementIn& input);
  bool has_event(Qpn qpn);
  bool awaits_stags();
  Wake next_beat() const;
  Verdict judge(const WholeFpdu& fpdu);
  Verdict judge(const WholeFpdu& fpdu, const RxContext& ctx, QpRx& q);
  Verdict end(const FpduBeat& end, const SegmentQp& of);
  void lose(Qpn qpn);
  // On its way the number may have been used again, and the flow.
  static bool is_of(const SegmentQp& of, const FpduBeat& last) {
    return of.ok() && of.row().qp.flow == last.flow && life_of(of.row().qp.epoch) == last.life;
  }
  std::optional<wire::TerminateCause> tagged(const RxContext& ctx, QpRx& q, ByteSpan ulpdu, bool placed);
  std::optional<wire::TerminateCause> read_response(const QpRx& q, const wire::DdpTaggedView& v) const;
  void take_read_response(QpRx& q, std::uint32_t bytes, bool last);
  std::optional<wire::TerminateCause> untagged(const RxContext& ctx, QpRx& q, ByteSpan ulpdu);
  std::optional<wire::TerminateCause> message(const RxContext& ctx, QpRx& q, const wire::DdpUntaggedView& v);
  std::optional<wire::TerminateCause> send(const RxContext& ctx, QpRx& q, const wire::DdpUntaggedView& v);
  std::optional<wire::TerminateCause> immediate(QpRx& q, const wire::DdpUntaggedView& v);
  std::optional<wire::TerminateCause> receive_request(Qpn qpn);
  std::optional<wire::TerminateCause> scatter(const RxContext& ctx, const abi::Wqe& wqe, std::uint64_t offset,
                                              std::uint64_t bytes);
  std::optional<wire::TerminateCause> check_invalidate(const RxContext& ctx);
  void received_terminate(QpRx& q, const wire::DdpUntaggedView& v);
  void stop(Qpn qpn, QpRx& q, wire::TerminateCause cause, ByteSpan ulpdu, const FpduBeat& last);

  ContextTables& contexts_;  // a Send with Invalidate ends an STag
  const PerLlp<LlpTraits> llps_;
  const DdpPlacementConfig cfg_;
  ReceiveRequests requests_;
  NodePool<ReadIssued> reads_;
  const bool one_port_;                 // of the table: one row is changed in a cycle
  std::optional<Qpn> executed_{};       // an event of this one, in this cycle
  bool overruns_ = false;               // an RqOverrun is among the events, or
  std::optional<RqOverrun> overrun_{};  // has no place among them yet
  std::optional<Qpn> to_report_{};      // whose ring overran
  std::optional<PlacementJob> job_;
  PlacementIn* from_ = in.end() - 1;         // the input whose FPDU is, or was, judged
  std::array<unsigned, kLlps> looked_up_{};  // of each input, the place of the segment whose STags are asked for
  std::vector<std::uint32_t> lost_;          // of each queue pair, the last use of its number whose row was lost
  Wait waits_ = Wait::kNone;                 // for a receive request that is announced but not fetched yet; for rows
  Account request_waits_{1}, parked_account_;
  DdpPlacementCounters counters_;
  bool refused_ = false;  // the segment judged last
};

}  // namespace rnic
