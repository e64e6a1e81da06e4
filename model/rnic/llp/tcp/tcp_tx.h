// The sender half of the TCP offload: headers, retransmission, the peer's window, acknowledgements of received data.
#pragma once

#include <algorithm>
#include <vector>

#include "model/common/account.h"
#include "model/common/beat_stage.h"
#include "model/common/flows.h"
#include "model/common/timer_wheel.h"
#include "model/rnic/boundary/frame.h"
#include "model/rnic/llp/flow_queue.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/llp/tcp/ack_policy.h"
#include "model/rnic/llp/tcp/fpdu_assembly.h"
#include "model/rnic/llp/tcp/segment_writer.h"
#include "model/rnic/llp/tcp/sender.h"
#include "model/rnic/llp/tcp/sent_octets.h"
#include "model/rnic/llp/tcp/tcp_config.h"
#include "model/rnic/llp/tcp/tcp_tx_counters.h"
#include "model/rnic/llp/transmit_memory.h"
#include "model/rnic/messages/datapath.h"
#include "model/rnic/messages/llp.h"
#include "model/rnic/messages/tcp_offload.h"

namespace rnic {

// Store and forward: the frame leaves in the cycle of an FPDU's last beat, or that beat waits for its slot. Those
// before it are never refused.
class FpduIn final : public Collects<FpduBeat, FpduIn> {
 public:
  using Collects::Collects;
  void on_run(const FpduBeat& first, unsigned beats) { fpdu.add(first, beats); }
  FpduAssembly fpdu;
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
  TcpTx(sc_core::sc_module_name nm, ClockDomain& clk, const TcpConfig& config, const LinkAddress& station,
        BufferPool& pool);

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
  std::size_t flows() const override { return flows_.size(); }
  FlowState flow_state(FlowId flow) const override;
  // Of this stage, per flow without segments in flight, in octets.
  static constexpr std::size_t bytes_per_flow();

 private:
  // What the accounts have of a flow.
  struct Counted {
    std::uint32_t octets : 30;
    std::uint32_t congested : 1, repairing : 1;
    Counted() : octets(0), congested(0), repairing(0) {}
  };
  struct Flow {
    llp::FlowKey key;
    wire::MacAddress peer_mac;
    std::uint8_t reports = 0;  // TxReport kinds to be sent, one bit each
    bool open : 1;
    bool probe_owed : 1;  // a segment that the peer must answer
    bool reset : 1;       // by the peer: nothing more is sent
    tcp::Sender sender;
    tcp::AckPolicy acks;
    std::uint32_t wqes_acked = 0;  // not reported yet
    Counted counted;
    Flow() : open(false), probe_owed(false), reset(false) {}
    // For the number's next connection. The accounts hear of it later.
    void renew() {
      const Counted before = counted;
      *this = Flow{};
      counted = before;
    }
  };

  // Input.
  bool on_command(const tcp::TxCommand& command);
  void open(const tcp::TxCommand& c);
  void establish(const tcp::TxCommand& c);
  void fall_silent(FlowId flow);
  void release(FlowId flow);
  RequestId owner(FlowId flow) const;
  void take_fpdu();
  void on_feedback(const tcp::RxFeedback& fb);
  void on_ack(FlowId flow, const tcp::RxFeedback& fb);
  void on_acked(FlowId flow, const tcp::LossRecovery::Acked& segments);
  void on_path_mtu(FlowId flow, const tcp::RxFeedback& fb);

  void account(FlowId flow);
  void keep(FlowId flow, std::uint32_t octets, std::uint32_t segments) {
    if (memory_ != nullptr && segments != 0) memory_->keep(flow, octets, segments);
  }
  void give_back(FlowId flow, std::uint32_t octets, std::uint32_t segments) {
    if (memory_ != nullptr && segments != 0) memory_->give_back(flow, octets, segments);
  }
  void count_cuts(FlowId flow, std::uint32_t cuts);
  void clear(FlowId flow);

  // Its consequences.
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

  // Output: at most one frame per cycle.
  bool send_owed_ack();
  bool send_queued();
  void send(FlowId flow, std::uint32_t segment);
  void send_bare(FlowId flow, std::uint32_t seq, std::uint8_t flags);
  void send_earlier_ack(FlowId flow);
  tcp::SegmentFields fields_of(FlowId flow, std::uint32_t seq, std::uint8_t flags, bool bare);
  void send_reset(const llp::FlowKey& key, const wire::MacAddress& mac, std::uint32_t seq, bool with_ack,
                  std::uint32_t ack);
  void push_frame(FlowId flow, Frame frame);
  Wake next_wake(bool room) const;

  const TcpConfig config_;
  const tcp::AckSettings ack_settings_;
  tcp::SenderResources resources_;
  tcp::SegmentWriter writer_;
  const std::uint32_t node_;
  llp::TransmitMemory* memory_ = nullptr;
  std::vector<Flow> flows_;
  tcp::SentOctets sent_;
  std::vector<std::uint32_t> uses_;  // of each flow's number, for owners; no reset clears them
  llp::FlowQueue acks_, sends_, reports_queue_;
  TimerWheel rto_, ack_timers_;
  unsigned octets_ = 0, congested_flows_ = 0, flows_in_flight_ = 0, repairing_flows_ = 0;
  // The first: unacknowledged octets of all flows, with the capacity of one flow. The second: flows whose congestion
  // window is the smaller one of the two.
  Account unacknowledged_, congested_, in_flight_, repairing_;
  TcpTxCounters counters_;
};

constexpr std::size_t TcpTx::bytes_per_flow() {
  return sizeof(Flow) + tcp::SentOctets::kBytesPerFlow + 3 * sizeof(std::uint32_t) + 4 * sizeof(Cycle);
}

}  // namespace rnic
