#include "firmware/conn/cm_options.h"

namespace rnic::fw {

MpaPolicy policy_of(std::uint8_t flags, const Settings& settings) {
  MpaPolicy policy;
  policy.personality = settings.personality;
  policy.markers = (flags & abi::kCmMarkers) != 0 || settings.receive_markers;
  policy.crc = (flags & abi::kCmCrc) != 0 || settings.crc;
  policy.enhanced = flags & abi::kCmEnhanced;
  policy.peer_to_peer = flags & abi::kCmPeerToPeer;
  policy.rtr = {(flags & abi::kCmRtrSend) != 0, (flags & abi::kCmRtrWrite) != 0, (flags & abi::kCmRtrRead) != 0};
  if (!policy.rtr.any()) policy.rtr = {true, true, true};
  return policy;
}

void set_depths(MpaPolicy& policy, const abi::Command& command, const Settings& settings) {
  const auto& cm = command.u.cm;
  policy.ird = cm.ird;
  policy.ord = cm.ord;
  policy.max_ird = (cm.options & abi::kCmMaxIrd) != 0 ? cm.max_ird : settings.max_ird;
  policy.need_ord = cm.need_ord;
  policy.negotiate_ird = (cm.options & abi::kCmKeepIrd) == 0;
  policy.negotiate_ord = (cm.options & abi::kCmKeepOrd) == 0;
}

std::uint8_t cm_flags_of(const std::optional<wire::MpaEnhanced>& word) {
  if (!word) return 0;
  unsigned flags = abi::kCmEnhanced;
  const auto add = [&flags](bool on, abi::CmFlags flag) { flags |= on ? static_cast<unsigned>(flag) : 0u; };
  add(word->peer_to_peer, abi::kCmPeerToPeer);
  add(word->peer_to_peer && word->rtr_send, abi::kCmRtrSend);
  add(word->peer_to_peer && word->rtr_write, abi::kCmRtrWrite);
  add(word->peer_to_peer && word->rtr_read, abi::kCmRtrRead);
  return static_cast<std::uint8_t>(flags);
}

std::uint8_t cm_flags_of(const wire::MpaFrame& frame) {
  return static_cast<std::uint8_t>(cm_flags_of(frame.enhanced) | (frame.markers ? abi::kCmMarkers + 0u : 0u) |
                                   (frame.crc ? abi::kCmCrc + 0u : 0u));
}

}  // namespace rnic::fw
