// The receiver half of the TCP offload: checks, flow lookup, acceptance in order; hands the stream to the firmware
// until it switches the flow to RDMA, then to the deframer.
#pragma once

#include <vector>

#include "model/common/link.h"
#include "model/common/ring.h"
#include "model/rnic/boundary/frame.h"
#include "model/rnic/llp/flow_queue.h"
#include "model/rnic/llp/flow_table.h"
#include "model/rnic/llp/segment.h"
#include "model/rnic/llp/slot_pool.h"
#include "model/rnic/messages/datapath.h"
#include "model/rnic/messages/tcp.h"
#include "model/rnic/messages/tcp_offload.h"
#include "model/rnic/rx/early_placed.h"

namespace rnic {

struct TcpRxCounters {
  std::uint64_t segments = 0, payload_bytes = 0, out_of_order = 0, duplicates = 0, trimmed = 0, beyond_window = 0;
  std::uint64_t reorder_drops = 0, reorder_bytes_max = 0, reorder_segments_max = 0, paws = 0, no_timestamp = 0;
  std::uint64_t early_fpdus = 0, early_saved = 0, not_offered = 0, path_mtu_reports = 0;
  std::uint64_t bad_reset = 0, bad_syn = 0, not_ipv4 = 0, bad_ipv4 = 0, not_for_us = 0, bad_tcp = 0, bad_checksum = 0;
  template <class V>
  static void fields(V& v) {
    v("segments", &TcpRxCounters::segments, "segments", "valid segments, of any flow or none");
    v("payload_bytes", &TcpRxCounters::payload_bytes, "octets", "payload accepted");
    v("out_of_order", &TcpRxCounters::out_of_order, "segments",
      "segments out of order: kept if they fit into the reassembly queue");
    v("reorder_drops", &TcpRxCounters::reorder_drops, "segments",
      "segments out of order, dropped as the reassembly queue was full");
    v("reorder_bytes_max", &TcpRxCounters::reorder_bytes_max, "octets",
      "peak of the reassembly queue, over all connections");
    v("reorder_segments_max", &TcpRxCounters::reorder_segments_max, "segments",
      "peak of the reassembly queue of one connection, parts of segments counted separately");
    v("early_fpdus", &TcpRxCounters::early_fpdus, "FPDUs",
      "FPDUs out of order whose payload early_placement has placed: only their headers were kept");
    v("early_saved", &TcpRxCounters::early_saved, "octets", "octets freed in the reassembly queue by early placement");
    v("not_offered", &TcpRxCounters::not_offered, "segments",
      "segments out of order that early_placement could not take");
    v("paws", &TcpRxCounters::paws, "segments", "dropped: an old timestamp (RFC 7323 section 5)");
    v("no_timestamp", &TcpRxCounters::no_timestamp, "segments", "dropped: without the negotiated timestamp");
    v("duplicates", &TcpRxCounters::duplicates, "segments", "dropped: all octets were received before");
    v("trimmed", &TcpRxCounters::trimmed, "segments", "segments of which some octets were received before");
    v("beyond_window", &TcpRxCounters::beyond_window, "segments", "segments with octets beyond the receive window");
    v("bad_reset", &TcpRxCounters::bad_reset, "segments", "RST not at the next octet (RFC 5961 section 3)");
    v("bad_syn", &TcpRxCounters::bad_syn, "segments", "SYN within a connection (RFC 5961 section 4)");
    v("not_ipv4", &TcpRxCounters::not_ipv4, "frames", "dropped: a protocol other than IPv4");
    v("bad_ipv4", &TcpRxCounters::bad_ipv4, "frames", "dropped: malformed IPv4 header, wrong checksum, or a fragment");
    v("not_for_us", &TcpRxCounters::not_for_us, "frames", "dropped: another address, or a protocol other than TCP");
    v("path_mtu_reports", &TcpRxCounters::path_mtu_reports, "packets",
      "ICMP packets that report a segment of ours as too long for a router");
    v("bad_tcp", &TcpRxCounters::bad_tcp, "segments", "dropped: malformed TCP header");
    v("bad_checksum", &TcpRxCounters::bad_checksum, "segments", "dropped: wrong TCP checksum");
  }
};

class TcpRx final : public Stage {
 public:
  PopPort<Frame> in{*this, "in"};
  PushPort<StreamBeat> out{*this, "out"};
  PopPort<RxConsumed> consumed{*this, "consumed"};
  PopPort<StreamEnded> ended{*this, "ended"};
  PopPort<tcp::RxCommand> commands{*this, "commands"};
  PushPort<tcp::RxFeedback> feedback{*this, "feedback"};
  PushPort<tcp::RxReport> reports{*this, "reports"};
  PushPort<StreamBeat> behind{*this, "behind", kOptional};  // what is kept behind a hole, for early_placement,
  PopPort<EarlyPlaced> early{*this, "early", kOptional};    // which answers every segment

