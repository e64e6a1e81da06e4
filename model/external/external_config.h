// How a run reaches a peer outside the simulation.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "model/config/field.h"

namespace rnic::external {

enum class WireKind : std::uint8_t { kSeqpacket, kDgram, kStream, kTap, kVhostUser };
inline constexpr std::array kWireKinds{
    Named{WireKind::kSeqpacket, "seqpacket"},  Named{WireKind::kDgram, "dgram"},
    Named{WireKind::kStream, "stream"},        Named{WireKind::kTap, "tap"},
    Named{WireKind::kVhostUser, "vhost_user"},
};

struct ExternalConfig {
  WireKind wire = WireKind::kVhostUser;
  std::string path, peer_path, time_path;
  bool connect = false;
  unsigned max_ahead_us = 1000;
  unsigned patience_s = 60;
  std::uint64_t linger_us = 2'000'000;
  template <class V>
  static void fields(V& v) {
    v("wire", &ExternalConfig::wire,
      "seqpacket, stream: a Unix socket that one end listens on; dgram: one at each end; tap: a TAP device; "
      "vhost_user: the network card of a User-Mode Linux guest whose clock is simulated time",
      one_of(kWireKinds));
    v("path", &ExternalConfig::path, "our socket, or the name of the TAP device");
    v("peer_path", &ExternalConfig::peer_path, "dgram: the peer's socket");
    v("connect", &ExternalConfig::connect,
      "seqpacket, stream: connect to the peer's socket at `path`, rather than wait there for the peer");
    v("time_path", &ExternalConfig::time_path, "vhost_user: the socket of the guest's time-travel=ext");
    v("max_ahead_us", &ExternalConfig::max_ahead_us,
      "how far simulated time may be ahead of wall time, if it is not the peer's clock", in_range(10, 1'000'000),
      unit("us"));
    v("patience_s", &ExternalConfig::patience_s, "wall time within which a guest must answer", in_range(1, 3600),
      unit("s"));
    v("linger_us", &ExternalConfig::linger_us,
      "how long a run continues for the peer when all programs are done, unless the peer leaves before", unit("us"));
  }
};

}  // namespace rnic::external
