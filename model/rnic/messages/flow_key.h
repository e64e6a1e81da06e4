// Which connection or association a packet belongs to.
#pragma once

#include <cstdint>

namespace rnic::llp {

// The two ends; the chip's own address is always the same.
struct FlowKey {
  std::uint32_t peer_ip = 0;
  std::uint16_t peer_port = 0, port = 0;
  friend bool operator==(const FlowKey& a, const FlowKey& b) {
    return a.peer_ip == b.peer_ip && a.peer_port == b.peer_port && a.port == b.port;
  }

  static constexpr const char* kMessage = "flow_key";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("peer_ip", 32, m.peer_ip);
    v("peer_port", 16, m.peer_port);
    v("port", 16, m.port);
  }
};

}  // namespace rnic::llp
