// The sender half of the TCP offload: headers, retransmission, the peer's window, acknowledgements of received data.
#pragma once

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "model/common/account.h"
#include "model/common/beat_stage.h"
#include "model/common/drops.h"
#include "model/common/flows.h"
#include "model/common/timer_wheel.h"
#include "model/rnic/boundary/frame.h"
#include "model/rnic/context/row_events.h"
#include "model/rnic/llp/flow_queue.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/llp/tcp/ack_trace.h"
#include "model/rnic/llp/tcp/flow_tx_table.h"
#include "model/rnic/llp/tcp/fpdu_assembly.h"
#include "model/rnic/llp/tcp/segment_writer.h"
#include "model/rnic/llp/tcp/sent_octets.h"
#include "model/rnic/llp/tcp/tcp_config.h"
#include "model/rnic/llp/tcp/tcp_tx_counters.h"
#include "model/rnic/llp/tcp/window_trace.h"
#include "model/rnic/llp/transmit_memory.h"
#include "model/rnic/messages/datapath.h"
#include "model/rnic/messages/llp.h"
#include "model/rnic/messages/tcp_offload.h"

namespace rnic {

// Store and forward: a whole FPDU leaves. Beats before the last one are never refused.
class FpduIn final : public Collects<FpduBeat, FpduIn> {
 public:
  using Collects::Collects;
  void on_run(const FpduBeat& first, unsigned beats);
  // Whether the first beat of the incoming FPDU has come. After collect() of this cycle.
  bool has_begun();
  FlowId flow() const { return flow_; }  // its
  // The whole, with its last beat.
  tcp::QueuedSegment take();
  void reset() {
    Collects::reset();
    fpdu_ = {};
    begins_at_ = kNever;
  }

 private:
  FpduAssembly fpdu_;
  FlowId flow_;
  Cycle begins_at_ = kNever;  // unless its first beat is the last one
};
extern template class Collects<FpduBeat, FpduIn>;

class TcpTx final : public Stage, public Flows {
 public:
  FpduIn in{*this, "in"};
  PushPort<Frame> out{*this, "out"};
  PushPort<TxCredit> credit{*this, "credit"};
  PushPort<WqesAcked> acked{*this, "acked"};
  PopPort<tcp::TxCommand> commands{*this, "commands"};
  PopPort<tcp::RxFeedback> feedback{*this, "feedback"};
  PushPort<tcp::TxReport> reports{*this, "reports"};

  // `pool` has blocks of at least kFrameHeadroom + mtu octets, for segments that are not FPDUs; it outlives all frames.
  // `table` has a row for each flow.
  TcpTx(sc_core::sc_module_name nm, ClockDomain& clk, const TcpConfig& config, FlowTxTable& table,
        const LinkAddress& station, BufferPool& pool);

  // Where the segmenter has taken room for the FPDUs; without one it has taken none.
  void keep_in(llp::TransmitMemory& memory) { memory_ = &memory; }

  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;

  void describe(const Description& d) override;
  const TcpTxCounters& counters() const { return counters_; }
  // For tcp_rx.
  const tcp::SentOctets& sent() const { return sent_; }
  // Flows that have octets in flight, and those of them that repair a loss: from its detection on or, if the timer
  // detects it, from the start of the timer.
  Account& in_flight() { return in_flight_; }
  Account& repairing() { return repairing_; }
  std::size_t flows() const override { return table_.rows(); }
  FlowState flow_state(FlowId flow) const override;
  // Of this stage, per flow without segments in flight, in octets.
  static constexpr std::size_t bytes_per_flow();

  // Whole FPDUs that wait for their rows, or for a frame's slot.
  static constexpr unsigned kFpdus = 4;

 private:
  // For observers; nullptr: it is not on the chip.
  const FlowTx* peek(std::uint32_t flow) const {
    const FlowTxRow* const row = table_.peek(flow);
    return row != nullptr ? &row->state : nullptr;
  }
  // What the accounts have of a flow.
  struct Level {
    std::uint32_t octets;
    bool congested, repairing;
    static Level of(const FlowTx& row);
  };
  // A use of a flow's row, and what it has made due.
  struct Use {
    FlowId flow;
    const QpUse& qp;
    FlowTx& row;
    const Level before;
    bool credit = false;                // may have been freed
    bool idle = false;                  // the congestion window fell, as nothing was sent for an RTO
    bool ack = false, segment = false;  // a frame
  };
  struct Expired {
    bool retransmission = false;
  };
  // What could not be reported at once.
  struct Untold {};
  using Event = std::variant<Untold, Expired, tcp::RxFeedback>;

