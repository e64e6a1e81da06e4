// The receiver half of the TCP offload: checks, flow lookup, acceptance in order; hands the stream to the firmware
// until it switches the flow to RDMA, then to the deframer.
#pragma once

#include <vector>

#include "model/common/drops.h"
#include "model/common/link.h"
#include "model/rnic/boundary/frame.h"
#include "model/rnic/llp/flow_queue.h"
#include "model/rnic/llp/flow_table.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/llp/segment_beats.h"
#include "model/rnic/llp/tcp/early_offers.h"
#include "model/rnic/llp/tcp/received_stream.h"
#include "model/rnic/llp/tcp/receiver.h"
#include "model/rnic/llp/tcp/sent_octets.h"
#include "model/rnic/llp/tcp/tcp_config.h"
#include "model/rnic/llp/tcp/tcp_rx_counters.h"
#include "model/rnic/messages/datapath.h"
#include "model/rnic/messages/llp.h"
#include "model/rnic/messages/tcp_offload.h"

namespace rnic {

class TcpRx final : public Stage {
 public:
  PopPort<Frame> in{*this, "in"};
  PushPort<StreamBeat> out{*this, "out"};
  PopPort<RxConsumed> consumed{*this, "consumed"};
  PopPort<StreamEnded> ended{*this, "ended"};
  PopPort<tcp::RxCommand> commands{*this, "commands"};
  PushPort<tcp::RxFeedback> feedback{*this, "feedback"};
  PushPort<tcp::RxReport> reports{*this, "reports"};
  // Out-of-order octets, for early_placement,
  PushPort<StreamBeat> behind{*this, "behind"};
  // which answers every segment.
  PopPort<EarlyPlaced> early{*this, "early"};
  Drops drops;

  // `pool` has the blocks in which the firmware gets octets; their size is the maximum of one read.
  TcpRx(sc_core::sc_module_name nm, ClockDomain& clk, const TcpConfig& config, const DatapathConfig& datapath,
        const LinkAddress& station, BufferPool& pool, const tcp::SentOctets& sent);

  Wake tick() override;
  void reset() override;

  void describe(const Description& d) override;
  const TcpRxCounters& counters() const { return counters_; }
  // Of this stage, per flow without octets waiting for the firmware.
  static constexpr std::size_t bytes_per_flow();

 private:
  struct Flow {
    tcp::Receiver receiver;
    tcp::ReceivedStream stream;
  };

  void on_command(const tcp::RxCommand& c);
  void release(FlowId flow);
  void give_room(FlowId flow, std::uint32_t bytes);
  void open_windows();

  // Frames.
  void take_frame();
  bool take_path_mtu(const Frame& frame);
  void on_segment(FlowId flow, const tcp::ReceivedSegment& s, Frame frame);
  void on_acceptable(FlowId flow, const tcp::Receiver::Arrival& a, BufferRef&& buf);
  void report_fin(FlowId flow);
  void deliver(FlowId flow, llp::ReceivedOctets&& octets);
  void keep(FlowId flow, llp::ReceivedOctets&& octets);
  void offer(FlowId flow, const tcp::Receiver::Arrival& a, const BufferRef& buf);
  void on_early(EarlyPlaced placed);

  // Beats.
  bool start_end();
  bool start_kept();
  void emit(FlowId flow, llp::ReceivedOctets&& octets);
  tcp::PawsTime paws_time() const {
    return {static_cast<std::uint32_t>(clock().now_ps() / 1'000'000'000'000), paws_life_};
  }
  bool emitting() const { return !emission_.done() || now() < free_from_; }
  Cycle next_octets();
  Cycle next_offer();

  void serve_reports();
  bool report_one(FlowId flow);

  const TcpConfig config_;
  const std::uint32_t window_step_;  // by which a window must open before tcp_tx gets it without a segment
  const std::uint32_t paws_life_;
  const unsigned beat_bytes_;
  const LinkAddress station_;
  BufferPool& pool_;
  const tcp::SentOctets& sent_;
  std::vector<Flow> flows_;
  llp::FlowTable table_;
  tcp::ReassemblyMemory memory_;
  llp::FlowQueue handovers_, ends_, reports_queue_, windows_;
  EarlyOffers offers_;
  llp::SegmentBeats offer_, emission_;
  Cycle offer_free_from_ = 0, free_from_ = 0;  // the cycle after the last beat's, as far as beats have left
  TcpRxCounters counters_;
};

constexpr std::size_t TcpRx::bytes_per_flow() {
  return sizeof(Flow) + 2 * sizeof(FlowId) + sizeof(llp::FlowKey) + 3 * sizeof(std::uint32_t);
}

}  // namespace rnic
