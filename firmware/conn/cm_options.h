// Between the host's connection options (abi::CmFlags) and the MPA policy.
#pragma once

#include <cstdint>

#include "firmware/conn/mpa_negotiation.h"
#include "firmware/lib/capacity.h"
#include "model/abi/context_types.h"
#include "model/abi/host_abi.h"

namespace rnic::fw {

// What a setup takes from its queue pair. What the pair leaves open is as the listener, the command's flags or the
// device have it.
constexpr void apply(const abi::StreamAttr& attr, MpaPolicy& policy) {
  if (attr.personality != abi::Personality::kDevice) policy.personality = attr.personality;
  if (attr.rx_markers != abi::Markers::kOpen) policy.markers = attr.rx_markers == abi::Markers::kOn;
}

// Peer-to-peer and RTR kinds are features of revision 2.
constexpr bool consistent_cm_flags(std::uint8_t flags) {
  constexpr std::uint8_t kNeedsEnhanced = abi::kCmPeerToPeer | abi::kCmRtrSend | abi::kCmRtrWrite | abi::kCmRtrRead;
  return (flags & kNeedsEnhanced) == 0 || (flags & abi::kCmEnhanced) != 0;
}

// Revision 2 is not of the RDMAC protocols.
constexpr bool speaks_revision_of(std::uint8_t flags, abi::Personality personality) {
  return personality != abi::Personality::kRdmac || (flags & abi::kCmEnhanced) == 0;
}

// A listener's, and with the depths still open. Without an RTR flag the kinds are Write and Read, which leave the
// peer's receive queue alone.
MpaPolicy policy_of(std::uint8_t flags, const Settings& settings);
// The depths that a kConnect, kAccept or kReject command brings.
void set_depths(MpaPolicy& policy, const abi::Command& command, const Settings& settings);

// The options that a startup frame shows.
std::uint8_t cm_flags_of(const wire::MpaFrame& frame);

// The reply's options, with markers and CRC as they are used: markers in at least one direction.
constexpr std::uint8_t agreed_flags(std::uint8_t reply_flags, const FlowContext& flow) {
  constexpr unsigned kBothSides = abi::kCmMarkers | abi::kCmCrc;
  return static_cast<std::uint8_t>((reply_flags & ~kBothSides) |
                                   (flow.tx_markers || flow.rx_markers ? abi::kCmMarkers + 0u : 0u) |
                                   (flow.crc ? abi::kCmCrc + 0u : 0u));
}

}  // namespace rnic::fw
