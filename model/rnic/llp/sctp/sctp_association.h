// The SCTP association engine: the stage. Its cycle, the firmware's operations, and whose turn it is. See
// sctp_association.md.
#pragma once

#include <bitset>
#include <string>

#include "model/common/link.h"
#include "model/rnic/llp/sctp/engine.h"
#include "model/rnic/messages/early_placed.h"
#include "model/rnic/messages/llp.h"

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

  // Flows from `first_flow` on are its streams. Blocks of `pool` hold a packet of the interface's `mtu` after
  // kFrameHeadroom octets.
  SctpAssociation(sc_core::sc_module_name nm, ClockDomain& clk, const SctpConfig& config, std::uint32_t mtu,
                  const DatapathConfig& datapath, const LinkAddress& station, std::uint32_t first_flow,
                  BufferPool& pool);
  ~SctpAssociation() override;
  // Where the segmenter has taken room for the segments; without one it has taken none.
  void keep_in(llp::TransmitMemory& memory) { engine_.memory = &memory; }

  // What the firmware says of its flows.
  FlowRows& flow_rows() { return engine_.qps; }

  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const SctpAssociationCounters& counters() const { return engine_.counters; }
  // The life of a flow: an operation on it must name it.
  std::uint16_t life(FlowId flow) const { return engine_.life(flow); }

 private:
  static constexpr std::uint16_t kFirstEphemeral = 49152;  // RFC 6335 section 6

  Wake next_wake();
  bool has_room() const;

  // The firmware.
  void on_op(const LlpOp& operation);
  template <class Op>
  bool is_current(const Op& op);
  void connect(const fw::SctpConnect& op);
  sctp::AssociationId association_to(std::uint32_t peer_ip, std::uint16_t peer_port);
  std::uint16_t ephemeral_port(std::uint32_t peer_ip, std::uint16_t peer_port);
  // The end of an association is reported after all that it has delivered, and only then.
  bool may_tell() const {
    return !engine_.events.empty() &&
           (engine_.events.front().get<fw::SctpLost>() == nullptr || !engine_.delivery.fenced());
  }

  // Its neighbours.
  void take_packet();
  void on_path_mtu(const SctpPacket& told);
  void take_ulpdu();
  void on_ended(StreamEnded end);
  bool send_packet();
  void serve_credits();
  void run_timers();
  bool make_room();

  sctp::Engine engine_;
  std::bitset<65536> listening_;
  std::uint16_t next_port_ = kFirstEphemeral;
};

}  // namespace rnic
