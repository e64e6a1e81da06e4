// A router's handling of packets that are too long for its next hop.
#pragma once

#include <optional>
#include <vector>

#include "model/common/buffer.h"
#include "model/rnic/boundary/frame.h"
#include "model/wire/ethernet.h"
#include "model/wire/icmp.h"

namespace rnic {

class Router final {
 public:
  // From the documentation range (RFC 5737), so no station has it.
  static constexpr wire::Ipv4Address kAddress{0xc0000201};  // 192.0.2.1

  // ICMP "fragmentation needed" (RFC 1191 section 4) about the frame's packet, to its sender. nullopt if the packet
  // needs or may have no answer (RFC 1812 section 4.3.2.7): not IPv4, a packet that may be fragmented, a fragment,
  // ICMP, a group address.
  std::optional<Frame> fragmentation_needed(const Frame& frame, std::uint16_t next_hop_mtu);

  // The fragments of an IPv4 packet without DF (RFC 791 section 3.2), in order; none for anything else, or for one with
  // options.
  std::vector<Frame> fragments(const Frame& frame, std::uint16_t next_hop_mtu);

 private:
  static constexpr std::uint32_t kLongestIpv4Header = 60;
  static constexpr std::uint32_t kLongestFrame = wire::EthernetHeader::kBytes + wire::Ipv4Header::kBytes +
                                                 wire::FragmentationNeeded::kBytes + kLongestIpv4Header +
                                                 wire::FragmentationNeeded::kQuotedPayload;
  static constexpr std::uint32_t kLongestFragment = wire::EthernetHeader::kBytes + 9000;
  BufferPool pool_{kLongestFrame}, fragments_{kLongestFragment};
};

}  // namespace rnic
