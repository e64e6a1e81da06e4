// Strong index types: a QP number cannot be passed where a flow or an STag is meant.
#pragma once

#include <cstdint>

namespace rnic {

template <class Tag>
struct Id {
  std::uint32_t v = 0;
  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t value) : v(value) {}
  friend constexpr bool operator==(Id a, Id b) { return a.v == b.v; }
  friend constexpr bool operator!=(Id a, Id b) { return a.v != b.v; }
  friend constexpr bool operator<(Id a, Id b) { return a.v < b.v; }
};

using Qpn = Id<struct QpnTag>;      // queue pair number
using Cqn = Id<struct CqnTag>;      // completion queue number
using Srqn = Id<struct SrqnTag>;    // shared receive queue number
using Pdn = Id<struct PdnTag>;      // protection domain number
using Stag = Id<struct StagTag>;    // steering tag, index << 8 | key
using FlowId = Id<struct FlowTag>;  // one TCP connection, or one DDP stream of an SCTP association
using RingId = Id<struct RingTag>;  // of a stage that fetches the entries of many rings

// A receive queue: a queue pair's own, or one that several share.
struct Rqn {
  std::uint32_t v = 0;
  bool shared = false;
  constexpr Rqn() = default;
  constexpr Rqn(Qpn qpn) : v(qpn.v) {}
  constexpr Rqn(Srqn srqn) : v(srqn.v), shared(true) {}

  static constexpr const char* kMessage = "rqn";
  template <class V, class M>
  static void fields(V& visit, M& m) {
    visit("shared", 1, m.shared);
    visit("number", 32, m.v);
  }
  friend constexpr bool operator==(Rqn a, Rqn b) { return a.v == b.v && a.shared == b.shared; }
};

inline constexpr FlowId kNoFlow{0xffffffffu};

}  // namespace rnic
