// The TCP state machine (RFC 9293 section 3.3.2) of all flows: opens, accepts, closes. Payload never passes here.
#pragma once

#include <bitset>
#include <vector>

#include "model/common/link.h"
#include "model/common/ring.h"
#include "model/common/row_cache.h"
#include "model/common/siphash.h"
#include "model/common/timer_wheel.h"
#include "model/rnic/llp/flow_queue.h"
#include "model/rnic/llp/flow_table.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/llp/tcp/tcp_config.h"
#include "model/rnic/messages/llp_firmware.h"
#include "model/rnic/messages/tcp_offload.h"
#include "model/stats/high_water.h"

namespace rnic {

struct TcpConnectionCounters {
  std::uint64_t opened = 0, accepted = 0, refused = 0, no_flow = 0, resets = 0, ops_ignored = 0;
  template <class V>
  static void fields(V& v) {
    v("opened", &TcpConnectionCounters::opened, "connections", "active opens that were established");
    v("accepted", &TcpConnectionCounters::accepted, "connections", "passive opens that were established");
    v("refused", &TcpConnectionCounters::refused, "segments", "segments answered by RST: no listener, or no flow");
    v("no_flow", &TcpConnectionCounters::no_flow, "segments", "SYNs dropped because all flows were in use");
    v("resets", &TcpConnectionCounters::resets, "connections", "flows ended by a RST or by unanswered retransmission");
    v("ops_ignored", &TcpConnectionCounters::ops_ignored, "operations", "operations on a flow that no longer exists");
  }
};

class TcpConnection final : public Stage {
 public:
  PopPort<LlpOp> op{*this, "op"};            // from the firmware
  PushPort<LlpEvent> event{*this, "event"};  // to the firmware
  PushPort<tcp::TxCommand> to_tx{*this, "to_tx"};
  PushPort<tcp::RxCommand> to_rx{*this, "to_rx"};
  PopPort<tcp::TxReport> from_tx{*this, "from_tx"};
  PopPort<tcp::RxReport> from_rx{*this, "from_rx"};

  TcpConnection(sc_core::sc_module_name nm, ClockDomain& clk, const TcpConfig& config, const LinkAddress& station);

  // Of the rows of the flows.
  void begin_in(RowCache& cache) { flow_cache_ = &cache; }

  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;

  void describe(const Description& d) override;
  const TcpConnectionCounters& counters() const { return counters_; }
  std::size_t flows_in_use() const { return in_use_.now(); }  // all that are not free
  // Of this stage, per flow, in octets.
  static constexpr std::size_t bytes_per_flow();

 private:
  enum class State : std::uint8_t {
    kFree,
    kSynSent,
    kSynReceived,
    kEstablished,
    kFinWait1,
    kFinWait2,
    kCloseWait,
    kClosing,
    kLastAck,
    kTimeWait,
    kReleasing  // until tcp_tx and tcp_rx have released the flow
  };
  static constexpr std::uint16_t kFirstEphemeral = 49152;  // RFC 6335 section 6

  struct Connection {
    State state = State::kFree;
    bool active = false;
    bool peer_closed = false;  // FIN arrived before our SYN was acknowledged
    std::uint8_t releases = 0;
    std::uint16_t life = 0;  // of the flow; the firmware's operations name it
    std::uint16_t emss = 0;
    wire::MacAddress peer_mac;
    std::uint32_t iss = 0, cookie = 0;
    Cycle syn_at = 0;  // for observers

    static constexpr const char* kMessage = "tcp_connection";
    template <class V, class M>
    static void fields(V& v, M& m) {
      v("state", 4, m.state);
      v("active", 1, m.active);
      v("peer_closed", 1, m.peer_closed);
      v("releases", 2, m.releases);
      v("life", 16, m.life);
      v("emss", 16, m.emss);
      v("peer_mac", m.peer_mac);
      v("iss", 32, m.iss);
      v("cookie", 32, m.cookie);
    }
  };

  bool step();
  bool take_silent_op();
  void on_op(LlpOp operation);
  template <class Op>
  bool is_current(const Op& op);
  void on_report(const tcp::TxReport& report);
  void on_report(tcp::RxReport report);
  void on_segment(const tcp::RxReport& s);
  void on_segment_in_syn_sent(const tcp::RxReport& s);
  void open(const fw::TcpOpen& op);
  void accept(const tcp::RxReport& s);
  void synchronize(FlowId flow, const tcp::RxReport& s);
  void refuse(const tcp::RxReport& s);
  void established(FlowId flow);
  bool establishes(const tcp::RxReport& report);
  void peer_closed(FlowId flow, bool told = false);
  void close(FlowId flow);
  void lost(FlowId flow, fw::OpenFailure reason, tcp::TxCommand::Kind end = tcp::TxCommand::Kind::kRelease);
  void finish(FlowId flow);
  void release(FlowId flow, tcp::TxCommand::Kind end = tcp::TxCommand::Kind::kRelease);
  void released(FlowId flow);
  void enter_time_wait(FlowId flow);

  tcp::Agreed agree(const tcp::RxReport& syn) const;
  bool is_open(FlowId flow) const;
  FlowId take_flow(const llp::FlowKey& key);
  std::uint32_t initial_sequence_number(const llp::FlowKey& key) const;
  std::uint16_t ephemeral_port(std::uint32_t peer_ip, std::uint16_t peer_port);
  template <class Event>
  void tell(FlowId flow, Event e = {}, Cycle begun_at = 0, BufferRef data = {});
  void tell_open(FlowId flow);
  void command_tx(tcp::TxCommand::Kind kind, FlowId flow);
  void command_rx(tcp::RxCommand::Kind kind, FlowId flow, std::uint32_t bytes = 0);

  const TcpConfig config_;
  const LinkAddress station_;
  const Cycle time_wait_;
  const SipKey isn_key_;
  std::vector<Connection> connections_;
  RowCache* flow_cache_ = nullptr;
  llp::FlowTable table_;
  llp::FlowQueue free_;                   // the one free for longest is taken first
  HighWater in_use_, hashed_;             // flows; those that a segment can find
  llp::FlowQueue late_fins_;              // established after the peer's FIN arrived
  Ring<fw::TcpOpenFailed> failed_opens_;  // to be reported
  TimerWheel time_waits_;
  std::bitset<65536> listening_;
  std::uint16_t next_port_ = kFirstEphemeral;
  TcpConnectionCounters counters_;
};

constexpr std::size_t TcpConnection::bytes_per_flow() {
  return sizeof(Connection) + 2 * sizeof(FlowId) + sizeof(llp::FlowKey) + 2 * sizeof(std::uint32_t) + 2 * sizeof(Cycle);
}

}  // namespace rnic