  // `pool` has the blocks in which the firmware gets octets; their size is the most that one read may ask for.
  TcpRx(sc_core::sc_module_name nm, ClockDomain& clk, const TcpConfig& config, const DatapathConfig& datapath,
        const StationConfig& station, BufferPool& pool);

  Wake tick() override;
  void reset() override;

  void register_stats(const StatsGroup& group) const override;
  const TcpRxCounters& counters() const { return counters_; }
  // Of this stage, for one flow without octets waiting for the firmware.
  static constexpr std::size_t bytes_per_flow();

 private:
  enum class State : std::uint8_t { kFree, kAwaitsSyn, kOpen };
  enum class Mode : std::uint8_t { kStreaming, kRdma, kDiscard };
  // Octets of one segment that nobody has taken yet; or the header of an FPDU of so many octets.
  struct Piece {
    BufferRef buf;
    const std::uint8_t* data = nullptr;
    std::uint32_t bytes = 0;
    std::uint32_t seq = 0;  // its first octet's
    std::uint32_t next = tcp::kNil;
    bool placed = false;
    std::uint32_t end() const { return seq + bytes; }
    std::uint32_t held() const { return placed ? kPlacedHeaderBytes : bytes; }  // octets of reassembly memory
  };
  struct Flow {
    State state = State::kFree;
    Mode mode = Mode::kStreaming;
    std::uint8_t peer_scale = 0;
    bool fin : 1;  // received
    bool fin_to_report : 1;
    bool reset_to_report : 1;
    bool release_to_report : 1;
    bool fin_behind : 1;  // received behind a hole: its number is fin_seq
    bool timestamps : 1;
    bool end_sent : 1;    // the beat that stands for the FIN,
    bool end_passed : 1;  // behind all FPDUs
    std::uint32_t rcv_nxt = 0;
    std::uint32_t rcv_edge = 0;   // first octet there is no room for
    std::uint32_t told_edge = 0;  // as tcp_tx knows it
    std::uint32_t wanted = 0;     // octets the firmware waits for
    std::uint32_t kept = 0;       // octets in `pieces`
    tcp::SlotList pieces;
    tcp::SlotList behind;  // in the order of their numbers, none overlaps another
    std::uint32_t behind_pieces = 0;
    std::uint32_t last_run = 0;  // where the run starts that the last one of them is part of
    std::uint32_t fin_seq = 0;
    std::uint32_t ts_recent = 0;
    std::uint64_t stream_offset = 0;  // of the next octet for the deframer
    Flow()
        : fin(false),
          fin_to_report(false),
          reset_to_report(false),
          release_to_report(false),
          fin_behind(false),
          timestamps(false),
          end_sent(false),
          end_passed(false) {}
  };
  // The segment whose beats are leaving.
  struct Emission {
    BufferRef buf;
    const std::uint8_t* data = nullptr;
    std::uint64_t offset = 0;  // in the stream
    std::uint32_t left = 0;
    FlowId flow;
    bool first = false;
    bool placed = false;
    bool ends = false;
  };
  // A segment that early_placement has not answered yet.
  struct Offer {
    FlowId flow;
    std::uint32_t seq = 0, end = 0;
    std::uint64_t offset = 0;
  };

