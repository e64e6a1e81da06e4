// Frames for the tests of the MACs.
#pragma once

#include "testbench/unit/rnic/llp/tcp/tcp_chip.h"

namespace rnic::test {

inline Frame frame_to(BufferPool& pool, const wire::MacAddress& mac, std::uint32_t bytes, bool fcs_ok = true) {
  Frame f{pool.take(), 0, bytes, fcs_ok};
  std::fill_n(f.buf->bytes(), bytes, 0);
  std::copy(mac.octets.begin(), mac.octets.end(), f.buf->bytes());
  return f;
}

}  // namespace rnic::test
