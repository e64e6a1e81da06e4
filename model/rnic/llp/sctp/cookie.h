// The State Cookie of RFC 9260 section 5.1.3: everything needed to build an association, held by the peer until it
// echoes it. Only its maker reads it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/common/bytes.h"
#include "model/common/cycle.h"
#include "model/common/siphash.h"

namespace rnic::sctp {

// The ends of an association. Single-homed: one address of the peer, the source of its packets.
struct Ends {
  std::uint32_t peer_ip = 0;
  std::uint16_t port = 0, peer_port = 0;  // port: ours

  friend bool operator==(const Ends& a, const Ends& b) {
    return a.peer_ip == b.peer_ip && a.port == b.port && a.peer_port == b.peer_port;
  }
  friend bool operator!=(const Ends& a, const Ends& b) { return !(a == b); }
};

// The terms agreed in INIT and INIT ACK.
struct Terms {
  std::uint32_t own_tag = 0, peer_tag = 0;  // peer_tag 0: not known yet
  std::uint32_t own_tsn = 0, peer_tsn = 0;  // the first ones
  std::uint32_t peer_window = 0;            // a_rwnd
  std::uint32_t adaptation = 0;             // the peer's indication
  std::uint32_t peer_addresses = 0;         // a digest of the addresses that the peer lists; they are not used
  std::uint16_t outbound = 0, inbound = 0;  // valid streams

  // DDP streams are pairs of one id (RFC 5043 section 4).
  std::uint16_t ddp_streams() const { return outbound < inbound ? outbound : inbound; }
};

struct Cookie {
  static constexpr std::size_t kFieldBytes = 64, kMacBytes = 8, kBytes = kFieldBytes + kMacBytes;

  Cycle made_at = 0, life = 0;
  Ends ends;
  Terms terms;
  std::uint32_t own_tie_tag = 0, peer_tie_tag = 0;  // the tags of the previous association; 0: none

  template <class Self, class F>
  static constexpr void fields(Self& c, F& f) {
    f(c.made_at, c.life, c.ends.peer_ip, c.ends.port, c.ends.peer_port);
    f(c.terms.own_tag, c.terms.peer_tag, c.terms.own_tsn, c.terms.peer_tsn, c.terms.peer_window, c.terms.adaptation);
    f(c.terms.peer_addresses, c.terms.outbound, c.terms.inbound, c.own_tie_tag, c.peer_tie_tag);
  }
  Cycle ends_at() const { return made_at + life; }
};

using CookieOctets = std::array<std::uint8_t, Cookie::kBytes>;

CookieOctets seal(const SipKey& key, const Cookie& cookie);
// False if the length or the MAC is wrong: it is not ours, or was changed.
bool unseal(const SipKey& key, ByteSpan octets, Cookie& cookie);

}  // namespace rnic::sctp
