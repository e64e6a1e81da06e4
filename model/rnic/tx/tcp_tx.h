// The sender half of the TCP offload: headers, retransmission, the peer's window, acknowledgements of what was
// received.
#pragma once

#include <algorithm>
#include <vector>

#include "model/common/link.h"
#include "model/rnic/boundary/frame.h"
#include "model/rnic/llp/ack_policy.h"
#include "model/rnic/llp/flow_queue.h"
#include "model/rnic/llp/flow_timers.h"
#include "model/rnic/llp/segment_writer.h"
#include "model/rnic/llp/sender.h"
#include "model/rnic/messages/datapath.h"
#include "model/rnic/messages/tcp.h"
#include "model/rnic/messages/tcp_offload.h"

namespace rnic {

struct TcpTxCounters {
  std::uint64_t segments = 0, payload_bytes = 0, pure_acks = 0, retransmissions = 0, timeouts = 0, probes = 0;
  std::uint64_t retransmitted_bytes = 0, fast_retransmits = 0, idle_restarts = 0;
  std::uint64_t sacked_bytes = 0, congestion_echoes = 0, congestion_marks = 0, keepalives = 0;
  std::uint64_t resets = 0, duplicate_acks = 0, fpdus_dropped = 0;
  std::uint64_t path_mtu_changes = 0, path_mtu_ignored = 0, cuts = 0, challenges_withheld = 0;
  template <class V>
  static void fields(V& v) {
    v("segments", &TcpTxCounters::segments, "segments", "all segments sent");
    v("payload_bytes", &TcpTxCounters::payload_bytes, "octets", "payload sent, including retransmissions");
    v("pure_acks", &TcpTxCounters::pure_acks, "segments", "segments sent only to acknowledge or to update the window");
    v("retransmissions", &TcpTxCounters::retransmissions, "segments", "segments retransmitted");
    v("retransmitted_bytes", &TcpTxCounters::retransmitted_bytes, "octets", "payload retransmitted");
    v("fast_retransmits", &TcpTxCounters::fast_retransmits, "recoveries",
      "recoveries started by duplicate ACKs (RFC 5681 section 3.2)");
    v("sacked_bytes", &TcpTxCounters::sacked_bytes, "octets",
      "octets reported out of order by the peer's SACK (RFC 2018)");
    v("congestion_echoes", &TcpTxCounters::congestion_echoes, "reductions",
      "reductions of the congestion window after an echoed congestion mark (RFC 3168)");
    v("congestion_marks", &TcpTxCounters::congestion_marks, "segments", "segments received with a congestion mark");
    v("keepalives", &TcpTxCounters::keepalives, "segments", "keepalive probes sent to an idle peer");
    v("idle_restarts", &TcpTxCounters::idle_restarts, "restarts",
      "restarts with the initial window after an idle time of one RTO");
    v("timeouts", &TcpTxCounters::timeouts, "timeouts", "expiries of the retransmission timer");
    v("probes", &TcpTxCounters::probes, "segments", "zero-window probes sent");
    v("resets", &TcpTxCounters::resets, "segments", "RST sent");
    v("duplicate_acks", &TcpTxCounters::duplicate_acks, "segments", "pure ACKs received that acknowledge nothing new");
    v("fpdus_dropped", &TcpTxCounters::fpdus_dropped, "FPDUs", "FPDUs of a flow that was closed or reset");
    v("challenges_withheld", &TcpTxCounters::challenges_withheld, "segments",
      "challenge ACKs not sent, as `challenge_acks` were sent in the interval (RFC 5961 section 7)");
    v("path_mtu_changes", &TcpTxCounters::path_mtu_changes, "changes",
      "changes of a flow's segment size after a router reported a smaller path MTU (RFC 1191)");
    v("path_mtu_ignored", &TcpTxCounters::path_mtu_ignored, "reports",
      "path MTU reports that quote no octet in flight, or change nothing (RFC 5927)");
    v("cuts", &TcpTxCounters::cuts, "segments",
      "segments cut from FPDUs too long for the path MTU: they start within an FPDU");
  }
};

class TcpTx final : public Stage, public RunsAhead {
 public:
  PopPort<FpduBeat> in{*this, "in"};
  PushPort<Frame> out{*this, "out"};
  PushPort<TxCredit> credit{*this, "credit"};
  PushPort<WqesAcked> acked{*this, "acked"};
  PopPort<tcp::TxCommand> commands{*this, "commands"};
  PopPort<tcp::RxFeedback> feedback{*this, "feedback"};
  PushPort<tcp::TxReport> reports{*this, "reports"};

