// The SCTP association engine: set-up, DATA in both directions, and the DDP streams of all associations. See
// sctp_association.md.
#pragma once

#include <bitset>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/common/drops.h"
#include "model/common/link.h"
#include "model/common/ring.h"
#include "model/rnic/llp/flow_queue.h"
#include "model/rnic/llp/flow_table.h"
#include "model/rnic/llp/flow_timers.h"
#include "model/rnic/llp/link_address.h"
#include "model/rnic/llp/sctp/association_context.h"
#include "model/rnic/llp/sctp/beat_emission.h"
#include "model/rnic/llp/sctp/packet.h"
#include "model/rnic/llp/sctp/rfc9260.h"
#include "model/rnic/llp/sctp/sctp_association_counters.h"
#include "model/rnic/llp/segment_beats.h"
#include "model/rnic/llp/tcp/tcp_config.h"
#include "model/rnic/messages/early_placed.h"
#include "model/rnic/messages/llp.h"
#include "model/rnic/messages/llp_firmware.h"
#include "model/rnic/messages/sctp.h"

namespace rnic {

class SctpAssociation final : public Stage {
 public:
  PopPort<LlpOp> op{*this, "op"};            // from the firmware
  PushPort<LlpEvent> event{*this, "event"};  // to the firmware
  PopPort<Ulpdu> in{*this, "in"};            // segments to send
  PushPort<TxCredit> credit{*this, "credit"};
  PushPort<WqesAcked> acked{*this, "acked"};
  PushPort<FpduBeat> out{*this, "out"};  // received segments, in the form that MPA gives them
  PopPort<StreamEnded> ended{*this, "ended"};
  PushPort<StreamBeat> behind{*this, "behind"};  // segments out of order, for early_placement,
  PopPort<EarlyPlaced> early{*this, "early"};    // which answers each
  PopPort<SctpPacket> received{*this, "received"};
  PushPort<SctpPacket> packets{*this, "packets"};
  Drops drops;

  // Flows from `first_flow` on are its streams. Blocks of `pool` hold a packet of the interface's MTU after
  // kFrameHeadroom octets.
  SctpAssociation(sc_core::sc_module_name nm, ClockDomain& clk, const SctpConfig& config, const TcpConfig& tcp,
                  const DatapathConfig& datapath, const LinkAddress& station, std::uint32_t first_flow,
                  BufferPool& pool);
  ~SctpAssociation() override;

  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const SctpAssociationCounters& counters() const { return counters_; }
  // The life of a flow: an operation on it must name it.
  std::uint16_t life(FlowId flow) const;

 private:
  using Context = sctp::AssociationContext;
  static constexpr std::uint16_t kFirstEphemeral = 49152;  // RFC 6335 section 6
  // Timers of an association: those of its set-up, then these.
  static constexpr std::uint32_t kT3 = sctp::kSetupTimers, kSackDelay = kT3 + 1, kIdle = kT3 + 2, kTimers = 8;

  Wake next_wake();

  // Numbers.
  FlowId flow_of(std::uint32_t association, std::uint32_t stream) const {
    return FlowId{first_flow_ + association * config_.streams + stream};
  }
  std::uint32_t association_of(FlowId flow) const { return (flow.v - first_flow_) / config_.streams; }
  std::uint16_t stream_of(FlowId flow) const {
    return static_cast<std::uint16_t>((flow.v - first_flow_) % config_.streams);
  }
  Context& context(std::uint32_t association) { return *contexts_[association]; }
  RequestId owner(std::uint32_t association) const;

  // The firmware (sctp_association_sessions.cpp).
  void on_op(const LlpOp& operation);
  template <class Op>
  bool is_current(const Op& op);
  void connect(const fw::SctpConnect& op);
  void refuse(std::uint32_t cookie, fw::OpenFailure reason);
  std::uint32_t association_to(std::uint32_t peer_ip, std::uint16_t peer_port) const;
  std::uint32_t free_streams(const Context& c) const;
  void give_stream(std::uint32_t association, std::uint32_t cookie);
  void use(std::uint32_t association, std::uint16_t stream);
  void on_stream_op(const fw::SctpStream& op, std::uint32_t association, std::uint16_t stream);
  void send_from(std::uint32_t association, std::uint16_t stream);
  void close_streams(std::uint32_t association);
  void on_ended(StreamEnded end);
  // The flow and its life are filled in. No one wants events of an abandoned session.
  template <class Event>
  void tell(FlowId flow, Event e = {}, Cycle begun_at = 0, BufferRef octets = {}) {
    if (context(association_of(flow)).stream[stream_of(flow)].abandoned) return;
    e.flow = flow;
    e.life = life(flow);
    events_.push(LlpEvent(e, begun_at, std::move(octets)));
  }
  // The end of an association is reported after all that it has delivered, and only then.
  bool may_tell() const { return !events_.empty() && (events_.front().get<fw::SctpLost>() == nullptr || fences_ == 0); }
  std::uint16_t ephemeral_port(std::uint32_t peer_ip, std::uint16_t peer_port);

