// What the associations of a chip share (an SCTP endpoint of RFC 9260): the settings, the cookie key, the source of
// tags and initial TSNs. It answers packets that belong to no association, and keeps nothing of them (sections 5.1,
// 8.4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/common/bytes.h"
#include "model/common/cycle.h"
#include "model/common/siphash.h"
#include "model/rnic/llp/sctp/cookie.h"
#include "model/rnic/llp/sctp/outcome.h"
#include "model/rnic/llp/sctp/sctp_config.h"
#include "model/wire/sctp.h"

namespace rnic::sctp {

inline constexpr std::uint32_t kDdpAdaptation = 1;   // RFC 5043 section 5.1
inline constexpr std::uint32_t kLeastWindow = 1500;  // an INIT with less is refused (RFC 9260 section 3.3.2)

// A packet with a correct checksum.
struct Received {
  wire::SctpHeader header;
  Ends ends;
  ByteSpan chunks;
  bool unicast = true;  // both addresses

  // nullopt: too short, or with port 0.
  static std::optional<Received> parse(ByteSpan packet, std::uint32_t source_ip, bool unicast = true);
  // Whether its first chunk is its only one.
  bool alone() const;
};

// An INIT or INIT ACK; its unknown parameters are handled by the two upper bits of their types (section 3.2.1).
struct InitView {
  static constexpr std::size_t kMaxReports = 8;

  wire::SctpInit init;
  ByteSpan parameters;
  bool has_cookie = false;
  ByteSpan cookie;
  std::uint32_t preservative_ms = 0;
  std::optional<std::uint32_t> adaptation;
  ByteSpan host_name;                           // the whole parameter; empty: none, as it should be
  std::array<ByteSpan, kMaxReports> reports{};  // whole parameters to report; further ones are not
  std::size_t reports_used = 0;

  // nullopt: too short, or a parameter whose length is wrong.
  static std::optional<InitView> parse(ByteSpan value);
};

struct SetupLimits {
  Cycle rto_initial, rto_max, heartbeat, cookie_life, guard;
  unsigned max_init_retries, max_retries;
  std::uint16_t streams;
  std::uint32_t window;
  std::uint64_t period_ps;

  SetupLimits(const SctpConfig& config, std::uint64_t period_ps);
  // For the n-th consecutive time without an answer.
  Cycle backed_off(Cycle rto, unsigned n) const;
};

// Packets and chunks without effect.
struct SetupCounters {
  std::uint64_t malformed = 0;          // truncated, or a length that is wrong
  std::uint64_t wrong_tag = 0;          // verification tag
  std::uint64_t unexpected = 0;         // not valid in the state, or in the packet
  std::uint64_t forged_cookies = 0;     // MAC, ports or tag
  std::uint64_t stale_cookies = 0;      // answered with ERROR
  std::uint64_t unmatched_cookies = 0;  // none of the cases A, B, D
  std::uint64_t refused = 0;            // answered with ABORT: INIT, INIT ACK
  std::uint64_t out_of_the_blue = 0;    // answered or not
};

class Endpoint {
 public:
  // `packet_bytes`: the MTU without the IP header.
  Endpoint(const SctpConfig& config, std::uint64_t period_ps, std::size_t packet_bytes, std::uint64_t seed);

  // A packet that belongs to no association. `listening`: on its port. If it returns a cookie, Setup::accept()
  // takes it and the packet, or refuse() if there is no room.
  std::optional<Cookie> receive(const Received& packet, bool listening, Cycle now, Outcome& out);
  void refuse(const Cookie& cookie, Outcome& out);

  const SetupCounters& counters() const { return counters_; }

 private:
  friend class Setup;

  struct Own {
    std::uint32_t tag = 0, tsn = 0;
    std::uint16_t outbound = 0;
  };
  enum class CookieCheck : std::uint8_t { kGood, kForged, kStale };

  void begin(Outcome& out) const;
  std::uint32_t draw_tag();
  std::uint32_t draw_tsn() { return static_cast<std::uint32_t>(numbers_.next()); }
  std::uint64_t draw() { return numbers_.next(); }
  wire::SctpInit init_of(const Own& own) const;
  static constexpr std::size_t kMaxQuoted = 8 * 20;  // 8 IPv6 addresses
  // The addresses of the digest, complete, as far as they fit. Returns the octets written.
  std::size_t quote_addresses(const InitView& view, std::uint32_t source_ip, MutableByteSpan out) const;
  std::uint32_t address_digest(const InitView& view, std::uint32_t source_ip) const;
  Terms agree(const InitView& view, const Own& own, std::uint32_t source_ip) const;
  // If there can be no association with this INIT or INIT ACK, writes the ABORT with the reason. False: there can.
  bool refuse(const InitView& view, const Outcome::Header& to, Outcome& out);
  // INIT ACK with a cookie.
  void answer(const InitView& view, const Ends& ends, const Own& own, std::uint32_t own_tie, std::uint32_t peer_tie,
              Cycle now, Outcome& out);
  CookieCheck check(const Received& packet, ByteSpan octets, Cycle now, Cookie& cookie) const;
  void tell_stale(const Cookie& cookie, Cycle now, Outcome& out);
  void out_of_the_blue(const Received& packet, Outcome& out);

  SetupLimits limits_;
  std::size_t packet_bytes_;
  SipKey cookie_key_;
  SipStream numbers_;
  SetupCounters counters_;
};

}  // namespace rnic::sctp
