// The receiver half of the TCP offload: checks, flow lookup, acceptance in order; hands the stream to the firmware
// until it switches the flow to RDMA, then to the deframer. See tcp_rx.md.
#pragma once

#include <variant>

#include "model/common/drops.h"
#include "model/common/link.h"
#include "model/rnic/boundary/frame.h"
#include "model/rnic/context/row_events.h"
#include "model/rnic/llp/flow_queue.h"
#include "model/rnic/llp/flow_table.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/llp/segment_beats.h"
#include "model/rnic/llp/tcp/arrived_frames.h"
#include "model/rnic/llp/tcp/early_offers.h"
#include "model/rnic/llp/tcp/flow_rx_table.h"
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

  // `table` has a row for each flow. `pool` has the blocks in which the firmware gets octets; their size is the maximum
  // of one read.
  TcpRx(sc_core::sc_module_name nm, ClockDomain& clk, const TcpConfig& config, const DatapathConfig& datapath,
        tcp::FlowRxTable& table, const LinkAddress& station, BufferPool& pool, const tcp::SentOctets& sent);

  // Before the first cycle: octets that leave have the row of their queue pair fetched.
  void prefetch_in(RowCache& qps) { qps_ = &qps; }

  Wake tick() override;
  void reset() override;

  void describe(const Description& d) override;
  const TcpRxCounters& counters() const { return counters_; }
  // Of this stage, per flow without octets waiting for the firmware.
  static constexpr std::size_t bytes_per_flow();

 private:
  // Turns of the lists of flows: to tell tcp_tx of an opened window, to report to tcp_connection.
  struct WindowTurn {};
  struct ReportTurn {};
  using Event = std::variant<RxConsumed, StreamEnded, tcp::RxCommand, EarlyPlaced, WindowTurn, ReportTurn>;
  // A flow whose row is used in this cycle, and what follows from that.
  struct Use {
    FlowId flow;
    const FlowFacts& facts;
    tcp::Receiver& receiver;
    tcp::ReceivedStream& stream;
    bool opens = false, reports = false;  // its window; it may have something to report
  };
  Use use(FlowId flow);
  void finish(Use& u);

  // The rows.
  void use_row();
  void use_event();
  bool turn_is_ready() const { return turn_row_.can_use(); }
  void use_turn();
  void end_turn();
  bool leave_next(Use& u);
  std::uint32_t ready_frame();
  bool frame_is_ready() { return ready_frame() != ArrivedFrames::kNone; }
  bool has_commands(FlowId flow);
  void use_frame(std::uint32_t number);

  // Events.
  void execute(Use& u, const tcp::RxCommand& c);
  void execute(Use& u, const RxConsumed& c);
  void execute(Use& u, const StreamEnded&);
  void execute(Use& u, EarlyPlaced& placed);
  void execute(Use& u, WindowTurn) { u.opens = true; }
  void execute(Use& u, ReportTurn) { u.reports = true; }
  void enter(FlowId flow, const llp::FlowKey& key);
  void release(Use& u);
  void forget(FlowId flow);
  // Of a flow whose row is lost.
  void lose(FlowId flow);
  void execute_lost();
  void release_lost(FlowId flow);
  bool tells_lost() { return (!lost_.empty() || !lost_released_.empty()) && can_tell_lost(); }
  bool can_tell_lost();
  void tell_lost();
  void give_room(Use& u, std::uint32_t bytes) { u.opens |= u.receiver.give_room(bytes, window_step_); }
  void open_window(Use& u);

  // What asks for rows.
  void take_event();
  bool has_event();
  void ask_for_turn();
  void take_frame();
  bool read_path_mtu(ArrivedFrame& a) const;
  void look_up();

  // Frames.
  void on_path_mtu(const ArrivedFrame& a, bool open);
  void on_segment(Use& u, const tcp::ReceivedSegment& s, Frame& frame);
  void on_acceptable(Use& u, const tcp::Receiver::Arrival& a, BufferRef&& buf);
  void report_fin(Use& u);
  void deliver(Use& u, llp::ReceivedOctets&& octets);
  void keep(Use& u, llp::ReceivedOctets&& octets);
  void offer(const Use& u, const tcp::Receiver::Arrival& a, const BufferRef& buf);

  // Beats.
  void emit(Use& u, llp::ReceivedOctets&& octets);
  void emit_end(Use& u);
  void start_emission();
  tcp::PawsTime paws_time() const {
    return {static_cast<std::uint32_t>(clock().now_ps() / 1'000'000'000'000), paws_life_};
  }
  bool emitting() const { return !emission_.done() || now() < free_from_; }
  bool is_leaving(FlowId flow) const {
    return (!emission_.done() || now() + 1 < free_from_) && emission_.flow() == flow;
  }
  Cycle next_octets();
  Cycle next_offer();
  Cycle next_frame();

  void report(Use& u);
  bool report_one(Use& u);

  const TcpConfig config_;
  const std::uint32_t window_step_;  // by which a window must open before tcp_tx gets it without a segment
  const std::uint32_t paws_life_;
  const unsigned beat_bytes_;
  const LinkAddress station_;
  BufferPool& pool_;
  const tcp::SentOctets& sent_;
  tcp::FlowRxTable& rows_;
  RowCache* qps_ = nullptr;  // in which queue pairs are prefetched
  RowEvents<tcp::FlowRxRow, Event, FlowId> events_{*this, "tcp_rx_event"};
  tcp::FlowRxTable::Reader turn_row_{*this, "tcp_rx_turn"};
  tcp::FlowRxTable::Reader frame_rows_{*this, "tcp_rx_frame", 0, RowOrder::kAsTheyCome};
  llp::FlowTable table_;
  HighWater flows_;  // that have a place in it
  ArrivedFrames arrived_;
  tcp::ReassemblyMemory memory_;
  llp::FlowQueue turns_, reports_queue_, windows_;  // octets or an end to be sent; reports; opened windows
  bool turn_asked_ = false;                         // for the row of the first of turns_
  bool event_next_ = false;                         // an event is executed before a frame, or a turn, leaves
  FlowId reports_behind_ = kNoFlow;                 // when its octets have left
  std::vector<std::uint8_t> uses_;  // of each flow's number: what was consumed in an earlier one gives no room
  // If not all rows are on the chip: what a flow whose row is lost has to give back, and those flows.
  struct Kept {
    std::uint32_t out_of_order = llp::kNil, in_order = llp::kNil;  // heads of lists
    bool awaits_end = false;                                       // the beat that represents its end is on its way
    std::uint8_t commands = 0;                                     // that wait for its row
  };
  std::vector<Kept> kept_;
  llp::FlowQueue lost_, lost_released_;  // to be reported
  EarlyOffers offers_;
  llp::SegmentBeats offer_, emission_;
  Cycle offer_free_from_ = 0, free_from_ = 0;  // the cycle after the last beat's, as far as beats have left
  TcpRxCounters counters_;
};

// The row, the hash, links of three lists, the use of its number.
constexpr std::size_t TcpRx::bytes_per_flow() {
  return sizeof(tcp::FlowRxRow) + 2 * sizeof(FlowId) + sizeof(llp::FlowKey) + 3 * sizeof(std::uint32_t) + 1;
}

}  // namespace rnic
