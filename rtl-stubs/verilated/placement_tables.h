// Beside ddp_placement's Verilated twin: an input that is no message.
#pragma once

#include <cstdint>

#include "model/common/ids.h"

namespace rnic::rtl {

// unused_t of rnic_ddp_pkg.
struct UnusedRequest {
  bool valid = false;
  Qpn qpn;
  std::uint64_t wr_id = 0;
  std::uint32_t epoch = 0;
  Cqn recv_cq;

  static constexpr const char* kMessage = "unused";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("valid", 1, m.valid);
    v("qpn", m.qpn);
    v("wr_id", 64, m.wr_id);
    v("epoch", 32, m.epoch);
    v("recv_cq", m.recv_cq);
  }
};

}  // namespace rnic::rtl
