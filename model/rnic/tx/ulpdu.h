// A ULPDU on its way to the framer.
#pragma once

#include <cstdint>

#include "model/common/buffer.h"
#include "model/common/ids.h"
#include "model/rnic/beat.h"

namespace rnic {

// `bytes` octets (DDP header and payload) lie at kOffset; there is room for the length field before them and for
// pad and CRC behind, so that the FPDU is framed in place.
struct Ulpdu {
  static constexpr std::uint32_t kOffset = kFrameHeadroom + 2;
  BufferRef buf;
  FlowId flow;
  std::uint16_t bytes = 0;
  bool completes_wqe = false;  // the last FPDU of a Send or RDMA Write

  static constexpr const char* kMessage = "ulpdu";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("flow", m.flow);
    v("bytes", 16, m.bytes);
    v("completes_wqe", 1, m.completes_wqe);
  }
};

}  // namespace rnic