  // Asks for rows.
  bool take_command();
  bool take_event();
  bool others_wait();
  bool take_other();
  bool take_fpdu();
  void expire(TimerWheel& timers, bool retransmission);
  void take_untold(llp::FlowQueue& flows);
  bool begin_turn(llp::FlowQueue& flows, FlowTxTable::Reader& turn);

  // Uses them: one a cycle.
  bool use_row();
  bool use_for_frame();
  bool is_to_be_established(FlowId flow);
  bool command_is_ready();
  Use use(FlowId flow);
  // Of a flow whose row is lost.
  void lose(FlowId flow) {
    if (kept_[flow.v].open) lost_.push(flow);
  }
  void release_lost(FlowId flow);
  void report_lost();
  void finish(Use& u);
  void execute_command();
  void execute_ack();
  void execute_queued();
  void execute_fpdu();
  void execute_event();
  void on(Use& u, tcp::QueuedSegment&& fpdu);
  void on(Use& u, Untold) { u.credit = true; }
  void on(Use& u, Expired timer);
  void on(Use& u, const tcp::RxFeedback& fb);

  // Commands.
  void on_command(Use& u, const tcp::TxCommand& command);
  void open(Use& u, const tcp::TxCommand& c);
  void establish(Use& u, const tcp::TxCommand& c);
  void stream(Use& u, const tcp::TxCommand& c);
  void enter_rdma(Use& u);
  void queue_fin(Use& u);
  void abort(Use& u);
  void release(Use& u);

  // The peer, and its silence.
  void on_ack(Use& u, const tcp::RxFeedback& fb);
  void on_acked(Use& u, const tcp::LossRecovery::Acked& segments);
  void on_path_mtu(Use& u, const tcp::RxFeedback& fb);
  void fall_silent(Use& u);
  void on_timeout(Use& u);
  void restart_rto(Use& u);
  void on_queued(Use& u);
  void owe_probe(Use& u);

  // Their consequences.
  void resume(Use& u);
  void answer(Use& u, tcp::RxFeedback::Answer answer);
  void settle(Use& u, tcp::AckPolicy::Due due);
  void owe_ack(Use& u);
  void challenge(Use& u);
  void account(const Level& had, const Level& has);
  void keep(FlowId flow, std::uint32_t octets, std::uint32_t segments) {
    if (memory_ != nullptr && segments != 0) memory_->keep(flow, octets, segments);
  }
  void give_back(FlowId flow, std::uint32_t octets, std::uint32_t segments) {
    if (memory_ != nullptr && segments != 0) memory_->give_back(flow, octets, segments);
  }
  void count_cuts(Use& u, std::uint32_t cuts);
  void clear(Use& u);
  void drop(FlowId flow, const tcp::QueuedSegment& fpdu);
  void report(Use& u, tcp::TxReport::Kind kind);
  void tell(Use& u);
  bool tell_acked(Use& u);
  bool tell_credit(Use& u);
  void tell_report(Use& u);