  // `pool` has blocks of at least kFrameHeadroom + mtu octets, for segments that are not FPDUs; it outlives all frames.
  TcpTx(sc_core::sc_module_name nm, ClockDomain& clk, const TcpConfig& config, const StationConfig& station,
        BufferPool& pool);

  Wake tick() override;
  void reset() override;
  void run_ahead() override { collect(horizon()); }
  std::string waiting_for() const override;

  void register_stats(const StatsGroup& group) const override;
  const TcpTxCounters& counters() const { return counters_; }
  // Of this stage, for one flow without segments in flight, in octets.
  static constexpr std::size_t bytes_per_flow();

 private:
  struct Flow {
    tcp::FlowKey key;
    wire::MacAddress peer_mac;
    tcp::Sender sender;
    tcp::AckPolicy acks;
    std::uint32_t wqes_acked = 0;  // not reported yet
    std::uint8_t reports = 0;      // TxReport kinds to be sent, one bit each
    bool open = false;
    bool probe_owed = false;  // a segment that the peer has to answer
  };

  // What comes in.
  bool on_command(const tcp::TxCommand& command);
  void open(const tcp::TxCommand& c);
  void establish(const tcp::TxCommand& c);
  void release(FlowId flow);
  void collect(Cycle until);
  void gather(const FpduBeat& beat);
  void take_fpdu();
  Cycle beat_at() const { return std::max(in->front_at(), next_beat_); }
  void on_feedback(const tcp::RxFeedback& fb);
  void on_ack(FlowId flow, const tcp::RxFeedback& fb);
  void on_acked(FlowId flow, const tcp::LossRecovery::Acked& segments);
  void on_path_mtu(FlowId flow, const tcp::RxFeedback& fb);

  // What it leads to.
  void resume(FlowId flow);
  void report(FlowId flow, tcp::TxReport::Kind kind);
  void serve_reports();
  void answer(FlowId flow, tcp::RxFeedback::Answer answer);
  void settle(FlowId flow, tcp::AckPolicy::Due due);
  void owe_ack(FlowId flow);
  void challenge(FlowId flow);

  // Timers.
  void run_timers();
  void restart_rto(FlowId flow);
  void on_queued(FlowId flow);
  void on_timeout(FlowId flow);
  void owe_probe(FlowId flow);

  // What leaves: at most one frame a cycle.
  bool send_owed_ack();
  bool send_queued();
  void send(FlowId flow, std::uint32_t segment);
  void send_bare(FlowId flow, std::uint32_t seq, std::uint8_t flags);
  void send_earlier_ack(FlowId flow);
  tcp::SegmentFields fields_of(FlowId flow, std::uint32_t seq, std::uint8_t flags, bool bare);
  void send_reset(const tcp::FlowKey& key, const wire::MacAddress& mac, std::uint32_t seq, bool with_ack,
                  std::uint32_t ack);
  void push_frame(Frame frame);
  Wake next_wake(bool room) const;

  const TcpConfig config_;
  const tcp::AckSettings ack_settings_;
  tcp::SenderResources resources_;
  tcp::SegmentWriter writer_;
  std::vector<Flow> flows_;
  tcp::FlowQueue acks_, sends_, reports_queue_;
  tcp::FlowTimers rto_, ack_timers_;
  Cycle next_beat_ = 0;           // a beat a cycle
  std::uint8_t* fpdu_ = nullptr;  // first octet of the FPDU that is coming in
  std::uint32_t fpdu_bytes_ = 0;
  TcpTxCounters counters_;
};

constexpr std::size_t TcpTx::bytes_per_flow() { return sizeof(Flow) + 3 * sizeof(std::uint32_t) + 4 * sizeof(Cycle); }

}  // namespace rnic
