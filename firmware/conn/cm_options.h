// Converts between the host's connection options (abi::CmFlags) and the policies of MPA and of DDP stream sessions.
#pragma once

#include <cstdint>
#include <optional>

#include "firmware/conn/mpa_negotiation.h"
#include "firmware/conn/session_negotiation.h"
#include "firmware/lib/capacity.h"
#include "model/abi/context_types.h"
#include "model/abi/host_abi.h"

namespace rnic::fw {

// The transport that the host wants.
constexpr LlpId llp_of(const abi::Command& command) {
  return (command.u.cm.options & abi::kCmSctp) != 0 ? LlpId::kSctp : LlpId::kMpaTcp;
}

// The MPA revision that the host sees for a session.
constexpr std::uint8_t revision_of(const wire::SessionMessage& message) {
  return is_enhanced(message.code) ? wire::kMpaRev2 : wire::kMpaRev1;
}

// The same options for a session, without those of MPA.
constexpr SessionPolicy session_policy(const MpaPolicy& policy) {
  return {static_cast<const EnhancedPolicy&>(policy), false};
}

// Applies the queue pair's attributes to a setup. The listener, the command's flags or the device supply those that the
// pair leaves open.
constexpr void apply(const abi::StreamAttr& attr, MpaPolicy& policy) {
  if (attr.personality != abi::Personality::kDevice) policy.personality = attr.personality;
  if (attr.rx_markers != abi::Markers::kOpen) policy.markers = attr.rx_markers == abi::Markers::kOn;
}

// Peer-to-peer and RTR kinds need revision 2.
constexpr bool consistent_cm_flags(std::uint8_t flags) {
  constexpr std::uint8_t kNeedsEnhanced = abi::kCmPeerToPeer | abi::kCmRtrSend | abi::kCmRtrWrite | abi::kCmRtrRead;
  return (flags & kNeedsEnhanced) == 0 || (flags & abi::kCmEnhanced) != 0;
}

// The RDMAC protocols have no revision 2.
constexpr bool speaks_revision_of(std::uint8_t flags, abi::Personality personality) {
  return personality != abi::Personality::kRdmac || (flags & abi::kCmEnhanced) == 0;
}

// SCTP has no revisions, and only version 1 of DDP and RDMAP (RFC 5043 section 1).
constexpr bool speaks(LlpId llp, std::uint8_t flags, abi::Personality personality) {
  return llp == LlpId::kSctp ? personality != abi::Personality::kRdmac : speaks_revision_of(flags, personality);
}

// A listener's policy, with the depths still open. Without an RTR flag all kinds are set, as the device supports each
// (RFC 6581 section 9.2).
MpaPolicy policy_of(std::uint8_t flags, const Settings& settings);
// Sets the depths from a kConnect, kAccept or kReject command.
void set_depths(MpaPolicy& policy, const abi::Command& command, const Settings& settings);

// The options in the word of a set-up message, if it has one, and in a startup frame.
std::uint8_t cm_flags_of(const std::optional<wire::MpaEnhanced>& word);
std::uint8_t cm_flags_of(const wire::MpaFrame& frame);

// The reply's options, with markers and CRC as the stream uses them. Markers: in at least one direction.
constexpr std::uint8_t agreed_flags(std::uint8_t reply_flags, const FlowContext& flow) {
  constexpr unsigned kBothSides = abi::kCmMarkers | abi::kCmCrc;
  return static_cast<std::uint8_t>((reply_flags & ~kBothSides) |
                                   (flow.tx_markers || flow.rx_markers ? abi::kCmMarkers + 0u : 0u) |
                                   (flow.crc ? abi::kCmCrc + 0u : 0u));
}

}  // namespace rnic::fw