  // Output: at most one frame per cycle.
  bool acks_wait() const { return !acks_.empty() || ack_turn_.can_use(); }
  bool segments_wait() const { return !sends_.empty() || send_turn_.can_use(); }
  bool fpdu_is_ready() const { return fpdu_row_.can_use() && fpdus_[fpdu_row_.front().tag].whole; }
  // Whether the last beat of the incoming FPDU can be taken: there is a place, or it is the next one to be used.
  bool takes_fpdu() const { return whole_ < kFpdus || (fpdu_row_.can_use() && fpdu_row_.front().tag == incoming_); }
  bool has_turn(FlowId flow) const { return send_turn_.can_use() && send_turn_.front().index == flow.v; }  // to send
  void send_owed_ack(Use& u);
  void send_queued(Use& u);
  void send(Use& u, std::uint32_t segment);
  void send_bare(Use& u, std::uint32_t seq, std::uint8_t flags);
  void send_earlier_ack(Use& u);
  tcp::SegmentFields fields_of(Use& u, std::uint32_t seq, std::uint8_t flags, bool bare);
  void send_reset(const llp::FlowKey& key, const wire::MacAddress& mac, std::uint32_t seq, bool with_ack,
                  std::uint32_t ack);
  RequestId owner(FlowId flow) const;
  void tell_numbers(FlowId flow, const tcp::SegmentFields& fields, std::uint32_t payload, RequestId of_fpdu) const;
  void push_frame(FlowId flow, Frame frame);
  bool goes_on();

  const TcpConfig config_;
  const tcp::AckSettings ack_settings_;
  tcp::SenderResources resources_;
  tcp::SegmentWriter writer_;
  const std::uint32_t node_;
  llp::TransmitMemory* memory_ = nullptr;
  FlowTxTable& table_;
  // If not all rows are on the chip: what a flow whose row is lost has to give back.
  struct Kept {
    std::uint32_t head = llp::kNil;   // of its segments
    bool open = false, rdma = false;  // rdma: it has a share of the transmit memory
    Level level{};
  };
  std::vector<Kept> kept_;
  tcp::SentOctets sent_;
  // Of each flow's number: what was taken in an earlier one has no effect. No reset clears them.
  std::vector<std::uint32_t> uses_;

  // Ways to rows. What waits for a frame's slot has its own, so that no event waits behind it.
  RowEvents<FlowTxRow, Event, FlowId> events_{*this, "tcp_tx_event"};
  FlowTxTable::Reader command_{*this, "tcp_tx_command", 1};
  FlowTxTable::Reader ack_turn_{*this, "tcp_tx_ack", 0, RowOrder::kAsTheyCome};
  FlowTxTable::Reader send_turn_{*this, "tcp_tx_segment", 0, RowOrder::kAsTheyCome};
  FlowTxTable::Reader fpdu_row_{*this, "tcp_tx_fpdu", kFpdus + 2, RowOrder::kAsTheyCome};
  bool command_asked_ = false;  // for the one that comes next
  Cycle fed_at_ = kNever;       // the last event of the peer's was taken
  Cycle framed_at_ = kNever;    // a row was last used for a frame
  bool slot_ = false;           // a frame may leave in this cycle
  // FPDUs that have asked for their rows; one of them may still be coming in.
  struct KeptFpdu {
    FlowId flow;
    std::uint32_t use = 0;  // of its number
    bool whole = false;
    tcp::QueuedSegment segment;
  };
  static constexpr unsigned kNoFpdu = kFpdus + 2;
  std::array<KeptFpdu, kNoFpdu> fpdus_;
  unsigned free_fpdus_ = kAllFree, whole_ = 0, incoming_ = kNoFpdu;
  static constexpr unsigned kAllFree = (1u << kNoFpdu) - 1;
  // Flows that wait for a turn: to send, or to report.
  llp::FlowQueue acks_, sends_, freed_, reports_;
  llp::FlowQueue lost_, lost_released_;  // to be reported without a row
  unsigned turns_to_send_ = 0;           // begun
  TimerWheel rto_, ack_timers_;

  unsigned octets_ = 0, congested_flows_ = 0, flows_in_flight_ = 0, repairing_flows_ = 0;
  // The first: unacknowledged octets of all flows, with the capacity of one flow. The second: flows whose congestion
  // window is the smaller one of the two.
  Account unacknowledged_, congested_, in_flight_, repairing_;
  TcpTxCounters counters_;
  tcp::WindowTrace windows_;
  tcp::AckTrace ack_trace_;
  Drops drops_;
};

// The row, SND.NXT for tcp_rx, links of four lists, two timers.
constexpr std::size_t TcpTx::bytes_per_flow() {
  return sizeof(FlowTxRow) + tcp::SentOctets::kBytesPerFlow + 4 * sizeof(std::uint32_t) + 4 * sizeof(Cycle);
}

}  // namespace rnic
