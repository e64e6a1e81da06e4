// Packets between the SCTP association engine and the stages that check and seal them.
#pragma once

#include <cstdint>

#include "model/common/buffer.h"
#include "model/common/trace_event.h"
#include "model/wire/ethernet.h"

namespace rnic {

// An SCTP packet, from its common header on: `bytes` octets at `offset`, with room before it for the headers of IPv4
// and Ethernet, and after it for a word.
struct SctpPacket {
  BufferRef buf;
  std::uint32_t offset = 0;
  std::uint16_t bytes = 0;
  std::uint32_t peer_ip = 0;
  wire::MacAddress peer_mac;
  Resend resend = Resend::kNo;  // transmit: why, if chunks of it were sent before; on no pins
  bool may_fragment = false;    // transmit: longer than its path MTU, so that IP has to cut it
  // Receive, not 0: no packet, but a router's report about one that was sent to peer_ip; the octets are those that it
  // quotes, ports and tag. 1: it does not report an MTU.
  std::uint16_t path_mtu = 0;

  std::uint8_t* data() const { return buf->bytes() + offset; }

  static constexpr const char* kMessage = "sctp_packet";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("bytes", 16, m.bytes);
    v("peer_ip", 32, m.peer_ip);
    v("may_fragment", 1, m.may_fragment);
    v("path_mtu", 16, m.path_mtu);
  }
};

}  // namespace rnic