  // Associations.
  std::uint32_t begin(const llp::FlowKey& key, const wire::MacAddress& mac);
  void end(std::uint32_t association, fw::OpenFailure reason, FlowId except = kNoFlow);
  void on_up(std::uint32_t association);
  void forget_streams(std::uint32_t association, FlowId except);
  void look_at_idle();
  static bool has_session(const Context& c);
  bool make_room();
  void abort(std::uint32_t association, wire::SctpCause cause, ByteSpan information, FlowId except = kNoFlow);

  // Receiving (sctp_association_rx.cpp).
  void take_packet();
  void on_path_mtu(const SctpPacket& told);
  void settle(std::uint32_t association, const sctp::Outcome& outcome, const BufferRef& packet = {});
  void on_setup_event(std::uint32_t association, const sctp::SetupEvent& e);
  void on_chunks(std::uint32_t association, const sctp::Outcome& outcome, const BufferRef& packet);
  // Returns the unknown stream, if the chunk names one.
  std::optional<std::uint16_t> on_data(std::uint32_t association, const BufferRef& packet,
                                       const sctp::PassedChunk& chunk);
  void on_message(std::uint32_t association, const BufferRef& packet, const sctp::ReceivedData& data);
  void deliver(std::uint32_t association, std::uint16_t stream);
  void consume(std::uint32_t message);
  void give_back(std::uint32_t message);
  void offer(std::uint32_t message);
  void push_offer();
  void on_early(EarlyPlaced placed);
  void tell_control(std::uint32_t association, std::uint32_t message);
  void emit();
  void send_fence(std::uint32_t association);
  sctp::DataProgress progress(const Context& c) const {
    return {c.receiver.cumulative_tsn(), c.sender.idle() && c.backlog.empty()};
  }

  // Sending (sctp_association_tx.cpp).
  void take_ulpdu();
  void send_control(const fw::SctpSend& op, const BufferRef& octets);
  void queue(std::uint32_t association, sctp::SentMessage&& message);
  bool push(std::uint32_t association, std::uint32_t message);
  void push_backlog(std::uint32_t association);
  void on_sack(std::uint32_t association, const sctp::PassedChunk& chunk);
  void take_released(std::uint32_t association);
  bool send_one();
  bool send_of(std::uint32_t association);
  SctpPacket in_place(std::uint32_t association, sctp::SentMessage& m, const sctp::DataChunk& chunk,
                      std::uint32_t sack);
  SctpPacket copied(std::uint32_t association, std::uint32_t sack);
  void write_sack(Context& c, wire::SctpWriter& to, std::uint32_t sack);
  void answer(const sctp::Outcome& outcome, std::uint32_t peer_ip, const wire::MacAddress& mac, RequestId owner);
  std::uint32_t grantable(const Context& c, const sctp::StreamContext& s) const;
  void grant_all(std::uint32_t association);
  void serve_credits();

  // Timers.
  static FlowId timer(std::uint32_t association, std::uint32_t which) { return FlowId{association * kTimers + which}; }
  void run_timers();
  void set_timers(std::uint32_t association);

  const SctpConfig config_;
  const LinkAddress station_;
  const std::uint32_t first_flow_, mtu_, packet_limit_;
  const FlowId fence_flow_;  // has no stream and no queue pair
  const unsigned beat_bytes_;
  BufferPool& pool_;
  BufferPool large_{sctp::kLargeBlockBytes};  // for fragmented messages that are longer than ours
  const sctp::Rfc9260 congestion_;
  const sctp::SenderSettings sender_settings_;
  const sctp::ReceiverSettings receiver_settings_;
  const sctp::StreamLimits stream_limits_;
  const Cycle idle_limit_;
  sctp::Endpoint endpoint_;
  sctp::FragmentMemory fragments_;
  std::vector<std::unique_ptr<Context>> contexts_;  // made when the number is first used
  llp::FlowTable table_;
  llp::FlowQueue free_, sends_, idle_;  // of associations
  llp::FlowQueue credits_, acks_;       // of streams
  llp::FlowTimers timers_;
  llp::SlotPool<sctp::SentMessage> sent_;
  llp::SlotPool<sctp::ReceivedMessage> messages_;
  llp::SlotList ready_;  // messages on their way into the pipeline, in order
  Ring<LlpEvent> events_;
  std::uint32_t fences_ = 0;  // on their way through the pipeline
  Ring<SctpPacket> answers_;  // of set-up and shutdown
  sctp::BeatEmission emission_;
  llp::SegmentBeats offer_;
  Cycle offer_free_from_ = 0;
  std::uint32_t emitted_ = llp::kNil;  // the message whose beats are leaving
  Cycle busy_until_ = 0;               // processing the chunks of a packet
  std::bitset<65536> listening_;
  std::uint16_t next_port_;
  sctp::Outcome outcome_, second_;  // of an input; of its consequences
  sctp::DataPacket packet_;
  SctpAssociationCounters counters_;
};

}  // namespace rnic