  void on_command(const tcp::RxCommand& c);
  void open(const tcp::RxCommand& c);
  void release(FlowId flow);
  void on_consumed(const RxConsumed& c);
  void on_ended(FlowId flow);

  void take_frame();
  void count_fault(tcp::SegmentFault fault);
  bool take_path_mtu(const Frame& frame);
  void to_connection(FlowId flow, const tcp::ReceivedSegment& s);
  void on_segment(FlowId flow, const tcp::ReceivedSegment& s, Frame frame);
  bool timely(FlowId flow, const tcp::ReceivedSegment& s);
  bool accept(FlowId flow, const tcp::ReceivedSegment& s, Frame frame, wire::SackBlock& kept);
  void take_fin(FlowId flow);
  void deliver(FlowId flow, BufferRef buf, ByteSpan payload);
  void give_room(FlowId flow, std::uint32_t bytes);

  // Behind holes.
  wire::SackBlock keep(FlowId flow, const BufferRef& buf, std::uint32_t seq, ByteSpan payload, bool fin);
  bool keep_part(Flow& f, std::uint32_t before, const BufferRef& buf, std::uint32_t seq, ByteSpan part);
  void insert_behind(Flow& f, std::uint32_t before, std::uint32_t slot);
  wire::SackBlock run_around(const Flow& f, std::uint32_t seq) const;
  void fill_hole(FlowId flow);
  void forget_behind(Flow& f);
  ByteSpan up_to_behind(FlowId flow, const BufferRef& buf, ByteSpan payload, bool& fin);

  void offer(FlowId flow, const BufferRef& buf, std::uint32_t seq, ByteSpan octets);
  bool awaits_early(FlowId flow, std::uint32_t seq, std::uint32_t end) const;
  bool awaits_early(FlowId flow) const;
  void on_early(EarlyPlaced placed);
  void release_payload(std::uint32_t seq, EarlyPlaced& placed);
  std::uint32_t split(Flow& f, std::uint32_t at, std::uint32_t seq);

  bool start_end();
  bool start_kept();
  Piece& append_piece(FlowId flow, BufferRef buf, ByteSpan payload);
  void emit(FlowId flow, BufferRef buf, ByteSpan payload);
  void emit_placed(FlowId flow, Piece& piece);
  void emit_beats(Emission& emission, Link<StreamBeat>& link, Cycle& free_from);
  Cycle next_octets();
  Cycle next_offer();
  bool emitting() const { return emission_.left != 0 || now() < free_from_; }
  void serve_reports();
  bool report_one(FlowId flow);
  BufferRef read_kept(FlowId flow, std::uint32_t bytes);
  void open_windows();

  const TcpConfig config_;
  const unsigned beat_bytes_;
  const StationConfig station_;
  BufferPool& pool_;
  std::vector<Flow> flows_;
  tcp::FlowTable table_;
  tcp::SlotPool<Piece> pieces_;
  std::uint32_t behind_bytes_ = 0;  // of all flows
  Emission offer_;
  Cycle offer_free_from_ = 0;
  Ring<Offer> offers_;
  tcp::FlowQueue handovers_, ends_, reports_queue_, windows_;
  Emission emission_;
  Cycle free_from_ = 0;  // the cycle after the last beat's, as far as beats have left
  TcpRxCounters counters_;
};

constexpr std::size_t TcpRx::bytes_per_flow() {
  return sizeof(Flow) + 2 * sizeof(FlowId) + sizeof(tcp::FlowKey) + 3 * sizeof(std::uint32_t);
}

}  // namespace rnic
