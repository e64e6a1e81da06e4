// What a router with a narrow way says to the sender of a packet that is too long for it.
#pragma once

#include <optional>

#include "model/common/buffer.h"
#include "model/rnic/boundary/frame.h"
#include "model/wire/ethernet.h"
#include "model/wire/icmp.h"

namespace rnic {

class Router final {
 public:
  // Of the documentation range (RFC 5737): no station has it.
  static constexpr wire::Ipv4Address kAddress{0xc0000201};  // 192.0.2.1

  // ICMP "fragmentation needed" (RFC 1191 section 4) about the frame's packet, to its sender. nullopt about what needs
  // no answer or may have none (RFC 1812 section 4.3.2.7): another protocol than IPv4, a packet that may be fragmented,
  // a fragment, ICMP, a group address.
  std::optional<Frame> fragmentation_needed(const Frame& frame, std::uint16_t next_hop_mtu);

 private:
  static constexpr std::uint32_t kLongestIpv4Header = 60;
  static constexpr std::uint32_t kLongestFrame = wire::EthernetHeader::kBytes + wire::Ipv4Header::kBytes +
                                                 wire::FragmentationNeeded::kBytes + kLongestIpv4Header +
                                                 wire::FragmentationNeeded::kQuotedPayload;
  BufferPool pool_{kLongestFrame};
};

}  // namespace rnic
