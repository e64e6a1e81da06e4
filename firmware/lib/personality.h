// A device's personality for a queue pair (draft-carrier-rddp-rnic-interop-00 sections 5.1 and 6.2).
#pragma once

#include "model/abi/host_abi.h"

namespace rnic::fw {

// The personality requested for a queue pair, or else the device's.
constexpr abi::Personality resolve(abi::Personality said, abi::Personality device) {
  return said == abi::Personality::kDevice ? device : said;
}

// Only a permissive device has both versions of DDP and RDMAP; each queue pair selects one.
constexpr bool supports(abi::Personality device, abi::Personality wanted) {
  if (wanted > abi::Personality::kPermissive) return false;
  return wanted == abi::Personality::kDevice || wanted == device || device == abi::Personality::kPermissive;
}

// The version of DDP and RDMAP until the peer's first frame.
constexpr std::uint8_t first_version(abi::Personality p) { return p == abi::Personality::kRdmac ? 0 : 1; }

// Attributes that are open in `change` keep their values in `attr`.
constexpr abi::StreamAttr changed(abi::StreamAttr attr, abi::StreamAttr change) {
  if (change.personality != abi::Personality::kDevice) attr.personality = change.personality;
  if (change.rx_markers != abi::Markers::kOpen) attr.rx_markers = change.rx_markers;
  if (change.tx_markers != abi::Markers::kOpen) attr.tx_markers = change.tx_markers;
  return attr;
}

// Whether a queue pair of this device can have these attributes (section 6.2.3).
constexpr abi::CommandStatus check(abi::StreamAttr attr, abi::Personality device) {
  using abi::Markers;
  if (attr.rx_markers > Markers::kOn || attr.tx_markers > Markers::kOn) return abi::CommandStatus::kBadOp;
  if (!supports(device, attr.personality)) return abi::CommandStatus::kVersionNotSupported;
  const bool without = attr.rx_markers == Markers::kOff || attr.tx_markers == Markers::kOff;
  return without && resolve(attr.personality, device) == abi::Personality::kRdmac ? abi::CommandStatus::kMarkersRequired
                                                                                  : abi::CommandStatus::kOk;
}

}  // namespace rnic::fw
